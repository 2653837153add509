"""Continuous columns that depend on others by a curve."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from anypag.arrays import in_units
from anypag.data.findings import Finding, first_of_many, warning
from anypag.data.table import Table
from anypag.errors import Option, Sentence

Values = npt.NDArray[np.float64]

LEAST_ROWS = 20
ROWS_FOR_CURVES = 1000
CURVED = 0.2
"""The share of standard deviation that a square must explain beyond the straight line."""
FLAT = 0.1
"""The standard deviation below which a column's square is a straight line of it."""


def curve_findings(table: Table) -> list[Finding]:
    """Continuous columns that depend on others by a curve, which tests of correlation see only in part."""
    numbers = table.of_kind("continuous")
    if len(numbers) < 2:
        return []
    test = "Fisher's z" if len(numbers) == len(table.names) else "the test for mixed data"
    values = table.values[:: math.ceil(table.n / ROWS_FOR_CURVES), numbers]
    values = values[~np.isnan(values).any(axis=1)]
    if len(values) < LEAST_ROWS:
        return []
    scores = _unit(np.clip(_standard_scores(values), -3.0, 3.0))  # a few far values make no curve
    beyond = scores * scores
    beyond -= np.einsum("ij,ij->j", beyond, scores) / len(scores) * scores  # what a straight line has of the square
    beyond = _unit(beyond)
    straight, curved = scores.T @ scores / len(scores), beyond.T @ scores / len(scores)
    left = curved / np.sqrt(np.maximum(1 - straight**2, 1e-12))
    np.fill_diagonal(left, 0.0)
    is_curved = (np.abs(curved) > max(CURVED, 5 / math.sqrt(len(scores)))) & (np.abs(straight) < 0.98)
    pairs = sorted(np.argwhere(is_curved).tolist(), key=lambda pair: -abs(left[tuple(pair)]))
    names = [table.names[i] for i in numbers]
    return first_of_many([_curved(names[i], names[j], float(left[i, j]), test) for i, j in pairs])


def _standard_scores(values: Values) -> Values:
    """(n, p) values with mean 0 and standard deviation 1 in every column; 0 throughout a constant one."""
    centred, _ = in_units(values)
    centred -= centred.mean(axis=0)
    centred -= centred.mean(axis=0)
    deviation = np.sqrt(np.square(centred).mean(axis=0))
    scores: Values = centred / np.where(deviation > 0, deviation, 1.0)
    return scores


def _unit(values: Values) -> Values:
    """Mean 0 and standard deviation 1 in every column; 0 in one that hardly varies, as the square of two values."""
    centred = values - values.mean(axis=0)
    deviation = np.sqrt(np.einsum("ij,ij->j", centred, centred) / len(centred))
    unit: Values = centred / np.where(deviation > FLAT, deviation, np.inf)
    return unit


def _curved(x: str, y: str, r: float, test: str) -> Finding:
    message = (
        f"{y!r} depends on the square of {x!r} (correlation {r:.2f} beyond the straight line): {test} sees "
        "straight lines only, and may take the two for independent."
    )
    remedy = Sentence("Choose ", Option("test", "additive"), ", which sees curves, or transform a column.")
    return warning("curve", (x, y), message, remedy)
