"""On a machine with a graphics card: what it computes, against the CPU. Elsewhere this is skipped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.ci.gaussian import FisherZ
from anypag.ci.gpu import Card, CardError, cuda_card
from anypag.ci.passes import NearEdges
from anypag.run.engine import Search
from anypag.search.by_tests.candidates import places_of
from anypag.search.inquiry import Inquiry
from numpy_card import NumpyCard


@pytest.fixture(scope="module")
def card() -> Card:
    try:
        return cuda_card()
    except CardError as error:
        pytest.skip(str(error))


def values(n: int, rows: int = 400) -> Any:
    return ap.simulate.random_system(n, 2.5, seed=n).linear_gaussian(rows, seed=n).rows


def test_passes_to_the_bit(card: Card) -> None:
    search = Search(FisherZ(values(150)))
    state, _ = next(search.steps())
    twin, order = NumpyCard(), search.problem.nodes.order
    passes = Inquiry(search.problem, 1).passes
    assert passes is not None
    for who in (card, twin):
        who.take(passes.correlation)
    for rows in (slice(0, state.n), slice(3, 40)):
        found, wanted = (who.pairs(order, rows, 0.1) for who in (card, twin))
        assert all(np.array_equal(found[k], wanted[k]) for k in range(3))
    x, y = state.edges()
    block, skeleton = state.blocks.of_edge, state.skeleton
    edges = NearEdges(skeleton.start, skeleton.neighbour, block, x, y, block[places_of(skeleton, x, y)])
    got, least = (who.singles(order, edges, 1e-10, 1e-9) for who in (card, twin))
    assert all(np.array_equal(got[k], least[k]) for k in range(5))


@pytest.mark.parametrize("n", [40, 300])
def test_decisions_are_those_of_the_cpu(card: Card, n: int) -> None:
    there, here = (ap.learn(values(n), method="icd", device=device) for device in ("cuda", "cpu"))
    assert there.pag == here.pag
    assert [item.info.tests for item in there.history] == [item.info.tests for item in here.history]


@pytest.mark.parametrize("threads", [1, 4])
def test_the_matrix_arrives_whole(card: Card, monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    monkeypatch.setattr("anypag.ci.gpu.PIECE", 10_000)  # many pieces of a few rows
    here, twin = card, NumpyCard()
    centred = np.random.default_rng(3).normal(size=(301, 50))
    place, scale = np.random.default_rng(4).permutation(301), np.sqrt((centred**2).sum(axis=1))
    got, wanted = (who.keep(who.products(centred), scale, place, threads) for who in (here, twin))
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-14)
    assert here.has(got)
