"""The posterior over graphs: valid after any step, the same for any order of columns, exact where data are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from resuming import stopped_and_resumed

import anypag as ap
from anypag import MAG, PAG, AnypagError
from anypag.choices import Choices
from anypag.explain.summary import how_far
from anypag.graphs.base import MixedGraph
from anypag.graphs.projection import mag_of_diagram, marks_of_class
from anypag.results.grounds import Searched
from anypag.results.result import Iteration
from anypag.run.clock import Signals, Stopped
from anypag.run.engine import Search, with_draws
from anypag.run.watcher import Listeners, drawn_until_stopped
from anypag.search.by_scores.bayes import BayesState, draws_for_effects, exchanged, likely_pairs
from anypag.search.by_scores.chain import Landscape, Prior, Walker, advance, graph_of, marks_of
from anypag.search.by_scores.effort import Effort
from anypag.search.by_scores.orders import FoundDAG
from anypag.search.by_scores.posterior import GraphSample, Posterior
from anypag.search.by_scores.sampled_graphs import states_of as states_of_graphs
from anypag.search.problem import Problem
from anypag.search.progress import Progress, no_tick
from score_examples import score_of

Floats = npt.NDArray[np.float64]
SHORT = 0.1


def table(seed: int = 0, n: int = 8, rows: int = 400) -> dict[str, Floats]:
    system = ap.simulate.random_system(n, 2.0, seed=seed)
    data = ap.simulate.linear_gaussian(system.dag, rows, latent=system.latent, seed=seed)
    return {name: np.asarray(column) for name, column in data.items()}


def states_of(data: object) -> list[BayesState]:
    search = Search(data, Choices(method="bayes", effort=SHORT))
    return [state for state, _ in search.steps()]  # type: ignore[misc]


def assert_same(one: Posterior | None, other: Posterior | None) -> None:
    assert one is not None
    assert other is not None
    assert one.best_score == other.best_score
    np.testing.assert_array_equal(one.best, other.best)
    for part in ("pags", "counts", "cold", "diagrams", "for_effects"):
        np.testing.assert_array_equal(getattr(one.sample, part), getattr(other.sample, part))


def test_every_step_leaves_a_valid_graph_and_none_a_worse_best() -> None:
    phases, best = [], -np.inf
    states = states_of(table())
    for state in states:
        assert state.pag.validate()
        assert float(state.best_score[0]) >= best
        best = float(state.best_score[0])
        phases.append(state.phase)
    assert sorted(set(phases), key=phases.index) == ["orders", "tests", "cooling", "sampling"]
    effort = Effort.scaled(SHORT, n=8)
    assert states[-1].posterior.n_samples == effort.samples
    assert states[-1].posterior.pag == states[-1].pag


def test_whoever_holds_a_state_can_go_on_from_it() -> None:
    """Also where nothing is remembered of the scores met before."""
    data = table()
    states = states_of(data)
    for state in states[:: len(states) // 4]:
        search = Search(data, Choices(method="bayes", effort=SHORT))
        first = next(search.steps())  # numbers the nodes
        assert first
        last: Any = [reached for reached, _ in search.steps(with_all(state, search.problem))][-1]
        whole, last = (with_all(each, search.problem) for each in (states[-1], last))
        assert_same(last.posterior, whole.posterior)


def with_all(state: BayesState, problem: Problem) -> BayesState:
    """The state with all graphs that serve effects only."""
    return [state, *draws_for_effects(state, problem, no_tick)][-1]


def test_draws_for_effects_hear_progress_budgets_and_signals() -> None:
    """They are drawn on demand; what ends them leaves those drawn so far, and the answer says so."""
    data, heard = table(), list[Progress]()
    result = ap.learn(data, method="bayes", effort=SHORT, selection_bias=False, progress=heard.append, time_budget=600)
    assert "sampling for effects" not in {at.phase for at in heard}
    whole = result.posterior
    rounds = [at for at in heard if at.where == "sampling for effects"]
    assert (
        whole is not None
        and whole.diagrams is not None
        and len({at.done for at in rounds}) == rounds[0].total == whole.sample.size // 2
    )
    assert isinstance(result.grounds, Searched)
    state, problem = result.grounds.state, result.grounds.problem
    assert drawn_until_stopped(state, problem, spent=600)[0] is state  # nothing is left of the budget
    x, y = result.pag.names[:2]
    for looks in (0, 3):
        cut = with_draws(result, Listeners(signals=Interrupted(looks)))
        assert cut.complete and cut.stopped == "interrupt"
        assert f"{2 * looks} of {whole.sample.size} graphs for effects were sampled" in how_far(cut)
        assert cut.posterior is not None and cut.posterior.diagrams is not None
        np.testing.assert_array_equal(
            cut.posterior.diagrams.states, whole.diagrams.states[: whole.sample.size + 2 * looks]
        )
        assert any("graphs for effects ended early" in note for note in cut.effect(x, y).notes)
    assert not any("graphs for effects ended early" in note for note in result.effect(x, y).notes)


def test_no_graphs_for_effects_are_drawn_after_an_interrupt() -> None:
    """A signal during the search ends the run: nothing else begins after it."""
    search = Search(table(), Choices(method="bayes", effort=SHORT, selection_bias=False))
    steps = [(state, info) for state, info in search.steps() if info.phase == "sampling"]
    state, info = steps[0]
    result = replace(search.result(state, (Iteration(state.pag, info, 0.0),)), stopped="interrupt")
    heard = list[Progress]()
    cut = with_draws(result, Listeners(heard.append))
    assert cut.stopped == "interrupt" and not cut.complete and not heard
    assert cut.posterior is not None and cut.posterior.sample.for_effects is None


class Interrupted(Signals):
    """A signal that comes after some looks."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def check(self) -> None:
        self.looks -= 1
        if self.looks < 0:
            raise Stopped("interrupt")


