"""What sampled graphs say: probabilities of edges, marks and ancestors, and the PAG of least expected error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.pag import PAG
from anypag.scores.base import Floats
from anypag.search.least_error import expected_errors, least_expected_error, mark_shares


@dataclass(frozen=True, eq=False)
class Posterior:
    """A sample of graphs, grouped into equivalence classes.

    Args:
        names: of the variables.
        pags: (c, n, n) the PAG of each class met, the most frequent first.
        counts: (c,) how often each was met.
        ancestors: (n, n) in how many sampled MAGs i is an ancestor of j.
        best: (n, n) the PAG of the best-scoring MAG.
        best_score: its score.
    """

    names: tuple[str, ...]
    pags: Marks
    counts: npt.NDArray[np.int64]
    ancestors: npt.NDArray[np.int64]
    best: Marks
    best_score: float

    @property
    def n_samples(self) -> int:
        """How many graphs were sampled."""
        return int(self.counts.sum())

    @cached_property
    def shares(self) -> Floats:
        """(4, n, n) how probable no edge, a circle, an arrowhead and a tail are at j on i–j."""
        if not len(self.counts):
            return mark_shares(self.best[None], [1])
        return mark_shares(self.pags, self.counts)

    @property
    def edge_probability(self) -> Floats:
        """(n, n) P(i and j are adjacent)."""
        adjacent: Floats = self.shares[1:].sum(axis=0)
        return adjacent

    @property
    def ancestor_probability(self) -> Floats:
        """(n, n) P(i is an ancestor, a cause, of j), over sampled MAGs."""
        return np.asarray(self.ancestors / max(self.n_samples, 1), np.float64)

    @cached_property
    def marks(self) -> Marks:
        """The PAG of least expected error, among those met and the best-scoring one."""
        candidates = np.concatenate([self.best[None], self.pags])
        return candidates[least_expected_error(candidates, self.shares)]

    @property
    def pag(self) -> PAG:
        """The PAG of least expected error."""
        return PAG(self.marks, self.names)

    @property
    def best_pag(self) -> PAG:
        """The PAG of the best-scoring MAG."""
        return PAG(self.best, self.names)

    @property
    def expected_errors(self) -> float:
        """Of the PAG of least expected error: extra edges, missing edges and wrong marks."""
        return float(expected_errors(self.marks[None], self.shares)[0])

    def mark_probability(self, a: str, b: str) -> dict[str, float]:
        """What may stand at b on a–b: `{"none": ..., "circle": ..., "arrow": ..., "tail": ...}`."""
        i, j = self.names.index(a), self.names.index(b)
        return {Mark(mark).name.lower(): float(self.shares[mark, i, j]) for mark in range(4)}

    def classes(self) -> list[tuple[PAG, float]]:
        """The classes met with their shares, the most frequent first."""
        return [
            (PAG(pag, self.names), int(count) / self.n_samples)
            for pag, count in zip(self.pags, self.counts, strict=True)
        ]
