"""The interface of a score (`Score`), and `GAMMA`, which sets the price that each edge subtracts from the score.

A score is bound to data once. It gives a number to every component of a MAG: a district (nodes joined by `<->`) with
its parents, or the nodes joined by `---`. The score of a graph is the sum over its components; in a DAG each node
with its parents is a component. So after a change of one edge at most two components are scored again. Larger is
better; the unit is that of a log-likelihood.

Three compiled functions do the work: `component` for Markov chains, `adding` and `removing` for searches over orders.
They have the same signatures in all scores (`anypag._kernels.gaussian_score`), so that a search works with any score.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Floats

MOST_WORTHS = 1 << 23  # the most entries of `Trees.worth`; each takes 12 bytes with its `child`, when it is written
GAMMA = 0.5
"""Gamma of EBIC. With 0.5, an edge costs log(n) / 2 + log(p) (n rows, p variables). The second part makes up for the
number of pairs: among many pairs some look dependent by chance (`benchmarks/tried.md`)."""
FEW_VARIABLES = 15  # for up to this many variables, graphs for effects are sampled with plain BIC


class Trees(NamedTuple):
    """A cache of grow-shrink results (parents added, then removed one by one); see `_kernels.orders`."""

    used: Counts
    base: Floats
    node: Counts
    worth: Floats
    child: npt.NDArray[np.int32]

    @classmethod
    def of(cls, n: int) -> Trees:
        cells = max(MOST_WORTHS if n > 20 else MOST_WORTHS // 16, 64 * n)
        nodes = max(cells // max(n // 4, 1), 64)
        used = np.append([0, 0], np.full(n, -1)).astype(np.int64)
        return cls(used, np.empty(nodes), np.empty((nodes, 2), np.int64), np.empty(cells), np.empty(cells, np.int32))


class Bound(NamedTuple):
    """The arrays a compiled score reads, in the order it takes them; see `_kernels.gaussian_score`."""

    matrix: Floats
    table: npt.NDArray[np.int32]
    numbers: Floats
    keys: npt.NDArray[np.uint64]
    values: Floats


class Score(ABC):
    """Scores components by compiled functions, and holds the caches of searches."""

    hidden: ClassVar[bool]  # can it score `<->` and `---`? Otherwise it scores DAGs only
    kernels: ClassVar[tuple[str, str, str, str]]  # a file of `_kernels`; its `component`, `adding` and `removing`
    fit_rows: ClassVar[int] = 1  # rows of `fits[v]`, where a chain keeps a component's fit (`_kernels.gaussian_score`)
    names: tuple[str, ...]
    n: int  # the number of rows

    @cached_property
    @abstractmethod
    def bound(self) -> Bound:
        """The arguments of the compiled functions."""

    @cached_property
    @abstractmethod
    def association(self) -> Floats:
        """(p, p) how strongly every two variables depend on each other; this only affects the order of work."""

    @property
    def widths(self) -> Counts:
        """(p,) for each variable, how many of its columns its parents explain (`scores.mixed`)."""
        return np.ones(len(self.names), np.int64)

    @abstractmethod
    def taken(self, order: npt.NDArray[np.integer[Any]]) -> Self:
        """A score of the same data with its variables in this order, and with empty caches."""

    @property
    def component(self) -> Any:
        """Compiled: the score of a component, or another number about it (`_kernels.gaussian_score.component`)."""
        return self._kernel(self.kernels[1])

    @property
    def adding(self) -> Any:
        """Compiled: the worth of each variable as a further parent, and the worth above which a variable is added."""
        return self._kernel(self.kernels[2])

    @property
    def removing(self) -> Any:
        """Compiled: the score without each parent, and the score with all parents."""
        return self._kernel(self.kernels[3])

    def _kernel(self, name: str) -> Any:
        return getattr(import_module(f"anypag._kernels.{self.kernels[0]}"), name)

    @cached_property
    def of_parents(self) -> Trees:
        """A cache of parents and their worth, for searches over orders."""
        return Trees.of(len(self.names))

    @cached_property
    def of_orders(self) -> dict[bytes, Any]:
        """A cache of the DAGs that searches found for orders."""
        return {}

    @cached_property
    def made_ahead(self) -> dict[bytes, Any]:
        """A cache of results that threads computed before a step needs them: orders after a sweep, cooled chains."""
        return {}

    @cached_property
    def of_components(self) -> tuple[npt.NDArray[np.uint64], Floats, Floats]:
        """For chains: a cache of the scores of components (64-bit keys, scores), and space for a graph's fits."""
        size, n = 1 << (18 if len(self.names) <= 20 else 20), len(self.names)
        return np.zeros(size, np.uint64), np.zeros(size), np.empty((n, self.fit_rows, max(n, self.fit_rows)))

    @cached_property
    def twin(self) -> Self:
        """A copy of the score with caches of its own, for a chain in another thread."""
        return replace(self)  # type: ignore[type-var]

    @cached_property
    def for_effects(self) -> Self | None:
        """The score with a lower price of an edge, to sample graphs for effects; None if the price cannot be lower.

        For up to 15 variables the price is that of plain BIC. For more, it is log(15) lower than with gamma = 1/2. So
        chance adds about as many edges to a variable as it would with BIC among 15 variables (`docs/effects.md`).
        """
        gamma = getattr(self, "gamma", 0.0)
        lower = gamma * max(0.0, 1 - float(np.log(FEW_VARIABLES) / np.log(max(len(self.names), 2))))
        return None if lower == gamma else replace(self, gamma=lower)  # type: ignore[type-var]
