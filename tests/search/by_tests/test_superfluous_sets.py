"""Where every test costs, sets that a smaller one makes superfluous: which they are, and that nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from certify.algorithms import CostlyOracle
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_search as naive
from anypag import Knowledge, Oracle, Queries, Result, learn
from anypag.search.by_tests import one_side
from anypag.search.by_tests.one_side import is_superfluous
from anypag.search.sepsets import Sepsets
from anypag.simulate import System
from anypag.simulate import random_system as system_of_the_paper
from search_examples import hard_system, random_system

N = 6


def stored(sets: naive.Sets, n: int) -> Sepsets:
    found = Sepsets.none(n)
    for pair, z in sets.items():
        x, y = (np.array([v], np.int32) for v in sorted(pair))
        found = found.adding(x, y, np.array([z], np.int32).reshape(1, -1))
    return found


@st.composite
def separations(draw: st.DrawFn) -> naive.Sets:
    """Small sets, so that many are alike; not all pairs have one."""
    sets: naive.Sets = {}
    for x, y in combinations(range(N), 2):
        others = [v for v in range(N) if v not in (x, y)]
        z = draw(st.none() | st.lists(st.sampled_from(others), max_size=2, unique=True))
        if z is not None:
            sets[frozenset((x, y))] = tuple(sorted(z))
    return sets


@settings(max_examples=150, deadline=None)
@given(separations(), st.permutations(range(N)), st.integers(1, 4), st.integers(0, 2), st.sets(st.integers(0, N - 1)))
def test_like_its_twin(sets: naive.Sets, nodes: list[int], size: int, least: int, near: set[int]) -> None:
    x, y, z = nodes[0], nodes[1], tuple(sorted(nodes[2 : 2 + size]))
    wanted = any(len(part) >= least and near.issuperset(part) for part in naive.smaller_sets(x, y, z, sets))
    assert is_superfluous(stored(sets, N), x, y, np.array(z, np.int32), frozenset(near), least) == wanted


def separates(oracle: Oracle, x: int, y: int, z: tuple[int, ...]) -> bool:
    return bool(oracle.pvalues(Queries.one(x, y, z))[0] > 0.5)


def smallest_sets(oracle: Oracle, n: int) -> Iterator[tuple[naive.Pair, tuple[int, ...]]]:
    """A smallest set for each pair that has one."""
    for x, y in combinations(range(n), 2):
        sets = naive.subsets(v for v in range(n) if v not in (x, y))
        z = next((z for z in sorted(sets, key=len) if separates(oracle, x, y, z)), None)
        if z is not None:
            yield frozenset((x, y)), z


@pytest.mark.parametrize("seed", range(6))
def test_where_a_set_separates_the_smaller_one_does(seed: int) -> None:
    """The law that the rule rests on, on every pair and set of systems with hidden and selection variables."""
    oracle = (hard_system if seed % 2 else random_system)(np.random.default_rng(seed), 7).oracle()
    sets, n_separating = dict(smallest_sets(oracle, 7)), 0
    for x, y in combinations(range(7), 2):
        for z in naive.subsets(v for v in range(7) if v not in (x, y)):
            parts = naive.smaller_sets(x, y, z, sets)
            if parts and separates(oracle, x, y, z):
                n_separating += 1
                assert all(separates(oracle, x, y, part) for part in parts)
    assert n_separating > 10


def systems() -> list[System]:
    return [(hard_system if k % 2 else random_system)(np.random.default_rng(k), 8 + k % 4) for k in range(8)]


def asking_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_side, "needed", lambda state, least, near, edge_of, queries: np.ones(len(queries), bool))


def test_nothing_is_lost_by_fewer_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse = [system_of_the_paper(14, 2.0, seed=seed) for seed in range(6)]  # where such sets are many
    several = systems() + sparse
    found = [learn(CostlyOracle(system.oracle())) for system in several]
    asking_everything(monkeypatch)
    everything = [learn(CostlyOracle(system.oracle())) for system in several]
    for system, result, whole in zip(several, found, everything, strict=True):
        assert result.pag == whole.pag == system.true_pag()
        assert result.n_tests <= whole.n_tests
    n_tests, n_all = (sum(result.n_tests for result in results[-6:]) for results in (found, everything))
    assert n_tests < 0.98 * n_all


def test_a_search_that_begins_with_larger_sets_relies_on_no_smaller_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [learn(CostlyOracle(system.oracle()), r0=1).pag for system in systems()]
    asking_everything(monkeypatch)
    assert found == [learn(CostlyOracle(system.oracle()), r0=1).pag for system in systems()]


def test_with_knowledge_and_with_a_graph_to_start_from() -> None:
    for system in systems():
        oracle = system.oracle()
        in_time = [name for name in system.dag.topological_order() if name in system.observed]
        known = Knowledge(tiers=[in_time[:4], in_time[4:]])
        assert learn(CostlyOracle(oracle), knowledge=known).pag == learn(oracle, knowledge=known).pag
        after_two = learn(oracle, max_r=2).pag
        both, one = (learn(test, initial=after_two, r0=3).pag for test in (oracle, CostlyOracle(oracle)))
        assert one == both


def stopped_and_resumed(system: System, path: Path) -> Result:
    """Stopped after every iteration."""
    while True:
        result = learn(
            CostlyOracle(system.oracle()), checkpoint=path, resume=path.exists(), stop=lambda state, info: True
        )
        if result.complete:
            return result


def test_stopped_and_resumed_it_asks_the_same(tmp_path: Path) -> None:
    for k, system in enumerate(systems()[:4]):
        result, resumed = learn(CostlyOracle(system.oracle())), stopped_and_resumed(system, tmp_path / f"{k}.anypag")
        assert resumed.pag == result.pag
        assert resumed.tests == result.tests
        assert resumed.sepsets == result.sepsets
