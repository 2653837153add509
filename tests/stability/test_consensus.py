from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_frequencies import pags

import anypag as ap
from anypag.graphs.marks import Mark
from anypag.graphs.pag import PAG
from anypag.stability.consensus import _table, consensus, graph_of, known_consensus, medoid, member_of
from anypag.stability.consensus import distance as total_distance
from naive_stability import distance


@settings(deadline=None)
@given(st.lists(pags(), min_size=1, max_size=5))
def test_the_consensus_of_anything_is_a_valid_pag_and_no_worse_than_the_medoid(graphs: list[PAG]) -> None:
    found = consensus(graphs)
    assert found.validate()
    start, _ = medoid(graphs, _table(graphs))
    totals = [sum(distance(graph, other) for other in graphs) for graph in (found, start)]
    assert totals[0] <= totals[1]
    assert totals[0] == total_distance(found.marks, _table(graphs))


@settings(deadline=None)
@given(st.lists(pags(), min_size=1, max_size=5))
def test_the_medoid_is_the_closest_valid_graph(graphs: list[PAG]) -> None:
    start, member = medoid(graphs, _table(graphs))
    assert member.to_pag() == start
    valid = [sum(distance(graph, other) for other in graphs) for graph in graphs if graph.validate()]
    if valid:
        assert sum(distance(start, other) for other in graphs) == min(valid)
    else:
        assert not start.edges()


def test_an_edge_whose_kind_is_uncertain_stays_an_edge() -> None:
    texts = ["A --> B; C o-> A; D o-> A", "A <-> B; C o-> A; D o-> B; E o-> A", "A o-o B; C; D; E"]
    graphs = [PAG.from_string(text, names=list("ABCDE")) for text in texts]
    assert consensus(graphs).is_adjacent("A", "B")


def test_a_single_change_brings_an_edge_that_most_have() -> None:
    """Three of four graphs have A–B and three C–D, the other edges cost; none has just these two."""
    names = list("ABCDEF")
    texts = ["A o-o B; C o-o D; A o-o E", "A o-o B; C o-o D; C o-o F", "A o-o B; E o-o F", "C o-o D; B o-o F"]
    graphs = [PAG.from_string(text, names=names) for text in texts]
    assert consensus(graphs) == PAG.from_string("A o-o B; C o-o D", names=names)


@pytest.mark.parametrize("seed", range(3))
def test_the_consensus_of_equal_valid_graphs_is_that_graph(seed: int) -> None:
    system = ap.simulate.random_system(8, 3.0, seed=seed)
    truth = ap.learn(system.oracle()).pag
    assert consensus([truth] * 3) == truth
    assert np.array_equal(consensus([truth]).marks, truth.marks)


def _with_tiers(seed: int) -> tuple[ap.Knowledge, list[PAG]]:
    """Graphs of resamples of a few rows, in which an order of time is known."""
    system = ap.simulate.random_system(9, 2.5, seed=seed)
    sample = system.linear_gaussian(150, seed=seed)
    order = [name for name in system.dag.topological_order() if name in sample.names]
    known = ap.Knowledge(tiers=[order[:2], order[2:4], order[4:]])
    boot = ap.bootstrap(dict(sample), 15, seed=seed, selection_bias=False, knowledge=known)
    return known, list(boot.graphs)


@pytest.mark.parametrize("seed", range(3))
def test_the_consensus_agrees_with_what_is_known(seed: int) -> None:
    known, graphs = _with_tiers(seed)
    facts = known.facts(graphs[0].names, selection=False)
    found = known_consensus(graphs, facts)
    assert found is not None
    told = facts.seeds(found.marks)
    assert np.array_equal(found.marks[told > Mark.CIRCLE], told[told > Mark.CIRCLE])
    member = member_of(found, facts)
    assert member is not None and facts.agree_with(member.marks)
    assert graph_of(member, facts) == found


def test_the_consensus_of_a_bootstrap_agrees_with_what_was_known() -> None:
    rng = np.random.default_rng(3)
    data = dict(zip("abcdef", rng.normal(size=(6, 120)) + rng.normal(size=120), strict=True))
    known = ap.Knowledge(tiers=[["a", "b"], ["c", "d"], ["e", "f"]])
    boot = ap.bootstrap(data, 10, selection_bias=False, knowledge=known)
    assert boot.consensus is not None
    facts = known.facts(boot.names, selection=False)
    told = facts.seeds(boot.consensus.marks)
    assert (told == Mark.ARROW).any()
    assert np.array_equal(boot.consensus.marks[told > Mark.CIRCLE], told[told > Mark.CIRCLE])


def test_where_no_graph_agrees_there_is_no_consensus() -> None:
    facts = ap.Knowledge.from_text("A ~> B").facts(["A", "B"], selection=False)
    assert known_consensus([PAG.from_string("A <-> B")], facts) is None
    both = [PAG.from_string("A --> B"), PAG.from_string("A <-> B")]
    assert known_consensus(both, facts) == PAG.from_string("A --> B")
