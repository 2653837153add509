"""What a conditional-independence test is, to the rest of the package.

A test is bound to its data (or to a true graph) once; after that a search only ever asks "the p-values of these
index triples". Within one iteration all condition sets have the same size, so a batch of questions is a rectangle:
`x (b,)`, `y (b,)`, `z (b, r)`. A compiled loop, a graphics card, a cluster or an oracle all answer the same rectangle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from anypag.errors import AnypagError, CITestError
from anypag.graphs.base import checked_names

Indices = npt.NDArray[np.int32]
PValues = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Queries:
    """A batch of questions "is x independent of y given z?", all with condition sets of the same size.

    Args:
        x: (b,) indices.
        y: (b,) indices.
        z: (b, r) indices, one condition set a row.

    >>> q = Queries([0, 0], [1, 2], [[2], [1]])
    >>> len(q), q.r
    (2, 1)
    """

    x: Indices
    y: Indices
    z: Indices

    def __init__(self, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike) -> None:
        x, y, z = (np.ascontiguousarray(part, dtype=np.int32) for part in (x, y, z))
        if x.ndim != 1 or y.shape != x.shape or z.ndim != 2 or len(z) != len(x):
            raise CITestError(
                "Queries are x of shape (b,), y of shape (b,) and z of shape (b, r); "
                f"got shapes {x.shape}, {y.shape} and {z.shape}."
            )
        for name, part in (("x", x), ("y", y), ("z", z)):
            object.__setattr__(self, name, part)

    @classmethod
    def one(cls, x: int, y: int, z: Iterable[int] = ()) -> Self:
        """A batch of a single question."""
        return cls([x], [y], np.fromiter(z, np.int32)[None, :])

    @property
    def r(self) -> int:
        """The size of the condition sets."""
        return int(self.z.shape[1])

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: npt.NDArray[np.intp] | npt.NDArray[np.bool_] | slice) -> Self:
        """Some of the questions."""
        return type(self)(self.x[rows], self.y[rows], self.z[rows])


@runtime_checkable
class CITest(Protocol):
    """Anything that answers `Queries` with p-values.

    `names` are the variables, in the order of the indices. `exact` says that the answers are never wrong (an oracle),
    so that marks derived from them may be trusted to prune the search. `batch` is how many questions the test likes
    to get at a time: a compiled test answers thousands about as fast as one; 1 means that every single answer costs,
    and that none should be asked for ahead of need.
    """

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def exact(self) -> bool: ...

    @property
    def batch(self) -> int: ...

    def pvalues(self, queries: Queries) -> PValues:
        """(b,) float64, each in [0, 1]; never NaN. An oracle answers 0.0 (dependent) or 1.0 (independent)."""
        ...


class Counted:
    """A test that keeps count, per size of the condition set.

    Args:
        test: the test that answers.
        distinct: count a question asked again only once. The default is to do so where a question costs more than
            remembering it: for oracles and for tests that take one question at a time. A compiled test on data
            answers millions a second, and every question counts.
        threads: how many threads may ask at the same time; more than 1 only helps compiled tests.

    `pvalues` evaluates and adds to `evaluated`. A search that evaluates ahead of need says with `count` which of the
    questions it really needed; `asked` holds their number per size.

    >>> from anypag import DAG, Oracle
    >>> test = Counted(Oracle(DAG.from_string("A --> B; B --> C")))
    >>> query = Queries.one(0, 2, [1])
    >>> test.pvalues(query)
    array([1.])
    >>> test.count(query)
    >>> test.count(query)
    >>> test.asked, test.evaluated
    ({1: 1}, 1)
    """

    def __init__(self, test: CITest, *, distinct: bool | None = None, threads: int = 1) -> None:
        self.test = test
        self.names, self.exact, self.batch = test.names, test.exact, test.batch
        self.threads = threads
        self.asked: dict[int, int] = {}
        self.evaluated = 0
        self.distinct = (test.exact or test.batch == 1) if distinct is None else distinct
        self._seen = _Seen()
        self._lock = Lock()

    def pvalues(self, queries: Queries) -> PValues:
        """The p-values, checked: one number in [0, 1] for each question."""
        with self._lock:
            self.evaluated += len(queries)
        try:
            answers = self.test.pvalues(queries)
        except (AnypagError, SystemError):  # the latter is how a signal leaves compiled code
            raise
        except Exception as error:
            raise CITestError(f"The test raised {type(error).__name__}: {error}") from error
        return checked_pvalues(answers, queries, self.names)

    @property
    def seen(self) -> npt.NDArray[np.uint64]:
        """The questions counted so far, as a table of keys; can be set, to go on from a checkpoint."""
        return self._seen.table

    @seen.setter
    def seen(self, table: npt.NDArray[np.uint64]) -> None:
        self._seen = _Seen(table)

    def count(self, queries: Queries) -> None:
        """These questions were needed."""
        with self._lock:
            fresh = self._seen.add(queries) if self.distinct else len(queries)
            if fresh:
                self.asked[queries.r] = self.asked.get(queries.r, 0) + fresh


class Cached:
    """A test that remembers every answer: what has been paid for is never paid again.

    `known` maps `(x, y, z)`, with x < y and z ascending, to the p-value; it can be filled beforehand (from a
    checkpoint).
    """

    def __init__(self, test: CITest, known: dict[tuple[int, int, tuple[int, ...]], float] | None = None) -> None:
        self.test = test
        self.names, self.exact, self.batch = test.names, test.exact, test.batch
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


class _Callable:
    exact = False
    batch = 1

    def __init__(self, function: Callable[..., float], names: tuple[str, ...], by_name: bool) -> None:
        self.names = names
        self._function = function
        self._by_name = by_name

    def pvalues(self, queries: Queries) -> PValues:
        rows = zip(queries.x.tolist(), queries.y.tolist(), queries.z.tolist(), strict=True)
        return np.array([float(self._function(*self._called(x, y, z))) for x, y, z in rows])

    def _called(self, x: int, y: int, z: list[int]) -> tuple[object, object, tuple[object, ...]]:
        if not self._by_name:
            return x, y, tuple(z)
        return self.names[x], self.names[y], tuple(self.names[k] for k in z)


def from_callable(
    function: Callable[..., float],
    names: Sequence[str],
    *,
    called_with: Literal["indices", "names"] = "indices",
) -> CITest:
    """A test from any function `f(x, y, z) -> p`.

    Args:
        function: gets two variables and a tuple of variables, and returns the p-value of "x is independent of y given
            z".
        names: the variables.
        called_with: whether the function gets `"indices"` (0, 1, ...) or `"names"`.

    >>> test = from_callable(lambda x, y, z: 0.5, ["A", "B", "C"])
    >>> test.pvalues(Queries([0], [1], [[2]]))
    array([0.5])
    """
    if not callable(function):
        raise CITestError(f"A function f(x, y, z) -> p was wanted; got {function!r}.")
    if called_with not in {"indices", "names"}:
        raise CITestError(f"'called_with' must be 'indices' or 'names'; got {called_with!r}.")
    return _Callable(function, checked_names(names, len(names)), called_with == "names")


class _Plain:
    """An object with `names` and `pvalues` that says nothing of `exact` and `batch`."""

    def __init__(self, test: CITest, names: tuple[str, ...]) -> None:
        self.test, self.names = test, names
        self.exact = bool(getattr(test, "exact", False))
        self.batch = int(getattr(test, "batch", 1))
        self.pvalues = test.pvalues


def as_test(candidate: Any) -> CITest:
    """Any object with `names` and `pvalues(queries)`, as a test: not exact, one question at a time, unless it says
    so.
    """
    if not hasattr(candidate, "pvalues") or not hasattr(candidate, "names"):
        raise CITestError(f"A test has `names` and `pvalues(queries)`; got {candidate!r}, which lacks one of them.")
    names = checked_names(candidate.names, len(candidate.names))
    is_whole = isinstance(candidate, CITest) and candidate.names == names
    return candidate if is_whole else _Plain(candidate, names)


class _UpTo:
    def __init__(self, test: CITest, largest: int) -> None:
        self.names, self.exact, self.batch = test.names, test.exact, test.batch
        self.test = test
        self._largest = largest

    def pvalues(self, queries: Queries) -> PValues:
        return np.zeros(len(queries)) if queries.r > self._largest else self.test.pvalues(queries)


def n_oracle(test: CITest, n: int) -> CITest:
    """The paper's n-oracle: as the test, but "dependent" whenever the condition set has more than n members.

    >>> from anypag import DAG, Oracle
    >>> test = n_oracle(Oracle(DAG.from_string("A --> B; B --> C")), 0)
    >>> test.pvalues(Queries.one(0, 2, [1]))
    array([0.])
    """
    if n < 0:
        raise CITestError(f"The largest condition set has 0 or more members; got n = {n}.")
    return _UpTo(test, n)


def strength_of(test: CITest, queries: Queries) -> PValues | None:
    """How strongly x and y depend on each other, larger for stronger, if the test has such a measure (`test.strength`).

    p-values cannot tell strong dependences apart: they are all 0.
    """
    while isinstance(test, (Counted, Cached, _UpTo, _Plain)):
        test = test.test
    measure = getattr(test, "strength", None)
    return None if measure is None else np.asarray(measure(queries), np.float64)


def checked_pvalues(pvalues: object, queries: Queries, names: tuple[str, ...]) -> PValues:
    """The answer of a test, refused with a sentence if it is not one p-value per question."""
    try:
        p = np.asarray(pvalues, dtype=np.float64)
    except (TypeError, ValueError):
        raise CITestError(f"A test must answer by numbers between 0 and 1; got {pvalues!r}.") from None
    if p.shape != (len(queries),):
        raise CITestError(
            f"A test must answer {len(queries)} questions by an array of shape ({len(queries)},); got shape {p.shape}."
        )
    wrong = np.flatnonzero(~((p >= 0) & (p <= 1)))  # NaN fails both
    if len(wrong):
        k = wrong[0]
        z = ", ".join(names[i] for i in queries.z[k])
        raise CITestError(
            f"A p-value must lie between 0 and 1; the test answered {p[k]} for "
            f"{names[queries.x[k]]} ⟂ {names[queries.y[k]]} | {{{z}}}."
        )
    return p


class _Seen:
    """The questions met so far, as keys in a compiled table."""

    def __init__(self, table: npt.NDArray[np.uint64] | None = None) -> None:
        self.table = np.zeros((1024, 2), np.uint64) if table is None else table
        self._count = int(np.count_nonzero(self.table[:, 0]))

    def add(self, queries: Queries) -> int:
        """Remember these questions; how many were new?"""
        from anypag._kernels import seen as kernel

        keys = np.empty((len(queries), 2), np.uint64)
        is_fresh = np.empty(len(queries), np.bool_)
        kernel.keys_of(queries.x, queries.y, queries.z, keys)
        self.table, self._count = kernel.add(self.table, self._count, keys, is_fresh)
        return int(is_fresh.sum())


def _keys(queries: Queries) -> list[tuple[int, int, tuple[int, ...]]]:
    low, high = np.minimum(queries.x, queries.y).tolist(), np.maximum(queries.x, queries.y).tolist()
    return list(zip(low, high, map(tuple, np.sort(queries.z, axis=1).tolist()), strict=True))
