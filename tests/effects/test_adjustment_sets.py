"""The generalised adjustment criterion by walks against the same by all paths, on graphs too large to enumerate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import anypag as ap
import naive_effects
from anypag.graphs.marks import Mark
from strategies import mags, seeded_mags


def without_selection(mag: ap.MAG) -> bool:
    return not ((mag.marks == Mark.TAIL) & (mag.marks.T == Mark.TAIL)).any()


pags = (mags(6) | seeded_mags(7)).filter(without_selection).map(ap.MAG.to_pag)


Question = tuple[ap.PAG, list[int], list[int], list[int]]


@st.composite
def questions(draw: st.DrawFn) -> Question:
    pag = draw(pags)
    assume(len(pag) > 2)
    order = draw(st.permutations(range(len(pag))))
    a, b = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    rest = order[a + b :]
    z = draw(st.lists(st.sampled_from(rest), unique=True)) if rest else []
    assume(order[a : a + b])
    return pag, order[:a], order[a : a + b], z


@given(questions())
@settings(max_examples=200)
def test_by_walks_and_by_paths(question: Question) -> None:
    pag, x, y, z = question
    marks = tuple(map(tuple, pag.marks.tolist()))
    assert ap.is_adjustment_set(pag, x, y, z) == naive_effects.is_adjustment_set(marks, x, y, z)


@given(questions(), st.integers(0, 1000))
def test_the_order_of_the_nodes_does_not_matter(question: Question, seed: int) -> None:
    pag, x, y, _ = question
    other = pag.subgraph(np.random.default_rng(seed).permutation(len(pag)).tolist())
    first, second = (
        ap.effect(graph, [pag.names[v] for v in x], [pag.names[v] for v in y], selection_bias=False)
        for graph in (pag, other)
    )
    assert first.status == second.status
    assert set(first.adjustment_set or ()) == set(second.adjustment_set or ())
    assert {frozenset(z) for z in first.minimal_sets()} == {frozenset(z) for z in second.minimal_sets()}


@given(questions())
def test_sets_that_are_offered_are_adjustment_sets(question: Question) -> None:
    pag, x, y, within = question
    found = ap.effect(pag, x, y, within=within, selection_bias=False)
    sets = list(found.minimal_sets())
    if found.adjustment_set is not None:
        assert sets
        assert set(found.adjustment_set) <= {pag.names[v] for v in within}
        assert ap.is_adjustment_set(pag, x, y, found.adjustment_set)
    for z in sets:
        assert ap.is_adjustment_set(pag, x, y, z)
        assert set(z) <= {pag.names[v] for v in within}
    smallest = found.smallest_set()
    assert (len(smallest) == min(map(len, sets))) if smallest is not None else not sets


def test_in_a_dag_nothing_is_hidden() -> None:
    dag = ap.DAG.from_string("A --> X; A --> Y; X --> Y")
    assert ap.effect(dag, "X", "Y").adjustment_set == ("A",)
    assert not ap.is_adjustment_set(dag, "X", "Y", [])


def test_an_edge_that_may_hide_a_common_cause_is_not_amenable() -> None:
    """`X o-> V` is not visible; taking it for amenable would call the empty set valid."""
    pag = ap.PAG.from_string("X o-> V; W o-> V; V --> Y")
    assert pag.validate()
    assert not ap.is_adjustment_set(pag, "X", "Y", [])
    assert ap.effect(pag, "X", "Y", selection_bias=False).status == "unidentified"


def test_a_result_is_refused_where_an_effect_would_be() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    x = a + b + rng.normal(size=500)
    data = {"a": a, "b": b, "x": x, "y": x + rng.normal(size=500)}
    selected, whole = ap.learn(data, method="icd"), ap.learn(data, method="icd", selection_bias=False)
    assert ap.is_adjustment_set(selected, "x", "y", [])
    assert ap.is_adjustment_set(whole.pag, "x", "y", [], selection_bias=True)
    assert ap.is_adjustment_set(selected, "x", "y", [], selection_bias=False)
    assert ap.is_adjustment_set(whole, "x", "y", [])
    assert ap.is_adjustment_set(whole.pag, "x", "y", [])
    with pytest.raises(ap.AnypagError, match="stopped early"):
        ap.is_adjustment_set(ap.learn(data, method="icd", selection_bias=False, max_tests=1), "x", "y", [])
