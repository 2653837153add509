"""Wrappers around tests: counting questions, caching answers, limiting the size of condition sets, and workers.

Each worker answers one question at a time, through joblib. The questions sent together (a block) make two tasks for
every worker. A task gets as many questions as should take about 0.25 seconds, estimated from the time of earlier
questions. Answers do not depend on the worker. The data that all tasks need (the rows, a user's test) are sent to each
worker once, not with every task. Worker processes of one machine map arrays from shared memory (joblib does that). On a
Dask cluster the data are sent to all workers beforehand, so that a lost worker loses no data.
"""

from __future__ import annotations

import math
import sys
import time
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

from anypag.ci.base import CITest, PValues, Queries, Wrapper, checked_pvalues, question_text
from anypag.errors import AnypagError, CITestError
from anypag.threads import slices

Value = TypeVar("Value")
SECONDS_PER_TASK = 0.25
TASKS_PER_WORKER = 2
LEAST_MAPPED = 1024  # worker processes of one machine share arrays of at least this many bytes instead of copying them


class NoTestsLeft(BaseException):
    """The limit of `Counted` is reached. It ends a run as planned, so it is not an `Exception`."""


class Counted(Wrapper):
    """A test that counts the questions it evaluates, up to a limit.

    `distinct`: should a search, in its own count of questions (`search.inquiry.Asked`), count a repeated question only
    once? This class does not use it. Default: yes for oracles and for tests that take one question at a time; there,
    looking up whether a question was asked costs less than answering it.
    """

    def __init__(self, test: CITest, *, distinct: bool | None = None) -> None:
        super().__init__(test)
        self.evaluated = 0
        self.limit: int | None = None  # the largest `evaluated` allowed; a batch that exceeds it raises `NoTestsLeft`
        self.distinct = (test.exact or test.batch == 1) if distinct is None else distinct
        self._lock = Lock()

    def pvalues(self, queries: Queries) -> PValues:
        """The p-values, checked: one number in [0, 1] for each question."""
        with self._lock:
            if self.limit is not None and self.evaluated + len(queries) > self.limit:
                raise NoTestsLeft
            self.evaluated += len(queries)
        try:
            answers = self.test.pvalues(queries)
        except (AnypagError, SystemError):  # compiled code that a signal interrupts raises SystemError
            raise
        except Exception as error:
            raise CITestError(f"The test raised {type(error).__name__}: {error}") from error
        return checked_pvalues(answers, queries, self.names)

    def add(self, count: int) -> None:
        """Count questions answered outside `pvalues`, by a function that answers for a whole graph (`ci.passes`)."""
        with self._lock:
            self.evaluated += count


class Cached(Wrapper):
    """A test that caches every answer: `known` maps `(x, y, z)`, with x < y and z ascending, to the p-value."""

    def __init__(self, test: CITest, known: dict[tuple[int, int, tuple[int, ...]], float] | None = None) -> None:
        super().__init__(test)
        self.known = {} if known is None else known

    def pvalues(self, queries: Queries) -> PValues:
        """The p-values; only questions without a cached answer reach the test."""
        low, high = np.minimum(queries.x, queries.y).tolist(), np.maximum(queries.x, queries.y).tolist()
        keys = list(zip(low, high, map(tuple, np.sort(queries.z, axis=1).tolist()), strict=True))
        missing = {key: row for row, key in enumerate(keys) if key not in self.known}
        if missing:
            fresh = queries.take(np.fromiter(missing.values(), np.intp))
            for key, p in zip(missing, checked_pvalues(self.test.pvalues(fresh), fresh, self.names), strict=True):
                self.known[key] = float(p)
        return np.array([self.known[key] for key in keys])


class _UpTo(Wrapper):
    answers_alike = False

    def __init__(self, test: CITest, largest: int) -> None:
        super().__init__(test)
        self._largest = largest

    def pvalues(self, queries: Queries) -> PValues:
        return np.zeros(len(queries)) if queries.r > self._largest else self.test.pvalues(queries)


