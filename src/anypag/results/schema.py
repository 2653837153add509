"""The schema of result files: every field of a result with its form (`anypag.stored`).

The file is a graph in the schema of caugi, which any reader of that schema takes as it is. What `anypag` adds stands
under `"meta": {"anypag": ...}` and is enough to explain every edge without the data. Nodes are given there by their
place in the list of nodes, from 0; a number that is not known is `null`:

- `format`: the number of this schema; `version`: the version of anypag that wrote the file;
- `method`, `complete`, `stopped`, `source`; `test`, `exact` (was the test an oracle?), `n_rows`;
- `choices`: what the search was told, by the names of `learn`'s arguments; a test of the user's own is `{"own": name}`;
- `reading`: how the file of the data was read, where something was said about it, else null;
- `audit`: `findings` (`[severity, problem, [columns], message, remedy, rows left out]`), `checked`, `kinds`
  (`[column, kind, reason]`), `notes` and `unchecked` (`[check, reason]`); null without data;
- `separations`: `[a, b, [members], p, r, n]`, one row for each pair that a set separates;
- `unlisted`: null where `separations` lists all of them. In a very large graph it is `{"rows": n, "unseparated":
  [[a, b], ...]}`: every pair that is not joined, not in `separations` and not in `unseparated` is separated by the
  empty set, on n rows;
- `kept`: `[a, b, p]`, one row for each edge: the largest p-value among the tests that kept it;
- `strengths`: `[a, b, words]`; `marks`, `conflicts`: `[at, other, mark, rule, [because]]`;
- `knowledge`: what became of each statement of what was known beforehand, an object each;
- `probabilities`: what sampled graphs say, null where there are none: `n_samples`, `expected_errors`, `best_score`,
  `hidden` (false: only graphs without hidden causes were sampled), `pairs` (`[a, b, [["o->", share], ...]]`, one row
  for each pair that some sampled graph joins, `""` for no edge), `causes` (`[a, b, [yes, no]]`: the
  shares of sampled graphs in whose class a is a cause of b in every member and in none; a pair without a row: 0 and 1),
  `graphs` (`[share, [[a, b, "o->"], ...]]`, the most probable ones), `n_classes` (how many different ones were met),
  `changes` (`[a, b, [[c, d, "o->", share], ...]]`: where a and b are joined in the most frequent way that is not the
  answer's, c and d mostly are so), `as_sampled` (`[a, b, "o->"]`: edges of the answer that what was known beforehand
  has changed, as they were before);
- `posterior`: the sampled graphs themselves, null where there are none; arrays are `[type, [shape], base64 of zlib]`;
- `history`: one object per iteration, its edges as `[a, b, "o->"]`;
- `stability`: what came of resampling, null where there was none: `asked`, `resample`, `seed`, `stopped`, `failures`
  (`[k, why]`), `edges` (`[a, b, "o->", count]`, one row for each kind of edge that a pair has in some resample),
  `graphs` (of each resample the places in `edges` of the edges it has), `consensus` (`[a, b, "o->"]`, or null).

Three more are written for other readers; `read_result` works them out again. `valid`: whether some
system has exactly this graph and no claims contradict each other; null if that is not known. `contradictions`:
`[sentence, [[kind, a, b], ...], [[a, b], ...]]`: the sentence, the claims that cannot all be true (`"cause"`: a is a
cause of b or of selection; `"not"`: it is neither; `"independent"`; `"joined"`: nothing separates them;
`["separated", a, b, [members]]`: these do, and no fewer), and the pairs it is about. `withdrawn`:
`[r, at, a, b, "-->", "o->"]`: a mark at `at` that stood after iteration r, the edge then and now (null: it has gone).
"""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

import numpy as np

from anypag.choices import DECLARED, Choices, OwnTest
from anypag.data.files.scan import Reading
from anypag.data.findings import Audit, ColumnKind, Finding, Severity, Unchecked
from anypag.errors import AnypagError, Option, Sentence
from anypag.graphs.base import Marks
from anypag.graphs.marks import EDGE_SYMBOLS, Edge, Mark, MarkReason, Separation, edge_symbol
from anypag.graphs.pag import PAG
from anypag.graphs.rules import RULES
from anypag.knowledge.knowledge import Knowledge
from anypag.knowledge.statements import Became, KnownMark, Outcome
from anypag.results.grounds import Kept, Unlisted
from anypag.results.probabilities import Change, Probabilities
from anypag.results.result import ITERATION, Iteration, Result
from anypag.stability.stability import Failure, Resample, Stability
from anypag.stored import (
    ByPair,
    Flag,
    Form,
    ListOf,
    MarksMatrix,
    Maybe,
    NodeForm,
    Number,
    Object,
    RefusedError,
    RowForm,
    Text,
    Variables,
    Whole,
    object_of,
    refuse_unless,
    row,
    stored_fields,
)

