"""Methods that go by scores keep to what is known, and say so where the data speak against it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anypag import Knowledge, Mark, Result, learn
from anypag.errors import KnowledgeError
from anypag.graphs.base import transitive
from anypag.search.by_scores.starting_graphs import agreeing, without_selection

METHODS = ("bayes", "boss", "gfci")
NAMES = ("V0", "V1", "V2", "V3", "V4")


def fire() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    storm, arson = rng.normal(size=(2, 2000))
    fire = storm + arson + rng.normal(size=2000)
    return {"storm": storm, "arson": arson, "fire": fire, "smoke": fire + rng.normal(size=2000)}


@pytest.mark.parametrize("method", METHODS)
def test_knowledge_with_scores(method: str) -> None:
    known = Knowledge.from_text("storm ~> smoke")
    result = learn(fire(), method=method, selection_bias=False, knowledge=known)
    assert str(result.pag) == "storm --> fire\narson o-> fire\nfire --> smoke"
    assert str(result.knowledge[0]) == "storm ~> smoke (line 1): used: a tail at storm towards fire"
    assert result.conflicts == ()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("text", ["fire ~> storm", "tiers: smoke | fire | storm arson", "fire !~> smoke"])
def test_what_the_data_speak_against_holds_and_is_said(method: str, text: str) -> None:
    known = Knowledge.from_text(text)
    result = learn(fire(), method=method, selection_bias=False, knowledge=known)
    assert opposed(result, known, selection=False) == []
    assert result.knowledge[0].became == ("contradicted" if method == "gfci" else "used")
    if method != "gfci":
        assert "the data prefer graphs without it by" in result.knowledge[0].why
        assert "log units (decisive evidence)" in str(result.knowledge[0])


@pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")
def test_evidence_of_a_score_that_does_not_fit_the_table_is_doubted() -> None:
    """y and z follow x by curves, as the tiers say; the score of straight lines prefers other graphs."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = x + x**2 + 0.5 * rng.normal(size=2000)
    table = {"x": x, "y": y, "z": y + y**2 + rng.normal(size=2000), "u": rng.normal(size=2000)}
    result = learn(table, method="bayes", effort=0.1, selection_bias=False, knowledge=Knowledge.from_text("z ~> u"))
    assert result.misfit is not None and result.misfit.fits == "no"
    (outcome,) = result.knowledge
    assert "the data prefer graphs without it by" in outcome.why
    assert outcome.why.endswith("evidence if the score is right, but the table does not fit what it assumes)")


@pytest.mark.parametrize("text", ["storm *-* arson", "fire !*-* smoke"])
def test_edges_that_are_said_to_be_there_or_not(text: str) -> None:
    for method in METHODS:
        result = learn(fire(), method=method, selection_bias=False, knowledge=Knowledge.from_text(text))
        a, _, b = text.split()
        assert (result.pag.edge(a, b) is not None) == ("!" not in text), method
        if method != "gfci":
            assert result.knowledge[0].became == "used"
            assert "the data prefer graphs without it" in result.knowledge[0].why


def opposed(result: Result, known: Knowledge, *, selection: bool) -> list[str]:
    """Marks, edges and directed paths of a result that say the opposite of what is known.

    A method that goes by tests may keep a path over several edges that the data want; then it must say so.
    """
    marks, names = result.pag.marks, result.pag.names
    facts = known.facts(names, selection=selection)
    seeds = facts.seeds(marks)
    wrong = (seeds > Mark.CIRCLE) & (marks > Mark.CIRCLE) & (marks != seeds)
    arrow, tail = marks == Mark.ARROW, marks == Mark.TAIL
    is_sure = arrow.any(axis=0) | facts.not_selecting
    leads = transitive(arrow & tail.T)
    is_told = result.method == "gfci" and any(outcome.became == "contradicted" for outcome in result.knowledge)
    if not is_told:
        wrong |= facts.not_causes & leads & is_sure[:, None]
    wrong |= (facts.joined & (marks == Mark.NONE)) | (facts.not_joined & (marks != Mark.NONE))
    return [f"{names[i]}, {names[j]}" for i, j in np.argwhere(wrong)]


