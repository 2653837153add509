"""The schema of result files: every field of a result with its form (`anypag.stored`).

The file is a graph in the schema of caugi (an R package), so any reader of that schema can load it. Fields of `anypag`
are under `"meta": {"anypag": ...}` and are enough to explain every edge without the data. They refer to a node by its
place in the list of nodes, from 0. A number that is not known is `null`. See docs/reference/formats.md.
"""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, get_args

import numpy as np

from anypag.catalogue import METHODS, TEST_METHODS, AtTheEnd, Method, OnTheWay, Promises
from anypag.choices import DECLARED, DEFAULTS, Choices, OwnTest
from anypag.data.files.scan import Reading
from anypag.data.findings import Audit, ColumnKind, Finding, Unchecked
from anypag.data.sources.data_sets import DataSets
from anypag.errors import Option, Sentence
from anypag.graphs.marks import EDGE_SYMBOLS, Mark, MarkReason, Separation, edge_symbol
from anypag.graphs.pag import PAG
from anypag.graphs.rules import RULES
from anypag.knowledge.knowledge import Knowledge
from anypag.knowledge.statements import KnownMark, Outcome
from anypag.markup import plain
from anypag.results.grounds import StoredGrounds, Unlisted
from anypag.results.probabilities import Change, Misfit, Probabilities, edges_of, graph_of
from anypag.results.result import ITERATION, Iteration, Result
from anypag.results.stability import FAILURES, Resample, Stability
from anypag.search.problem import Chosen
from anypag.stored import (
    NODE,
    As,
    Flag,
    Form,
    ListOf,
    MapOf,
    Maybe,
    Number,
    Object,
    RefusedError,
    RowForm,
    Text,
    Variables,
    Whole,
    by_pair,
    marks_matrix,
    object_of,
    plain_object,
    refuse_unless,
    row,
    stored_fields,
)

FORMAT = 4  # the version of the schema; a file of another version is refused
MOST_BYTES = 2**28  # the most bytes of an unpacked array

SHARE = Number(0, 1)
P = Number(0, 1, unknown=True)
SYMBOL = Text(("", *EDGE_SYMBOLS))
EDGE = RowForm((NODE, NODE, Text(tuple(EDGE_SYMBOLS))))
SCORE = As(
    Maybe(Number()),
    lambda score, _: score if math.isfinite(score) else None,
    lambda score, _: -math.inf if score is None else score,
)
"""A score; null before any graph was scored. In memory, null is minus infinity."""
EDGES = As(ListOf(EDGE), lambda graph, _: edges_of(graph), lambda rows, variables: graph_of(rows, variables.names))
"""A graph over the variables of the file: its edges as `[a, b, "o->"]`."""
EDGE_TUPLES = As(ListOf(EDGE), back=lambda rows, variables: edges_of(graph_of(rows, variables.names)))
"""The edges of a graph as `(a, b, "o->")`."""
OWN_GRAPH = As(
    Object({"nodes": ListOf(Text()), "edges": Form()}, get=dict.__getitem__),
    lambda graph, _: {"nodes": graph.names, "edges": EDGES.write(graph, Variables(graph.names))},
    lambda said, _: EDGES.read(said["edges"], Variables(said["nodes"])),
)
"""A graph with a list of nodes of its own."""


def mark_name(*marks: Mark) -> Form:
    """A mark by its name: "circle", "arrow" or "tail"."""
    names = tuple(mark.name.lower() for mark in marks)
    return As(Text(names), lambda mark, _: Mark(mark).name.lower(), lambda name, _: Mark[name.upper()])


def _one_of(kind: type[StrEnum]) -> Form:
    return As(Text(tuple(kind.__members__)), lambda member, _: member.name, lambda name, _: kind[name])


def _sentence_written(value: Any, variables: Variables) -> Any:
    parts = value.parts if isinstance(value, Sentence) else (value,)
    if not any(isinstance(part, Option) for part in parts):
        return "".join(map(str, parts))
    return [[part.name, plain(part.value)] if isinstance(part, Option) else str(part) for part in parts]


def _sentence(plain: Any, variables: Variables) -> str | Sentence:
    if isinstance(plain, str):
        return plain
    refuse_unless(isinstance(plain, list), "a sentence", plain)
    return Sentence(*(part if isinstance(part, str) else _option(part) for part in plain))


def _option(plain: Any) -> Option:
    is_pair = isinstance(plain, list) and len(plain) == 2 and isinstance(plain[0], str)
    value = plain[1] if is_pair else ()
    is_texts = isinstance(value, list) and all(isinstance(word, str) for word in value)
    is_right = is_pair and (value is None or isinstance(value, str | bool) or is_texts)
    refuse_unless(is_right, "an option as [name, value]", plain)
    return Option(plain[0], tuple(value) if isinstance(value, list) else value)


