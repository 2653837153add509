"""The content of a report, as plain lists and dicts for the page's script.

Variables are given by their index, marks by their numbers (`Mark`). Sentences have placeholders ({a}, {b}, ...), which
the page fills with names, so that a sentence is stored once for all edges that it describes.

The nodes of a graph that is too large for a picture are placed on a circle, and the page draws the edges of one chosen
variable. Large reports say what they leave out.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations
from typing import Any

from anypag.choices import DECLARED
from anypag.ci.resolve import fits_of
from anypag.data.findings import Finding
from anypag.errors import Option, Sentence
from anypag.explain.facts import PairFacts, facts_of
from anypag.explain.pair import CONTRADICTED, FOUND, NO_EDGE, explain_pair, reading_of, words_of
from anypag.explain.sampled import HEDGES, SELDOM, about_probable, probable_graphs, why_unlikely
from anypag.explain.summary import acts_on, contexts_told, end_told, take_away
from anypag.graphs.contradictions import doubted_pairs
from anypag.graphs.marks import Edge, Mark, Separation
from anypag.graphs.pag import PAG
from anypag.graphs.rules import RULES
from anypag.knowledge.statements import Outcome
from anypag.markup import plain, shown_share
from anypag.plot.draw import with_contexts
from anypag.plot.geometry import BENDS, Box, Line, Picture, joined, picture, ring
from anypag.plot.labels import apart, legend_for
from anypag.plot.layout import is_drawable, is_small
from anypag.plot.svg import curve, placing
from anypag.report.effects import effects_shown
from anypag.results.consistency import withdrawn_marks
from anypag.results.result import Iteration, Result
from anypag.results.schema import CHOICES
from anypag.results.stability import Stability

Words = dict[tuple[str, str, str], int]  # the index of each triple of sentences about an edge: (at_a, at_b, summary)
Places = dict[tuple[str, str], int]  # the index of the line that joins two variables

MOST_IN_BANNER = 20  # at most this many contradictions are listed in the banner
LIBRARIES = ("anypag", "numpy", "scipy", "numba", "polars", "narwhals")
SHOWN_ELSEWHERE = {"knowledge", "names", "initial", "test"}  # choices that other parts of the page show
MOST_DIFFERENCES = 12  # at most this many differences are listed for a probable graph; the others are counted
MOST_EDGES_OF_A_STEP = 10_000  # earlier steps with more edges show only how many edges there were
MOST_REASONS = 20_000  # with at most this many edges, the reason of every mark is given
NOT_DECIDED = (
    "No two claims of the graph contradict each other. It was not checked whether some system has exactly this graph, "
    "because some marks rest on prior knowledge."
)


def content(result: Result, call: str | None, spell: Callable[[Option], str] = str, data: Any = None) -> dict[str, Any]:
    """The content of the page. `spell` writes options; effects are estimated from `data`."""
    facts, is_whole = facts_of(result), is_drawable(result.pag)
    drawn = with_contexts(picture(result.pag) if is_whole else ring(result.pag), result)
    words: Words = {}
    n, first = len(result.pag), result.history[0].info if result.history else None
    lines = _all_lines(result, drawn.boxes)
    place = {line.edge[:2]: k for k, line in enumerate(lines)}
    frames = [_frame(item, facts, words, place, item is result.history[-1]) for item in result.history]
    if not frames:
        edges = _frame_edges(facts.pag, facts, words, place, final=facts.final)
        frames = [{"r": None, "count": len(edges), "edges": edges}]
    return {
        "is_whole": is_whole,
        "take_away": take_away(result),
        "left_out": list(_left_out(result)),
        "names": list(result.pag.names),
        **drawing_shown(drawn, lines, result.pag),
        "frames": frames,
        "starts_complete": first is not None and first.n_edges + first.removed == n * (n - 1) // 2,
        "by_scores": result.from_scores,
        "words": [list(sentences) for sentences in words],
        "edges": [{**row, "strength": result.strengths.get(edge[:2])} for edge, row in _edges(facts, place)],
        "assumed": list(_assumed(result)),
        "apart": _apart(facts),
        "sentences": {"no_edge": NO_EDGE, "found": FOUND, "contradicted": CONTRADICTED, "hedges": HEDGES},
        "effects": effects_shown(result, data),
        "probable": _probable(result),
        "legend": legend_shown(result),
        "consistency": _consistency(result, place),
        "audit": result.audit and [_finding(finding, spell) for finding in result.audit.findings],
        "knowledge": [_outcome(outcome) for outcome in result.knowledge],
        "experiments": _experiments(result),
        "checked": result.audit and result.audit.all_clear,
        "notes": list(result.audit.all_notes) if result.audit else [],
        "kinds": [list(item) for item in result.audit.kinds] if result.audit else [],
        "cautions": list(result.cautions),
        "made": _made(result, call, spell),
        "resamples": result.stability and _resampled(result.stability),
    }


def _experiments(result: Result) -> dict[str, Any]:
    """What experiments changed: a table with its head, and sentences."""
    told, rows = contexts_told(result), [row for row in acts_on(result) if row.directly is not False]
    share = "probability" if result.probabilities else "share of resamples"
    head = ["experiment", "acts directly on", share][: 3 if any(row.probability is not None for row in rows) else 2]
    variables = [row.variable if row.directly else f"{row.variable} (perhaps)" for row in rows]
    shares = [shown_share(row.probability or 0.0) for row in rows]
    cells = [[row.context, *cell] for row, *cell in zip(rows, variables, shares, strict=True)]
    sets = [result.sets.told] if told and result.sets else []
    return {"told": [*sets, *told], "head": head, "rows": [cell[: len(head)] for cell in cells]}


def _assumed(result: Result) -> Iterator[str]:
    """The assumptions behind every claim, one sentence each."""
    yield "Causes do not run in a circle."
    yield "Independences in the data are those that the causes imply; no effects cancel each other (faithfulness)."
    if not result.is_exact:
        yield f"The test fits the data: {fits_of(result.test_name or '')}."
        yield "Rows were drawn one by one, independently of each other."
    selected = "may depend on the variables (selection is allowed for)"
    depends = selected if result.choices.selection_bias else "depends on none of the variables (the user said so)"
    yield f"Who is in the sample {depends}."
    if result.knowledge:
        yield "The statements given as knowledge are true."


def _consistency(result: Result, place: Places) -> dict[str, Any]:
    """What the page shows of contradictions: sentences, indices of the edges' lines, what `_withdrawn` returns."""
    doubted = doubted_pairs(result.contradictions)
    return {
        "banner": [*result.misfit_told, *result.consistency.lines(MOST_IN_BANNER)],
        "is_alarm": bool(result.misfit_told) or (result.valid is not True and bool(result.consistency.lines())),
        "lines": [k for pair, k in place.items() if frozenset(pair) in doubted],
        "if_right": facts_of(result).assumed,
        "withdrawn": [] if result.is_exact else _withdrawn(result, place),
    }


