"""The correlation matrix of a table, and the means and standard deviations of its columns.

Rows are processed in chunks with fixed bounds, so that a file that is read in parts gives exactly the numbers that
its rows in memory give. In each chunk the columns are scaled by a power of two, which is exact. So the squares of 1e300
or 1e-300 neither overflow nor vanish. If a later chunk has larger values, the sums so far are scaled down. The table's
first row is subtracted, so that no digits are lost if values are large and vary little. Then columns are centred twice:
the second time removes the rounding error of the first mean. Chunks are merged by the formula for the variance of two
groups. In a bootstrap resample each row is weighted by how often it was drawn; no row is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats, in_units, scaled_down
from anypag.threads import map_in_threads, single_blas, slices, threads_for

PANEL = 256  # columns multiplied at once
AT_ONCE = 32  # columns centred at once: their copies stay in the processor's cache
LEAST_CENTRED, LEAST_PRODUCTS = 250_000, 100_000_000  # the least work of a thread: numbers centred, multiplications
CHUNK = 4_000_000  # numbers in a chunk: 32 MB
_SMALL = 1e-5  # a resampled column with less than this share of its deviation is checked for being constant


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of columns. For a constant one, deviation, kurtosis and correlations with other columns are 0."""

    names: tuple[str, ...]
    n: int
    mean: Floats
    deviation: Floats  # standard deviations, with the divisor n - 1
    correlation: Floats  # symmetric to the bit, with ones on the diagonal
    kurtosis: Floats  # mean fourth powers over squared variances: 3 if normal, 0 if only a covariance matrix is given

    def at(self, places: Sequence[int] | npt.NDArray[np.int64], names: Sequence[str]) -> Moments:
        of = np.asarray(places, np.intp)
        square = np.ascontiguousarray(self.correlation[np.ix_(of, of)])
        return Moments(tuple(names), self.n, self.mean[of], self.deviation[of], square, self.kurtosis[of])

    @property
    def covariance(self) -> Floats:
        """(p, p) covariances, with the divisor n - 1."""
        return np.asarray(self.correlation * self.deviation[:, None] * self.deviation)


class Products(Protocol):
    """A device in place of the CPU (a graphics card) that multiplies matrices and keeps the products."""

    def products(self, centred: Floats) -> Any:
        """(p, p) products of the rows of (p, m) values; symmetric to the bit."""

    def added(self, total: Any, more: Any, shift: npt.NDArray[np.int32], difference: Floats) -> Any:
        """`total`, scaled by 2**(shift[i] + shift[j]) at (i, j), plus `more`, plus outer(difference, difference)."""

    def diagonal(self, products: Any) -> Floats:
        """(p,) the diagonal of a matrix of products on the device."""

    def keep(self, products: Any, scale: Floats, place: npt.NDArray[np.intp], threads: int) -> Floats:
        """The correlations in CPU memory; row and column i are place[i] of `products`. The device keeps a copy."""


def moments_of(
    values: Floats, names: Sequence[str], weights: Floats | None = None, *, threads: int = 1, on: Products | None = None
) -> Moments:
    """The moments of (n, p) values without gaps. With weights, their rounded sum counts as the number of rows. Columns
    are sorted by name and multiplied in fixed blocks, so results do not depend on the order of columns or on threads.
    """
    if weights is not None:
        with single_blas:
            return _weighted_moments(values, names, weights)
    sums = Sums(names, on)
    for start in range(0, len(values), sums.rows_at_once):
        sums.add(values[start : start + sums.rows_at_once], threads=threads)
    return sums.moments(threads=threads)


def _weighted_moments(values: Floats, names: Sequence[str], weights: Floats) -> Moments:
    order, share = name_order(names), weights / weights.sum()
    centred, exponent = in_units(values[:, order])
    mean = np.zeros(len(order))
    for _ in range(2):  # the second time removes the rounding error of the first mean
        step = share @ centred
        centred -= step
        mean += step
    n, squares = max(round(weights.sum()), 1), np.square(centred)
    weighted = centred * np.sqrt(share * n)[:, None]
    kurtosis = kurtosis_of(1, share @ squares, share @ np.square(squares))
    return from_products(names, n, mean, weighted.T @ weighted, exponent, kurtosis)


