"""The array types of the package, and scaling without rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int32]  # nodes or columns by their number
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]


def in_units(values: Floats, axis: int = 0) -> tuple[Floats, Indices]:
    """The values divided by powers of two so that all are below 1 in absolute value, and the exponents. Values along
    the axis share a power. Sums of squares of the scaled values neither overflow nor vanish. Scaling rounds nothing.
    """
    exponent = np.frexp(np.abs(values).max(axis=axis))[1].astype(np.int32)
    return scaled_down(values, np.expand_dims(exponent, axis)), exponent


def scaled_down(values: Floats, exponent: Indices, out: Floats | None = None) -> Floats:
    """The values divided by 2**exponent, in two steps because one factor can overflow; much faster than `np.ldexp`."""
    half = -exponent // 2
    found: Floats = np.multiply(values, np.ldexp(1.0, half), out=out)
    found *= np.ldexp(1.0, -exponent - half)
    return found
