"""The search on one resample after the other, through joblib: in this process, in others, or on a cluster.

What a replicate gives depends on its number only, so the results are the same for any backend and number of workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from anypag.choices import DECLARED, Choices, default_of
from anypag.ci.parcel import LEAST_MAPPED, opened, parcel
from anypag.ci.resample import Rows
from anypag.errors import AnypagError, ParameterError
from anypag.graphs.base import Marks
from anypag.run.engine import Search
from anypag.run.watcher import Watcher
from anypag.search.algorithm import algorithm
from anypag.stability.plan import Plan

ABOUT_DATA = tuple(name for name, choice in DECLARED.items() if choice.part == "data")
ABOUT_THE_RUN = ("checkpoint", "resume", "progress", "n_jobs")


class Made(NamedTuple):
    """What came of a replicate: its marks, in the order of the variables, or why there are none."""

    k: int
    marks: Marks | None
    why: str | None
    n_tests: int
    stopped: str | None = None
    """The budget or signal that ended it before it was done."""


def make(sent: Any, plan: Plan, choices: Choices, k: int) -> Made:
    """Learn the graph of one resample.

    Args:
        sent: a parcel with the rows of the data.
        plan: which of them each resample has.
        choices: those of the problem that the whole data are, with the budgets of this resample.
        k: the number of the resample.
    """
    rows: Rows = opened(sent)
    try:
        search = Search.again(rows.test(plan.counts(k, rows.n)), choices)
        result = search.run(Watcher(choices, search.problem.test))
    except AnypagError as error:
        return Made(k, None, str(error), 0)
    if result.stopped in {"time", "tests", "interrupt"}:
        return Made(k, None, None, result.n_tests, result.stopped)
    return Made(k, result.pag.marks, None, result.n_tests)


def choices_of_a_replicate(choices: Choices) -> Choices:
    """The choices of the whole run without those about data, which a bound test has taken in, and about the run."""
    told = replace(choices, **{name: default_of(name) for name in (*ABOUT_DATA, *ABOUT_THE_RUN)})
    has_workers = "n_jobs" in algorithm(choices.method).uses  # which are busy with replicates
    return replace(told, n_jobs=1) if has_workers else told


def made_through_joblib(
    rows: Rows, plan: Plan, numbers: Sequence[int], choices: Choices, left: Callable[[], Choices]
) -> Iterator[Made]:
    """The replicates of these numbers, as they get done.

    Args:
        rows: of the data; shipped once to each worker.
        plan: which of them each resample has.
        numbers: of the resamples to make.
        choices: `n_jobs` says how many at a time; the surrounding `joblib.parallel_config` where it is None.
        left: the choices of the next replicate, its budgets what is left of them.
    """
    backend, _ = get_active_backend()
    streams = bool(getattr(backend, "supports_return_generator", False))
    parallel = _parallel(choices.n_jobs, "generator_unordered" if streams else "list")
    sent = parcel(rows)
    yield from parallel(delayed(make)(sent, plan, left(), k) for k in numbers)


def _parallel(n_jobs: int | None, return_as: str) -> Parallel:
    try:
        return Parallel(n_jobs=n_jobs, return_as=return_as, max_nbytes=LEAST_MAPPED)
    except ValueError as error:  # of a backend that cannot be used here
        raise ParameterError(f"joblib cannot run this: {error}") from None


class Budget:
    """What is left of the time and the tests of a run over many searches.

    Args:
        choices: those of the whole run, none left open.
    """

    def __init__(self, choices: Choices) -> None:
        self._choices, self._of_a_replicate = choices, choices_of_a_replicate(choices)
        self._began, self.n_tests = time.monotonic(), 0

    @property
    def spent(self) -> str | None:
        """What is used up: "time" or "tests"; None while there is some of everything."""
        tests, seconds = self._choices.max_tests, self._choices.time_budget
        if tests is not None and self.n_tests >= tests:
            return "tests"
        if seconds is not None and time.monotonic() - self._began >= seconds:
            return "time"
        return None

    def left(self) -> Choices:
        """The choices of a replicate that begins now."""
        tests, seconds = self._choices.max_tests, self._choices.time_budget
        if tests is None and seconds is None:
            return self._of_a_replicate
        return replace(
            self._of_a_replicate,
            max_tests=None if tests is None else max(1, tests - self.n_tests),
            time_budget=None if seconds is None else max(1e-3, seconds - (time.monotonic() - self._began)),
        )
