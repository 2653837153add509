"""Hidden causes of discrete columns, on data with known ones."""

from __future__ import annotations

from functools import partial
from itertools import combinations, product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from resuming import stopped_and_resumed

import anypag as ap
from anypag import PAG
from anypag._kernels.mag_chain import keeps_apart
from anypag.choices import Choices
from anypag.explain.sampled import about_probable
from anypag.graphs.base import ancestry
from anypag.graphs.projection import LatentDAG, mag_of_diagram
from anypag.knowledge.facts import Facts
from anypag.run.engine import Search
from anypag.scores.discrete import DiscreteScore
from anypag.scores.latent import LatentScore
from anypag.search.by_scores import bayes
from anypag.search.by_scores.bayes import BayesState
from anypag.search.by_scores.chain import Known, graph_of, marks_of
from anypag.search.by_scores.hidden_columns import (
    CompletedDAG,
    _climbed,
    _one_cause_less,
    away_from,
    with_another,
    without_hidden,
)
from anypag.search.progress import Progress, no_tick
from strategies import dags

pytestmark = pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")
SHORT = 0.2


def noisy(rng: np.random.Generator, levels: np.ndarray, noise: float, many: int = 3) -> np.ndarray:
    """The levels, some of them replaced at random."""
    return np.where(rng.random(len(levels)) < noise, rng.integers(0, many, len(levels)), levels % many)


def four_children(rows: int = 2000, seed: int = 0) -> dict[str, np.ndarray]:
    """A hidden cause of B, C, D and E; A and F are causes of B and C beside it."""
    rng = np.random.default_rng(seed)
    hidden, a, f = rng.integers(0, 2, rows), rng.integers(0, 3, rows), rng.integers(0, 3, rows)
    of_hidden = rng.random((2, rows)) < 0.6
    children = {
        "B": np.where(of_hidden[0], 2 * hidden, a),
        "C": np.where(of_hidden[1], 2 * hidden, f),
        "D": hidden,
        "E": 2 - hidden,
    }
    return {"A": a, **{name: noisy(rng, levels, 0.25) for name, levels in children.items()}, "F": f}


def found_in(data: dict[str, np.ndarray], tries: int = 4) -> tuple[CompletedDAG, CompletedDAG]:
    """From the empty graph: where the search begins, and where it ends."""
    discrete = DiscreteScore.of(data)
    begun = reached = without_hidden(np.zeros((len(data), len(data)), bool), discrete)
    while (after := with_another(reached, discrete, tries, Facts.none(len(data)), no_tick)) is not reached:
        reached = after
    return begun, reached


def edges_between_all(n: int) -> np.ndarray:
    return np.triu(np.ones((n, n), bool), 1)


def test_a_hidden_cause_of_four_columns_is_found() -> None:
    data = four_children()
    discrete = DiscreteScore.of(data)
    begun = without_hidden(edges_between_all(6), discrete)
    found = with_another(begun, discrete, 4, Facts.none(len(data)), no_tick)
    assert [np.flatnonzero(children).tolist() for children in found.dag.children] == [[1, 2, 3, 4]]
    assert found.score > begun.score + 100
    assert found.hidden.shape == (1, 2000)


