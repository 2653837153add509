"""The degenerate-Gaussian score, for any mix of continuous and discrete columns (Andrews, Ramsey & Cooper 2019).

A discrete variable becomes one column of zeros and ones for each of its levels except one, and all columns are taken as
jointly Gaussian. An edge costs a parameter for every pair of columns it joins. Graphs with hidden variables are scored
as for Gaussian data, with the columns of one variable joined to each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Floats
from anypag.errors import DataError
from anypag.scores.base import Bound
from anypag.scores.gaussian import GaussianScore


@dataclass(frozen=True, eq=False)
class MixedScore(GaussianScore):
    """Degenerate-Gaussian log-likelihood, less a price for every parameter. A variable may have several columns, which
    are next to each other in `correlation`. Its parents explain the first ones of them (`explained`); the others only
    explain its children (`scores.additive`).

    >>> from anypag import DegenerateGaussian
    >>> group = np.random.default_rng(0).integers(0, 3, size=300)
    >>> DegenerateGaussian({"group": group, "size": group + np.linspace(0, 1, 300)}).score().start.tolist()
    [0, 2, 3]
    """

    kernels = ("gaussian_score", "component", "adding_blocks", "removing_blocks")

    start: npt.NDArray[np.int32] = field(kw_only=True)  # (p + 1,) where the columns of each variable begin
    explained: npt.NDArray[np.int32] | None = None  # (p,) how many columns parents explain; by default all
    takes_functions: npt.NDArray[np.int32] | None = None  # (p,) 1 if parents' other columns explain it too, else 0

    def __post_init__(self) -> None:
        columns = len(self.correlation)
        if self.n < columns + 2 and columns > len(self.names):
            raise DataError(
                f"The {len(self.names)} variables have {columns} columns (discrete ones: levels - 1 each), and a score "
                f"needs at least {columns + 2} rows; got {self.n}. Merge levels, or take fewer variables."
            )
        super().__post_init__()

    @property
    def widths(self) -> Counts:
        return np.asarray(np.diff(self.start) if self.explained is None else self.explained, np.int64)

    @cached_property
    def bound(self) -> Bound:
        takes_functions = np.zeros(len(self.names)) if self.takes_functions is None else self.takes_functions
        rows = [self.start, np.append(self.start[:-1] + self.widths, 0), np.append(takes_functions, 0)]
        table = np.stack(rows).astype(np.int32)
        return Bound(np.ascontiguousarray(self.correlation), table, self._numbers, np.zeros(1, np.uint64), np.zeros(1))

    @cached_property
    def association(self) -> Floats:
        """(p, p) the largest squared correlation between the columns of every two variables."""
        squares = self.correlation**2
        starts = self.start[:-1]
        return np.asarray(np.maximum.reduceat(np.maximum.reduceat(squares, starts, axis=0), starts, axis=1))

    def taken(self, order: npt.NDArray[np.integer[Any]]) -> Self:
        blocks = [np.arange(self.start[i], self.start[i + 1]) for i in order]
        columns = np.concatenate(blocks)
        return replace(
            self,
            names=tuple(self.names[i] for i in order),
            correlation=np.ascontiguousarray(self.correlation[np.ix_(columns, columns)]),
            start=np.concatenate([[0], np.cumsum([len(block) for block in blocks])]).astype(np.int32),
            explained=None if self.explained is None else self.explained[order],
            takes_functions=None if self.takes_functions is None else self.takes_functions[order],
        )
