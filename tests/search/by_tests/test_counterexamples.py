"""Four graphs on which the algorithm of the paper, or a part of it that looks harmless to leave out, goes wrong."""

from __future__ import annotations

from itertools import combinations

import pytest

import naive_search as naive
from anypag import is_separated, iterate, learn
from anypag.search.by_tests import icd
from anypag.search.orient import orient_state
from anypag.simulate import System
from search_examples import ELEVEN, NINE, SEVEN, TEN, canonical_system, wrong_claims

SYSTEMS = {
    "seven": canonical_system(SEVEN),
    "nine": System(NINE),
    "ten": System(TEN),
    "eleven": canonical_system(ELEVEN),
}


@pytest.fixture
def without_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """ICD with orientation believed unchecked."""
    monkeypatch.setattr(icd, "check_and_orient", lambda state, inquiry, orient: orient_state(state, inquiry.problem))


@pytest.mark.parametrize("name", SYSTEMS)
def test_right_after_every_iteration_and_at_the_end(name: str) -> None:
    system = SYSTEMS[name]
    graphs = [state.pag for state, _ in iterate(system.oracle())]
    assert [claim for graph in graphs for claim in wrong_claims(graph, system)] == []
    assert graphs[-1] == system.true_pag()


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("method", ["fci", "anytime-fci"])
def test_fci_is_right_in_the_end(name: str, method: str) -> None:
    assert learn(SYSTEMS[name].oracle(), method=method).pag == SYSTEMS[name].true_pag()


def test_seven_one_set_of_three_separates() -> None:
    rest = ("0", "2", "3", "5", "6")
    assert [z for z in combinations(rest, 3) if is_separated(SEVEN, "1", "4", z)] == [("0", "2", "5")]
    assert not any(is_separated(SEVEN, "1", "4", z) for size in range(3) for z in combinations(rest, size))


def test_seven_sets_closed_under_paths_would_miss_it() -> None:
    """In the graph that iteration 3 sees, 0 is in the pools of 1–4 but no walk to it stays within {0, 2, 5}."""
    graphs = {info.r: naive.graph_of(state.pag.marks) for state, info in iterate(SYSTEMS["seven"].oracle())}
    before = graphs[2]
    pools = naive.pools(before, 1, 4, 3, max_sets=0)
    assert all({0, 2, 5} <= pool.keys() for pool in pools)
    inside = {edge: mark for edge, mark in before.items() if set(edge) <= {1, 4, 0, 2, 5}}
    assert all(0 not in naive.pool(inside, x, y, 3, tails_close=False, anterior=False) for x, y in ((1, 4), (4, 1)))
    assert (1, 4) not in graphs[3]


def test_seven_the_set_is_found() -> None:
    assert learn(SYSTEMS["seven"].oracle()).sepsets["1", "4"].given == ("0", "2", "5")


def test_nine_an_edge_outlives_the_size_of_its_separating_set() -> None:
    """Not every pair that r nodes separate is without an edge after iteration r."""
    assert is_separated(NINE, "X", "Y", ["Z", "W1", "W2"])
    for state, info in iterate(SYSTEMS["nine"].oracle(), max_r=3):
        assert state.pag.is_adjacent("X", "Y"), info.r


@pytest.mark.usefixtures("without_checks")
def test_ten_without_checks_an_arrowhead_is_wrong() -> None:
    system = SYSTEMS["ten"]
    wrong = {info.r: wrong_claims(state.pag, system) for state, info in iterate(system.oracle())}
    assert wrong[3] == ["the mark at Y on C <-> Y"]


@pytest.mark.usefixtures("without_checks")
def test_eleven_without_checks_the_edge_is_never_removed() -> None:
    system = SYSTEMS["eleven"]
    learned = learn(system.oracle()).pag
    assert learned.is_adjacent("6", "7")
    assert not system.true_pag().is_adjacent("6", "7")


def test_the_checks_remove_an_edge_of_ten() -> None:
    infos = [info for _, info in iterate(SYSTEMS["ten"].oracle())]
    assert sum(info.removed_by_checks for info in infos) > 0
    assert all(info.removed >= info.removed_by_checks for info in infos)
