"""The words say what is true: every claim about an edge is held against the DAG the edge comes from."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
from anypag.explain.pair import explain, reading_of
from anypag.explain.summary import take_away
from anypag.explain.words import Context, EndClaim, reading
from anypag.graphs.marks import EDGE_SYMBOLS, Mark, with_and
from anypag.graphs.node_sets import is_visible
from anypag.simulate.systems import System, random_system

systems = st.builds(
    random_system,
    st.integers(4, 10),
    st.sampled_from([1.5, 2.0, 3.0]),
    n_selection=st.integers(0, 2),
    seed=st.integers(0, 10**6),
)


def is_true(claim: EndClaim, system: System, a: str, b: str) -> bool:
    """The claim at `a` on the edge a–b, looked up in the true graph."""
    causes = a in system.dag.ancestors(b)
    selects = bool(system.selection) and a in system.dag.ancestors(*system.selection)
    return {
        EndClaim.NO: not causes,
        EndClaim.YES: causes,
        EndClaim.YES_OR_SELECTED: causes or selects,
        EndClaim.SELECTED: selects,
        EndClaim.OPEN: True,
        EndClaim.NO_SINCE_OTHER: not causes and b in system.dag.ancestors(a),
        EndClaim.CONTRADICTED: False,
    }[claim]


def unmeasured_causes(system: System, name: str) -> set[str]:
    """The latent variables that act on `name` without a measured one between."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        fresh = [up for up in system.dag.parents(waiting.pop()) if up in system.latent and up not in found]
        found.update(fresh)
        waiting.extend(fresh)
    return found


@settings(deadline=None, max_examples=60)
@given(systems)
def test_every_claim_about_a_true_pag_is_true(system: System) -> None:
    pag = system.true_pag()
    for edge in pag.edges():
        words = reading_of(pag, edge, selection=bool(system.selection), final=True)
        assert is_true(words.claim_a, system, edge.a, edge.b), (edge, words)
        assert is_true(words.claim_b, system, edge.b, edge.a), (edge, words)


@settings(deadline=None, max_examples=30)
@given(systems)
def test_every_claim_is_true_after_every_iteration(system: System) -> None:
    for state, _ in ap.iterate(system.oracle(), selection_bias=bool(system.selection)):
        for edge in state.pag.edges():
            words = reading_of(state.pag, edge, selection=bool(system.selection), final=False)
            assert is_true(words.claim_a, system, edge.a, edge.b), (edge, words)
            assert is_true(words.claim_b, system, edge.b, edge.a), (edge, words)
            assert "Nothing" not in words.summary


@settings(deadline=None, max_examples=60)
@given(systems)
def test_nothing_unmeasured_hides_behind_a_visible_edge(system: System) -> None:
    pag = system.true_pag()
    for edge in (*pag.edges(), *(edge.reversed() for edge in pag.edges())):
        if is_visible(pag, edge.a, edge.b):
            assert not unmeasured_causes(system, edge.a) & unmeasured_causes(system, edge.b)


def test_visible_edges_do_occur_and_are_named() -> None:
    pag = ap.PAG.from_string("C o-> V; V <-> A; V --> B; A --> B; D o-> A; D --> B")
    assert is_visible(pag, "A", "B")  # C o-> V <-> A, V a parent of B, C not joined to B
    assert not is_visible(pag, "B", "A")
    assert not is_visible(ap.PAG.from_string("C o-> V; V <-> A; A --> B; V o-> B"), "A", "B")  # V no parent of B


@settings(deadline=None, max_examples=60)
@given(st.integers(4, 10), st.integers(0, 10**6))
def test_two_arrowheads_mean_an_unmeasured_common_cause(n: int, seed: int) -> None:
    system = random_system(n, 3.0, seed=seed)
    pag = system.true_pag()
    for edge in pag.edges():
        words = reading_of(pag, edge, selection=False, final=True)
        if edge.symbol == "<->":
            assert "they share a common cause that was not measured." in words.summary
            both = set(system.dag.ancestors(edge.a)) & set(system.dag.ancestors(edge.b))
            assert both & set(system.latent)


@pytest.mark.parametrize("symbol", EDGE_SYMBOLS)
def test_words_are_the_same_from_either_end(symbol: str) -> None:
    mark_a, mark_b = EDGE_SYMBOLS[symbol]
    for selection, a, b, final in product((True, False), repeat=4):
        there = reading(mark_a, mark_b, Context(selection, a, b, final=final))
        back = reading(mark_b, mark_a, Context(selection, b, a, final=final))
        assert (there.claim_a, there.claim_b) == (back.claim_b, back.claim_a)
        assert there.at_a.format(a="A", b="B") == back.at_b.format(a="B", b="A")
        ours, theirs = there.summary.format(a="A", b="B"), back.summary.format(a="B", b="A")
        assert ours == theirs or mark_a == mark_b


