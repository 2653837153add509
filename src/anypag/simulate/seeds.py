"""Where randomness comes from: a seed that is passed, never a hidden state."""

from __future__ import annotations

import numpy as np

from anypag.errors import ParameterError

Seed = int | np.random.Generator
"""A whole number that is not negative, or a generator to draw from."""


def generator(seed: Seed, purpose: str) -> np.random.Generator:
    """The generator for one purpose.

    The purpose goes into the stream of a number, so that a graph and a sample made with the same number do
    not share their random draws (the weight of an edge would else depend on the draw that put it there).
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or seed < 0:
        raise ParameterError(f"A seed is a whole number from 0 on, or a numpy.random.Generator; got {seed!r}.")
    return np.random.default_rng([int(seed), *purpose.encode()])
