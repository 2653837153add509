"""The posterior of an effect: exact on small graphs, the same in any order of columns and units, true to knowledge."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from certify.members import members
from linear_truth import slope_and_effect, systems

import anypag as ap
from anypag.data.table import as_table
from anypag.effects.answer import Effect
from anypag.effects.estimate.draws import DrawnColumn, LinearColumns, total_effects_of
from anypag.effects.estimate.fitting import Sampling
from anypag.effects.estimate.tables import LevelTable
from anypag.effects.identify.sampled_classes import classes_of
from anypag.effects.identify.verdict import holds_if_selected, verdict
from anypag.effects.learned import Adjusting
from anypag.effects.sampled_effect import _limits, _missing_told, headline, sampled_effect
from anypag.effects.sampled_question import DrawnEffect, Question, Span
from anypag.graphs.base import Marks, MixedGraph
from anypag.graphs.node_sets import members as nodes_in
from anypag.graphs.node_sets import spread
from anypag.scores.gaussian import GaussianScore
from anypag.search.by_scores.chain import Landscape, Walker, advance, graph_of, marks_of
from anypag.search.by_scores.sampled_graphs import Diagrams, states_of
from anypag.simulate.gaussian import random_weights

Floats = npt.NDArray[np.float64]


def study(rows: int = 400, seed: int = 0) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    age, stress = rng.normal(size=(2, rows))
    smoking = age + stress + rng.normal(size=rows)
    cancer = 0.7 * smoking + 0.5 * age + rng.normal(size=rows)
    return {"age": age, "stress": stress, "smoking": smoking, "cancer": cancer}


def learned(data: Any, **options: Any) -> Any:
    return ap.learn(data, method="bayes", selection_bias=False, effort=0.3, **options)


@pytest.mark.parametrize(("n", "n_diagrams"), [(3, 62), (4, 3608)])
def test_the_chain_and_its_effects_are_those_of_the_exact_posterior(n: int, n_diagrams: int) -> None:
    pairs = list(combinations(range(n), 2))
    diagrams: list[Marks] = []
    for states in product(((0, 0), (3, 2), (2, 3), (2, 2)), repeat=len(pairs)):
        marks = np.zeros((n, n), np.uint8)
        for (i, j), (at_i, at_j) in zip(pairs, states, strict=True):
            marks[j, i], marks[i, j] = at_i, at_j
        causes = (marks == 2) & (marks.T == 3)
        if not sum(np.trace(np.linalg.matrix_power(causes.astype(int), k)) for k in (3, 4)):
            diagrams.append(marks)
    data = study(60, 3)
    names = ("age", "smoking", "cancer", "stress")[:n]
    correlation = np.asarray(np.corrcoef(np.stack([data[name] for name in names])))
    landscape = Landscape.of(GaussianScore(names, 60, correlation, gamma=0.5), selection=False, ancestral=False)
    scores = np.array([landscape.score_of(graph_of(marks)) for marks in diagrams])
    weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    nobody = np.zeros(n, np.bool_)
    effects = {
        marks.tobytes(): total_effects_of(marks, np.arange(n), np.ascontiguousarray(correlation), nobody)
        for marks in diagrams
    }
    exact = np.array([effects[marks.tobytes()] for marks in diagrams])
    walker, found = Walker.at(graph_of(diagrams[0]), landscape, seed=7), np.zeros((2, n, n))
    walker = advance(walker, landscape, 5000, 1.0)
    for _ in range(20_000):
        walker = advance(walker, landscape, 20 * n * n, 1.0)
        drawn = np.array(effects[marks_of(walker.graph).tobytes()])
        found += np.array([drawn != 0, drawn]) / 20_000
    assert len(diagrams) == n_diagrams
    np.testing.assert_allclose(found[0], np.einsum("g,gij->ij", weights, exact != 0), atol=0.02)
    np.testing.assert_allclose(found[1], np.einsum("g,gij->ij", weights, exact), atol=0.02)


@pytest.fixture(scope="module")
def answer() -> Effect:
    data = study()
    found: Effect = learned(data).effect("smoking", "cancer", data=data)
    return found


def test_an_answer_has_draws_shares_and_intervals(answer: Effect) -> None:
    assert answer.sampled is not None and answer.draws is not None and answer.if_causal is not None
    assert len(answer.draws) == 2 * answer.sampled.n  # two chains are counted, two more have a lower penalty
    assert answer.p_zero is not None and answer.p_identified is not None and answer.p_open is not None
    assert answer.p_zero + answer.p_identified + answer.p_open == pytest.approx(1)
    assert answer.estimate == pytest.approx(np.median(answer.draws))
    assert answer.interval == pytest.approx(tuple(np.quantile(answer.draws, [0.025, 0.975])))
    assert answer.if_causal.low < 0.7 < answer.if_causal.high
    assert answer.p_positive == pytest.approx((answer.draws > 0).mean())
    assert answer.given_effect is not None and answer.given_effect[0] > 0
    assert 1 <= len(answer.by_class) <= 3
    assert sum(group.share for group in answer.by_class) <= 1 + 1e-9
    assert answer.status == ("unidentified" if answer.p_open >= 0.5 else "identified")
    assert answer.graph_answer is not None and answer.graph_answer.sampled is None
    assert str(answer).startswith("smoking raises cancer by 0.")
    assert answer.to_dict()["posterior"]["p_zero"] == answer.p_zero
    assert "<" not in repr(answer.sampled.by_class)


def test_notebooks_show_every_line(answer: Effect) -> None:
    for found in (answer, replace(answer, assumed=("age !<-> smoking",), unassumed=answer)):
        assert all(line.strip() in found._repr_markdown_() for line in str(found).splitlines())


def test_one_column_to_look_within_needs_no_list() -> None:
    result = learned(study())
    one, listed = (ap.effect(result, "smoking", "cancer", within=within) for within in ("age", ["age"]))
    assert one.by_class == listed.by_class and one.p_open == listed.p_open


def test_without_data_there_are_shares_and_no_number(answer: Effect) -> None:
    bare = learned(study()).effect("smoking", "cancer")
    assert (bare.estimate, bare.interval, bare.draws, bare.if_causal) == (None,) * 4
    assert (bare.p_zero, bare.status) == (answer.p_zero, answer.status)
    again = bare.estimated(study())
    np.testing.assert_array_equal(again.draws, answer.draws)


def test_columns_to_look_within_are_read_once() -> None:
    """The sampled graphs and the single one see the same columns, whatever holds their names."""
    result = learned(study())
    found, by_list = (ap.effect(result, "smoking", "cancer", within=some) for some in (iter(["age"]), ["age"]))
    assert found.graph_answer == by_list.graph_answer and found.graph_answer is not None


def test_no_effect_is_said_where_the_classes_say_so() -> None:
    data, known = study(), ap.Knowledge(not_causes=[("cancer", "*")])
    found = learned(data, knowledge=known).effect("cancer", "stress", data=data)
    assert found.status == "zero" and found.p_zero >= 0.95
    assert "no effect" in str(found)


def test_no_effect_is_not_said_where_it_hangs_on_the_price_of_an_edge() -> None:
    """All counted graphs are empty; of those at the lower penalty some have an edge."""
    none, edge = np.zeros((2, 2), np.uint8), np.array([[0, 2], [3, 0]], np.uint8)
    for n_edges, status in ((0, "zero"), (5, "zero"), (6, "unidentified")):
        states = states_of(np.stack([none] * (200 - n_edges) + [edge] * n_edges))
        classes = classes_of(Diagrams(("x", "y"), states, (), 100), None, selection=False)
        found = sampled_effect(Question(classes, 1, 2, 0, 3))
        assert (found.p_zero, found.status) == (1, status)
        assert found.question.zero_at_lower_price == 1 - n_edges / 100
        told = " ".join([headline(found, "The effect"), *_limits(found)])
        assert ("with a lower penalty per edge" in told) == (status != "zero")
        assert told.startswith(
            "The effect: none;" if status == "zero" else "The effect: 100% of the sampled graphs say"
        )


def test_the_most_frequent_class_is_that_of_the_graphs_whose_groups_are_listed() -> None:
    """Most of the counted graphs adjust for a and b; with those of a lower penalty per edge, most for a and c."""
    names = ("a", "b", "c", "x", "y")
    plain, more = "a --> x; b --> x; x --> y", "a --> x; c --> x; x --> y"
    marks = np.stack([ap.DAG.from_string(text, names=names).marks for text in (plain, more)])
    states = states_of(marks[[0] * 55 + [1] * 145])
    classes = classes_of(Diagrams(names, states, (), 100), None, selection=False)
    found = sampled_effect(Question(classes, 8, 16, 0, 31))
    assert [group[::2] for group in found.by_class] == [(0.55, ("a", "b")), (0.45, ("a", "c"))]
    rows = np.random.default_rng(0).normal(size=(200, 5)) + study(200)["age"][:, None]
    beside = Adjusting(Sampling(resamples=0)).beside_draws(found, as_table(rows, names), 31)
    assert beside.robustness is not None and beside.robustness.adjusting_for == ("a", "b")


def test_the_order_of_columns_changes_no_draw(answer: Effect) -> None:
    data = {name: study()[name] for name in ("cancer", "smoking", "age", "stress")}
    found = learned(data).effect("smoking", "cancer", data=data)
    np.testing.assert_array_equal(found.draws, answer.draws)
    assert found.if_causal == answer.if_causal and found.by_class == answer.by_class


def test_other_units_give_draws_in_them(answer: Effect) -> None:
    data = study() | {"smoking": 10 * study()["smoking"], "cancer": 7 * study()["cancer"] + 3}
    found = learned(data).effect("smoking", "cancer", data=data)
    np.testing.assert_allclose(found.draws, np.asarray(answer.draws) * 0.7, atol=1e-6)


def test_a_saved_result_and_a_resumed_search_give_the_same_draws(answer: Effect, tmp_path: Path) -> None:
    data = study()
    learned(data).save(tmp_path / "found.json")
    saved = ap.read_result(tmp_path / "found.json")
    assert not isinstance(saved, MixedGraph)
    np.testing.assert_array_equal(saved.effect("smoking", "cancer", data=data).draws, answer.draws)


def test_a_resumed_search_gives_the_same_draws(answer: Effect, tmp_path: Path) -> None:
    data, path = study(), tmp_path / "run.anypag"
    steps = iter(range(100))
    begun = learned(data, checkpoint=path, stop=lambda state, info: next(steps) >= 12)
    assert not begun.complete
    found = learned(data, checkpoint=path, resume=True).effect("smoking", "cancer", data=data)
    np.testing.assert_array_equal(found.draws, answer.draws)


def test_ten_million_rows_break_no_draw() -> None:
    """From the covariance that systems imply: effects that the true PAG identifies come out, and are identified."""
    for seed in range(3):
        system = ap.simulate.random_system(8, 2.0, seed=seed)
        weights = np.asarray(random_weights(system.dag, low=0.3, high=1.0, seed=seed))
        effects = np.linalg.inv(np.eye(len(system.dag)) - weights)
        seen = [k for k, name in enumerate(system.dag.names) if name not in system.latent]
        names = tuple(system.dag.names[k] for k in seen)
        covariance, n = (effects.T @ effects)[np.ix_(seen, seen)], 10_000_000
        result = learned(ap.FisherZ.from_covariance(covariance, n, names))
        assert result.posterior is not None and result.posterior.diagrams is not None
        classes = classes_of(result.posterior.diagrams, None, selection=False)
        scale = np.sqrt(np.diag(covariance))
        order = [names.index(name) for name in classes.names]
        correlation = np.ascontiguousarray((covariance / np.outer(scale, scale))[np.ix_(order, order)])
        columns = tuple(map(DrawnColumn, classes.names))
        rows = LinearColumns(columns, np.arange(len(order)), correlation, scale[order], n)
        drawn = rows.drawn(classes.diagrams, classes.place, np.arange(len(order)), np.arange(len(order)))
        assert np.isfinite(drawn).all()
        pag = ap.true_pag(system.dag, system.latent)
        for cause, outcome in permutations(classes.names, 2):
            if ap.effect(pag, cause, outcome, selection_bias=False).status == "adjustment":
                i, j = classes.names.index(cause), classes.names.index(outcome)
                truth = effects[system.dag.index(cause), system.dag.index(outcome)]
                assert abs(np.median(drawn[:, i, j]) - truth) < 0.01
                x, y, everyone = 1 << i, 1 << j, (1 << len(order)) - 1
                assert sampled_effect(Question(classes, x, y, 0, everyone)).p_identified > 0.99


def test_in_a_selected_sample_formulas_that_do_not_count_are_not_looked_for() -> None:
    result = learned(study())
    assert result.posterior is not None and result.posterior.diagrams is not None
    classes = classes_of(result.posterior.diagrams, None, selection=True)
    for i, j, given in product(range(len(classes.names)), range(len(classes.names)), (0, 1, 2)):
        x, y, everyone = 1 << i, 1 << j, (1 << len(classes.names)) - 1
        if x == y or given & (x | y):
            continue
        for one, said in zip(classes.classes, classes.verdicts(x, y, given, everyone), strict=True):
            whole = verdict(one.causal, x, y, given, everyone)
            above = spread(one.causal.near.parents, x | y | given, one.causal.everyone)
            counts = holds_if_selected(whole) and not above & one.doubtful
            assert (said.status, said.z) == ((whole.status, whole.z) if counts else ("unidentified", None))


def test_zeros_are_those_of_graphs_without_a_directed_path(answer: Effect) -> None:
    assert answer.sampled is not None and answer.draws is not None
    classes = answer.sampled.question.classes
    x, y = classes.names.index("smoking"), classes.names.index("cancer")
    for marks, draw in zip(classes.diagrams, answer.draws, strict=True):
        causes = (marks == 2) & (marks.T == 3)
        leads = np.linalg.matrix_power(np.eye(len(marks), dtype=int) + causes, len(marks))[x, y] > 0
        assert (draw != 0) == leads


def test_draws_keep_to_tiers_and_classes_use_them() -> None:
    data, known = study(), ap.Knowledge(tiers=[["age", "stress"], ["smoking"], ["cancer"]])
    result = learned(data, knowledge=known)
    assert result.effect("cancer", "smoking", data=data).p_zero == 1
    found = result.effect("smoking", "cancer", data=data)
    assert found.p_zero < 0.05 and found.if_causal.low > 0.5
    assert "data alone" not in str(found)
    assumed = learned(data, knowledge=known + ap.Knowledge(unconfounded=[("smoking", "cancer")]))
    assert assumed.effect("smoking", "cancer", data=data).p_identified > 0.95


def test_all_pairs_are_those_of_single_questions(answer: Effect) -> None:
    data = study()
    result = learned(data)
    found = result.effects(data)
    k = list(zip(found["cause"], found["outcome"], strict=True)).index(("smoking", "cancer"))
    assert (found["p_zero"][k], found["estimate"][k]) == (answer.p_zero, answer.estimate)
    assert answer.if_causal is not None
    assert (found["if_causal"][k], found["if_causal_low"][k]) == answer.if_causal[:2]
    assert {len(column) for column in found.values()} == {12}
    assert "estimate" not in result.effects()
    with pytest.raises(ap.AnypagError, match="sampled graphs"):
        ap.learn(data, method="icd", selection_bias=False).effects()


def test_what_is_assumed_stands_beside_the_answer_without_it() -> None:
    data, known = study(), ap.Knowledge(tiers=[["age", "stress"], ["smoking"], ["cancer"]])
    result = learned(data, knowledge=known)
    found = result.effect("age", "smoking", data=data, assume="age !<-> smoking")
    assert found.assumed == ("age !<-> smoking",) and found.unassumed is not None
    assert found.p_identified > 0.7 > 0.1 > found.unassumed.p_identified
    assert found.unassumed.by_class == result.effect("age", "smoking", data=data).by_class
    assert all(told in str(found) for told in ("Assumed: age !<-> smoking.", "Without that", "one, age raises smoking"))
    with pytest.raises(ap.AnypagError, match='method="auto"'):
        ap.learn(data, method="icd", selection_bias=False).effect(
            "age", "smoking", data=data, assume="age !<-> smoking"
        )


def test_tiers_that_the_data_would_rather_not_have_are_facts() -> None:
    data, known = study(2000), ap.Knowledge(tiers=[["cancer"], ["smoking"], ["age", "stress"]])
    result = learned(data, knowledge=known)
    assert [outcome.became for outcome in result.knowledge] == ["used"]
    assert "the data prefer graphs without it" in str(result.knowledge[0])
    assert result.effect("smoking", "cancer", data=data).p_zero == 1
    assert result.effect("smoking", "age", data=data).p_zero < 0.5


def test_what_no_sampled_graph_agrees_with_is_refused() -> None:
    marks = ap.DAG.from_string("A --> B").marks
    found = Diagrams.of(np.asarray(marks)[None], ("A", "B"))
    with pytest.raises(ap.AnypagError, match="No sampled graph agrees"):
        classes_of(found, ap.Knowledge(tiers=[["B"], ["A"]]), selection=False)


def test_nothing_hidden_says_little_of_a_sample_that_may_be_selected() -> None:
    data = study()
    result = ap.learn(data, method="auto", effort=0.1)
    assumed = result.effect("smoking", "cancer", data=data, assume="smoking !<-> cancer")
    assert "identifies no effect if the sample may be selected" in str(assumed)
    assert "may be selected" not in str(assumed.unassumed)


def test_joint_effects_hold_the_other_causes() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=2000)
    b = a + rng.normal(size=2000)
    data = {"a": a, "b": b, "c": a + 2 * b + rng.normal(size=2000), "d": rng.normal(size=2000)}
    result = learned(data, knowledge=ap.Knowledge(tiers=[["a"], ["b"], ["c", "d"]]))
    jointly = result.effect(["a", "b"], "c", data=data)
    direct = {line.cause.variable: line.if_causal.estimate for line in jointly.sampled.lines}
    assert direct == pytest.approx({"a": 1.0, "b": 2.0}, abs=0.2)
    assert result.effect("a", "c", data=data).if_causal.estimate == pytest.approx(3, abs=0.2)
    assert len(jointly.interval) == 2 and jointly.draws is None


def test_columns_of_both_kinds_are_spread_over_their_levels() -> None:
    rng = np.random.default_rng(1)
    group = rng.choice(np.array(["a", "b", "c"]), 1500)
    drug = np.where(rng.random(1500) < 0.3 + 0.3 * (group == "b"), "yes", "no")
    size = (drug == "yes") * 2.0 + (group == "c") * 1.0 + rng.normal(size=1500)
    data = {"group": group, "drug": drug, "size": size, "other": rng.normal(size=1500)}
    result = learned(data, knowledge=ap.Knowledge(tiers=[["group", "other"], ["drug"], ["size"]]))
    found = result.effect("drug", "size", data=data)
    assert found.if_causal.estimate == pytest.approx(2, abs=0.2)
    assert "two levels are taken as numbers, 0 and 1: drug" in str(found)
    by_level = result.effect("group", "size", data=data)
    assert {line.cause.level for line in by_level.sampled.lines} == {"b", "c"}
    assert "size for group = c in place of a" in str(by_level)


def test_tables_of_levels_give_risk_differences() -> None:
    rng = np.random.default_rng(0)
    group, other = rng.integers(0, 2, 1500), rng.integers(0, 3, 1500)
    drug = (rng.random(1500) < 0.3 + 0.4 * group).astype(int)
    ill = (rng.random(1500) < 0.2 + 0.3 * drug + 0.2 * group).astype(int)
    data = {"group": group, "drug": drug, "ill": ill, "other": other}
    known = ap.Knowledge(tiers=[["group", "other"], ["drug"], ["ill"]])
    result = learned(data, knowledge=known)
    found = result.effect("drug", "ill", data=data)
    assert found.if_causal.low < 0.3 < found.if_causal.high and found.if_causal.low > 0.15
    assert "drug = 1 in place of 0 raises P(ill = 1) by 0." in str(found)
    assert result.effect("ill", "drug", data=data).p_zero == 1
    assert (result.effect("ill", "drug", data=data).draws == 0).all()
    by_level = result.effect("other", "ill", data=data)
    assert [line.cause.level for line in by_level.sampled.lines] == [1.0, 2.0]
    again = result.effect("drug", "ill", data=data)
    np.testing.assert_array_equal(again.draws, found.draws)


def test_tables_of_levels_take_several_causes_and_groups() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 900)
    drug = (rng.random(900) < 0.3 + 0.4 * group).astype(int)
    ill = (rng.random(900) < 0.1 + 0.5 * drug * group + 0.2 * group).astype(int)
    data = {"group": group, "drug": drug, "ill": ill}
    result = learned(data, knowledge=ap.Knowledge(tiers=[["group"], ["drug"], ["ill"]]))
    both = result.effect(["drug", "group"], "ill", data=data)
    labels = [line.label for line in both.sampled.lines]
    assert labels[0] == "change of P(ill = 1) for drug = 0, group = 1 in place of drug = 0, group = 0"
    assert both.sampled.lines[2].if_causal.low < 0.7 < both.sampled.lines[2].if_causal.high
    assert "3 numbers below, from 0." in str(both)
    by_group = result.effect("drug", "ill", given="group", data=data)
    assert [line.label[-9:] for line in by_group.sampled.lines] == ["group = 0", "group = 1"]
    for line, truth in zip(by_group.sampled.lines, (0, 0.5), strict=True):
        assert line.if_causal.low - 0.02 <= truth <= line.if_causal.high + 0.02
    after = result.effect("group", "ill", given="drug", data=data)
    assert "not known" in str(after) and "gave no number" in str(after)


@pytest.mark.parametrize("causes", [(0, 2), (2, 0)])
def test_causes_set_one_after_the_other_have_the_effect_of_the_g_formula(causes: tuple[int, int]) -> None:
    """a -> m -> c, m -> y, a -> y, c -> y: no set of columns adjusts for both a and c."""
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 60_000)
    m = (rng.random(60_000) < 0.3 + 0.4 * a).astype(int)
    c = (rng.random(60_000) < 0.2 + 0.5 * m).astype(int)
    y = (rng.random(60_000) < 0.1 + 0.2 * a + 0.3 * c + 0.3 * m * (1 - c)).astype(int)
    diagram = np.zeros((4, 4), np.uint8)
    for i, j in ((0, 1), (1, 2), (1, 3), (0, 3), (2, 3)):
        diagram[i, j], diagram[j, i] = 2, 3
    rows = LevelTable(as_table({"a": a, "m": m, "c": c, "y": y}), ())
    drawn = rows.drawn(np.stack([diagram] * 40), np.arange(40), causes, 3).mean(axis=0)[:, 0]
    truth = {
        (i, k): sum((m[a == i] == v).mean() * y[(a == i) & (m == v) & (c == k)].mean() for v in (0, 1))
        for i, k in product((0, 1), repeat=2)
    }
    levels = [(0, 1), (1, 0), (1, 1)] if causes == (0, 2) else [(1, 0), (0, 1), (1, 1)]
    assert drawn == pytest.approx([truth[pair] - truth[0, 0] for pair in levels], abs=0.005)
    assert not rows.drawn(diagram[None], np.arange(1), (3, 2), 0).any(), "no cause leads to a"


def test_a_group_has_the_draws_of_a_table_of_its_rows() -> None:
    rng = np.random.default_rng(4)
    x, y, z = rng.integers(0, 2, (3, 500))
    diagram = np.array([[0, 2, 0], [3, 0, 0], [0, 0, 0]], np.uint8)
    rows, own = LevelTable(as_table({"x": x, "y": y, "z": z}), ()), z == 1
    apart = LevelTable(as_table({"x": x[own], "y": y[own]}), ())
    told, flags = rows.groups((2,))[1]
    assert told == "z = 1" and flags is not None and (flags == own).all()
    drawn = rows.drawn(diagram[None], np.arange(1), (0,), 1, flags)
    np.testing.assert_array_equal(drawn, apart.drawn(diagram[None, :2, :2], np.arange(1), (0,), 1))


def test_a_draw_from_tables_is_near_the_formula() -> None:
    rng = np.random.default_rng(1)
    z, x = rng.integers(0, 3, 40_000), rng.integers(0, 2, 40_000)
    y = (rng.random(40_000) < 0.1 + 0.2 * z * x).astype(int)
    rows = LevelTable(as_table({"x": x, "y": y, "z": z}), ())
    slowly = sum((z == k).mean() * (y[(z == k) & (x == 1)].mean() - y[(z == k) & (x == 0)].mean()) for k in range(3))
    draws = [rows.adjusted([((2,), 0)], (0,), 1, number)[0, 0] for number in range(50)]
    assert np.mean(draws) == pytest.approx(slowly, abs=0.003)
    assert 0 < np.std(draws) < 0.02


@pytest.mark.parametrize("kind", ["nothing known", pytest.param("tiers", marks=pytest.mark.slow)])
def test_claims_with_knowledge_hold_in_every_system_that_agrees(kind: str) -> None:
    """Adjustment and "no effect" in classes on four nodes, with tiers added and closed: no claim may be wrong."""
    n, rng, checked, claims = 4, np.random.default_rng(0), 0, 0
    found, names = members(n), ("A", "B", "C", "D")
    for c in range(found.n_classes):
        mags = [mag for mag in found.of(c) if not ((mag == 3) & (mag.T == 3)).any()]
        if not mags:
            continue
        order = rng.permutation(n)
        cut = int(rng.integers(1, n))
        tiers = [[names[i] for i in order[:cut]], [names[i] for i in order[cut:]]]
        known = ap.Knowledge(tiers=tiers) if kind == "tiers" else ap.Knowledge()
        facts = known.facts(names, selection=False)
        mags = [mag for mag in mags if facts.agree_with(mag)]
        if not mags:
            continue
        diagrams = Diagrams.of(np.stack(mags[:1]), names)
        classes = classes_of(diagrams, known, selection=False)
        behind = [system for mag in mags[:8] for system in systems(mag, rng, selection=False)]
        for x, y in permutations(range(n), 2):
            verdict = classes.verdicts(1 << x, 1 << y, 0, (1 << n) - 1)[0]
            if verdict.status not in ("zero", "adjustment"):
                continue
            claims += 1
            z = tuple(nodes_in(verdict.z or 0))
            for system in behind:
                slope, effect = slope_and_effect(system, x, y, z, rng)
                assert abs(effect - (0 if verdict.status == "zero" else slope)) < 1e-6
            checked += len(behind)
    assert claims > 300 and checked > 3000


def test_a_few_draws_give_no_interval() -> None:
    assert Span.of(np.r_[np.full(300, np.nan), np.arange(19.0)]) is None
    assert Span.of(np.r_[np.nan, np.arange(21.0)]) == (10, 0.5, 19.5)
    column, draws = DrawnColumn("a", None), np.r_[np.full(375, np.nan), 0.1, 0.2]
    line = DrawnEffect(column, column, np.r_[np.zeros(23), draws], draws)
    assert _missing_told((line, line), 0) == [
        "375 of 377 sampled graphs that allow an effect gave no number and were left out."
    ]
    assert _missing_told((line,), 0) == ["375 of 400 sampled graphs gave no number and were left out."]
