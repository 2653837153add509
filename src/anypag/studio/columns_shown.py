"""The table as the page shows it: each column with its kind, gaps and a small histogram, and findings with buttons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from anypag.arrays import Floats
from anypag.data.findings import Audit, Finding
from anypag.data.levels import is_number
from anypag.data.sources.protocol import Source
from anypag.data.table import Table
from anypag.errors import Option, Sentence, listed
from anypag.studio.settings import OFFERED, Settings

N_BARS = 16
MOST_LEVELS = 12  # the most levels with a bar of their own; rarer levels are not drawn
MOST_BUTTONS = 4  # the most columns of one finding that get a button to switch them off
MANY_GAPS = 0.2  # a column with a larger share of gaps costs too many rows
Button = dict[str, Any]  # a label, and the change that a click makes (`Settings.changed`)

_DROPS = re.compile(r"\b[Dd]rop (it|one|both|those)|\b[Ll]eave (one|it|the column)")  # remedies that drop a column
_KIND_ADVISED = {"levels": "continuous", "identifier": "continuous", "text": "discrete"}
"""The kind that a button sets, by the problem of its finding."""
_WAYS = {
    ("missing", "drop"): "leave rows with gaps out",
    ("missing", "pairwise"): "let each test drop only the rows with gaps in its columns",
    ("missing", None): "the choice for gaps under Learn",
    ("names", None): "switch it off",
    ("drop", None): "switch it off",
    ("kinds", None): "its kind, here",
    ("gaps", None): "how the file is read, above",
    ("singular", "keep"): "keep both",
}
"""Options of Python and the command line, in the words of the page."""


def columns_shown(source: Source, settings: Settings, audit: Audit | None) -> list[dict[str, Any]]:
    """For each column: its kind with the reason, its gaps, and the bars of its histogram."""
    reasons = {one.name: one.reason for one in audit.kinds} if audit else {}
    missing, sample, shown = source.summary().missing, source.sample(), list[dict[str, Any]]()
    for i, (name, guessed) in enumerate(zip(source.names, source.kinds, strict=True)):
        kind, is_left_out = settings.kinds.get(name, guessed), audit is not None and name in audit.left_out
        column: dict[str, Any] = {"name": name, "kind": kind, "guessed": guessed, "is_given": name in settings.kinds}
        column |= {"why": reasons.get(name, ""), "is_off": name in settings.off, "is_left_out": is_left_out}
        shown.append({**column, "gaps": int(missing[i]), **_bars(sample, i, kind)})
    return shown


def _bars(sample: Table, i: int, kind: str) -> dict[str, Any]:
    column, labels = sample.values[:, i], sample.labels[i]
    column = column[np.isfinite(column)]
    if not len(column):
        return {"bars": [], "ends": []}
    if kind == "discrete" or labels is not None:
        return _of_levels(column, labels)
    low, high = np.quantile(column, [0.005, 0.995])  # an outlier would squeeze all other values into one bar
    counts, _ = np.histogram(np.clip(column, low, high), N_BARS)
    return {"bars": counts.tolist(), "ends": [f"{column.min():.4g}", f"{column.max():.4g}"]}


def _of_levels(column: Floats, labels: tuple[str, ...] | None) -> dict[str, Any]:
    values, counts = np.unique(column, return_counts=True)
    shown = np.sort(np.argsort(-counts, kind="stable")[:MOST_LEVELS])
    names = [labels[int(values[k])] if labels else f"{values[k]:g}" for k in shown]
    return {"bars": counts[shown].tolist(), "levels": names, "n_levels": len(values), "ends": [names[0], names[-1]]}


def findings_shown(audit: Audit, source: Source) -> list[dict[str, Any]]:
    """The findings, errors first, with buttons for their advice; before them, one button for all unusable columns."""
    alone = [one for one in audit.errors if len(one.columns) == 1 and _DROPS.search(str(one.remedy))]
    names, shown = list(dict.fromkeys(one.columns[0] for one in alone)), [_shown(one, source) for one in audit.findings]
    if len(names) < 2:
        return shown
    told = f"{len(names)} columns cannot be used as they are: {listed(names)}."
    button = {"label": f"Switch all {len(names)} off", "change": ["off", names, True]}
    about = {"severity": "error", "problem": "several", "columns": [], "message": told, "remedy": ""}
    return [{**about, "buttons": [button]}, *shown]


def _shown(one: Finding, source: Source) -> dict[str, Any]:
    remedy = _remedy(one).spelled(spelled).replace(" on the command line", "")
    about = {"severity": one.severity, "problem": one.problem, "columns": list(one.columns), "message": one.message}
    return {**about, "remedy": remedy, "buttons": list(_buttons(one, source))}


def _remedy(finding: Finding) -> Sentence:
    return finding.remedy if isinstance(finding.remedy, Sentence) else Sentence(finding.remedy)


def spelled(option: Option) -> str:
    """An option in the words of the page."""
    value = option.value if isinstance(option.value, str) else None
    if isinstance(option.value, tuple):
        return f"{', '.join(option.value)} means a gap"
    named = f"{option.name.replace('_', ' ')} {'' if option.value is None else option.value}".strip()
    return _WAYS.get((option.name, value)) or _WAYS.get((option.name, None)) or named


def advised(sentence: Sentence) -> Iterator[Button]:
    """A button for each option that has a value in the sentence of an error or a finding."""
    for option in (part for part in sentence.parts if isinstance(part, Option)):
        label = spelled(option)[:1].upper() + spelled(option)[1:]
        if option.name == "gaps" and isinstance(option.value, tuple):
            yield from ({"label": f"{word} means a gap", "change": ["gap", word]} for word in option.value)
        elif option.name == "encoding" and option.value is not None:
            yield {"label": f"Read it as {option.value}", "change": ["reading", "encoding", option.value]}
        elif option.name in OFFERED and option.value is not None:
            yield {"label": label, "change": ["choice", option.name, option.value]}


def _buttons(finding: Finding, source: Source) -> Iterator[Button]:
    remedy = _remedy(finding)
    if finding.problem in {"missing", "dropped"}:
        missing = dict(zip(source.names, source.summary().missing.tolist(), strict=True))
        many = [name for name in finding.columns or source.names if missing[name] > MANY_GAPS * source.n]
        if many:
            yield {"label": f"Switch off columns with many gaps: {', '.join(many)}", "change": ["off", many, True]}
    yield from advised(remedy)
    options = {part.name for part in remedy.parts if isinstance(part, Option)}
    if finding.problem == "text":
        labels = source.labels[source.names.index(finding.columns[0])] or ()
        words = [label for label in labels if not is_number(label)]
        if len(words) <= 3 and len(words) < len(labels):  # a few words among numbers may stand for missing values
            yield from ({"label": f"{word} means a gap", "change": ["gap", word]} for word in words)
    if "kinds" in options and finding.problem in _KIND_ADVISED:
        kind = _KIND_ADVISED[finding.problem]
        yield {"label": f"Treat it as {kind}", "change": ["kind", finding.columns[0], kind]}
    if _DROPS.search(str(remedy)):
        several = len(finding.columns) > 1
        for name in finding.columns[:MOST_BUTTONS]:
            yield {"label": f"Switch {name} off" if several else "Switch it off", "change": ["off", name, True]}
