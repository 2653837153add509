"""Resampling: which rows each resample has, from one seed (`Plan`); graphs, frequencies, failures (`Stability`)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Literal, NamedTuple, get_args

import numpy as np

from anypag.arrays import Counts
from anypag.choices import require
from anypag.graphs.marks import Edge
from anypag.graphs.pag import PAG
from anypag.markup import block, heading, preformatted
from anypag.stability.frequencies import Frequencies, resample_lines

Resample = Literal["bootstrap", "half"]
""""bootstrap": as many rows as the table has, with replacement; "half": half of the rows, in complementary pairs."""

DEFAULT: Resample = "bootstrap"
FEWEST = 2


@dataclass(frozen=True)
class Plan:
    """The resamples of a table.

    Args:
        n: how many.
        resample: "bootstrap" or "half".
        seed: a whole number from 0 on.
        clusters: (n,) the cluster of each row, as codes: whole clusters are drawn. None if rows are.
        strata: (n,) the data set of each row: each keeps its number of rows. None for a single data set.

    >>> Plan(4, "half", seed=1).counts(0, 6) + Plan(4, "half", seed=1).counts(1, 6)
    array([1, 1, 1, 1, 1, 1])
    """

    n: int
    resample: Resample = DEFAULT
    seed: int = 0
    clusters: Counts | None = field(default=None, repr=False, compare=False)
    strata: Counts | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        require(_is_whole(self.n, FEWEST), "n", f"a whole number, {FEWEST} or more", self.n)
        wanted = " or ".join(map(repr, get_args(Resample)))
        require(self.resample in get_args(Resample), "resample", wanted, self.resample)
        require(_is_whole(self.seed, 0), "seed", "a whole number from 0 on", self.seed)

    def counts(self, k: int, n_rows: int) -> Counts:
        """(n_rows,) how often resample k has each row."""
        if self.clusters is not None:
            strata = None
            if self.strata is not None:
                strata = np.zeros(int(self.clusters.max()) + 1, np.int64)
                strata[self.clusters] = self.strata
            return replace(self, clusters=None, strata=strata).counts(k, int(self.clusters.max()) + 1)[self.clusters]
        random = self._random(k if self.resample == "bootstrap" else k // 2)
        if self.strata is None:
            return self._drawn(random, k, n_rows)
        counts = np.zeros(n_rows, np.int64)
        for stratum in np.unique(self.strata):
            rows = np.flatnonzero(self.strata == stratum)
            counts[rows] = self._drawn(random, k, len(rows))
        return counts

    def _drawn(self, random: np.random.Generator, k: int, n_rows: int) -> Counts:
        """(n_rows,) how often each of some rows is drawn; two resamples of a pair have complementary halves."""
        if self.resample == "bootstrap":
            return np.bincount(random.integers(0, n_rows, n_rows), minlength=n_rows).astype(np.int64)
        order, size = random.permutation(n_rows), n_rows // 2
        half = order[:size] if k % 2 == 0 else order[n_rows - size :]
        return np.bincount(half, minlength=n_rows).astype(np.int64)

    @property
    def about_rows(self) -> dict[str, str]:
        """The facts by which a checkpoint knows its clusters and data sets again; nothing without them."""
        found = {"cluster": self.clusters, "sets": self.strata}
        return {name: sha256(codes.tobytes()).hexdigest() for name, codes in found.items() if codes is not None}

    def distinct_rows(self, n_rows: int) -> int:
        """About how many distinct rows of a table each resample has."""
        return n_rows // 2 if self.resample == "half" else int(n_rows * (1 - np.exp(-1)))

    def _random(self, key: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(key,)))


def _is_whole(value: object, least: int) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool) and int(value) >= least


class Failure(NamedTuple):
    """A resample that gave no graph: its number, and why."""

    k: int
    why: str


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Frequencies):
    """The frequencies over resamples. Shares are over the `n` resamples that gave a graph."""

    asked: int
    """How many resamples were asked for."""
    resample: Resample
    seed: int
    failures: tuple[Failure, ...] = ()
    stopped: str | None = None
    """What ended the run early: "time", "tests" or "interrupt"; None if all resamples are done."""
    whole: PAG | None = field(default=None, repr=False)
    """The graph of the whole data."""

    def share(self, edge: Edge) -> float:
        """The share of resamples with exactly this edge; NaN if no resample gave a graph."""
        kinds = self.kinds_of(self.names.index(edge.a), self.names.index(edge.b))
        return kinds.get(edge.symbol, 0) / self.n if self.n else math.nan

    @property
    def what(self) -> str:
        """ "resamples" or "half-samples"."""
        return "half-samples" if self.resample == "half" else "resamples"

    def __repr__(self) -> str:
        """What was resampled, in a line."""
        return f"<Stability: {self.summary()}>"

    def __str__(self) -> str:
        """The edges of the whole data, and how often resamples repeat them."""
        return "\n".join(resample_lines(self, self.whole))

    def _repr_html_(self) -> str:
        """How notebooks show the same."""
        first, *rest = str(self).split("\n")
        return block(heading(first), preformatted("\n".join(rest)))

    def summary(self) -> str:
        """How many resamples, of what kind, and what went wrong: one line."""
        what = "half-samples" if self.resample == "half" else "resamples with replacement"
        failed = f", {len(self.failures)} failed" if self.failures else ""
        stopped = f", stopped ({self.stopped})" if self.stopped else ""
        return f"{self.n} of {self.asked} {what}, seed {self.seed}{failed}{stopped}"
