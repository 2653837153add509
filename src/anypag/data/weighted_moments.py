"""The moments of rows that are weighted by counts: of resamples, without a copy of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats, in_units
from anypag.data.audit.rows import few_rows_findings
from anypag.data.findings import Audit
from anypag.data.moments import Moments, Products, from_products, name_order

_SMALL = 1e-5
"""Of a standard deviation that is 1 in the whole table."""


@dataclass(frozen=True, eq=False)
class StandardRows:
    """Complete rows of columns with mean 0 and variance 1, from which weighted correlations are computed.

    Args:
        names: of the columns.
        order: (p,) of the columns by their names, in which they stand here.
        values: (m, p).
        is_complete: (n,) which of all rows they are.
    """

    names: tuple[str, ...]
    order: npt.NDArray[np.intp]
    values: Floats
    is_complete: Flags

    @classmethod
    def of(cls, names: Sequence[str], values: Floats) -> Self:
        """The columns of (n, p) values, NaN where there is a gap."""
        is_complete = np.logical_not(np.isnan(values).any(axis=1))
        order = name_order(names)
        return cls(tuple(names), order, np.ascontiguousarray(_standardised(values[is_complete][:, order])), is_complete)

    def moments(self, counts: Counts, on: Products | None = None) -> Moments:
        """Those of a resample: correlations as of the columns themselves, means and deviations as of these rows.

        `on` multiplies in place of the CPU.
        """
        weights = counts[self.is_complete]
        taken = np.flatnonzero(weights)
        n, weights = int(weights.sum()), weights[taken].astype(np.float64)
        Audit.of(few_rows_findings(n)).require_usable()
        rows = self.values[taken]
        mean = weights @ rows / n
        if on is not None:
            return self._moments_on(on, n, mean, (rows - mean) * np.sqrt(weights)[:, None])
        products = (rows * weights[:, None]).T @ rows  # two factors: the product of one with itself is slow in BLAS
        products += products.T.copy()  # symmetric to the bit, and twice what it should be
        products /= 2.0
        products -= n * np.outer(mean, mean)
        np.fill_diagonal(products, np.maximum(np.diag(products), 0.0))  # of a constant column rounding is left
        return from_products(self.names, n, mean, products, np.zeros(len(mean), np.int32))

    def _moments_on(self, on: Products, n: int, mean: Floats, rows: Floats) -> Moments:
        """The moments from rows that are centred, each times the root of its weight."""
        products, back = on.products(np.ascontiguousarray(rows.T)), np.argsort(self.order)
        root = np.sqrt(np.maximum(on.diagonal(products), 0.0))
        correlation = on.keep(products, np.where(root > 0, root, 1.0), back, 1)
        return Moments(self.names, n, mean[back], (root / np.sqrt(max(n - 1, 1)))[back], correlation)

    def is_constant(self, moments: Moments, counts: Counts) -> Flags:
        """(p,) the columns, in the order of their names here, that are constant in a resample with these moments."""
        is_constant = np.zeros(len(self.names), np.bool_)
        suspects = np.flatnonzero(moments.deviation < _SMALL)
        place = np.argsort(self.order) if len(suspects) else self.order
        for k in suspects.tolist():
            values = self.values[counts[self.is_complete] > 0, place[k]]
            is_constant[k] = values.min() == values.max()
        return is_constant


def _standardised(values: Floats) -> Floats:
    """Columns with mean 0 and variance 1. Scaled by powers of two first, so that squares neither overflow nor vanish,
    and counted from the first row, so that a large mean costs no digits.
    """
    scaled, _ = in_units(values)
    scaled -= scaled[0].copy()
    scaled -= scaled.mean(axis=0)
    deviation = np.sqrt(np.square(scaled).mean(axis=0))
    standard: Floats = scaled / np.where(deviation > 0, deviation, 1.0)
    return standard