def n_oracle(test: CITest, n: int) -> CITest:
    """The n-oracle of Rohekar et al. (2020): the given test, but with more than n members in z it answers "dependent".

    >>> from anypag import DAG, Oracle, Queries
    >>> test = n_oracle(Oracle(DAG.from_string("A --> B; B --> C")), 0)
    >>> test.pvalues(Queries.one(0, 2, [1]))
    array([0.])
    """
    if n < 0:
        raise CITestError(f"n, the size of the largest condition set, must be 0 or more; got {n}.")
    return _UpTo(test, n)


def workers_of(n_jobs: int | None) -> int:
    """How many workers joblib uses for `n_jobs`; None means one, unless the user imported joblib and configured it."""
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


class Parcel(Generic[Value]):
    """A value that is sent to workers."""

    def __init__(self, value: Value) -> None:
        self.value = value


def parcel(value: Value) -> Any:
    """The value as an argument of joblib's tasks: a `Parcel`, or with a Dask client the future of a `Parcel`."""
    from joblib.parallel import get_active_backend

    client = getattr(get_active_backend()[0], "client", None)
    return Parcel(value) if client is None else client.scatter(Parcel(value), broadcast=True, hash=False)


def opened(sent: Any) -> Any:
    """The value of a parcel. Dask replaces the future by the parcel on the workers. But with one worker joblib runs the
    task in this process, which gets the future itself; then the parcel is fetched here.
    """
    return (sent if isinstance(sent, Parcel) else sent.result()).value


def answer(sent: Any, queries: Queries) -> tuple[PValues, float]:
    """The answers of a parcel's test, and the seconds they took. All errors except `AnypagError` name the question."""
    test, began = opened(sent), time.perf_counter()
    parts = [np.empty(0)]
    for k in range(len(queries)):
        question = queries.take(slice(k, k + 1))
        try:
            parts.append(np.asarray(test.pvalues(question), np.float64))
        except AnypagError:
            raise
        except Exception as error:
            asked = question_text(question, test.names)
            raise CITestError(f"The test raised {type(error).__name__}: {error} (asked for {asked})") from error
    return np.concatenate(parts), time.perf_counter() - began


class Dispatched(Wrapper):
    """A test of one question at a time, whose questions are answered by workers."""

    def __init__(self, test: CITest, n_jobs: int | None) -> None:
        super().__init__(test)
        self._n_jobs = n_jobs
        self._seconds = math.nan
        self._sent: Any = None

    @property
    def block(self) -> int:
        """How many questions to send at a time: few, because the first answers may make later questions unnecessary."""
        return workers_of(self._n_jobs) * TASKS_PER_WORKER * self._per_task

    def pvalues(self, queries: Queries) -> PValues:
        parts = [queries.take(part) for part in slices(len(queries), self._per_task)] if len(queries) else []
        answers = self._ask(parts)
        if answers:
            spent = sum(seconds for _, seconds in answers) / len(queries)
            self._seconds = spent if math.isnan(self._seconds) else (self._seconds + spent) / 2
        return np.concatenate([np.empty(0), *(p for p, _ in answers)])

    @property
    def _per_task(self) -> int:
        """How many questions take about a quarter of a second; 1 until their time has been measured."""
        if math.isnan(self._seconds):
            return 1
        return int(min(max(1.0, SECONDS_PER_TASK / max(self._seconds, 1e-6)), 4096.0))

    def _ask(self, parts: list[Queries]) -> list[tuple[PValues, float]]:
        from joblib import Parallel, delayed
        from joblib.parallel import get_active_backend

        work = Parallel(n_jobs=self._n_jobs, max_nbytes=LEAST_MAPPED)
        try:
            self._sent = parcel(self.test) if self._sent is None else self._sent
            return list(work(delayed(answer)(self._sent, part) for part in parts))
        except (AnypagError, SystemError, KeyboardInterrupt):
            raise
        except Exception as error:
            backend, _ = get_active_backend()
            raise CITestError(
                f"The workers of joblib ({type(backend).__name__}) failed while they answered questions with condition "
                f"sets of size {parts[0].r} (the first: {question_text(parts[0], self.names)}): "
                f"{type(error).__name__}: {error}"
            ) from error


def dispatched(test: CITest) -> Dispatched | None:
    """The part of a wrapped test that sends questions to workers, if there is one."""
    while isinstance(test, Wrapper):
        if isinstance(test, Dispatched):
            return test
        test = test.test
    return None
