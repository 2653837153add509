"""A problem: the test, the choices and the numbering of nodes, bound once before the first step.

If the algorithm asks for it (`orders_nodes`), the data decide how nodes are numbered. Then the order of the columns
does not decide how ties are broken. `for_test` and `Nodes.pag` translate questions and graphs to the test's numbering.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags, Floats, Indices
from anypag.choices import Choices
from anypag.ci.base import CITest, Queries, innermost, rows_behind, with_its_answers
from anypag.ci.wrappers import Counted
from anypag.errors import Sentence
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.orientation import Scratch
from anypag.graphs.pag import PAG
from anypag.graphs.skeleton import Skeleton
from anypag.search.progress import Pace

if TYPE_CHECKING:
    from anypag.knowledge.facts import Facts
    from anypag.scores.base import Score


@dataclass(frozen=True, eq=False)
class Nodes:
    """The variables, and how a search numbers them."""

    names: tuple[str, ...]  # the names, in the order of the test
    order: Indices  # (n,) the test's index of each node

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def numbered(self) -> tuple[str, ...]:
        """The names of the nodes, as the search numbers them."""
        return tuple(self.names[k] for k in self.order)

    @cached_property
    def is_renumbered(self) -> bool:
        """Does the search number the nodes in another order than the test?"""
        return not np.array_equal(self.order, np.arange(len(self.order)))

    def pag(self, marks: Marks, edges: Skeleton) -> PAG:
        """The graph, with its nodes in the order of the test."""
        at_edges = marks[edges.node, edges.neighbour]
        return PAG.of_sparse((self.order[edges.node], self.order[edges.neighbour], at_edges), self.names)


class Chosen(NamedTuple):
    """The method that `method="auto"` chose, and why.

    >>> print(Chosen("icd", "an oracle has no score"))
    icd: an oracle has no score
    """

    method: str
    why: str | Sentence

    @property
    def sentence(self) -> Sentence:
        """The reason, with the options that it mentions."""
        return self.why if isinstance(self.why, Sentence) else Sentence(self.why)

    def __str__(self) -> str:
        return f"{self.method}: {self.why}"


class Strength(NamedTuple):
    """The marginal dependence of nodes i and j is |table[place[i], place[j]]|, as float32."""

    table: npt.NDArray[np.float32] | Floats
    place: Indices

    @classmethod
    def unknown(cls, n: int) -> Self:
        """All strengths equal, because they were not measured."""
        return cls(np.zeros((1, 1), np.float32), np.zeros(n, np.int32))

    def table_of(self, n: int) -> Floats:
        x, y = np.indices((n, n), np.int32)
        return self.between(x, y).astype(np.float64)

    def between(self, x: Indices, y: Indices) -> npt.NDArray[np.float32]:
        return np.abs(self.table[self.place[x], self.place[y]]).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Marginals:
    """The p-values of all pairs given the empty set, if they were asked for before the first step."""

    p: Floats  # (n, n)
    n_asked: int
    n_evaluated: int
    asked: npt.NDArray[np.uint64] | None  # the questions' keys; None if repeated questions count too (`State.asked`)


@dataclass(frozen=True, eq=False)
class Problem:
    """The input of a search: test, choices, numbered nodes, and marks known in advance."""

    test: Counted  # answers and counts the questions; answers of slow tests are cached
    choices: Choices  # all choices; none is left open
    nodes: Nodes
    given: Marks  # the marks at the start: circles, and marks known in advance, which never change
    pace: Pace
    strength: Strength  # how strongly two nodes depend on each other marginally
    facts: Facts | None = None  # knowledge with all that follows from it, or None
    marginals: Marginals | None = None
    is_ordered: bool = False  # is the numbering of the nodes final?
    chosen: Chosen | None = None  # the method that "auto" chose, and why; None if the user named a method
    score: Score | None = None
    """Scores graphs, with the variables in the order of the test; None if the algorithm needs no score."""
    scratch: Scratch = field(default_factory=Scratch, repr=False)  # scratch tables that all orientations share

    @property
    def n(self) -> int:
        return len(self.nodes)

    @cached_property
    def score_in_order(self) -> Score:
        """The score with its variables numbered as the nodes are."""
        assert self.score is not None, "the algorithm did not ask for a score"
        return self.score.taken(self.nodes.order)

    @property
    def n_rows(self) -> int | None:
        """How many rows the data have; None if the test does not say (an oracle, a function)."""
        return rows_behind(self.test)

    @property
    def bound_test(self) -> CITest:
        """The test itself, without its wrappers."""
        return innermost(self.test)

    @property
    def test_name(self) -> str:
        """The kind of test, for example "FisherZ"."""
        return type(self.bound_test).__name__.lstrip("_")

    @property
    def audit(self) -> Any:
        """The findings in the data (`anypag.data.findings.Audit`); None without data."""
        return getattr(self.bound_test, "audit", None)

    @property
    def selection(self) -> bool:
        """May the sample have been selected by something that a variable affects?"""
        return self.choices.selection_bias and (self.facts is None or not bool(self.facts.not_selecting.all()))

    @property
    def not_anterior(self) -> Flags:
        """(n, n) True at [a, b] if a is known to cause neither b nor selection; an empty array without such knowledge.
        If x and y can be separated, a set of causes of x, of y or of selection separates them. So other nodes need not
        be tried.
        """
        known = self.facts is not None and bool(self.facts.not_anterior.any())
        return self.facts.not_anterior if self.facts is not None and known else np.empty((0, 0), np.bool_)

    @property
    def always_given(self) -> Flags:
        """(n,) True for contexts (variables that tell data sets apart) that belong to every condition set. Only if
        the set with a context would determine x or y, this context is left out.
        """
        given: Flags | None = getattr(with_its_answers(self.test), "always_given", None)
        return np.zeros(self.n, np.bool_) if given is None else given[self.nodes.order]

    def contexts_given(self, x: Indices, y: Indices, z: Indices) -> Indices:
        """(k, w) the contexts on which the test conditions in each question x, y given z, padded with -1."""
        test: Any = with_its_answers(self.test)
        column, node = np.append(self.nodes.order, -1), np.append(np.argsort(self.nodes.order), -1).astype(np.int32)
        found: Indices = node[test.contexts_given(column[x], column[y], column[z])]
        return found

    @property
    def threads(self) -> int:
        return self.choices.threads

    @property
    def smallest_set(self) -> int:
        """The least size of condition sets to try: 1 if every edge was already tested given the empty set."""
        return 1 if self.choices.r0 == 0 else 0

    @property
    def last_r(self) -> int:
        """The size of the largest condition sets to try."""
        largest, limit = max(self.n - 2, 0), self.choices.max_r
        return largest if limit is None else min(limit, largest)

    def for_test(self, queries: Queries) -> Queries:
        """The questions in the numbering of the test."""
        if not self.nodes.is_renumbered:
            return queries
        return Queries(*(self.nodes.order.take(part) for part in (queries.x, queries.y, queries.z)))

    def numbered(self, order: Indices, strength: Strength, marginals: Marginals | None = None) -> Self:
        """The problem renumbered: node i is the test's variable order[i]; the other arguments use the new numbers."""
        is_complete = self.choices.initial is None
        given = self.given if is_complete else self.given.take(order, axis=0).take(order, axis=1)
        facts = None if self.facts is None else self.facts.reordered(order)
        ordered = replace(self, nodes=Nodes(self.nodes.names, order), given=given, facts=facts, is_ordered=True)
        return replace(ordered, strength=strength, marginals=marginals)


def pose(test: Counted, choices: Choices, score: Score | None = None, chosen: Chosen | None = None) -> Problem:
    """The problem with its nodes in the order of the test."""
    n = len(test.names)
    given = complete_marks(n) if choices.initial is None else np.array(choices.initial.subgraph(test.names).marks)
    nodes = Nodes(test.names, np.arange(n, dtype=np.int32))
    facts = choices.knowledge.facts(test.names, selection=choices.selection_bias) if choices.knowledge else None
    pace, strength = Pace(test.batch), Strength.unknown(n)
    return Problem(test, choices, nodes, given, pace, strength, facts, chosen=chosen, score=score)


def complete_marks(n: int) -> Marks:
    """(n, n) the marks of the complete graph: every pair is joined by o-o."""
    marks = np.full((n, n), Mark.CIRCLE, np.uint8)
    np.fill_diagonal(marks, Mark.NONE)
    marks.setflags(write=False)  # all states share the array
    return marks
