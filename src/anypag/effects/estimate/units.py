"""Converts effects of scaled columns back to the units of the data."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anypag.arrays import Indices
from anypag.errors import DataError

Values = npt.NDArray[np.float64]


def per_unit(slopes: Values, causes: Indices, outcomes: Indices) -> Values:
    """(causes, outcomes) slopes of scaled columns, converted to the units of the data."""
    with np.errstate(over="ignore"):
        found = np.ldexp(slopes, outcomes - causes[:, None])
    if np.isinf(found).any():
        raise DataError(
            "The effect is too large a number: measure the outcome in larger units, or the cause in smaller ones."
        )
    return np.asarray(found + 0.0)  # no -0
