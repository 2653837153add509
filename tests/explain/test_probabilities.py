"""Probabilities in words, tables and files."""

from __future__ import annotations

import copy
import html
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap
import naive_posterior as naive
from anypag import AnypagError
from anypag.cli.tell import groups
from anypag.explain import Explanation
from anypag.explain.sampled import LIKELY, WHY_UNLIKELY, certainty, edge_text, hedge_level, hedged, sampled_note
from anypag.explain.words import EndClaim
from anypag.graphs.marks import EDGE_SYMBOLS, Mark
from anypag.graphs.rules import KNOWN
from anypag.markup import shown_share
from anypag.plot import svg
from anypag.results.files import load_result, save_result
from anypag.results.probabilities import LEAST_ALTERNATIVE, Probabilities, reversed_symbol
from anypag.results.result import Result
from anypag.search.by_scores.sampled_graphs import NUMBERS, STATES, states_of


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
            symbol = "" if edge is None else edge.symbol
            probability, share = said.of_edge(a, b, symbol), said.share_of_edge(a, b, symbol)
            assert explanation.probability == explanation.to_dict()["probability"] == probability
            often = f"({round(share * said.n_samples)} of {said.n_samples} sampled graphs, corrected by how often"
            assert f"{probability:.2f} {often}" in str(explanation)
            _check_alternative(explanation, said)
            assert "given beforehand" not in str(explanation)
            there, back = said.states(a, b), said.states(b, a)
            assert sum(p for _, p, _ in there) == pytest.approx(1) == sum(share for _, _, share in there)
            assert sorted(there) == sorted((reversed_symbol(symbol), p, share) for symbol, p, share in back)


def _check_alternative(explanation: Explanation, said: Probabilities) -> None:
    """The alternative is the most probable of the other ways that some sampled graph has, and is named."""
    a, b, other = explanation.a, explanation.b, explanation.alternative
    ways = [(symbol, p) for symbol, p, share in said.states(a, b) if share]
    rest = [(s, p) for s, p in ways if s != (explanation.edge.symbol if explanation.edge else "")]
    assert (other is None) == (not rest)
    if other is not None:
        assert other.probability == max(probability for _, probability in rest)
        probability = f"{other.probability:.2f} ({round(other.share * said.n_samples)} of {said.n_samples})"
        named = f"the alternative is {edge_text(a, b, other.symbol)} with {probability}"
        assert (named in str(explanation)) == (other.share >= 0.005)
        assert explanation.to_dict()["alternative"]["symbol"] == other.symbol
        for change in other.then:
            assert edge_text(change.a, change.b, change.symbol).replace("no edge", "not joined") in str(explanation)


def test_the_question_of_causes_says_what_its_shares_are_of(result: Result) -> None:
    said, (a, b) = result.probabilities, next(iter(result.probabilities.causes))  # type: ignore[union-attr]
    yes, no, _ = said.is_cause(a, b)  # type: ignore[union-attr]
    asked = f"Is {a} a cause of {b}? Of all sampled graphs {yes:.0%} say yes, {no:.0%} no;"
    assert round(no, 2) == 1 or asked in str(result.explain(a, b))


def test_indices_stand_for_names(result: Result) -> None:
    names = result.pag.names
    for i, j in combinations(range(len(names)), 2):
        assert result.explain(i, j) == result.explain(names[i], names[j])  # type: ignore[arg-type]


def test_what_goes_with_an_alternative_is_told(result: Result) -> None:
    """Counted again, class by class of the posterior."""
    posterior, said = result.posterior, result.probabilities
    assert posterior is not None
    assert said is not None
    assert said.changes
    classes = [(states_of(pag.marks[None])[0].tolist(), round(p * said.n_samples)) for pag, p in posterior.classes()]
    answer = states_of(result.pag.marks[None])[0].tolist()
    pairs = list(combinations(result.pag.names, 2))
    for pair, (a, b) in enumerate(pairs):
        edge = result.pag.edge(a, b)
        other = said.alternative(a, b, "" if edge is None else edge.symbol)
        if other is not None and other.share >= LEAST_ALTERNATIVE:
            found = naive.changes_with(classes, [answer], pair, NUMBERS[other.symbol])
            assert other.then == tuple((*pairs[k], STATES[state], share) for k, state, share in found)


