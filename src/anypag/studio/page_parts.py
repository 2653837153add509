"""The parts of the page as JSON holds them: table, knowledge, run, texts, graphs, and a line for each step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from anypag.data.findings import Audit
from anypag.data.sources.protocol import Source
from anypag.errors import AnypagError, MissingExtraError
from anypag.explain.facts import facts_of, facts_on_the_way
from anypag.explain.pair import CONTRADICTED, Explanation, explain_pair
from anypag.explain.summary import end_told
from anypag.graphs.contradictions import doubted_pairs
from anypag.graphs.marks import A_MARK
from anypag.graphs.pag import PAG
from anypag.plot.effect_draws import effect_svg
from anypag.plot.geometry import Line, Picture, joined, picture, ring
from anypag.plot.labels import apart
from anypag.plot.layout import is_drawable
from anypag.report.content import drawing_shown, legend_shown, line_shown
from anypag.results.result import Iteration, Result
from anypag.studio.columns_shown import advised, columns_shown, findings_shown, spelled
from anypag.studio.settings import WORDS, Settings, in_words, offered
from anypag.studio.take_away import in_python, on_command_line

Shape = dict[str, Any]
Block = list[str]
MOST_CHECKED = 500  # when a search is over, contradictions are searched for in graphs of up to this many variables


def table_shown(
    name: str, settings: Settings, source: Source | None, audit: Audit | None, error: AnypagError | None = None
) -> Shape:
    """The table and the findings of its audit. `error` prevents a search; `source` is None for an unreadable file."""
    is_told = error is None or audit is not None
    return {
        "file": name,
        "rows": source.n if source else 0,
        "looked_at": source.sample().n if source else 0,
        "reading": dict(settings.reading),
        "columns": columns_shown(source, settings, audit) if source else [],
        "findings": findings_shown(audit, source) if audit and source else [],
        "notes": list(audit.all_notes) if audit else [],
        "error": None if is_told or error is None else error.sentence.spelled(spelled),
        "buttons": [] if is_told or error is None else list(advised(error.sentence)),
    }


def known_shown(settings: Settings, names: Sequence[str]) -> Shape:
    """The tiers (without columns that are switched off), all statements, and a contradiction if there is one."""
    on = settings.columns(names)
    tiers = [[name for name in tier if name in on] for tier in settings.tiers]
    free = [name for name in on if name not in {name for tier in tiers for name in tier}]
    said = {"statements": [[in_words(text), text] for text in settings.statements], "words": list(WORDS.items())}
    return {"names": on, "free": free, "tiers": tiers, **said, "problem": settings.contradiction(names)}


def run_shown(status: str, said: str, settings: Settings, result: Result | None, share: float | None) -> Shape:
    """The state of the search. `share`: the part of the current phase that is done."""
    history = result.history if result else ()
    is_over = bool(history) and status in {"done", "stopped"}
    end = end_told(result, spelled) if is_over and result else ""
    now = {"status": status, "said": said, "share": share, "steps": steps_shown(history), **_spent(history)}
    return {**now, "end": end, "offered": offered(settings)}


def _spent(steps: Sequence[Iteration]) -> dict[str, Any]:
    return {"tests": sum(x.info.n_tests for x in steps), "seconds": round(sum(x.seconds for x in steps), 2)}


def texts_shown(settings: Settings, names: Sequence[str], file: str, result: Result) -> Shape:
    """The program and the command that learn the same graph; a note says whether they stop where the search did."""
    note, max_r = "", None
    if not result.complete and not result.from_scores and not result.tests_done and result.history:
        max_r, note = result.r, f"The search was stopped after r = {result.r}; program and command stop there too."
    elif not result.complete:
        note = "The search was stopped before its end; program and command run to the end."
    python = in_python(settings, names, file, max_r)
    return {"python": python, "shell": on_command_line(settings, names, file, max_r), "note": note}


def laid_out(pag: PAG) -> Picture:
    """The picture of a graph; its nodes are on a circle if the graph is too large or igraph is not installed."""
    if not is_drawable(pag):
        return ring(pag)
    try:
        return picture(pag)
    except MissingExtraError:
        drawn = ring(pag)
        return replace(drawn, lines=joined(drawn.boxes, tuple(pag.edges())))


def scene(pag: PAG, drawn: Picture, result: Result | None = None) -> dict[str, Any]:
    """The data for drawing a graph; with `result` also probabilities, legend and, if complete, contradictions."""
    lines = apart(drawn.lines, drawn.boxes)
    probabilities = None if result is None else result.probabilities
    edges = [(line.edge.a, line.edge.b, line.edge.symbol) for line in lines]
    at_the_end = result if result is not None and result.complete and len(pag) <= MOST_CHECKED else None
    found = at_the_end.contradictions if at_the_end else ()
    doubted = doubted_pairs(found)
    return {
        "names": list(pag.names),
        "is_whole": is_drawable(pag),
        "n_edges": len(pag.edges()),
        **drawing_shown(drawn, lines, pag),
        "rows": _rows(lines),
        "shares": [] if probabilities is None else [probabilities.of_edge(*edge) for edge in edges],
        "doubted": [k for k, edge in enumerate(edges) if frozenset(edge[:2]) in doubted],
        "banner": [*at_the_end.misfit_told, *at_the_end.consistency.lines(3)] if at_the_end else [],
        "legend": [] if result is None else legend_shown(result),
    }


def around(pag: PAG, drawn: Picture, name: str) -> dict[str, Any]:
    """The edges of one variable in words, and their lines, for a graph that is too large to be drawn whole."""
    edges = tuple(edge for edge in pag.edges() if name in (edge.a, edge.b))
    count = f"{len(edges)} edge{'s' * (len(edges) != 1)}" if edges else "No edges"
    head = [["h2", "pair", name], ["p", "soft", f"{count}. Click a second variable for the pair."]]
    told, lines = [*head, *(["p", "", str(edge)] for edge in edges)], joined(drawn.boxes, edges, bends=())
    return {"told": told, "lines": [line_shown(line, pag) for line in lines], "rows": _rows(lines)}


def _rows(lines: Sequence[Line]) -> list[list[int]]:
    return [[k, int(line.edge.mark_a), int(line.edge.mark_b)] for k, line in enumerate(lines)]


def steps_shown(history: Iterable[Iteration]) -> list[dict[str, Any]]:
    """A line for each iteration (r, edges, ...), and one for each phase of the search by scores, which has no r."""
    phases = groupby(enumerate(history), key=lambda pair: pair[0] if pair[1].info.has_r else pair[1].info.phase)
    shown = []
    for items in ([item for _, item in some] for _, some in phases):
        last = items[-1].info
        name, removed = (f"r = {last.r}", last.removed) if last.has_r else (last.phase, None)
        shown.append({"name": name, "edges": last.n_edges, "removed": removed, **_spent(items)})
    return shown


def pair_told(result: Result, a: str, b: str) -> list[Block]:
    """The explanation of how two variables are joined, or why they are not, with its probability and notes."""
    facts = facts_of(result) if result.complete else facts_on_the_way(result)
    first, second = (a, b) if result.pag.index(a) < result.pag.index(b) else (b, a)
    return list(_explained(explain_pair(facts, first, second), facts.assumed))


def _explained(said: Explanation, assumed: str | None) -> Iterator[Block]:
    yield ["h2", "pair", str(said.edge) if said.edge else f"{said.a} and {said.b}: no edge"]
    yield from (["p", "doubt", f"{CONTRADICTED} {sentence}"] for sentence in said.contradictions)
    if said.probability is not None:
        yield ["p", "sure", f"Probability {said.probability:.2f}"]
    yield from ([["p", "soft", assumed]] if assumed else [])
    yield ["p", "", said.summary]
    for end in said.ends:
        yield ["h3", "", f"At {end.at} {A_MARK[end.mark]}"]
        yield ["p", "", end.meaning]
        yield from ([["p", "why", end.why]] if end.why else [])
        yield from (["p", "why conflict", text] for text in end.conflicts)
    yield from (["p", "soft", note] for note in said.notes)


def effect_told(result: Result, cause: str, outcome: str, data: Any) -> list[Block]:
    """The effect of one variable on another, with its density; or the reason why there is no answer."""
    try:
        found = result.effect(cause, outcome, data=data)
    except AnypagError as error:
        heading = f"The effect of {cause} on {outcome}: no answer"
        return [["h3", "effect", heading], ["p", "soft", error.sentence.spelled(spelled)]]
    warned = [["p", "doubt", line] for line in found.warnings]
    first, *rest = str(replace(found, warnings=())).splitlines()
    drawn = [] if found.sampled is None else [["svg", first, effect_svg(found.sampled)]]
    return [*warned, ["h3", "effect", first], *drawn, *(["p", "soft", line.strip()] for line in rest)]
