"""The posterior from sampled graphs: probabilities of edges, marks and causes, and the PAG of least expected error.

Errors are counted as in `anypag.metrics`: extra edges, missing edges, and wrong marks on edges that are there. The
expected errors of a graph follow from the probability of every mark of every pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Floats
from anypag.graphs.base import Marks, certain_ancestry, transitive
from anypag.graphs.marks import Mark
from anypag.graphs.pag import PAG
from anypag.graphs.projection import class_of
from anypag.graphs.validity import completed
from anypag.knowledge.closure import class_with_knowledge
from anypag.knowledge.facts import Facts
from anypag.search.by_scores.calibrated import believed, calibrated, mark_probabilities
from anypag.search.by_scores.sampled_graphs import MOST_NODES, STATES, Diagrams, PairStates, state_shares, states_of
from anypag.stored import Array, marks_matrix, stored


@dataclass(frozen=True, eq=False)
class GraphSample:
    """Graphs that were sampled, grouped into equivalence classes.

    `pags` (c, n, n): the PAG of each class, in order of first appearance. `counts` (c,): how often each was sampled, at
    all temperatures. `cold` (c,): how often at temperature 1; the answer comes from those graphs. `diagrams` (m, p):
    the graphs themselves, as in `Diagrams.states`; None if they are not kept. `for_effects` (k, p): graphs of chains
    in which an edge costs less, or None. These graphs are not counted, but effects are drawn from them too.
    """

    pags: Marks = stored(marks_matrix(many=True))
    counts: Counts = stored(Array("int64", (None,), 1))
    cold: Counts = stored(Array("int64", (None,), 0))
    diagrams: PairStates | None = stored(Array("uint8", (None, None), 0, 16), default=None)
    for_effects: PairStates | None = stored(Array("uint8", (None, None), 0, 16), default=None)

    @classmethod
    def none(cls, n: int) -> Self:
        kept = np.zeros((0, 0), np.uint8) if n <= MOST_NODES else None
        return cls(np.zeros((0, n, n), np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64), kept)

    @property
    def is_consistent(self) -> bool:
        return len(self.pags) == len(self.counts) == len(self.cold) and bool((self.cold <= self.counts).all())

    @property
    def size(self) -> int:
        """How many graphs were sampled, at all temperatures."""
        return int(self.counts.sum())

    def adding(self, mags: Sequence[Marks], diagrams: Marks, cold: Sequence[bool]) -> Self:
        """The sample with more graphs, given as MAGs and as diagrams. `cold`: was a graph sampled at temperature 1?"""
        met = {pag.tobytes(): place for place, pag in enumerate(self.pags)}
        fresh, places = list[Marks](), list[int]()
        for mag in mags:
            pag = class_of(mag)
            places.append(met.setdefault(pag.tobytes(), len(met)))
            fresh += [pag] if len(met) > len(self.pags) + len(fresh) else []
        counts = np.bincount(places, minlength=len(met))
        counts[: len(self.pags)] += self.counts
        colds = np.bincount([place for place, is_cold in zip(places, cold, strict=True) if is_cold], minlength=len(met))
        colds[: len(self.pags)] += self.cold
        kept = None if self.diagrams is None else _appended(self.diagrams, diagrams)
        return replace(self, pags=np.stack([*self.pags, *fresh]), counts=counts, cold=colds, diagrams=kept)

    def adding_for_effects(self, diagrams: Marks) -> Self:
        """The sample with more graphs that serve effects only."""
        before = np.zeros((0, 0), np.uint8) if self.for_effects is None else self.for_effects
        return replace(self, for_effects=_appended(before, diagrams))

    def arranged(self, places: npt.NDArray[np.intp]) -> Self:
        """The sample with node `places[i]` at place i of `pags`. Classes most frequent at temperature 1 come first."""
        most_first = np.lexsort((-self.counts, -self.cold))
        pags = self.pags[most_first][:, places][:, :, places]
        return replace(self, pags=pags, counts=self.counts[most_first], cold=self.cold[most_first])


def _appended(states: PairStates, diagrams: Marks) -> PairStates:
    added = states_of(diagrams)
    return np.concatenate([states, added]) if len(states) else added


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """Probabilities of edges, marks and causes, from a sample of graphs; `result.posterior` of "auto" and "bayes".

    Args:
        names: the names of the variables.
        sample: the graphs.
        best: (n, n) the PAG of the best-scoring graph met.
        best_score: the score of `best`, prior included, in units of the log-likelihood.
        n_levels: the number of levels of each hidden cause that was found for discrete columns.
        from_counts: whether the score was computed from counts, not from correlations.
        facts: knowledge about the variables, in the order of `names`; it is not stored.

    `shares` are counted in the graphs sampled at temperature 1 (before sampling: in `best`), with the marks that
    `facts` imply. Probabilities are shares corrected by how often such shares are right (`by_scores.calibrated`).
    Until graphs are sampled, `reported`, `expected_errors` and `mark_probability` are None.
    """

    names: tuple[str, ...]
    sample: GraphSample
    best: Marks
    best_score: float
    n_levels: tuple[int, ...] = ()
    from_counts: bool = False
    facts: Facts | None = None

    def __repr__(self) -> str:
        n, classes = len(self.names), int((self.sample.cold > 0).sum())
        return f"<Posterior: {n:,} variables, {self.n_samples:,} graphs sampled, {classes:,} different ones>"

    @property
    def is_consistent(self) -> bool:
        kept, nodes = self.sample.diagrams, len(self.names) + len(self.n_levels)
        if kept is None or not len(kept):
            return self.sample.is_consistent
        parts = [kept] if self.sample.for_effects is None else [kept, self.sample.for_effects]
        have_states = all(np.isin(part, list(STATES)).all() for part in parts)
        have_pairs = all(part.shape[1] == nodes * (nodes - 1) // 2 for part in parts)
        return self.sample.is_consistent and have_states and have_pairs and len(kept) == self.sample.size

    @cached_property
    def diagrams(self) -> Diagrams | None:
        """The sampled graphs one by one, then the graphs sampled for effects only; None if graphs are not kept."""
        counted, more = self.sample.diagrams, self.sample.for_effects
        if counted is None or not self.n_samples:
            return None
        states = counted if more is None else np.concatenate([counted, more])
        return Diagrams(self.names, states, self.n_levels, len(counted))

    def arranged(self, order: npt.NDArray[np.int32]) -> Self:
        """The posterior in the order of the test: node i here becomes variable `order[i]`."""
        places = np.argsort(order)
        sample = self.sample.arranged(places)
        if self.diagrams is not None:
            states, n = self.diagrams.arranged(places).states, self.sample.size
            sample = replace(sample, diagrams=states[:n], for_effects=states[n:] if len(states) > n else None)
        return replace(self, sample=sample, best=self.best[np.ix_(places, places)])

    @property
    def n_samples(self) -> int:
        """How many graphs were sampled at temperature 1."""
        return int(self.sample.cold.sum())

    @cached_property
    def pags(self) -> Marks:
        """(c, n, n) the PAG of each class of the sample, with the marks that follow from `facts`."""
        return np.stack([self.with_facts(pag) for pag in self.sample.pags]) if self._has_facts else self.sample.pags

    def with_facts(self, pag: Marks) -> Marks:
        """A PAG of a class of MAGs, with the marks that follow from `facts` by the rules."""
        return class_with_knowledge(completed(pag)[0], self.facts, pag) if self.facts and self._has_facts else pag

    @property
    def _has_facts(self) -> bool:
        return self.facts is not None and self.facts.says_marks and bool(len(self.sample.pags))

    @cached_property
    def shares(self) -> Floats:
        """(4, n, n) the share of sampled graphs with no edge, a circle, an arrowhead and a tail at j on i–j."""
        return self._shares_in(self.pags)

    def _shares_in(self, pags: Marks) -> Floats:
        return mark_shares(pags, self.sample.cold) if self.n_samples else mark_shares(self.best[None], [1])

    @cached_property
    def state_shares(self) -> Floats:
        """(16, p) the share of sampled graphs in which each pair has each state (`sampled_graphs.states_of`)."""
        return state_shares(states_of(self.pags), self.sample.cold)

    @cached_property
    def state_probabilities(self) -> Floats:
        """(16, p) the reported probability of each state of each pair; graphs must have been sampled."""
        every = state_shares(states_of(self.pags), self.sample.counts)
        how = (self.state_shares, every, self.marks, self.facts)
        return calibrated(*how, from_counts=self.from_counts, n_samples=self.n_samples)

    @cached_property
    def reported(self) -> Floats | None:
        """(4, n, n) the reported probability of no edge, a circle, an arrowhead and a tail at j on i–j."""
        return mark_probabilities(self.state_probabilities, len(self.names)) if self.n_samples else None

    def causes(self, *, selection: bool = False) -> tuple[Floats, Floats]:
        """Two (n, n) shares of the graphs sampled at all temperatures. `yes[i, j]`: graphs in whose class i causes j in
        every member; `no[i, j]`: graphs in whose class i causes j in no member. Other graphs count in neither, because
        the data cannot tell members of a class apart. With `selection`, a node without arrowheads is no sure cause,
        because it may cause selection.
        """
        size = (len(self.names),) * 2
        known = Facts.none(len(self.names)) if self.facts is None else self.facts
        yes, no = np.zeros(size), np.zeros(size)
        for marks, count in zip(self.pags, self.sample.counts.tolist(), strict=True):
            certain = certain_ancestry(marks)
            if selection:
                certain &= (marks == Mark.ARROW).any(axis=0)[:, None]
            yes += count * transitive(certain | known.causes)
            steps = (marks != Mark.NONE) & (marks.T != Mark.ARROW) & ~known.not_causes
            no += count * (~transitive(steps | known.causes) | known.not_causes)
        for shares in (yes, no):
            np.fill_diagonal(shares, 0)
        return yes / max(self.sample.size, 1), no / max(self.sample.size, 1)

    @cached_property
    def marks(self) -> Marks:
        """The marks, without `facts`, of the PAG of least expected error among `best` and the PAGs at temperature 1."""
        candidates = np.concatenate([self.best[None], self.sample.pags[self.sample.cold > 0]])
        return np.asarray(candidates[least_expected_error(candidates, self._believed)])

    @property
    def _believed(self) -> Floats:
        """(4, n, n) the probabilities of marks by which the answer is chosen. They are shares, corrected if the score
        uses correlations and no `facts` concern marks. The correction was fitted without facts.
        """
        if self.from_counts or self._has_facts or not self.n_samples:
            return self._shares_in(self.sample.pags)
        states = states_of(self.sample.pags)
        cold, every = (state_shares(states, counts) for counts in (self.sample.cold, self.sample.counts))
        return believed(cold, every, len(self.names))

    @property
    def pag(self) -> PAG:
        """The PAG of least expected error."""
        return PAG(self.marks, self.names)

    @property
    def expected_errors(self) -> float | None:
        """The expected number of extra edges, missing edges and wrong marks in `pag` with the marks of `facts`."""
        if self.reported is None:
            return None
        answer = self.with_facts(self.marks)[None].astype(np.intp)
        return fsum(np.take_along_axis(_errors_of_marks(self.reported), answer, axis=0).ravel())

    def mark_probability(self, a: str, b: str) -> dict[str, float] | None:
        """The reported probabilities of the marks at b on a–b: `{"none": ..., "circle": ..., "arrow": ..., ...}`."""
        i, j = self.pag.indices((a, b), "variables")
        if self.reported is None:
            return None
        return {Mark(mark).name.lower(): float(self.reported[mark, i, j]) for mark in range(4)}

    def states(self, a: str, b: str) -> list[tuple[str, float]]:
        """How a and b are joined in the sampled graphs (`"o->"`, ..., `""` for no edge), the most frequent first."""
        i, j = self.pag.indices((a, b), "variables")
        states = 4 * self.pags[:, j, i] + self.pags[:, i, j]
        often = np.bincount(states, self.sample.cold)
        most_first = np.argsort(-often, kind="stable")
        return [(STATES[int(state)], float(often[state]) / self.n_samples) for state in most_first if often[state]]

    def classes(self) -> list[tuple[PAG, float]]:
        """The sampled classes with their shares, the most frequent first."""
        met = zip(self.pags, self.sample.cold.tolist(), strict=True)
        return [(PAG(pag, self.names), n / self.n_samples) for pag, n in met if n]


def mark_shares(pags: Marks, weights: npt.ArrayLike) -> Floats:
    """(4, n, n): the weighted share of graphs with no edge i–j [0], or a circle, arrowhead or tail [1, 2, 3] at j.

    Args:
        pags: (c, n, n) marks.
        weights: (c,) the weights of the graphs, whole numbers.

    >>> mark_shares(np.array([[[0, 2], [1, 0]], [[0, 0], [0, 0]]], np.uint8), [3, 1])[:, 0, 1].tolist()
    [0.25, 0.0, 0.75, 0.0]
    """
    often = np.asarray(weights, np.float64)  # whole numbers have the same sum in any order
    return np.asarray(np.stack([np.tensordot(often, pags == mark, axes=1) for mark in range(4)]) / often.sum())


def _errors_of_marks(shares: Floats) -> Floats:
    """(4, n, n) the expected errors of each mark at j on i–j; each end of an extra or missing edge is half an error."""
    edge = 1 - shares[0]
    each = np.concatenate([edge[None] / 2, (1 - edge) / 2 + edge - shares[1:]])
    each[:, range(len(edge)), range(len(edge))] = 0
    return np.asarray(each, np.float64)


def expected_errors(pags: Marks, shares: Floats) -> Floats:
    """(c,) the expected number of errors of each graph."""
    each = _errors_of_marks(shares)
    graph, i, j = np.nonzero(pags)
    more = each[pags[graph, i, j], i, j] - each[0, i, j]  # the difference that the edge makes
    return np.asarray(each[0].sum() + np.bincount(graph, more, len(pags)))


def least_expected_error(pags: Marks, shares: Floats) -> int:
    """The index of the graph with the fewest expected errors, rounded to 1e-9; the first of several such graphs."""
    return int(np.argmin(np.round(expected_errors(pags, shares), 9)))
