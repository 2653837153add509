"""Testing candidates: which edges fall, and by which separating set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anypag._kernels import candidates as kernel
from anypag.search.asking import Asking
from anypag.search.candidates import Candidates
from anypag.search.state import Sepset

Indices = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


class Separated(NamedTuple):
    """Pairs found independent: x, y, the set (padded with -1) and the p-value."""

    x: Indices
    y: Indices
    z: Indices
    p: Floats

    def take(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Separated:
        """Some of them."""
        return Separated(self.x[rows], self.y[rows], self.z[rows], self.p[rows])


class Best(NamedTuple):
    """For each edge the candidate with the largest p-value."""

    z: Indices  # (m, r); anything where there was none
    p: Floats  # (m,) NaN where there was none

    def renumbered(self, place: Indices) -> Best:
        """The same with node i called place[i]."""
        return Best(np.where(np.isnan(self.p)[:, None], self.z, place.take(self.z, mode="clip")), self.p)

    def separated(self, x: Indices, y: Indices, alpha: float) -> Separated:
        """The edges x–y that fall."""
        fallen = np.flatnonzero(self.p > alpha)
        return Separated(x.take(fallen), y.take(fallen), self.z[fallen], self.p.take(fallen))


def test_candidates(candidates: Candidates, asking: Asking, sepset: Sepset) -> Best:
    """Test the candidates of every edge.

    `"first"` stops at an edge's first separating set; `"largest-p"` tests all of an edge's candidates and takes the one
    with the largest p-value.
    """
    best = Best(np.empty((len(candidates.x), candidates.r), np.int32), np.full(len(candidates.x), np.nan))
    total = candidates.left
    while candidates.left:
        edge_of, queries = candidates.take(asking.room)
        if not len(queries):  # the last edges had no more to give
            break
        p = asking.evaluate(queries, "candidates", total - candidates.left, total)
        if sepset == "first":
            needed = _up_to_first(edge_of, p > asking.alpha)
            edge_of, queries, p = edge_of[needed], queries.take(needed), p[needed]
            candidates.drop(edge_of[p > asking.alpha])
        asking.count(queries)
        kernel.keep_best(edge_of, queries.z, p, *best)
    return best


def minimal(found: Separated, asking: Asking, *, is_empty_known: bool) -> Separated:
    """Drop members while independence stays: no single member of the sets given back can be dropped.

    Where several members can go, the one goes whose leaving gives the largest p-value. `is_empty_known`: all edges have
    been tested given the empty set already, so a single member is known to be needed.
    """
    smallest = 1 if is_empty_known else 0
    if found.z.shape[1] <= smallest:
        return found
    z, p = np.array(found.z), np.array(found.p)
    active = np.arange(len(p))
    while len(active):
        size = (z[active] >= 0).sum(axis=1)
        active = active[size > smallest]
        pair, smaller = _single_drops(z[active])
        rows = active[pair]
        answers = asking.ask_padded(found.x[rows], found.y[rows], smaller, "minimal sets")
        best = _largest(rows, answers)
        best = best[answers[best] > asking.alpha]
        active = rows[best]
        z[active], p[active] = smaller[best], answers[best]
    return Separated(found.x, found.y, z, p)


def _single_drops(z: Indices) -> tuple[npt.NDArray[np.intp], Indices]:
    """Every way to leave one member out: the row it comes from, and the smaller set (padding last)."""
    pair, place = np.nonzero(z >= 0)
    keep = np.arange(z.shape[1]) != place[:, None]
    smaller = z[pair][keep].reshape(len(pair), -1) if len(pair) else np.empty((0, max(0, z.shape[1] - 1)), np.int32)
    return pair, np.pad(smaller, ((0, 0), (0, 1)), constant_values=-1)


def _largest(group: npt.NDArray[np.int64], p: Floats) -> npt.NDArray[np.int64]:
    """For each group, whose rows stand together, the row with the largest p, the first of equals."""
    return np.asarray(kernel.largest_of_each(group, p), np.int64)


def _up_to_first(edge_of: npt.NDArray[np.int64], independent: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The rows a search that stops at an edge's first independence would have come to."""
    hits = np.flatnonzero(independent)
    edges, first = np.unique(edge_of[hits], return_index=True)
    if not len(edges):
        return np.ones(len(edge_of), np.bool_)
    place = np.minimum(np.searchsorted(edges, edge_of), len(edges) - 1)
    first_hit = np.where(edges[place] == edge_of, hits[first[place]], len(edge_of))
    return np.less_equal(np.arange(len(edge_of)), first_hit)