def test_each_end_is_as_sure_as_its_mark(result: Result) -> None:
    said = result.probabilities
    assert said is not None
    for edge in result.pag.edges():
        for end, other in zip(result.explain(edge.a, edge.b).ends, (edge.b, edge.a), strict=True):
            if end.mark == Mark.CIRCLE:
                assert end.probability is None or end.claim.value == "no, since the other is"
                continue
            shares = [
                p for symbol, p, _ in said.states(end.at, other) if symbol and EDGE_SYMBOLS[symbol][0] == end.mark
            ]
            assert end.probability == pytest.approx(sum(shares))
            assert end.meaning.startswith(hedged("", end.probability))


@pytest.fixture(scope="module")
def with_knowledge() -> Result:
    dag = ap.DAG.from_string("A --> B; B --> C")
    data = ap.simulate.linear_gaussian(dag, 500, seed=1)
    known = ap.Knowledge(tiers=[["A"], ["B"], ["C"]])
    return ap.learn(data, method="bayes", effort=0.1, knowledge=known, selection_bias=False)


def test_sampled_graphs_have_what_follows_from_knowledge(with_knowledge: Result) -> None:
    """Classes of sampled graphs have `A o-o B`; that B is no cause of A was said, and decides it in each of them."""
    said = with_knowledge.probabilities
    assert said is not None and not said.as_sampled
    for edge in with_knowledge.pag.edges():
        states = {way: probability for way, probability, _ in said.states(edge.a, edge.b)}
        assert set(states) <= {"-->", "o->", "<->", ""}
        assert with_knowledge.explain(edge.a, edge.b).probability == pytest.approx(states[edge.symbol])
    assert load_result(save_result(with_knowledge)).probabilities == said


def test_what_rules_alone_do_not_find_is_as_sure_as_what_it_follows_from(with_knowledge: Result) -> None:
    found = with_knowledge.probabilities
    assert found is not None
    states = (("o->", 0.6, 0.6), ("-->", 0.3, 0.3), ("", 0.1, 0.1))
    said = replace(found, pairs={**found.pairs, ("A", "B"): states}, as_sampled={("A", "B"): "o->"})
    assert said.of_edge("A", "B", "-->") == pytest.approx(0.9)
    assert f"as {edge_text('A', 'B', 'o->')}, from which this edge follows" in sampled_note(said, "A", "B", "-->")
    alternative = said.alternative("A", "B", "-->")
    assert alternative is not None and alternative.symbol == ""


def test_what_was_said_beforehand_is_not_hedged(with_knowledge: Result) -> None:
    ends = [end for edge in with_knowledge.pag.edges() for end in with_knowledge.explain(edge.a, edge.b).ends]
    said = [end for end in ends if end.rule == KNOWN]
    assert said
    assert all(end.probability is None for end in said)


def test_what_is_known_is_not_hedged_where_selection_leaves_a_circle() -> None:
    data = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> B; B --> C"), 500, seed=1)
    known = ap.Knowledge(tiers=[["A"], ["B"], ["C"]])
    found = ap.learn(data, method="bayes", effort=0.1, knowledge=known)
    ends = [end for edge in found.pag.edges() for end in found.explain(edge.a, edge.b).ends]
    as_known = [end for end in ends if end.claim is EndClaim.NO_AS_KNOWN]
    assert as_known
    assert all(end.probability is None for end in as_known)


def test_a_line_says_what_the_sample_expects(result: Result) -> None:
    said = result.probabilities
    assert said is not None
    wrong = f"about {said.expected_errors:.1f} of its edges and marks are expected to be wrong"
    expected = f"{said.n_samples} graphs sampled; {wrong}"
    assert expected in repr(result)
    assert "r = " not in repr(result)


def test_unlikely_edges_are_told_with_how_likely_the_two_are_joined_at_all(result: Result) -> None:
    said, posterior = result.probabilities, result.posterior
    assert said is not None
    assert posterior is not None and posterior.reported is not None
    kinds, adjacent = set(), posterior.reported[1:].sum(axis=0)
    for edge in result.pag.edges():
        probability = said.of_edge(edge.a, edge.b, edge.symbol)
        i, j = result.pag.index(edge.a), result.pag.index(edge.b)
        joined = f" (joined {shown_share(adjacent[i, j])})" if round(probability, 2) < LIKELY else ""
        assert certainty(said, edge) == f"{probability:.2f}{joined}"
        assert f"{edge.forward()}   {probability:.2f}{joined}\n" in str(result)
        kinds.add(round(probability, 2) < LIKELY)
    assert kinds == {True, False}
    assert str(result).count(WHY_UNLIKELY) == 1


def test_printing_says_that_what_is_known_rules_arrows_out(result: Result, with_knowledge: Result) -> None:
    told = "can decide ends marked with a circle, and exclude impossible arrows."
    assert str(result).endswith(f"What you know for sure, such as an order in time (knowledge=), {told}")
    assert "knowledge=" not in str(with_knowledge)


