"""Estimates beyond straight lines: learners, doubly robust scores, groups, clusters and hidden causes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

import anypag as ap
from anypag.arrays import Floats
from anypag.data.table import clusters_in
from anypag.effects.answer import Effect
from anypag.effects.estimate.draws import with_hidden_causes
from anypag.effects.estimate.fitted_adjustment import e_value, e_values, robustness_value
from anypag.effects.estimate.fitting import cluster_counts
from anypag.effects.estimate.learners import (
    AdjustedRows,
    SplineLogit,
    Splines,
    doubly_robust,
    partially_linear,
    straight,
)
from anypag.errors import DataError, ParameterError
from anypag.run.replicates import Plan
from naive_effects import clustered_error, cross_fitted_slope, doubly_robust_mean

OWN = ap.DAG.from_string("age -> dose; stress -> dose; dose -> harm; age -> harm")


def recorded() -> tuple[Floats, ...]:
    """The table that DoubleML was run on."""
    rng = np.random.default_rng(7)
    z = rng.normal(size=(600, 3))
    d = z @ [0.5, -0.3, 0.2] + rng.normal(size=600)
    y = 0.7 * d + z @ [1.0, 0.5, -0.5] + 0.3 * z[:, 0] ** 2 + rng.normal(size=600)
    t = (d > 0.2).astype(float)
    return z, d, y, t, 1.5 * t + z @ [1.0, 0.5, -0.5] + rng.normal(size=600)


def study(n: int = 1200, *, seed: int = 0, curve: float = 1.0, levels: bool = False) -> dict[str, Any]:
    """Dose raises harm by 0.5, and age acts on both along a curve."""
    rng = np.random.default_rng(seed)
    age, stress = rng.normal(size=(2, n))
    dose = curve * age**2 + 0.7 * age + stress + rng.normal(size=n)
    if levels:
        dose = (0.5 * (age**2 - 1) + 0.5 * stress + rng.logistic(size=n) > 0).astype(float)
    harm = 0.5 * dose + curve * age**2 + 0.7 * age + rng.normal(size=n)
    return {"age": age, "stress": stress, "dose": dose, "harm": harm}


def ask(data: Any, **options: Any) -> Effect:
    return ap.effect(OWN, "dose", "harm", data=data, **options)


def test_in_sample_lines_are_frisch_waugh_with_its_robust_error() -> None:
    z, d, y, _, _ = recorded()
    fitted = sm.OLS(y, np.column_stack([d, np.ones(600), z])).fit(cov_type="HC0")
    found = straight(AdjustedRows(y, d, z)).number()
    assert found.value == pytest.approx(fitted.params[0], abs=1e-10)
    assert found.error == pytest.approx(fitted.bse[0], abs=1e-10)


def test_the_numbers_of_doubleml() -> None:
    """DoubleML 0.11.4 with scikit-learn 1.9.1: `DoubleMLPLR(data, LinearRegression(), LinearRegression())` and
    `DoubleMLIRM(data, LinearRegression(), LogisticRegression(C=1e6, max_iter=1000, tol=1e-10))` with clipping at 0.02,
    both with these five folds (`set_sample_splitting`): permutation of seed 0, place modulo 5.
    """
    z, d, y, t, w = recorded()
    plr = partially_linear(AdjustedRows(y, d, z), LinearRegression()).number()
    assert (plr.value, plr.error) == pytest.approx((0.6409557885045409, 0.043981787460032014), rel=1e-9)
    pair = (LinearRegression(), LogisticRegression(C=1e6, max_iter=1000, tol=1e-10))
    irm = doubly_robust(AdjustedRows(w, t, z), pair).number()
    assert (irm.value, irm.error) == pytest.approx((1.381774777109932, 0.09694081895942352), rel=1e-5)


def test_cross_fitting_is_what_it_says_row_by_row() -> None:
    z, d, y, t, w = (part[:60] for part in recorded())
    folds = np.empty(60, int)
    folds[np.random.default_rng(0).permutation(60)] = np.arange(60) % 5
    slow = cross_fitted_slope(y.tolist(), d.tolist(), z.tolist(), folds.tolist())
    assert partially_linear(AdjustedRows(y, d, z), LinearRegression()).number().value == pytest.approx(slow, abs=1e-10)
    constant = np.empty((60, 0))  # nothing is adjusted for: group means and shares of the other folds
    chance, if_set, if_not = np.empty((3, 60))
    for k in range(5):
        own, rest = folds == k, folds != k
        chance[own], if_set[own], if_not[own] = t[rest].mean(), w[rest & (t == 1)].mean(), w[rest & (t == 0)].mean()
    slow = doubly_robust_mean(w.tolist(), (t == 1).tolist(), chance.tolist(), if_set.tolist(), if_not.tolist())
    assert doubly_robust(AdjustedRows(w, t, constant)).number().value == pytest.approx(slow, abs=1e-10)


def test_splines_see_curves_that_lines_do_not() -> None:
    line, splines = ask(study()), ask(study(), learner="splines")
    assert isinstance(line.estimate, float) and line.estimate > 0.9
    assert isinstance(splines.estimate, float) and splines.estimate == pytest.approx(0.5, abs=0.1)
    low, high = splines.interval  # type: ignore[misc]
    assert low < 0.5 < high  # type: ignore[operator]
    assert "straight lines give 1.1" in str(line) and 'learner="splines"' in str(line)
    assert "straight lines give 1.1" in str(splines) and "For splines say" not in str(splines)


def test_where_relations_are_straight_nothing_is_said() -> None:
    found = [str(ask(study(400, seed=seed, curve=0.0))) for seed in range(20)]
    assert sum("not straight" in text for text in found) <= 1


def test_splines_are_not_compared_with_lines_in_few_rows_for_their_weights() -> None:
    names = [f"z{k}" for k in range(8)]
    dag = ap.DAG.from_string("; ".join(f"{z} --> x; {z} --> y" for z in names) + "; x --> y")
    for seed in range(10):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(32, 8))
        x = z.sum(axis=1) / 2 + rng.normal(size=32)
        data = {**dict(zip(names, z.T, strict=True)), "x": x, "y": x + z.sum(axis=1) / 2 + rng.normal(size=32)}
        assert "not straight" not in str(ap.effect(dag, "x", "y", data=data))


def test_any_regressor_will_do_and_a_function_that_makes_one() -> None:
    forest = RandomForestRegressor(20, min_samples_leaf=10, random_state=0)
    by_object = ask(study(), learner=forest)
    by_function = ask(study(), learner=lambda: RandomForestRegressor(20, min_samples_leaf=10, random_state=0))
    assert by_object.estimate == by_function.estimate
    assert isinstance(by_object.estimate, float) and by_object.estimate < 0.8
    assert not hasattr(forest, "estimators_"), "it is a copy that learns"


def test_a_regressor_is_imported_by_its_name_and_seeded() -> None:
    named = "sklearn.ensemble.ExtraTreesRegressor"
    once, again = (ask(study(300), learner=(named, "splines")) for _ in range(2))
    assert once.estimate == again.estimate is not None
    lines = ask(study(300), learner=LinearRegression())
    assert ask(study(300), learner="sklearn.linear_model.LinearRegression").estimate == lines.estimate
    assert ask(study(300), learner=(" splines", "splines ")).estimate == ask(study(300), learner="splines").estimate


@pytest.mark.parametrize(
    "learner",
    [
        "forest",
        ".foo.Bar",
        "os.path.join",
        "sklearn.linear_model.LogisticRegression",
        "numpy.pi",
        3,
        (LinearRegression(),),
    ],
)
def test_what_is_no_learner_is_refused(learner: Any) -> None:
    with pytest.raises(ParameterError, match="'learner'"):
        ask(study(200), learner=learner)


def test_two_levels_are_compared_by_doubly_robust_scores() -> None:
    found = ask(study(2000, levels=True), learner="splines")
    assert found.numbers is not None and found.numbers.model == "doubly robust"
    entry = found.numbers.entries[0]
    assert entry.low < 0.5 < entry.high and entry.high - entry.low < 0.4
    assert entry.label == "harm, dose = 1 against 0"


def test_few_rows_and_groups_that_do_not_overlap_have_no_interval() -> None:
    few = ask(study(400, levels=True), learner="splines")
    assert few.numbers is not None and np.isnan(few.numbers.entries[0].low)
    assert "from 2,000 rows on" in str(few)
    data = study(2000, levels=True)
    data["dose"] = (4 * data["age"] + np.random.default_rng(1).logistic(size=2000) > 0).astype(float)
    apart = ask(data, learner="splines")
    assert apart.numbers is not None and np.isnan(apart.numbers.entries[0].low)
    assert "no overlap" in str(apart)


def test_a_logit_by_splines_gives_chances() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 1))
    truth = 1 / (1 + np.exp(-(x[:, 0] ** 2 - 1)))
    found = SplineLogit().fit(x, (rng.random(4000) < truth).astype(float)).predict(x)
    assert np.abs(found - truth).mean() < 0.03
    assert ((found > 0) & (found < 1)).all()


@given(shift=st.floats(-100, 100), scale=st.floats(0.01, 100))
@settings(max_examples=20)
def test_splines_do_not_depend_on_units(shift: float, scale: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    y = np.sin(x[:, 0]) + rng.normal(size=200)
    here, there = Splines().fit(x, y).predict(x), Splines().fit(shift + scale * x, y).predict(shift + scale * x)
    assert np.allclose(here, there, atol=1e-5)


def test_the_effect_along_a_column() -> None:
    data = study(4000)
    data["harm"] = data["harm"] + np.where(data["age"] > 0, 0.5 * data["dose"], 0.0)
    found = ask(data, by="age")
    assert found.along is not None
    values = [entry.value for entry in found.along.entries]
    assert len(values) == 4
    assert values[0] == pytest.approx(0.5, abs=0.15) and values[3] == pytest.approx(1.0, abs=0.15)
    assert all(entry.low < entry.value < entry.high for entry in found.along.entries)
    assert "harm per unit of dose, age from " in str(found)
    assert found.to_dict()["along"]["entries"][3]["value"] == values[3]


def test_levels_of_a_column_are_groups_and_their_numbers_those_of_the_groups() -> None:
    data = study(2000)
    data["age"] = np.where(data["age"] > 0, "old", "young")
    found = ask(data, by="age", learner=LinearRegression())
    assert found.along is not None
    assert [entry.label for entry in found.along.entries] == [
        "harm per unit of dose, age = old",
        "harm per unit of dose, age = young",
    ]


@pytest.mark.parametrize("by", ["dose", "harm", "after"])
def test_a_column_that_the_cause_may_change_is_no_group(by: str) -> None:
    graph = ap.DAG.from_string("age -> dose; dose -> harm; age -> harm; dose -> after")
    data = study(300)
    with pytest.raises(ParameterError, match="'by'"):
        ap.effect(graph, "dose", "harm", data={**data, "after": data["dose"] + data["age"]}, by=by)


def test_a_learner_needs_a_set_one_pair_and_no_model() -> None:
    data = study(300)
    with pytest.raises(ParameterError, match="not both"):
        ask(data, learner="splines", model="linear")
    with pytest.raises(ParameterError, match="one cause and one outcome"):
        ap.effect(OWN, ["dose", "age"], "harm", data=data, learner="splines")
    with pytest.raises(ParameterError, match="goes with 'data'"):
        ap.effect(OWN, "dose", "harm", learner="splines")
    with pytest.raises(DataError, match="8 rows are too few"):
        ask({name: column[:8] for name, column in data.items()}, learner="splines")


def test_errors_by_cluster_are_those_of_the_definition() -> None:
    z, d, y, _, _ = (part[:80] for part in recorded())
    cluster = np.arange(80) // 4
    found = straight(AdjustedRows(y, d, z, cluster)).number()
    design = np.column_stack([d, np.ones(80), z])
    slow = clustered_error(design.tolist(), y.tolist(), cluster.tolist())
    assert found.error == pytest.approx(slow[0], rel=1e-9)
    assert found.freedom == 19


def repeated(n: int, times: int, seed: int = 0) -> dict[str, Any]:
    """Every row several times: the rows of a person."""
    data = {name: np.repeat(column, times) for name, column in study(n, seed=seed, curve=0.0).items()}
    return {**data, "person": np.repeat(np.arange(n), times)}


@pytest.mark.parametrize("options", [{}, {"learner": "splines"}], ids=["lines", "splines"])
def test_rows_that_are_repeated_add_nothing_if_clusters_are_told(options: dict[str, Any]) -> None:
    once, often = study(300, curve=0.0), repeated(300, 9)
    widths = []
    for data, cluster in ((once, None), (often, "person"), (often, None)):
        low, high = ask(data, cluster=cluster, **options).interval  # type: ignore[misc]
        widths.append(high - low)  # type: ignore[operator]
    assert widths[1] == pytest.approx(widths[0], rel=0.25)
    assert widths[2] == pytest.approx(widths[0] / 3, rel=0.25)


def test_tables_of_levels_are_resampled_by_cluster() -> None:
    data = repeated(300, 9)
    data |= {name: (data[name] > 0).astype(int) for name in ("age", "stress", "dose", "harm")}
    widths = []
    for cluster in ("person", None, data["person"]):
        entry = ask(data, cluster=cluster).numbers.entries[0]  # type: ignore[union-attr]
        widths.append(entry.high - entry.low)
    assert widths[0] == widths[2] > 2 * widths[1]


def test_resamples_of_clusters_take_them_whole() -> None:
    clusters = np.array([2, 0, 0, 1, 2, 2], np.int64)
    rng = np.random.default_rng(0)
    for counts in (cluster_counts(rng, clusters), Plan(3, seed=1, clusters=clusters).counts(2, 6)):
        assert counts[1] == counts[2] and counts[0] == counts[4] == counts[5]
        assert counts[0] + counts[1] + counts[3] == 3


def test_clusters_that_say_nothing_are_refused() -> None:
    table = ap.data.as_table({"a": [1.0, 2.0], "b": [1.0, np.nan]})
    with pytest.raises(DataError, match="missing"):
        clusters_in("b", table)
    with pytest.raises(ParameterError, match="one value for each of the 2 rows; got 3"):
        clusters_in([1, 2, 3], table)
    with pytest.raises(DataError, match="at least two clusters"):
        clusters_in(["x", "x"], table)


def learned(data: dict[str, Any], **options: Any) -> ap.Result:
    known = ap.Knowledge(tiers=[["age", "stress"], ["dose"], ["harm"]])
    return ap.learn(data, method="bayes", selection_bias=False, knowledge=known, effort=0.2, **options)


def test_draws_by_cluster_are_wider_where_rows_are_repeated() -> None:
    often = repeated(150, 9)
    result = learned({name: often[name] for name in ("age", "stress", "dose", "harm")})
    alone, by_cluster = (result.effect("dose", "harm", data=often, cluster=cluster) for cluster in (None, "person"))
    assert alone.if_causal is not None and by_cluster.if_causal is not None
    widths = [span.high - span.low for span in (alone.if_causal, by_cluster.if_causal)]
    assert widths[1] == pytest.approx(3 * widths[0], rel=0.4)


def test_sampled_graphs_take_a_learner_and_its_draws_are_around_its_number() -> None:
    data = study(curve=0.0)
    result = learned(data)
    found = result.effect("dose", "harm", data=data, learner="splines", by="age")
    number = ap.effect(OWN, "dose", "harm", data=data, learner="splines").numbers.entries[0]  # type: ignore[union-attr]
    assert found.if_causal is not None and found.along is not None and len(found.along.entries) == 4
    assert found.if_causal.estimate == pytest.approx(number.value, abs=0.03)
    assert found.if_causal.high - found.if_causal.low == pytest.approx(number.high - number.low, rel=0.3)
    assert found.p_zero == result.effect("dose", "harm").p_zero


def test_additive_graphs_have_their_numbers_from_splines() -> None:
    data = study(600)
    result = learned(data, test="additive")
    found = result.effect("dose", "harm", data=data)
    assert found.if_causal is not None and found.if_causal.estimate == pytest.approx(0.5, abs=0.15)
    assert None not in (found.p_zero, found.p_identified, found.p_open)
    table = result.effects(data)
    line = list(zip(table["cause"], table["outcome"], strict=True)).index(("dose", "harm"))
    assert tuple(table[name][line] for name in ("if_causal", "if_causal_low", "if_causal_high")) == found.if_causal
    assert len(table["label"]) == len(data) * (len(data) - 1)


def test_the_robustness_value_is_that_of_sensemakr() -> None:
    """Cinelli and Hazlett (2020), Darfur: t = 4.184 with 783 degrees of freedom: 2.2 %, 13.9 % and 7.6 %."""
    r2 = 4.184**2 / (4.184**2 + 783)
    assert (r2, robustness_value(r2, 783), robustness_value(r2, 783, 0.95)) == pytest.approx(
        (0.0219, 0.1388, 0.0763), abs=1e-4
    )
    assert robustness_value(0.001, 100, 0.95) == 0
    assert robustness_value(0.5, 100) == pytest.approx((5**0.5 - 1) / 2)  # by hand: f = 1


def test_e_values_are_those_of_the_paper() -> None:
    """VanderWeele and Ding (2017): 3.9 (1.8 to 8.7) gives 7.26 and 3.0."""
    assert e_values(3.9, 1.8, 8.7) == pytest.approx((7.26, 3.0), abs=0.01)
    assert e_values(0.5, 0.3, 1.2) == pytest.approx((e_value(2.0), 1.0))
    assert e_value(2.0) == pytest.approx(2 + 2**0.5)


def test_robustness_stands_beside_the_estimate() -> None:
    data = study(400, curve=0.0)
    found = ask(data)
    design = sm.add_constant(np.column_stack([data["dose"], data["age"], data["stress"]]))
    fitted = sm.OLS(data["harm"], design).fit()
    t = fitted.tvalues[1]
    assert found.robustness is not None
    assert found.robustness.partial_r2 == pytest.approx(t**2 / (t**2 + fitted.df_resid), abs=1e-10)
    difference = fitted.params[1] * data["dose"].std() / data["harm"].std()
    assert found.robustness.e_value == pytest.approx(e_value(np.exp(0.91 * difference)), abs=1e-10)
    assert "E-value" in str(found) and found.to_dict()["robustness"]["value"] == found.robustness.value


def test_two_levels_have_the_e_value_of_their_risk_ratio() -> None:
    graph = ap.DAG.from_string("drug -> ill")
    drug = np.repeat([0, 1], 500)
    ill = np.concatenate([np.repeat([1, 0], [100, 400]), np.repeat([1, 0], [200, 300])])
    found = ap.effect(graph, "drug", "ill", data={"drug": drug, "ill": ill})
    assert found.robustness is not None and found.robustness.e_value == pytest.approx(e_value(2.0))
    assert 1 < found.robustness.e_value_of_interval < found.robustness.e_value


@given(seed=st.integers(0, 10_000), strength=st.floats(0.05, 0.95))
@settings(max_examples=40)
def test_hidden_causes_leave_what_is_measured_as_it_was(seed: int, strength: float) -> None:
    """The new system has the same covariance with noises that correlate only where arrows hide a cause, and by as much
    as said where one arrow does.
    """
    rng = np.random.default_rng(seed)
    arrow = np.triu(rng.random((5, 5)) < 0.6, 1)
    weights = np.where(arrow.T, rng.normal(size=(5, 5)), 0.0)
    noise = np.diag(rng.uniform(0.5, 2, 5))
    whole = np.linalg.inv(np.eye(5) - weights)
    covariance = whole @ noise @ whole.T
    can = [(a, b) for a, b in np.argwhere(arrow) if not (arrow[:, a] & ~arrow[:, b]).any()]
    for a, b in can[:1]:
        one = np.zeros((5, 5), np.bool_)
        one[a, b] = True
        moved = with_hidden_causes(arrow, weights, noise, one, strength, np.random.default_rng(1))
        assert not moved[~arrow.T].any(), "no arrow comes in"
        left = (np.eye(5) - moved) @ covariance @ (np.eye(5) - moved).T
        correlation = left[a, b] / np.sqrt(left[a, a] * left[b, b])
        left[a, b] = left[b, a] = 0.0
        assert np.allclose(left, np.diag(np.diag(left)), atol=1e-8)
        assert correlation == pytest.approx(np.random.default_rng(1).uniform(-strength, strength), abs=1e-8)


def test_hidden_causes_move_what_is_open_and_nothing_that_is_identified() -> None:
    data = study(curve=0.0)
    result = learned(data)
    found = result.effect("dose", "harm", data=data, confounding=0.7)
    open_one = result.effect("stress", "dose", data=data, confounding=0.7)
    for effect, is_identified in ((found, True), (open_one, False)):
        assert effect.sampled is not None
        line, said = effect.sampled.lines[0], effect.sampled.question
        assert line.hidden_draws is not None
        same = np.isclose(line.hidden_draws, line.if_causal_draws, atol=1e-8)
        identified = said.graphs_of("identified")[~said.graphs_of("zero")]
        assert same[identified].all()
        assert is_identified == bool(identified.any())
    line = open_one.sampled.lines[0]  # type: ignore[union-attr]
    assert line.if_hidden is not None and line.if_causal is not None
    assert line.if_hidden.high - line.if_hidden.low > 3 * (line.if_causal.high - line.if_causal.low)
    assert "noises correlate by up to ±0.7" in str(open_one)


def test_hidden_causes_are_those_of_linear_systems_of_sampled_graphs() -> None:
    with pytest.raises(ParameterError, match="search with"):
        ask(study(200), confounding=0.7)
    data = study(200)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        learned(data).effect("dose", "harm", data=data, confounding=1.5)


def test_resamples_of_a_search_take_clusters_whole(tmp_path: Path) -> None:
    often = repeated(60, 20)
    asked: dict[str, Any] = {"n": 12, "selection_bias": False, "method": "icd"}
    by_person = ap.bootstrap(often, cluster="person", **asked)
    assert "person" not in by_person.names
    alone = ap.bootstrap({name: often[name] for name in by_person.names}, **asked)
    assert by_person.result.pag == alone.result.pag
    assert by_person.adjacency.tolist() == ap.bootstrap(often, cluster="person", n_jobs=2, **asked).adjacency.tolist()
    weak = [float(np.minimum(s.adjacency, 1 - s.adjacency).sum()) for s in (by_person, alone)]
    assert weak[0] > weak[1], "rows that are repeated make a search too sure of itself"
    kept = tmp_path / "kept.db"
    ap.bootstrap(often, cluster="person", checkpoint=kept, **asked)
    again = ap.bootstrap(often, cluster="person", checkpoint=kept, resume=True, **{**asked, "n": 14})
    assert len(again.graphs) == 14
    with pytest.raises(ap.AnypagError, match="checkpoint"):
        ap.bootstrap(
            {name: often[name] for name in by_person.names},
            cluster=often["person"] // 2,
            checkpoint=kept,
            resume=True,
            **asked,
        )


def test_risk_differences_are_drawn_by_cluster() -> None:
    often = repeated(200, 9)
    data = {name: (often[name] > 0).astype(int) for name in ("age", "stress", "dose", "harm")}
    result = learned(data, test="gsq")
    spans = [result.effect("dose", "harm", data=data, cluster=cluster).if_causal for cluster in (None, often["person"])]
    assert spans[0] is not None and spans[1] is not None
    widths = [span.high - span.low for span in spans if span is not None]
    assert widths[1] == pytest.approx(3 * widths[0], rel=0.4)


def test_draws_are_partially_linear_where_two_levels_have_no_interval() -> None:
    data = study(400, levels=True, curve=0.0)
    found = learned(data, test="mixed").effect("dose", "harm", data=data, learner="splines")
    assert found.if_causal is not None and found.if_causal.low < 0.5 < found.if_causal.high
    assert "from 2,000 rows on. So draws come from the partially linear estimate." in str(found)
