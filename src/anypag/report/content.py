"""What a report shows, as plain lists and dicts for the page's script.

Variables are given by their index, marks by their numbers (`Mark`). Sentences have places ({a}, {b}, ...) that the page
fills with names, so that a sentence is stored once however many edges it is true of.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations
from typing import Any

from anypag.data.audit import Finding
from anypag.explain.pair import FOUND, NO_EDGE, Facts, explain_pair, facts_of, reading_of
from anypag.graphs.marks import Edge, Mark
from anypag.graphs.pag import PAG
from anypag.graphs.reasons import Separation
from anypag.plot.geometry import Box, Line, joined, picture
from anypag.plot.legend import legend_for
from anypag.plot.svg import curve, placing
from anypag.results.base import BaseResult, Iteration
from anypag.stability.stability import Stability

LIBRARIES = ("anypag", "numpy", "scipy", "numba", "polars", "narwhals")


def content(result: BaseResult, call: str | None) -> dict[str, Any]:
    """All the page needs."""
    facts, drawn = facts_of(result), picture(result.pag)
    words: dict[tuple[str, str, str], int] = {}
    lines = _all_lines(result, drawn.boxes)
    place = {(line.edge.a, line.edge.b): k for k, line in enumerate(lines)}
    frames = [_frame(item, facts, words, place, item is result.history[-1]) for item in result.history]
    return {
        "names": list(result.pag.names),
        "size": [math.ceil(drawn.width), math.ceil(drawn.height)],
        "boxes": [_box(box) for box in drawn.boxes],
        "lines": [_line(line, result.pag) for line in lines],
        "frames": frames or [_only_frame(facts, words, place)],
        "starts_complete": _starts_complete(result),
        "words": [list(sentences) for sentences in words],
        "edges": [_edge(facts, edge, place) for edge in result.pag.edges()],
        "apart": _apart(facts),
        "sentences": {"no_edge": NO_EDGE, "found": FOUND},
        "legend": _legend(result),
        "audit": None if result.audit is None else [_finding(finding) for finding in result.audit.findings],
        "made": _made(result, call),
        "resamples": _resampled(result.stability),
    }


def _resampled(stability: Stability | None) -> dict[str, Any] | None:
    """How many resamples there were, and which gave no graph."""
    if stability is None:
        return None
    failed = [f"Resample {failure.k} gave no graph: {failure.why}" for failure in stability.failures]
    return {"n": stability.n, "summary": " ".join([f"{stability.summary()}.", *failed[:1]])}


def _finding(finding: Finding) -> dict[str, Any]:
    return {**vars(finding), "columns": list(finding.columns), "remedy": str(finding.remedy)}


def _all_lines(result: BaseResult, boxes: tuple[Box, ...]) -> tuple[Line, ...]:
    """A line for every pair that is joined after some iteration; those that do not stay are not worth a bend."""
    order = {name: i for i, name in enumerate(result.pag.names)}
    stay = [(edge.a, edge.b) for edge in result.pag.edges()]
    ever = {
        tuple(sorted((edge.a, edge.b), key=order.__getitem__)) for item in result.history for edge in item.pag.edges()
    }
    go = sorted(ever.difference(stay), key=lambda pair: [order[name] for name in pair])
    return (*joined(boxes, _bare(stay)), *joined(boxes, _bare(go), bends=()))


def _bare(pairs: Iterable[tuple[str, ...]]) -> tuple[Edge, ...]:
    """Edges of which only the ends matter."""
    return tuple(Edge(a, b, Mark.NONE, Mark.NONE) for a, b in pairs)


def _frame(
    item: Iteration, facts: Facts, words: dict[tuple[str, str, str], int], place: dict[tuple[str, str], int], last: bool
) -> dict[str, Any]:
    pag = item.pag.subgraph(facts.pag.names)
    info = item.info
    return {
        "r": info.r,
        "phase": info.phase,
        "removed": info.removed,
        "tests": info.n_tests,
        "conflicts": info.n_conflicts,
        "seconds": round(item.seconds, 3),
        "edges": _frame_edges(pag, facts, words, place, final=last and facts.final),
    }


def _only_frame(
    facts: Facts, words: dict[tuple[str, str, str], int], place: dict[tuple[str, str], int]
) -> dict[str, Any]:
    return {"r": None, "edges": _frame_edges(facts.pag, facts, words, place, final=facts.final)}


def _frame_edges(
    pag: PAG,
    facts: Facts,
    words: dict[tuple[str, str, str], int],
    place: dict[tuple[str, str], int],
    *,
    final: bool,
) -> list[list[int]]:
    """For each edge: its line, its two marks, and which words are true of it."""
    rows = []
    for edge in pag.edges():
        said = reading_of(pag, edge, selection=facts.selection, final=final)
        sentences = words.setdefault((said.at_a, said.at_b, said.summary), len(words))
        rows.append([place[edge.a, edge.b], int(edge.mark_a), int(edge.mark_b), sentences])
    return rows


def _starts_complete(result: BaseResult) -> bool:
    """Did the search start with every pair joined?"""
    n = len(result.pag)
    first = result.history[0].info if result.history else None
    return first is not None and first.n_edges + first.removed == n * (n - 1) // 2


def _box(box: Box) -> list[Any]:
    return [*(round(number, 1) for number in (*box.centre, box.width, box.height)), box.label]


def _line(line: Line, pag: PAG) -> list[Any]:
    return [pag.index(line.edge.a), pag.index(line.edge.b), curve(line), placing(line.tip_a), placing(line.tip_b)]


def _edge(facts: Facts, edge: Edge, place: dict[tuple[str, str], int]) -> dict[str, Any]:
    explained = explain_pair(facts, edge.a, edge.b)
    return {
        "line": place[edge.a, edge.b],
        "symbol": edge.symbol,
        "summary": explained.summary,
        "rules": [end.rule for end in explained.ends],
        "why": [end.why for end in explained.ends],
        "conflicts": [list(end.conflicts) for end in explained.ends],
        "notes": list(explained.notes),
        "again": None if explained.again is None else explained.again.to_dict(),
        "p": explained.kept_p,
        "n": explained.n_rows,
    }


def _apart(facts: Facts) -> list[list[Any]]:
    """The pairs without an edge: the two, the set (None: not known), p, r, n."""
    index = {name: i for i, name in enumerate(facts.pag.names)}
    return [
        [index[a], index[b], *_separation(facts.sepsets.get((a, b)), index)]
        for a, b in combinations(facts.pag.names, 2)
        if not facts.pag.is_adjacent(a, b)
    ]


def _separation(found: Separation | None, index: dict[str, int]) -> list[Any]:
    if found is None:
        return [None, None, None, None]
    p = None if math.isnan(found.p) else float(f"{found.p:.4g}")
    return [[index[name] for name in found.given], p, found.r, found.n]


def _legend(result: BaseResult) -> list[list[Any]]:
    pags = [result.pag, *(item.pag for item in result.history)]
    edges = [edge for pag in pags for edge in pag.edges()]
    selection = facts_of(result).selection
    entries = legend_for(edges, selection=selection).entries
    return [[int(entry.line.edge.mark_a), int(entry.line.edge.mark_b), entry.text] for entry in entries]


def _made(result: BaseResult, call: str | None) -> dict[str, Any]:
    """How the result came about: what was called, with which choices, by which versions."""
    return {
        "call": call,
        "end": _end(result),
        "choices": {
            "method": result.method,
            **({"test": result.test_name} if result.test_name else {}),
            **({} if result.n_rows is None else {"rows": f"{result.n_rows:,}"}),
            **{name: _said(value) for name, value in result.choices.recorded().items()},
        },
        "tests": result.n_tests,
        "versions": _versions(),
    }


def _end(result: BaseResult) -> str:
    if result.complete:
        return f"Complete: no larger condition set could change it (r = {result.r})."
    if result.r < 0:
        return f"Stopped ({result.stopped}) before the first iteration was done."
    return f"Stopped ({result.stopped}) after r = {result.r}: larger condition sets may still remove edges."


def _said(value: object) -> str:
    if value is None:
        return "no limit"
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return {**found, "system": f"{platform.system()} {platform.machine()}"}
