"""Where every test costs one side of an edge is enough: as right as with both, by fewer tests. And FCI+."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from certify.algorithms import COSTLY, CostlyOracle, certify

from anypag import FisherZ, Queries, from_callable, learn
from anypag.run.engine import iterate
from anypag.search.by_tests.fci_plus import hierarchy
from anypag.simulate import System
from search_examples import hard_system, random_system, wrong_claims


@cache
def system_of(seed: int) -> System:
    """8 to 15 observed nodes; hard if the seed is odd."""
    return (hard_system if seed % 2 else random_system)(np.random.default_rng(seed), 8 + seed % 8)


def check(seed: int) -> tuple[int, int]:
    system = system_of(seed)
    both, one = learn(system.oracle()), learn(CostlyOracle(system.oracle()))
    assert one.pag == system.true_pag()
    assert [claim for item in one.history for claim in wrong_claims(item.pag, system)] == []
    return both.n_tests, one.n_tests


def test_one_side_finds_the_truth_by_fewer_tests() -> None:
    both, one = np.sum([check(seed) for seed in range(24)], axis=0)
    assert one < 0.95 * both


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 500, 50))
def test_one_side_finds_the_truth_on_500(first: int) -> None:
    for seed in range(first, first + 50):
        check(seed)


@pytest.mark.parametrize("n", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_on_every_class_of_few_nodes(n: int) -> None:
    tallies = {tally.method: tally for tally in certify(n, ("icd", f"icd{COSTLY}", "fci+"))}
    assert all(tally.is_right for tally in tallies.values())
    assert tallies[f"icd{COSTLY}"].mean_tests <= tallies["icd"].mean_tests


def test_each_side_is_tested_up_to_the_size_it_says() -> None:
    """The chosen side of an edge comes to the size of the iteration; with a test that costs nothing no one counts."""
    system = system_of(3)
    states = [state for state, _ in iterate(CostlyOracle(system.oracle()))]
    assert all(state.seen_sizes is not None and state.seen_sizes.max() <= state.r for state in states)
    assert states[1].seen_sizes is not None and (states[1].seen_sizes == 1).any()
    assert (states[1].seen_sizes == 0).any()  # the other side of an edge
    plain = [state for state, _ in iterate(system.oracle())]
    assert all(state.seen_sizes is None for state in plain)


def test_the_first_set_counts_where_tests_cost() -> None:
    values = random_system(np.random.default_rng(0), 8).linear_gaussian(300, seed=0)
    test = FisherZ(values)
    slow = from_callable(lambda x, y, z: float(test.pvalues(Queries.one(x, y, z))[0]), test.names)
    assert learn(slow, method="icd").choices.sepset == "first"
    assert learn(test, method="icd").choices.sepset == "largest-p"
    assert learn(slow, method="icd", sepset="largest-p").n_tests >= learn(slow, method="icd").n_tests


@pytest.mark.parametrize("seed", range(24))
def test_fci_plus_finds_the_truth(seed: int) -> None:
    system = system_of(seed)
    result = learn(system.oracle(), method="fci+")
    assert result.pag == system.true_pag()
    for item in result.history[:-1]:
        assert set(np.unique(item.pag.marks).tolist()) <= {0, 1}


def test_a_hierarchy_is_closed() -> None:
    system = system_of(1)
    state = [state for state, _ in iterate(system.oracle(), method="fci+")][-1]
    found = hierarchy(state, {0, 1, 2})
    assert found >= {0, 1, 2}
    for a in found:
        for b in found - {a}:
            assert set(state.sepsets.get(a, b) or ()) <= found


def test_neighbours_do_not_suffice_in_hard_systems() -> None:
    """The second phase is needed: without it an edge would stay."""
    histories = [learn(system_of(seed).oracle(), method="fci+").history for seed in range(1, 20, 2)]
    assert sum(any(item.info.phase == "links" and item.info.removed for item in history) for history in histories) > 3
