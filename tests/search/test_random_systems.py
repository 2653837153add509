"""Random systems with latent and selected variables, half of them such that neighbours do not suffice."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from anypag import Oracle, is_separated, learn
from anypag.simulate import System
from search_examples import hard_system, random_system, skeleton_by_all_subsets, wrong_claims


@cache
def system_of(seed: int) -> System:
    """8 to 15 observed nodes; hard if the seed is odd."""
    return (hard_system if seed % 2 else random_system)(np.random.default_rng(seed), 8 + seed % 8)


def check(system: System) -> None:
    """ICD after every iteration, its end, FCI's end, RFCI's claims."""
    truth = system.true_pag()
    assert np.array_equal(truth.marks != 0, skeleton_by_all_subsets(system))
    icd, fci, rfci = (learn(system.oracle(), method=method) for method in ("icd", "fci", "rfci"))
    assert [claim for item in icd.history for claim in wrong_claims(item.pag, system)] == []
    assert icd.pag == truth
    assert fci.pag == truth
    assert wrong_claims(rfci.pag, system) == []


@pytest.mark.parametrize("seed", range(60))
def test_icd_and_fci_find_the_truth(seed: int) -> None:
    check(system_of(seed))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(60, 500, 44))
def test_icd_and_fci_find_the_truth_on_500(first: int) -> None:
    for seed in range(first, first + 44):
        check(system_of(seed))


def test_hard_systems_are_hard() -> None:
    """RFCI keeps an edge too many in most of them: they are worth their name."""
    hard = [system_of(seed) for seed in range(1, 40, 2)]
    assert sum(len(learn(s.oracle(), method="rfci").pag.edges()) > len(s.true_pag().edges()) for s in hard) > 15


@pytest.mark.parametrize("seed", range(24))
def test_separating_sets_separate_and_are_minimal(seed: int) -> None:
    system = system_of(seed)
    result = learn(system.oracle())
    missing = {(a, b) for a in result.pag.names for b in result.pag.names if a < b} - {
        (min(e.a, e.b), max(e.a, e.b)) for e in result.pag.edges()
    }
    assert {tuple(sorted(pair)) for pair in result.sepsets} == missing
    for (a, b), found in result.sepsets.items():
        assert is_separated(system.dag, a, b, [*found.given, *system.selection])
        assert found.p == 1.0
        for member in found.given:
            smaller = [name for name in found.given if name != member]
            assert not is_separated(system.dag, a, b, [*smaller, *system.selection])


@pytest.mark.parametrize("seed", range(24))
def test_every_mark_says_which_rule_set_it(seed: int) -> None:
    system = system_of(seed)
    result = learn(system.oracle())
    explained = {(reason.other, reason.at): reason.mark for reason in result.marks}
    assert len(explained) == len(result.marks)
    marks = {
        (names[0], names[1]): mark
        for edge in result.pag.edges()
        for names, mark in (((edge.a, edge.b), edge.mark_b), ((edge.b, edge.a), edge.mark_a))
        if mark.name != "CIRCLE"
    }
    assert explained == marks
    assert all(reason.because and 0 <= reason.rule <= 10 for reason in result.marks)
    assert result.conflicts == ()


@pytest.mark.parametrize("seed", range(16))
def test_with_an_oracle_the_order_of_the_columns_does_not_matter(seed: int) -> None:
    system = system_of(seed)
    names = np.random.default_rng(seed).permutation(len(system.dag))
    shuffled = system.dag.subgraph([system.dag.names[i] for i in names])
    assert learn(Oracle(shuffled, system.latent, system.selection)).pag == learn(system.oracle()).pag
