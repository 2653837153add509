"""A result as a document: the JSON of the graph, with how it was learned under `"meta"`.

The file is a graph in the schema of caugi, which any reader of that schema takes as it is. What `anypag` adds stands
under `"meta": {"anypag": ...}` and is enough to explain every edge without the data. Nodes are given there by their
place in the list of nodes, from 0:

- `choices`: what the search was told, by the names of `learn`'s arguments;
- `reading`: how the file of the data was read, where something was said about it: `encoding`, `gaps` (words for missing
  values), `header`, `sheet` and `counts` (a column), else null;
- `audit`: what was found in the data, `[severity, problem, [columns], message, remedy]`; null without data;
- `checked`: what the data were checked for; `kinds`: `[column, kind, reason]`, what each column was taken for;
- `separations`: `[a, b, [members], p, r, n]`, one row for each pair that a set separates;
- `kept`: `[a, b, p]`, one row for each edge: the largest p-value among the tests that kept it;
- `marks`, `conflicts`: `[at, other, mark, rule, [because]]`;
- `knowledge`: what became of each statement of what was known beforehand, an object each;
- `probabilities`: what sampled graphs say, null where there are none: `samples`, `expected_errors`, `best_score`,
  `hidden` (false: only graphs without hidden causes were sampled), `pairs` (`[a, b, [["o->", share], ...]]`, one row
  for each pair that some sampled graph joins, `""` for no edge), `ancestors` (`[a, b, share]`: a is a cause of b),
  `graphs` (`[share, [[a, b, "o->"], ...]]`, the most probable ones), `classes` (how many different ones were met),
  `changes` (`[a, b, [[c, d, "o->", share], ...]]`: where a and b are joined in the most frequent way that is not the
  answer's, c and d mostly are so), `as_sampled` (`[a, b, "o->"]`: edges of the answer that what was known beforehand
  has changed, as they were before);
- `valid`: whether some system has exactly this graph and no claims contradict each other; null if that is not known;
- `contradictions`: `[sentence, [[kind, a, b], ...], [[a, b], ...]]`: the sentence, the claims that cannot all be true
  (`"cause"`: a is a cause of b or of selection; `"not"`: it is neither; `"independent"`; `"joined"`: nothing separates
  them; `["separated", a, b, [members]]`: these do, and no fewer), and the pairs it is about. Whoever reads the file
  works both out again from the graph;
- `withdrawn`: `[r, at, a, b, "-->", "o->"]`: a mark at `at` that stood after iteration r, the edge then and now (null:
  it has gone);
- `history`: one object per iteration, its edges as `[a, b, "o->"]`;
- `stability`: what came of resampling (`anypag.results.stability_document`); only where there was any.

A number that is not known is `null`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anypag.data.findings import Audit
from anypag.files import write_whole
from anypag.graphs.formats.registry import dumps
from anypag.graphs.marks import MarkReason, Separation
from anypag.graphs.reasoning.claims import Claim
from anypag.graphs.reasoning.contradictions import Contradiction, Statement
from anypag.results.base import ITERATION, BaseResult, Iteration
from anypag.results.consistency import Withdrawn
from anypag.results.probabilities import Change, Probabilities
from anypag.results.stability_document import stability_document
from anypag.stored import Variables

Document = dict[str, Any]


def save_result(result: BaseResult) -> Document:
    """The result as a document that JSON can hold.

    >>> import anypag as ap
    >>> result = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; B --> C")))
    >>> save_result(result)["meta"]["anypag"]["separations"]
    [[0, 2, [1], 1.0, 1, None]]
    """
    document: Document = json.loads(dumps(result.pag, "json"))
    document["meta"]["anypag"] = _how_learned(result)
    return document


def write_result(result: BaseResult, path: str | os.PathLike[str]) -> None:
    """Write a result to a JSON file, whole or not at all."""
    write_whole(Path(path), as_json(save_result(result)).encode())


def as_json(document: Document) -> str:
    """The text of a document: indented, but every row of a list of rows on one line of its own."""
    return _text(document, "") + "\n"


def _text(value: Any, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, dict) and value:
        items = (f"{_flat(key)}: {_text(item, inner)}" for key, item in value.items())
        return "{\n" + ",\n".join(inner + item for item in items) + f"\n{indent}}}"
    if isinstance(value, list) and value and isinstance(value[0], list | dict):
        return "[\n" + inner + f",\n{inner}".join(_rows(value, inner)) + f"\n{indent}]"
    return _flat(value)


def _rows(items: list[Any], indent: str) -> list[str]:
    """The items of a list, each in a line of its own if it is short."""
    if any(isinstance(item, dict) and len(item) > 3 for item in items):
        return [_text(item, indent) for item in items]
    if all(isinstance(item, list) for item in items):
        # all rows in one call, which is much faster; it works unless "], [" also stands inside a row
        rows = _flat(items)[2:-2].split("], [")
        if len(rows) == len(items):
            return [f"[{row}]" for row in rows]
    return [_flat(item) for item in items]


def _flat(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _how_learned(result: BaseResult) -> Document:
    from anypag import __version__

    place = {name: i for i, name in enumerate(result.pag.names)}
    return {
        "version": __version__,
        "method": result.method,
        "choices": result.choices.recorded(),
        "test": result.test_name,
        "source": result.source,
        "reading": None if result.reading is None else {**result.reading._asdict(), "gaps": list(result.reading.gaps)},
        "strengths": [[place[a], place[b], words] for (a, b), words in result.strengths.items()],
        "n_rows": result.n_rows,
        "audit": None if result.audit is None else _audit(result.audit),
        "checked": None if result.audit is None else list(result.audit.checked),
        "kinds": None if result.audit is None else [list(item) for item in result.audit.kinds],
        "complete": result.complete,
        "stopped": result.stopped,
        "separations": [_separation(place, pair, why) for pair, why in result.sepsets.items()],
        "kept": [[place[e.a], place[e.b], _number(result.kept_p(e.a, e.b))] for e in result.pag.edges()],
        "marks": [_reason(place, reason) for reason in result.marks],
        "conflicts": [_reason(place, reason) for reason in result.conflicts],
        "knowledge": [outcome.to_dict() for outcome in result.knowledge],
        "probabilities": None if result.probabilities is None else _probabilities(place, result.probabilities),
        "valid": result.valid,
        "contradictions": [_contradiction(place, item) for item in result.contradictions],
        "withdrawn": [_withdrawn(place, item) for item in result.withdrawn],
        "history": [_iteration(place, item) for item in result.history],
        **({} if result.stability is None else {"stability": stability_document(result.stability)}),
    }


def _audit(audit: Audit) -> list[list[Any]]:
    return [[f.severity, f.problem, list(f.columns), f.message, str(f.remedy)] for f in audit.findings]


def _separation(place: Mapping[str, int], pair: tuple[str, str], why: Separation) -> list[Any]:
    return [place[pair[0]], place[pair[1]], [place[name] for name in why.given], _number(why.p), why.r, why.n]


def _reason(place: Mapping[str, int], reason: MarkReason) -> list[Any]:
    because = [place[name] for name in reason.because]
    return [place[reason.at], place[reason.other], reason.mark.name.lower(), reason.rule, because]


def _contradiction(place: Mapping[str, int], item: Contradiction) -> list[Any]:
    return [
        item.sentence,
        [_said(place, said) for said in item.statements],
        [[place[a], place[b]] for a, b in item.pairs],
    ]


def _said(place: Mapping[str, int], said: Statement | Claim) -> list[Any]:
    given = [[place[name] for name in said.given]] if isinstance(said, Claim) and said.given is not None else []
    return [said.kind, place[said.a], place[said.b], *given]


def _withdrawn(place: Mapping[str, int], item: Withdrawn) -> list[Any]:
    then, now = item.then, item.now
    return [item.r, place[item.at], place[then.a], place[then.b], then.symbol, None if now is None else now.symbol]


def _iteration(place: Mapping[str, int], item: Iteration) -> Document:
    edges = [[place[edge.a], place[edge.b], edge.symbol] for edge in item.pag.edges()]
    return {**ITERATION.write({**vars(item.info), "seconds": item.seconds}, Variables(item.pag.names)), "edges": edges}


def _probabilities(place: Mapping[str, int], said: Probabilities) -> Document:
    return {
        "samples": said.n_samples,
        "expected_errors": said.expected_errors,
        "best_score": said.best_score,
        "hidden": said.hidden,
        "pairs": [[place[a], place[b], [list(state) for state in states]] for (a, b), states in said.pairs.items()],
        "ancestors": [[place[a], place[b], share] for (a, b), share in said.ancestors.items()],
        "graphs": [[share, [[place[a], place[b], s] for a, b, s in edges]] for share, edges in said.graphs],
        "classes": said.n_classes,
        "changes": [[place[a], place[b], _changes(place, changes)] for (a, b), changes in said.changes.items()],
        "as_sampled": [[place[a], place[b], symbol] for (a, b), symbol in said.as_sampled.items()],
        "diagrams": None if said.diagrams is None else said.diagrams.to_text(),
    }


def _changes(place: Mapping[str, int], changes: tuple[Change, ...]) -> list[list[Any]]:
    return [[place[change.a], place[change.b], change.symbol, change.share] for change in changes]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
