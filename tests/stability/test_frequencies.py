from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
from anypag.graphs.marks import EDGE_SYMBOLS, Mark
from anypag.graphs.pag import PAG
from anypag.results.stability import Stability
from naive_stability import cause_frequency, mark_frequency

NAMES = ("A", "B", "C", "D")


def stability_of(names: tuple[str, ...], graphs: tuple[PAG, ...]) -> Stability:
    return Stability(names, graphs, len(graphs), "bootstrap", 0)


PAIRS = [(i, j) for i in range(4) for j in range(i)]


@st.composite
def pags(draw: st.DrawFn) -> PAG:
    marks = np.zeros((4, 4), np.uint8)
    for i, j in PAIRS:
        kind = draw(st.sampled_from([None, *EDGE_SYMBOLS.values()]))
        if kind is not None:
            marks[i, j], marks[j, i] = kind
    return PAG(marks, NAMES)


@given(st.lists(pags(), min_size=1, max_size=6))
def test_every_frequency_is_that_of_the_slow_count(graphs: list[PAG]) -> None:
    found = stability_of(NAMES, tuple(graphs))
    for mark, shares in ((Mark.ARROW, found.arrowhead), (Mark.TAIL, found.tail), (Mark.CIRCLE, found.circle)):
        np.testing.assert_array_equal(shares, mark_frequency(graphs, mark))
    np.testing.assert_allclose(found.adjacency, found.arrowhead + found.tail + found.circle, atol=1e-12)
    np.testing.assert_array_equal(found.causes, cause_frequency(graphs, claimed=True))
    np.testing.assert_array_equal(found.not_causes, cause_frequency(graphs, claimed=False))


@given(st.lists(pags(), min_size=1, max_size=6))
def test_kinds_are_counted_as_written_from_either_end(graphs: list[PAG]) -> None:
    found = stability_of(NAMES, tuple(graphs))
    for i, j in [*PAIRS, *((j, i) for i, j in PAIRS)]:
        edges = [graph.edge(i, j) for graph in graphs]
        written = [edge.symbol for edge in edges if edge is not None]
        assert found.kinds_of(i, j) == {symbol: written.count(symbol) for symbol in set(written)}
        assert all(found.kinds[symbol][i, j] == written.count(symbol) / len(graphs) for symbol in EDGE_SYMBOLS)


def test_the_same_graph_again_and_again_gives_0_and_1() -> None:
    graph = PAG.from_string("A o-> B; C --> B; B --> D", names=NAMES)
    found = stability_of(NAMES, (graph,) * 7)
    for shares in (found.adjacency, found.arrowhead, found.tail, found.circle, found.causes, found.not_causes):
        assert set(np.unique(shares)) <= {0.0, 1.0}
    assert found.causes[2, 3] == 1 and found.not_causes[3, 2] == 1 and found.causes[0, 3] == found.not_causes[0, 3] == 0


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_what_is_said_to_be_no_cause_is_none_with_selection_too(seed: int) -> None:
    """Against the graphs that the PAGs come from, with a hidden node, and selection by two that cause nothing."""
    rng = np.random.default_rng(seed)
    n = 8
    arrows = np.triu(rng.random((n, n)) < 0.4, 1)
    arrows[-2] = False
    names = [f"V{i}" for i in range(n)]
    dag = ap.DAG.from_string("; ".join([*names, *(f"V{i} --> V{j}" for i, j in np.argwhere(arrows))]))
    graph = ap.learn(ap.Oracle(dag, latent=[names[rng.integers(6)]], selection=names[-2:])).pag
    denied = stability_of(graph.names, (graph,)).not_causes
    for i, a in enumerate(graph.names):
        for j, b in enumerate(graph.names):
            assert i == j or not (denied[i, j] and a in dag.ancestors(b))


def test_two_that_both_affect_selection_may_be_cause_and_effect() -> None:
    ring = "A --> B; B --> S1; C --> S1; C --> S2; D --> S2; D --> S3; A --> S3"
    graph = ap.learn(ap.Oracle(ap.DAG.from_string(ring), selection=["S1", "S2", "S3"])).pag
    assert all(edge.symbol == "---" for edge in graph.edges())
    assert not stability_of(graph.names, (graph,)).not_causes.any()


def test_without_graphs_nothing_is_known() -> None:
    found = stability_of(NAMES, ())
    assert found.n == 0 and np.isnan(found.adjacency).all() and np.isnan(found.causes).all()
    assert found.kinds_of(0, 1) == {}


@pytest.mark.parametrize("p", [1, 40])
def test_any_number_of_variables(p: int) -> None:
    names = tuple(f"X{i}" for i in range(p))
    assert stability_of(names, (PAG(np.zeros((p, p)), names),)).adjacency.shape == (p, p)
