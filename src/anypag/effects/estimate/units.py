"""Columns in units in which their squares neither overflow nor vanish, and effects in the units of the data again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anypag.errors import DataError

Values = npt.NDArray[np.float64]
Exponents = npt.NDArray[np.int32]


def in_units(rows: Values) -> tuple[Values, Exponents]:
    """The columns divided by powers of two so that none is above 1, which costs no digit; and those powers.

    >>> scaled, exponent = in_units(np.array([[1e300, 3.0], [-1e299, 0.5]]))
    >>> bool((np.abs(scaled) < 1).all()), np.ldexp(scaled, exponent)[0].tolist()
    (True, [1e+300, 3.0])
    """
    exponent = np.frexp(np.abs(rows).max(axis=0))[1].astype(np.int32)
    return np.ldexp(rows, -exponent), exponent


def per_unit(slopes: Values, causes: Exponents, outcomes: Exponents) -> Values:
    """(causes, outcomes) slopes of columns in units, as those of the data."""
    with np.errstate(over="ignore"):
        found = np.ldexp(slopes, outcomes - causes[:, None])
    if np.isinf(found).any():
        raise DataError(
            "The effect is too large a number: measure the outcome in larger units, or the cause in smaller ones."
        )
    return np.asarray(found + 0.0)  # no -0
