"""Which rows each resample has: all of them follow from one seed, and none depends on how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from anypag.arrays import Counts
from anypag.choices import require

Resample = Literal["bootstrap", "half"]
"""With replacement, as many rows as there are; or half of the rows without, in complementary pairs."""

DEFAULT: Resample = "bootstrap"
FEWEST = 2


@dataclass(frozen=True)
class Plan:
    """The resamples of a table.

    Args:
        n: how many.
        resample: "bootstrap" or "half".
        seed: a whole number from 0 on.

    >>> Plan(4, "half", seed=1).counts(0, 6) + Plan(4, "half", seed=1).counts(1, 6)
    array([1, 1, 1, 1, 1, 1])
    """

    n: int
    resample: Resample = DEFAULT
    seed: int = 0

    def __post_init__(self) -> None:
        require(_is_whole(self.n, FEWEST), "n", f"a whole number, {FEWEST} or more", self.n)
        wanted = " or ".join(map(repr, get_args(Resample)))
        require(self.resample in get_args(Resample), "resample", wanted, self.resample)
        require(_is_whole(self.seed, 0), "seed", "a whole number from 0 on", self.seed)

    def counts(self, k: int, n_rows: int) -> Counts:
        """(n_rows,) how often resample k has each row."""
        if self.resample == "bootstrap":
            drawn = self._random(k).integers(0, n_rows, n_rows)
            return np.bincount(drawn, minlength=n_rows).astype(np.int64)
        order = self._random(k // 2).permutation(n_rows)  # of a pair, one has the first half and the other the second
        size = n_rows // 2
        half = order[:size] if k % 2 == 0 else order[n_rows - size :]
        return np.bincount(half, minlength=n_rows).astype(np.int64)

    def distinct_rows(self, n_rows: int) -> int:
        """About how many different rows of a table each resample has."""
        return n_rows // 2 if self.resample == "half" else int(n_rows * (1 - np.exp(-1)))

    def _random(self, key: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(key,)))


def _is_whole(value: object, least: int) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool) and int(value) >= least