FORMAT = 2
"""The number of this schema; it grows whenever a file of it cannot be read by an earlier version."""

MOST_BYTES = 2**28
"""An array that unpacks to more is refused."""

SHARE = Number(0, 1)
P = Number(0, 1, unknown=True)
SYMBOL = Text(("", *EDGE_SYMBOLS))
EDGE = RowForm((NodeForm(), NodeForm(), Text(tuple(EDGE_SYMBOLS))))


class Streamed:
    """Rows that are made while they are written.

    Args:
        rows: an iterator, which can be used once.
    """

    def __init__(self, rows: Iterable[Any]) -> None:
        self.rows = rows


@dataclass(frozen=True)
class Edges(Form):
    """A graph over the variables of the file: its edges as `[a, b, "o->"]`."""

    def write(self, value: PAG, variables: Variables) -> list[Any]:
        place = variables.place
        return [[place[edge.a], place[edge.b], edge.symbol] for edge in value.edges()]

    def read(self, plain: Any, variables: Variables) -> PAG:
        rows = ListOf(EDGE).read(plain, variables)
        edges = [Edge(a, b, *EDGE_SYMBOLS[symbol]) for a, b, symbol in rows]
        graph: PAG = _checked(lambda: PAG.from_edges(edges, variables.names))
        return graph


def _checked(make: Any) -> Any:
    """What is made of a file's values; an error of anypag is a refusal of the file."""
    try:
        return make()
    except AnypagError as error:
        raise RefusedError(str(error).rstrip(".")) from None


@dataclass(frozen=True)
class EdgeTuples(Form):
    """The edges of a graph as `(a, b, "o->")`."""

    def write(self, value: Any, variables: Variables) -> list[Any]:
        return ListOf(EDGE).write(value, variables)

    def read(self, plain: Any, variables: Variables) -> Any:
        return tuple((edge.a, edge.b, edge.symbol) for edge in Edges().read(plain, variables).edges())


@dataclass(frozen=True)
class OwnGraph(Form):
    """A graph with a list of nodes of its own."""

    def write(self, value: PAG, variables: Variables) -> dict[str, Any]:
        return {"nodes": list(value.names), "edges": Edges().write(value, Variables(value.names))}

    def read(self, plain: Any, variables: Variables) -> PAG:
        names = Object({"nodes": ListOf(Text()), "edges": AnyForm()}).read(plain, variables)["nodes"]
        graph: PAG = Edges().read(plain["edges"], Variables(names))
        return graph


@dataclass(frozen=True)
class AnyForm(Form):
    """Whatever it is; something else reads it."""

    def read(self, plain: Any, variables: Variables) -> Any:
        return plain


@dataclass(frozen=True)
class MarkName(Form):
    """A mark by its name: "circle", "arrow" or "tail"."""

    marks: tuple[Mark, ...] = (Mark.CIRCLE, Mark.ARROW, Mark.TAIL)

    def write(self, value: Mark, variables: Variables) -> str:
        return Mark(value).name.lower()

    def read(self, plain: Any, variables: Variables) -> Mark:
        names = {mark.name.lower(): mark for mark in self.marks}
        return names[Text(tuple(names)).read(plain, variables)]


@dataclass(frozen=True)
class RuleNumber(Form):
    """The number of a rule."""

    def read(self, plain: Any, variables: Variables) -> int:
        refuse_unless(type(plain) is int and plain in RULES, f"a rule, one of {', '.join(map(str, RULES))},", plain)
        return int(plain)


@dataclass(frozen=True)
class SentenceForm(Form):
    """A sentence: a text, or a list of texts and of options as `[name, value]`."""

    def write(self, value: Any, variables: Variables) -> Any:
        parts = value.parts if isinstance(value, Sentence) else (value,)
        if not any(isinstance(part, Option) for part in parts):
            return "".join(map(str, parts))
        return [[part.name, _as_list(part.value)] if isinstance(part, Option) else str(part) for part in parts]

    def read(self, plain: Any, variables: Variables) -> str | Sentence:
        if isinstance(plain, str):
            return plain
        refuse_unless(isinstance(plain, list), "a sentence", plain)
        return Sentence(*(part if isinstance(part, str) else _option(part) for part in plain))