def test_a_checkpoint_resumes_to_the_same_answer(tmp_path: Path) -> None:
    data = table(seed=2)
    whole = ap.learn(data, method="bayes", effort=SHORT)
    for stop_after in (1, 4, 7, 10):
        resumed = stopped_and_resumed(data, tmp_path / f"{stop_after}.db", stop_after, SHORT)
        assert_same(resumed.posterior, whole.posterior)


def test_functions_of_columns_are_those_of_a_run_that_was_never_stopped(tmp_path: Path) -> None:
    data = {name: np.abs(values) for name, values in table(seed=2).items()}
    whole = ap.learn(data, method="bayes", test="additive", effort=SHORT)
    resumed = stopped_and_resumed(ap.Additive(data), tmp_path / "curves.db", 4, SHORT)
    assert_same(resumed.posterior, whole.posterior)


def test_the_order_of_columns_does_not_matter() -> None:
    data = table(seed=3)
    levels = {name: np.digitize(column, [-0.5, 0.7]) for name, column in data.items()}
    for one in (data, levels):
        answer = ap.learn(one, method="bayes", effort=SHORT)
        for seed in range(3):
            names = np.random.default_rng(seed).permutation(list(one)).tolist()
            turned = ap.learn({name: one[name] for name in names}, method="bayes", effort=SHORT)
            assert turned.posterior is not None and answer.posterior is not None
            assert turned.pag == answer.pag and turned.misfit == answer.misfit
            assert turned.posterior.best_score == answer.posterior.best_score
            assert turned.posterior.expected_errors == answer.posterior.expected_errors
            place = np.ix_(range(4), *[[names.index(name) for name in one]] * 2)
            for part in ("reported", "shares"):
                np.testing.assert_array_equal(getattr(turned.posterior, part)[place], getattr(answer.posterior, part))


def test_probabilities_are_shares_of_the_sample() -> None:
    posterior = states_of(table(seed=1))[-1].posterior
    np.testing.assert_allclose(posterior.shares.sum(axis=0), 1.0)
    shares = [share for _, share in posterior.classes()]
    assert sum(shares) == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)
    assert all(pag.validate() for pag, _ in posterior.classes())
    weighted = sum(share * (pag.marks != 0) for pag, share in posterior.classes())
    np.testing.assert_allclose(posterior.shares[1:].sum(axis=0), weighted)
    for a, b in (posterior.names[:2], posterior.names[-2:]):
        at, states = (posterior.names.index(a), posterior.names.index(b)), dict(posterior.states(a, b))
        assert sum(states.values()) == pytest.approx(1)
        assert states.get("", 0.0) == pytest.approx(posterior.shares[0][at])
        into_b = sum(share for symbol, share in states.items() if symbol.endswith(">"))
        assert into_b == pytest.approx(posterior.shares[2][at])


def test_a_sample_counts_classes_and_tells_what_they_say_of_causes() -> None:
    chain, fork, collider = (MAG.from_string(t, list("ABC")).marks for t in CLASSES)
    one_by_one = sample = GraphSample.none(3)
    for mag in (chain, fork, collider, chain):
        one_by_one = one_by_one.adding([mag], mag[None], [mag is not fork])
    sample = sample.adding([chain, fork], np.stack([chain, fork]), [True, False])
    sample = sample.adding([collider, chain], np.stack([collider, chain]), [True, True])
    assert sample.counts.tolist() == one_by_one.counts.tolist() == [3, 1]
    assert sample.cold.tolist() == one_by_one.cold.tolist() == [2, 1]
    assert sample.diagrams is not None
    np.testing.assert_array_equal(sample.diagrams, one_by_one.diagrams)
    np.testing.assert_array_equal(sample.diagrams, states_of_graphs(np.stack([chain, fork, collider, chain])))
    np.testing.assert_array_equal(sample.pags[0], marks_of_class(chain))
    yes, no = Posterior(("A", "B", "C"), sample, sample.pags[0], 0.0).causes()
    assert not yes.any()
    np.testing.assert_array_equal(no, [[0, 0, 0.25], [0.25, 0, 0.25], [0.25, 0, 0]])
    facts = ap.Knowledge(not_causes=[("A", "B")]).facts(("A", "B", "C"))
    _, no = Posterior(("A", "B", "C"), sample, sample.pags[0], 0.0, facts=facts).causes()
    assert no[0].tolist() == [0, 1, 1]  # A o-o B o-o C: no way leads from A to C but through B


