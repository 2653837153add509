"""Gaussian scores, from one correlation matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Floats
from anypag.errors import DataError, ParameterError
from anypag.scores.base import Bound, Score

STOP = 0.01  # a fit ends when a sweep raises the log-likelihood by less than this; graphs differ by far more
MOST_REMEMBERED = 1 << 22  # the size of the cache of `_kernels.gaussian_score.adding`, in numbers
MOST_PARAMETERS = 64  # the most parameters of a district whose fit is kept; a larger one is fitted again for every edge


@dataclass(frozen=True, eq=False)
class GaussianScore(Score):
    """Log-likelihood of a Gaussian graph with hidden variables, less a price for every edge: BIC and EBIC.

    The likelihood of a district is found by residual iterative conditional fitting, the likelihood of undirected parts
    by one regression per node and sweep. The likelihood of any other node follows from its regression on its parents.

    >>> score = GaussianScore(("A", "B"), 100, np.array([[1.0, 0.6], [0.6, 1.0]]))
    >>> nodes, relation, fits = np.array([1, 0]), np.array([[0, 1]], np.uint8), score.of_components[2]  # B <-- A
    >>> round(score.component(*score.bound, nodes, 1, 2, relation, fits, 0), 2)  # -50 log(1 - 0.36) - log(100) / 2
    20.01
    """

    hidden = True
    fit_rows = 8 + MOST_PARAMETERS
    kernels = ("gaussian_score", "component", "adding", "removing")

    names: tuple[str, ...]
    n: int  # the number of rows
    correlation: Floats  # (p, p)
    discount: float = 1.0  # an edge costs `discount` · log(n) / 2, as in BIC
    gamma: float = 0.0  # it costs 2 · `gamma` · log(p) more, as in EBIC (Foygel & Drton 2010), for many possible graphs
    stop: float = STOP  # a fit ends when a sweep raises the log-likelihood by less than this

    def __post_init__(self) -> None:
        if not self.discount >= 0 or not self.gamma >= 0:
            raise ParameterError(f"discount and gamma must be 0 or more; got {self.discount} and {self.gamma}.")
        if self.n < (p := len(self.names)) + 2:
            raise DataError(
                f"A score for {p} variables needs at least {p + 2} rows; got {self.n}. "
                "Take fewer variables, or a method that uses tests."
            )

    @cached_property
    def bound(self) -> Bound:
        p = len(self.names)
        columns = np.arange(p + 1, dtype=np.int32)
        one_column_each = np.stack([columns, columns + 1, np.zeros_like(columns)])
        slots = min(p, max(1, MOST_REMEMBERED // (3 * p * p)))
        memory = np.zeros(slots * (p + 2), np.uint64), np.empty(slots * 3 * p * p)
        return Bound(np.ascontiguousarray(self.correlation), one_column_each, self._numbers, *memory)

    @property
    def _numbers(self) -> Floats:
        price = self.discount * np.log(self.n) / 2
        return np.array([self.n / 2, price, 2 * self.gamma * np.log(max(len(self.names), 2)), self.stop])

    @cached_property
    def association(self) -> Floats:
        return np.asarray(self.correlation**2)

    def taken(self, order: npt.NDArray[np.integer[Any]]) -> Self:
        names = tuple(self.names[i] for i in order)
        return replace(self, names=names, correlation=np.ascontiguousarray(self.correlation[np.ix_(order, order)]))
