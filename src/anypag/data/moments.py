"""The correlation matrix of a table, with the means and standard deviations that lead back to its covariance.

Columns are first scaled by a power of two, which rounds nothing, so that values of 1e300 or 1e-300 neither
overflow nor vanish when squared; then centred twice, the second time to take off what the rounding of the
mean left behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from anypag.threads import map_in_threads, slices

Array = npt.NDArray[np.float64]

PANEL = 256
"""Columns worked on at once."""


@dataclass(frozen=True, eq=False)
class Moments:
    """What is left of a table once the Gaussian test has read it.

    Args:
        names: of the columns.
        n: the number of rows.
        mean: (p,).
        deviation: (p,) standard deviations, with n - 1; 0 for a constant column.
        correlation: (p, p), symmetric to the bit, ones on the diagonal; 0 beside a constant column.
    """

    names: tuple[str, ...]
    n: int
    mean: Array
    deviation: Array
    correlation: Array

    @property
    def covariance(self) -> Array:
        """(p, p), with n - 1."""
        product: Array = self.correlation * self.deviation[:, None] * self.deviation
        return product


def moments_of(values: Array, names: Sequence[str], *, threads: int = 1) -> Moments:
    """The moments of (n, p) values without gaps.

    The work is done with the columns in the order of their names, so that the same columns in another order
    give the same bits, and in panels of columns, so that any number of threads does.
    """
    order = name_order(names)
    panels = slices(len(order), PANEL)
    centred, mean, exponent = np.empty((len(order), len(values))), np.empty(len(order)), np.empty(len(order), np.int32)
    products = np.empty((len(order), len(order)))

    def centre(panel: slice) -> None:
        scaled, mean[panel], exponent[panel] = _centred(values[:, order[panel]])
        centred[panel] = scaled.T

    def multiply(pair: tuple[slice, slice]) -> None:
        low, high = pair
        block = centred[high] @ centred[low].T
        products[high, low], products[low, high] = block, block.T

    map_in_threads(centre, panels, threads)
    pairs = [*combinations(panels, 2), *zip(panels, panels, strict=True)]  # the short ones last
    map_in_threads(multiply, pairs, threads)
    return from_products(names, len(values), mean, products, exponent, threads=threads)


def without_gaps(values: Array) -> Array:
    """The values, with the least of its column in place of every missing one."""
    return np.where(np.isnan(values), np.fmin.reduce(values), values)


def _centred(values: Array) -> tuple[Array, Array, npt.NDArray[np.int32]]:
    """Columns scaled by 2**-exponent and centred, their means on that scale, and the exponents."""
    exponent = np.frexp(np.maximum(values.max(axis=0), -values.min(axis=0)))[1]
    scaled = np.ldexp(values, -exponent)
    first = scaled.mean(axis=0)
    scaled -= first
    second = scaled.mean(axis=0)
    scaled -= second
    return scaled, first + second, exponent


def from_products(
    names: Sequence[str],
    n: int,
    mean: Array,
    products: Array,
    exponent: npt.NDArray[np.int32],
    *,
    threads: int = 1,
) -> Moments:
    """Moments from sums of centred products; columns in the order of their names, scaled by 2**-exponent."""
    from anypag._kernels.moments import correlations

    back = np.argsort(name_order(names))
    root = np.sqrt(np.diag(products))
    scale = np.where(root > 0, root, 1.0)
    correlation = np.empty_like(products)

    def fill(rows: slice) -> None:
        correlations(products, scale, back, rows.start, rows.stop, correlation)

    map_in_threads(fill, slices(len(back), PANEL), threads)
    deviation = np.ldexp(root / np.sqrt(max(n - 1, 1)), exponent)
    return Moments(tuple(names), n, np.ldexp(mean, exponent)[back], deviation[back], correlation)


def name_order(names: Sequence[str]) -> npt.NDArray[np.intp]:
    """The indices of the names in alphabetical order: one that belongs to the data, not to the file."""
    return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)
