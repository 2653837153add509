"""From a test bound to data to the score that reads the same data."""

from __future__ import annotations

import numpy as np

from anypag.ci.additive import Additive
from anypag.ci.base import CITest
from anypag.ci.counting import CountTest
from anypag.ci.gaussian import FisherZ
from anypag.ci.mixed import DegenerateGaussian
from anypag.errors import DataError, Option
from anypag.scores.additive import additive_score
from anypag.scores.base import Score
from anypag.scores.discrete import DiscreteScore, rarity_of
from anypag.scores.gaussian import GaussianScore
from anypag.scores.mixed import MixedScore

GAMMA = 0.5
"""Of EBIC: beside log(n) / 2 an edge costs log(p), for there are so many of them (`docs/accuracy.md`)."""


def score_for(test: CITest) -> Score:
    """The score that goes with a test.

    Gaussian for Fisher's z, counts for tests of discrete columns, functions of columns for the additive test, else
    degenerate Gaussian.

    Raises:
        DataError: the test is not bound to data that a score can read.

    >>> score_for(FisherZ(np.random.default_rng(0).normal(size=(50, 3)))).n
    50
    """
    if isinstance(test, FisherZ | CountTest | DegenerateGaussian | Additive) and test.has_gaps:
        raise DataError(
            "A score needs a value in every cell, and some are missing. Take ", Option("missing", "drop"), "."
        )
    if isinstance(test, FisherZ):
        return GaussianScore(test.names, test.n, test.correlation, gamma=GAMMA)
    if isinstance(test, CountTest):
        codes = np.ascontiguousarray(test.codes, np.int32)
        return DiscreteScore(test.names, codes, rarity=rarity_of(codes))
    if isinstance(test, DegenerateGaussian):
        blocks = test.blocks
        return MixedScore(test.names, test.n, blocks.correlation, blocks.start.astype(np.int32), gamma=GAMMA)
    if isinstance(test, Additive):
        return additive_score(test, GAMMA)
    raise DataError(
        f"A score needs data; there are none behind {test!r}. Give a table, or take a method that goes by tests, ",
        Option("method", "icd"),
        " for one.",
    )