def _withdrawn(result: Result, place: Places) -> list[list[Any]]:
    """For each frame (the graph after one step), the indices of the lines of edges with a mark withdrawn later."""
    at = {frozenset(map(result.pag.index, pair)): k for pair, k in place.items()}
    found = [{at.get(frozenset(ends)) for ends in gone[:, :2].tolist()} for gone in withdrawn_marks(result)]
    return [[k for k in place.values() if k in lines] for lines in found]


def _probable(result: Result) -> dict[str, Any] | None:
    """The most probable graphs (unless all are rare), and how each differs from the answer; None without samples."""
    graphs, shown = probable_graphs(result), []
    if result.probabilities is None or not graphs:
        return None
    for graph in graphs if graphs[0].share > SELDOM else ():
        n = len(graph.differences)
        heading = "the answer" if not n else f"{n:,} pair{'s' * (n != 1)} joined differently"
        more = [f"and {n - MOST_DIFFERENCES:,} more"] if n > MOST_DIFFERENCES else []
        shown.append([shown_share(graph.share), heading, [*graph.lines()[:MOST_DIFFERENCES], *more]])
    has_unlikely = why_unlikely(result.probabilities, result.pag) is not None
    return {"about": list(about_probable(result)), "has_unlikely": has_unlikely, "graphs": shown}


def _resampled(stability: Stability) -> dict[str, Any]:
    failed = [f"Resample {failure.k} gave no graph: {failure.why}" for failure in stability.failures[:1]]
    return {"n": stability.n, "summary": " ".join([f"{stability.summary()}.", *failed])}


def _finding(finding: Finding, spell: Callable[[Option], str]) -> dict[str, Any]:
    remedy = finding.remedy.spelled(spell) if isinstance(finding.remedy, Sentence) else finding.remedy
    more = finding.message.removeprefix(finding.brief).strip()
    return {"severity": finding.severity, "brief": finding.brief, "more": f"{more} {remedy}".strip().replace("`", "")}