CLASSES = ("A --> B; B --> C", "B --> A; B --> C", "A --> B; C --> B")


@pytest.mark.parametrize("seed", range(6))
def test_with_population_correlations_the_truth_is_found(seed: int) -> None:
    """10⁷ rows and no noise."""
    system = ap.simulate.random_system(8, 2.0, seed=seed)
    weights = np.asarray(ap.simulate.random_weights(system.dag, seed=seed))
    total = np.linalg.inv(np.eye(len(system.dag)) - weights)
    kept = [k for k, name in enumerate(system.dag.names) if name not in system.latent]
    covariance = (total.T @ total)[np.ix_(kept, kept)]
    test = ap.FisherZ.from_covariance(covariance, 10**7, [system.dag.names[k] for k in kept])
    assert ap.learn(test, method="bayes", effort=SHORT, alpha=1e-4).pag == system.true_pag()


def test_discrete_data_without_hidden_causes_give_the_graph_of_a_dag() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, 2000), rng.integers(0, 2, 2000)
    c = np.where(rng.random(2000) < 0.1, rng.integers(0, 3, 2000), a * b)
    state = states_of({"A": a, "B": b, "C": c})[-1]
    assert not len(state.n_levels)
    assert not ((marks_of(state.best) == 2) & (marks_of(state.best).T == 2)).any()  # no <->
    assert state.pag == PAG.from_string("A o-> C; B o-> C")


def test_mixed_data_are_searched_too() -> None:
    rng = np.random.default_rng(1)
    group, other = rng.integers(0, 3, 600), rng.normal(size=600)
    size = group + other + 0.3 * rng.normal(size=600)
    result = ap.learn({"group": group, "other": other, "size": size}, method="bayes", effort=SHORT)
    assert result.pag == PAG.from_string("group o-> size; other o-> size")


def test_without_selection_no_edge_is_undirected() -> None:
    search = Search(table(seed=4), Choices(method="bayes", effort=SHORT, selection_bias=False))
    for state, _ in search.steps():
        assert isinstance(state, BayesState)
        for graph in (state.best, *state.walkers.graph):
            marks = marks_of(graph)
            assert not ((marks == 3) & (marks.T == 3)).any()


def test_a_start_that_cannot_be_scored_is_left_out() -> None:
    """Twelve nodes that all have a hidden cause in common with all others: more than a district may have."""
    from anypag.search.by_scores.bayes import _from_starts, init

    search = Search(table(n=14), Choices(method="bayes", effort=SHORT))
    state, _ = next(search.steps())
    n = search.problem.n
    clique = np.where(np.eye(n, dtype=np.bool_), 0, 2).astype(np.uint8)
    assert n > 10
    assert isinstance(state, BayesState)
    ready = _from_starts(init(search.problem), search.problem, [clique, np.zeros((n, n), np.uint8)])
    assert len(ready.starts) == 1
    assert float(ready.best_score[0]) > -1e6


def test_exchange_keeps_the_law_of_the_coldest() -> None:
    """Two temperatures over all graphs of 3 nodes: the colder one still has the posterior's law."""
    from test_chain import gaussian, is_mag, log_prior

    from naive_scores import all_mag_marks

    score = gaussian(3, 8, rows=60)
    graphs = all_mag_marks(3, is_mag)
    logs = np.array([score_of(score, marks) + log_prior(marks, Prior()) for marks in graphs])
    exact = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    landscape = Landscape.of(score)
    walkers = [Walker.at(graph_of(graphs[0]), landscape, seed) for seed in (1, 2)]
    place = {graph_of(marks).tobytes(): k for k, marks in enumerate(graphs)}
    met = np.zeros(len(graphs))
    for turn in range(40_000):
        walkers = [advance(w, landscape, 10, t) for w, t in zip(walkers, (1.0, 2.0), strict=True)]
        met[place[walkers[0].graph.tobytes()]] += 1
        walkers = exchanged(walkers, (1.0, 2.0), 2 * turn)
    assert np.abs(met / met.sum() - exact).sum() / 2 < 0.02


