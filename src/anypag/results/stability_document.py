"""What came of resampling, as it stands in the JSON file of a result under `"stability"`, and back.

- `n`, `asked`: the resamples that gave a graph, and those asked for; `resample`, `seed`, `stopped` as in `Stability`;
- `failures`: `[k, "why"]`, one row for each resample that gave none;
- `edges`: `[a, b, "o->", count]`, one row for each kind of edge that a pair has in some resample;
- `causes`, `not_causes`: `[a, b, count]`: in how many a is claimed to be an ancestor of b, and not to be one; pairs
  with 0 are left out;
- `graphs`: the graph of each resample, as the places in `edges` of the edges it has;
- `consensus`: the edges of the consensus as `[a, b, "o->"]`; null where no resample gave a graph.

Nodes are given by their place in the list of nodes, from 0.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from anypag.arrays import Counts
from anypag.errors import FormatError, abbreviated
from anypag.graphs.marks import EDGE_SYMBOLS, Edge, Mark, edge_symbol
from anypag.graphs.pag import PAG
from anypag.stability.frequencies import Frequencies
from anypag.stability.plan import Resample
from anypag.stability.stability import Failure, Stability

Document = dict[str, Any]


def stability_document(stability: Stability) -> Document:
    """What came of resampling, as JSON can hold it."""
    found, consensus = stability.frequencies, stability.consensus
    place = {name: i for i, name in enumerate(stability.names)}
    return {
        "n": stability.n,
        "asked": stability.asked,
        "resample": stability.resample,
        "seed": stability.seed,
        "stopped": stability.stopped,
        "failures": [list(failure) for failure in stability.failures],
        "edges": [[a, b, edge_symbol(Mark(x), Mark(y)), count] for a, b, x, y, count in found.edges.tolist()],
        "graphs": _graphs(stability),
        "causes": _rows(found.n_causes),
        "not_causes": _rows(found.n_not_causes),
        "consensus": None
        if consensus is None
        else [[place[edge.a], place[edge.b], edge.symbol] for edge in consensus.edges()],
    }


def _graphs(stability: Stability) -> list[list[int]]:
    """For each graph where its edges stand in the list of all."""
    place = {tuple(row[:4]): k for k, row in enumerate(stability.frequencies.edges.tolist())}
    rows = []
    for graph in stability.graphs:
        marks = graph.marks
        a, b = np.nonzero(np.triu(marks))
        ends = np.stack([a, b, marks[b, a], marks[a, b]], axis=1).tolist()
        rows.append([place[tuple(end)] for end in ends])
    return rows


def read_stability(content: object, names: tuple[str, ...], whole: PAG) -> Stability | None:
    """What a file says of resampling; every number is checked."""
    return None if content is None else _Reader(content, names).stability(whole)


def _rows(counts: Counts) -> list[list[int]]:
    a, b = np.nonzero(counts)
    rows: list[list[int]] = np.stack([a, b, counts[a, b]], axis=1).tolist()
    return rows


class _Reader:
    """Reads what stands under `"stability"`; refuses by a sentence whatever is not as it should be."""

    def __init__(self, content: object, names: tuple[str, ...]) -> None:
        _require(isinstance(content, dict), content, "an object")
        assert isinstance(content, dict)
        self._content, self._names = content, names
        self._n = self._count("n")

    def stability(self, whole: PAG) -> Stability:
        """All of it."""
        resample: Any = self._content.get("resample")
        stopped = self._content.get("stopped")
        _require(resample in get_args(Resample), resample, "about half-samples or a bootstrap")
        _require(stopped is None or isinstance(stopped, str), stopped, 'null or a text under "stopped"')
        causes, not_causes = (self._pairs(key) for key in ("causes", "not_causes"))
        frequencies = Frequencies(self._names, self._n, self._edges(), causes, not_causes)
        asked, seed, failures = self._count("asked"), self._count("seed"), self._failures()
        graphs, consensus = self._graphs(), self._consensus()
        return Stability(asked, resample, seed, frequencies, failures, stopped, graphs, whole, consensus)

    def _graphs(self) -> tuple[PAG, ...]:
        """The graphs of the resamples; none in files that were written before they were kept."""
        if self._content.get("graphs") is None:
            return ()
        rows, edges = self._content["graphs"], self._list("edges", 4)
        is_right = isinstance(rows, list) and all(isinstance(row, list) for row in rows) and len(rows) == self._n
        _require(is_right, rows, 'a list of n lists under "graphs"')
        return tuple(self._graph(row, edges) for row in rows)

    def _graph(self, row: list[Any], edges: list[list[Any]]) -> PAG:
        _require(all(_is_count(k) and k < len(edges) for k in row), row, 'about places in "edges" under "graphs"')
        chosen = [edges[k] for k in row]
        _require(len({(a, b) for a, b, *_ in chosen}) == len(row), row, 'about one edge a pair under "graphs"')
        listed = [Edge(self._names[a], self._names[b], *EDGE_SYMBOLS[symbol]) for a, b, symbol, _ in chosen]
        return PAG.from_edges(listed, self._names)

    def _edges(self) -> Counts:
        rows = []
        for a, b, symbol, count in self._list("edges", 4):
            _require(self._is_node(a) and self._is_node(b) and a < b and _is_symbol(symbol), symbol, "of edges")
            _require(_is_count(count) and count <= self._n, count, "of counts up to n")
            rows.append([a, b, *map(int, EDGE_SYMBOLS[symbol]), count])
        return np.array(sorted(rows), np.int64).reshape(-1, 5)

    def _pairs(self, key: str) -> Counts:
        counts = np.zeros((len(self._names),) * 2, np.int64)
        for a, b, count in self._list(key, 3):
            _require(self._is_node(a) and self._is_node(b) and a != b, [a, b], "about pairs of nodes")
            _require(_is_count(count) and count <= self._n, count, "of counts up to n")
            counts[a, b] = count
        return counts

    def _failures(self) -> tuple[Failure, ...]:
        rows = self._list("failures", 2)
        for k, why in rows:
            _require(_is_count(k) and isinstance(why, str), [k, why], "of failures as [number, why]")
        return tuple(Failure(k, why) for k, why in rows)

    def _consensus(self) -> PAG | None:
        if self._content.get("consensus") is None:
            return None
        rows = self._list("consensus", 3)
        for a, b, symbol in rows:
            _require(self._is_node(a) and self._is_node(b) and _is_symbol(symbol), [a, b, symbol], "of edges")
        edges = [Edge(self._names[a], self._names[b], *EDGE_SYMBOLS[symbol]) for a, b, symbol in rows]
        return PAG.from_edges(edges, self._names)

    def _list(self, key: str, width: int) -> list[list[Any]]:
        rows = self._content.get(key)
        is_right = isinstance(rows, list) and all(isinstance(row, list) and len(row) == width for row in rows)
        _require(is_right, rows, f'a list of rows of {width} under "{key}"')
        assert isinstance(rows, list)
        return rows

    def _count(self, key: str) -> int:
        value = self._content.get(key)
        _require(_is_count(value), value, f'a whole number from 0 on under "{key}"')
        assert isinstance(value, int)
        return value

    def _is_node(self, value: object) -> bool:
        return _is_count(value) and isinstance(value, int) and value < len(self._names)


def _is_symbol(value: object) -> bool:
    return isinstance(value, str) and value in EDGE_SYMBOLS


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def _require(holds: bool, got: object, wanted: str) -> None:
    if not holds:
        raise FormatError(f'"stability" must be {wanted}; got {abbreviated(got)}.')