@pytest.mark.parametrize("symbol", EDGE_SYMBOLS)
def test_selection_is_not_mentioned_where_it_is_ruled_out(symbol: str) -> None:
    words = reading(*EDGE_SYMBOLS[symbol], Context(selection=False))
    assert "sample" not in words.at_a + words.at_b + words.summary


@pytest.mark.parametrize(
    ("symbol", "selection", "summary"),
    [
        ("-->", False, "A is a cause of B, directly or through other variables. "
         "There may also be a common cause that was not measured."),
        ("-->", True, "A is a cause of B, or of being in the sample. "
         "There may also be a common cause that was not measured."),
        ("<--", False, "B is a cause of A, directly or through other variables. "
         "There may also be a common cause that was not measured."),
        ("<->", False, "Neither is a cause of the other: they share a common cause that was not measured."),
        ("<->", True, "Neither is a cause of the other: they share a common cause that was not measured, "
         "or selection of the sample links them."),
        ("o->", False, "A may be a cause of B, or they share a common cause that was not measured, or both."),
        ("<-o", True, "B may be a cause of A, or they share a common cause that was not measured, "
         "or selection of the sample links them; more than one may be true."),
        ("o-o", False, "A may be a cause of B, or B of A, "
         "or they share a common cause that was not measured, or both."),
        ("---", True, "Both A and B affect being in the sample: the two are linked, at least in part, by selection."),
        ("---", False, "The two ends contradict each other: each would be a cause of the other. "
         "A test behind this is wrong."),
        ("--o", True, "A is a cause of B, or of being in the sample. B may affect being in the sample too."),
        ("o--", True, "B is a cause of A, or of being in the sample. A may affect being in the sample too."),
        ("--o", False, "A is a cause of B, directly or through other variables. "
         "There may also be a common cause that was not measured."),
    ],
)  # fmt: skip
def test_summaries(symbol: str, selection: bool, summary: str) -> None:
    assert reading(*EDGE_SYMBOLS[symbol], Context(selection=selection)).summary.format(a="A", b="B") == summary


def test_an_arrowhead_elsewhere_rules_selection_out() -> None:
    unselected = reading(Mark.TAIL, Mark.ARROW, Context(selection=True, unselected_a=True))
    assert unselected.claim_a is EndClaim.YES
    assert reading(Mark.TAIL, Mark.ARROW, Context(selection=True)).claim_a is EndClaim.YES_OR_SELECTED


def test_an_edge_that_may_still_go_promises_no_unmeasured_cause() -> None:
    words = reading(Mark.ARROW, Mark.ARROW, Context(selection=False, final=False))
    assert words.summary.endswith("not measured, or that the search has not yet fully accounted for.")
    by_score = reading(Mark.ARROW, Mark.ARROW, Context(selection=False, final=False, by_tests=False))
    assert by_score.summary.endswith("they share a common cause that was not measured.")


def test_listed() -> None:
    assert [with_and(("A",)), with_and(("A", "B")), with_and(("A", "B", "C"))] == ["A", "A and B", "A, B and C"]


def test_a_variable_and_itself_are_no_pair() -> None:
    with pytest.raises(ap.AnypagError, match="Two different variables are needed; got 'A' twice"):
        explain(ap.PAG.from_string("A o-> B"), "A", "A")


def test_of_what_is_known_to_be_no_cause_only_selection_is_left() -> None:
    said = reading(Mark.TAIL, Mark.CIRCLE, Context(not_cause_a=True))
    assert said.claim_a is EndClaim.SELECTED_ONLY
    assert "is a cause of being in the sample, since it is known not to cause" in said.summary
    for mark in (Mark.CIRCLE, Mark.ARROW):
        swapped = reading(mark, Mark.TAIL, Context(not_cause_b=True)).summary
        assert swapped.startswith("{b} is a cause of being in the sample, since it is known not to cause {a}.")
    assert " {a} may be a cause of" not in " " + reading(Mark.CIRCLE, Mark.CIRCLE, Context(not_cause_a=True)).summary
    assert reading(Mark.CIRCLE, Mark.ARROW, Context(not_cause_a=True)).summary.startswith("Neither is a cause")


@pytest.mark.parametrize(
    ("dag", "told"),
    [
        ("A; B", "0 edges among 2 variables. The data alone show no variable to be a cause of another one."),
        ("A --> B", "1 edge among 2 variables. The direction of causes stays open: the data alone show no variable"),
        ("A --> C; B --> C; C --> D", "3 edges among 4 variables. The graph shows one cause: C --> D."),
    ],
)
def test_the_first_line_of_a_report_leaves_open_what_is(dag: str, told: str) -> None:
    assert take_away(ap.learn(ap.Oracle(ap.DAG.from_string(dag)))).startswith(told)
