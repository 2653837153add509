"""The order of the columns, and of Python's hashes, does not matter."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from anypag import Queries, learn
from anypag.catalogue import METHODS, TEST_METHODS
from anypag.choices import Choices
from anypag.ci.gaussian import FisherZ
from anypag.run.engine import Search
from anypag.simulate import Sample
from anypag.simulate import random_system as paper_system
from search_examples import random_system


def check_permuted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, alpha, r0 = int(rng.integers(300, 1001)), float(rng.choice([0.01, 0.05])), int(rng.choice([0, 0, 0, 1]))
    system = paper_system(16, float(rng.choice([2.0, 3.0])), seed=rng) if seed % 2 else random_system(rng, 13)
    sample = system.linear_gaussian(n_rows, seed=seed)
    order = rng.permutation(len(sample.names))
    shuffled = Sample(sample.rows[:, order], [sample.names[i] for i in order])
    first, second = (learn(FisherZ(data), alpha=alpha, r0=r0) for data in (sample, shuffled))
    assert first.pag == second.pag
    assert [item.pag for item in first.history] == [item.pag for item in second.history]
    assert first.n_tests == second.n_tests
    assert {frozenset(pair): set(s.given) for pair, s in first.sepsets.items()} == {
        frozenset(pair): set(s.given) for pair, s in second.sepsets.items()
    }
    assert set(first.conflicts) == set(second.conflicts)


@pytest.mark.parametrize("seed", range(12))
def test_permuted_columns_give_the_same_graph(seed: int) -> None:
    check_permuted(seed)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("method", [name for name in TEST_METHODS if METHODS[name].orders_nodes])
def test_reversed_columns_give_the_same_with_methods_that_order_nodes(method: str, seed: int) -> None:
    sample = random_system(np.random.default_rng(seed), 9).linear_gaussian(400, seed=seed)
    turned = Sample(sample.rows[:, ::-1], list(sample.names)[::-1])
    first, second = (learn(FisherZ(data), method=method, alpha=0.05) for data in (sample, turned))
    assert first.pag == second.pag and first.tests == second.tests
    assert {frozenset(pair): set(s.given) for pair, s in first.sepsets.items()} == {
        frozenset(pair): set(s.given) for pair, s in second.sepsets.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("first", range(12, 200, 47))
def test_permuted_columns_give_the_same_graph_200_times(first: int) -> None:
    for seed in range(first, first + 47):
        check_permuted(seed)


@pytest.mark.parametrize("r0", [0, 1])
def test_nodes_are_numbered_by_how_much_they_depend_on_all_others(r0: int) -> None:
    """From the first step on, whatever its size."""
    test = FisherZ(paper_system(10, seed=1).linear_gaussian(500, seed=1))
    search = Search(test, Choices(r0=r0))
    state, _ = next(search.steps())
    x, y = (end.astype(np.int32) for end in np.triu_indices(state.n, 1))
    strength = test.strength(Queries(state.nodes.order[x], state.nodes.order[y], np.empty((len(x), 0))))
    assert np.allclose(search.problem.strength.between(x, y), strength)
    table = search.problem.strength.table_of(state.n)
    np.fill_diagonal(table, 0.0)
    assert (np.diff(table.sum(axis=1)) <= 1e-6).all()


SCRIPT = """
import numpy as np
from anypag import learn, simulate
from anypag.ci.gaussian import FisherZ
system = simulate.random_system(14, 2.5, seed=3)
for method in ("icd", "fci", "rfci", "icd-paper", "anytime-fci"):
    result = learn(FisherZ(system.linear_gaussian(500, seed=3)), method=method)
    print(result.pag, result.tests, result.marks, result.conflicts, dict(result.sepsets))
"""


def test_hash_seeds_change_nothing() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(outputs) == 1
    assert outputs != {""}