def rows_in_chunk(p: int) -> int:
    """How many rows of p columns are added to the sums at a time."""
    return max(CHUNK // max(p, 1), 1)


class Sums:
    """Sums of columns and of products over chunks of rows, from which moments follow; `on`: a graphics card or None."""

    def __init__(self, names: Sequence[str], on: Products | None = None) -> None:
        p = len(names)
        self.n = 0
        self.rows_at_once = rows_in_chunk(p)  # how many rows to add at a time; only the last chunk may be smaller
        self._names, self._order = tuple(names), name_order(names)
        self._exponent = np.full(p, -2000, np.int32)
        self._origin, self._mean = np.zeros(p), np.zeros(p)
        self._powers = np.zeros((3, p))  # sums of the second, third and fourth powers about the mean
        self._on = on
        self._products: Any = np.zeros((p, p)) if on is None else None

    def add(self, rows: Floats, *, threads: int = 1) -> None:
        """Adds a chunk of (m, p) rows without gaps."""
        p, m = len(self._order), len(rows)
        panels = slices(p, PANEL)
        centred, mean, shift, powers = np.empty((p, m)), np.empty(p), np.empty(p, np.int32), np.empty((3, p))
        if self.n == 0:
            self._origin = rows[0, self._order]

        def centre(panel: slice) -> None:
            part = centred[panel]
            part[:] = rows.T[self._order[panel]]
            exponent = np.frexp(np.maximum(part.max(axis=1), -part.min(axis=1)))[1]
            shift[panel] = np.minimum(self._exponent[panel] - exponent, 0)
            self._exponent[panel] -= shift[panel]
            mean[panel] = _centre(part, self._origin[panel], self._exponent[panel])
            powers[:, panel] = _powers(part)

        map_in_threads(centre, slices(p, AT_ONCE), threads_for(p * m, threads, LEAST_CENTRED))
        difference = mean - np.ldexp(self._mean, shift)
        weight = self.n * m / (self.n + m)

        def multiply(pair: tuple[slice, slice]) -> None:
            low, high = pair
            block = centred[high] @ centred[low].T
            if self.n:
                block += np.ldexp(self._products[high, low], shift[high, None] + shift[low])
                block += np.outer(difference[high], difference[low]) * weight
            self._products[high, low], self._products[low, high] = block, block.T

        pairs = [*combinations(panels, 2), *zip(panels, panels, strict=True)]  # blocks on the diagonal last
        if self._on is None:
            with single_blas:
                map_in_threads(multiply, pairs, threads_for(p * p * m, threads, LEAST_PRODUCTS))
        else:
            more = self._on.products(centred)
            offset = difference * np.sqrt(weight)
            self._products = self._on.added(self._products, more, shift, offset) if self.n else more
        scaled = np.ldexp(self._powers, np.outer([2, 3, 4], shift))
        self._powers = _joined(scaled, powers, difference, self.n, m) if self.n else powers
        self._mean = np.ldexp(self._mean, shift) + difference * (m / (self.n + m))
        self.n += m

    def moments(self, *, threads: int = 1) -> Moments:
        """The moments of all rows added. The sums are overwritten."""
        mean = self._mean + np.ldexp(self._origin, -self._exponent)
        kurtosis = kurtosis_of(self.n, self._powers[0], self._powers[2])
        sums = self._names, self.n, mean, self._products, self._exponent, kurtosis
        return from_products(*sums, threads=threads, on=self._on)


def kurtosis_of(n: int, squares: Floats, fourths: Floats) -> Floats:
    """(p,) the kurtosis from sums of second and fourth powers about the mean; 0 for a constant column."""
    return np.divide(n * fourths, squares * squares, out=np.zeros_like(squares), where=squares * squares > 0)


def _powers(centred: Floats) -> Floats:
    """(3, p) sums of the second, third and fourth powers of (p, m) values."""
    squares = centred * centred
    return np.stack([squares.sum(axis=1), *(np.einsum("ij,ij->i", squares, one) for one in (centred, squares))])


def _joined(one: Floats, other: Floats, difference: Floats, n: int, m: int) -> Floats:
    """(3, p) the sums of powers of n and m rows together, whose means differ by `difference`."""
    total, square = n + m, difference * difference
    second = one[0] + other[0] + square * (n * m / total)
    third = one[1] + other[1] + difference * square * (n * m * (n - m) / total**2)
    third += 3.0 * difference * (n * other[0] - m * one[0]) / total
    fourth = one[2] + other[2] + square * square * (n * m * (n * n - n * m + m * m) / total**3)
    fourth += 6.0 * square * (n * n * other[0] + m * m * one[0]) / total**2
    fourth += 4.0 * difference * (n * other[1] - m * one[1]) / total
    return np.stack([second, third, fourth])


def without_gaps(values: Floats) -> Floats:
    """The values, with missing ones replaced by the least value of the column."""
    return np.where(np.isnan(values), np.fmin.reduce(values), values)


def _centre(columns: Floats, origin: Floats, exponent: npt.NDArray[np.int32]) -> Floats:
    """Scales p columns, the rows of this (p, m) array, and the origin by 2**-exponent; subtracts the origin from the
    columns; then centres them. Works in place, and returns the means that the centring subtracted.
    """
    scaled_down(columns, exponent[:, None], out=columns)
    columns -= np.ldexp(origin, -exponent)[:, None]
    first = columns.mean(axis=1)
    columns -= first[:, None]
    second = columns.mean(axis=1)
    columns -= second[:, None]
    return np.asarray(first + second)


def from_products(
    names: Sequence[str],
    n: int,
    mean: Floats,
    products: Any,
    exponent: npt.NDArray[np.int32],
    kurtosis: Floats,
    *,
    threads: int = 1,
    on: Products | None = None,
) -> Moments:
    """Moments from sums of centred products, which are overwritten. All arrays are in the order of the sorted names;
    `mean` and `products` are those of columns scaled by 2**-exponent. `on`: the graphics card that holds `products`.
    """
    back = np.argsort(name_order(names))
    root = np.sqrt(np.maximum(np.diag(products) if on is None else on.diagonal(products), 0.0))
    scale = np.where(root > 0, root, 1.0)
    correlation = (_correlation if on is None else on.keep)(products, scale, back, threads)
    deviation = np.ldexp(root / np.sqrt(max(n - 1, 1)), exponent)
    return Moments(tuple(names), n, np.ldexp(mean, exponent)[back], deviation[back], correlation, kurtosis[back])


def _correlation(products: Floats, scale: Floats, back: npt.NDArray[np.intp], threads: int) -> Floats:
    """The products, divided by the scales of rows and columns and reordered, in place."""
    from anypag._kernels.pairs import correlations, reorder_rows

    panels, threads = slices(len(back), PANEL), threads_for(len(back) ** 2, threads)
    map_in_threads(lambda panel: correlations(products, scale, back, panel.start, panel.stop), panels, threads)
    map_in_threads(lambda panel: reorder_rows(products, back, panel.start, panel.stop), panels, threads)
    return products


def fisher_freedom(n: Any, k: Any) -> Any:
    """The degrees of freedom of Fisher's z for n rows and k members of the condition set; numbers or arrays."""
    return n - k - 3


def name_order(names: Sequence[str]) -> npt.NDArray[np.intp]:
    """The indices that sort the names alphabetically: an order that is the same for any order of the columns."""
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class StandardRows:
    """Complete rows of columns with mean 0 and variance 1, from which weighted correlations are computed."""

    names: tuple[str, ...]
    order: npt.NDArray[np.intp]  # columns are stored in the order of their names
    values: Floats
    is_complete: Flags  # which rows of the table these are

    @classmethod
    def of(cls, names: Sequence[str], values: Floats) -> Self:
        """The complete rows of (n, p) values, standardised; a gap is NaN."""
        is_complete, order = np.logical_not(np.isnan(values).any(axis=1)), name_order(names)
        scaled, _ = in_units(values[is_complete][:, order])  # squares neither overflow nor vanish
        scaled -= scaled[0].copy()  # so that a large mean costs no digits
        scaled -= scaled.mean(axis=0)
        deviation = np.sqrt(np.square(scaled).mean(axis=0))
        standard = np.ascontiguousarray(scaled / np.where(deviation > 0, deviation, 1.0))
        return cls(tuple(names), order, standard, is_complete)

    def moments(self, counts: Counts, on: Products | None = None) -> Moments:
        """The moments of a resample with these row `counts`, in standard units; `on`: a graphics card or None."""
        weights = counts[self.is_complete]
        taken = np.flatnonzero(weights)
        n, times = int(weights.sum()), weights[taken].astype(np.float64)
        rows = self.values[taken]
        mean = times @ rows / n
        squares = np.square(rows - mean)
        kurtosis = kurtosis_of(n, times @ squares, times @ np.square(squares))
        unscaled = np.zeros(len(mean), np.int32)
        if on is not None:
            products = on.products(np.ascontiguousarray(((rows - mean) * np.sqrt(times)[:, None]).T))
            return from_products(self.names, n, mean, products, unscaled, kurtosis, on=on)
        with single_blas:
            products = (rows * times[:, None]).T @ rows  # BLAS is slow if both factors are one array
        products += products.T.copy()  # symmetric to the bit, and twice the product
        products /= 2.0
        products -= n * np.outer(mean, mean)
        np.fill_diagonal(products, np.maximum(np.diag(products), 0.0))  # rounding may leave a constant column below 0
        return from_products(self.names, n, mean, products, unscaled, kurtosis)

    def is_constant(self, moments: Moments, counts: Counts) -> Flags:
        """(p,) which columns, in the order of `names`, are constant in a resample with these moments."""
        is_constant = np.zeros(len(self.names), np.bool_)
        suspects = np.flatnonzero(moments.deviation < _SMALL)
        place = np.argsort(self.order) if len(suspects) else self.order
        for k in suspects.tolist():
            values = self.values[counts[self.is_complete] > 0, place[k]]
            is_constant[k] = values.min() == values.max()
        return is_constant
