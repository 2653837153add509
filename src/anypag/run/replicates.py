"""Searches on resamples, through joblib: in this process, in others, or on a cluster.

A replicate depends on its number only, so results are the same for any backend and number of workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, NamedTuple

from anypag.choices import DECLARED, DEFAULTS, Choices
from anypag.ci.resample import Resamples
from anypag.ci.wrappers import LEAST_MAPPED, opened, parcel, workers_of
from anypag.errors import AnypagError, ParameterError
from anypag.graphs.base import Marks
from anypag.run.clock import Clock
from anypag.run.engine import Search
from anypag.run.watcher import Watcher
from anypag.search.algorithm import algorithm
from anypag.stability.stability import Plan

ABOUT_DATA = tuple(name for name, choice in DECLARED.items() if choice.part == "data")
ABOUT_THE_RUN = ("checkpoint", "resume", "progress", "n_jobs")


class Made(NamedTuple):
    """The outcome of a replicate: its marks, in the order of the variables, or why there are none."""

    k: int
    marks: Marks | None
    why: str | None
    n_tests: int
    stopped: str | None = None  # the budget or signal that ended it early


class Allowed(NamedTuple):
    """What a replicate may use."""

    choices: Choices  # the choices of the whole run, with the number of tests that this replicate may ask
    until: float | None
    """When it must end, by `time.time`, because it may wait for a worker on another machine. If the clocks of two
    machines differ, budgets are off by that.
    """

    def from_now(self) -> Choices:
        """The choices of a search that begins now."""
        return (
            self.choices if self.until is None else replace(self.choices, time_budget=_some(self.until - time.time()))
        )


def _some(seconds: float) -> float:
    """The seconds, but above 0 as a search needs; with no time left it ends at its first look at the clock."""
    return max(1e-3, seconds)


def make(sent: Any, plan: Plan, allowed: Allowed, k: int) -> Made:
    """Learn the graph of resample k of the rows in the parcel `sent`, by the choices and what is left of budgets."""
    rows: Resamples = opened(sent)
    choices = allowed.from_now()
    try:
        search = Search.again(rows.test(plan.counts(k, rows.n)), choices)
    except AnypagError as error:
        return Made(k, None, str(error), 0)
    watcher = Watcher(choices, search.problem.test)
    try:
        result = search.run(watcher)
    except AnypagError as error:
        return Made(k, None, str(error), watcher.n_used)
    if result.stopped in {"time", "tests", "interrupt"}:
        return Made(k, None, None, watcher.n_used, result.stopped)
    return Made(k, result.pag.marks, None, result.n_tests)


def made_through_joblib(
    rows: Resamples, plan: Plan, numbers: Sequence[int], choices: Choices, left: Callable[[int], Allowed]
) -> Iterator[Made]:
    """The replicates of these numbers, as they finish. `rows` go once to each worker. `choices.n_jobs` says how many
    run at a time; if it is None, the surrounding `joblib.parallel_config` does. `left` says what a replicate may use,
    and is called when it is dispatched.
    """
    from joblib import delayed
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    streams = bool(getattr(backend, "supports_return_generator", False))
    parallel = _parallel(choices, "generator_unordered" if streams else "list")
    sent = parcel(rows)
    yield from parallel(delayed(make)(sent, plan, left(k), k) for k in numbers)


def _parallel(choices: Choices, return_as: str) -> Any:
    """joblib's pool. Without a budget two replicates are queued for each worker. With a budget none is queued, because
    dispatched replicates share what is left. With a budget of tests they are dispatched one at a time.
    """
    from joblib import Parallel

    ahead = "2*n_jobs" if choices.max_tests is None and choices.time_budget is None else "n_jobs"
    at_once: Any = "auto" if choices.max_tests is None else 1
    try:
        return Parallel(
            n_jobs=choices.n_jobs, return_as=return_as, max_nbytes=LEAST_MAPPED, pre_dispatch=ahead, batch_size=at_once
        )
    except ValueError as error:  # the backend cannot be used here
        raise ParameterError(f"joblib cannot run this: {error}") from None


class Budget:
    """The time and tests left for a run over many searches, `n_jobs` at a time. Compiling here does not count."""

    def __init__(self, choices: Choices, n_jobs: int | None = 1) -> None:
        told = replace(choices, **{name: DEFAULTS[name] for name in (*ABOUT_DATA, *ABOUT_THE_RUN)})
        has_workers = "n_jobs" in algorithm(choices.method).facts.uses  # the workers are busy with replicates
        self._choices, self._of_a_replicate = choices, replace(told, n_jobs=1) if has_workers else told
        n_at_a_time = workers_of(n_jobs)
        # a replicate may be dispatched before the result of its worker's last one was read
        self._places = 1 if n_at_a_time == 1 else 2 * n_at_a_time
        self._clock, self.n_tests = Clock(), 0
        self._promised: dict[int, int] = {}  # tests reserved, by the number of a running replicate
        self._lock = Lock()  # joblib calls from its own threads

    @property
    def spent(self) -> str | None:
        """Which budget is spent: "time" or "tests"; None if neither is."""
        tests, seconds = self._choices.max_tests, self._choices.time_budget
        if tests is not None and self.n_tests >= tests:
            return "tests"
        if seconds is not None and self._clock.seconds >= seconds:
            return "time"
        return None

    def left(self, k: int) -> Allowed:
        """What the replicate of this number may use if it is dispatched now."""
        seconds = self._choices.time_budget
        until = None if seconds is None else time.time() + _some(seconds - self._clock.seconds)
        tests = self._choices.max_tests
        if tests is None:
            return Allowed(self._of_a_replicate, until)
        with self._lock:
            free = tests - self.n_tests - sum(self._promised.values())
            self._promised[k] = max(1, free // max(1, self._places - len(self._promised)))
            return Allowed(replace(self._of_a_replicate, max_tests=self._promised[k]), until)

    def took(self, made: Made) -> None:
        """A replicate has ended; its unused tests are free again."""
        with self._lock:
            self._promised.pop(made.k, None)
            self.n_tests += made.n_tests
