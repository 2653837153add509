"""The posterior over graphs: valid after any step, the same for any order of columns, exact where data are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import anypag as ap
from anypag import MAG, PAG
from anypag.scores.discrete import DiscreteScore
from anypag.scores.gaussian import GaussianScore
from anypag.search.bayes import Effort, Problem, Search, State, exchanged
from anypag.search.chain import Landscape, Walker, advance, graph_of, marks_of
from anypag.search.posterior import Posterior

SHORT = Effort(orders=4, dags=2, cooling=6, samples=30, temperatures=(1.0, 1.5))


def table(seed: int = 0, n: int = 8, rows: int = 400) -> tuple[dict[str, npt.NDArray[np.float64]], PAG]:
    system = ap.simulate.random_system(n, 2.0, seed=seed)
    data = ap.simulate.linear_gaussian(system.dag, rows, latent=system.latent, seed=seed)
    return {name: np.asarray(column) for name, column in data.items()}, system.true_pag()


def search_on(data: dict[str, npt.NDArray[np.float64]], effort: Effort = SHORT, **options: object) -> Search:
    return Search(Problem.of(GaussianScore.of(data, gamma=0.5), effort=effort, **options))  # type: ignore[arg-type]


def test_every_step_has_a_valid_answer_and_none_is_worse() -> None:
    search = search_on(table()[0])
    state = search.init()
    phases, best = [], -np.inf
    while not search.is_done(state):
        posterior = search.answer(state)
        assert posterior.pag.validate()
        assert state.best_score >= best
        best = state.best_score
        phases.append(state.phase)
        state = search.step(state)
    assert sorted(set(phases), key=phases.index) == ["orders", "cooling", "sampling"]
    assert search.answer(state).n_samples == SHORT.samples * len(SHORT.temperatures)


def test_steps_leave_what_they_were_given() -> None:
    """Whoever holds a state can go on from it, on a search that remembers nothing, to the same answer."""
    data = table()[0]
    search = search_on(data)
    states = [search.init()]
    while not search.is_done(states[-1]):
        states.append(search.step(states[-1]))
    last = search.answer(states[-1])
    for state in states[:: len(states) // 5]:
        other, again = search_on(data), state
        while not other.is_done(again):
            again = other.step(again)
        assert_same(other.answer(again), last)


def assert_same(one: Posterior, other: Posterior) -> None:
    for part in ("pags", "counts", "ancestors", "best"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
    assert one.best_score == other.best_score


def test_the_order_of_columns_does_not_matter() -> None:
    data = table(seed=3)[0]
    first = search_on(data)
    answer = first.answer(first.run())
    for seed in range(3):
        names = np.random.default_rng(seed).permutation(list(data)).tolist()
        other = search_on({name: data[name] for name in names})
        turned = other.answer(other.run())
        assert turned.pag == answer.pag
        assert turned.best_score == answer.best_score
        assert turned.expected_errors == pytest.approx(answer.expected_errors, abs=1e-12)
        a, b = list(data)[:2]
        assert turned.mark_probability(a, b) == pytest.approx(answer.mark_probability(a, b))


def test_probabilities_are_shares_of_the_sample() -> None:
    search = search_on(table(seed=1)[0])
    posterior = search.answer(search.run())
    np.testing.assert_allclose(posterior.shares.sum(axis=0), 1.0)
    shares = [share for _, share in posterior.classes()]
    assert sum(shares) == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)
    assert all(pag.validate() for pag, _ in posterior.classes())
    weighted = sum(share * (pag.marks != 0) for pag, share in posterior.classes())
    np.testing.assert_allclose(posterior.edge_probability, weighted)
    above = posterior.ancestor_probability
    assert (above >= 0).all()
    assert (above <= 1).all()
    assert (np.diag(above) == 0).all()
    assert posterior.expected_errors >= 0


@pytest.mark.parametrize("seed", range(6))
def test_with_population_correlations_the_truth_is_found(seed: int) -> None:
    """N = 10⁷ and no noise; the MAG of a perfect search by tests is among the starts."""
    system = ap.simulate.random_system(8, 2.0, seed=seed)
    weights = ap.simulate.random_weights(system.dag, seed=seed)
    covariance = population(system.dag, weights)
    observed = [k for k, name in enumerate(system.dag.names) if name not in system.latent]
    part = covariance[np.ix_(observed, observed)]
    scale = np.sqrt(np.diag(part))
    truth = system.true_pag()
    score = GaussianScore(tuple(system.dag.names[k] for k in observed), 10**7, part / np.outer(scale, scale), gamma=0.5)
    start = truth.to_mag()
    order = [start.names.index(name) for name in score.names]
    search = Search(Problem.of(score, starts=[start.marks[np.ix_(order, order)]], effort=SHORT))
    assert search.answer(search.run()).pag == truth


def population(dag: ap.DAG, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    total = np.linalg.inv(np.eye(len(dag)) - np.asarray(weights))
    covariance: npt.NDArray[np.float64] = total.T @ total
    return covariance


def test_discrete_data_are_searched_among_dags() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, 500), rng.integers(0, 2, 500)
    c = np.where(rng.random(500) < 0.1, rng.integers(0, 3, 500), a * b)
    score = DiscreteScore.of({"A": a, "B": b, "C": c})
    search = Search(Problem.of(score, effort=SHORT))
    state = search.run()
    assert not (marks_of(state.best) == 2).T[marks_of(state.best) == 2].any()  # no <->
    assert search.answer(state).pag == PAG.from_string("A o-> C; B o-> C")


def test_exchange_keeps_the_law_of_the_coldest() -> None:
    """Two temperatures over all graphs of 3 nodes: the colder one still has the posterior's law."""
    from naive_scores import all_mag_marks
    from test_chain import gaussian, is_mag, log_prior

    from anypag.scores.base import score_of
    from anypag.search.chain import Prior

    score = gaussian(3, 8, rows=60)
    graphs = all_mag_marks(3, is_mag)
    logs = np.array([score_of(score, marks) + log_prior(marks, Prior()) for marks in graphs])
    exact = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    landscape = Landscape.of(score)
    walkers = tuple(Walker.at(graph_of(graphs[0]), landscape, seed) for seed in (1, 2))
    place = {graph_of(marks).tobytes(): k for k, marks in enumerate(graphs)}
    met = np.zeros(len(graphs))
    for turn in range(20_000):
        walkers = tuple(advance(w, landscape, 10, t) for w, t in zip(walkers, (1.0, 2.0), strict=True))
        met[place[walkers[0].graph.tobytes()]] += 1
        walkers = exchanged(walkers, (1.0, 2.0), 2 * turn)
    assert np.abs(met / met.sum() - exact).sum() / 2 < 0.02


def test_a_state_is_arrays() -> None:
    """Nothing in a state refers to a score, a memory or a search."""
    search = search_on(table()[0])
    state: State = search.step(search.init())
    for value in vars(state).values():
        assert isinstance(value, (np.ndarray, int, float, tuple)) or value is state.orders
    assert MAG(np.zeros((2, 2), np.uint8))
