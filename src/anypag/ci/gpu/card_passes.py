"""Passes over a correlation matrix that lies on a graphics card.

The card preselects by |rho|; the CPU then decides by the p-value, to the same bits as without a card if the matrix is
the same. The matrix itself is summed in another order on the card: a decision whose p-value is within `CLOSE` of alpha
may differ from the CPU's, and is counted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags, Floats, Indices
from anypag.ci.base import PValues
from anypag.ci.gpu.card import Card, CardError, cuda_card
from anypag.ci.passes import (
    ROUNDING,
    BestSets,
    CorrelationPasses,
    NearEdges,
    PooledEdges,
    Singles,
    least_strength,
    roots_of,
)
from anypag.data.audit.relations import NOTHING_LEFT
from anypag.errors import AnypagWarning

CLOSE = 1e-9
AT_ONCE = 2_000_000_000  # questions of a pass that are sent at once

Made = TypeVar("Made")


def card_for(device: str) -> Card | None:
    """The card to use, None for the CPU. Without a card, "cuda" raises CardError and "auto" warns and takes the CPU."""
    if device == "cpu":
        return None
    try:
        return cuda_card()
    except CardError as error:
        if device == "cuda":
            raise
        warnings.warn(f"{error} The CPU goes on, as device = 'auto' allows.", AnypagWarning, stacklevel=2)
        return None


def or_on_cpu(work: Callable[[Card | None], Made], card: Card | None, device: str) -> tuple[Made, Card | None]:
    """The value of `work(card)`, and the card; None if it failed and `device` is "auto": the CPU did the work then."""
    try:
        return work(card), card
    except CardError as error:
        if device != "auto":
            raise
        warnings.warn(f"{error} The CPU goes on, as device = 'auto' allows.", AnypagWarning, stacklevel=3)
        return work(None), None


class GPUPasses:
    """What a test asks a card for. With `may_leave` the CPU goes on, with a warning, if the card lacks memory."""

    at_once = AT_ONCE

    def __init__(self, card: Card, on_cpu: CorrelationPasses, *, may_leave: bool) -> None:
        self._card: Card | None = card
        self._on_cpu, self.may_leave = on_cpu, may_leave
        self._lock = Lock()
        self.alpha: float | None = None
        """The significance level of decisions; None if it is not known."""
        self.close_calls = 0
        """Decisions with a p-value within `CLOSE` of alpha."""

    @property
    def correlation(self) -> Floats:
        """(p, p)."""
        return self._on_cpu.correlation

    def _ask_card(self, work: Callable[[Card], Made]) -> Made | None:
        """The answer of the card, one thread at a time; None if the CPU has taken over."""
        with self._lock:
            if self._card is None:
                return None
            try:
                return work(self._card)
            except CardError as error:
                if not self.may_leave:
                    raise
                self._card = None
                warnings.warn(f"{error} The CPU goes on, as device = 'auto' allows.", AnypagWarning, stacklevel=4)
                return None

    def _note(self, p: PValues, alpha: float | None) -> None:
        if alpha is not None:
            with self._lock:
                self.close_calls += int(np.count_nonzero(np.abs(p - alpha) <= CLOSE))

    def dependent_pairs(self, order: Indices, alpha: float, rows: slice) -> tuple[Indices, Indices, Floats]:
        least = least_strength(self._on_cpu.n - 3, min(alpha + 2 * CLOSE, (1 + alpha) / 2))
        found = self._ask_card(lambda card: card.pairs(order, rows, least))
        if found is None:
            return self._on_cpu.dependent_pairs(order, alpha, rows)
        x, y, strengths = found
        p = self._pvalues(strengths, np.zeros(len(x), np.int32), 0)
        self._note(p, alpha)
        kept = p <= alpha
        return x[kept], y[kept], p[kept]

    def best_singles(self, order: Indices, edges: NearEdges, max_sets: int) -> Singles:
        # with too few rows all p-values are 1, so every node is as good as another
        if roots_of(self._on_cpu.n, 1)[0] == 0.0:
            return self._on_cpu.best_singles(order, edges, max_sets)
        found = self._ask_card(lambda card: card.singles(order, edges, NOTHING_LEFT, ROUNDING))
        if found is None:
            return self._on_cpu.best_singles(order, edges, max_sets)
        is_large = found.has_both & (max_sets >= 0) & (found.n_nodes > max_sets)
        done = found.has_both & ~is_large
        z, p = found.node[:, None].copy(), np.full(len(edges.x), np.nan)
        p[done] = self._pvalues(found.strength[done], np.zeros(np.count_nonzero(done), np.int32), 1)
        self._decide_between(order, edges, done & (found.n_near > 1), z, p)
        self._note(p[done], self.alpha)
        return Singles(found.has_both, is_large, z, p, int(found.n_nodes[done].sum()))

    def _decide_between(self, order: Indices, edges: NearEdges, chosen: Flags, z: Indices, p: PValues) -> None:
        """Where nodes are too close for |rho|, choose by p-value on the CPU, and then by the order of nodes."""
        some = np.flatnonzero(chosen)
        graph = (edges.start, edges.neighbour, edges.block)
        ends = (edges.x[some], edges.y[some], edges.edge_block[some])
        again = self._on_cpu.best_singles(order, NearEdges(*graph, *ends), -1)
        z[some], p[some] = again.z, again.p

    def try_sets(self, order: Indices, edges: PooledEdges, best: BestSets, room: int) -> int:
        """See `Passes`. On the CPU: sending the questions to the card takes longer than answering them here."""
        before = best.p.copy()
        count = self._on_cpu.try_sets(order, edges, best, room)
        self.note(best.p[best.p != before])
        return count

    def note(self, p: PValues) -> None:
        """Count the p-values, among those that decide, which are close to alpha."""
        self._note(p, self.alpha)

    def _pvalues(self, strengths: Floats, left_out: npt.NDArray[np.int32], r: int) -> PValues:
        from anypag._kernels.gaussian import fisher_z_pvalues

        fisher_z_pvalues(strengths, left_out, roots_of(self._on_cpu.n, r), strengths)
        return strengths
