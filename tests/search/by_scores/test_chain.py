"""The chain over MAGs: its law, its score, and that it never leaves the MAGs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from anypag import MAG, AnypagError
from anypag._kernels import mag_chain as kernel
from anypag.graphs.projection import mag_of_diagram
from anypag.scores.gaussian import GaussianScore
from anypag.search.by_scores import chain
from anypag.search.by_scores.chain import (
    Landscape,
    Prior,
    Walker,
    advance,
    bits_of,
    each_advanced,
    flags_of,
    graph_of,
    marks_of,
)
from anypag.threads import do_nothing
from naive_scores import all_mag_marks
from score_examples import score_of
from strategies import mags, seeded_mags

Marks = npt.NDArray[np.uint8]


def gaussian(n: int, seed: int, rows: int = 40, spread: float = 0.5) -> GaussianScore:
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(rows, n)) @ (np.eye(n) + spread * np.triu(rng.normal(size=(n, n)), 1))
    return GaussianScore(tuple(f"X{i}" for i in range(n)), rows, np.asarray(np.corrcoef(data.T)), gamma=0.25)


def is_mag(marks: Marks) -> bool:
    try:
        MAG(marks)
    except AnypagError:
        return False
    return True


def log_prior(marks: Marks, prior: Prior) -> float:
    """The prior from its definition: the shares of kinds drawn from a Dirichlet law."""
    from scipy.special import gammaln

    arrow, tail = marks == 2, marks == 3
    counts = np.array([(arrow & tail.T).sum(), (arrow & arrow.T).sum() / 2, (tail & tail.T).sum() / 2])
    weights = np.array([prior.directed, prior.both, prior.undirected])
    shares = (
        gammaln(weights.sum())
        - gammaln(weights.sum() + counts.sum())
        + (gammaln(weights + counts) - gammaln(weights)).sum()
    )
    return float(shares + np.log(2) * (counts[1] + counts[2]))


@given(seeded_mags())
@settings(deadline=None)
def test_bits_and_marks_are_inverses(mag: MAG) -> None:
    np.testing.assert_array_equal(marks_of(graph_of(mag.marks)), mag.marks)
    flags = np.random.default_rng(len(mag)).random((130, 130)) < 0.3
    np.testing.assert_array_equal(flags_of(bits_of(flags)), flags)


@given(st.integers(1, 70), st.integers(0, 1000))
@settings(deadline=None, max_examples=30)
def test_marks_of_several_graphs_are_those_of_each(n: int, seed: int) -> None:
    kinds = np.random.default_rng(seed).integers(0, 5, (3, n, n))  # none, -->, <--, <->, ---
    upper = np.triu(np.ones((n, n), np.bool_), 1)
    ends = [np.where(upper, np.array(marks, np.uint8)[kinds], 0) for marks in ((0, 2, 3, 2, 3), (0, 3, 2, 2, 3))]
    graphs = ends[0] + ends[1].swapaxes(1, 2)
    found = marks_of(np.stack([graph_of(marks) for marks in graphs]))
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, graphs)


def scattered(mag: MAG, n: int, seed: int) -> tuple[Marks, npt.NDArray[np.int64]]:
    """The graph over some of n nodes, so that its bits stand in several words."""
    places = np.sort(np.random.default_rng(seed).permutation(n)[: len(mag)])
    marks = np.zeros((n, n), np.uint8)
    marks[np.ix_(places, places)] = mag.marks
    return marks, places


@given(seeded_mags(most=7), st.integers(0, 1000), st.sampled_from([8, 130]))
@settings(deadline=None, max_examples=60)
def test_what_stays_ancestral_and_maximal_is_what_the_definitions_say(mag: MAG, seed: int, n: int) -> None:
    """For every pair and state, whether the nodes stand in one word or in three."""
    marks, places = scattered(mag, n, seed)
    rng = np.random.default_rng(seed)
    i, j = (int(v) for v in rng.permutation(len(mag))[:2])
    ends = {0: (0, 0), 1: (2, 3), 2: (3, 2), 3: (2, 2), 4: (3, 3)}
    room = np.empty((3, max(1, -(-n // 64))), np.uint64)
    for state, (at_j, at_i) in ends.items():
        bare, small = marks.copy(), mag.marks.copy()
        bare[places[i], places[j]] = bare[places[j], places[i]] = 0
        small[i, j], small[j, i] = at_j, at_i
        graph, key = graph_of(bare), np.zeros(n, np.uint64)
        fits = bool(kernel.stays_ancestral(graph, places[i], places[j], state, True, room))
        assert fits == naive.is_ancestral(small.tolist())
        if fits:
            kernel.put(graph, key, places[i], places[j], state)
            np.testing.assert_array_equal(marks_of(graph)[np.ix_(places, places)], small)
            assert bool(kernel.is_maximal(graph, graph[:, :0])) == naive.is_maximal(small.tolist())


@given(mags(most=6), st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_the_score_of_a_graph_is_that_of_its_parts_and_of_the_prior(mag: MAG, seed: int) -> None:
    score, prior = gaussian(len(mag), seed), Prior(3.0, 1.5, 0.4)
    landscape = Landscape.of(score, prior=prior)
    by_hand = score_of(score, mag) + log_prior(mag.marks, prior)
    graph = graph_of(mag.marks)
    assert landscape.score_of(graph) == pytest.approx(by_hand, abs=1e-5)
    assert landscape.score_of(graph) == landscape.score_of(graph)  # remembered, and the same


@pytest.mark.slow
def test_ten_thousand_steps_keep_a_mag_and_its_score() -> None:
    score = gaussian(7, 2, rows=100)
    near = np.ones((7, 7), np.bool_) ^ np.eye(7, dtype=np.bool_)
    near[3:, :3] = near[:3, 3:] = False
    landscape = Landscape.of(score, near=near)
    walker = Walker.at(graph_of(np.zeros((7, 7), np.uint8)), landscape, 1)
    best, graphs = walker.best_score, set()
    for _ in range(10_000):
        walker = advance(walker, landscape, 1, 1.5)
        key = walker.graph.tobytes()
        if key not in graphs:
            graphs.add(key)
            marks = marks_of(walker.graph)
            assert naive.is_ancestral(marks.tolist())
            assert naive.is_maximal(marks.tolist())
            fresh = Landscape.of(score, near=near)  # nothing remembered
            assert walker.score == fresh.score_of(walker.graph)  # to the bit
        best = max(best, walker.score)
        assert walker.best_score == best
    assert len(graphs) > 500
    assert walker.score == landscape.score_of(walker.graph)


def is_diagram(marks: Marks) -> bool:
    """No directed cycle, and no arrowhead at an end of ---; <-> may join a node and its ancestor."""
    arrow, tail = marks == 2, marks == 3
    reach = np.linalg.matrix_power(np.eye(len(marks)) + (arrow & tail.T), len(marks)) > 0
    pointed_at = arrow.any(axis=0)
    return (
        not (reach & reach.T & ~np.eye(len(marks), dtype=np.bool_)).any()
        and not ((tail & tail.T).any(axis=1) & pointed_at).any()
    )


LAWS = [
    (3, 30, 40_000, True),
    (3, 30, 40_000, False),
    pytest.param(4, 300, 600_000, True, marks=pytest.mark.slow),
    pytest.param(4, 300, 600_000, False, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("n", "rows", "samples", "ancestral"), LAWS)
def test_the_law_of_the_chain_is_the_posterior(n: int, rows: int, samples: int, ancestral: bool) -> None:
    """Against the exact posterior over all graphs, with a list of likely pairs that is far from even."""
    score, prior = gaussian(n, 5, rows=rows), Prior()
    graphs = all_mag_marks(n, is_mag if ancestral else is_diagram)
    logs = np.array([score_of(score, marks) + log_prior(marks, prior) for marks in graphs])
    exact = np.exp(logs - logs.max())
    exact /= exact.sum()
    near = np.zeros((n, n), np.bool_)
    near[0, 1] = near[1, 0] = near[1, 2] = near[2, 1] = True
    landscape = Landscape.of(score, near=near, prior=prior, ancestral=ancestral)
    walker = Walker.at(graph_of(graphs[0]), landscape, 3)
    place = {graph_of(marks).tobytes(): k for k, marks in enumerate(graphs)}
    met = np.zeros(len(graphs))
    for _ in range(samples):
        walker = advance(walker, landscape, 8, 1.0)
        met[place[walker.graph.tobytes()]] += 1
    assert np.abs(met / samples - exact).sum() / 2 < 0.02


def test_graphs_that_need_not_be_ancestral_have_no_cycle() -> None:
    landscape = Landscape.of(gaussian(6, 4, rows=60), ancestral=False)
    walker = Walker.at(graph_of(np.zeros((6, 6), np.uint8)), landscape, 1)
    beyond = 0
    for _ in range(1500):
        walker = advance(walker, landscape, 5, 3.0)
        marks = marks_of(walker.graph)
        assert is_diagram(marks)
        MAG(mag_of_diagram(marks))
        beyond += not is_mag(marks)
    assert beyond > 10
    assert walker.score == landscape.score_of(walker.graph)


@given(st.integers(2, 6), st.integers(0, 10**6))
@settings(deadline=None, max_examples=60)
def test_the_mag_of_a_diagram_is_that_of_its_causes(n: int, seed: int) -> None:
    """A latent cause for every <-> and a selected effect for every ---, projected by definition."""
    rng = np.random.default_rng(seed)
    kinds = np.array([[0, 0], [2, 3], [2, 2], [3, 3]])
    marks = np.zeros((n, n), np.uint8)
    for i in range(n):
        for j in range(i + 1, n):
            trial = marks.copy()
            trial[i, j], trial[j, i] = kinds[rng.choice(4, p=[0.4, 0.3, 0.2, 0.1])]
            marks = trial if is_diagram(trial) else marks
    dag, latent, selection = naive.canonical_dag(marks.tolist())
    np.testing.assert_array_equal(mag_of_diagram(marks), np.array(naive.project(dag, latent, selection)))


@given(st.integers(2, 6), st.integers(0, 10**6))
@settings(deadline=None, max_examples=60)
def test_the_mag_beside_hidden_nodes_is_that_of_all_causes(n: int, seed: int) -> None:
    """Some <-> stand for hidden causes that are no nodes, as between contexts."""
    rng = np.random.default_rng(seed)
    marks, k = np.zeros((n + 2, n + 2), np.uint8), 2
    kinds = np.array([[0, 0], [2, 3], [2, 2]])
    for i in range(n):
        for j in range(i + 1, n):
            marks[i, j], marks[j, i] = kinds[rng.choice(3, p=[0.5, 0.3, 0.2])]
        for h in range(n, n + k):
            marks[h, i], marks[i, h] = kinds[rng.choice(2)]
    dag, latent, _ = naive.canonical_dag(marks.tolist())
    found = mag_of_diagram(marks, k)
    np.testing.assert_array_equal(found, np.array(naive.project(dag, [*latent, n, n + 1], [])))


def test_states_that_are_not_allowed_never_come_up() -> None:
    score = gaussian(5, 3)
    allowed = np.full((5, 5), 31, np.uint8)
    for i in range(5):  # no arrow from a later to an earlier one, and no edge between the first two
        for j in range(i):
            allowed[i, j], allowed[j, i] = 1 | 4 | 8, 1 | 2 | 8
    allowed[0, 1] = allowed[1, 0] = 1
    landscape = Landscape.of(score, allowed=allowed)
    walker = Walker.at(graph_of(np.zeros((5, 5), np.uint8)), landscape, 1)
    for _ in range(300):
        walker = advance(walker, landscape, 20, 3.0)
        marks = marks_of(walker.graph)
        assert marks[0, 1] == 0
        assert not ((np.tril(marks) == 2) & (np.tril(marks.T.copy().T) == 2) & (marks.T == 3)).any()
        assert not ((marks == 3) & (marks.T == 3)).any()


def test_a_chain_stopped_and_gone_on_is_the_same_chain() -> None:
    landscape = Landscape.of(gaussian(6, 1))
    start = Walker.at(graph_of(np.zeros((6, 6), np.uint8)), landscape, 9)
    whole = advance(start, landscape, 3000, 1.0)
    parts = start
    for steps in (1, 999, 1500, 500):
        parts = advance(parts, Landscape.of(gaussian(6, 1)), steps, 1.0)  # and nothing remembered
    assert whole.graph.tobytes() == parts.graph.tobytes()
    assert whole.random == parts.random
    assert whole.score == parts.score
    assert whole.taken == parts.taken


def chains(landscape: Landscape) -> list[Walker]:
    return [Walker.at(graph_of(np.zeros((7, 7), np.uint8)), landscape, seed) for seed in (1, 2, 3)]


def test_chains_in_threads_are_the_same_to_the_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "LEAST_STEPS", 1)
    found = []
    for threads in (1, 2, 3):
        landscape = Landscape.of(gaussian(7, 1))
        walkers = chains(landscape)
        for _ in range(40):
            walkers = each_advanced(walkers, landscape, (1.0, 1.3, 2.0), threads, do_nothing)
        found.append([(w.graph.tobytes(), w.best.tobytes(), w.score, int(w.random[0]), w.taken) for w in walkers])
    assert found[0] == found[1] == found[2]


def test_a_look_that_raises_ends_chains_in_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "LEAST_STEPS", 1)
    monkeypatch.setattr("anypag.threads.ROOM", 1)
    landscape = replace(Landscape.of(gaussian(7, 1)), free=10**9)  # for ever

    def stop() -> None:
        raise KeyboardInterrupt

    for threads in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            each_advanced(chains(landscape), landscape, (1.0, 1.3, 2.0), threads, stop)


def test_more_than_64_variables() -> None:
    """A chain over 70 variables finds the edges of a few that depend on each other across words."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(400, 70))
    data[:, 66] += 2 * data[:, 3]
    data[:, 40] += 2 * data[:, 66]
    score = GaussianScore(tuple(f"X{i}" for i in range(70)), 400, np.asarray(np.corrcoef(data.T)), gamma=0.5)
    near = np.zeros((70, 70), np.bool_)
    for i, j in ((3, 66), (66, 40), (3, 40)):
        near[i, j] = near[j, i] = True
    landscape = Landscape.of(score, near=near)
    walker = advance(Walker.at(graph_of(np.zeros((70, 70), np.uint8)), landscape, 1), landscape, 20_000, 1.0)
    found = {tuple(sorted(map(int, edge))) for edge in np.argwhere(marks_of(walker.best))}
    assert {(3, 66), (40, 66)} <= found
    assert (3, 40) not in found
    assert MAG(marks_of(walker.graph))


def test_neighbouring_seeds_share_no_random_numbers() -> None:
    landscape = Landscape.of(gaussian(8, 1))
    first, second = (Walker.at(graph_of(np.zeros((8, 8), np.uint8)), landscape, seed) for seed in (1, 2))
    step = int(second.random[0]) - int(first.random[0])
    few_draws = {k * 0x9E3779B97F4A7C15 % 2**64 for k in range(-1000, 1000)}
    assert step % 2**64 not in few_draws