def _as_list(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _option(plain: Any) -> Option:
    is_pair = isinstance(plain, list) and len(plain) == 2 and isinstance(plain[0], str)
    value = plain[1] if is_pair else ()
    is_texts = isinstance(value, list) and all(isinstance(word, str) for word in value)
    is_right = is_pair and (value is None or isinstance(value, str | bool) or is_texts)
    refuse_unless(is_right, "an option as [name, value]", plain)
    return Option(plain[0], tuple(value) if isinstance(value, list) else value)


@dataclass(frozen=True)
class Listed(Form):
    """Separations: rows `[a, b, [members], p, r, n]`, which are streamed."""

    def write(self, value: Mapping[tuple[str, str], Separation], variables: Variables) -> Streamed:
        return Streamed(self._rows(value, variables.place))

    @staticmethod
    def _rows(value: Mapping[tuple[str, str], Separation], place: Mapping[str, int]) -> Iterator[list[Any]]:
        for (a, b), why in value.items():
            p = None if math.isnan(why.p) else why.p
            yield [place[a], place[b], [place[name] for name in why.given], p, why.r, why.n]

    def read(self, plain: Any, variables: Variables) -> dict[tuple[str, str], Separation]:
        forms = (NodeForm(), NodeForm(), ListOf(NodeForm()), P, Whole(), Maybe(Whole()))
        return {(a, b): Separation(*why) for a, b, *why in ListOf(RowForm(forms)).read(plain, variables)}


@dataclass(frozen=True)
class TestChosen(Form):
    """The name of a test; of a test of the user's own only what it is called."""

    def write(self, value: Any, variables: Variables) -> Any:
        return value if isinstance(value, str) else {"own": OwnTest.named(value).name}

    def read(self, plain: Any, variables: Variables) -> Any:
        if isinstance(plain, str):
            return plain
        return OwnTest(Object({"own": Text()}).read(plain, variables)["own"])


@dataclass(frozen=True)
class KnowledgeForm(Form):
    """What is known beforehand."""

    def write(self, value: Knowledge, variables: Variables) -> Any:
        return value.to_dict()

    def read(self, plain: Any, variables: Variables) -> Knowledge:
        known: Knowledge = _checked(lambda: Knowledge.from_dict(plain))
        _checked(lambda: known.facts(variables.names))
        return known


@dataclass(frozen=True)
class Kinds(Form):
    """The kinds of columns, by name."""

    def write(self, value: Mapping[str, str], variables: Variables) -> dict[str, str]:
        return dict(value)

    def read(self, plain: Any, variables: Variables) -> dict[str, str]:
        refuse_unless(isinstance(plain, dict), "an object", plain)
        return {name: Text(("continuous", "discrete")).read(kind, variables) for name, kind in plain.items()}


CHOICES: dict[str, Form] = {
    "alpha": Number(),
    "test": TestChosen(),
    "max_r": Maybe(Whole()),
    "time_budget": Maybe(Number()),
    "max_tests": Maybe(Number()),
    "initial": Maybe(OwnGraph()),
    "r0": Whole(),
    "max_sets": Maybe(Whole()),
    "sepset": Maybe(Text()),
    "possible_dsep": Text(),
    "dsep_max_r": Maybe(Whole()),
    "effort": Number(),
    "selection_bias": Flag(),
    "knowledge": Maybe(KnowledgeForm()),
    "names": Maybe(ListOf(Text())),
    "kinds": Maybe(Kinds()),
    "missing": Text(),
    "transform": Text(),
    "singular": Text(),
}
"""The choices that are kept with a result. Each is checked again by its own declaration when `Choices` is made."""
if CHOICES.keys() != {name for name, choice in DECLARED.items() if choice.recorded}:
    raise TypeError("every choice that is recorded has a form in CHOICES, and no other one has")


@dataclass(frozen=True)
class ChoicesForm(Form):
    """The choices but for the method, which stands for itself; those that a file lacks are as by default."""

    def write(self, value: Choices, variables: Variables) -> dict[str, Any]:
        return Object(CHOICES).write(value, variables)

    def read(self, plain: Any, variables: Variables) -> Choices:
        defaults = {item.name: item.default for item in fields(Choices)}
        said = Object(CHOICES, missing=defaults).read(plain, variables)
        choices: Choices = _checked(lambda: Choices(**said))
        return choices


@dataclass(frozen=True)
class Step(Form):
    """An iteration: what the step did, with the edges after it."""

    def write(self, value: Iteration, variables: Variables) -> dict[str, Any]:
        said = ITERATION.write({**vars(value.info), "seconds": value.seconds}, variables)
        return {**said, "edges": Edges().write(value.pag, variables)}

    def read(self, plain: Any, variables: Variables) -> Iteration:
        said = Object({**ITERATION.forms, "edges": Edges()}).read(plain, variables)
        return Iteration.of(said.pop("edges"), said)


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
            unpacking = zlib.decompressobj()
            content = unpacking.decompress(base64.b64decode(text, validate=True), size + 1)
        except (ValueError, binascii.Error, zlib.error):
            content = b""
        refuse_unless(len(content) == size, f"an array of {size:,} bytes", text)
        array = np.frombuffer(content, np.dtype(kind).newbyteorder("<")).reshape(shape)
        return self.form.read(array.astype(kind), variables)


@dataclass(frozen=True)
class Score(Form):
    """A score; null before any graph was scored (minus infinity in memory)."""

    def write(self, value: float, variables: Variables) -> float | None:
        return float(value) if math.isfinite(value) else None

    def read(self, plain: Any, variables: Variables) -> float:
        return -math.inf if plain is None else Number().read(plain, variables)


@dataclass(frozen=True)
class PosteriorForm(Form):
    """Sampled graphs; their arrays are declared where checkpoints find them, too."""

    def write(self, value: Any, variables: Variables) -> dict[str, Any]:
        return self._form().write(value, variables)

    def read(self, plain: Any, variables: Variables) -> Any:
        made = self._form().read(plain, variables)
        if not made.is_consistent:
            raise RefusedError("its parts do not go together")
        return made

    @staticmethod
    def _form() -> Object:
        from anypag.search.by_scores.posterior import Posterior, Sample

        arrays: dict[str, Form] = {name: Maybe(Packed(form)) for name, form in stored_fields(Sample).items()}
        return object_of(
            Posterior,
            names=ListOf(NodeForm()),
            sample=Object(arrays, Sample),
            best=Packed(MarksMatrix()),
            best_score=Score(),
            n_levels=ListOf(Whole(2)),
        )


@dataclass(frozen=True)
class StabilityForm(Form):
    """What came of resampling; the graph of the whole data and what was known are the result's."""

    def write(self, value: Stability, variables: Variables) -> dict[str, Any]:
        edges = value.frequencies.edges.tolist()
        place = {tuple(edge[:4]): k for k, edge in enumerate(edges)}
        return {
            **_RUN.write(value, variables),
            "edges": [[a, b, edge_symbol(Mark(x), Mark(y)), count] for a, b, x, y, count in edges],
            "graphs": [[place[edge] for edge in _ends(graph.marks)] for graph in value.graphs],
            "consensus": Maybe(Edges()).write(value.consensus, variables),
        }

    def read(self, plain: Any, variables: Variables) -> Stability:
        count_of_edge = RowForm((*EDGE.forms, Whole()))
        forms = {"edges": ListOf(count_of_edge), "graphs": ListOf(ListOf(Whole())), "consensus": Maybe(Edges())}
        said = Object({**_RUN.forms, **forms}).read(plain, variables)
        edges, rows, consensus = (said.pop(name) for name in forms)
        places = [place for chosen in rows for place in chosen]
        refuse_unless(all(place < len(edges) for place in places), 'places in "edges"', max(places, default=None))
        counts = np.bincount(places, minlength=len(edges)).tolist() if places else [0] * len(edges)
        refuse_unless(counts == [count for *_, count in edges], 'counts of the "graphs" that have each edge', counts)
        listed = [Edge(a, b, *EDGE_SYMBOLS[symbol]) for a, b, symbol, _ in edges]
        names = variables.names
        graphs = tuple(_checked(lambda row=row: PAG.from_edges([listed[k] for k in row], names)) for row in rows)
        return Stability(names, graphs, **said, kept_consensus=consensus)


_RUN = Object(
    {
        "asked": Whole(),
        "resample": Text(get_args(Resample)),
        "seed": Whole(),
        "stopped": Maybe(Text()),
        "failures": ListOf(row(Failure, Whole(), Text())),
    }
)
if {*_RUN.forms, "names", "graphs", "whole", "known", "kept_consensus"} != {item.name for item in fields(Stability)}:
    raise TypeError("every field of Stability is written, or is the result's")


def _ends(marks: Marks) -> Iterator[tuple[int, int, int, int]]:
    a, b = np.nonzero(np.triu(marks))
    return zip(a.tolist(), b.tolist(), marks[b, a].tolist(), marks[a, b].tolist(), strict=True)


def _reason(*values: Any) -> MarkReason:
    """Why a mark stands; refused where the rule's sentence needs other nodes than there are."""
    reason = MarkReason(*values)
    try:
        RULES[reason.rule].words(reason, {})
    except ValueError:
        raise RefusedError(f"rule {reason.rule} goes through other nodes than {len(reason.because)}") from None
    return reason


AUDIT = object_of(
    Audit,
    findings=ListOf(row(Finding, Text(get_args(Severity)), Text(), ListOf(Text()), Text(), SentenceForm(), Whole())),
    checked=ListOf(Text()),
    kinds=ListOf(row(ColumnKind, Text(), Text(), Text())),
    notes=ListOf(Text()),
    unchecked=ListOf(row(Unchecked, Text(), Text())),
)
READING = object_of(
    Reading, encoding=Maybe(Text()), gaps=ListOf(Text()), header=Flag(), sheet=Maybe(Text()), counts=Maybe(Text())
)
OUTCOME = object_of(
    Outcome,
    statement=Text(),
    place=Text(),
    became=Text(get_args(Became)),
    marks=ListOf(row(KnownMark, Text(), Text(), MarkName((Mark.ARROW, Mark.TAIL)))),
    why=Text(),
)
REASONS = ListOf(
    replace(row(MarkReason, NodeForm(), NodeForm(), MarkName(), RuleNumber(), ListOf(NodeForm())), make=_reason)
)
PROBABILITIES = object_of(
    Probabilities,
    "diagrams",  # the posterior has them
    n_samples=Whole(),
    expected_errors=Number(),
    best_score=Number(),
    pairs=ByPair(ListOf(RowForm((SYMBOL, SHARE)))),
    causes=Maybe(ByPair(RowForm((SHARE, SHARE)))),
    graphs=ListOf(RowForm((SHARE, EdgeTuples()))),
    hidden=Flag(),
    n_classes=Whole(),
    changes=ByPair(ListOf(row(Change, NodeForm(), NodeForm(), SYMBOL, SHARE))),
    as_sampled=ByPair(SYMBOL),
)
KEPT = object_of(
    Kept,
    "pag",  # the graph of the document
    test=Maybe(Text()),
    exact=Flag(),
    n_rows=Maybe(Whole()),
    audit=Maybe(AUDIT),
    separations=Listed(),
    unlisted=Maybe(object_of(Unlisted, rows=Maybe(Whole()), unseparated=ListOf(RowForm((NodeForm(), NodeForm()))))),
    kept=ByPair(P),
    marks=REASONS,
    conflicts=REASONS,
    knowledge=ListOf(OUTCOME),
    strengths=ByPair(Text()),
    probabilities=Maybe(PROBABILITIES),
    posterior=Maybe(PosteriorForm()),
)
RESULT = object_of(
    Result,
    "grounds",  # KEPT
    method=Text(),
    choices=ChoicesForm(),
    history=ListOf(Step()),
    complete=Flag(),
    stopped=Maybe(Text()),
    stability=Maybe(StabilityForm()),
    source=Maybe(Text()),
    reading=Maybe(READING),
)
VIEWS = ("valid", "contradictions", "withdrawn")
"""What is written for other readers only."""


def write_fields(result: Result) -> dict[str, Any]:
    """All fields of a result as JSON can hold them; long lists of rows are `Streamed`."""
    variables = Variables(result.pag.names)
    return {**RESULT.write(result, variables), **KEPT.write(result.grounds, variables)}


def read_fields(content: Mapping[str, Any], pag: PAG) -> Result:
    """The result with this graph whose fields a file holds.

    Raises:
        RefusedError: a field is missing, or not what `write_fields` writes.
    """
    variables = Variables(pag.names)
    said = Object({**RESULT.forms, **KEPT.forms}).read(_without(content, *VIEWS, "format", "version"), variables)
    about, kept = ({name: said[name] for name in form.forms} for form in (RESULT, KEPT))
    if kept["probabilities"] is not None and kept["posterior"] is not None:
        kept["probabilities"] = replace(kept["probabilities"], diagrams=kept["posterior"].diagrams)
    choices = replace(about.pop("choices"), method=about["method"])
    result = Result(**about, choices=choices, grounds=Kept(pag, **kept))
    if result.stability is None:
        return result
    return replace(result, stability=replace(result.stability, whole=pag, known=_checked(lambda: result.known)))


def _without(content: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in names}
