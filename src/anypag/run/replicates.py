"""Searches on resamples: `Plan` draws the rows of each resample; joblib runs the searches in this process, in other
processes, or on a cluster. The search on one resample is a replicate.

The seed and the index of a replicate decide its rows. So any backend and number of workers give the same results.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, get_args

import numpy as np

from anypag.arrays import Counts
from anypag.checkpoint.checkpoint import SECONDS_BETWEEN_WRITES, store_of_run
from anypag.checkpoint.fingerprint import Fingerprint
from anypag.checkpoint.store import Store
from anypag.choices import DECLARED, DEFAULTS, Choices, is_whole, require
from anypag.ci.resample import Resamples
from anypag.ci.wrappers import LEAST_MAPPED, opened, parcel, workers_of
from anypag.errors import AnypagError, GraphError, ParameterError
from anypag.graphs.base import Marks
from anypag.graphs.pag import PAG
from anypag.results.stability import FAILURES, Failure, Resample
from anypag.run.clock import Clock
from anypag.run.engine import Search
from anypag.run.watcher import Watcher
from anypag.search.algorithm import algorithm
from anypag.stored import RefusedError, Variables

ABOUT_THE_RUN = ("checkpoint", "resume", "progress", "n_jobs")  # choices for the whole run, not for a replicate
FEWEST = 2  # the fewest resamples
LEAST_SECONDS = 1e-3  # the time budget if no time is left: a search then ends at once; a budget of 0 is not allowed


@dataclass(frozen=True)
class Plan:
    """The resamples of a table: how many, of which kind, from which seed. `clusters` (n_rows,): the code of each row's
    cluster, if whole clusters are drawn; None if single rows are drawn. `strata` (n_rows,): the data set of each row;
    each data set is resampled on its own. None for a single data set.
    """

    n: int
    resample: Resample = "bootstrap"
    seed: int = 0
    clusters: Counts | None = field(default=None, repr=False, compare=False)
    strata: Counts | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        require(is_whole(self.n, FEWEST), "n", f"a whole number, {FEWEST} or more", self.n)
        wanted = " or ".join(map(repr, get_args(Resample)))
        require(self.resample in get_args(Resample), "resample", wanted, self.resample)
        require(is_whole(self.seed, 0), "seed", "a whole number from 0 on", self.seed)

    def counts(self, k: int, n_rows: int) -> Counts:
        """(n_rows,) how often resample k has each row."""
        if self.clusters is not None:
            n_clusters, strata = int(self.clusters.max()) + 1, None
            if self.strata is not None:
                strata = np.zeros(n_clusters, np.int64)
                strata[self.clusters] = self.strata
            return replace(self, clusters=None, strata=strata).counts(k, n_clusters)[self.clusters]
        pair = k if self.resample == "bootstrap" else k // 2
        random = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(pair,)))
        if self.strata is None:
            return self._drawn(random, k, n_rows)
        counts = np.zeros(n_rows, np.int64)
        for stratum in np.unique(self.strata):
            rows = np.flatnonzero(self.strata == stratum)
            counts[rows] = self._drawn(random, k, len(rows))
        return counts

    def _drawn(self, random: np.random.Generator, k: int, n_rows: int) -> Counts:
        """(n_rows,) how often each row is drawn. With "half", resamples 2i and 2i + 1 get complementary halves."""
        if self.resample == "bootstrap":
            return np.bincount(random.integers(0, n_rows, n_rows), minlength=n_rows).astype(np.int64)
        order, size = random.permutation(n_rows), n_rows // 2
        half = order[:size] if k % 2 == 0 else order[n_rows - size :]
        return np.bincount(half, minlength=n_rows).astype(np.int64)

    @property
    def about_rows(self) -> dict[str, str]:
        """Hashes by which a checkpoint recognises the clusters and data sets; empty if there are none."""
        found = {"cluster": self.clusters, "sets": self.strata}
        return {name: sha256(codes.tobytes()).hexdigest() for name, codes in found.items() if codes is not None}


class Replicate(NamedTuple):
    """The outcome of a replicate: its marks, in the order of the variables, or why there are none."""

    k: int
    marks: Marks | None
    why: str | None
    n_tests: int
    stopped: str | None = None  # the budget or signal that ended it early


class Allowed(NamedTuple):
    """The tests and the time that a replicate may use."""

    choices: Choices  # the choices of the whole run, with the number of tests that this replicate may use
    until: float | None
    """The `time.time` when the replicate must end. A duration would not include the time that a replicate waits for a
    worker. If the clocks of two machines differ, budgets are wrong by the difference.
    """

    def from_now(self) -> Choices:
        if self.until is None:
            return self.choices
        return replace(self.choices, time_budget=max(self.until - time.time(), LEAST_SECONDS))


def make(sent: Any, plan: Plan, allowed: Allowed, k: int) -> Replicate:
    """Learn the graph of resample k of the rows in the parcel `sent`, within the budgets that are left."""
    rows: Resamples = opened(sent)
    choices = allowed.from_now()
    try:
        search = Search.again(rows.test(plan.counts(k, rows.n)), choices)
    except AnypagError as error:
        return Replicate(k, None, str(error), 0)
    watcher = Watcher(choices, search.problem.test)
    try:
        result = search.run(watcher)
    except AnypagError as error:
        return Replicate(k, None, str(error), watcher.n_used)
    if result.stopped in {"time", "tests", "interrupt"}:
        return Replicate(k, None, None, watcher.n_used, result.stopped)
    return Replicate(k, result.pag.marks, None, result.n_tests)


def made_through_joblib(
    rows: Resamples, plan: Plan, numbers: Sequence[int], choices: Choices, left: Callable[[int], Allowed]
) -> Iterator[Replicate]:
    """The replicates with the indices `numbers`, as they finish. `rows` go once to each worker. `left` is called when a
    replicate is dispatched, and returns its budgets. Each worker has up to two replicates dispatched to it. With a
    budget it has one, because dispatched replicates share the rest of it. With `max_tests` joblib does not batch them.
    """
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    streams = getattr(get_active_backend()[0], "supports_return_generator", False)
    about: dict[str, Any] = {
        "n_jobs": choices.n_jobs,  # None: the number in the surrounding `joblib.parallel_config`
        "return_as": "generator_unordered" if streams else "list",
        "max_nbytes": LEAST_MAPPED,
        "pre_dispatch": "2*n_jobs" if choices.max_tests is None and choices.time_budget is None else "n_jobs",
        "batch_size": "auto" if choices.max_tests is None else 1,
    }
    try:
        parallel = Parallel(**about)
    except ValueError as error:  # the backend cannot be used here
        raise ParameterError(f"joblib cannot run this: {error}") from None
    sent = parcel(rows)
    yield from parallel(delayed(make)(sent, plan, left(k), k) for k in numbers)


class Budget:
    """The time and tests left for many searches, `n_jobs` at a time. Compiling in this process does not count."""

    def __init__(self, choices: Choices, n_jobs: int | None = 1) -> None:
        about_data = [name for name, choice in DECLARED.items() if choice.part == "data"]
        told = replace(choices, **{name: DEFAULTS[name] for name in (*about_data, *ABOUT_THE_RUN)})
        has_workers = "n_jobs" in algorithm(choices.method).facts.uses  # the workers are busy with replicates
        self._choices, self._of_a_replicate = choices, replace(told, n_jobs=1) if has_workers else told
        n_at_a_time = workers_of(n_jobs)
        # a worker may get its next replicate before the result of its last one was read
        self._places = 1 if n_at_a_time == 1 else 2 * n_at_a_time
        self._clock, self.n_tests = Clock(), 0
        self._promised: dict[int, int] = {}  # tests reserved, by the index of a running replicate
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
        """The tests and time that replicate k may use if it is dispatched now."""
        seconds = self._choices.time_budget
        until = None if seconds is None else time.time() + max(seconds - self._clock.seconds, LEAST_SECONDS)
        tests = self._choices.max_tests
        if tests is None:
            return Allowed(self._of_a_replicate, until)
        with self._lock:
            free = tests - self.n_tests - sum(self._promised.values())
            self._promised[k] = max(1, free // max(1, self._places - len(self._promised)))
            return Allowed(replace(self._of_a_replicate, max_tests=self._promised[k]), until)

    def took(self, made: Replicate) -> None:
        """Count the tests of a replicate that has ended, and free the tests that were reserved for it."""
        with self._lock:
            self._promised.pop(made.k, None)
            self.n_tests += made.n_tests


class Replicates(AbstractContextManager["Replicates"]):
    """The graphs of finished resamples, by the index of the resample; use it in a `with` statement. After `keep` they
    are also in a file. The file does not fix the number of resamples: a run of 100 can be extended to 500.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names, self._n_added = names, 0
        self._begun = self._written_at = time.monotonic()
        self.graphs, self._fresh = dict[int, PAG](), dict[int, PAG]()
        self.failures = dict[int, Failure]()
        self._store: Store | None = None

    def keep(self, path: Path, facts: Fingerprint, *, resume: bool) -> None:
        """Keep resamples in a file: a new one, or with `resume` the existing one, from which they are loaded first."""
        self._store = store_of_run(path, facts, {"failures": []}, self._take_up, resume=resume)

    def add(self, k: int, graph: PAG) -> None:
        """Add a finished resample. If resamples take seconds on average, each is written at once."""
        self.graphs[k] = self._fresh[k] = graph
        self._n_added += 1
        now = time.monotonic()
        if max(now - self._written_at, (now - self._begun) / self._n_added) >= SECONDS_BETWEEN_WRITES:
            self.write()

    def missing(self, n: int) -> list[int]:
        return [k for k in range(n) if k not in self.graphs and k not in self.failures]

    def write(self) -> None:
        if self._store is not None:
            failures = FAILURES.write(self.failures.values(), Variables(self._names))
            arrays = {f"replicate/{k:08}": np.array(graph.marks) for k, graph in self._fresh.items()}
            self._store.write({"failures": failures}, arrays)
        self._fresh.clear()
        self._written_at = time.monotonic()

    def __exit__(self, *exception: object) -> None:
        try:
            self.write()
        finally:
            if self._store is not None:
                self._store.__exit__()

    def _take_up(self, store: Store) -> None:
        for name in store.names("replicate/"):
            number = name.removeprefix("replicate/")
            if not number.isdecimal():
                raise store.damaged(f"the name of the array {name!r} does not end with the number of a resample")
            try:
                graph = PAG(store.array(name), self._names)  # type: ignore[arg-type]  # it is there: its name was listed
            except GraphError as error:
                raise store.damaged(f"the array {name!r} is no graph: {error}") from None
            self.graphs[int(number)] = graph
        try:
            failures = FAILURES.read(store.fact("failures"), Variables(self._names))
        except RefusedError:
            raise store.damaged("the list of failed resamples cannot be read") from None
        self.failures = {failure.k: failure for failure in failures}
