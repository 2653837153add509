"""From cause to PAG: projections and PAGs are what their definitions say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

import naive
from anypag import DAG, MAG, PAG, latent_projection, true_pag
from anypag.errors import GraphError
from anypag.graphs.projection import class_of
from strategies import System, mags, seeded_mags, systems


@given(systems(8, n_latent=2, n_selection=1))
def test_a_projection_has_an_edge_where_no_set_separates(system: System) -> None:
    expected = naive.project(system.dag.marks.tolist(), system.latent, system.selection)
    assert np.array_equal(latent_projection(*system).marks, expected)


@given(systems(7, n_latent=3, n_selection=0) | systems(7, n_latent=0, n_selection=3))
def test_a_projection_with_latent_or_selection_nodes_alone(system: System) -> None:
    expected = naive.project(system.dag.marks.tolist(), system.latent, system.selection)
    assert np.array_equal(latent_projection(*system).marks, expected)


@pytest.mark.parametrize("n", [3, 4])
def test_every_mag_is_the_projection_of_its_canonical_dag(n: int) -> None:
    for marks in naive.all_mags(n):
        dag, latent, selection = naive.canonical_dag(marks)
        projected = latent_projection(DAG(np.array(dag) == naive.ARROW), latent, selection)
        assert projected == MAG(marks)


@pytest.mark.parametrize("n", [3, 4])
def test_the_pag_of_every_mag_has_the_marks_its_whole_class_shares(n: int) -> None:
    for members in naive.all_classes(n).values():
        expected = PAG(naive.common_marks(members))
        for marks in members:
            assert MAG(marks).to_pag() == expected
            assert np.array_equal(class_of(np.array(marks, np.uint8)), expected.marks)  # from what was met before


@pytest.mark.parametrize("n", [3, 4])
def test_the_true_pag_has_the_marks_the_whole_class_shares(n: int) -> None:
    for members in naive.all_classes(n).values():
        dag, latent, selection = naive.canonical_dag(members[0])
        found = true_pag(DAG(np.array(dag) == naive.ARROW), latent, selection)
        assert found == PAG(naive.common_marks(members))


@settings(max_examples=40)
@given(mags(5))
def test_the_pag_of_a_random_mag_has_the_marks_its_whole_class_shares(mag: MAG) -> None:
    assume(len(mag.edges()) <= 6)
    members = naive.equivalence_class(mag.marks.tolist())
    assert np.array_equal(mag.to_pag().marks, naive.common_marks(members))
    for marks in members:
        assert np.array_equal(class_of(np.array(marks, np.uint8)), naive.common_marks(members))


@pytest.mark.slow
@settings(max_examples=200)
@given(mags(7) | seeded_mags())
def test_the_pag_is_the_one_of_rules_in_place_with_all_paths_enumerated(mag: MAG) -> None:
    assert np.array_equal(mag.to_pag().marks, naive.pag_by_rules(mag.marks.tolist()))


@given(systems(7))
def test_the_order_of_the_nodes_does_not_matter(system: System) -> None:
    dag, latent, selection = system
    hidden = [dag.names[v] for v in latent], [dag.names[v] for v in selection]
    turned = dag.subgraph(dag.names[::-1])
    assert latent_projection(turned, *hidden) == latent_projection(dag, *hidden)
    assert true_pag(turned, *hidden) == true_pag(dag, *hidden)


def test_nodes_are_given_by_name_or_index() -> None:
    dag = DAG.from_string("U --> A; U --> B; A --> S; C --> S")
    assert latent_projection(dag, latent=[0], selection=["S"]) == latent_projection(dag, latent=["U"], selection=[3])
    assert latent_projection(dag, latent=["U"], selection=["S"]) == MAG.from_string("A --> B; A --- C")


def test_without_hidden_nodes_the_mag_is_the_dag() -> None:
    dag = DAG.from_string("A --> B; A --> C; B --> D; C --> D")
    assert np.array_equal(latent_projection(dag).marks, dag.marks)
    assert latent_projection(dag).names == dag.names


def test_all_nodes_may_be_hidden() -> None:
    assert len(true_pag(DAG.from_string("A --> B"), latent=["A"], selection=["B"])) == 0


CHAIN = DAG.from_string("A --> B; B --> C")


@pytest.mark.parametrize(
    ("graph", "latent", "selection", "message"),
    [
        (CHAIN, "A", (), "The latent nodes come as a list; got 'A'. Write ['A'] for a single node."),
        (CHAIN, (), "C", "The selection nodes come as a list; got 'C'. Write ['C'] for a single node."),
        (CHAIN, 1, (), "The latent nodes come as a list; got 1. Write [1] for a single node."),
        (CHAIN, ["D"], (), "There is no node 'D'; the nodes are 'A', 'B', 'C'."),
        (CHAIN, [0], ["A"], "A node is latent or a selection node, not both; 'A' is given as both."),
        (MAG.from_string("A <-> B"), (), (), "A causal graph is a DAG; got a MAG."),
        (PAG.from_string("A o-o B"), (), (), "A causal graph is a DAG; got a PAG."),
    ],
)
def test_what_cannot_be_projected_is_refused(graph: Any, latent: Any, selection: Any, message: str) -> None:
    for function in (latent_projection, true_pag):
        with pytest.raises(GraphError) as error:
            function(graph, latent, selection)
        assert str(error.value) == message
