"""Tests around tests: one that counts, one that caches its answers, one that knows small condition sets only."""

from __future__ import annotations

from threading import Lock

import numpy as np

from anypag.ci.base import CITest, PValues, Queries, Wrapper, checked_pvalues
from anypag.errors import AnypagError, CITestError


class NoTestsLeft(BaseException):
    """More questions were put than a test may answer (`Counted.limit`). It ends a run as planned: no `Exception`."""


class Counted(Wrapper):
    """A test that counts the questions it evaluates, up to a limit.

    Args:
        test: the test that answers.
        distinct: a search counts a question that it asks again only once (`anypag.search.inquiry.Asked`). That is the
            default where a question costs more than remembering it: for oracles and for tests that take one question
            at a time. A compiled test on data answers millions a second, and every question counts.

    >>> from anypag import DAG, Oracle, Queries
    >>> test = Counted(Oracle(DAG.from_string("A --> B; B --> C")))
    >>> test.pvalues(Queries.one(0, 2, [1]))
    array([1.])
    >>> test.evaluated
    1
    """

    def __init__(self, test: CITest, *, distinct: bool | None = None) -> None:
        super().__init__(test)
        self.evaluated = 0
        self.limit: int | None = None
        """The most that `evaluated` may become; a batch that would take it further is not begun."""
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
        except (AnypagError, SystemError):  # the latter is how a signal leaves compiled code
            raise
        except Exception as error:
            raise CITestError(f"The test raised {type(error).__name__}: {error}") from error
        return checked_pvalues(answers, queries, self.names)

    def add(self, count: int) -> None:
        """Count questions that a pass answered without putting them one by one."""
        with self._lock:
            self.evaluated += count


class Cached(Wrapper):
    """A test that remembers every answer: what has been paid for is never paid again.

    `known` maps `(x, y, z)`, with x < y and z ascending, to the p-value; it can be filled beforehand (from a
    checkpoint).
    """

    def __init__(self, test: CITest, known: dict[tuple[int, int, tuple[int, ...]], float] | None = None) -> None:
        super().__init__(test)
        self.known = {} if known is None else known

    def pvalues(self, queries: Queries) -> PValues:
        """The p-values; only the questions not met before reach the test."""
        keys = _keys(queries)
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
    """The paper's n-oracle: as the test, but "dependent" whenever the condition set has more than n members.

    >>> from anypag import DAG, Oracle, Queries
    >>> test = n_oracle(Oracle(DAG.from_string("A --> B; B --> C")), 0)
    >>> test.pvalues(Queries.one(0, 2, [1]))
    array([0.])
    """
    if n < 0:
        raise CITestError(f"The largest condition set has 0 or more members; got n = {n}.")
    return _UpTo(test, n)


def _keys(queries: Queries) -> list[tuple[int, int, tuple[int, ...]]]:
    low, high = np.minimum(queries.x, queries.y).tolist(), np.maximum(queries.x, queries.y).tolist()
    return list(zip(low, high, map(tuple, np.sort(queries.z, axis=1).tolist()), strict=True))
