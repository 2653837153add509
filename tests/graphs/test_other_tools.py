"""Graphs in the hands of other tools: networkx, dowhy, causal-learn's objects, readers of GraphML and DOT."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest

import anypag as ap
from anypag.errors import GraphError


class Node:
    """A node of causal-learn."""

    def __init__(self, name: str) -> None:
        self._name = name

    def get_name(self) -> str:
        return self._name


class GeneralGraph:
    """What causal-learn's graph objects have."""

    def __init__(self, graph: ap.PAG) -> None:
        code = np.array([0, 2, 1, -1])  # none, circle, arrow, tail; a cell is about the mark at its row
        self.graph, self._nodes = code[graph.marks.T], [Node(name) for name in graph.names]

    def get_nodes(self) -> list[Node]:
        return self._nodes


class CausalGraph:
    """What its `pc` returns."""

    def __init__(self, graph: ap.PAG) -> None:
        self.G = GeneralGraph(graph)


@pytest.mark.parametrize("wrap", [GeneralGraph, CausalGraph, ap.to_networkx, lambda graph: graph])
def test_graphs_of_other_makes_are_taken_as_they_are(wrap: Any, tmp_path: Any) -> None:
    graph = ap.PAG.from_string("A o-> B; B --> C; C <-> D")
    thing = wrap(graph)
    assert ap.as_graph(thing) == graph
    assert ap.compare(thing, graph).errors == 0
    ap.write_graph(thing, tmp_path / "g.txt")
    assert ap.read_graph(tmp_path / "g.txt") == graph
    from anypag.plot import svg

    assert svg(thing) == svg(graph)


def test_a_real_graph_of_causal_learn_is_taken() -> None:
    pytest.importorskip("causallearn")
    from causallearn.search.ConstraintBased.FCI import fci

    data = np.asarray(ap.simulate.random_system(6, seed=1).linear_gaussian(300, seed=1))
    found, _ = fci(data, verbose=False, show_progress=False)
    assert len(ap.as_graph(found)) == data.shape[1]


class Cit:
    """What causal-learn's `CIT(data, method)` has."""

    method = "fisherz"

    def __init__(self, data: Any) -> None:
        self.data, self._test = data, ap.FisherZ(data)

    def __call__(self, x: int, y: int, z: list[int]) -> float:
        return float(self._test.pvalues(ap.Queries([x], [y], [z]))[0])


def test_a_test_of_causal_learn_is_taken_as_it_is() -> None:
    data = np.asarray(ap.simulate.random_system(6, seed=1).linear_gaussian(300, seed=1))
    names = [f"v{i}" for i in range(data.shape[1])]
    expected = ap.learn(data, method="icd", names=names).pag
    assert ap.learn(Cit(data), method="icd", names=names, sepset="largest-p").pag == expected
    assert ap.learn(data, method="icd", test=Cit(data), names=names, sepset="largest-p").pag == expected
    assert ap.learn(Cit(data), method="icd").pag.names[0] == "X0"


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(GraphError, match=r"A graph is wanted: .*; got list"):
        ap.as_graph([1, 2])


def test_dot_runs_forward() -> None:
    lines = ap.dumps(ap.PAG.from_string("smoking <-o income; tar <-- smoking"), "dot").splitlines()
    assert '  "income" -> "smoking" [dir=both, arrowtail=odot, arrowhead=normal];' in lines
    assert '  "smoking" -> "tar" [dir=both, arrowtail=none, arrowhead=normal];' in lines


def test_networkx_writes_our_graphs_as_graphml(tmp_path: Any) -> None:
    graph = ap.PAG.from_string('"a <b> & c" o-> B; B --> C; D')
    networkx.write_graphml(ap.to_networkx(graph), tmp_path / "g.graphml")
    assert ap.from_networkx(networkx.read_graphml(tmp_path / "g.graphml")) == graph
