"""Probabilities in words, tables and files."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag import AnypagError
from anypag.explain.pair import hedged
from anypag.results.document import save_result
from anypag.results.probabilities import reversed_symbol
from anypag.results.result import Result
from anypag.results.saved import SavedResult, load_result


@pytest.fixture(scope="module")
def result() -> Result:
    system = ap.simulate.random_system(7, 2.5, seed=1)
    data = ap.simulate.linear_gaussian(system.dag, 150, latent=system.latent, seed=1)
    return ap.learn(data, method="bayes", effort=0.1)


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (None, "It rains."),
        (0.99, "It rains."),
        (0.9, "Very probably: It rains."),
        (0.6, "Probably: It rains."),
        (0.2, "Perhaps: It rains."),
    ],
)
def test_words_follow_the_probability(probability: float | None, words: str) -> None:
    assert hedged("It rains.", probability) == words


def test_explanations_name_the_alternatives(result: Result) -> None:
    said = result.probabilities
    assert said is not None
    names = result.pag.names
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            explanation = result.explain(a, b)
            edge = result.pag.edge(a, b)
            share = said.of_edge(a, b, "" if edge is None else edge.symbol)
            assert explanation.probability == share
            assert explanation.to_dict()["probability"] == share
            assert f"Of {said.n_samples:,} sampled graphs: " in str(explanation)
            assert "given beforehand" not in str(explanation)
            assert sum(p for _, p in said.states(a, b)) == pytest.approx(1)
            turned = {reversed_symbol(symbol): p for symbol, p in said.states(b, a)}
            assert dict(said.states(a, b)) == turned


def test_tables_have_a_column_of_them(result: Result) -> None:
    table = result.edge_table()
    assert all(0 <= p <= 1 for p in table["probability"])
    by_tests = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; C")))
    assert by_tests.edge_table()["probability"] == [None] * 3


def test_files_keep_them(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "learned.json")
    saved = ap.read_result(tmp_path / "learned.json")
    assert isinstance(saved, SavedResult)
    assert saved.probabilities == result.probabilities
    a, b = result.pag.names[:2]
    assert str(saved.explain(a, b)) == str(result.explain(a, b))
    assert result.probabilities is not None
    posterior = result.posterior
    assert posterior is not None
    above = posterior.ancestor_probability
    assert {pair for pair, _ in result.probabilities.ancestors.items()} == {
        (result.pag.names[i], result.pag.names[j]) for i, j in np.argwhere(above > 0)
    }
    result.save(tmp_path / "learned.html")
    assert "graphs sampled" in (tmp_path / "learned.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("samples", -1, "whole number"),
        ("expected_errors", "many", "must be a number"),
        ("pairs", [[0, 1, [["=>", 0.5]]]], "is joined by"),
        ("pairs", [[0, 99, []]], "nodes have the numbers"),
        ("ancestors", [[0, 1, 1.5]], "between 0 and 1"),
        ("graphs", [[0.5]], "a list of 2"),
    ],
)
def test_broken_ones_are_refused_in_a_sentence(result: Result, key: str, value: Any, words: str) -> None:
    document = copy.deepcopy(save_result(result))
    document["meta"]["anypag"]["probabilities"][key] = value
    with pytest.raises(AnypagError, match=words):
        load_result(document)


def test_graphs_without_hidden_causes_are_said_to_be_such() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, 300))
    found = ap.learn({"A": a, "B": np.where(rng.random(300) < 0.5, a, b)}, method="bayes", effort=0.1)
    assert found.probabilities is not None
    assert not found.probabilities.hidden
    assert found.probabilities.condition == " if nothing is hidden"
    assert "sampled graphs without hidden causes" in str(found.explain("A", "B"))
    assert load_result(save_result(found)).probabilities == found.probabilities


def test_what_gfci_finds_is_explained_by_tests_and_rules() -> None:
    dag = ap.DAG.from_string("A --> C; B --> C; C --> D")
    found = ap.learn(ap.simulate.linear_gaussian(dag, 2000, seed=1), method="gfci")
    assert found.pag == ap.true_pag(dag)
    assert "R1" in str(found.explain("C", "D"))
    assert "independent" in str(found.explain("A", "B"))


def test_files_without_them_are_read(result: Result) -> None:
    document = save_result(result)
    del document["meta"]["anypag"]["probabilities"]
    assert load_result(document).probabilities is None
