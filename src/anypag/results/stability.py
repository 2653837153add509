"""The outcome of resampling: the graphs, how often they have an edge, a mark or a causal claim, and a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from anypag.arrays import Counts, Flags, Floats
from anypag.graphs.base import Marks, ancestry, transitive
from anypag.graphs.marks import EDGE_SYMBOLS, Edge, Mark, edge_symbol
from anypag.graphs.pag import PAG
from anypag.markup import aligned, block, heading, preformatted
from anypag.stored import ListOf, row

_AT_ONCE = 20_000_000  # the most matrix entries in one call that finds the ancestors in several graphs

Resample = Literal["bootstrap", "half"]
""""bootstrap": n rows out of n, with replacement. "half": half of the rows; resamples 2i and 2i + 1 share no row."""

ADVICE = (
    "Use the graph of all rows, and do not rely on an edge that fewer than half of the resamples have. Counts show how "
    "results vary with the rows drawn. They do not show errors that every resample repeats (because a test does not "
    "fit the data, for example)."
)
"""How to use a graph and its counts; docs/stability.md has the measurements."""


class Failure(NamedTuple):
    """A resample that gave no graph: its index (from 0), and why."""

    k: int
    why: str


FAILURES = ListOf(row(Failure))


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How often graphs of resamples have an edge, a mark or a claim. Shares are of the `n` graphs; NaN without any."""

    names: tuple[str, ...]  # the variables, in the order of all arrays
    graphs: tuple[PAG, ...]  # the graphs of the resamples. Their variables are in the order of `names`
    asked: int  # how many resamples were asked for
    resample: Resample
    seed: int
    failures: tuple[Failure, ...] = ()
    stopped: str | None = None  # what ended the run early: "time", "tests" or "interrupt"; None if all are done
    whole: PAG | None = field(default=None)  # the graph of the whole data

    @property
    def n(self) -> int:
        """The number of graphs."""
        return len(self.graphs)

    @cached_property
    def edges(self) -> Counts:
        """(k, 5) a row for each pair and kind of edge: a, b (a < b), mark at a, mark at b, number of graphs with it."""
        key, count = np.unique(np.concatenate([np.empty(0, np.int64), *map(_keys, self.graphs)]), return_counts=True)
        pair, kind = np.divmod(key, 16)
        ends = np.divmod(pair, max(1, len(self.names)))
        return np.stack([*ends, *np.divmod(kind, 4), count], axis=1).astype(np.int64).reshape(-1, 5)

    @cached_property
    def n_causes(self) -> Counts:
        """(p, p) how many graphs claim that i is an ancestor of j."""
        return self._counted(causes)

    @cached_property
    def n_not_causes(self) -> Counts:
        """(p, p) how many graphs claim that i is no ancestor of j."""
        return self._counted(not_causes)

    def _counted(self, claimed: Callable[[Marks], Flags]) -> Counts:
        counts = np.zeros((len(self.names),) * 2, np.int64)
        size = max(1, _AT_ONCE // max(1, len(self.names) ** 2))
        for k in range(0, self.n, size):
            counts += claimed(np.stack([graph.marks for graph in self.graphs[k : k + size]])).sum(axis=0)
        return counts

    @property
    def adjacency(self) -> Floats:
        """(p, p) the share of graphs with an edge between i and j."""
        return self._shares(np.ones(len(self.edges), np.bool_), np.ones(len(self.edges), np.bool_))

    @property
    def arrowhead(self) -> Floats:
        """(p, p) the share of graphs with an arrowhead at j on i–j."""
        return self._of_mark(Mark.ARROW)

    @property
    def tail(self) -> Floats:
        """(p, p) the share of graphs with a tail at j on i–j."""
        return self._of_mark(Mark.TAIL)

    @property
    def circle(self) -> Floats:
        """(p, p) the share of graphs with a circle at j on i–j."""
        return self._of_mark(Mark.CIRCLE)

    @property
    def causes(self) -> Floats:
        """(p, p) the share of graphs that claim that i causes j (with selection: j or being in the sample)."""
        return self._per_graph(self.n_causes)

    @property
    def not_causes(self) -> Floats:
        """(p, p) the share of graphs that claim that i is no ancestor of j."""
        return self._per_graph(self.n_not_causes)

    def share(self, edge: Edge) -> float:
        """The share of resamples with exactly this edge; NaN if no resample gave a graph."""
        kinds = self.kinds_of(self.names.index(edge.a), self.names.index(edge.b))
        return kinds.get(edge.symbol, 0) / self.n if self.n else np.nan

    @property
    def kinds(self) -> dict[str, Floats]:
        """For each kind of edge (such as `o->`): (p, p) the share of graphs with this edge, written from i to j."""
        at_a, at_b = self.edges[:, 2], self.edges[:, 3]
        return {
            symbol: self._shares((at_a == left) & (at_b == right), (at_b == left) & (at_a == right))
            for symbol, (left, right) in EDGE_SYMBOLS.items()
        }

    def kinds_of(self, a: int, b: int) -> dict[str, int]:
        """The kinds of the edge a–b, written from a to b, with their counts; the most frequent first."""
        rows = self._of_pairs.get((min(a, b), max(a, b)), [])
        written = [(edge_symbol(*((x, y) if a < b else (y, x))), count) for x, y, count in rows]
        return dict(sorted(written, key=lambda item: (-item[1], item[0])))

    @cached_property
    def _of_pairs(self) -> dict[tuple[int, int], list[tuple[Mark, Mark, int]]]:
        """For each pair, the kinds of its edge: the two marks, and the number of graphs with them."""
        found: dict[tuple[int, int], list[tuple[Mark, Mark, int]]] = {}
        for a, b, x, y, count in self.edges.tolist():
            found.setdefault((a, b), []).append((Mark(x), Mark(y), count))
        return found

    def _of_mark(self, mark: Mark) -> Floats:
        return self._shares(self.edges[:, 3] == mark, self.edges[:, 2] == mark)

    def _shares(self, forward: Flags, backward: Flags) -> Floats:
        """(p, p) shares of graphs. Rows of `edges` in `forward` count at [a, b], rows in `backward` at [b, a]."""
        counts = np.zeros((len(self.names),) * 2, np.int64)
        a, b, count = self.edges[:, 0], self.edges[:, 1], self.edges[:, 4]
        np.add.at(counts, (a[forward], b[forward]), count[forward])
        np.add.at(counts, (b[backward], a[backward]), count[backward])
        return self._per_graph(counts)

    def _per_graph(self, counts: Counts) -> Floats:
        return counts / self.n if self.n else np.full(counts.shape, np.nan)

    def __repr__(self) -> str:
        return f"<Stability: {self.summary()}>"

    def __str__(self) -> str:
        """The edges of the whole data, and how often resamples repeat them."""
        return "\n".join(resample_lines(self, self.whole))

    def _repr_html_(self) -> str:
        """The lines of `str` as HTML for notebooks."""
        first, *rest = str(self).split("\n")
        return block(heading(first), preformatted("\n".join(rest)))

    def summary(self) -> str:
        """One line: the number and the kind of the resamples, how many failed, and what stopped the run."""
        what = "half-samples" if self.resample == "half" else "resamples with replacement"
        failed = f", {len(self.failures)} failed" if self.failures else ""
        stopped = f", stopped ({self.stopped})" if self.stopped else ""
        return f"{self.n} of {self.asked} {what}, seed {self.seed}{failed}{stopped}"


def causes(marks: Marks) -> Flags:
    """(..., p, p) do the marks have a directed path from i to j?"""
    return ancestry(marks) & ~np.eye(marks.shape[-1], dtype=np.bool_)


def not_causes(marks: Marks) -> Flags:
    """(..., p, p) do the marks exclude that i is an ancestor of j?

    They do if no path from i to j can be causal. A causal path never leaves a node at an arrowhead. It enters a node at
    a tail only if that node affects selection (in `A --- B`, A may cause B). A node with an arrowhead never does.
    """
    has_arrow = (marks == Mark.ARROW).any(axis=-2)
    ends = (np.swapaxes(marks, -1, -2) == Mark.ARROW) | (marks == Mark.NONE)
    ends |= (marks == Mark.TAIL) & has_arrow[..., None, :]
    may_cause = transitive(np.logical_not(ends, out=ends))
    may_cause |= np.eye(marks.shape[-1], dtype=np.bool_)
    return np.asarray(np.logical_not(may_cause, out=may_cause))


def _keys(graph: PAG) -> Counts:
    """A code for each edge: a whole number that stands for its pair and its two marks."""
    marks = graph.marks
    a, b = np.nonzero(np.triu(marks))
    return (a * len(marks) + b) * 16 + marks[b, a].astype(np.int64) * 4 + marks[a, b]


class PairCounts(NamedTuple):
    """Counts of the graphs of n resamples, for one pair of variables."""

    n: int
    same: int  # graphs that agree with the graph of the whole data (the same edge, or no edge in both)
    joined: int  # graphs with any edge
    else_mostly: str | None  # the most frequent answer of graphs that disagree (`o->`, or "none"); None if all agree
    kinds: dict[str, int]  # how many graphs have each kind of edge, written from a to b
    causes: tuple[int, int]  # graphs that claim that a is an ancestor of b, or that b is an ancestor of a
    not_causes: tuple[int, int]  # graphs that claim that a is no ancestor of b, or that b is no ancestor of a


def pair_counts(found: Stability | None, a: str, b: str, edge: Edge | None) -> PairCounts | None:
    """The counts for a pair that has this edge in the graph of the whole data; None without resamples."""
    if found is None or not found.n:
        return None
    i, j = found.names.index(a), found.names.index(b)
    kinds = found.kinds_of(i, j)
    joined = sum(kinds.values())
    here = "none" if edge is None else edge.symbol
    counts = {**kinds, "none": found.n - joined}
    others = {kind: count for kind, count in counts.items() if kind != here and count}
    mostly = max(others, key=lambda kind: others[kind]) if others else None
    causes, not_causes = ((int(of[i, j]), int(of[j, i])) for of in (found.n_causes, found.n_not_causes))
    return PairCounts(found.n, counts.get(here, 0), joined, mostly, kinds, causes, not_causes)


def _row(stability: Stability, a: str, b: str, edge: Edge | None) -> tuple[int, int, str, str]:
    """The counts `same` and `joined` of a pair, the pair as text, and the most frequent other answer in words."""
    seen = pair_counts(stability, a, b, edge)
    assert seen is not None  # some resample gave a graph
    others = "no edge" if seen.else_mostly == "none" else f"{a} {seen.else_mostly} {b}"
    mostly = "" if seen.else_mostly is None else f"else mostly {others}"
    return seen.same, seen.joined, f"{a}   {b}" if edge is None else str(edge), mostly


def resample_lines(stability: Stability, graph: PAG | None) -> list[str]:
    """The lines about resampling: edges by frequency, then pairs without an edge that most resamples join."""
    if not stability.n:
        return [f"{stability.summary()}. No resample gave a graph."]
    if graph is None:
        return [f"{stability.summary()}."]
    edges = [_row(stability, edge.a, edge.b, edge) for edge in map(Edge.forward, graph.edges())]
    edges.sort(key=lambda row: (-row[0], -row[1]))
    joined = {frozenset(edge[:2]) for edge in graph.edges()}
    pairs = ((stability.names[a], stability.names[b]) for a, b in stability._of_pairs)
    apart = [_row(stability, *pair, None) for pair in pairs if frozenset(pair) not in joined]
    often = sorted((row for row in apart if 2 * row[1] > stability.n), key=lambda row: -row[1])
    return [
        f"{stability.summary()}. In how many of {stability.n} resamples each edge is found:",
        *_listed(edges),
        *(["Without an edge here, but joined in more than half of them:"] if often else []),
        *_listed(often),
        ADVICE,
    ]


def _listed(rows: Iterable[tuple[int, int, str, str]]) -> list[str]:
    return aligned((f"  {same}", f"joined {joined}", pair, mostly) for same, joined, pair, mostly in rows)
