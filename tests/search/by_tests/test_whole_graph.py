"""Passes over all correlations: what question after question finds, to the bit, in any graph, on any data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import anypag as ap
from anypag._kernels.pairs import largest_beside, rounded_sums
from anypag.arrays import Flags, Indices
from anypag.choices import Choices
from anypag.ci.base import Queries
from anypag.ci.gaussian import FisherZ
from anypag.ci.passes import BestSets, CorrelationPasses, NearEdges
from anypag.graphs.skeleton import Skeleton
from anypag.run.engine import Search
from anypag.search.by_tests import tested_edges
from anypag.search.by_tests.candidates import Candidates, PDSep, pdsep_pools, places_of
from anypag.search.by_tests.tested_edges import test_candidates as by_questions
from anypag.search.inquiry import Inquiry
from anypag.search.state import State
from anypag.threads import runs_of


class OneByOne(FisherZ):
    """The same test, with answers that nobody can take from its correlations."""

    def pvalues(self, queries: Queries) -> Any:
        return super().pvalues(queries)


def table(seed: int, columns: int, rows: int) -> Any:
    """Columns of all kinds of dependence: copies with hardly any noise, groups, coarse values that make ties, and
    far values, for which p-values are raised.
    """
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(rows, 3))
    data = common[:, rng.integers(0, 3, columns)] * rng.choice([0.0, 0.3, 1.0, 30.0], columns)
    data += rng.normal(size=(rows, columns))
    far = rng.random(columns) < 0.3
    data[:, far] = data[:, far] ** 5
    coarse = rng.random(columns) < 0.3
    data[:, coarse] = np.sign(data[:, coarse])
    data[0, coarse], data[1, coarse] = 1.0, -1.0
    return data


def found(result: ap.Result) -> Any:
    """All that people can read in a result."""
    pairs = [(a, b) for a in result.pag.names for b in result.pag.names if a < b]
    kept = {pair: result.kept_p(*pair) for pair in pairs if result.pag.edge(*pair)}
    steps = [(item.r, item.info.tests, item.info.n_open, item.info.removed, str(item.pag)) for item in result.history]
    return steps, dict(result.sepsets), kept, result.marks, result.conflicts, result.complete


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.integers(2, 24),
    st.sampled_from([6, 7, 30, 300]),
    st.sampled_from([1e-6, 0.01, 0.3, 0.9]),
    st.sampled_from([None, 0, 3, 10_000]),
)
def test_a_search_finds_the_same_as_question_by_question(
    seed: int, columns: int, rows: int, alpha: float, max_sets: int | None
) -> None:
    data = table(seed, columns, rows)
    results = [
        ap.learn(test(data, singular="keep"), alpha=alpha, max_r=3, max_sets=max_sets, threads=threads)
        for test, threads in ((OneByOne, 1), (FisherZ, 1), (FisherZ, 3))
    ]
    assert found(results[0]) == found(results[1]) == found(results[2])


@pytest.mark.parametrize("method", ["fci", "rfci", "anytime-fci"])
def test_other_methods_too(method: str) -> None:
    data = table(3, 12, 200)
    assert found(ap.learn(OneByOne(data), method=method, max_r=2)) == found(
        ap.learn(FisherZ(data), method=method, max_r=2)
    )


def test_a_limit_on_tests_is_kept() -> None:
    result = ap.learn(table(1, 20, 300), method="icd", max_tests=195)
    assert (result.stopped, result.n_tests) == ("tests", 190)
    assert len(result.sepsets) > 0 and all(0 < why.p <= 1 for why in result.sepsets.values())


def random_state(
    seed: int, n: int, density: float, kind: type[FisherZ] = FisherZ, rows: int = 100
) -> tuple[Search, State]:
    """A search whose graph has been thinned at random, with marks of all kinds; two columns may be copies."""
    rng = np.random.default_rng(seed)
    data = table(seed, n, rows)
    data[:, rng.integers(0, n)] = data[:, rng.integers(0, n)]
    search = Search(kind(data, singular="keep"), Choices(method="icd", sepset="largest-p", max_sets=1000))
    state, _ = next(search.steps())
    marks = np.triu(rng.integers(1, 4, (n, n)) * (rng.random((n, n)) < density), 1).astype(np.uint8)
    marks = marks + np.where(marks.T > 0, rng.integers(1, 4, (n, n)), 0).astype(np.uint8)
    return search, State(state.nodes, 0, marks, state.sepsets, state.settled, state.evidence)


def assert_same_best(search: Search, x: Indices, y: Indices, got: Any, wanted: Any, is_clear: Flags) -> None:
    """The same p-values to the bit, and the same sets where it is clear which is best.

    Where p-values are raised, sets that are copies of each other differ in the last bits only, and may change places.
    """
    test, order = search.problem.bound_test, search.problem.nodes.order
    assert isinstance(test, FisherZ)
    far = test.is_far(order[x], order[y])
    assert_array_equal(got.p[~far], wanted.p[~far])
    assert_allclose(got.p[far], wanted.p[far], rtol=1e-11)
    assert_array_equal(got.z[is_clear & ~far], wanted.z[is_clear & ~far])
    others = np.flatnonzero(is_clear & far & (got.z != wanted.z).any(axis=1))
    p = [test.pvalues(Queries(order[x[others]], order[y[others]], order[sets[others]])) for sets in (got.z, wanted.z)]
    assert_allclose(p[0], p[1], rtol=1e-11)


@example(seed=2633, n=14, density=0.5, max_sets=-1)
@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(3, 30), st.floats(0.05, 0.9), st.sampled_from([-1, 3, 1000]))
def test_single_nodes_in_any_graph(seed: int, n: int, density: float, max_sets: int) -> None:
    search, state = random_state(seed, n, density)
    x, y = state.edges()
    pools = pdsep_pools(state, search.problem, x, y, PDSep(1, True, max_sets=-1))
    union = [set(pools.nodes[pools.first[2 * k] : pools.first[2 * k + 2]].tolist()) for k in range(len(x))]
    is_open = pools.n_large(1) == 2
    one_by_one, _ = random_state(seed, n, density, OneByOne)
    best = by_questions(Candidates(x, y, 1, pools, is_open), Inquiry(one_by_one.problem, 1), "largest-p")
    blocks, skeleton = state.blocks.of_edge, state.skeleton
    edges = NearEdges(skeleton.start, skeleton.neighbour, blocks, x, y, blocks[places_of(skeleton, x, y)])
    passes = Inquiry(search.problem, 1).passes
    assert passes is not None
    got = passes.best_singles(search.problem.nodes.order, edges, max_sets)
    is_large = np.array([bool(o) and 0 <= max_sets < len(u) for o, u in zip(is_open, union, strict=True)], bool)
    assert_array_equal(got.is_open, is_open)
    assert_array_equal(got.is_large, is_large)
    done = is_open & ~is_large
    assert got.n_tests == sum(len(union[k]) for k in np.flatnonzero(done))
    best.p[~done] = np.nan
    assert_same_best(search, x, y, got, best, done & (np.nan_to_num(best.p) > 0.01))


@settings(max_examples=80)
@given(
    st.integers(0, 10_000),
    st.integers(4, 14),
    st.integers(1, 5),
    st.floats(0.1, 0.9),
    st.sampled_from([6, 7, 8, 100]),
    st.sampled_from([1, 2, 7, 4096]),
)
def test_the_best_of_all_sets(seed: int, n: int, r: int, density: float, rows: int, room: int) -> None:
    """However often one has to stop in between, and whatever the pools share; copies and ties among the columns."""
    searches = [random_state(seed, n, density, kind, rows) for kind in (FisherZ, OneByOne)]
    (search, state), (one_by_one, _) = searches
    x, y = state.edges()
    pools = pdsep_pools(state, search.problem, x, y, PDSep(r, True, max_sets=-1))
    candidates = Candidates(x, y, r, pools, pools.n_large(r) > 0)
    asked = Inquiry(one_by_one.problem, r)
    wanted = by_questions(candidates, asked, "largest-p")
    passes, best, tried = Inquiry(search.problem, r).passes, BestSets.none(len(x), r), 0
    assert passes is not None
    while best.n_done < len(x):
        count = passes.try_sets(search.problem.nodes.order, candidates.pooled, best, room)
        assert count <= room
        tried += count
    assert tried == asked.tests.get(r, 0)
    is_clear = np.nan_to_num(best.p) > 1e-200  # below, sets of the same p-value are many, and nobody asks for them
    assert_same_best(search, x, y, best, wanted, is_clear)


@pytest.mark.parametrize("most", [1, 4])
def test_large_pools_are_asked_one_by_one(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(4, 14, 300)
    wanted = found(ap.learn(data, method="icd", alpha=0.3, singular="keep"))
    monkeypatch.setattr(tested_edges, "MOST_NEAR", most)
    assert found(ap.learn(data, method="icd", alpha=0.3, singular="keep")) == wanted


@given(st.integers(0, 10_000), st.integers(2, 40), st.sampled_from([4, 30, 3000]), st.floats(1e-9, 0.999))
def test_all_pairs(seed: int, n: int, rows: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, n + 2))
    test = FisherZ.from_covariance(np.corrcoef(factor), max(rows, 5), singular="keep")
    order = rng.permutation(n).astype(np.int32)
    x, y = (end.astype(np.int32) for end in np.triu_indices(n, 1))
    p = test.pvalues(Queries(order[x], order[y], np.empty((len(x), 0))))
    middle = int(rng.integers(0, n + 1))
    dense = CorrelationPasses(test.correlation, test.n, test.place)
    parts = [dense.dependent_pairs(order, alpha, run) for run in (slice(0, middle), slice(middle, n))]
    for k, wanted in enumerate((x, y, p)):
        assert_array_equal(np.concatenate([part[k] for part in parts]), np.asarray(wanted)[p <= alpha])


def test_at_the_threshold_p_decides() -> None:
    """Alphas that are p-values themselves: a pair is independent only above alpha."""
    test = FisherZ(table(5, 20, 50))
    x, y = (end.astype(np.int32) for end in np.triu_indices(20, 1))
    order = np.arange(20, dtype=np.int32)
    p = test.pvalues(Queries(x, y, np.empty((len(x), 0))))
    for alpha in p[(p > 1e-300) & (p < 1)]:
        for threshold in (np.nextafter(alpha, 0), alpha, np.nextafter(alpha, 1)):
            assert test.passes is not None
            got, _, _ = test.passes.dependent_pairs(order, float(threshold), slice(0, 20))
            assert len(got) == (p <= threshold).sum()


@given(st.integers(0, 1000), st.integers(1, 30))
def test_sums_of_rows(seed: int, n: int) -> None:
    table_of = np.random.default_rng(seed).normal(size=(n, n))
    beside = np.abs(table_of[~np.eye(n, dtype=bool)].reshape(n, n - 1)).astype(np.float32)
    assert largest_beside(table_of, 0, n) == beside.max(initial=0)
    sums = np.full(n, np.nan)
    for run in (slice(0, n // 2), slice(n // 2, n)):
        rounded_sums(table_of, run.start, run.stop, 1000.0, sums)
    assert_array_equal(sums, np.rint(beside.astype(np.float64) * 1000.0).sum(axis=1))


def test_work_is_cut_evenly_and_not_into_crumbs() -> None:
    assert runs_of(np.arange(899), 16, 400_000, CorrelationPasses.at_once) == [slice(0, 899)]
    assert runs_of(np.zeros(3, np.int64), 16, 1, 8) == [slice(0, 3)]
    work = np.arange(20_000, -1, -1)
    for threads in (1, 4, 16):
        runs = runs_of(work, threads, 400_000, CorrelationPasses.at_once)
        assert [k for run in runs for k in range(run.start, run.stop)] == list(range(20_001))
        shares = [work[run].sum() for run in runs]
        assert max(shares) < 1.1 * min(shares) and len(runs) >= 4 * threads


def test_a_graph_learned_has_its_edges_in_lists() -> None:
    """The lists that all pairs leave behind are those of the marks."""
    state, _ = next(Search(FisherZ(table(2, 30, 100), singular="keep")).steps())
    for name, wanted in Skeleton.of(state.marks)._asdict().items():
        assert_array_equal(getattr(state.skeleton, name), wanted)
