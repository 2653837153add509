"""The score of discrete data, from counts: BDeu. It scores DAGs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags, Floats
from anypag.data.table import as_table
from anypag.errors import DataError, ParameterError
from anypag.scores.base import Bound, Score
from anypag.scores.merged_levels import merged

MOST_LEVELS = 100  # the most levels of a column; with more, its tables are nearly empty and no parent raises the score
MOST_LEVELS_OF_A_CHILD = 6
"""A column with more levels than this is never a child of a hidden column. A hidden column holds the levels of a hidden
cause, drawn for each row. An edge between two columns with r levels has (r - 1)² parameters, a hidden cause with two
levels only 1 + 2 (r - 1). The cause would win by its few parameters, whatever the data say (`benchmarks/tried.md`).
"""
MANY_COLUMNS = 50  # with more columns than this, more counts are cached: 16 MB
ESS = 3.0  # prior rows (`docs/decisions.md`)
FORBIDDEN = 1e9  # the price of an edge that no graph may have


@dataclass(frozen=True, eq=False)
class DiscreteScore(Score):
    """BDeu: the marginal likelihood of each node given its parents, with `ess` prior rows spread evenly over the cells
    of their table, less the price of edges.

    >>> DiscreteScore.of({"A": [0, 1, 2, 0], "B": [1, 1, 0, 0]}).n_levels
    (3, 2)
    """

    hidden = False
    kernels = ("discrete_score", "component", "adding", "removing")

    names: tuple[str, ...]
    levels: npt.NDArray[np.int32]  # (p, n) the level of every variable in every row, 0, 1, ...
    ess: float = ESS  # the number of prior rows
    n_levels: tuple[int, ...] = ()  # per column, levels without rows too; by default one more than its highest code
    rarity: tuple[float, ...] = ()  # per column, how far rare levels raise the price of its edges (`rarity_of`)
    n_hidden: int = 0  # the number of columns whose levels were drawn, not measured; they come last
    price: float = 0.0  # the price of every edge, without the part for rare levels

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_levels", self.n_levels or tuple((self.levels.max(axis=1) + 1).tolist()))
        object.__setattr__(self, "rarity", self.rarity or (0.0,) * len(self.names))
        if not self.ess > 0:
            raise ParameterError(f"ess must be above 0; got {self.ess}.")
        for name, levels, highest in zip(self.names, self.n_levels, self.levels.max(axis=1), strict=True):
            if highest < 1:
                raise DataError(f"Column {name!r} is constant; nothing can be learned about it. Leave it out.")
            if levels > MOST_LEVELS:
                raise DataError(
                    f"Column {name!r} has {levels} levels, more than the {MOST_LEVELS} that counts can use. "
                    "Merge levels, or declare it continuous."
                )

    @classmethod
    def of(cls, data: Any) -> Self:
        """The score of a table; every column is taken as discrete."""
        table = as_table(data)
        if np.isnan(table.values).any():
            raise DataError("A score needs a value in every cell; some are missing. Drop their rows, or fill them.")
        columns = [np.unique(column, return_inverse=True)[1] for column in table.values.T]
        return cls(table.names, np.ascontiguousarray(columns, np.int32))

    @classmethod
    def priced(cls, names: tuple[str, ...], levels: npt.NDArray[np.int32]) -> Self:
        """The score as searches use it. In columns with more than six levels, levels that no other column tells apart
        are merged (`merged_levels`). The price of an edge has a part for rare levels, and log(p) for the choice among p
        columns, as in the Gaussian score (`scores.base.GAMMA`).
        """
        checked = cls(names, levels)  # too many levels are refused, not merged
        levels = merged(checked.levels, MOST_LEVELS_OF_A_CHILD)
        return cls(names, levels, rarity=rarity_of(levels), price=float(np.log(len(names))))

    @property
    def n(self) -> int:  # type: ignore[override]  # it follows from the levels
        return int(self.levels.shape[1])

    @cached_property
    def bound(self) -> Bound:
        """The arguments of the compiled functions; the cache of counts lives as long as the score."""
        numbers = np.array([self.ess, *self.n_levels], np.float64)
        size = 1 << (18 if len(self.names) - self.n_hidden <= MANY_COLUMNS else 20)
        return Bound(self.prices(), self.levels, numbers, np.zeros(size, np.uint64), np.zeros(size))

    @property
    def has_few_levels(self) -> Flags:
        """(p,) the columns that may be children of hidden columns."""
        return np.array(self.n_levels) <= MOST_LEVELS_OF_A_CHILD

    def prices(self, hidden: Sequence[int] = ()) -> Floats:
        """(p, p) the price of an edge between each two columns; symmetric, so that equivalent DAGs have equal scores.
        Edges between hidden columns and columns with many levels are forbidden. `hidden`: the numbers of levels of
        further hidden columns, placed after all columns of this score. Their rare levels are not known and add nothing.
        """
        rarity = np.array([*self.rarity, *(0.0 for _ in hidden)])
        more_levels = np.array([*self.n_levels, *hidden]) - 1.0
        of_one_side = np.outer(rarity, more_levels)
        priced: Floats = of_one_side + of_one_side.T + self.price
        first_hidden = len(self.names) - self.n_hidden
        many = np.flatnonzero(~self.has_few_levels)
        priced[many, first_hidden:] = priced[first_hidden:, many] = FORBIDDEN
        return priced

    @cached_property
    def association(self) -> Floats:
        """(p, p) what an edge between two variables adds to the score before its price, in nats per row; at least 0."""
        from anypag._kernels.discrete_score import of_set

        rest, p = (*self.bound[1:], np.zeros(1, np.int64)), len(self.names)
        alone = [of_set(*rest, np.array([i]), 1) for i in range(p)]
        nothing = of_set(*rest, np.zeros(1, np.int64), 0)
        strength = np.zeros((p, p))
        for i in range(p):
            for j in range(i):
                gain = of_set(*rest, np.array([i, j]), 2) - alone[i] - alone[j] + nothing
                strength[i, j] = strength[j, i] = max(gain, 0.0) / self.n
        return strength

    def taken(self, order: npt.NDArray[np.integer[Any]]) -> Self:
        names = tuple(self.names[i] for i in order)
        n_levels = tuple(self.n_levels[i] for i in order)
        rarity = tuple(self.rarity[i] for i in order)
        levels = np.ascontiguousarray(self.levels[order])
        return replace(self, names=names, levels=levels, n_levels=n_levels, rarity=rarity)

    def with_hidden(self, hidden: npt.NDArray[np.uint8], n_levels: Sequence[int]) -> Self:
        """The score with further, hidden columns; `hidden` has their (k, n) levels. Cached counts stay valid."""
        names = (*self.names, *(f"hidden {h + 1}" for h in range(len(hidden))))
        levels = np.vstack([self.levels, hidden.astype(np.int32)])
        rarity = (*self.rarity, *(0.0 for _ in hidden))
        many, n_hidden = (*self.n_levels, *n_levels), self.n_hidden + len(hidden)
        wider = replace(self, names=names, levels=levels, n_levels=many, rarity=rarity, n_hidden=n_hidden)
        wider.bound.keys[:], wider.bound.values[:] = self.bound.keys, self.bound.values
        return wider


def rarity_of(levels: npt.NDArray[np.int32]) -> tuple[float, ...]:
    """The number m of each column: for each of its edges, BDeu charges m · (levels of the other column - 1) too little.

    An edge should cost log(n) / 2 for every extra parameter. BDeu charges this if all levels are equally common; for a
    rare level it charges only half the log of its few rows. The missing part is m = -½ Σ log(r · s) over the r levels
    of the column, each with a share s of the rows. This sum comes from the determinant of the Fisher information. Half
    a row is added to every level, so that s is above 0 for levels that do not occur.

    >>> [round(missing, 2) for missing in rarity_of(np.array([[0, 1] * 50, [0] * 99 + [1]], np.int32))]
    [0.0, 1.42]
    """
    counts = [np.bincount(column) + 0.5 for column in levels]
    return tuple(float(np.log(count.mean() / count).sum() / 2) for count in counts)
