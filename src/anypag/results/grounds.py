"""The grounds of a graph: why each edge is there or not, the rule of each mark, probabilities, the audit of the data.

A fresh result computes them from the last state on demand (`Searched`); a result from a file has them as plain data
(`StoredGrounds`). Both have the same interface.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anypag.data.findings import Audit
from anypag.graphs.marks import Mark, MarkReason, Separation
from anypag.graphs.orientation import LogRows
from anypag.graphs.pag import PAG
from anypag.results.pairs import Separations, pair_p, require_names, strengths_of
from anypag.results.probabilities import Misfit, Probabilities, misfit_of, probabilities_of
from anypag.search.algorithm import algorithm
from anypag.search.problem import Problem
from anypag.search.state import State, StepInfo
from anypag.threads import single_blas

if TYPE_CHECKING:
    from anypag.knowledge.statements import Outcome
    from anypag.search.by_scores.posterior import Posterior

Pair = tuple[str, str]

MOST_LISTED = 1_000_000  # a file lists at most this many pairs that the empty set separates; if there are more, none


class Unlisted(NamedTuple):
    """All pairs without an edge are separated by the empty set, except the listed ones and the `unseparated` ones."""

    rows: int | None  # how many rows the data have
    unseparated: tuple[Pair, ...]  # pairs without an edge and without a separating set


@dataclass(frozen=True, eq=False)
class StoredGrounds:
    """The grounds of a graph, read from a file."""

    pag: PAG
    test: str | None  # the kind of test: "FisherZ", say
    exact: bool  # was the test perfect, an oracle?
    n_rows: int | None  # the number of rows of the data; None if the test has no rows
    audit: Audit | None  # the audit of the data
    separations: Mapping[Pair, Separation] = field(repr=False)  # the separations that the file lists
    unlisted: Unlisted | None  # the separations that the file leaves out; None if it lists all
    kept: Mapping[Pair, float] = field(repr=False)  # for each edge the largest p-value among the tests that kept it
    marks: tuple[MarkReason, ...] = field(repr=False)  # every mark that a rule set, in order
    conflicts: tuple[MarkReason, ...] = field(repr=False)  # marks that a rule gives, but that were not set
    knowledge: tuple[Outcome, ...] = field(repr=False)  # the outcome of each statement of knowledge
    strengths: Mapping[Pair, str] = field(repr=False)  # how strong edges are, in a few words
    probabilities: Probabilities | None = field(repr=False)  # how probable edges are, for methods that sample graphs
    posterior: Posterior | None = field(repr=False)  # the sampled graphs
    misfit: Misfit | None = None  # does the table fit the assumptions of the probabilities? See `Result.misfit`

    @cached_property
    def sepsets(self) -> Mapping[Pair, Separation]:
        """All separations, in either order of the names."""
        return ReadSeparations(self)

    def independent_pairs(self, among: Collection[str]) -> list[Pair]:
        return [(a, b) for (a, b), why in self.sepsets.items() if not why.given and a in among and b in among]

    def kept_p(self, a: str, b: str) -> float:
        """For an edge: the largest p-value among the tests that kept it; NaN if it is not known."""
        require_names((a, b), self.pag.names)
        return self.kept.get((a, b), self.kept.get((b, a), np.nan))


class ReadSeparations(Mapping[Pair, Separation]):
    """The separations that a file lists, and those that it leaves out."""

    def __init__(self, kept: StoredGrounds) -> None:
        self._listed, self._pag, self._unlisted = kept.separations, kept.pag, kept.unlisted
        self._unseparated = set(() if kept.unlisted is None else kept.unlisted.unseparated)

    def __getitem__(self, pair: Pair) -> Separation:
        a, b = pair
        require_names(pair, self._pag.names)
        for found in ((a, b), (b, a)):
            if found in self._listed:
                return self._listed[found]
        is_known = (a, b) not in self._unseparated and (b, a) not in self._unseparated
        if self._unlisted is None or a == b or not is_known or self._pag.edge(a, b) is not None:
            raise KeyError(pair)
        return Separation((), np.nan, 0, self._unlisted.rows)

    def __iter__(self) -> Iterator[Pair]:
        if self._unlisted is None:
            return iter(self._listed)
        names, marks = self._pag.names, self._pag.marks
        pairs = ((a, names[j]) for i, a in enumerate(names) for j in (i + 1 + np.flatnonzero(marks[i, i + 1 :] == 0)))
        return (pair for pair in pairs if pair not in self._unseparated)

    def __len__(self) -> int:
        if self._unlisted is None:
            return len(self._listed)
        return int(np.count_nonzero(np.triu(self._pag.marks == 0, 1))) - len(self._unseparated)

    def __repr__(self) -> str:
        return f"<separating sets of {len(self)} pairs>"


@dataclass(frozen=True, eq=False)
class Searched:
    """The grounds from the last state of a search, each computed on first use; `StoredGrounds` describes them."""

    state: State = field(repr=False)  # the state from which a next step would start
    problem: Problem = field(repr=False)  # what the search worked on: the test, the choices, the audit of the data
    last: tuple[PAG, StepInfo] | None = field(repr=False)  # the graph after the last finished step, and its info
    for_effects: Callable[[], tuple[State, str | None]] | None = field(default=None, repr=False)
    """Draws more sampled graphs, for effects only. Returns the state, and what stopped the drawing or None."""

    @cached_property
    def pag(self) -> PAG:
        return self.state.pag if self.last is None else self.last[0]

    test = property(attrgetter("problem.test_name"))
    exact = property(attrgetter("problem.test.exact"))
    n_rows = property(attrgetter("problem.n_rows"))
    audit = property(attrgetter("problem.audit"))

    @cached_property
    def sepsets(self) -> Separations:
        sets = self.state.sepsets.including(self.problem.always_given, self.problem.contexts_given)
        return Separations(replace(self.state, sepsets=sets), self.problem.bound_test)

    @property
    def separations(self) -> Mapping[Pair, Separation]:
        return self.sepsets if self.unlisted is None else self.sepsets.given_others()

    @cached_property
    def unlisted(self) -> Unlisted | None:
        """The pairs that a file leaves out, if the empty set separates too many to list; None if it lists all."""
        if self.sepsets.n_marginal <= MOST_LISTED:
            return None
        return Unlisted(self.n_rows, tuple(self.sepsets.unseparated(self.pag)))

    def independent_pairs(self, among: Collection[str]) -> list[Pair]:
        return self.sepsets.marginal(among)

    @property
    def kept(self) -> Mapping[Pair, float]:
        return {(edge.a, edge.b): self.kept_p(edge.a, edge.b) for edge in self.pag.edges()}

    def kept_p(self, a: str, b: str) -> float:
        nodes = self.state.nodes
        i, j = (int(np.flatnonzero(nodes.order == nodes.names.index(name))[0]) for name in (a, b))
        return pair_p(self.state, self.problem.bound_test, i, j)

    @property
    def marks(self) -> tuple[MarkReason, ...]:
        return reasons_of(self.state.evidence.log, self.state.nodes.numbered)

    @property
    def conflicts(self) -> tuple[MarkReason, ...]:
        return reasons_of(self.state.evidence.conflicts, self.state.nodes.numbered)

    @cached_property
    def knowledge(self) -> tuple[Outcome, ...]:
        if self.problem.facts is None:
            return ()
        from anypag.results.knowledge_outcomes import outcomes_of
        from anypag.search.apply_knowledge import is_final

        method = algorithm(self.problem.choices.method)
        final = self.state.done and self.last is not None and is_final(method, self.last[1])
        fits = self.misfit is None or self.misfit.fits != "no"
        return outcomes_of(self.state, self.problem, final=final, fits=fits)

    @cached_property
    def strengths(self) -> dict[Pair, str]:
        return strengths_of(self.pag, self.problem.test)

    @cached_property
    def posterior(self) -> Posterior | None:
        """The sampled graphs, with those for effects only: to draw these takes a while. None if none were sampled."""
        if getattr(self.state, "posterior", None) is None:
            return None
        state: Any = self.state if self.for_effects is None else self.for_effects()[0]
        return self._informed(state.posterior)

    def _informed(self, posterior: Posterior) -> Posterior:
        """The posterior with the kind of score and the knowledge; reported probabilities also depend on these."""
        from anypag.scores.discrete import DiscreteScore

        facts, places = self.problem.facts, np.argsort(self.state.nodes.order)
        known = None if facts is None else facts.reordered(places)
        return replace(posterior, from_counts=isinstance(self.problem.score, DiscreteScore), facts=known)

    @cached_property
    def misfit(self) -> Misfit | None:
        state: Any = self.state
        if getattr(state, "posterior", None) is None or not state.orders.all_settled:
            return None
        with single_blas:
            return misfit_of(state, self.problem)

    @cached_property
    def probabilities(self) -> Probabilities | None:
        if self.sampled is None:
            return None
        from anypag.search.by_scores.bayes import sees_hidden

        hidden, selection = sees_hidden(self.problem), self.problem.selection
        return probabilities_of(self._informed(self.sampled), self.pag, hidden=hidden, selection=selection)

    @cached_property
    def sampled(self) -> Posterior | None:
        """The sampled graphs from which the answer was computed; None if no graphs were sampled."""
        posterior: Posterior | None = getattr(self.state, "posterior", None)
        return posterior if posterior is not None and posterior.n_samples else None


Grounds = StoredGrounds | Searched


def reasons_of(rows: LogRows, names: Sequence[str]) -> tuple[MarkReason, ...]:
    """The reasons of marks in the rows of a log, by the names of the nodes."""
    return tuple(
        MarkReason(names[j], names[i], Mark(mark), rule, tuple(names[k] for k in because if k >= 0))
        for rule, i, j, mark, *because in rows.tolist()
    )
