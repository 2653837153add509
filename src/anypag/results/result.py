"""What a search hands over: the graph, why each edge is there or not, and how it came about."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from anypag.data.files.scan import Reading
from anypag.data.findings import Audit
from anypag.graphs.marks import Mark, MarkReason
from anypag.graphs.orientation import Rows
from anypag.graphs.pag import PAG
from anypag.knowledge.outcome import Outcome
from anypag.results.base import BaseResult
from anypag.results.noted import noted_p
from anypag.results.probabilities import Probabilities
from anypag.results.separations import Separations
from anypag.results.strengths import strengths_of
from anypag.search.algorithm import algorithm
from anypag.search.apply_knowledge import is_final
from anypag.search.by_scores.bayes import sees_hidden
from anypag.search.by_scores.posterior import Posterior
from anypag.search.problem import Problem
from anypag.search.state import State
from anypag.stability.stability import Stability


@dataclass(frozen=True, repr=False)
class Result(BaseResult):
    """What a search learned; see `BaseResult` for what it can tell."""

    state: State = field(repr=False)
    """What a next step would start from."""
    problem: Problem = field(repr=False, compare=False)
    """What the search worked on: the test, the choices, the audit of the data."""
    stability: Stability | None = field(default=None, repr=False, compare=False)
    """What came of resampling, where that was asked for."""
    source: str | None = field(default=None, compare=False)
    """The name of the file the data came from."""
    reading: Reading | None = field(default=None, repr=False, compare=False)
    """How that file was read, where something was said about it."""

    @cached_property
    def pag(self) -> PAG:
        """The graph."""
        return self.history[-1].pag if self.history else self.state.pag

    @property
    def test_name(self) -> str:
        """The kind of test: "FisherZ", say."""
        return self.problem.test_name

    @property
    def n_rows(self) -> int | None:
        """The rows of the data; None where the test has none (an oracle, a function)."""
        return self.problem.n_rows

    @property
    def is_exact(self) -> bool:
        """Was the test perfect, an oracle?"""
        return self.problem.test.exact

    @property
    def audit(self) -> Audit | None:
        """What was found in the data beforehand; None where the test has none."""
        found: Audit | None = self.problem.audit
        return found

    @property
    def posterior(self) -> Posterior | None:
        """How probable edges, marks and ancestors are, for methods that say so ("bayes"); else None."""
        found: Posterior | None = getattr(self.state, "posterior", None)
        return found

    @cached_property
    def probabilities(self) -> Probabilities | None:
        """How probable edges are, in the words of results and files; None where nothing was sampled."""
        posterior = self.posterior
        if posterior is None or not posterior.n_samples:
            return None
        return Probabilities.of(posterior, self.pag, hidden=sees_hidden(self.problem))

    @cached_property
    def strengths(self) -> dict[tuple[str, str], str]:
        """How strong edges are, by their pairs of names, in a few words: correlations, or an association."""
        return strengths_of(self.pag, self.problem.test)

    @cached_property
    def sepsets(self) -> Separations:
        """Why pairs have no edge: `result.sepsets["A", "B"]`."""
        return Separations(self.state, self.problem.bound_test)

    def independent_pairs(self, among: Collection[str]) -> list[tuple[str, str]]:
        """The pairs of these variables that are independent given nothing."""
        return self.sepsets.marginal(among)

    @property
    def marks(self) -> tuple[MarkReason, ...]:
        """Every mark that is not a circle and none of an initial graph, in the order they were set, with the rule."""
        return _reasons(self.state, self.state.evidence.log)

    @property
    def conflicts(self) -> tuple[MarkReason, ...]:
        """Marks that a rule wanted where another mark stood, or where two rules disagreed and the circle stayed."""
        return _reasons(self.state, self.state.evidence.conflicts)

    @cached_property
    def knowledge(self) -> tuple[Outcome, ...]:
        """What became of each statement of what was known beforehand.

        >>> import anypag as ap
        >>> oracle = ap.Oracle(ap.DAG.from_string("A --> C; B --> C; C --> D"))
        >>> known = ap.Knowledge.from_text("A ~> D\\nD !~> A")
        >>> for outcome in ap.learn(oracle, knowledge=known, selection_bias=False).knowledge:
        ...     print(outcome)
        A ~> D (line 1): used: a tail at A towards C
        D !~> A (line 2): implied by the data anyway
        """
        from anypag.results.outcomes import outcomes_of

        last = self.history[-1].info if self.history else None
        final = self.state.done and last is not None and is_final(algorithm(self.choices.method), last)
        return outcomes_of(self.state, self.problem, final=final)

    def kept_p(self, a: str, b: str) -> float:
        """For an edge: the largest p-value among the tests that kept it (NaN if it was never tested)."""
        nodes = self.state.nodes
        i, j = (int(np.flatnonzero(nodes.order == nodes.names.index(name))[0]) for name in (a, b))
        return noted_p(self.state, self.problem.bound_test, i, j)


def _reasons(state: State, rows: Rows) -> tuple[MarkReason, ...]:
    names = [state.nodes.names[k] for k in state.nodes.order]
    return tuple(
        MarkReason(names[j], names[i], Mark(mark), rule, tuple(names[k] for k in because if k >= 0))
        for rule, i, j, mark, *because in rows.tolist()
    )