SENTENCE = As(Form(), _sentence_written, _sentence)  # a text, or a list of texts and of options as `[name, value]`


@dataclass(frozen=True)
class Listed(Form):
    """Separations as rows `[a, b, [members], p, r, n]`; `write` yields the rows one by one."""

    def write(self, value: Mapping[tuple[str, str], Separation], variables: Variables) -> Iterator[list[Any]]:
        place = variables.place
        for (a, b), why in value.items():
            given = [place[name] for name in why.given]
            yield [place[a], place[b], given, P.write(why.p, variables), why.r, why.n]

    def read(self, plain: Any, variables: Variables) -> dict[tuple[str, str], Separation]:
        forms = (NODE, NODE, ListOf(NODE), P, Whole(), Maybe(Whole()))
        return {(a, b): Separation(*why) for a, b, *why in ListOf(RowForm(forms)).read(plain, variables)}


def _test(plain: Any, variables: Variables) -> Any:
    if isinstance(plain, str):
        return plain
    return OwnTest(Object({"own": Text()}).read(plain, variables)["own"])


TEST = As(Form(), lambda test, _: test if isinstance(test, str) else {"own": OwnTest.named(test).name}, _test)
"""The name of a test; for a user's own test only its name is kept."""


def _knowledge(plain: Any, variables: Variables) -> Knowledge:
    known = Knowledge.from_dict(plain)
    known.facts(variables.names)  # refuses unknown names
    return known


CHOICES: dict[str, Form] = {
    "alpha": Number(),
    "test": TEST,
    "max_r": Maybe(Whole()),
    "time_budget": Maybe(Number()),
    "max_tests": Maybe(Number()),
    "initial": Maybe(OWN_GRAPH),
    "r0": Whole(),
    "max_sets": Maybe(Whole()),
    "sepset": Maybe(Text()),
    "possible_dsep": Text(),
    "dsep_max_r": Maybe(Whole()),
    "effort": Number(),
    "selection_bias": Flag(),
    "knowledge": Maybe(As(Form(), lambda known, _: known.to_dict(), _knowledge)),
    "names": Maybe(ListOf(Text())),
    "kinds": Maybe(MapOf(Text())),
    "missing": Text(),
    "transform": Text(),
    "singular": Text(),
}
"""The choices that are kept with a result. Each is checked again by its own declaration when `Choices` is made."""
if CHOICES.keys() != {name for name, choice in DECLARED.items() if choice.recorded}:
    raise TypeError("CHOICES must have a form for every recorded choice, and for no other choice")
ALL_CHOICES = As(Object(CHOICES, missing=DEFAULTS), back=lambda said, _: Choices(**said))
"""The choices except the method, which is a separate field; choices that a file lacks get their defaults."""


def recorded(choices: Choices) -> dict[str, Any]:
    return ALL_CHOICES.write(choices, Variables(()))  # type: ignore[no-any-return]


STEP = As(
    Object({**ITERATION.forms, "edges": EDGES}, get=dict.__getitem__),
    lambda step, _: {**vars(step.info), "seconds": step.seconds, "edges": step.pag},
    lambda said, _: Iteration.of(said.pop("edges"), said),
)
"""An iteration: what the step did, with the edges after it."""


@dataclass(frozen=True)
class Packed(Form):
    """An array as text: `[type, [shape], base64 of zlib]`."""

    form: Form

    def write(self, value: Any, variables: Variables) -> list[Any]:
        array = np.ascontiguousarray(self.form.write(value, variables))
        packed = zlib.compress(array.astype(array.dtype.newbyteorder("<")).tobytes(), 9)
        return [array.dtype.name, list(array.shape), base64.b64encode(packed).decode("ascii")]

    def read(self, plain: Any, variables: Variables) -> Any:
        types = Text(("uint8", "int64", "float64", "bool", "int32"))
        kind, shape, text = RowForm((types, ListOf(Whole(0, 2**31)), Text())).read(plain, variables)
        size = math.prod(shape) * np.dtype(kind).itemsize
        refuse_unless(len(shape) <= 4 and size <= MOST_BYTES, f"an array of at most {MOST_BYTES:,} bytes", shape)
        try:
            content = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), size + 1)
        except (ValueError, binascii.Error, zlib.error):
            content = b""
        refuse_unless(len(content) == size, f"an array of {size:,} bytes", text)
        array = np.frombuffer(content, np.dtype(kind).newbyteorder("<")).reshape(shape)
        return self.form.read(array.astype(kind), variables)


