"""The Possible-D-Sep phase of FCI: what it will cost is said, it can be made shorter, and it can be stopped."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

import anypag as ap
import naive_search as naive
from anypag.choices import Choices
from anypag.errors import AnypagWarning, ParameterError
from anypag.run.engine import Search
from anypag.search.by_tests import fci
from anypag.search.by_tests.candidates import possible_d_sep_pools
from anypag.search.progress import Progress


@pytest.mark.parametrize("seed", range(12))
def test_sets_on_paths_are_enough_with_an_exact_test(seed: int) -> None:
    oracle = ap.simulate.random_system(9, 2.5, n_selection=seed % 2, seed=seed).oracle()
    whole = ap.learn(oracle, method="fci")
    on_paths = ap.learn(oracle, method="fci", possible_dsep="on-paths")
    assert on_paths.pag == whole.pag
    assert on_paths.n_tests <= whole.n_tests


@pytest.mark.parametrize("seed", range(8))
def test_pools_on_paths_are_the_pools_within_the_block(seed: int) -> None:
    sample = ap.simulate.random_system(9, 2.5, seed=seed).linear_gaussian(300, seed=seed)
    search = Search(sample, Choices(method="fci", possible_dsep="on-paths"))
    state = next(state for state, _ in search.steps() if state.phase == "possible-d-sep")
    assert state.adjacency_marks is not None
    x, y = state.edges()
    pools = possible_d_sep_pools(state, search.problem)(x, y)
    for k, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        inside = naive.on_a_path(naive.graph_of(state.marks), a, b)
        for side, (own, other) in enumerate(((a, b), (b, a))):
            span = slice(pools.first[2 * k + side], pools.first[2 * k + side + 1])
            wanted = naive.possible_d_sep(naive.graph_of(state.marks), own, state.n) - {other}
            assert set(pools.nodes[span].tolist()) == wanted & inside


def test_a_cap_on_the_phase() -> None:
    sample = ap.simulate.random_system(12, 3.0, seed=4).linear_gaussian(500, seed=4)
    capped = ap.learn(sample, method="fci", dsep_max_r=1)
    sizes = [item.r for item in capped.history if item.info.phase == "possible-d-sep"]
    assert sizes == [1]
    none = ap.learn(sample, method="fci", dsep_max_r=0)
    assert all(item.info.phase != "possible-d-sep" for item in none.history)
    assert len(none.pag.edges()) >= len(capped.pag.edges())


def test_the_cost_is_said_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fci, "LONG", 0.0)
    sample = ap.simulate.random_system(12, 3.0, seed=4).linear_gaussian(500, seed=4)
    with pytest.warns(AnypagWarning, match="The Possible-D-Sep phase begins: up to .* tests for .* edges, about"):
        ap.learn(sample, method="fci", max_r=2)
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ap.learn(sample, method="fci", max_r=2)


def test_the_estimate_counts_all_subsets() -> None:
    """If no edge falls in the phase, it is what is asked, but for sets that are in both pools."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(2000, 1))
    sample = common + rng.normal(size=(2000, 6))
    search = Search(sample, Choices(method="fci"))
    for state, info in search.steps():
        if state.phase == "possible-d-sep" and info.phase == "adjacency":
            assert fci.most_tests(state, search.problem) == 15 * 2 * (2**4 - 1)


def test_a_budget_bites_inside_the_phase() -> None:
    sample = ap.simulate.random_system(40, 3.0, seed=7).linear_gaussian(1000, seed=7)
    ap.learn(sample, method="fci", max_r=1)  # compiles
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnypagWarning)
        result = ap.learn(sample, method="fci", time_budget=0.5)
    assert result.stopped == "time" and time.perf_counter() - began < 5.0


def test_ctrl_c_bites_inside_the_phase() -> None:
    sample = ap.simulate.random_system(40, 3.0, seed=7).linear_gaussian(1000, seed=7)
    seen: list[Progress] = []

    def press(progress: Progress) -> None:
        seen.append(progress)
        if progress.r >= 3 and progress.done > 0:
            raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnypagWarning)
        result = ap.learn(sample, method="fci", progress=press)
    assert result.stopped == "interrupt" and result.history


def test_methods_without_the_phase_refuse_its_choices() -> None:
    with pytest.raises(ParameterError, match="left out: method 'auto' does not use it"):
        ap.learn(ap.Oracle(ap.DAG.from_string("A --> B")), possible_dsep="on-paths")
