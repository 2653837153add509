"""Converts effects of scaled columns back to the units of the data."""

from __future__ import annotations

import numpy as np

from anypag.arrays import Floats, Indices
from anypag.errors import DataError


def per_unit(slopes: Floats, causes: Indices, outcomes: Indices) -> Floats:
    """(causes, outcomes) slopes of scaled columns, converted to the units of the data."""
    with np.errstate(over="ignore"):
        found = np.ldexp(slopes, outcomes - causes[:, None])
    if np.isinf(found).any():
        raise DataError(
            "The effect is too large a number: measure the outcome in larger units, or the cause in smaller ones."
        )
    return np.asarray(found + 0.0)  # no -0
