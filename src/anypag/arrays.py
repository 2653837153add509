"""The array types of the package, and functions that scale numbers without rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int32]  # the indices of nodes or columns
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]


def in_units(values: Floats, axis: int = 0) -> tuple[Floats, Indices]:
    """The values divided by powers of two, and the exponents of these powers. Values along `axis` are divided by the
    same power, which makes them less than 1 in absolute value. Sums of squares then neither overflow nor underflow.
    """
    exponent = np.frexp(np.abs(values).max(axis=axis))[1].astype(np.int32)
    return scaled_down(values, np.expand_dims(exponent, axis)), exponent


def scaled_down(values: Floats, exponent: Indices, out: Floats | None = None) -> Floats:
    """The values divided by 2**exponent in two steps, as 2**-exponent may overflow. `np.ldexp` on values is slower."""
    half = -exponent // 2
    found: Floats = np.multiply(values, np.ldexp(1.0, half), out=out)
    found *= np.ldexp(1.0, -exponent - half)
    return found