def test_likely_pairs_are_near_in_some_dag_or_joined_by_tests() -> None:
    parents = np.zeros((5, 5), np.uint8)
    parents[0, 1] = parents[1, 2] = 1
    by_tests = np.zeros((5, 5), np.uint8)
    by_tests[3, 4] = by_tests[4, 3] = 1
    near = likely_pairs([FoundDAG(0.0, parents)], by_tests)
    pairs = {tuple(sorted(map(int, pair))) for pair in np.argwhere(near)}
    assert pairs == {(0, 1), (1, 2), (0, 2), (3, 4)}


def test_the_answer_of_a_diagram_is_that_of_its_mag() -> None:
    """The best graph need not be ancestral; its PAG is that of the MAG with the same independences."""
    diagram = PAG.from_string("A --> B; B --> C; C --> D; B <-> D").marks
    state = states_of(table())[-1]
    small = replace(
        state.posterior, names=tuple("ABCD"), sample=GraphSample.none(4), best=marks_of_class(mag_of_diagram(diagram))
    )
    assert small.pag.validate()


def test_what_cannot_be_scored_is_refused_in_a_sentence() -> None:
    with pytest.raises(AnypagError, match="A score is needed"):
        ap.learn(ap.Oracle(ap.DAG.from_string("A --> B")), method="bayes")
    with pytest.raises(AnypagError, match="missing"):
        ap.learn({"A": [1.0, np.nan, 3.0] * 9, "B": list(range(27))}, method="bayes", missing="pairwise")
    with pytest.raises(AnypagError, match="at least 8 rows"):
        ap.learn(np.random.default_rng(0).normal(size=(7, 6)), method="bayes")
    with pytest.raises(AnypagError, match="effort"):
        ap.learn(np.random.default_rng(0).normal(size=(50, 3)), method="icd", effort=2.0)
    with pytest.raises(AnypagError, match="a number above 0"):
        ap.learn(np.random.default_rng(0).normal(size=(50, 3)), method="bayes", effort=0)


def faithful_covariance(mag: MAG, seed: int) -> Floats:
    """Of a Gaussian law that belongs to a MAG without `---`, with effects that are neither weak nor cancel."""
    rng = np.random.default_rng(seed)
    n = len(mag)
    arrow, tail = mag.marks == 2, mag.marks == 3
    signs = rng.choice([-1.0, 1.0], (n, n))
    b = np.eye(n) - np.where((arrow & tail.T).T, rng.uniform(0.5, 1.2, (n, n)) * signs, 0.0)
    both = np.triu(arrow & arrow.T)
    omega = np.where(both, rng.uniform(0.4, 0.9, (n, n)) * signs, 0.0)
    omega = omega + omega.T + np.diag(1.0 + np.abs(omega + omega.T).sum(axis=0))
    inverse = np.linalg.inv(b)
    return np.asarray(inverse @ omega @ inverse.T)


@pytest.mark.slow
def test_in_the_limit_every_class_of_four_nodes_is_found() -> None:
    """All classes with a member without selection, from their population correlations as if of 10⁷ rows."""
    from certify.algorithms import classes

    found = classes(4)
    members = [MAG(member) for member in found.member if not ((member == 3) & (member.T == 3)).any()]
    wrong = []
    for mag in members:
        test = ap.FisherZ.from_covariance(faithful_covariance(mag, 1), 10**7, mag.names)
        if ap.learn(test, method="bayes", effort=SHORT, alpha=1e-4).pag != mag.to_pag():
            wrong.append(str(mag))
    assert len(members) > 150
    assert not wrong


def test_sampled_graphs_are_kept_one_by_one(tmp_path: Path) -> None:
    system = ap.simulate.random_system(8, 2.0, seed=3)
    data = ap.simulate.linear_gaussian(system.dag, 300, latent=system.latent, seed=3)
    found = ap.learn(data, method="bayes", selection_bias=False, effort=0.2)
    assert found.posterior is not None
    diagrams = found.posterior.diagrams
    assert diagrams is not None and diagrams.n_counted == found.posterior.sample.size
    counted = GraphSample.none(len(found.pag))
    sampled = diagrams.marks[: diagrams.n_counted]
    counted = counted.adding([mag_of_diagram(diagram) for diagram in sampled], sampled, [True] * len(sampled))
    assert sorted(counted.counts.tolist()) == sorted(found.posterior.sample.counts.tolist())
    found.save(tmp_path / "found.json")
    again = ap.read_result(tmp_path / "found.json")
    assert not isinstance(again, MixedGraph) and again.probabilities is not None and again.posterior is not None
    assert again.posterior.diagrams is not None
    np.testing.assert_array_equal(again.posterior.diagrams.states, diagrams.states)
