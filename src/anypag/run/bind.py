"""From data or a test, and choices, to a problem: everything checked, nothing tested yet."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from joblib import effective_n_jobs

from anypag.choices import Choices, require
from anypag.ci.base import CITest
from anypag.ci.dispatch import Dispatched
from anypag.ci.wrappers import Cached, Counted
from anypag.errors import ParameterError
from anypag.graphs.pag import PAG
from anypag.search.algorithm import Algorithm
from anypag.search.problem import Problem, pose


def bind(data_or_test: Any, algorithm: Algorithm, choices: Choices) -> Problem:
    """The problem that an algorithm is to solve."""
    from anypag.ci.resolve import resolve_test

    algorithm.settled(choices, exact=False)  # refuses what does not go with the method before any data are read
    choices = replace(choices, threads=choices.threads or _cores())
    test = _counted(resolve_test(data_or_test, choices), choices.n_jobs if "n_jobs" in algorithm.uses else 1)
    settled = algorithm.settled(choices, exact=test.exact)
    _check_together(settled, test)
    problem = pose(test, settled)
    require(
        settled.r0 <= problem.last_r,
        "r0",
        f"at most {problem.last_r}, the size of the largest condition sets",
        settled.r0,
    )
    return problem


def _counted(test: CITest, n_jobs: int | None) -> Counted:
    """The test a search uses: counted, and where every answer costs remembered and, if asked for, sent to workers."""
    if isinstance(test, Counted):
        return test
    if test.batch > 1 or isinstance(test, Cached):
        return Counted(test)
    return Counted(Cached(Dispatched(test, n_jobs) if effective_n_jobs(n_jobs) > 1 else test))


def _check_together(choices: Choices, test: CITest) -> None:
    if len(test.names) < 2:
        raise ParameterError(f"A search needs two variables or more; got {len(test.names)}: {list(test.names)}.")
    fits = choices.threads == 1 or test.batch > 1
    require(fits, "threads", "left out: the test takes one question at a time", choices.threads)
    fits = choices.n_jobs in {None, 1} or test.batch == 1
    require(fits, "n_jobs", "left out: the test takes many questions at a time; choose 'threads'", choices.n_jobs)
    if choices.initial is not None:
        _check_initial(choices.initial, test.names)


def _check_initial(initial: PAG, names: tuple[str, ...]) -> None:
    require(isinstance(initial, PAG), "initial", "a PAG", initial)
    missing = [name for name in names if name not in initial.names]
    extra = [name for name in initial.names if name not in names]
    if missing or extra:
        raise ParameterError(
            "The 'initial' PAG must be over the same variables as the data; "
            f"it lacks {missing or 'none'} and has {extra or 'none'} too many."
        )


def _cores() -> int:
    is_bound = hasattr(os, "sched_getaffinity")  # not everywhere
    return len(os.sched_getaffinity(0)) if is_bound else os.cpu_count() or 1
