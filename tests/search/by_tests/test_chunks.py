"""Edges in chunks: however an iteration is cut up, the same comes of it; and pools are in order, however long."""

from __future__ import annotations

import numpy as np
import pytest

import anypag as ap
from anypag._kernels.patience import plain
from anypag._kernels.pools import _sort_pool
from anypag.arrays import Floats
from anypag.ci.passes import CorrelationPasses
from anypag.search.by_tests import tested_edges
from anypag.search.progress import Progress


@pytest.mark.parametrize("most", [1, 7, 50])
def test_small_chunks_give_what_one_chunk_gives(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    test = ap.FisherZ(ap.simulate.random_system(20, 3.0, seed=4).linear_gaussian(400, seed=4))
    whole = ap.learn(test, method="icd")
    monkeypatch.setattr(tested_edges, "MOST_EDGES", most)
    monkeypatch.setattr(ap.FisherZ, "batch", max(most, 2))
    cut = ap.learn(test, method="icd")
    assert cut.pag == whole.pag
    assert cut.tests == whole.tests
    assert dict(cut.sepsets) == dict(whole.sepsets)


def test_progress_goes_on_from_chunk_to_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tested_edges, "MOST_EDGES", 10)

    class Narrow(ap.FisherZ):
        batch = 10

        def pvalues(self, queries: ap.Queries) -> Floats:
            return super().pvalues(queries)

    seen: list[Progress] = []
    system = ap.simulate.random_system(12, 2.0, seed=1)
    ap.learn(Narrow(system.linear_gaussian(300, seed=1)), max_r=0, progress=seen.append)
    done = [progress.done for progress in seen if progress.phase == "candidates"]
    n_pairs = len(system.observed) * (len(system.observed) - 1) // 2
    assert done == sorted(done)
    assert done[-1] > 10
    assert {progress.total for progress in seen if progress.phase == "candidates"} == {n_pairs}


@pytest.mark.parametrize("threads", [1, 3])
def test_progress_goes_on_through_passes_over_all_pairs(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CorrelationPasses, "at_once", 20)
    monkeypatch.setattr(tested_edges, "LEAST_PAIRS", 20)
    monkeypatch.setattr(tested_edges, "LEAST_SINGLES", 20)
    seen: list[Progress] = []
    system = ap.simulate.random_system(30, 4.0, seed=1)
    ap.learn(system.linear_gaussian(300, seed=1), max_r=1, progress=seen.append, threads=threads)
    n = len(system.observed)
    for r, total in ((0, n * (n - 1) // 2), (1, None)):
        ticks = [progress for progress in seen if (progress.r, progress.phase) == (r, "candidates")]
        assert len({progress.total for progress in ticks}) == 1 and total in {None, ticks[0].total}
        done = [progress.done for progress in ticks]
        assert done == sorted(done) and (threads > 1 or done[-1] > done[0])


@pytest.mark.parametrize("r", [0, 1])
def test_a_test_that_wants_large_batches_gets_them(r: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graphics card would starve on small ones: 3,160 pairs come in a few calls, by the time they take."""
    sizes: list[int] = []

    class Wide(ap.FisherZ):
        batch = 2_000_000

        def pvalues(self, queries: ap.Queries) -> Floats:
            if queries.r == r:
                sizes.append(len(queries))
            return super().pvalues(queries)

    rng = np.random.default_rng(1)
    common = rng.normal(size=(200, 1))
    monkeypatch.setattr(tested_edges, "MOST_EDGES", 20)
    ap.learn(Wide(common + 0.5 * rng.normal(size=(200, 80))), max_r=1)
    assert len(sizes) <= 10 and sum(sizes) >= 3160  # in batches of 20 edges there would be 158


@pytest.mark.parametrize("size", [0, 1, 2, 9, 11, 60, 400, 1500])
def test_pools_of_any_length_are_sorted(size: int) -> None:
    rng = np.random.default_rng(size)
    n = size + 2
    strength = rng.integers(0, 4, (n, n)).astype(np.float32)  # ties, so that the index has to decide
    nodes, distances = rng.permutation(np.arange(2, n)), np.sort(rng.integers(1, 4, size))
    expected = sorted(
        zip(distances.tolist(), nodes.tolist(), strict=True),
        key=lambda item: (item[0], -(strength[0, item[1]] + strength[1, item[1]]), item[1]),
    )
    found = np.array([nodes, distances], np.int32).reshape(2, size)
    plain(_sort_pool)(found, size, strength, np.arange(n, dtype=np.int32), 0, 1, np.empty(max(size, 1), np.float32))
    assert list(zip(found[1].tolist(), found[0].tolist(), strict=True)) == expected
