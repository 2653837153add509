"""What looks like a mistake in a table, or like data that the tests are not made for.

None of it stops a run: a table may be as it is on purpose. Every check is a function from a table (and the moments of
its continuous columns) to its findings; `SUSPICIONS` lists them with what to say when they find nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anypag.data.audit.indicators import indicator_findings
from anypag.data.audit.level_copies import level_copy_findings
from anypag.data.audit.monotone import monotone_findings
from anypag.data.audit.row_order import large_autocorrelations
from anypag.data.findings import Finding
from anypag.data.kinds import has_fractions, is_number
from anypag.data.levels import coded
from anypag.data.moments import Moments
from anypag.data.table import Table
from anypag.errors import Option, Sentence, listed
from anypag.threads import map_in_threads, runs_of, slices

Values = npt.NDArray[np.float64]

NEARLY_THE_SAME = 0.99
"""The correlation from which on two columns are nearly the same."""
LEAST_ROWS = 20
ROWS_PER_CELL = 5
MOST_CELLS = 10_000
MOST_COLUMNS = 300
"""For checks of all pairs and triples of columns."""
MOST_PAIRS = 8_000_000
"""Pairs looked at in one go."""
MOST_ROWS = 5000
"""Of a long table so many rows are looked at."""
MOST_TOLD = 10
"""Findings of one check that are listed."""
ROWS_FOR_CURVES = 1000
CURVED = 0.2
"""The share of standard deviation that a square must explain beyond the straight line."""

FLAT = 0.1
"""The standard deviation below which a column's square is a straight line of it."""

PANEL = 32
"""Columns worked on at once: few enough to stay in the cache."""

_GLANCE = 16
"""Rows in which most columns show that they are not sorted."""

_CODES = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999, 999999, -998, -997, -88, -888)
_WORDS = {"?", "-", "--", ".", "unknown", "missing", "na", "n/a", "none", "not available", "unk"}
_DUPLICATED = re.compile(r"(.+)_duplicated_\d+")
_IDENTIFIER = re.compile(r"(^|[_\s.-])(id|ids|key|index|idx|nr|no|number|code|row)$|^id[_\s.-]|^unnamed", re.IGNORECASE)


_CENSORED = re.compile(r"(^|[^a-z])(un|right_?)?cens(or|ors|ored|oring|orship)?([^a-z]|$)", re.IGNORECASE)


class Suspicion(NamedTuple):
    """A check, what it is about in a few words, and up to how many columns it is made."""

    about: str
    find: Callable[[Table, Moments | None], list[Finding]]
    most_columns: int = 1_000_000


def _warning(problem: str, columns: Iterable[str], message: str, remedy: str | Sentence) -> Finding:
    return Finding("warning", problem, tuple(columns), message, remedy)


def _first(findings: list[Finding]) -> list[Finding]:
    """The first of many alike; the last one says how many there are."""
    if len(findings) <= MOST_TOLD:
        return findings
    last = findings[MOST_TOLD - 1]
    more = f"{last.message} There are {len(findings) - MOST_TOLD} more like this."
    return [*findings[: MOST_TOLD - 1], _warning(last.problem, last.columns, more, last.remedy)]


def _of_kind(table: Table, kind: str) -> list[int]:
    return [i for i, there in enumerate(table.kinds) if there == kind]


def header_findings(names: Sequence[str]) -> list[Finding]:
    """Names that are numbers, as when the first row of data was taken for the names."""
    bare = [_DUPLICATED.sub(r"\1", name) if "_duplicated_" in name else name for name in names]
    numbers = [name for name, text in zip(names, bare, strict=True) if is_number(text)]
    if 2 * len(numbers) <= len(names) or bare == [str(i) for i in range(len(names))]:
        return []
    message = f"Columns are named by numbers ({listed(numbers, 3)}), as when a file has no line of names."
    remedy = "Put the names into the first line; else the first row of data is lost to the names."
    return [_warning("header", numbers, message, remedy)]


def repeated_name_findings(names: Sequence[str], line: str = "") -> list[Finding]:
    """Names that came twice in a file, of which the reader renamed one: it is not in the line of names itself."""
    there = set(names)
    renamed = [(found[1], name) for name in names if (found := _DUPLICATED.fullmatch(name)) and found[1] in there]
    pairs = [(first, name) for first, name in renamed if name not in line]
    numbers = all(is_number(first) for first, _ in pairs)  # a file without names: said elsewhere
    return (
        []
        if numbers
        else [
            Finding(
                "error",
                "names",
                (first, name),
                f"Two columns are named {first!r}; the second was read as {name!r}.",
                "Give each column a name of its own in the file.",
            )
            for first, name in pairs
        ]
    )


