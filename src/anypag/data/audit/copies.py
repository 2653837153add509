"""Finds columns that are the same as another column, or nearly the same."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from anypag.data.findings import Finding, Severity, Singular, as_one, warning
from anypag.data.levels import Codes, codes_of
from anypag.data.moments import Moments
from anypag.data.sources.protocol import Source
from anypag.data.table import Table
from anypag.errors import Option, Sentence
from anypag.threads import map_in_threads, runs_of

NEARLY_THE_SAME = 0.99  # the least |correlation| of two columns that are nearly the same
MOST_PAIRS = 8_000_000  # a thread checks blocks of matrix rows; a block has at most about this many pairs of columns
LEAST_TOLD = 0.95  # by this share, one column lowers errors in guessing the other (Goodman and Kruskal's lambda)
MOST_LEVELS = 50  # columns with more levels are not compared
MOST_ROWS = 5000  # discrete columns are compared in at most this many rows, the first of the table
LEAST_ROWS = 20  # the fewest rows in which both columns have a value
_BEGINNING = 200  # this many rows are enough to tell most discrete columns apart

NEAR = "pairs of columns are nearly the same"
ADDS_NOTHING = "given either column, the other adds almost no information, so both may lose true edges."


def copy_findings(copies: Mapping[str, str], singular: Singular) -> list[Finding]:
    """One finding for each column that is the same as an earlier one."""
    remedy = Sentence(f"Leave one out ({Option('names')}): the other stands for both.")
    severity: Severity = "error" if singular == "error" else "warning"
    return [
        Finding(severity, "duplicate", (first, name), f"Columns {first!r} and {name!r} are the same.", remedy)
        for name, first in copies.items()
    ]


def copies_in(table: Table) -> dict[str, str]:
    """{copy: earlier column} for columns that repeat an earlier one; labels of discrete copies may differ. Continuous
    columns are compared only if their sums are equal, other columns only if their first rows agree up to relabelling.
    """
    sums = [None if math.isnan(one) else one for one in table.sums.tolist()]
    sketches = [
        sums[i] if kind == "continuous" else _by_first_appearance(table.codes(i)[:_BEGINNING])
        for i, kind in enumerate(table.kinds)
    ]
    return _repeated(table.names, sketches, lambda i: (table.kinds[i], _content(table, i)))


def _repeated(names: Sequence[str], sketches: Sequence[object], content: Callable[[int], object]) -> dict[str, str]:
    """{copy: earlier column} for columns of equal content, which is compared only if the cheap `sketches` are equal."""
    count, seen = Counter(sketches), dict[object, str]()
    perhaps = [(i, name) for i, name in enumerate(names) if count[sketches[i]] > 1]
    first = {name: seen.setdefault(content(i), name) for i, name in perhaps}
    return {name: earlier for name, earlier in first.items() if earlier != name}


def _content(table: Table, i: int) -> bytes:
    """A key that copies share. Reversed ordinal levels have the same key, and so have relabelled discrete levels."""
    if table.kinds[i] == "continuous":
        return (table.values[:, i] + 0.0).tobytes()
    codes = table.codes(i)
    if table.kinds[i] == "ordinal":
        return min(codes.tobytes(), np.where(codes < 0, codes, codes.max(initial=0) - codes).tobytes())
    return _by_first_appearance(codes)


def copies_by_levels(source: Source) -> dict[str, str]:
    """{copy: earlier column} for discrete columns outside memory; only columns with equal level counts are compared."""
    earlier, copies = dict[tuple[int, ...], list[int]](), {}
    for i in (i for i, kind in enumerate(source.kinds) if kind == "discrete"):
        alike = earlier.setdefault(tuple(sorted(source.levels(i).counts.tolist())), [])
        first = next((j for j in alike if _are_copies(source, j, i)), None)
        if first is None:
            alike.append(i)
        else:
            copies[source.names[i]] = source.names[first]
    return copies


def _are_copies(source: Source, i: int, j: int) -> bool:
    pairs = source.groups([source.names[i], source.names[j]])
    return pairs is not None and bool(copies_in(pairs.table.all_of_kind("discrete")))


def coded_copies(names: Sequence[str], codes: npt.NDArray[np.int32]) -> dict[str, str]:
    """{copy: earlier column} for discrete columns given as (p, n) codes, -1 for a gap."""
    beginnings = [_by_first_appearance(column[:_BEGINNING]) for column in codes]
    return _repeated(names, beginnings, lambda i: _by_first_appearance(codes[i]))


def _by_first_appearance(codes: Codes) -> bytes:
    """The levels (and gaps, -1) renumbered in order of first appearance, so that relabelled copies are equal."""
    first = np.full(int(codes.max(initial=-1)) + 2, len(codes), np.intp)
    first[codes[::-1] + 1] = np.arange(len(codes))[::-1]  # the first row of a level is written last, so it stays
    number: npt.NDArray[np.intp] = np.argsort(np.argsort(first, kind="stable"))
    return number[codes + 1].tobytes()


def near_copies(moments: Moments | None, threads: int = 1) -> list[Finding]:
    """Warnings about pairs of continuous columns that differ only by a little noise; none if `moments` is None."""
    if moments is None:
        return []
    from anypag._kernels.pairs import has_beyond

    p, findings = len(moments.names), []

    def pairs_of(run: slice) -> list[tuple[int, int]]:
        """The near copies in a block of rows of the matrix; only rows with a near copy are scanned."""
        rows = run.start + np.flatnonzero(has_beyond(moments.correlation, run.start, run.stop, NEARLY_THE_SAME))
        beside = ((i, np.abs(moments.correlation[i, i + 1 :]) >= NEARLY_THE_SAME) for i in rows.tolist())
        return [(i, i + 1 + j) for i, is_near in beside for j in np.flatnonzero(is_near).tolist()]

    runs = runs_of(np.arange(p - 1, -1, -1), threads, MOST_PAIRS // 8, MOST_PAIRS)
    for i, j in (pair for pairs in map_in_threads(pairs_of, runs, threads) for pair in pairs):
        r = float(moments.correlation[i, j])
        if abs(r) <= 1 - 1e-9:  # a larger one is an exact relation, which has a check of its own
            findings.append(_nearly_the_same(moments.names[i], moments.names[j], f"correlation {r:.4f}"))
    return as_one(findings, NEAR)


def level_copy_findings(table: Table) -> list[Finding]:
    """Warnings about pairs of discrete columns that determine each other in nearly all rows, but not in all."""
    from anypag._kernels.determined import tell_each_other

    chosen = table.of_kind("discrete")
    is_short = table.n <= MOST_ROWS
    codes_of_each = [table.codes(i) if is_short else codes_of(table.values[:MOST_ROWS, i]) for i in chosen]
    few = [k for k, column in enumerate(codes_of_each) if 1 < column.max() + 1 <= MOST_LEVELS]
    if len(few) < 2:
        return []
    codes = np.stack([codes_of_each[k] for k in few]).astype(np.int64)
    found = tell_each_other(codes, codes.max(axis=1) + 1, LEAST_TOLD, LEAST_ROWS)
    names = [table.names[chosen[k]] for k in few]
    told = [(a, b, f"each determines the other in {100 * share:.1f} % of the rows or more") for a, b, share in found]
    return as_one([_nearly_the_same(names[a], names[b], how) for a, b, how in told], NEAR)


def _nearly_the_same(a: str, b: str, how: str) -> Finding:
    message = f"Columns {a!r} and {b!r} are nearly the same ({how}): {ADDS_NOTHING}"
    return warning("near copy", (a, b), message, "Drop one of them, or merge them.")