@pytest.mark.parametrize("seed", range(8))
def test_a_hidden_cause_is_found_however_the_best_dag_has_an_edge_of_its_children(seed: int) -> None:
    """a --> e and e --> a are equivalent without the hidden cause; with e --> a, a would be a collider."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(2000) < 0.5
    often = ((0.2, 0.8), (0.25, 0.85), (0.15, 0.75), (0.3, 0.8))
    data = {name: (rng.random(2000) < np.where(hidden, *p[::-1])) * 1 for name, p in zip("abcd", often, strict=True)}
    data["e"] = (rng.random(2000) < np.where(data["a"] == 1, 0.75, 0.3)) * 1
    result = ap.learn(data, method="bayes", effort=SHORT)
    assert result.posterior is not None and result.posterior.n_levels == (2,)


def equivalents(parents: np.ndarray) -> list[np.ndarray]:
    """All DAGs with the same edges and the same unshielded colliders."""

    def colliders(arrows: np.ndarray) -> set[tuple[int, int, int]]:
        met = ((i, k, j) for k in range(len(arrows)) for i, j in combinations(np.flatnonzero(arrows[:, k]).tolist(), 2))
        return {(i, k, j) for i, k, j in met if not (arrows[i, j] or arrows[j, i])}

    found, edges = [], np.argwhere(parents)
    for flips in product((False, True), repeat=len(edges)):
        other = np.zeros_like(parents)
        for (i, j), flip in zip(edges, flips, strict=True):
            other[(j, i) if flip else (i, j)] = True
        if not np.linalg.matrix_power(other.astype(int), len(other)).any() and colliders(other) == colliders(parents):
            found.append(other)
    return found


@given(dags(most=6), st.integers(1, 63))
def test_edges_that_can_be_reversed_point_away_from_nodes(dag: ap.DAG, chosen: int) -> None:
    parents = dag.adjacency != 0
    nodes = (chosen >> np.arange(len(parents))) % 2 == 1
    graph = nx.from_numpy_array(parents | parents.T)
    steps = np.array(
        [
            min(
                (nx.shortest_path_length(graph, i, j) for j in np.flatnonzero(nodes) if nx.has_path(graph, i, j)),
                default=99,
            )
            for i in graph
        ]
    )
    after = away_from(nodes, LatentDAG(parents, np.zeros((0, len(parents)), bool), ())).parents
    pointing = steps[:, None] > steps
    assert after.tobytes() in {other.tobytes() for other in equivalents(parents)}
    assert (after & pointing).sum() <= (parents & pointing).sum()
    for a, b in np.argwhere(after & pointing):
        reversed_one = after.copy()
        reversed_one[a, b], reversed_one[b, a] = False, True
        assert reversed_one.tobytes() not in {other.tobytes() for other in equivalents(parents)}


def test_the_graph_says_so() -> None:
    result = ap.learn(four_children(), method="bayes", effort=SHORT)
    joined = ("B <-> C", "B <-o D", "B <-o E", "C <-o D", "C <-o E", "D o-o E")
    assert result.pag == PAG.from_string("; ".join(["A o-> B", "F o-> C", *joined]), result.pag.names)
    assert result.probabilities is not None
    assert result.probabilities.hidden


@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_found_where_nothing_is_hidden(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, 800), rng.integers(0, 2, 800)
    c = noisy(rng, a + b, 0.3)
    data = {"A": a, "B": b, "C": c, "D": noisy(rng, c, 0.4), "E": rng.integers(0, 3, 800)}
    discrete = DiscreteScore.of(data)
    parents = np.zeros((5, 5), bool)
    parents[[0, 1, 2], [2, 2, 3]] = True
    begun = without_hidden(parents, discrete)
    assert with_another(begun, discrete, 4, Facts.none(len(data)), no_tick) is begun
    independent = {name: rng.integers(0, 3, 500) for name in "ABCD"}
    begun, reached = found_in(independent)
    assert reached is begun


def test_a_column_with_many_levels_is_never_a_child_of_a_hidden_column() -> None:
    """D has seven levels here, and would be the best child of all: not proposed, not grown, not sampled."""
    data = four_children(rows=800)
    data["D"] = 3 * (data["D"] // 2) + np.random.default_rng(1).integers(0, 4, 800)
    discrete, d = DiscreteScore.of(data), list(data).index("D")
    assert discrete.n_levels[d] == 7
    for edges in (edges_between_all(6), np.zeros((6, 6), bool)):
        found = with_another(without_hidden(edges, discrete), discrete, 4, Facts.none(6), no_tick)
        assert not found.dag.children[:, d].any()
    drawn = discrete.with_hidden(np.arange(800, dtype=np.uint8)[None] % 2, [2])
    assert (discrete.prices([2]) == drawn.prices()).all() and (drawn.prices()[6] > 1e8).nonzero()[0].tolist() == [d]
    posterior = ap.learn(data, method="bayes", effort=SHORT).posterior
    assert posterior is not None and posterior.diagrams is not None and posterior.n_levels
    hidden_on_d = posterior.diagrams.marks[:, 6:, list(posterior.names).index("D")]
    assert not hidden_on_d.any()


def test_hidden_causes_have_no_causes_in_any_sampled_graph() -> None:
    search = Search(four_children(rows=800), Choices(method="bayes", effort=SHORT))
    sampled = [state for state, _ in search.steps() if isinstance(state, BayesState) and state.phase == "sampling"]
    assert sampled
    for state in sampled:
        for graph in state.walkers.graph:
            marks = marks_of(graph)
            assert len(marks) == 6 + len(state.n_levels)
            assert not (marks[:, 6:] == 2).any()


def test_a_checkpoint_with_hidden_causes_resumes_to_the_same_answer(tmp_path: Path) -> None:
    data = four_children(rows=600)
    whole = ap.learn(data, method="bayes", effort=SHORT)
    for stop_after in (4, 6, 8, 10):
        resumed = stopped_and_resumed(data, tmp_path / f"{stop_after}.db", stop_after, SHORT)
        assert resumed.pag == whole.pag
        assert resumed.posterior is not None
        assert whole.posterior is not None
        np.testing.assert_array_equal(resumed.posterior.sample.pags, whole.posterior.sample.pags)
        assert resumed.posterior.best_score == whole.posterior.best_score


def test_the_order_of_columns_does_not_matter() -> None:
    data = four_children(rows=700, seed=3)
    answer = ap.learn(data, method="bayes", effort=SHORT)
    for seed in range(2):
        names = np.random.default_rng(seed).permutation(list(data)).tolist()
        turned = ap.learn({name: data[name] for name in names}, method="bayes", effort=SHORT)
        assert turned.pag == answer.pag
        assert turned.posterior is not None
        assert answer.posterior is not None
        assert turned.posterior.best_score == answer.posterior.best_score


@pytest.mark.parametrize(
    "known",
    [
        ap.Knowledge(tiers=[["A", "F", "D"], ["B", "C", "E"]]),
        ap.Knowledge(causes=[("A", "B")], not_causes=[("B", "C"), ("D", "C")], unconfounded=[("B", "C")]),
        ap.Knowledge(causes=[("D", "E")]),
        ap.Knowledge(joined=[("D", "E"), ("A", "F")]),
    ],
    ids=["tiers", "statements", "a cause among the children", "an edge among the children and another"],
)
def test_hidden_causes_are_found_under_knowledge_and_keep_to_it(known: ap.Knowledge) -> None:
    result = ap.learn(four_children(rows=1500), method="bayes", effort=SHORT, knowledge=known, selection_bias=False)
    posterior, facts = result.posterior, known.facts(result.pag.names, selection=False)
    assert result.probabilities is not None and posterior is not None and posterior.diagrams is not None
    assert result.probabilities.hidden and posterior.n_levels
    n = len(result.pag)
    for marks in posterior.diagrams.marks:
        dag = LatentDAG.of_marks(marks, posterior.n_levels)
        above = ancestry(marks[:n, :n])
        assert not (facts.causes & ~above).any() and not (facts.not_causes & above).any()
        assert not (facts.joined & ~(dag.parents | dag.parents.T)).any()
        assert not ((dag.children.T.astype(int) @ dag.children > 0) & facts.unconfounded).any()
    assert any(edge.symbol in ("<->", "o->", "o-o") for edge in result.pag.edges())


def test_hidden_causes_are_found_in_pooled_data_with_a_known_target() -> None:
    """The target says that the context and D are joined."""
    seen, moved = four_children(rows=1000), four_children(rows=1000, seed=1)
    moved["D"] = np.random.default_rng(2).integers(0, 3, 1000)
    result = ap.learn(ap.pooled({"seen": seen, "heat": moved}, targets={"heat": ["D"]}), method="bayes", effort=SHORT)
    assert result.posterior is not None and result.posterior.n_levels == (2,)
    assert result.probabilities is not None and result.probabilities.hidden
    assert str(result.pag.edge("heat", "D")) == "heat --> D"


def test_hidden_causes_are_found_beside_several_contexts() -> None:
    sets = {name: four_children(rows=700, seed=k) for k, name in enumerate(("seen", "heat", "cold"))}
    rng = np.random.default_rng(2)
    sets["heat"]["D"], sets["cold"]["A"] = rng.integers(0, 3, 700), noisy(rng, np.zeros(700, int), 0.3)
    search = Search(ap.pooled(sets), Choices(method="bayes", effort=SHORT))
    result, facts = search.run(), search.problem.facts
    assert facts is not None and facts.design.sum() == 2
    assert result.posterior is not None and result.posterior.n_levels == (2,)
    assert result.probabilities is not None and result.probabilities.hidden
    names = np.array(search.problem.score_in_order.names)
    facts = facts.reordered(np.array([names.tolist().index(name) for name in result.pag.names]))
    for mag in sampled_mags(result):
        assert facts.agree_with(np.frombuffer(mag, np.uint8).reshape(8, 8))
    assert [str(result.pag.edge(*pair)) for pair in (("heat", "D"), ("cold", "A"))] == ["heat --> D", "cold --> A"]
    assert str(result.pag.edge("B", "C")) in {"B <-> C", "B o-> C"}
    assert result.effect("D", "E").status == "zero"


def sampled_mags(result: ap.Result) -> set[bytes]:
    """The MAGs of the sampled graphs, from their diagrams."""
    posterior = result.posterior
    assert posterior is not None and posterior.diagrams is not None
    return {mag_of_diagram(one, len(posterior.n_levels)).tobytes() for one in posterior.diagrams.marks}


def test_a_hidden_cause_is_found_beside_a_known_missing_edge() -> None:
    data = four_children(rows=1500)
    for pair in (("A", "F"), ("B", "C")):  # the second would be an edge by the hidden cause
        known = ap.Knowledge(not_joined=[pair])
        result = ap.learn(data, method="bayes", effort=SHORT, knowledge=known)
        assert result.posterior is not None and result.posterior.n_levels
        assert result.probabilities is not None and result.probabilities.hidden
        found = {frozenset(edge[:2]) for edge in result.pag.edges()}
        assert found >= set(map(frozenset, ("AB", "CD", "CE", "CF", "DE")))
        i, j = result.pag.indices(pair, "columns")
        assert not any(np.frombuffer(mag, np.uint8).reshape(6, 6)[i, j] for mag in sampled_mags(result))


def random_knowledge(names: list[str], rng: np.random.Generator) -> ap.Knowledge:
    """Missing edges, pairs without a hidden cause and non-causes, whether true or not."""
    pairs = [tuple(rng.permutation(pair).tolist()) for pair in combinations(names, 2)]
    some = [pairs[k] for k in rng.choice(len(pairs), 4, replace=False)]
    return ap.Knowledge(not_joined=some[:2], unconfounded=some[2:3], not_causes=some[3:])


@pytest.mark.parametrize("seed", range(10))
def test_no_sampled_graph_breaks_a_statement(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = four_children(rows=600, seed=seed)
    data["B"] = noisy(
        rng, np.where(rng.random(600) < 0.5, data["D"], data["B"]), 0.1
    )  # D --> B beside the hidden cause
    known = random_knowledge(list(data), rng)
    result = ap.learn(data, method="bayes", effort=SHORT, knowledge=known, selection_bias=bool(seed % 2))
    facts = known.facts(result.pag.names, selection=bool(seed % 2))
    for mag in sampled_mags(result):
        assert facts.agree_with(np.frombuffer(mag, np.uint8).reshape(6, 6))


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=300)
def test_the_kernel_sees_edges_that_hidden_causes_add(seed: int) -> None:
    """It agrees with the MAG. A pair without a hidden cause may have an edge by an inducing path that has a tail."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, 7)), int(rng.integers(0, 4))
    parents = np.triu(rng.random((n, n)) < 0.3, 1)
    dag = LatentDAG(parents, rng.random((k, n)) < 0.4, (2,) * k)
    mag, facts = mag_of_diagram(dag.marks, k), Facts.none(n).with_hidden(k)
    for i, j in combinations(range(n), 2):
        if not parents[i, j]:
            facts.not_joined[:] = facts.unconfounded[:] = False
            facts.not_joined[i, j] = facts.not_joined[j, i] = True
            assert is_kept(dag, facts) == (mag[i, j] == 0)
            facts.not_joined[:] = False
            facts.unconfounded[i, j] = facts.unconfounded[j, i] = True
            assert is_kept(dag, facts) or mag[i, j] != 0
            assert not is_kept(dag, facts) or mag[i, j] != 2 or mag[j, i] != 2


