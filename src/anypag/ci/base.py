"""The interface of a conditional-independence test.

A test is bound to its data (or to a true graph) once. After that a search only sends it `Queries` and gets p-values.
Within one iteration all condition sets have the same size, so three arrays hold a batch of questions: `x (b,)`, `y
(b,)` and `z (b, r)`. Compiled loops, graphics cards, clusters and oracles all answer such batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags, Floats, Indices
from anypag.data.sources.engine_queries import is_in_engine
from anypag.errors import CITestError, DataError, Option
from anypag.graphs.base import MixedGraph, Node, checked_names
from anypag.graphs.pag import DAG, MAG
from anypag.graphs.projection import roles
from anypag.graphs.separation import are_separated

if TYPE_CHECKING:
    from anypag.scores.base import Score

PValues = Floats


@dataclass(frozen=True, eq=False)
class Queries:
    """A batch of questions "is x independent of y given z?", all with condition sets of the same size.

    Args:
        x: (b,) indices.
        y: (b,) indices.
        z: (b, r) indices, one condition set in each row.

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
        self.__dict__.update(x=x, y=y, z=z)

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

    def take(self, rows: npt.NDArray[np.intp] | Flags | slice) -> Self:
        """The questions in these rows. A slice of all rows gives the batch itself, not a copy."""
        if isinstance(rows, slice) and rows.indices(len(self)) == (0, len(self), 1):
            return self
        return type(self)(self.x[rows], self.y[rows], self.z[rows])


