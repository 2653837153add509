"""What cannot all be true: against every order of causes there is, and as small as it can be."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_causes as naive
from anypag import PAG
from anypag.graphs.contradictions import (
    Assertion,
    cannot_all_be_true,
    contradictions,
    of_graph,
    smallest,
    statements_of,
)
from anypag.graphs.pag import MAG
from anypag.simulate import random_system
from strategies import pag_like

NAMES = ("A", "B", "C", "D")
EVERY = [Assertion(kind, a, b) for kind in ("cause", "not", "independent") for a, b in permutations(NAMES, 2)]
some = st.lists(st.sampled_from(EVERY), max_size=9, unique=True)


@settings(max_examples=300, deadline=None)
@given(some, st.booleans())
def test_statements_contradict_each_other_exactly_if_no_order_of_causes_makes_them_true(
    statements: list[Assertion], selection: bool
) -> None:
    possible = naive.can_all_be_true(statements, NAMES, selection=selection)
    assert cannot_all_be_true(statements, selection=selection) == (not possible)


@settings(max_examples=150, deadline=None)
@given(some, st.booleans())
def test_of_a_smallest_set_nothing_can_be_left_out(statements: list[Assertion], selection: bool) -> None:
    if not cannot_all_be_true(statements, selection=selection):
        return
    kept = smallest(statements, selection=selection)
    assert set(kept) <= set(statements)
    assert not naive.can_all_be_true(kept, NAMES, selection=selection)
    for statement in kept:
        fewer = [other for other in kept if other != statement]
        assert naive.can_all_be_true(fewer, NAMES, selection=selection)


@settings(max_examples=100, deadline=None)
@given(pag_like(4), st.data())
def test_a_graph_has_contradictions_exactly_if_its_statements_cannot_all_be_true(
    graph: PAG, data: st.DataObject
) -> None:
    apart = [(a, b) for a in graph.names for b in graph.names if a < b and not graph.is_adjacent(a, b)]
    independent = [pair for pair in apart if data.draw(st.booleans())]
    found, _ = contradictions(graph, independent)
    said = [*statements_of(graph), *(Assertion("independent", a, b) for a, b in independent)]
    assert bool(found) == (not naive.can_all_be_true(said, graph.names, selection=True))
    for contradiction in found:
        assert set(contradiction.statements) <= set(said)
        statements = [one for one in contradiction.statements if isinstance(one, Assertion)]
        assert not naive.can_all_be_true(statements, graph.names, selection=True)
        assert "cannot all be true" in str(contradiction)
        assert all(contradiction.is_about(s.b, s.a) for s in contradiction.statements)


@settings(max_examples=100, deadline=None)
@given(pag_like(8), st.data(), st.booleans())
def test_of_a_contradiction_in_a_graph_nothing_can_be_left_out(
    graph: PAG, data: st.DataObject, selection: bool
) -> None:
    apart = [pair for pair in combinations(graph.names, 2) if not graph.is_adjacent(*pair)]
    independent = [pair for pair in apart if data.draw(st.booleans())]
    for contradiction in contradictions(graph, independent, selection=selection)[0]:
        statements = [one for one in contradiction.statements if isinstance(one, Assertion)]
        assert smallest(statements, selection=selection) == tuple(statements)


def test_the_order_of_contradictions_does_not_depend_on_how_names_are_hashed() -> None:
    code = (
        "from anypag import PAG; from anypag.graphs.contradictions import contradictions; "
        "tails = '; '.join(f'cause --> effect{k}' for k in range(9)); "
        "graph = PAG.from_string(f'first o-> cause; {tails}'); "
        "pairs = [('effect0', f'effect{k}') for k in range(1, 5)]; "
        "print([str(found) for found in contradictions(graph, pairs)[0]])"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert told[0].count(b"cannot all be true") == 4
    assert told[0] == told[1] == told[2]


@pytest.mark.parametrize("seed", range(5))
def test_true_graphs_have_none(seed: int) -> None:
    system = random_system(12, 3, n_selection=seed % 2, seed=seed)
    assert contradictions(system.true_pag()) == ((), True)


def test_a_mag_has_none() -> None:
    mag = MAG.from_string("A --- B; B --> C; C <-> D")
    assert contradictions(PAG(mag.marks, mag.names)) == ((), True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("A --> B; B --> C; C --> A", "A is a cause of B, B is a cause of C, and A is not a cause of C"),
        ("A --> B; B --> C; A <-> C", "A is a cause of B, B is a cause of C, and A is not a cause of C"),
        (
            "C o-> A; A --- B",
            "A is a cause of B or of being in the sample, B is a cause of A or of being in the sample, "
            "and A is not a cause of C or of being in the sample",
        ),
    ],
)
def test_they_are_told_in_words(text: str, sentence: str) -> None:
    found, is_all = contradictions(PAG.from_string(text))
    assert is_all
    assert str(found[0]) == f"{sentence}: these cannot all be true."


def test_independence_and_a_chain_of_causes() -> None:
    graph = PAG.from_string("X o-> A; A --> B; B --> C")
    assert contradictions(graph, [("X", "C")])[0] == ()  # nobody said that X is a cause of anything
    (found,), _ = contradictions(graph, [("A", "C")])
    assert str(found).startswith("A is a cause of B, B is a cause of C, A is not a cause of X, and A and C are indep")


def test_the_list_ends_after_a_number_of_comparisons() -> None:
    graph = PAG.from_string("A --> B; B --> C; C --> A")
    found, is_all = contradictions(graph, most_compared=0)
    assert len(found) == 1
    assert not is_all


def test_a_graph_that_no_system_has() -> None:
    told = of_graph(PAG.from_string("A o-> B; B --> C; D"), "a reason.", ("A", "B", "C", "D"))
    assert told.is_about("B", "A")
    assert told.is_about("B", "C")
    assert not told.is_about("A", "C")
    assert str(told) == (
        "No system of variables, hidden ones included, has exactly this graph; see A o-> B --> C and D. Why: a reason."
    )


def test_marks_of_a_graph_as_statements() -> None:
    assert set(statements_of(PAG.from_string("A --> B; B o-> C"))) == {
        Assertion("cause", "A", "B"),
        Assertion("not", "B", "A"),
        Assertion("not", "C", "B"),
    }
    assert np.array_equal(list(statements_of(PAG.from_string("A o-o B"))), [])