def _left_out(result: Result) -> Iterator[str]:
    """The sentences about the parts that the report of a large graph leaves out."""
    n_edges = len(result.pag.edges())
    if not is_drawable(result.pag):
        size = f"{len(result.pag):,} variables and {n_edges:,} edges"
        yield f"{size} are too many to be drawn at once: choose a variable to see the edges it has."
    if n_edges > MOST_REASONS:
        yield f"With more than {MOST_REASONS:,} edges, the reasons for their marks are left out here."
    if any(_is_counted_only(item, result) for item in result.history):
        yield f"Steps with more than {MOST_EDGES_OF_A_STEP:,} edges show only how many edges there were."


def _is_counted_only(item: Iteration, result: Result) -> bool:
    return item is not result.history[-1] and item.info.n_edges > MOST_EDGES_OF_A_STEP


def _outcome(outcome: Outcome) -> dict[str, str]:
    told = "; ".join(filter(None, [*map(str, outcome.marks), outcome.why]))
    return {"statement": outcome.statement, "became": outcome.in_words, "told": told}


def _all_lines(result: Result, boxes: tuple[Box, ...]) -> tuple[Line, ...]:
    """A line for every pair that a shown graph of the search joins; lines of removed edges are not bent."""
    order = {name: i for i, name in enumerate(result.pag.names)}
    stay = [(edge.a, edge.b) for edge in result.pag.edges()]
    ever = {
        tuple(sorted((edge.a, edge.b), key=order.__getitem__))
        for item in result.history
        if not _is_counted_only(item, result)
        for edge in item.pag.edges()
    }
    go = sorted(ever.difference(stay), key=lambda pair: [order[name] for name in pair])
    bends = BENDS if is_small(len(order), len(stay)) else ()
    return (*apart(joined(boxes, _bare(stay), bends=bends), boxes), *joined(boxes, _bare(go), bends=()))


def _bare(pairs: Iterable[tuple[str, ...]]) -> tuple[Edge, ...]:
    """Edges between these pairs, without marks."""
    return tuple(Edge(a, b, Mark.NONE, Mark.NONE) for a, b in pairs)


def _frame(item: Iteration, facts: PairFacts, words: Words, place: Places, last: bool) -> dict[str, Any]:
    info, pag = item.info, item.pag.subgraph(facts.pag.names)
    is_shown = last or info.n_edges <= MOST_EDGES_OF_A_STEP
    return {
        "count": info.n_edges,
        **{name: getattr(info, name) for name in ("r", "phase", "removed")},
        "tests": info.n_tests,
        "conflicts": info.n_conflicts,
        "seconds": round(item.seconds, 3),
        "edges": _frame_edges(pag, facts, words, place, final=last and facts.final) if is_shown else None,
    }


def _frame_edges(pag: PAG, facts: PairFacts, words: Words, place: Places, *, final: bool) -> list[list[int]]:
    """For each edge: the index of its line, its two marks, and the index of its words."""
    rows = []
    for edge in pag.edges():
        said = reading_of(pag, edge, selection=facts.selection, final=final, by_tests=facts.by_tests, known=facts.known)
        sentences = words.setdefault((said.at_a, said.at_b, said.summary), len(words))
        rows.append([place[edge[:2]], int(edge.mark_a), int(edge.mark_b), sentences])
    return rows


def _rounded(*numbers: float) -> list[float]:
    return [round(number, 1) for number in numbers]


def drawing_shown(drawn: Picture, lines: Iterable[Line], pag: PAG) -> dict[str, Any]:
    """The size of a picture; for each box its centre, its size, its label and the radius of its corners; the lines."""
    boxes = [[*_rounded(*box.centre, box.width, box.height), box.label, box.corner] for box in drawn.boxes]
    size = [math.ceil(drawn.width), math.ceil(drawn.height)]
    return {"size": size, "boxes": boxes, "lines": [line_shown(line, pag) for line in lines]}


def line_shown(line: Line, pag: PAG) -> list[Any]:
    """The two nodes of a line, its path, and the places of its two marks and of its number (a share or lags)."""
    number = _rounded(*line.number) if line.has_number else None
    return [*map(pag.index, line.edge[:2]), curve(line), placing(line.tip_a), placing(line.tip_b), number]


def _edges(facts: PairFacts, place: Places) -> Iterator[tuple[Edge, dict[str, Any]]]:
    """Every edge with its entry for the page: the index of its line, its symbol, and its sentences."""
    tell = _edge if len(facts.pag.edges()) <= MOST_REASONS else _edge_without_reasons
    for edge in facts.pag.edges():
        yield edge, {"line": place[edge[:2]], "symbol": edge.symbol, **tell(facts, edge)}


