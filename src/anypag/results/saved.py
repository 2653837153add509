"""Results read from files, which `anypag.results.document` describes; every number is checked."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, get_args

from anypag.choices import DECLARED, Choices
from anypag.data.files.scan import Reading
from anypag.data.findings import Audit, ColumnKind, Finding, Severity
from anypag.errors import FormatError, GraphError, KnowledgeError, ParameterError, Sentence, abbreviated
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats.files import read_graph
from anypag.graphs.formats.registry import loads
from anypag.graphs.marks import EDGE_SYMBOLS, Edge, Mark, MarkReason, Separation
from anypag.graphs.pag import PAG
from anypag.graphs.rules import RULES
from anypag.knowledge.knowledge import Knowledge
from anypag.knowledge.outcome import Outcome
from anypag.results.base import ITERATION, BaseResult, Iteration
from anypag.results.document import Document
from anypag.results.probabilities import Change, Probabilities
from anypag.results.separations import require_names
from anypag.results.stability_document import read_stability
from anypag.search.by_scores.diagrams import Diagrams
from anypag.stability.stability import Stability
from anypag.stored import RefusedError, Variables

Value = TypeVar("Value")


@dataclass(frozen=True, repr=False)
class SavedResult(BaseResult):
    """A result read from a file: tells all that a `Result` can, but cannot be gone on from."""

    pag: PAG
    test_name: str | None
    n_rows: int | None
    audit: Audit | None = field(repr=False)
    separations: Mapping[tuple[str, str], Separation] = field(repr=False)
    kept: Mapping[tuple[str, str], float] = field(repr=False)
    marks: tuple[MarkReason, ...] = field(repr=False)
    conflicts: tuple[MarkReason, ...] = field(repr=False)
    knowledge: tuple[Outcome, ...] = field(repr=False)
    probabilities: Probabilities | None = field(repr=False)
    stability: Stability | None = field(default=None, repr=False)
    source: str | None = None
    reading: Reading | None = field(default=None, repr=False)
    strengths: Mapping[tuple[str, str], str] = field(default_factory=dict, repr=False)

    @property
    def is_exact(self) -> bool:
        """Was the test perfect, an oracle?"""
        return self.test_name == "Oracle"

    @property
    def sepsets(self) -> Mapping[tuple[str, str], Separation]:
        """Why pairs have no edge, by pair of names in either order."""
        return _EitherOrder(self.separations, self.pag.names)

    def kept_p(self, a: str, b: str) -> float:
        """For an edge: the largest p-value among the tests that kept it (NaN if it is not known)."""
        return _EitherOrder(self.kept, self.pag.names).get((a, b), math.nan)


def load_result(document: object) -> SavedResult:
    """The result that a document holds.

    Raises:
        FormatError: it does not; the message says what is wrong.

    >>> import anypag as ap
    >>> from anypag.results.document import save_result
    >>> result = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; B --> C")))
    >>> load_result(save_result(result)).sepsets["C", "A"]
    Separation(given=('B',), p=1.0, r=1, n=None)
    """
    graph = loads(json.dumps(_graph_alone(document)), "json", kind=PAG)
    assert isinstance(document, dict)  # else it would not have been a graph
    meta = document.get("meta")
    if not isinstance(meta, dict) or not isinstance(meta.get("anypag"), dict):
        raise FormatError('The file holds a graph but not how it was learned ("meta": {"anypag": ...} is not there).')
    try:
        return _Reader(graph.names, meta["anypag"]).result(graph)
    except GraphError as error:
        raise FormatError(f'Under "meta", "anypag": {error}') from None


def _graph_alone(document: object) -> object:
    """The document without how the graph was learned, which may be long."""
    meta = document.get("meta") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(meta, dict):
        return document
    return {**document, "meta": {name: value for name, value in meta.items() if name != "anypag"}}


def read_result(path: str | os.PathLike[str]) -> SavedResult | MixedGraph:
    """The result in a JSON file; the bare graph of a file in this or any other format that holds no more.

    Raises:
        FormatError: the file holds no graph, or a broken result.
    """
    path = Path(path)
    document = _document(path)
    meta = document.get("meta") if isinstance(document, dict) else None
    if not isinstance(meta, dict) or "anypag" not in meta:
        return read_graph(path)
    try:
        return load_result(document)
    except FormatError as error:
        raise FormatError(f"{path.name}: {error}") from None


def _document(path: Path) -> object:
    """What a JSON file holds; None for any other, and for one that is none: who reads the graph says what is wrong."""
    if path.suffix.lower() != ".json":
        return None
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None


class _EitherOrder(Mapping[tuple[str, str], Value]):
    """A mapping by pairs of names that does not mind their order."""

    def __init__(self, items: Mapping[tuple[str, str], Value], names: tuple[str, ...]) -> None:
        self._items = items
        self._names = names

    def __getitem__(self, pair: tuple[str, str]) -> Value:
        a, b = pair
        require_names(pair, self._names)
        return self._items[a, b] if (a, b) in self._items else self._items[b, a]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


class _Reader:
    """Reads what stands under `"anypag"`; refuses by a sentence whatever is not as it should be."""

    def __init__(self, names: tuple[str, ...], content: Document) -> None:
        self._names = names
        self._content = content

    def result(self, pag: PAG) -> SavedResult:
        stopped, test, n_rows = (self._content.get(key) for key in ("stopped", "test", "n_rows"))
        return SavedResult(
            method=_text_of(self._content.get("method"), "method"),
            choices=self._choices(),
            pag=pag,
            history=tuple(self._iteration(item) for item in self._list("history")),
            complete=_checked(self._content.get("complete"), bool, "complete", "true or false"),
            stopped=None if stopped is None else _text_of(stopped, "stopped"),
            test_name=None if test is None else _text_of(test, "test"),
            n_rows=None if n_rows is None else _whole(n_rows, "n_rows"),
            audit=self._audit(),
            separations=dict(self._separation(row) for row in self._rows("separations", 6)),
            kept=dict(self._kept(row) for row in self._rows("kept", 3)),
            marks=tuple(self._reason(row) for row in self._rows("marks", 5)),
            conflicts=tuple(self._reason(row) for row in self._rows("conflicts", 5)),
            knowledge=tuple(self._outcome(item) for item in self._content.get("knowledge") or ()),
            probabilities=self._probabilities(),
            stability=read_stability(self._content.get("stability"), self._names, pag),
            source=None if self._content.get("source") is None else _text_of(self._content["source"], "source"),
            reading=self._reading(),
            strengths=self._strengths(),
        )

    def _choices(self) -> Choices:
        """Older files have some of the choices, as "params"; what a file does not say is as it is by default."""
        key = "choices" if "choices" in self._content else "params"
        content = _checked(self._content.get(key), dict, key, "an object")
        unknown = [name for name in content if name not in DECLARED or not DECLARED[name].recorded]
        if unknown:
            raise FormatError(f'"{key}" holds {abbreviated(unknown[0])}, which is no choice of this version of anypag.')
        try:
            if content.get("knowledge") is not None:
                content = {**content, "knowledge": Knowledge.from_dict(content["knowledge"])}
            return Choices(method=_text_of(self._content.get("method"), "method"), **content)
        except (ParameterError, KnowledgeError) as error:
            raise FormatError(f'under "{key}": {error}') from None

    def _reading(self) -> Reading | None:
        """Older files have none."""
        if self._content.get("reading") is None:
            return None
        content = _checked(self._content["reading"], dict, "reading", "an object")
        gaps = _checked(content.get("gaps"), list, "gaps", "a list of words")
        texts = {name: content.get(name) for name in ("encoding", "sheet", "counts")}
        return Reading(
            gaps=tuple(_text_of(word, "gaps") for word in gaps),
            header=_checked(content.get("header"), bool, "header", "true or false"),
            **{name: None if text is None else _text_of(text, name) for name, text in texts.items()},
        )

    def _audit(self) -> Audit | None:
        if self._content.get("audit") is None:
            return None
        findings = tuple(self._finding(row) for row in self._rows("audit", 5))
        known = self._content.get("checked") is not None  # older files do not have it
        checked = tuple(_text_of(text, "checked") for text in self._list("checked")) if known else ()
        rows = self._rows("kinds", 3) if known else []
        return Audit(findings, checked, tuple(ColumnKind(*(_text_of(text, "kinds") for text in row)) for row in rows))

    def _finding(self, row: list[Any]) -> Finding:
        severity, problem, columns, message, remedy = row
        if severity not in get_args(Severity) or not isinstance(columns, list):
            raise FormatError(f'a row of "audit" must begin with "error" or "warning"; got {abbreviated(row)}.')
        names = tuple(_text_of(name, "audit") for name in columns)
        texts = (_text_of(text, "audit") for text in (problem, message, remedy))
        problem, message, remedy = texts
        return Finding(severity, problem, names, message, Sentence(remedy))

    def _probabilities(self) -> Probabilities | None:
        """Older files have none."""
        if self._content.get("probabilities") is None:
            return None
        content = _checked(self._content["probabilities"], dict, "probabilities", "an object")
        inner = _Reader(self._names, content)
        return Probabilities(
            _whole(content.get("samples"), "samples"),
            _finite(content.get("expected_errors"), "expected_errors"),
            _finite(content.get("best_score"), "best_score"),
            {(self._node(a), self._node(b)): self._shares(states) for a, b, states in inner._rows("pairs", 3)},
            {(self._node(a), self._node(b)): _share(share) for a, b, share in inner._rows("ancestors", 3)},
            tuple((_share(share), self._graph(edges)) for share, edges in inner._rows("graphs", 2)),
            _checked(content.get("hidden"), bool, "hidden", "true or false"),
            _whole(content.get("classes", 0), "classes"),
            {(self._node(a), self._node(b)): self._changes(rows) for a, b, rows in inner._newer_rows("changes", 3)},
            {(self._node(a), self._node(b)): _state(symbol) for a, b, symbol in inner._newer_rows("as_sampled", 3)},
            self._diagrams(content.get("diagrams")),
        )

    def _diagrams(self, text: Any) -> Diagrams | None:
        """Older files have none."""
        return None if text is None else Diagrams.from_text(_text_of(text, "diagrams"), self._names)

    def _changes(self, rows: Any) -> tuple[Change, ...]:
        inner = _Reader(self._names, {"changes": rows})._rows("changes", 4)
        return tuple(Change(self._node(a), self._node(b), _state(s), _share(share)) for a, b, s, share in inner)

    def _strengths(self) -> dict[tuple[str, str], str]:
        rows = self._newer_rows("strengths", 3)
        return {(self._node(a), self._node(b)): _text_of(words, "strengths") for a, b, words in rows}

    def _shares(self, states: Any) -> tuple[tuple[str, float], ...]:
        rows = _checked(states, list, "pairs", "lists of ways to be joined")
        for row in rows:
            if not isinstance(row, list) or len(row) != 2:
                raise FormatError(f'a pair is joined by ["o->", 0.9] or the like; got {abbreviated(row)}.')
        return tuple((_state(symbol), _share(share)) for symbol, share in rows)

    def _graph(self, edges: Any) -> tuple[tuple[str, str, str], ...]:
        found = [self._edge(edge) for edge in _checked(edges, list, "graphs", "lists of edges")]
        return tuple((edge.a, edge.b, edge.symbol) for edge in found)

    def _list(self, key: str) -> list[Any]:
        items: list[Any] = _checked(self._content.get(key), list, key, "a list")
        return items

    def _rows(self, key: str, width: int) -> list[list[Any]]:
        rows = self._list(key)
        for row in rows:
            if not isinstance(row, list) or len(row) != width:
                raise FormatError(f'every row of "{key}" must be a list of {width}; got {abbreviated(row)}.')
        return rows

    def _newer_rows(self, key: str, width: int) -> list[list[Any]]:
        """The same; older files have none."""
        return self._rows(key, width) if self._content.get(key) is not None else []

    def _separation(self, row: list[Any]) -> tuple[tuple[str, str], Separation]:
        a, b, given, p, r, n = row
        members = _checked(given, list, "separations", "a list of nodes in third place")
        rows = None if n is None else _whole(n, "separations")
        why = Separation(tuple(map(self._node, members)), _p(p), _whole(r, "separations"), rows)
        return (self._node(a), self._node(b)), why

    def _kept(self, row: list[Any]) -> tuple[tuple[str, str], float]:
        return (self._node(row[0]), self._node(row[1])), _p(row[2])

    def _reason(self, row: list[Any]) -> MarkReason:
        at, other, mark, rule, because = row
        nodes = _checked(because, list, "marks", "a list of nodes in fifth place")
        if not isinstance(mark, str) or mark not in _MARKS:
            raise FormatError(f"a mark must be one of {', '.join(_MARKS)}; got {abbreviated(mark)}.")
        rule = _whole(rule, "marks")
        if rule not in RULES:
            raise FormatError(f"anypag has the rules {', '.join(map(str, RULES))}; got {rule}.")
        return MarkReason(self._node(at), self._node(other), _MARKS[mark], rule, tuple(map(self._node, nodes)))

    def _outcome(self, item: Any) -> Outcome:
        try:
            return Outcome.from_dict(item)
        except KnowledgeError as error:
            raise FormatError(f'under "knowledge": {error}') from None

    def _iteration(self, item: Any) -> Iteration:
        content = _checked(item, dict, "history", "a list of objects")
        edges = _checked(content.get("edges"), list, "edges", "a list")
        pag = PAG.from_edges([self._edge(edge) for edge in edges], self._names)
        said = {name: value for name, value in content.items() if name != "edges"}
        try:
            return Iteration.of(pag, ITERATION.read(said, Variables(self._names)))
        except RefusedError as error:
            raise FormatError(f'"history", {error}.') from None

    def _edge(self, row: Any) -> Edge:
        if not isinstance(row, list) or len(row) != 3 or not isinstance(row[2], str) or row[2] not in EDGE_SYMBOLS:
            raise FormatError(f'an edge of the "history" must be [a, b, "o->"] or the like; got {abbreviated(row)}.')
        return Edge(self._node(row[0]), self._node(row[1]), *EDGE_SYMBOLS[row[2]])

    def _node(self, value: Any) -> str:
        place = _whole(value, "a node")
        if place >= len(self._names):
            raise FormatError(f"nodes have the numbers 0 to {len(self._names) - 1}; got {place}.")
        return self._names[place]


_MARKS = {mark.name.lower(): mark for mark in (Mark.CIRCLE, Mark.ARROW, Mark.TAIL)}


def _checked(value: Any, kind: type, key: str, wanted: str) -> Any:
    if not isinstance(value, kind):
        raise FormatError(f'"{key}" must be {wanted}; got {abbreviated(value)}.')
    return value


def _text_of(value: Any, key: str) -> str:
    return str(_checked(value, str, key, "a text"))


def _finite(value: Any, key: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise FormatError(f'"{key}" must be a number; got {abbreviated(value)}.')
    return float(value)


def _share(value: Any) -> float:
    share = _finite(value, "share")
    if not 0 <= share <= 1:
        raise FormatError(f"a share lies between 0 and 1; got {abbreviated(value)}.")
    return share


def _state(value: Any) -> str:
    """How two variables are joined; "" for not at all."""
    if not isinstance(value, str) or value not in ("", *EDGE_SYMBOLS):
        raise FormatError(f'a pair is joined by "o->" or the like, or by "" if it is not; got {abbreviated(value)}.')
    return value


def _whole(value: Any, key: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**62:
        raise FormatError(f'"{key}" must be a whole number from 0 on; got {abbreviated(value)}.')
    return value


def _p(value: Any) -> float:
    if value is None:
        return math.nan
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise FormatError(f"a p-value must be a number from 0 to 1, or null; got {abbreviated(value)}.")
    return float(value)
