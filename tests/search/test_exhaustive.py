"""Every equivalence class of MAGs on up to four nodes: what each algorithm learns, against the truth by definition.

(Five nodes: `make certify`.)
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest

import naive_search as naive
from anypag import MAG, Oracle, Result, iterate, learn
from naive_search import Graph

Model = frozenset[tuple[int, int, tuple[int, ...]]]

SIZES = {2: 2, 3: 11, 4: 251}
FINALLY_RIGHT: tuple[str, ...] = ("icd", "icd-paper", "fci", "anytime-fci")


@cache
def classes(n: int) -> list[tuple[Model, list[Graph]]]:
    return list(naive.classes_of_mags(n).items())


def oracle_of(member: Graph, n: int) -> Oracle:
    return Oracle(MAG(naive.marks_of(member, n)))


def p_in(model: Model, x: int, y: int, z: tuple[int, ...]) -> float:
    return float((min(x, y), max(x, y), z) in model)


def p_out_of(model: Model, x: int, y: int, z: tuple[int, ...]) -> float:
    return 1 - p_in(model, x, y, z)


def graph_of(result: Result) -> Graph:
    return naive.graph_of(result.pag.marks)


def wrong_claims(graph: Graph, members: list[Graph], n: int) -> list[str]:
    return [claim for member in members for claim in naive.wrong_claims(graph, member, n)]


@pytest.mark.parametrize("n", SIZES)
def test_the_number_of_classes(n: int) -> None:
    assert len(classes(n)) == SIZES[n]


@pytest.mark.parametrize("method", FINALLY_RIGHT)
@pytest.mark.parametrize("n", SIZES)
def test_the_true_pag_is_found(n: int, method: str) -> None:
    for _, members in classes(n):
        result = learn(oracle_of(members[0], n), method=method)
        assert graph_of(result) == naive.common_marks(members)
        assert result.complete
        assert result.stopped is None


@pytest.mark.parametrize("n", SIZES)
def test_the_member_asked_does_not_matter(n: int) -> None:
    for _, members in classes(n)[::7]:
        for member in members[1:3]:
            assert graph_of(learn(oracle_of(member, n))) == naive.common_marks(members)


@pytest.mark.parametrize("n", SIZES)
def test_rfci_claims_nothing_wrong(n: int) -> None:
    for _, members in classes(n):
        result = learn(oracle_of(members[0], n), method="rfci")
        assert not wrong_claims(graph_of(result), members, n)


@pytest.mark.parametrize("n", SIZES)
def test_icd_claims_nothing_wrong_after_any_iteration(n: int) -> None:
    for _, members in classes(n):
        for state, _ in iterate(oracle_of(members[0], n)):
            assert not wrong_claims(naive.graph_of(state.pag.marks), members, n)


@pytest.mark.parametrize("n", SIZES)
def test_icd_is_its_naive_twin(n: int) -> None:
    """The same graph, separating sets and number of tests, iteration by iteration."""
    for model, members in classes(n):
        p = partial(p_in, model)
        twin = naive.Search(n, p, alpha=0.5, exact=True, max_sets=0, last_r=n - 2, dependence=partial(p_out_of, model))
        result = learn(oracle_of(members[0], n))
        steps = list(twin.steps())
        assert [naive.graph_of(item.pag.marks) for item in result.history] == [step.graph for step in steps]
        assert [item.info.n_tests for item in result.history] == [step.n_asked for step in steps]
        assert {
            frozenset(map(result.pag.index, pair)): tuple(map(result.pag.index, found.given))
            for pair, found in result.sepsets.items()
        } == steps[-1].sepsets


@pytest.mark.parametrize("n", SIZES)
def test_fci_is_its_naive_twin(n: int) -> None:
    for model, members in classes(n):
        p = partial(p_in, model)
        assert graph_of(learn(oracle_of(members[0], n), method="fci")) == naive.fci(n, p)


@pytest.mark.parametrize(
    ("method", "total"), [("icd", 3498), ("icd-paper", 3481), ("fci", 4380), ("anytime-fci", 4380), ("rfci", 4092)]
)
def test_the_number_of_tests_on_four_nodes(method: str, total: int) -> None:
    """Distinct tests over all 251 classes, the checks' included: 13.9 a graph for ICD, 17.5 for FCI."""
    assert sum(learn(oracle_of(members[0], 4), method=method).n_tests for _, members in classes(4)) == total


@pytest.mark.parametrize("n", SIZES)
def test_without_selection_the_rules_for_it_are_not_needed(n: int) -> None:
    for _, members in classes(n):
        is_selected = any("-" == mark == graph[j, i] for graph in members for (i, j), mark in graph.items())
        if not is_selected:
            result = learn(oracle_of(members[0], n), selection_bias=False)
            assert graph_of(result) == naive.common_marks(members)


def test_rules_for_selection_can_be_left_out() -> None:
    square = MAG.from_string("A --- B; B --- C; C --- D; D --- A")
    assert np.array_equal(learn(Oracle(square)).pag.marks, square.marks)
    assert "o-o" in str(learn(Oracle(square), selection_bias=False).pag)