@st.composite
def statements(draw: st.DrawFn) -> Knowledge:
    """Any statements about five variables, true or not; those that contradict themselves are drawn anew."""
    pair = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda p: p[0] != p[1])
    few = st.lists(pair, max_size=2)
    tier = draw(st.none() | st.lists(st.integers(0, 2), min_size=5, max_size=5))
    groups = [[name for name, k in zip(NAMES, tier or [], strict=False) if k == wanted] for wanted in range(3)]
    tiers = [group for group in groups if group]
    known = Knowledge(
        tiers=tiers if len(tiers) > 1 else (),
        causes=draw(few),
        not_causes=draw(few),
        joined=draw(few),
        not_joined=draw(few),
        not_selecting=draw(st.sets(st.sampled_from(NAMES), max_size=3)),
    )
    try:
        known.facts(NAMES)
    except KnowledgeError:
        return draw(statements())
    return known


def has_dag(known: Knowledge) -> bool:
    """Was a graph without hidden causes found that agrees?"""
    facts = without_selection(known.facts(NAMES))
    return agreeing(np.zeros((5, 5), np.uint8), facts, hidden=False) is not None


def system(seed: int, rows: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.uniform(0.4, 1, (6, 6)) * (rng.random((6, 6)) < 0.5), 1)
    values = rng.normal(size=(rows, 6)) @ np.linalg.inv(np.eye(6) - weights)
    return dict(zip(NAMES, values.T[rng.permutation(6)], strict=False))


@pytest.mark.parametrize("method", METHODS)
@given(known=statements(), seed=st.integers(0, 10**6), selection=st.booleans())
@settings(deadline=None, max_examples=8)
def test_nothing_in_a_result_opposes_what_is_known(method: str, known: Knowledge, seed: int, selection: bool) -> None:
    """Whether it is true or not; and the order of the columns makes no difference."""
    data = system(seed)
    if method == "boss" and not has_dag(known):
        with pytest.raises(KnowledgeError, match="nothing is hidden"):
            learn(data, method=method, selection_bias=selection, knowledge=known)
        return
    result = learn(data, method=method, selection_bias=selection, knowledge=known)
    assert opposed(result, known, selection=selection) == []
    if method == "bayes" and all(outcome.became != "contradicted" for outcome in result.knowledge):
        assert result.conflicts == ()
    turned = dict(sorted(data.items(), key=lambda item: np.sin(seed + ord(item[0][1]))))
    again = learn(turned, method=method, selection_bias=selection, knowledge=known)
    assert again.pag == result.pag
    assert [outcome.became for outcome in again.knowledge] == [outcome.became for outcome in result.knowledge]


def test_a_graph_that_lacks_only_edges_known_to_be_missing_keeps_its_colliders() -> None:
    known = Knowledge.from_text("tiers: V1 V3 V4 | V0 V2\nV1 ~> V3\nV0 !*-* V3\nV2 !*-* V4")
    result = learn(system(60818), method="bayes", selection_bias=False, knowledge=known)
    assert result.conflicts == ()
    assert str(result.pag.edge("V2", "V0")) == "V2 --> V0"
    assert str(result.pag.edge("V2", "V3")) == "V2 <-> V3"
    assert "at V0 towards V3" not in result.knowledge[0].why
    known = Knowledge.from_text("V0 !*-* V3\nV2 !*-* V4\nV0 !~> V2")
    outcome = learn(system(60818), method="bayes", selection_bias=False, knowledge=known).knowledge[-1]
    assert outcome.became == "implied"


def test_what_needs_a_hidden_cause_is_refused_where_nothing_is_hidden() -> None:
    known = Knowledge.from_text("storm !~> arson\narson !~> storm\nstorm *-* arson")
    with pytest.raises(KnowledgeError, match=r"nothing is hidden.*Use another method"):
        learn(fire(), method="boss", knowledge=known)
    for method in ("bayes", "gfci"):
        edge = learn(fire(), method=method, selection_bias=False, knowledge=known).pag.edge("storm", "arson")
        assert str(edge) == "storm <-> arson"