def _posterior() -> Object:
    """The form of sampled graphs. `GraphSample` declares the arrays, for checkpoints too."""
    from anypag.search.by_scores.posterior import GraphSample, Posterior

    arrays: dict[str, Form] = {name: Maybe(Packed(form)) for name, form in stored_fields(GraphSample).items()}
    about: dict[str, Form] = {"best_score": SCORE, "n_levels": ListOf(Whole(2)), "from_counts": Flag()}
    graphs: dict[str, Form] = {"sample": Object(arrays, GraphSample), "best": Packed(marks_matrix())}
    return object_of(Posterior, "facts", names=ListOf(NODE), **graphs, **about)  # facts come from the choices


POSTERIOR = As(
    Form(),
    lambda value, variables: _posterior().write(value, variables),
    lambda plain, variables: _posterior().read(plain, variables),
)

_RUN: dict[str, Form] = {"asked": Whole(), "resample": Text(get_args(Resample)), "seed": Whole()}
_RUN |= {"stopped": Maybe(Text()), "failures": FAILURES}
if {*_RUN, "names", "graphs", "whole"} != {item.name for item in fields(Stability)}:
    raise TypeError("every field of Stability must be in _RUN or in _COUNTED, or come from the result")


def _stability_written(value: Stability, variables: Variables) -> dict[str, Any]:
    names, rows = value.names, value.edges.tolist()
    edges = [(names[a], names[b], edge_symbol(Mark(x), Mark(y)), count) for a, b, x, y, count in rows]
    place = {edge[:3]: k for k, edge in enumerate(edges)}
    return {
        **{name: getattr(value, name) for name in _RUN},
        "edges": edges,
        "graphs": [[place[edge] for edge in edges_of(graph)] for graph in value.graphs],
    }


def _stability(said: dict[str, Any], variables: Variables) -> Stability:
    edges, rows = said.pop("edges"), said.pop("graphs")
    places = [place for chosen in rows for place in chosen]
    refuse_unless(all(place < len(edges) for place in places), 'places in "edges"', max(places, default=None))
    counts = np.bincount(places, minlength=len(edges)).tolist() if places else [0] * len(edges)
    refuse_unless(counts == [count for *_, count in edges], 'counts of the "graphs" that have each edge', counts)
    graphs = tuple(graph_of([edges[k][:3] for k in chosen], variables.names) for chosen in rows)
    return Stability(variables.names, graphs, **said)


_COUNTED: dict[str, Form] = {"edges": ListOf(RowForm((*EDGE.forms, Whole()))), "graphs": ListOf(ListOf(Whole()))}
STABILITY = As(Object({**_RUN, **_COUNTED}, get=dict.__getitem__), _stability_written, _stability)
"""The outcome of resampling. The field `whole` is left out, because the file has this graph already."""


def _rule(number: int, variables: Variables) -> int:
    refuse_unless(number in RULES, f"a rule, one of {', '.join(map(str, RULES))},", number)
    return number


def _reason(*values: Any) -> MarkReason:
    """The reason of a mark; RefusedError if the nodes do not fit the rule's sentence."""
    reason = MarkReason(*values)
    try:
        RULES[reason.rule].words(reason, {})
    except ValueError:
        raise RefusedError(f"rule {reason.rule} cannot rest on {len(reason.because)} nodes") from None
    return reason


def _level(value: Any, variables: Variables) -> float | str:
    return value if isinstance(value, str) else Number().read(value, variables)


