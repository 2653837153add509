"""How often resamples say the same of a pair: counts for machines, and the lines that a terminal shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from anypag.graphs.marks import Edge
from anypag.graphs.pag import PAG

if TYPE_CHECKING:
    from anypag.stability.stability import Stability

ADVICE = (
    "Which to use: the graph of all rows, each edge by its count; what fewer than half have is not to be built on. "
    "The consensus is the one to show where one graph must stand for all: it is no more accurate."
)
"""For whoever holds a graph, its counts and a consensus; docs/stability.md has the measurements."""


class Again(NamedTuple):
    """What the graphs of n resamples have between two variables.

    `same` counts those with the same edge (or none, where there is none), `joined` those with any. `else_mostly` is
    what most of the others have: `o->`, say, or "none"; None where there are no others. `kinds` counts each kind of
    edge, written from a to b; `causes` and `not_causes` the graphs that claim a to be (not to be) an ancestor of b, and
    b of a.
    """

    n: int
    same: int
    joined: int
    else_mostly: str | None
    kinds: dict[str, int]
    causes: tuple[int, int]
    not_causes: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {**self._asdict(), "causes": list(self.causes), "not_causes": list(self.not_causes)}


def again(stability: Stability | None, a: str, b: str, edge: Edge | None) -> Again | None:
    """What resamples say of a pair that has this edge; None where nothing was resampled."""
    if stability is None or not stability.n:
        return None
    found, i, j = stability.frequencies, stability.names.index(a), stability.names.index(b)
    kinds = found.kinds_of(i, j)
    joined = sum(kinds.values())
    here = "none" if edge is None else edge.symbol
    counts = {**kinds, "none": found.n - joined}
    others = {kind: count for kind, count in counts.items() if kind != here and count}
    mostly = max(others, key=lambda kind: others[kind]) if others else None
    causes, not_causes = found.n_causes, found.n_not_causes
    return Again(
        found.n,
        counts.get(here, 0),
        joined,
        mostly,
        kinds,
        (int(causes[i, j]), int(causes[j, i])),
        (int(not_causes[i, j]), int(not_causes[j, i])),
    )


class Row(NamedTuple):
    """A pair in words: how many resamples have the same, how many any edge, what, and what most of the others have."""

    same: int
    joined: int
    what: str
    else_mostly: str


def edge_rows(stability: Stability, graph: PAG) -> list[Row]:
    """The edges of a graph, those first that come again most often."""
    edges = [edge.forward() for edge in graph.edges()]
    found = [(again(stability, edge.a, edge.b, edge), edge) for edge in edges]
    rows = [Row(seen.same, seen.joined, str(edge), _mostly(seen, edge.a, edge.b)) for seen, edge in found if seen]
    return sorted(rows, key=lambda row: (-row.same, -row.joined))


def rows_apart(stability: Stability, graph: PAG) -> list[Row]:
    """The pairs without an edge that more than half of the resamples join, the most frequent first."""
    joined = {frozenset((edge.a, edge.b)) for edge in graph.edges()}
    pairs = {(int(a), int(b)) for a, b in stability.frequencies.edges[:, :2]}
    names = [(stability.names[a], stability.names[b]) for a, b in sorted(pairs)]
    found = [(again(stability, a, b, None), a, b) for a, b in names if frozenset((a, b)) not in joined]
    rows = [
        Row(seen.same, seen.joined, f"{a}   {b}", _mostly(seen, a, b))
        for seen, a, b in found
        if seen is not None and 2 * seen.joined > seen.n
    ]
    return sorted(rows, key=lambda row: -row.joined)


def again_lines(stability: Stability, graph: PAG | None) -> list[str]:
    """What came of resampling: the edges by how often they come again, pairs without one that often have one."""
    if not stability.n:
        return [f"{stability.summary()}. No resample gave a graph."]
    if graph is None:
        return [f"{stability.summary()}."]
    apart = rows_apart(stability, graph)
    return [
        f"{stability.summary()}. Edges that come again, of {stability.n}:",
        *_listed(edge_rows(stability, graph)),
        *(["Without an edge here, but joined in more than half of them:"] if apart else []),
        *_listed(apart),
        ADVICE,
    ]


def _listed(rows: Sequence[Row]) -> list[str]:
    return aligned((f"  {row.same}", f"joined {row.joined}", row.what, row.else_mostly) for row in rows)


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows of texts with the columns below each other.

    >>> aligned([("a", "bc"), ("abc", "d")])
    ['a    bc', 'abc  d']
    """
    cells = list(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _mostly(seen: Again, a: str, b: str) -> str:
    if seen.else_mostly is None:
        return ""
    return f"else mostly {'no edge' if seen.else_mostly == 'none' else f'{a} {seen.else_mostly} {b}'}"
