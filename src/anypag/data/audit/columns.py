"""Checks of single columns: text, dates, constants, levels, identifiers, codes for missing values, names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import compress

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags, Floats
from anypag.data.audit.rows import FEW_ROWS, ROWS_PER_LEVEL, is_monotone
from anypag.data.findings import Finding, as_one, warning
from anypag.data.levels import is_date, is_number, looks_like_number
from anypag.data.sources.protocol import Source
from anypag.data.table import Kind, Table
from anypag.errors import Option, Sentence, listed

MANY_LEVELS = 20  # findings about sparse levels, dates and columns that name persons need more levels than this
PLAIN_NUMBERS = "Write them with a decimal point and no other sign, as in 1234.5"
AS_MANY_AS_PERSONS = 100  # with more levels than this a column is taken to name persons, units or sessions
_CODES = {-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999, 999999, -998, -997, -88, -888}
_WORDS = {"?", "-", "--", ".", "unknown", "missing", "na", "n/a", "none", "not available", "unk"}
_DUPLICATED = re.compile(r"(.+)_duplicated_\d+")
_IDENTIFIER = re.compile(r"(^|[_\s.-])(id|ids|key|index|idx|nr|no|number|code|row)$|^id[_\s.-]|^unnamed", re.IGNORECASE)
_UNIT = re.compile(
    r"(^|[_\s.-])(id|ids|person|subject|patient|participant|unit|session|household|firm|school)([_\s.-]?(id|ids|nr|no|number))?$",
    re.IGNORECASE,
)
_CENSORED = re.compile(r"(^|[^a-z])(un|right_?)?cens(or|ors|ored|oring|orship)?([^a-z]|$)", re.IGNORECASE)
_DURATION = re.compile(
    r"^((os|pfs|dfs|rfs|efs|fu|r|d|event|follow[\s._-]?up|(overall[\s._-]?)?surv(ival)?)[\s._-]?)?(time|days|weeks|months)$"
    r"|^(surv(ival)?|durat(ion)?|tenure|follow[\s._-]?up|stop)$",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"^((os|pfs|dfs|rfs|efs|fu|vital|surv(ival)?)[\s._-]?)?(status|stat|event)$"
    r"|^(death|dead|died|deceased|delta|fail(ed|ure)?|relapsed?|recur(red|rence)?)$",
    re.IGNORECASE,
)
MOST_ENDS = 5  # the most levels of a column that says how durations ended
LEAST_TIMES = 10  # the fewest levels of a column of durations
GLANCE = 500  # this many first rows rule out most pairs of a column of durations with a column that says how they ended


def text_findings(source: Source) -> list[Finding]:
    """Errors about columns of text where numbers are needed."""
    return [
        Finding("error", "text", (source.names[i],), f"Column {source.names[i]!r} holds {what}.", remedy)
        for i, labels in enumerate(source.labels)
        if labels and source.kinds[i] == "continuous"  # a column without any value has a finding of its own
        for what, remedy in [_text_and_remedy(labels)]
    ]


def _text_and_remedy(labels: Sequence[str]) -> tuple[str, Sentence]:
    """A phrase for what a column of text holds where numbers are needed, and the remedy."""
    words = [label for label in labels if not is_number(label)]
    like_numbers = [word for word in words if looks_like_number(word)]
    others = [word for word in words if word not in like_numbers]
    what = f"text, such as {listed(words or labels, 3)}{'' if words else ' (numbers written as text)'}"
    one_sign = " (a file has one decimal sign, the point or the comma)" if any("." in label for label in labels) else ""
    do = "Drop it" if words else f"Turn it into numbers{one_sign}"
    if others and len(others) < len(labels):
        what = f"text among numbers: {listed(others, 3)}"
        do = f"Turn it into numbers, with {listed(others, 3)} as missing ({Option('gaps')} if it comes from a file)"
    elif like_numbers:
        what = f"numbers written in a way that is not read as numbers, such as {listed(like_numbers, 3)}"
        do = PLAIN_NUMBERS
    return what, Sentence(f"{do}, or declare it discrete ({Option('kinds')}).")


def date_findings(source: Source) -> list[Finding]:
    """Errors about columns of dates as text, which no test can use."""
    remedy = (
        "Turn it into a number (days since a start; in pandas (d - d.min()).dt.days) or into parts that matter, such "
        "as the month, or drop it."
    )
    found = {
        name: f"Column {name!r} holds dates or times, such as {listed(labels, 2)}."
        for name, labels in zip(source.names, source.labels, strict=True)
        if labels is not None and len(labels) > MANY_LEVELS and 2 * sum(map(is_date, labels)) > len(labels)
    }
    return [Finding("error", "dates", (name,), message, remedy) for name, message in found.items()]


def usable_names(names: Sequence[str], findings: Iterable[Finding]) -> list[str]:
    bad = {"text", "infinite", "empty", "dates"}
    unusable = {name for finding in findings if finding.problem in bad for name in finding.columns}
    return [name for name in names if name not in unusable]


def constant_findings(names: Sequence[str], is_constant: npt.NDArray[np.bool_]) -> list[Finding]:
    remedy = "Drop it: a constant is independent of everything."
    found = compress(names, is_constant.tolist())
    return [Finding("error", "constant", (name,), f"Column {name!r} is constant.", remedy) for name in found]


def level_findings(source: Source) -> list[Finding]:
    """Findings about discrete columns that have too many levels for their rows, or seem to name persons or units."""
    found = []
    or_declare = f"; if it is a quantity, declare it continuous ({Option('kinds')})."
    discrete = [i for i, kind in enumerate(source.kinds) if kind == "discrete"]
    for name, counts in ((source.names[i], source.levels(i).counts) for i in discrete):
        levels, present = len(counts), int(counts.sum())
        if levels == present and levels > 2:
            message = f"In column {name!r} every value is different ({levels} levels), as in an identifier."
            found.append(Finding("error", "levels", (name,), message, Sentence(f"Drop it{or_declare}")))
        elif levels > MANY_LEVELS and levels * ROWS_PER_LEVEL > present:
            message = f"Column {name!r} has {levels} levels in {present} rows; its tests will find little."
            found.append(warning("levels", (name,), message, Sentence(f"Merge levels{or_declare}")))
        elif levels > AS_MANY_AS_PERSONS:
            found.append(_repeated_identifier(name, levels, present))
    return found


def _repeated_identifier(name: str, levels: int, present: int) -> Finding:
    """A warning about a column that seems to name persons, units or sessions with several rows each."""
    message = (
        f"Column {name!r} has {levels:,} different values in {present:,} rows, {present / levels:.1f} rows each, like "
        "a column that names persons, units or sessions. The tests assume independent rows; several rows of one "
        "person (a panel, repeated measures) are not independent, and tests then find too many edges."
    )
    remedy = Sentence(
        f"Leave the column out ({Option('names')}), and take one row per person, or each person's means. Resamples and "
        f"effects can use all rows if you name the column as their {Option('cluster')}. If the column is a quantity, "
        f"declare it continuous ({Option('kinds')})."
    )
    return warning("units", (name,), message, remedy)


def fit_findings(source: Source, wanted: Kind) -> list[Finding]:
    """Findings about columns whose kind does not fit the test: errors if the test would find nothing, else warnings."""
    others = [i for i, kind in enumerate(source.kinds) if kind not in (wanted, "ordinal")]
    numbers = [i for i in others if source.labels[i] is None]
    if wanted != "continuous":
        return [*_as_levels(source, numbers), *_texts_as_levels(source, [i for i in others if i not in numbers])]
    names = [source.names[i] for i in numbers if len(source.levels(i).values) > 2]
    only_if = "which is right only if they are ordered and evenly spaced."
    message = f"The test takes the levels of {listed(names, 5)} as numbers, {only_if}"
    return [warning("fit", names, message, _remedy("mixed"))] if names else []


def _texts_as_levels(source: Source, columns: list[int]) -> list[Finding]:
    """Warnings about numbers written as text ($12.30) if the test takes each text as a level."""
    found = {
        source.names[i]: f"Column {source.names[i]!r} holds numbers that are written as text, such as "
        f"{listed(labels, 3)}; each of the {len(labels)} texts counts as a level of its own."
        for i, labels in enumerate(source.labels)
        if labels is not None and i in columns
    }
    remedy = f"{PLAIN_NUMBERS}, unless they are levels."
    return [warning("fit", (name,), message, remedy) for name, message in found.items()]


def _as_levels(source: Source, continuous: list[int]) -> list[Finding]:
    """Findings about columns of fractions if the test takes each value as a level; whole numbers may well be levels."""
    found = []
    for name, values in ((source.names[i], np.array(source.levels(i).values, np.float64)) for i in continuous):
        if _is_whole(values[np.isfinite(values)]):
            continue
        is_hopeless = len(values) * ROWS_PER_LEVEL > source.n
        message = (
            f"Column {name!r} is continuous ({len(values)} different values in {source.n} rows), but the test takes "
            f"every value as a level of its own{', and would find next to nothing' * is_hopeless}."
        )
        found.append(Finding("error" if is_hopeless else "warning", "fit", (name,), message, _remedy("fisherz")))
    return found


def _remedy(better: str) -> Sentence:
    return Sentence(f"Choose {Option('test', 'auto')} or {Option('test', better)}, which fit such columns.")


def header_findings(names: Sequence[str]) -> list[Finding]:
    """A warning about names that are numbers, as when the first row of data was taken for the names."""
    bare = [_DUPLICATED.sub(r"\1", name) if "_duplicated_" in name else name for name in names]
    numbers = [name for name, text in zip(names, bare, strict=True) if is_number(text)]
    if 2 * len(numbers) <= len(names) or bare == [str(i) for i in range(len(names))]:
        return []
    message = f"Columns are named by numbers ({listed(numbers, 3)}), as when a file has no line of names."
    remedy = "Put the names into the first line; otherwise the first row of data is read as names."
    return [warning("header", numbers, message, remedy)]


def repeated_name_findings(names: Sequence[str], line: str = "") -> list[Finding]:
    """Errors about names that come twice in a file. A name that is not in its first `line` was made up by polars."""
    there = set(names)
    renamed = [(found[1], name) for name in names if (found := _DUPLICATED.fullmatch(name)) and found[1] in there]
    pairs = [(first, name) for first, name in renamed if name not in line]
    if all(is_number(first) for first, _ in pairs):  # a file without names, which has a check of its own
        return []
    told = [f"Two columns are named {first!r}; the second was read as {name!r}." for first, name in pairs]
    remedy = "Give each column a name of its own in the file."
    return [Finding("error", "names", pair, message, remedy) for pair, message in zip(pairs, told, strict=True)]


def matrix_findings(table: Table) -> list[Finding]:
    """An error about a symmetric table: a covariance matrix, whose rows would be taken for cases."""
    values = table.values
    is_square = values.shape[0] == values.shape[1] and all(labels is None for labels in table.labels)
    if not is_square or not np.isfinite(values).all() or not (np.diag(values) > 0).all():
        return []
    if not np.allclose(values, values.T, rtol=1e-8, atol=0.0):
        return []
    message = "The table is symmetric, like a matrix of covariances or correlations; a table of rows is not."
    remedy = "Say how many rows gave the matrix: FisherZ.from_covariance(matrix, n), or --covariance N in a terminal."
    return [Finding("error", "matrix", (), message, remedy)]


def identifier_findings(table: Table) -> list[Finding]:
    """Warnings about columns of whole numbers that seem to number the rows, or have a name like 'id' or 'person'."""
    findings = []
    for i in (i for i in table.of_kind("continuous") if not table.fractions[i]):
        name, column = table.names[i], table.values[:, i]
        column = column[~np.isnan(column)]
        if len(column) < FEW_ROWS or not _is_whole(column):
            continue
        different = len(np.unique(column))
        if MANY_LEVELS < different <= len(column) / 2 and _UNIT.search(name):
            findings.append(_repeated_identifier(name, different, len(column)))
        if different < len(column):
            continue
        counts = is_monotone(column) or column.max() < column.min() + 2 * len(column)
        if counts or _IDENTIFIER.search(name):
            message = f"Column {name!r} holds whole numbers that are all different, as row numbers and identifiers are."
            remedy = Sentence(f"Drop it ({Option('drop')} on the command line), unless it measures something.")
            findings.append(warning("identifier", (name,), message, remedy))
    return as_one(findings, "columns look like identifiers")


def _is_whole(column: Floats) -> bool:
    return bool((column[:8] == np.floor(column[:8])).all() and (column == np.floor(column)).all())


def code_findings(source: Source) -> list[Finding]:
    """Warnings about numbers or words that may be codes for missing values."""
    findings = []
    for i, name in enumerate(source.names):
        is_word = source.labels[i] is not None
        typed, shown = _code_in(source, i) or ("", "")
        if not typed:
            continue
        message = f"Column {name!r} holds {shown}, which looks like a code for a missing value."
        empty = "Unless it is a level: leave the field empty (None)" if is_word else "Leave the field empty (NaN)"
        remedy = Sentence(  # words given for gaps replace the default ones
            f"{empty}, or name the code on reading a file ({Option('gaps', (typed,))}, plus any other gap words); "
            f"then choose how to treat missing values ({Option('missing')})."
        )
        findings.append(warning("code", (name,), message, remedy))
    return as_one(findings, "columns hold what looks like a code for a missing value")


def _code_in(source: Source, i: int) -> tuple[str, str] | None:
    """A code for a missing value in a column, as the user types it and as a message shows it; None if there is none."""
    labels, summary = source.labels[i], source.summary()
    if labels is not None:
        return next(((label, repr(label)) for label in labels if label.strip().casefold() in _WORDS), None)
    for code in (float(end) for end in (summary.low[i], summary.high[i]) if end in _CODES):
        times, low, high = source.beside(i, code)
        is_far = min(abs(low - code), abs(high - code)) > max(0.5 * (high - low), 1.0)
        if is_far and (code > 0 or low >= 0 or abs(code) >= 99) and 2 * times < summary.n - summary.missing[i]:
            return f"{code:g}", f"{code:g} ({times} time{'s' * (times != 1)}, far from all other values)"
    return None


def censoring_findings(table: Table) -> list[Finding]:
    """Warnings about columns that seem to mark censored durations, judged by names or by values of another column."""
    remedy = "Take an outcome known for everyone, such as survival to a fixed time; drop this column and the durations."
    marks = table.of_kind("discrete")
    piled = (table.values == table.summary().high).sum(axis=0) * 2 >= FEW_ROWS if marks else []
    findings = []
    for name, i in ((table.names[i], i) for i in marks):
        times = [] if (is_named := bool(_CENSORED.search(name))) else _times_of(table, i, piled)
        which = f"say which values of {listed(times)} are censored" if times else "mark censored"
        message = (
            f"Column {name!r} seems to {which} durations (of people who were still alive at the end of the study, for "
            "example). The tests take a censored duration for a complete one."
        )
        findings += [warning("censored", (*times, name), message, remedy)] if is_named or times else []
    return findings


def _times_of(table: Table, mark: int, piled: Sequence[bool] | Flags) -> list[str]:
    """Columns that may hold durations (numbers, 0 or more) whose end the column `mark` describes. `piled`: per column,
    whether many rows have its largest value."""
    if not table.n or not 2 <= table.n_levels(mark) <= MOST_ENDS:
        return []
    low, is_event, found = table.summary().low, bool(_EVENT.search(table.names[mark])), list[str]()
    for i, name in enumerate(table.names):
        is_time = bool(_DURATION.search(name)) and i != mark and table.labels[i] is None
        is_long = table.kinds[i] == "continuous" or (is_time and table.n_levels(i) >= LEAST_TIMES)
        if is_long and low[i] >= 0 and (is_time or is_event or piled[i]):
            is_named = is_time or is_event
            found += [name] if (is_time and is_event) or _has_end(table, i, mark, is_named=is_named) else []
    return found


def _has_end(table: Table, i: int, mark: int, *, is_named: bool) -> bool:
    """Do nearly all rows with the largest values of column i have one level of `mark` that is rarer elsewhere? Without
    a hint in a name, exactly the rows with the largest value must have this level, as when a study ends on one day.
    """
    glance = table.codes(mark)[:GLANCE][table.values[:GLANCE, i] == table.summary().high[i]].tolist()
    if not is_named and len({*glance} - {-1}) > 1:
        return False
    here = (table.codes(mark) >= 0) & ~np.isnan(table.values[:, i])
    times, codes = table.values[here, i], table.codes(mark)[here]
    if len(times) < 5 * FEW_ROWS:
        return False
    largest = times >= (np.quantile(times, 0.9) if is_named else times.max())
    is_last = codes == np.bincount(codes[largest]).argmax()
    if not is_named or largest.all():
        return bool((is_last == largest).all() and 2 * largest.sum() >= FEW_ROWS)
    return bool(is_last[largest].mean() > 0.95 and is_last[~largest].mean() < 0.8)