AUDIT = plain_object(
    Audit,
    findings=ListOf(row(Finding, remedy=SENTENCE)),
    kinds=ListOf(row(ColumnKind)),
    unchecked=ListOf(row(Unchecked)),
)
DATA_SETS = plain_object(DataSets, design=MapOf(ListOf(As(Form(), back=_level))))
FACTS = plain_object(
    Method,
    promises=row(Promises, on_the_way=_one_of(OnTheWay), at_the_end=_one_of(AtTheEnd)),
    uses=As(ListOf(Text()), lambda names, _: sorted(names), lambda names, _: frozenset(names)),
    tests_by=Text(("", *METHODS)),
)
KNOWN = row(KnownMark, mark=mark_name(Mark.ARROW, Mark.TAIL))
ANY_MARK, RULE = mark_name(Mark.CIRCLE, Mark.ARROW, Mark.TAIL), As(Whole(), back=_rule)
REASON = row(MarkReason, at=NODE, other=NODE, mark=ANY_MARK, rule=RULE, because=ListOf(NODE))
REASONS = ListOf(replace(REASON, make=_reason))
PROBABILITIES = plain_object(
    Probabilities,
    pairs=by_pair(ListOf(RowForm((SYMBOL, SHARE, SHARE)))),
    causes=by_pair(RowForm((SHARE, SHARE))),
    graphs=ListOf(RowForm((SHARE, EDGE_TUPLES))),
    changes=by_pair(ListOf(row(Change, a=NODE, b=NODE, symbol=SYMBOL, share=SHARE))),
    as_sampled=by_pair(SYMBOL),
    elsewhere=ListOf(RowForm((SYMBOL, SHARE, SHARE))),
)
GROUNDS = object_of(
    StoredGrounds,
    "pag",  # the graph of the document
    test=Maybe(Text()),
    exact=Flag(),
    n_rows=Maybe(Whole()),
    audit=Maybe(AUDIT),
    separations=Listed(),
    unlisted=Maybe(object_of(Unlisted, rows=Maybe(Whole()), unseparated=ListOf(RowForm((NODE, NODE))))),
    kept=by_pair(P),
    marks=REASONS,
    conflicts=REASONS,
    knowledge=ListOf(plain_object(Outcome, marks=ListOf(KNOWN))),
    strengths=by_pair(Text()),
    probabilities=Maybe(PROBABILITIES),
    misfit=Maybe(plain_object(Misfit, share=Maybe(SHARE), worst=ListOf(RowForm((NODE, NODE))))),
    posterior=Maybe(POSTERIOR),
)
_SHARED, _OF_SCORES = ("test", "exact", "n_rows", "audit"), ("probabilities", "posterior", "misfit")
_OWN = ("pag", "complete", "stopped")
_OF_TESTS = {name: form for name, form in GROUNDS.forms.items() if name not in _SHARED + _OF_SCORES}
BEFORE_SCORES = Object(
    {"pag": EDGES, "complete": Flag(), "stopped": Maybe(Text()), **_OF_TESTS},
    get=lambda result, name: getattr(result if name in _OWN else result.grounds, name),
)
"""The form of `Result.before_scores`: only the fields whose values differ from those of the whole result."""
RESULT = object_of(
    Result,
    "grounds",  # GROUNDS
    method=Text(),
    facts=FACTS,
    choices=ALL_CHOICES,
    history=ListOf(STEP),
    complete=Flag(),
    stopped=Maybe(Text()),
    stability=Maybe(STABILITY),
    source=Maybe(Text()),
    reading=Maybe(plain_object(Reading)),
    sets=Maybe(DATA_SETS),
    chosen=Maybe(row(Chosen, why=Text())),
    before_scores=Maybe(BEFORE_SCORES),
)
VIEWS = ("valid", "contradictions", "withdrawn", "misfit_told")  # fields that are written for other programs only


def write_fields(result: Result) -> dict[str, Any]:
    """All fields of a result as JSON can hold them, except that long lists of rows are iterators."""
    variables = Variables(result.pag.names)
    return {**RESULT.write(result, variables), **GROUNDS.write(result.grounds, variables)}


def read_fields(content: Mapping[str, Any], pag: PAG) -> Result:
    """The result with this graph and the fields of a file; RefusedError if `write_fields` cannot have written them."""
    form = Object({**RESULT.forms, **GROUNDS.forms}, missing={"sets": None})
    fields_of_file = {name: value for name, value in content.items() if name not in (*VIEWS, "format", "version")}
    said = form.read(fields_of_file, Variables(pag.names))
    about, kept = ({name: said[name] for name in form.forms} for form in (RESULT, GROUNDS))
    choices = replace(about.pop("choices"), method=about["method"])
    if about["stability"] is not None:
        about["stability"] = replace(about["stability"], whole=pag)
    tested = about.pop("before_scores")
    result = Result(**about, choices=choices, grounds=StoredGrounds(pag, **kept))
    return result if tested is None else replace(result, before_scores=_before_scores(result, kept, tested))


def _before_scores(result: Result, kept: Mapping[str, Any], tested: dict[str, Any]) -> Result:
    """The result of the tests. Data, choices (except the method) and steps with an r are those of the whole result."""
    pag, complete, stopped = (tested.pop(name) for name in _OWN)
    shared = {**{name: kept[name] for name in _SHARED}, **dict.fromkeys(_OF_SCORES)}
    steps = tuple(item for item in result.history if item.info.has_r)
    method = result.facts.tests_by
    refuse_unless(method in TEST_METHODS, "a method by tests where a result of tests is given", method)
    about = (method, METHODS[method], replace(result.choices, method=method), steps, complete, stopped)
    grounds = StoredGrounds(pag, **shared, **tested)
    return Result(*about, grounds, source=result.source, reading=result.reading, sets=result.sets)