def is_kept(dag: LatentDAG, facts: Facts) -> bool:
    return bool(keeps_apart(graph_of(dag.marks), Known.of(facts).apart))


def test_where_only_graphs_without_hidden_causes_are_searched_the_reason_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Joined, and neither a cause of the other: only a hidden cause could make this true."""
    known = ap.Knowledge(joined=[("A", "F")], not_causes=[("A", "F"), ("F", "A")], not_selecting=["A", "F"])
    result = ap.learn(four_children(rows=600), method="bayes", effort=SHORT, knowledge=known)
    assert result.probabilities is not None
    assert not result.probabilities.hidden
    why = "because the search for hidden causes starts at such a graph, and none was found that agrees with knowledge"
    assert f"Only graphs without hidden causes were sampled, {why}." in list(about_probable(result))
    monkeypatch.setattr(bayes, "MOST_ROWS", 500)
    known = ap.Knowledge(not_joined=[("A", "F")])
    result = ap.learn(four_children(rows=600), method="bayes", effort=SHORT, knowledge=known)
    why = "because the table has more than 500 rows"
    assert f"Only graphs without hidden causes were sampled, {why}." in list(about_probable(result))


def test_causes_are_merged_until_none_can_be() -> None:
    """Three causes of the same four columns become one: what is left after the first merge is looked at again."""
    discrete = DiscreteScore.of(four_children())
    children = np.array([[0, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0], [0, 1, 0, 0, 1, 0]], bool)
    dag = LatentDAG(np.zeros((6, 6), bool), children, (2, 2, 2))
    score = LatentScore(discrete)
    begun = CompletedDAG(dag, score.of(dag), score.drawn(dag, None, [0]))
    facts = Facts.none(6)
    merged = _climbed(begun, partial(_one_cause_less, facts=facts), 0.0, score, discrete, facts, no_tick)
    assert [np.flatnonzero(row).tolist() for row in merged.dag.children] == [[1, 2, 3, 4]]
    assert merged.score == pytest.approx(score.of(merged.dag))


def test_a_search_for_hidden_causes_can_be_ended_within_one_refinement() -> None:
    class EnoughError(Exception):
        pass

    def tick(progress: Progress) -> None:
        if progress.total == 1:  # one order: the search for the best DAG with drawn levels
            raise EnoughError

    discrete = DiscreteScore.of(four_children(rows=300))
    with pytest.raises(EnoughError):
        with_another(without_hidden(edges_between_all(6), discrete), discrete, 4, Facts.none(6), tick)


def test_a_rare_level_is_not_tied_to_a_hidden_cause() -> None:
    """A column that hardly changes costs next to nothing as one child more; a warm sample took it for one."""
    rng = np.random.default_rng(2)
    hidden = rng.integers(0, 2, 1000)
    table = {f"X{i}": np.where(rng.random(1000) < 0.2, rng.integers(0, 2, 1000), hidden) for i in range(5)}
    table["rare"] = (rng.random(1000) < 0.01).astype(np.int64)
    found = ap.learn(table, method="bayes", test="gsq").pag
    assert not found.marks[-1].any()
    assert len(found.edges()) == 10
