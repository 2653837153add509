"""What results say of themselves: valid or not, contradictions, what was withdrawn, how many tests there were."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
from anypag.catalogue import METHODS
from anypag.explain import explain
from anypag.results import consistency
from anypag.results.files import load_result, save_result
from anypag.results.result import Iteration, Result
from anypag.results.stability import causes, not_causes
from anypag.search.state import StepInfo
from result_examples import resting_on
from strategies import seeded_pag_like

INFO = StepInfo(0, "iteration", 1, 0, 0, 0, {0: 1}, 1, 0)


def saved(graph: str, *earlier: str, test: str = "FisherZ", complete: bool = True, method: str = "icd") -> Result:
    """A result with this graph, and others before it."""
    sample = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> B; B --> C"), 200, seed=1)
    read = load_result(save_result(ap.learn(sample, method="icd")))
    pag = ap.PAG.from_string(graph)
    history = tuple(
        Iteration(ap.PAG.from_string(text, pag.names), replace(INFO, r=r), 0.0)
        for r, text in enumerate((*earlier, graph))
    )
    bare = resting_on(read, pag=pag, test=test, exact=test == "Oracle", separations={}, kept={}, marks=(), conflicts=())
    return replace(bare, history=history, complete=complete, method=method, facts=METHODS[method])


def test_a_contradiction_is_said_first_and_everywhere() -> None:
    result = saved("A --> B; B --> C; A <-> C")
    (found,) = result.contradictions
    assert result.valid is False
    assert str(found) in str(result)
    lines = str(explain(result, "A", "B")).splitlines()
    assert lines[1] == f"  In a contradiction: {found}"
    assert explain(result, "B", "C").to_dict()["contradictions"] == [str(found)]
    assert result.edge_table()["contradiction"] == [str(found)] * 3
    document = save_result(result)["meta"]["anypag"]
    assert document["valid"] is False
    assert document["contradictions"] == [
        [str(found), [["cause", 0, 1], ["cause", 1, 2], ["not", 0, 2]], [[0, 1], [1, 2], [0, 2]]]
    ]
    assert load_result(save_result(result)).contradictions == result.contradictions


def test_independence_counts_as_a_claim() -> None:
    result = saved("X o-> A; Y o-> A; A --> B; B --> C")
    said = resting_on(
        result, separations={("A", "C"): ap.learn(_chain(), method="icd").sepsets["A", "C"]._replace(given=())}
    )
    assert "A and C are independent: these cannot all be true" in str(said.contradictions[0])
    assert explain(said, "C", "A").contradictions == (str(said.contradictions[0]),)
    assert result.valid


def _chain() -> ap.Oracle:
    return ap.Oracle(ap.DAG.from_string("A --> B; B --> C"))


def test_an_invalid_graph_without_contradicting_claims() -> None:
    incomplete = "A o-> B; B <-o C; B o-> D"
    finished = saved(incomplete)
    assert finished.valid is False
    assert "see B o-> D" in str(finished.contradictions[0]) or "see D <-o B" in str(finished.contradictions[0])
    for result in (saved(incomplete, complete=False), saved(incomplete, method="rfci")):
        assert result.valid is None
        assert result.contradictions == ()
        assert "is not known" in str(result)


def test_perfect_tests_are_never_contradicted() -> None:
    result = ap.learn(_chain(), method="icd")
    assert (result.valid, result.contradictions, result.withdrawn, result.cautions) == (True, (), (), ())
    assert "If the tests are right" not in str(result.explain("A", "B"))


def test_too_large_to_be_checked_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consistency, "MOST_VARIABLES", 2)
    result = saved("A o-> B; B <-o C")
    assert result.valid is None
    assert "was not checked, as it has more than 2 variables" in str(result)


def test_marks_that_were_withdrawn() -> None:
    result = saved("A o-> B; B <-o C", "A <-> B; B <-o C; A o-> C", "A --> B; B <-o C")
    assert [str(item) for item in result.withdrawn] == ["r = 1: A --> B (now A o-> B)", "r = 0: A <-> B (now A o-> B)"]
    assert save_result(result)["meta"]["anypag"]["withdrawn"][0] == [1, 0, 0, 1, "-->", "o->"]


def test_marks_on_edges_that_have_gone_are_withdrawn_unless_the_graph_still_says_so() -> None:
    result = saved("A --> B; B --> C; A; D o-o C", "A --> C; A <-> D; B --> C; A --> B; D o-o C")
    assert [(str(item), item.at) for item in result.withdrawn] == [("r = 0: A <-> D (now no edge)", "A")]
    # A is still a cause of C, by B, and D still none of A; but now A may be one of D
    assert save_result(result)["meta"]["anypag"]["withdrawn"][0][-1] is None


def test_earlier_graphs_are_not_read_as_matrices() -> None:
    """The graphs of a run keep their edges only; a matrix for every iteration would take gigabytes while saving."""
    before, after = ap.PAG.from_string("A --> B; B <-o C"), ap.PAG.from_string("A o-> B; B <-o C")
    earlier = ap.PAG.of_sparse(before.entries, before.names)
    finished = saved(str(after))
    result = replace(finished, history=(replace(finished.history[0], pag=earlier), *finished.history))
    assert [str(item) for item in result.withdrawn] == ["r = 0: A --> B (now A o-> B)"]
    assert earlier._marks is None


@settings(max_examples=50, deadline=None)
@given(st.lists(seeded_pag_like({"-->": 2, "<->": 1, "o->": 1, "o-o": 1}, 5, 5), min_size=2, max_size=4))
def test_withdrawn_marks_are_those_of_their_definition(graphs: list[ap.PAG]) -> None:
    result = saved(*("; ".join([*graph.names, *str(graph).splitlines()]) for graph in graphs))
    found = consistency.withdrawn_marks(result)
    for item, rows in zip(result.history, found, strict=True):
        gone = naive_withdrawn(item.pag.subgraph(result.pag.names), result.pag)
        then = item.pag.subgraph(result.pag.names).marks
        assert [tuple(row) for row in rows.tolist()] == [(i, j, then[i, j], then[j, i]) for i, j in gone]


def naive_withdrawn(earlier: ap.PAG, final: ap.PAG) -> list[tuple[int, int]]:
    """The (i, j) whose mark at j is an arrowhead or a tail that the final graph neither has nor implies."""
    still = {ap.Mark.TAIL: causes(final.marks), ap.Mark.ARROW: not_causes(final.marks)}
    found = []
    for i, j in np.ndindex(*final.marks.shape):
        then, now = ap.Mark(int(earlier.marks[i, j])), ap.Mark(int(final.marks[i, j]))
        is_said = now == then if now != ap.Mark.NONE else then in still and bool(still[then][j, i])
        if then in still and not is_said:
            found.append((i, j))
    return found


def test_python_hears_of_contradictions() -> None:
    for seed in range(60):
        sample = ap.simulate.random_system(10, 2.5, seed=seed).linear_gaussian(400, seed=seed)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", ap.AnypagWarning)
            result = ap.learn(sample, method="icd", alpha=0.05)
        told = [str(item.message) for item in heard if "in this graph: at least one of the tests" in str(item.message)]
        assert len(told) == bool(result.contradictions)
        if told:
            assert str(result.contradictions[0]) in told[0] and heard[-1].filename == __file__
            return
    raise AssertionError("none of the samples has a contradiction")


def test_many_tests_are_mentioned_where_chance_alone_finds_more() -> None:
    noise = np.random.default_rng(0).normal(size=(100, 20))
    (caution,) = ap.learn(noise, method="icd", alpha=0.2).cautions
    assert caution.startswith("Many tests: if all 190 pairs were independent, about 38.0 would seem dependent at")
    assert ap.learn(noise[:, :3] + noise[:, 3:4], method="icd", alpha=0.01).cautions == ()


def test_marks_that_rest_on_knowledge_are_no_contradiction() -> None:
    """They say more than any equivalence class does; that is what they are for."""
    oracle = ap.Oracle(ap.DAG.from_string("A --> C; B --> C; C --> D"))
    known = ap.Knowledge.from_text("A ~> D")
    result = ap.learn(oracle, knowledge=known, selection_bias=False)
    assert not result.pag.validate().valid
    assert (result.valid, result.contradictions, result.consistency.lines()) == (None, (), [])


def test_scores_are_not_called_tests() -> None:
    sample = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> B; B --> C"), 200, seed=1)
    result = ap.learn(sample, method="boss")
    assert "If the scores are right:" in str(explain(result, "A", "B"))
    assert result.cautions == ()
