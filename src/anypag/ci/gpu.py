"""Tests on graphics cards. Only this module imports CuPy; all others use a `Card`.

A `Card` keeps one correlation matrix on the card (`tests/` replaces it by a class that uses NumPy). Sums are in float64
and multiplications are not fused with additions, so that the same matrix gives the same bits as on the CPU. The card
preselects by |rho|, the absolute partial correlation (`GPUPasses`); then the CPU decides by the p-value. Only the
matrix itself is summed in another order on the card. So decisions with p-values within `CLOSE` of alpha may differ from
those of the CPU. Such decisions are counted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats, Indices
from anypag.ci.base import PValues
from anypag.ci.passes import ROUNDING, CorrelationPasses, Singles, least_strength, roots_of
from anypag.data.audit.relations import NOTHING_LEFT
from anypag.data.moments import Products
from anypag.errors import AnypagError, AnypagWarning, Option
from anypag.threads import map_in_threads, slices

if TYPE_CHECKING:
    from anypag.ci.passes import BestSets, NearEdges, PooledEdges

WARP = 32  # threads in a warp
BLOCK = 256  # threads in a CUDA block
PIECE = 8_000_000  # bytes fetched from the card at a time
CLOSE = 1e-9  # a decision is a close call if its p-value differs from alpha by at most this
AT_ONCE = 2_000_000_000  # about how many questions one call of a pass (`ci.passes`) answers
Computed = TypeVar("Computed")


class CardError(AnypagError):
    """The graphics card cannot be used, or has too little memory."""


class Least(NamedTuple):
    """The outcome of testing edges given each single node of their pools of radius 1 (`ci.passes`)."""

    strength: Floats  # (m,) the least |rho|; 2 where there was no node
    n_nodes: Counts  # (m,) how many nodes were tried
    n_near: Counts  # (m,) for how many of them |rho| is within a margin of the least
    node: Indices  # (m,) one of the nodes within the margin
    has_both: Flags  # (m,) do both pools have a node?


def cuda_code() -> str:
    from importlib.resources import files

    return files("anypag.ci").joinpath("passes.cu").read_text(encoding="utf-8")


def cuda_card() -> Card:
    """The card of this machine. CardError if there is no card, no driver or no CuPy."""
    try:
        import cupy
    except ImportError:
        raise CardError(
            "A graphics card needs CuPy, which is not installed: pip install 'anypag[gpu]'. The CPU "
            f"({Option('device', 'cpu')}) gives the same results."
        ) from None
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # CuPy raises a type of its own for every cause
        raise _unusable(f"CUDA says {error}") from None
    if not count:
        raise _unusable("there is none")
    try:
        return Card(cupy)
    except Exception as error:
        raise _unusable(f"{type(error).__name__}: {error}") from error


def _unusable(why: str) -> CardError:
    return CardError(
        f"No graphics card can be used here: {why}. Leave {Option('device')} out to use the CPU (same results), "
        f"or choose {Option('device', 'auto')} to use a card only if there is one."
    )


class Card(Products):
    """An NVIDIA card, used through CuPy. It multiplies matrices and keeps a correlation matrix, which passes read."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        module = cupy.RawModule(code=cuda_code(), options=("--fmad=false",))
        names = ("mirror", "correlate", "count_pairs", "write_pairs", "singles")
        self._kernels = {name: module.get_function(name) for name in names}
        self._matrix: Any = None
        self._copy: Floats | None = None
        self._n = 0

    def _call(self, name: str, threads: int, *arguments: Any) -> None:
        self._kernels[name]((-(-threads // BLOCK),), (BLOCK,), arguments)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Turns an out-of-memory error of the card into a CardError."""
        try:
            yield
        except self._cupy.cuda.memory.OutOfMemoryError as error:
            free, total = self._cupy.cuda.runtime.memGetInfo()
            raise CardError(
                f"The memory of the graphics card is too small: {error}. It has {total / 1e9:.1f} GB, of which "
                f"{free / 1e9:.1f} GB are free; {8 * self._n**2 / 1e9:.1f} GB are needed for each table of all pairs. "
                f"Leave {Option('device')} out to use the CPU."
            ) from None

    def products(self, centred: Floats) -> Any:
        self._n = len(centred)
        with self._guarded():
            values = self._cupy.asarray(centred)
            made = values @ values.T
            self._call("mirror", self._n**2, made, np.int64(self._n))
        return made

    def added(self, total: Any, more: Any, shift: npt.NDArray[np.int32], difference: Floats) -> Any:
        with self._guarded():
            factor, offset = self._cupy.asarray(np.ldexp(1.0, shift)), self._cupy.asarray(difference)
            for row in range(0, self._n, 1024):  # piece by piece, because a temporary table of all pairs would not fit
                part = slice(row, row + 1024)
                more[part] += total[part] * (factor[part, None] * factor) + offset[part, None] * offset
        return more

    def diagonal(self, products: Any) -> Floats:
        return np.asarray(self._cupy.asnumpy(products.diagonal()))

    def has(self, correlation: Floats) -> bool:
        """Is `correlation` the host's copy of the matrix that the card keeps?"""
        return correlation is self._copy

    def keep(self, products: Any, scale: Floats, place: npt.NDArray[np.intp], threads: int) -> Floats:
        with self._guarded():
            self._matrix = self._cupy.empty_like(products)
            at, scales = self._cupy.asarray(place.astype(np.int64)), self._cupy.asarray(scale)
            self._call("correlate", self._n**2, products, scales, at, np.int64(self._n), self._matrix)
        self._cupy.cuda.get_current_stream().synchronize()
        self._copy = self._fetched(threads)
        return self._copy

    def _fetched(self, threads: int) -> Floats:
        """A copy of the matrix, fetched in pieces through pinned memory. At 18,000 columns this takes 0.1 s in 16
        threads and 0.7 s in one thread; to fetch the matrix in one piece takes 1 s.
        """
        from cupyx import empty_pinned

        copy = np.empty((self._n, self._n))

        def fetch(rows: slice) -> None:
            piece = empty_pinned((rows.stop - rows.start, self._n))
            self._matrix[rows].get(stream=self._cupy.cuda.Stream(non_blocking=True), out=piece)
            copy[rows] = piece

        map_in_threads(fetch, slices(self._n, max(1, PIECE // (8 * self._n))), threads)
        return copy

    def take(self, correlation: Floats) -> None:
        """Keeps a correlation matrix that was computed elsewhere."""
        self._n = len(correlation)
        with self._guarded():
            self._matrix = self._cupy.asarray(correlation)
        self._copy = correlation

    def pairs(self, order: Indices, rows: slice, least: float) -> tuple[Indices, Indices, Floats]:
        """See `_kernels.candidates.pairs_from`."""
        cupy, n = self._cupy, len(order)
        with self._guarded():
            columns, height = cupy.asarray(order), rows.stop - rows.start
            count = cupy.zeros(height + 1, cupy.int64)
            shape = (np.int64(self._n), np.int64(n), np.int64(rows.start), np.int64(rows.stop), np.float64(least))
            self._call("count_pairs", WARP * height, self._matrix, columns, *shape, count)
            first = cupy.cumsum(count)
            total = int(first[-1])
            x, y, strengths = cupy.empty(total, cupy.int32), cupy.empty(total, cupy.int32), cupy.empty(total)
            self._call("write_pairs", WARP * height, self._matrix, columns, *shape, first, x, y, strengths)
        return cupy.asnumpy(x), cupy.asnumpy(y), cupy.asnumpy(strengths)

    def singles(self, order: Indices, edges: NearEdges, tolerance: float, margin: float) -> Least:
        """The outcome of testing edges given each single node of their pools of radius 1."""
        cupy, m = self._cupy, len(edges.x)
        with self._guarded():
            graph = [cupy.asarray(part) for part in (order, *edges)]
            least, n_nodes, n_near = cupy.empty(m), cupy.empty(m, cupy.int64), cupy.empty(m, cupy.int64)
            node, has_both = cupy.empty(m, cupy.int32), cupy.empty(m, cupy.bool_)
            found = (least, n_nodes, n_near, node, has_both)
            sizes = (np.int64(self._n), np.int64(m), np.float64(tolerance), np.float64(margin))
            self._call("singles", WARP * m, self._matrix, *graph, *sizes, *found)
        return Least(*(cupy.asnumpy(part) for part in found))


def on_device(work: Callable[[Card | None], Computed], device: str) -> Computed:
    """`work(card)`, or `work(None)` on the CPU. On a CardError, "auto" warns and uses the CPU; "cuda" raises."""
    if device == "cpu":
        return work(None)
    try:
        return work(cuda_card())
    except CardError as error:
        if device == "cuda":
            raise
        _warn_of_leaving(error)
        return work(None)


def _warn_of_leaving(error: CardError) -> None:
    warnings.warn(f"{error} The CPU takes over, as device = 'auto' allows.", AnypagWarning, stacklevel=3)


class GPUPasses:
    """Passes (`ci.passes`) on a card. With `may_leave` the CPU takes over, after a warning, if card memory is short."""

    at_once = AT_ONCE

    def __init__(self, card: Card, on_cpu: CorrelationPasses, *, may_leave: bool) -> None:
        self._card: Card | None = card
        self._on_cpu, self._lock, self.may_leave = on_cpu, Lock(), may_leave
        self.correlation = on_cpu.correlation
        self.alpha: float | None = None  # the significance level of decisions; None if it is not known
        self.close_calls = 0  # decisions with a p-value within `CLOSE` of alpha

    def _ask_card(self, work: Callable[[Card], Computed]) -> Computed | None:
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
                _warn_of_leaving(error)
                return None

    def note(self, p: PValues, alpha: float | None = None) -> None:
        """Adds to `close_calls` the number of p-values within `CLOSE` of alpha."""
        alpha = self.alpha if alpha is None else alpha
        if alpha is not None:
            with self._lock:
                self.close_calls += int(np.count_nonzero(np.abs(p - alpha) <= CLOSE))

    def dependent_pairs(self, order: Indices, alpha: float, rows: slice) -> tuple[Indices, Indices, Floats]:
        least = least_strength(self._on_cpu.n, min(alpha + 2 * CLOSE, (1 + alpha) / 2))
        found = self._ask_card(lambda card: card.pairs(order, rows, least))
        if found is None:
            return self._on_cpu.dependent_pairs(order, alpha, rows)
        x, y, strengths = found
        p = self._pvalues(strengths, 0)
        self.note(p, alpha)
        kept = p <= alpha
        return x[kept], y[kept], p[kept]

    def best_singles(self, order: Indices, edges: NearEdges, max_sets: int) -> Singles:
        # with too few rows all p-values are 1, whatever |rho| is, so the CPU chooses the node
        has_rows = roots_of(self._on_cpu.n, 1)[0] > 0.0
        found = self._ask_card(lambda card: card.singles(order, edges, NOTHING_LEFT, ROUNDING)) if has_rows else None
        if found is None:
            return self._on_cpu.best_singles(order, edges, max_sets)
        is_large = found.has_both & (max_sets >= 0) & (found.n_nodes > max_sets)
        done = found.has_both & ~is_large
        z, p = found.node[:, None].copy(), np.full(len(edges.x), np.nan)
        p[done] = self._pvalues(found.strength[done], 1)
        tied = done & (found.n_near > 1)  # nodes nearly tie in |rho|: the CPU chooses by p, then by the order of nodes
        some = edges._replace(x=edges.x[tied], y=edges.y[tied], edge_block=edges.edge_block[tied])
        again = self._on_cpu.best_singles(order, some, -1)
        z[tied], p[tied] = again.z, again.p
        self.note(p[done])
        return Singles(found.has_both, is_large, z, p, int(found.n_nodes[done].sum()))

    def try_sets(self, order: Indices, edges: PooledEdges, best: BestSets, room: int) -> int:
        """See `Passes`. The CPU does this, because sending the questions to a card takes longer than answering them."""
        before = best.p.copy()
        count = self._on_cpu.try_sets(order, edges, best, room)
        self.note(best.p[best.p != before])
        return count

    def _pvalues(self, strengths: Floats, r: int) -> PValues:
        from anypag._kernels.gaussian import fisher_z_pvalues

        fisher_z_pvalues(strengths, np.zeros(len(strengths), np.int32), roots_of(self._on_cpu.n, r), strengths)
        return strengths
