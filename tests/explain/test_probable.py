"""The most probable graphs beside the answer."""

from __future__ import annotations

import html
from dataclasses import replace

import numpy as np
import pytest

import anypag as ap
from anypag.explain.sampled import about_probable, probable_graphs
from anypag.markup import shown_share
from anypag.plot import svg
from anypag.results.files import load_result, save_result
from anypag.results.result import Result
from result_examples import resting_on


@pytest.fixture(scope="module")
def result() -> Result:
    system = ap.simulate.random_system(7, 2.5, seed=1)
    data = ap.simulate.linear_gaussian(system.dag, 150, latent=system.latent, seed=1)
    return ap.learn(data, method="bayes", effort=0.1)


def test_they_are_the_classes_met_most_often(result: Result) -> None:
    posterior = result.posterior
    assert posterior is not None
    found = probable_graphs(result)
    assert [(graph.pag, graph.share) for graph in found] == posterior.classes()[:3]
    for graph in found:
        assert {(item.a, item.b): (item.first, item.second) for item in graph.differences} == {
            (a, b): (_joined(result.pag, a, b), _joined(graph.pag, a, b))
            for i, a in enumerate(result.pag.names)
            for b in result.pag.names[i + 1 :]
            if _joined(result.pag, a, b) != _joined(graph.pag, a, b)
        }
        assert len(graph.lines()) == len(graph.differences)


def _joined(pag: ap.PAG, a: str, b: str) -> str:
    edge = pag.edge(a, b)
    return "" if edge is None else edge.symbol


def test_what_follows_from_knowledge_is_no_difference() -> None:
    data = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> B; B --> C"), 500, seed=1)
    known = ap.Knowledge(tiers=[["A"], ["B"], ["C"]])
    found = ap.learn(data, method="bayes", effort=0.1, knowledge=known, selection_bias=False)
    first, *_ = probable_graphs(found)
    assert first.pag == found.pag
    assert first.differences == ()
    assert "left out" not in " ".join(about_probable(found))  # sampled graphs have what follows, as the answer has


@pytest.mark.slow
def test_graphs_that_are_seldom_met_are_said_to_be() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 12))
    found = ap.learn(rows @ np.random.default_rng(1).normal(size=(12, 12)), method="bayes", effort=0.1)
    said = load_result(save_result(found))
    assert said.probabilities is not None
    assert probable_graphs(found)[0].share <= 0.05
    assert "None of them is probable as a whole" in " ".join(about_probable(found))
    known = resting_on(said, probabilities=replace(said.probabilities, n_classes=0))  # an older file
    assert "different ones" not in " ".join(about_probable(known))


def test_without_a_sample_there_are_none() -> None:
    assert probable_graphs(ap.learn(ap.Oracle(ap.DAG.from_string("A --> B")))) == ()


def test_pictures_have_the_probabilities(result: Result) -> None:
    drawn = svg(result)
    said = result.probabilities
    assert said is not None
    for edge in result.pag.edges():
        assert (
            f"with probability {html.escape(shown_share(said.of_edge(edge.a, edge.b, edge.symbol)))}</title>" in drawn
        )
    assert "with probability" not in svg(result.pag)
