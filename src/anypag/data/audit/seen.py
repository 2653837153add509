"""The input of the audit's checks: a source, the needs of a test, and what several checks read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from anypag.arrays import Flags
from anypag.data.audit.copies import copies_by_levels, copies_in
from anypag.data.audit.rows import LEAST_ROWS, largest_set
from anypag.data.findings import Finding
from anypag.data.moments import Moments, Products
from anypag.data.sources.protocol import Lacked, Needs, Source
from anypag.data.table import Table


@dataclass(frozen=True, eq=False)
class Seen:
    """The usable columns of a source, as checks see them.

    `source` has all original rows, `used` only the rows that the test will read. `n_columns` counts
    unusable columns too. `on` is a graphics card that multiplies matrices; None for the CPU.
    """

    source: Source
    used: Source
    needs: Needs
    n_columns: int
    threads: int = 1
    on: Products | None = None

    @property
    def largest(self) -> int:
        """The size of the largest condition set that may be asked for."""
        return largest_set(self.n_columns, self.needs.max_r)

    @cached_property
    def table(self) -> Table:
        """The original rows: all of them, or the first ones of a long table."""
        return _rows_of(self.source)

    @cached_property
    def used_table(self) -> Table:
        """The rows that the test will read: all of them, or the first ones of a long table."""
        return _rows_of(self.used)

    @property
    def is_constant(self) -> Flags:
        """(p,) which columns never change in the rows that the test reads."""
        summary = self.used.summary()
        return np.equal(summary.low, summary.high)

    @cached_property
    def moments(self) -> Moments | None:
        """The moments of the continuous columns over rows without gaps; None if there are no such columns or rows."""
        used = self.used
        names = [name for name, kind in zip(used.names, used.kinds, strict=True) if kind == "continuous"]
        has_gaps = used.summary().n_complete < used.n
        n_complete = used.take(names).summary().n_complete if names and has_gaps else used.n
        if not names or n_complete < LEAST_ROWS:
            return None
        return used.moments(names, threads=self.threads, on=self.on)

    @cached_property
    def copied(self) -> dict[str, str]:
        """Columns that repeat an earlier one in the rows that the test reads, each mapped to it."""
        whole = self.used_table
        return copies_in(whole) if whole.n >= self.used.n else copies_by_levels(self.used)


def _rows_of(source: Source) -> Table:
    """The rows that a source shows to checks, with the kinds that the source gives its columns."""
    table = source.sample()
    return table if table.kinds == source.kinds else table.with_kinds(dict(zip(table.names, source.kinds, strict=True)))


class Check(NamedTuple):
    """One check of an audit. `about`: what it looks for, in a few words. `wants`: what the source must provide.
    A check is skipped if there are more than `most_columns` columns or the test does not need it (`is_needed`).
    """

    about: str
    find: Callable[[Seen], list[Finding]]
    wants: tuple[Lacked, ...] = ()
    most_columns: int = 1_000_000
    is_needed: Callable[[Needs], bool] = lambda needs: True

    def hindrance(self, seen: Seen) -> str | None:
        """Why the check cannot be made for a source; None if it can."""
        if seen.n_columns > self.most_columns:
            return f"it is made only for up to {self.most_columns} columns"
        return next((seen.source.lacks[part] for part in self.wants if part in seen.source.lacks), None)
