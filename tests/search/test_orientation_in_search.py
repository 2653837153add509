"""Orientation from separating sets, right ones and contradictory ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_search as naive
from anypag import DAG, PAG, Mark, Oracle, Queries, from_callable, iterate, true_pag
from anypag.catalogue import METHODS
from anypag.choices import Choices
from anypag.ci.base import CITest, PValues
from anypag.ci.wrappers import Counted
from anypag.results.grounds import Searched
from anypag.results.result import Result
from anypag.search.by_tests.checked_orientation import check_and_orient
from anypag.search.inquiry import Inquiry
from anypag.search.orient import orient_state
from anypag.search.problem import Problem, pose
from anypag.search.state import State, first_state
from search_examples import random_system

Sets = Mapping[tuple[str, str], tuple[str, ...]]


def problem_of(graph: PAG, test: CITest | None = None, *, selection_bias: bool = True, r0: int = 0) -> Problem:
    test = from_callable(lambda x, y, z: 0.0, graph.names) if test is None else test
    return pose(Counted(test), Choices(initial=graph, selection_bias=selection_bias, r0=r0))


def oriented(graph: PAG, sets: Sets, *, selection_bias: bool = True) -> State:
    return orient_state(state_of(graph, sets), problem_of(graph, selection_bias=selection_bias))


def state_of(graph: PAG, sets: Sets) -> State:
    """A search in the middle: these marks known beforehand, these pairs separated."""
    state = first_state(problem_of(graph))
    sepsets = state.sepsets
    for (a, b), z in sets.items():
        x, y = (np.array([graph.index(end)], np.int32) for end in (a, b))
        members = np.array([[graph.index(k) for k in z]], np.int32).reshape(1, len(z))
        sepsets = sepsets.adding(x, y, members)
    return replace(state, sepsets=sepsets)


def conflicts_of(state: State) -> list[tuple[str, str, Mark, int]]:
    result = Result(
        "icd", METHODS["icd"], Choices(method="icd"), (), False, None, Searched(state, problem_of(state.pag), None)
    )
    return sorted((reason.other, reason.at, reason.mark, reason.rule) for reason in result.conflicts)


def test_a_known_mark_is_never_changed() -> None:
    known = PAG.from_string("A o-- B; B o-o C")
    state = oriented(known, {("A", "C"): ()})
    assert str(state.pag) == "B --o A\nC o-> B"
    assert conflicts_of(state) == [("A", "B", Mark.ARROW, 0)]


def test_two_rules_that_disagree_leave_the_circle() -> None:
    """R1 from the left says B --> C, R1 from the right says B <-- C."""
    known = PAG.from_string("A o-> B; B o-o C; C <-o D")
    sets = {("A", "C"): ("B",), ("B", "D"): ("C",), ("A", "D"): ("B", "C")}
    state = oriented(known, sets)
    assert str(state.pag) == str(known)
    assert conflicts_of(state) == [
        ("B", "C", Mark.ARROW, 1),
        ("B", "C", Mark.TAIL, 1),
        ("C", "B", Mark.ARROW, 1),
        ("C", "B", Mark.TAIL, 1),
    ]


def test_what_the_first_rule_set_stays() -> None:
    """R0 puts arrowheads at both ends of B–C; R1 then wants a tail at B, and does not get it."""
    known = PAG.from_string("A o-o B; B o-o C; C o-o D; B o-o E; E o-o C", ["A", "B", "C", "D", "E"])
    sets: Sets = {("A", "C"): (), ("B", "D"): (), ("A", "E"): ("B",), ("A", "D"): (), ("D", "E"): ("C",)}
    state = oriented(known, sets)
    assert str(state.pag.edge("B", "C")) == "B <-> C"


def test_no_separating_set_known_is_not_the_empty_one() -> None:
    graph = PAG.from_string("A o-o B; B o-o C")
    assert str(oriented(graph, {}).pag) == str(graph)
    assert str(oriented(graph, {("C", "A"): ()}).pag) == "A o-> B\nC o-> B"


@settings(max_examples=200)
@given(st.data())
def test_any_separating_sets_at_all(data: st.DataObject) -> None:
    """Marks and conflicts are those of the twin, however the sets contradict each other."""
    n = data.draw(st.integers(3, 5))
    pairs = list(combinations(range(n), 2))
    names = [f"V{i}" for i in range(n)]
    marks = np.zeros((n, n), np.uint8)
    sets: dict[tuple[str, str], tuple[str, ...]] = {}
    for i, j in pairs:
        if data.draw(st.integers(0, 2)):
            marks[i, j] = marks[j, i] = 1
        else:
            rest = [names[k] for k in range(n) if k not in (i, j)]
            sets[names[i], names[j]] = tuple(data.draw(st.lists(st.sampled_from(rest), unique=True)))
    selection = data.draw(st.booleans())
    state = oriented(PAG(marks, names), sets, selection_bias=selection)
    twin = naive.orient(
        naive.graph_of(marks),
        n,
        {frozenset(map(names.index, pair)): tuple(map(names.index, z)) for pair, z in sets.items()},
        selection=selection,
    )
    assert naive.graph_of(state.marks) == twin.graph
    assert {(i, j, naive.SYMBOLS[mark]) for _, i, j, mark, *_ in state.evidence.conflicts.tolist()} == twin.conflicts
    assert len(state.evidence.conflicts) == len(twin.conflicts)


def test_a_path_whose_ends_nothing_separates_asks_nothing() -> None:
    """R4 on D *-> A <-> B o-> C with D and C separated by the empty set (known marks can say so): no question left."""
    known = PAG.from_string("D o-> A; A <-> B; A --> C; B o-> C", ["A", "B", "C", "D"])
    state = state_of(known, {("D", "C"): (), ("D", "B"): ()})
    done = check_and_orient(state, Inquiry(problem_of(known), 0))
    assert str(done.pag.edge("B", "C")) == "B <-> C"
    assert done.checked_paths == {(3, 0, 1, 2)}


@pytest.mark.parametrize("is_empty_known", [True, False])
def test_the_check_tests_both_edges_of_a_triple(is_empty_known: bool) -> None:
    asked = []

    def p(x: str, y: str, z: tuple[str, ...]) -> float:
        asked.append((frozenset((x, y)), z))
        return 0.0

    graph = PAG.from_string("A o-o B; B o-o C; D")
    test = from_callable(p, graph.names, called_with="names")
    state = state_of(graph, {("A", "C"): ("B", "D"), ("A", "D"): (), ("B", "D"): (), ("C", "D"): ()})
    check_and_orient(state, Inquiry(problem_of(graph, test, r0=0 if is_empty_known else 1), 0))
    assert sorted(asked, key=str) == sorted([(frozenset("AB"), ("D",)), (frozenset("BC"), ("D",))], key=str)


def test_an_edge_that_a_check_removes_has_its_smallest_set() -> None:
    """A–B falls given D."""

    def p(x: str, y: str, z: tuple[str, ...]) -> float:
        return 0.9 if {x, y} == {"A", "B"} and z == ("D",) else 0.0

    graph = PAG.from_string("A o-o B; B o-o C; D")
    test = from_callable(p, graph.names, called_with="names")
    state = state_of(graph, {("A", "C"): ("B", "D"), ("A", "D"): (), ("B", "D"): (), ("C", "D"): ()})
    done = check_and_orient(state, Inquiry(problem_of(graph, test, r0=1), 0))
    assert [str(edge) for edge in done.pag.edges()] == ["B o-o C"]
    assert done.sepsets.get(0, 1) == (3,)
    assert done.evidence.notes.of(done.n, np.array([0]), np.array([1]))[0] == 0.9


@pytest.mark.parametrize(("p_of_smaller", "members"), [(0.2, (3,)), (0.0, (3, 4))])
def test_of_several_sets_the_smallest_counts_then_the_likeliest(p_of_smaller: float, members: tuple[int, ...]) -> None:
    """A–B is checked given {D}, for A–B–C, and given {D, E}, for A–B–F; the larger set has the larger p-value."""

    def p(x: str, y: str, z: tuple[str, ...]) -> float:
        return {("D",): p_of_smaller, ("D", "E"): 0.9}.get(z, 0.0) if {x, y} == {"A", "B"} else 0.0

    graph = PAG.from_string("A o-o B; B o-o C; B o-o F", list("ABCDEF"))
    sets = {("A", "C"): ("D",), ("A", "F"): ("D", "E"), ("C", "F"): ("B",)}
    state = state_of(graph, sets)
    test = from_callable(p, graph.names, called_with="names")
    done = check_and_orient(state, Inquiry(problem_of(graph, test, r0=1), 0))
    assert done.sepsets.get(0, 1) == members


# --- an initial PAG --------------------------------------------------------------------------------------------------


def test_an_initial_pag_is_taken_as_known() -> None:
    """Its marks stay, its missing edges stay missing and have no separating set."""
    dag = DAG.from_string("A --> B; B --> C; C --> D")
    initial = PAG.from_string("A --> B; A o-o D; B o-o C; B o-o D; C o-o D", ["A", "B", "C", "D"])
    for state, _ in iterate(Oracle(dag), initial=initial):
        assert str(state.pag.edge("A", "B")) == "A --> B"
        assert not state.pag.is_adjacent("A", "C")
        assert state.sepsets.get(*np.flatnonzero(np.isin(state.nodes.order, [0, 2]))) is None


def test_an_initial_pag_says_where_the_colliders_are() -> None:
    """A o-o B o-o C without an edge A–C says that B is none; who knows no more than "no edge" must not say so."""
    dag = DAG.from_string("A --> B; C --> B; E --> B; E --> C")
    rest = "A o-o E; B o-o E; C o-o E"
    *_, (misled, _) = iterate(Oracle(dag), initial=PAG.from_string(f"A o-o B; B o-o C; {rest}"))
    *_, (right, _) = iterate(Oracle(dag), initial=PAG.from_string(f"A o-> B; B <-o C; {rest}"))
    assert str(misled.pag.edge("B", "C")) == "B --> C"
    assert right.pag == true_pag(dag)


@pytest.mark.parametrize("r", [0, 1, 2])
@pytest.mark.parametrize("seed", range(10))
def test_going_on_from_the_pag_of_an_earlier_run(seed: int, r: int) -> None:
    """What a run up to r found is a good start for one from r + 1."""
    system = random_system(np.random.default_rng(seed), 7)
    *_, (first, _) = iterate(system.oracle(), max_r=r)
    *_, (last, _) = iterate(system.oracle(), initial=first.pag, r0=r + 1)
    assert last.pag == system.true_pag()


def test_the_first_sets_have_r0_members() -> None:
    sizes: list[int] = []

    class Watched(Oracle):
        def pvalues(self, queries: Queries) -> PValues:
            sizes.append(queries.r)
            return super().pvalues(queries)

    infos = [info for _, info in iterate(Watched(DAG.from_string("A --> B; B --> C; C --> D; A --> D")), r0=2)]
    assert infos[0].r == sizes[0] == 2