def _edge(facts: PairFacts, edge: Edge) -> dict[str, Any]:
    explained, said = explain_pair(facts, edge.a, edge.b), facts.probabilities
    return {
        "summary": explained.summary,
        "meanings": [end.meaning for end in explained.ends],
        "rules": [None if end.rule is None else RULES[end.rule].name for end in explained.ends],
        "why": [end.why for end in explained.ends],
        "conflicts": [list(end.conflicts) for end in explained.ends],
        "notes": list(explained.notes),
        "contradictions": list(explained.contradictions),
        "again": plain(explained.again),
        "probability": explained.probability,
        "joined": None if said is None else said.of_any_edge(edge.a, edge.b),
        "p": explained.kept_p,
        "n": explained.n_rows,
    }


def _edge_without_reasons(facts: PairFacts, edge: Edge) -> dict[str, Any]:
    words = words_of(facts, edge)
    at_a, at_b, summary = (text.format(a=edge.a, b=edge.b) for text in (words.at_a, words.at_b, words.summary))
    said = {"summary": summary, "meanings": [at_a, at_b], "rules": [None, None], "why": ["", ""]}
    nothing: dict[str, Any] = {"conflicts": [[], []], "notes": [], "p": None, "n": None}
    return {**said, **nothing, "contradictions": list(facts.contradictions_of(edge.a, edge.b))}


def _apart(facts: PairFacts) -> list[list[Any]]:
    """For each pair without an edge: the two nodes; the separating set, with p-value, r and number of rows of its test
    (None if not known); contradictions; the probability that there is no edge; notes, unless all sampled graphs agree.
    """
    index, rows = {name: i for i, name in enumerate(facts.pag.names)}, list[list[Any]]()
    doubted = doubted_pairs(facts.contradictions)
    for a, b in (pair for pair in combinations(facts.pag.names, 2) if not facts.pag.is_adjacent(*pair)):
        found = _separation(facts.sepsets.get((a, b)), index)
        doubts = facts.contradictions_of(a, b) if frozenset((a, b)) in doubted else ()
        rows.append([index[a], index[b], *found, list(doubts), *_sampled(facts, a, b)])
    return rows


def _sampled(facts: PairFacts, a: str, b: str) -> tuple[float | None, list[str]]:
    said, tested = facts.probabilities, facts.tested
    if said is None:
        return None, []
    share = said.of_edge(a, b, "")
    is_alike = tested is None or not tested.pag.is_adjacent(a, b)
    return share, [] if share == 1 and is_alike else list(explain_pair(facts, a, b).notes)


def _separation(found: Separation | None, index: dict[str, int]) -> list[Any]:
    if found is None:
        return [None] * 4
    p = None if math.isnan(found.p) else float(f"{found.p:.4g}")
    return [[index[name] for name in found.given], p, found.r, found.n]


def legend_shown(result: Result) -> list[list[Any]]:
    """The two marks and the meaning of each kind of edge that occurs."""
    pags = [result.pag, *(item.pag for item in result.history)]
    edges = [edge for pag in pags for edge in pag.edges()]
    contexts = result.choices.knowledge.design if result.choices.knowledge else ()
    entries = legend_for(edges, selection=result.choices.selection_bias, contexts=contexts).entries
    return [[int(entry.line.edge.mark_a), int(entry.line.edge.mark_b), entry.text] for entry in entries]


def _made(result: Result, call: str | None, spell: Callable[[Option], str]) -> dict[str, Any]:
    choices = {"method": result.method if result.chosen is None else str(result.chosen)}
    choices |= {"test": result.test_name} if result.test_name else {}
    choices |= {} if result.n_rows is None else {"rows": f"{result.n_rows:,}"}
    choices |= _choices(result)
    run = {"choices": choices, "tests": result.n_tests, "versions": _versions()}
    return {"call": call, "end": end_told(result, spell), "valid": _valid(result), **run}


def _valid(result: Result) -> str:
    if result.valid:
        return "All that the graph says can be true at once: it is the graph of some system of variables."
    if result.valid is False:
        wrong = f"at least one of the {result.consistency.behind} behind it must be wrong"
        return f"Not all that the graph says can be true at once: {wrong}."
    return result.consistency.note or NOT_DECIDED


def _choices(result: Result) -> dict[str, str]:
    """The choices of the search, without unused ones and those shown elsewhere."""
    words, shown = {None: "no limit", True: "yes", False: "no"}, dict[str, str]()
    for name in CHOICES:
        value = getattr(result.choices, name)
        is_unused = value is None or (DECLARED[name].by_method and name not in result.facts.uses)
        if name == "max_r" or not (is_unused or name in SHOWN_ELSEWHERE):
            shown[name] = words[value] if value is None or isinstance(value, bool) else str(value)
    return shown


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for library in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[library] = version(library)
    return {**found, "system": f"{platform.system()} {platform.machine()}"}