def matrix_findings(table: Table) -> list[Finding]:
    """A table that is symmetric: a matrix of covariances, each row of which would count as a case."""
    values = table.values
    is_square = values.shape[0] == values.shape[1] and all(labels is None for labels in table.labels)
    if not is_square or not np.isfinite(values).all() or not (np.diag(values) > 0).all():
        return []
    if not np.allclose(values, values.T, rtol=1e-8, atol=0.0):
        return []
    message = "The table is symmetric, as a matrix of covariances or correlations is, and no table of rows."
    remedy = "Say of how many rows it is: FisherZ.from_covariance(matrix, n), --covariance N on the command line."
    return [Finding("error", "matrix", (), message, remedy)]


def near_copies(moments: Moments, threads: int = 1) -> list[Finding]:
    """Continuous columns that are nearly the same but for noise."""
    from anypag._kernels.moments import has_beyond

    p, findings = len(moments.names), []

    def pairs_of(run: slice) -> list[tuple[int, int]]:
        """Few rows hold such a pair: only these are looked at one by one."""
        rows = run.start + np.flatnonzero(has_beyond(moments.correlation, run.start, run.stop, NEARLY_THE_SAME))
        beside = ((i, np.abs(moments.correlation[i, i + 1 :]) >= NEARLY_THE_SAME) for i in rows.tolist())
        return [(i, i + 1 + j) for i, is_near in beside for j in np.flatnonzero(is_near).tolist()]

    runs = runs_of(np.arange(p - 1, -1, -1), threads, MOST_PAIRS // 8, MOST_PAIRS)
    for i, j in (pair for pairs in map_in_threads(pairs_of, runs, threads) for pair in pairs):
        r = float(moments.correlation[i, j])
        if abs(r) > 1 - 1e-9:  # an exact relation, said elsewhere
            continue
        a, b = moments.names[i], moments.names[j]
        message = (
            f"Columns {a!r} and {b!r} are nearly the same (correlation {r:.4f}): given one, the other tells next "
            "to nothing, and either may lose edges that it has."
        )
        findings.append(_warning("near copy", (a, b), message, "Drop one of them, or put them together."))
    return _first(findings)


def identifier_findings(table: Table, moments: Moments | None) -> list[Finding]:
    """Whole numbers, all different, that count the rows or are named as identifiers are."""
    findings, fractions = [], has_fractions(table.values)
    for i in _of_kind(table, "continuous"):
        if fractions[i]:
            continue
        name, column = table.names[i], table.values[:, i]
        column = column[~np.isnan(column)]
        if len(column) < LEAST_ROWS or not _is_whole(column) or len(np.unique(column)) < len(column):
            continue
        counts = _is_monotone(column) or column.max() < column.min() + 2 * len(column)
        if counts or _IDENTIFIER.search(name):
            message = f"Column {name!r} holds whole numbers that are all different, as row numbers and identifiers are."
            remedy = Sentence("Drop it (", Option("drop"), " on the command line), unless it measures something.")
            findings.append(_warning("identifier", (name,), message, remedy))
    return _first(findings)


def _standard_scores(values: Values) -> Values:
    """(n, p) values with mean 0 and standard deviation 1 in every column; 0 throughout a constant one."""
    centred = np.ldexp(values, -np.frexp(np.abs(values).max(axis=0))[1])  # squares of large values would overflow
    centred -= centred.mean(axis=0)
    centred -= centred.mean(axis=0)
    deviation = np.sqrt(np.square(centred).mean(axis=0))
    scores: Values = centred / np.where(deviation > 0, deviation, 1.0)
    return scores


def _is_monotone(column: Values) -> bool:
    present = column[~np.isnan(column)]
    before, after = present[:-1], present[1:]  # compared, as differences may overflow
    return bool((before <= after).all() or (before >= after).all())


def _both_ways(values: Values) -> npt.NDArray[np.bool_]:
    """(p,) do the columns rise as well as fall?"""
    before, after = values[:-1], values[1:]
    return np.logical_and((before < after).any(axis=0), (before > after).any(axis=0))


def _is_whole(column: Values) -> bool:
    return bool((column[:8] == np.floor(column[:8])).all() and (column == np.floor(column)).all())


def code_findings(table: Table, moments: Moments | None) -> list[Finding]:
    """Numbers or words that stand for missing values."""
    findings, ends = [], np.stack([np.fmin.reduce(table.values), np.fmax.reduce(table.values)], axis=1)
    may_hold = set(np.flatnonzero(np.isin(ends, _CODES).any(axis=1)).tolist())
    for i, name in enumerate(table.names):
        is_clear = table.labels[i] is None and i not in may_hold
        code = None if is_clear else _code_in(table, i, *ends[i].tolist())
        if code is not None:
            message = f"Column {name!r} holds {code.shown}, which looks like a code for a missing value."
            findings.append(_warning("code", (name,), message, _no_code(code.typed, table.labels[i] is not None)))
    return _first(findings)


class _Code(NamedTuple):
    """What stands for a missing value, as it is typed and as a message shows it."""

    typed: str
    shown: str


def _no_code(typed: str, is_word: bool) -> Sentence:
    """What to do about a code for missing values; the words that are said replace those that are usual."""
    empty = "Unless it is a level: leave the field empty (None)" if is_word else "Leave the field empty (NaN)"
    do = f"{empty}, or say so where a file is read ("
    then = ", with any other words for gaps); then choose what to do about it with "
    return Sentence(do, Option("gaps", (typed,)), then, Option("missing"), ".")


def _code_in(table: Table, i: int, low: float, high: float) -> _Code | None:
    labels = table.labels[i]
    if labels is not None:
        return next((_Code(label, repr(label)) for label in labels if label.strip().casefold() in _WORDS), None)
    column = table.values[:, i]
    for code in (low, high):
        if code not in _CODES:
            continue
        rest = column[(column != code) & ~np.isnan(column)]
        times = int(np.sum(column == code))
        is_far = len(rest) > 0 and np.abs(rest - code).min() > max(0.5 * np.ptp(rest), 1.0)
        if is_far and (code > 0 or rest.min() >= 0 or abs(code) >= 99) and times < len(rest):
            return _Code(f"{code:g}", f"{code:g} ({times} time{'s' * (times != 1)}, far from all other values)")
    return None


def repeated_row_findings(table: Table, moments: Moments | None) -> list[Finding]:
    """Rows that come more than once, where that is not to be expected."""
    chosen = _of_kind(table, "continuous")
    if len(table.names) < 2 or table.n < LEAST_ROWS or not chosen:
        return []
    weights = np.random.default_rng(0).normal(size=len(table.names))  # any numbers: equal rows have equal sums
    values = np.where(np.isnan(table.values), 0.5, table.values) if table.has_gaps else table.values
    with np.errstate(over="ignore", invalid="ignore"):
        repeated = table.n - len(np.unique(values @ weights))
    if repeated < max(2, table.n // 100) or not any(_is_fine(values[:, i]) for i in chosen):
        return []
    message = f"{repeated} of {table.n} rows repeat another row; the tests count each as a case of its own."
    remedy = "Drop those that were entered twice; cases that only happen to agree in all columns stay."
    return [_warning("rows", (), message, remedy)]


def _is_fine(column: Values) -> bool:
    """Does a column have so many different values that two cases hardly agree in it?"""
    return len(np.unique(column)) > len(column) // 4


def order_findings(table: Table, moments: Moments | None) -> list[Finding]:
    """Rows that are like the rows before them; columns that only ever rise or fall are row numbers, or sorted by."""
    zigzags = _both_ways(table.values[:_GLANCE])
    continuous = _of_kind(table, "continuous")
    chosen = [i for i in continuous if zigzags[i] or not _is_monotone(table.values[:, i])]
    values = table.values[:MOST_ROWS]
    if table.has_gaps:
        values = values[~np.isnan(values[:, chosen]).any(axis=1)]
    if len(values) < LEAST_ROWS or not chosen:
        return []
    limit = max(5 / math.sqrt(len(values)), 0.2)
    panels = [chosen[some] for some in slices(len(chosen), PANEL)]
    after = np.concatenate([large_autocorrelations(values.T[panel], limit) for panel in panels])
    alike = np.flatnonzero(after).tolist()
    if not alike:
        return []
    names = [table.names[chosen[k]] for k in alike]
    largest = float(after[np.argmax(np.abs(after))])
    message = (
        f"Neighbouring rows are alike in {listed(names, 5)} (autocorrelation up to {largest:.2f}), as in a time series "
        "or a sorted table. The tests take rows as drawn one by one; in a time series they find too many edges."
    )
    remedy = "Of a time series take rows far apart, or model its lags; a table that was only sorted is fine."
    return [_warning("order", names, message, remedy)]


def determined_findings(table: Table, moments: Moments | None) -> list[Finding]:
    """Discrete columns that are a function of one or two others."""
    from anypag._kernels.determined import determined_by_two

    chosen = _of_kind(table, "discrete")
    values = table.values[:, chosen]
    values = values[~np.isnan(values).any(axis=1)]
    if len(chosen) < 2 or len(values) < LEAST_ROWS:
        return []
    codes = np.stack([coded(column)[1] for column in values.T]).astype(np.int64)
    found = determined_by_two(codes, codes.max(axis=1) + 1, ROWS_PER_CELL, MOST_CELLS)
    return _first([_determined([table.names[chosen[k]] for k in row]) for row in found.tolist()])


def _determined(names: list[str]) -> Finding:
    a, b, c = names
    by = repr(a) if a == b else f"{a!r} and {b!r}"
    message = (
        f"Column {c!r} is determined by {by}: given {'that' if a == b else 'these'}, it is independent of everything, "
        "and its edges may be wrong or missing."
    )
    return _warning("determined", (c, *dict.fromkeys((a, b))), message, "Drop it, or what it was made from.")


def curve_findings(table: Table, moments: Moments | None) -> list[Finding]:
    """Continuous columns that depend on others by a curve, which tests of correlation see only in part."""
    numbers = [i for i, kind in enumerate(table.kinds) if kind == "continuous"]
    if moments is None or len(numbers) < 2:
        return []
    test = "Fisher's z" if len(numbers) == len(table.names) else "the test for mixed data"
    values = table.values[:: math.ceil(table.n / ROWS_FOR_CURVES), numbers]
    values = values[~np.isnan(values).any(axis=1)]
    if len(values) < LEAST_ROWS:
        return []
    scores = _unit(np.clip(_standard_scores(values), -3.0, 3.0))  # a few far values make no curve
    beyond = scores * scores
    beyond -= np.einsum("ij,ij->j", beyond, scores) / len(scores) * scores  # what a straight line has of the square
    beyond = _unit(beyond)
    straight, curved = scores.T @ scores / len(scores), beyond.T @ scores / len(scores)
    left = curved / np.sqrt(np.maximum(1 - straight**2, 1e-12))
    np.fill_diagonal(left, 0.0)
    is_curved = (np.abs(curved) > max(CURVED, 5 / math.sqrt(len(scores)))) & (np.abs(straight) < 0.98)
    pairs = sorted(np.argwhere(is_curved).tolist(), key=lambda pair: -abs(left[tuple(pair)]))
    names = [table.names[i] for i in numbers]
    return _first([_curved(names[i], names[j], float(left[i, j]), test) for i, j in pairs])


def _unit(values: Values) -> Values:
    """Mean 0 and standard deviation 1 in every column; 0 in one that hardly varies, as the square of two values."""
    centred = values - values.mean(axis=0)
    deviation = np.sqrt(np.einsum("ij,ij->j", centred, centred) / len(centred))
    unit: Values = centred / np.where(deviation > FLAT, deviation, np.inf)
    return unit


def _curved(x: str, y: str, r: float, test: str) -> Finding:
    message = (
        f"{y!r} depends on the square of {x!r} (correlation {r:.2f} beyond the straight line): {test} sees "
        "straight lines only, and may take the two for independent."
    )
    remedy = Sentence("Choose ", Option("test", "additive"), ", which sees curves, or transform a column.")
    return _warning("curve", (x, y), message, remedy)


def censoring_findings(table: Table, moments: Moments | None) -> list[Finding]:
    """Columns named as those are that say whether a duration was seen to its end."""
    remedy = "Take an outcome that is known of everyone, such as being alive after a fixed time, and drop both columns."
    return [
        _warning(
            "censored",
            (table.names[i],),
            f"Column {table.names[i]!r} seems to say whose duration was cut off (someone still alive at the end of the "
            "study, say). The tests know nothing of that: they take a cut-off duration for a whole one.",
            remedy,
        )
        for i in _of_kind(table, "discrete")
        if _CENSORED.search(table.names[i])
    ]


SUSPICIONS = (
    Suspicion("a missing line of names", lambda table, moments: header_findings(table.names)),
    Suspicion("a matrix in place of rows", lambda table, moments: matrix_findings(table)),
    Suspicion("near copies among levels", level_copy_findings, MOST_COLUMNS),
    Suspicion("identifiers", identifier_findings),
    Suspicion("codes for missing values", code_findings),
    Suspicion("repeated rows", repeated_row_findings),
    Suspicion("rows in time order", order_findings),
    Suspicion("columns that one or two others determine", determined_findings, MOST_COLUMNS),
    Suspicion("columns that rise or fall with another", monotone_findings, MOST_COLUMNS),
    Suspicion("levels in columns of their own", indicator_findings, MOST_COLUMNS),
    Suspicion("censored durations", censoring_findings),
    Suspicion("quadratic relations", curve_findings, MOST_COLUMNS),
)
"""All of them."""