@runtime_checkable
class CITest(Protocol):
    """Anything that answers `Queries` with p-values.

    `names` are the variables, in the order of the indices. `exact` says that the answers are never wrong (an oracle),
    so that marks derived from them can prune the search. `batch` is how many questions to send at a time. A compiled
    test answers thousands about as fast as one. A `batch` of 1 means that answers are expensive. A search then asks a
    question only if it needs the answer.
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


@dataclass(eq=False)
class _Callable:
    _function: Callable[..., float]
    names: tuple[str, ...]
    _by_name: bool
    version: str | None
    exact: ClassVar[bool] = False
    batch: ClassVar[int] = 1

    def pvalues(self, queries: Queries) -> PValues:
        rows = zip(queries.x.tolist(), queries.y.tolist(), queries.z.tolist(), strict=True)
        called = self.names if self._by_name else range(len(self.names))
        return np.array([float(self._function(called[x], called[y], tuple(called[k] for k in z))) for x, y, z in rows])


def from_callable(
    function: Callable[..., float],
    names: Sequence[str],
    *,
    called_with: Literal["indices", "names"] = "indices",
    version: str | None = None,
) -> CITest:
    """A test from any function `f(x, y, z) -> p`.

    Args:
        function: gets two variables and a tuple of variables, and returns the p-value of "x is independent of y given
            z".
        names: the variables.
        called_with: whether the function gets `"indices"` (0, 1, ...) or `"names"`.
        version: any label. Change it whenever the answers change for a reason outside the function's code and data (a
            file it reads, a program it calls). A checkpoint made with another label is refused.

    >>> test = from_callable(lambda x, y, z: 0.5, ["A", "B", "C"])
    >>> test.pvalues(Queries([0], [1], [[2]]))
    array([0.5])
    """
    if not callable(function):
        raise CITestError(f"A function f(x, y, z) -> p was wanted; got {function!r}.")
    if called_with not in {"indices", "names"}:
        raise CITestError(f"'called_with' must be 'indices' or 'names'; got {called_with!r}.")
    return _Callable(function, checked_names(names, len(names)), called_with == "names", version)


class Wrapper:
    """A test around another test, with its `names`, `exact` and `batch`; subclasses define `pvalues`."""

    answers_alike: ClassVar[bool] = True  # are the answers those of the test inside?

    def __init__(self, test: CITest) -> None:
        self.test = test
        self.names, self.exact, self.batch = test.names, test.exact, test.batch


def innermost(test: CITest) -> CITest:
    """The test inside all wrappers."""
    while isinstance(test, Wrapper):
        test = test.test
    return test


def with_its_answers(test: CITest) -> CITest:
    """The test without the outer wrappers that only count, cache or dispatch questions and change no answer."""
    while isinstance(test, Wrapper) and test.answers_alike:
        test = test.test
    return test


def rows_behind(test: CITest) -> int | None:
    """The number of rows behind a test: its `n_rows`, else its `n` (only if it also has `resampled`), else None."""
    bound = innermost(test)
    found = getattr(bound, "n_rows", getattr(bound, "n", None) if hasattr(bound, "resampled") else None)
    return None if found is None else int(found)


def score_for(test: CITest) -> Score:
    """The score of the data that the test read (`test.score()`). DataError if it gives none."""
    bound: Any = innermost(test)
    if not hasattr(bound, "score"):
        raise without_score(bound)
    found: Score = bound.score()
    return found


def without_score(test: CITest) -> DataError:
    return DataError(
        f"A score is needed, and the test {type(test).__name__.lstrip('_')} gives none. Give a table with another "
        f"test, or choose a method that uses only tests, such as {Option('method', 'icd')}."
    )


def strength_of(test: CITest, queries: Queries) -> PValues | None:
    """How strongly x and y depend on each other; it ranks even pairs with p = 0. None if the test has no measure."""
    measure = getattr(innermost(test), "strength", None)
    return None if measure is None else np.asarray(measure(queries), np.float64)


class _Plain(Wrapper):
    """A test made of an object with `names` and `pvalues`, which may lack `exact` and `batch`."""

    def __init__(self, test: CITest, names: tuple[str, ...]) -> None:
        self.test, self.names = test, names
        self.exact = bool(getattr(test, "exact", False))
        self.batch = int(getattr(test, "batch", 1))
        self.pvalues = test.pvalues


def is_test(thing: Any) -> bool:
    """Is it a test? For tables of some engines `hasattr` is True for every name, so these are excluded."""
    return hasattr(thing, "pvalues") and not is_in_engine(thing)


def as_test(candidate: Any) -> CITest:
    """The test made of an object with `names` and `pvalues(queries)`; by default it is not exact, and `batch` is 1."""
    if not hasattr(candidate, "pvalues") or not hasattr(candidate, "names"):
        raise CITestError(f"A test has `names` and `pvalues(queries)`; got {candidate!r}, which lacks one of them.")
    names = checked_names(candidate.names, len(candidate.names))
    is_whole = isinstance(candidate, CITest) and candidate.names == names
    return candidate if is_whole else _Plain(candidate, names)


def checked_pvalues(pvalues: object, queries: Queries, names: tuple[str, ...]) -> PValues:
    """The p-values that a test answered, checked: one for each question, each in [0, 1]."""
    try:
        p = np.asarray(pvalues, dtype=np.float64)
    except (TypeError, ValueError):
        raise CITestError(f"A test must answer with numbers between 0 and 1; got {pvalues!r}.") from None
    if p.shape != (len(queries),):
        raise CITestError(
            f"A test must answer {len(queries)} questions with an array of shape ({len(queries)},); "
            f"got shape {p.shape}."
        )
    is_right = (p >= 0) & (p <= 1)  # NaN fails both
    if not is_right.all():
        wrong = np.flatnonzero(~is_right)
        asked = question_text(queries.take(wrong), names)
        raise CITestError(f"A p-value must lie between 0 and 1; the test answered {p[wrong[0]]} for {asked}.")
    return p


def require_in_range(queries: Queries, n: int, those: str) -> None:
    """Raises CITestError if an index is not in 0, ..., n - 1; `those` names the n variables in the message."""
    from anypag._kernels.pairs import all_in_range

    if not all_in_range(queries.x, queries.y, queries.z, n):
        raise CITestError(f"Indices go from 0 to {n - 1}, one for each of the {n} {those}; the queries hold others.")


def question_text(queries: Queries, names: tuple[str, ...]) -> str:
    """The first question of a batch as text: A ⟂ B | {C}."""
    given = ", ".join(names[k] for k in queries.z[0])
    return f"{names[queries.x[0]]} ⟂ {names[queries.y[0]]} | {{{given}}}"


class Oracle:
    """Answers every question from the true graph: 1.0 where separated, 0.0 where not.

    Args:
        graph: the true DAG or MAG, latent and selection nodes included.
        latent: nodes that are never asked about.
        selection: nodes that are always conditioned on.

    The variables are the remaining, observed nodes, in the order of the graph; `names` lists them.

    >>> from anypag import DAG, Oracle, Queries
    >>> oracle = Oracle(DAG.from_string("U --> A; U --> B; B --> C"), latent=["U"])
    >>> oracle.names
    ('A', 'B', 'C')
    >>> oracle.pvalues(Queries([0, 0], [2, 2], [[], []])), oracle.pvalues(Queries([0], [2], [[1]]))
    (array([0., 0.]), array([1.]))
    """

    exact = True
    batch = 4096

    def __init__(self, graph: MixedGraph, latent: Iterable[Node] = (), selection: Iterable[Node] = ()) -> None:
        if not isinstance(graph, (DAG, MAG)):
            raise CITestError(f"An oracle reads a DAG or a MAG; got a {type(graph).__name__}.")
        observed, _, is_selection = roles(graph, latent, selection)
        self.names = tuple(graph.names[i] for i in observed)
        self._graph = graph
        self._observed = observed.astype(np.int32)
        self._selection = np.flatnonzero(is_selection).astype(np.int32)

    def pvalues(self, queries: Queries) -> PValues:
        """(b,) 1.0 where x and y are separated given z and the selection nodes, else 0.0."""
        require_in_range(queries, len(self.names), "observed nodes")
        x, y, z = (self._observed[part] for part in (queries.x, queries.y, queries.z))
        return are_separated(self._graph, x, y, z, always=self._selection).astype(np.float64)