def test_tables_have_a_column_of_them(result: Result) -> None:
    table = result.edge_table()
    assert all(0 <= p <= 1 for p in table["probability"])
    words = zip(table["in_words"], table["probability"], strict=True)
    assert all(sentence.startswith(hedged("", p)) for sentence, p in words)
    assert len({hedged("", p) for p in table["probability"]}) > 1
    by_tests = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; C")))
    assert by_tests.edge_table()["probability"] == [None] * 3
    shares = zip(*(table[name] for name in ("p_cause", "p_no_cause", "p_open")), strict=True)
    assert all(sum(of_pair) == pytest.approx(1) for of_pair in shares)
    assert by_tests.edge_table()["p_open"] == [None] * 3


def test_files_keep_them(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "learned.json")
    saved = ap.read_result(tmp_path / "learned.json")
    assert isinstance(saved, Result)
    assert saved.probabilities == result.probabilities
    a, b = result.pag.names[:2]
    assert str(saved.explain(a, b)) == str(result.explain(a, b))
    assert result.probabilities is not None
    posterior = result.posterior
    assert posterior is not None
    yes, no = posterior.causes(selection=True)
    assert result.probabilities.causes == {
        (result.pag.names[i], result.pag.names[j]): (yes[i, j], no[i, j]) for i, j in np.argwhere(no < 1) if i != j
    }
    result.save(tmp_path / "learned.html")
    assert "graphs sampled" in (tmp_path / "learned.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("n_samples", -1, "whole number"),
        ("expected_errors", "many", "a number was wanted"),
        ("pairs", [[0, 1, [["=>", 0.5, 0.5]]]], "one of .*o->"),
        ("pairs", [[0, 99, []]], "a whole number from 0 to below"),
        ("causes", [[0, 1, [1.5, 0]]], "a number from 0 to 1"),
        ("graphs", [[0.5]], "a list of 2"),
        ("n_classes", "many", "whole number"),
        ("changes", [[0, 1, [[2, 3, "=>", 0.5]]]], "one of .*o->"),
        ("changes", [[0, 1, [[2, 3, "o->"]]]], "a list of 4"),
        ("as_sampled", [[0, 1, ["o->"]]], "one of .*o->"),
    ],
)
def test_broken_ones_are_refused_in_a_sentence(result: Result, key: str, value: Any, words: str) -> None:
    document = copy.deepcopy(save_result(result))
    document["meta"]["anypag"]["probabilities"][key] = value
    with pytest.raises(AnypagError, match=words):
        load_result(document)


def test_graphs_without_hidden_causes_are_said_to_be_such() -> None:
    """Hidden causes of discrete columns are not looked for if no graph without them agrees with the knowledge."""
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 3, (3, 300))
    table = {"A": a, "B": np.where(rng.random(300) < 0.5, a, b), "C": c}
    known = ap.Knowledge(joined=[("A", "C")], not_causes=[("A", "C"), ("C", "A")], not_selecting=["A", "C"])
    found = ap.learn(table, method="bayes", effort=0.1, knowledge=known)
    assert found.probabilities is not None
    assert not found.probabilities.hidden
    assert found.probabilities.errors_told.endswith(" if nothing is hidden")
    assert "sampled graphs without hidden causes" in str(found.explain("A", "B"))
    assert load_result(save_result(found)).probabilities == found.probabilities


def test_what_gfci_finds_is_explained_by_tests_and_rules() -> None:
    dag = ap.DAG.from_string("A --> C; B --> C; C --> D")
    found = ap.learn(ap.simulate.linear_gaussian(dag, 2000, seed=1), method="gfci")
    assert found.pag == ap.true_pag(dag)
    assert "R1" in str(found.explain("C", "D"))
    assert "independent" in str(found.explain("A", "B"))


def test_a_probability_is_rounded_the_same_way_in_text_picture_and_table(result: Result) -> None:
    said = result.probabilities
    assert said is not None
    drawn = svg(result)
    for edge in result.pag.edges():
        share = shown_share(said.of_edge(edge.a, edge.b, edge.symbol))
        assert certainty(said, edge).startswith(share)
        assert f">{html.escape(share)}</text>" in drawn


def test_edges_of_one_certainty_stand_together_the_surest_first(result: Result) -> None:
    said = result.probabilities
    assert said is not None
    shares = [[said.of_edge(edge.a, edge.b, edge.symbol) for edge in group.edges] for group in groups(result)]
    assert all(group == sorted(group, reverse=True) for group in shares)
    levels = [hedge_level(group[0]) for group in shares]
    assert levels == sorted(levels)
