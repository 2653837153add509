"""The rows of discrete columns, of which a resample only has weights: nothing is read, coded or audited again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags
from anypag.ci.counting import CountTest
from anypag.data.audit.columns import constant_findings
from anypag.data.audit.copies import coded_copies, copy_findings
from anypag.data.audit.rows import few_rows_findings
from anypag.data.findings import Audit, Singular
from anypag.data.table import Table

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The rows behind a test of discrete columns.

    Args:
        whole: the test of all rows.
        is_used: (n,) the rows that it counts: all but those that were dropped for their gaps.
        singular: what to do with copies.
    """

    whole: CountTest
    is_used: Flags
    singular: Singular

    @classmethod
    def of(cls, whole: CountTest, table: Table, singular: Singular) -> Self:
        """The rows of a table, and the test it was bound to."""
        is_dropped = np.isnan(table.values).any(axis=1) & (whole.n < table.n)
        return cls(whole, np.logical_not(is_dropped), singular)

    @property
    def n(self) -> int:
        """How many."""
        return len(self.is_used)

    def test(self, counts: Counts) -> CountTest:
        """The test of a resample."""
        weights = counts[self.is_used]
        is_taken = weights > 0
        codes = without_absent_levels(self.whole.distinct[np.ix_(self.whole.place, is_taken)])
        names, n = self.whole.names, int(weights.sum())
        constant = constant_findings(names, codes.max(axis=1) <= 0)
        copies = [] if constant else copy_findings(coded_copies(names, codes), self.singular)
        audit = Audit.of([*few_rows_findings(n), *constant, *copies])
        audit.require_usable()
        return type(self.whole).from_codes(names, codes, weights[is_taken], audit)


def without_absent_levels(codes: Codes) -> Codes:
    """The codes with levels numbered 0, 1, ... without a gap, where some of a column's are not among these rows."""
    for i, column in enumerate(codes):
        is_there = np.zeros(column.max() + 2, np.bool_)  # the last place is for -1
        is_there[column] = True
        if not is_there[:-1].all():
            number = np.append(np.cumsum(is_there[:-1]) - 1, -1).astype(np.int32)
            codes[i] = number[column]
    return codes
