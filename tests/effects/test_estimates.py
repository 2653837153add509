"""Estimates from data: right in the limit, intervals that cover, words about what is missing."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from enumeration import Values

import anypag as ap
from anypag.effects.estimate.estimates import MeanChange, Probability
from anypag.effects.numbers import HOW_OFTEN_FALSE

PAG = ap.PAG.from_string("age o-> smoking; stress o-> smoking; smoking --> tar; tar --> cancer; age --> cancer")
TRUTH = 0.7 * 0.5


def health(n: int, seed: int) -> dict[str, Values]:
    """Smoking raises cancer by 0.35 a unit, through tar."""
    rng = np.random.default_rng(seed)
    age, stress = rng.normal(size=(2, n))
    smoking = age + stress + rng.normal(size=n)
    tar = 0.7 * smoking + rng.normal(size=n)
    cancer = 0.5 * tar + 0.3 * age + rng.normal(size=n)
    return {"age": age, "stress": stress, "smoking": smoking, "tar": tar, "cancer": cancer}


def in_two(data: dict[str, Values]) -> dict[str, Values]:
    return {name: (column > 0).astype(int) for name, column in data.items()}


def ask(*question: str, **options: object) -> ap.Effect:
    return ap.effect(PAG, *question, selection_bias=False, **options)  # type: ignore[arg-type]


def test_a_linear_effect() -> None:
    found = ask("smoking", "cancer", data=health(20_000, 0))
    assert isinstance(found.estimate, float)
    assert found.estimate == pytest.approx(TRUTH, abs=0.03)
    low, high = np.array(found.interval)
    assert low < TRUTH < high
    assert "cancer per unit of smoking: 0.3" in str(found)
    assert "too narrow if the graph was learned from the same rows" in str(found)


def test_zero_is_said_to_come_from_the_graph() -> None:
    found = ask("cancer", "smoking", data=health(500, 0))
    assert (found.status, found.estimate, found.interval, found.numbers) == ("zero", None, None, None)
    assert "The graph alone says that there is no effect, whatever the rows show" in str(found)
    assert "too narrow" not in str(found) and "0 to 0" not in str(found)


def test_beside_no_effect_stands_how_the_two_go_together() -> None:
    data = health(500, 0)
    found = ask("cancer", "smoking", data=data)
    slope = np.polyfit(data["cancer"], data["smoking"], 1)[0]
    assert found.association is not None
    assert found.association.entries[0].value == pytest.approx(slope)
    assert found.association.entries[0].low < slope < found.association.entries[0].high
    assert f"    smoking per unit of cancer: {slope:.4g} (95% interval " in str(found)
    told = found.to_dict()
    assert told["estimate"] is None and told["association"]["entries"][0]["value"] == pytest.approx(slope)


def test_beside_no_effect_on_levels_stand_the_shares_in_each_group() -> None:
    data = in_two(health(500, 0))
    found = ask("cancer", "smoking", data=data)
    assert found.association is not None
    labels = [entry.label for entry in found.association.entries]
    assert labels == [f"P(smoking = {y} | cancer = {x})" for x in (0, 1) for y in (0, 1)]
    share = data["smoking"][data["cancer"] == 1].mean()
    assert found.association.entries[3].value == pytest.approx(share)


def test_a_set_of_ones_own_tests_a_zero_on_rows() -> None:
    found = ask("cancer", "smoking").estimated(health(500, 0), adjust_for=["age", "tar"])
    assert found.numbers is not None and found.association is None


def test_how_often_no_effect_is_false_is_what_the_page_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "effects.md").read_text()
    rows = re.findall(r"^ *\| ([\d,]+) \| (\d+)(?: of 200)? \| (\d+) \|", page, re.MULTILINE)
    measured = {int(n.replace(",", "")): (int(false), int(identified)) for n, identified, false in rows}
    (fewer, few), (more, many) = min(measured.items()), max(measured.items())
    assert len(measured) == 4
    assert f"{few[0]} of {few[1]} answers from {fewer} rows denied it" in HOW_OFTEN_FALSE
    assert f"and {many[0]} of {many[1]} from {more:,} rows." in HOW_OFTEN_FALSE
    assert HOW_OFTEN_FALSE in str(ask("cancer", "smoking", data=health(200, 0)))


def test_a_model_for_all_doors() -> None:
    data = {**health(500, 0), "cancer": in_two(health(500, 0))["cancer"]}
    with pytest.raises(ap.AnypagError, match=r'Say model="linear"'):
        ask("smoking", "cancer", data=data)
    by_hand = ask("smoking", "cancer").estimated(data, model="linear")
    assert ap.effect(PAG, "smoking", "cancer", selection_bias=False, data=data, model="linear") == by_hand
    boot = ap.bootstrap(data, 3, method="icd", selection_bias=False)
    for door in (boot, boot.result):
        told = door.effect("smoking", "cancer", data=data, model="linear")
        assert told == door.effect("smoking", "cancer").estimated(data, model="linear")
    with pytest.raises(ap.AnypagError, match="'model' goes with 'data'"):
        ask("smoking", "cancer", model="linear")


def test_a_cell_without_rows_has_no_interval() -> None:
    data = {"X": np.tile([0, 1], 60), "Y": np.tile([0, 0, 0, 1], 30)}
    found = ap.effect(ap.DAG.from_string("X --> Y"), "X", "Y", data=data)
    assert "P(Y = 1 | do(X = 0)): 0\n" in str(found)
    assert "P(Y = 1 | do(X = 1)): 0.5 (95% interval 0." in str(found)
    assert str(found).count("n = 120") == 1
    assert "without an interval" in str(found)


def test_adjusting_for_a_set_of_ones_own() -> None:
    plain = ask("smoking", "cancer")
    found = plain.estimated(health(5000, 0), adjust_for=["age"])
    assert found.estimate == pytest.approx(TRUTH, abs=0.05)
    assert found.estimate != plain.estimated(health(5000, 0)).estimate
    with pytest.raises(ap.AnypagError, match="no adjustment set for the effect: stress"):
        plain.estimated(health(100, 0), adjust_for=["stress"])


def test_a_set_of_ones_own_is_refused_where_none_can_identify_the_effect() -> None:
    open_arrow = ap.PAG.from_string("smoking o-o cancer")
    data = {name: health(100, 0)[name] for name in ("smoking", "cancer")}
    with pytest.raises(ap.AnypagError, match="no adjustment set for the effect: no variable"):
        ap.effect(open_arrow, "smoking", "cancer", selection_bias=False).estimated(data, adjust_for=[])


def test_a_set_of_ones_own_after_sampling_is_for_the_single_graph() -> None:
    data = health(2000, 0)
    result = ap.learn(data, method="bayes", selection_bias=False, effort=0.3)
    sampled = result.effect("smoking", "cancer")
    found = sampled.estimated(data, adjust_for=["age"])
    assert sampled.graph_answer is not None and found == sampled.graph_answer.estimated(data, adjust_for=["age"])
    assert found.sampled is None and isinstance(found.estimate, float)
    assert "The numbers adjust for 'age', as you asked." in str(found)
    with pytest.raises(ap.AnypagError, match="sampled graphs"):
        sampled.estimated(data, adjust_for=["age"], confounding=0.5)
    with pytest.raises(ap.AnypagError, match="is for the answer of the single graph"):
        replace(sampled, graph_answer=None).estimated(data, adjust_for=["age"])


def test_several_causes_give_a_line_each() -> None:
    found = ask("smoking", "cancer").estimated(health(500, 1), resamples=20)
    assert found.numbers is not None
    assert isinstance(found.numbers.entries[0], MeanChange)
    both = ap.effect(PAG, ["smoking", "tar"], "cancer", selection_bias=False, data=health(20_000, 1))
    assert isinstance(both.estimate, tuple)
    values = {entry.cause: entry.value for entry in both.estimate if isinstance(entry, MeanChange)}
    assert values == {"smoking": pytest.approx(0, abs=0.03), "tar": pytest.approx(0.5, abs=0.03)}


def test_an_effect_that_is_zero() -> None:
    found = ask("cancer", "smoking", data=health(200, 0))
    assert found.status == "zero" and found.estimate is None and found.association is not None


def test_probabilities() -> None:
    data = in_two(health(20_000, 0))
    found = ask("smoking", "cancer", data=data)
    assert isinstance(found.estimate, tuple)
    lines = [line for line in found.estimate if isinstance(line, Probability)]
    assert len(lines) == 4
    for level in (0.0, 1.0):
        assert sum(line.value for line in lines if line.do == {"smoking": level}) == pytest.approx(1)
    rows = np.column_stack([data[name] for name in ("smoking", "age", "cancer")])
    share = sum(rows[(rows[:, 0] == 1) & (rows[:, 1] == age), 2].mean() * (rows[:, 1] == age).mean() for age in (0, 1))
    assert [line.value for line in lines if line.do["smoking"] == 1 and line.outcome["cancer"] == 1] == [
        pytest.approx(share)
    ]


def test_labels_are_shown() -> None:
    data = {name: np.where(column > 0, "much", "little") for name, column in health(2000, 0).items()}
    assert "P(cancer = much | do(smoking = little)): 0." in str(ask("smoking", "cancer", data=data))


def test_cells_without_rows_are_named() -> None:
    data = in_two(health(500, 0))
    keep = (data["age"] == 0) | (data["smoking"] == 1)  # nobody old does not smoke
    found = ask("smoking", "cancer", data={name: column[keep] for name, column in data.items()})
    assert "No row has age = 1 and smoking = 0: probabilities that need them are not known." in str(found)
    assert isinstance(found.estimate, tuple)
    assert [np.isnan(line.value) for line in found.estimate] == [True, True, False, False]


def test_the_same_seed_gives_the_same_interval() -> None:
    plain, data = ask("smoking", "cancer"), health(300, 0)
    assert plain.estimated(data).interval == plain.estimated(data).interval
    assert plain.estimated(data, seed=1).interval != plain.estimated(data).interval
    assert np.isnan(plain.estimated(data, resamples=0).interval).all()  # type: ignore[arg-type]


def test_rows_with_gaps_are_left_out_and_told() -> None:
    data = health(500, 0)
    data["age"][:7] = np.nan
    assert "7 rows with missing values were left out." in str(ask("smoking", "cancer", data=data))


def mixed(n: int, seed: int) -> dict[str, Any]:
    """A region in three levels acts on who is treated and on the outcome; the dose does so besides."""
    rng = np.random.default_rng(seed)
    region, dose = rng.integers(0, 3, n), rng.normal(size=n)
    treated = rng.random(n) < np.array([0.2, 0.5, 0.8])[region]
    health = 1.5 * treated + np.array([0.0, 2.0, -1.0])[region] + 0.8 * dose + rng.normal(size=n)
    return {"region": np.array(["north", "east", "south"])[region], "dose": dose, "treated": treated, "health": health}


MIXED = ap.PAG.from_string(
    "lot o-> treated; region o-> treated; region --> health; dose o-> health; treated --> health",
    ["lot", "region", "dose", "treated", "health"],
)


def test_a_continuous_outcome_beside_discrete_columns() -> None:
    data = mixed(4000, 0) | {"lot": np.arange(4000) % 2}
    found = ap.effect(MIXED, "treated", "health", selection_bias=False, data=data)
    assert found.numbers is not None
    assert found.numbers.model == "mixed"
    assert found.estimate == pytest.approx(1.5, abs=0.12)
    low, high = np.array(found.interval)
    assert low < 1.5 < high < low + 0.3
    assert "health, treated = 1 against 0: 1." in str(found)
    assert "without interactions" in str(found)
    by_hand = pd_dummies(data)
    assert found.estimate == pytest.approx(by_hand, abs=1e-9)


def pd_dummies(data: dict[str, Any]) -> float:
    """The coefficient by least squares, the columns spelled out."""
    region = [data["region"] == name for name in ("north", "east")]
    columns = [np.ones(4000), data["treated"], *region, data["dose"], data["lot"]]
    return float(np.linalg.lstsq(np.column_stack(columns).astype(float), data["health"], rcond=None)[0][1])


def test_several_causes_of_both_kinds_each_have_their_lines() -> None:
    data = mixed(6000, 1)
    dag = ap.DAG.from_string("region --> treated; region --> health; dose --> health; treated --> health")
    found = ap.effect(dag, ["region", "dose", "treated"], "health", data=data)
    assert found.numbers is not None
    lines = {entry.label: entry.value for entry in found.numbers.entries}
    truth = {
        "health, region = north against east": -2.0,
        "health, region = south against east": -3.0,
        "health per unit of dose": 0.8,
        "health, treated = 1 against 0": 1.5,
    }
    assert lines == {label: pytest.approx(value, abs=0.12) for label, value in truth.items()}


def test_a_resample_without_a_level_says_nothing_of_it() -> None:
    data = mixed(60, 2) | {"region": np.array(["north"] * 58 + ["south", "south"])}
    dag = ap.DAG.from_string("region --> treated; region --> health; dose --> health; treated --> health")
    assert np.isfinite(np.array(ap.effect(dag, "region", "health", data=data).interval)).all()


def test_columns_of_both_kinds_that_no_model_here_takes() -> None:
    data = mixed(500, 0) | {"lot": np.arange(500) % 2}
    dag = ap.DAG.from_string("dose --> treated; region --> treated; region --> dose")
    with pytest.raises(ap.AnypagError, match=r"The outcome 'treated' is discrete, .* Say model=\"linear\""):
        ap.effect(dag, "dose", "treated", data=data)
    with pytest.raises(ap.AnypagError, match="'region' holds labels"):
        ap.effect(dag, "dose", "treated").estimated(data, model="linear")
    with pytest.raises(ap.AnypagError, match=r"columns of one kind only. Leave 'model' out"):
        ap.effect(MIXED, "region", "health", selection_bias=False, data=data, model="mixed")
    pag = ap.PAG.from_string("C o-> A; A --> M; A <-> B; M <-> B; M --> Y; B --> Y")
    rows = dict(zip("CABMY", np.random.default_rng(0).normal(size=(5, 200)), strict=True))
    found = ap.effect(pag, ["A", "B"], "Y", selection_bias=False)
    assert found.estimated(rows).numbers is not None
    with pytest.raises(ap.AnypagError, match="A formula that does not adjust needs columns of one kind"):
        found.estimated(rows | {"M": rows["M"] > 0})


def test_what_stands_in_the_way_is_told_whatever_the_columns_are() -> None:
    """Only how large the effect may be is left out where columns are of both kinds."""
    data = mixed(500, 0) | {"lot": np.arange(500) % 2}
    plain = ap.effect(MIXED, "region", "health", selection_bias=False)
    found = plain.estimated(data)
    assert str(found).startswith(str(plain))
    assert found.possible is not None
    assert found.possible.entries == ()
    assert found.possible.untold in str(found)
    assert " graphs with these independences.\n" in str(found), "no colon where nothing follows"
    assert "some are continuous, some discrete" in found.to_dict()["possible"]["untold"]
    told = ask("stress", "cancer", data=health(500, 0)).possible
    assert told is not None
    assert told.entries
    assert not told.untold


def test_a_linear_model_takes_two_levels_as_numbers_if_it_is_told_to() -> None:
    data = {**health(500, 0), "smoking": in_two(health(500, 0))["smoking"]}
    as_numbers = ask("smoking", "cancer").estimated(data, model="linear")
    assert as_numbers.estimate == pytest.approx(ask("smoking", "cancer", data=data).estimate, abs=1e-9)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"smoking": np.arange(9.0)}, {}, "There is no column"),
        ({**health(50, 0), "cancer": np.ones(50)}, {"model": "linear"}, "'cancer' has one value only"),
        ({**health(50, 0), "age": np.full(50, np.nan)}, {}, "without missing values in its columns; there are 0"),
        ({**health(50, 0), "age": health(50, 0)["smoking"]}, {}, "'smoking' is determined by 'age'"),
        (health(50, 0), {"model": "magic"}, "got 'magic'"),
        (health(50, 0), {"level": 1.5}, "level between 0 and 1"),
        ({**health(50, 0), "age": np.array(list("abcde") * 10)}, {"model": "linear"}, "'age' holds labels"),
    ],
)
def test_data_that_do_not_serve(data: dict[str, Values], options: dict[str, object], message: str) -> None:
    with pytest.raises(ap.AnypagError, match=message):
        ask("smoking", "cancer").estimated(data, **options)  # type: ignore[arg-type]


def test_the_range_of_an_effect_that_is_not_identified() -> None:
    found = ask("stress", "cancer", data=health(20_000, 0))
    assert found.estimate is None
    assert found.possible is not None
    assert found.possible.exact
    assert found.possible.includes_zero
    assert found.possible.smallest == 0
    assert found.possible.largest == pytest.approx(TRUTH, abs=0.03)
    assert "an arrow may hide a common cause" in str(found)


@pytest.mark.slow
def test_the_range_holds_the_truth_where_nothing_is_hidden() -> None:
    """Over DAGs without hidden causes, the true effect lies in the range of their PAG."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        weights = np.triu(rng.uniform(0.5, 1.5, (5, 5)) * (rng.random((5, 5)) < 0.5), 1)
        dag = ap.DAG((weights != 0).astype(int))
        total = np.linalg.inv(np.eye(5) - weights)
        rows = rng.normal(size=(50_000, 5)) @ total
        found = ap.effect(ap.true_pag(dag), 0, 4, selection_bias=False, data=rows)
        if found.possible is None:
            said = 0.0 if found.status == "zero" else found.estimate
            assert said == pytest.approx(total[0, 4], abs=0.05)
        else:
            low, high = found.possible.smallest, found.possible.largest
            assert isinstance(low, float)
            assert isinstance(high, float)
            assert low - 0.05 < total[0, 4] < high + 0.05
            assert not found.possible.includes_zero or low <= 0 <= high


@pytest.mark.slow
def test_a_large_class_is_sampled_and_said_to_be() -> None:
    names = [f"V{i}" for i in range(12)]
    text = "; ".join(f"{a} o-o {b}" for i, a in enumerate(names) for b in names[i + 1 :])
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 12)) @ rng.normal(size=(12, 12))
    pag = ap.PAG.from_string(text, names)
    found = ap.effect(pag, "V0", "V1", selection_bias=False, data=dict(zip(names, rows.T, strict=True)))
    assert found.possible is not None
    assert not found.possible.exact
    assert "a random sample of" in str(found)


def test_a_resample_in_which_a_column_is_constant_leaves_no_interval_and_no_warning() -> None:
    """One row of 60 is not zero: a third of the resamples lack it."""
    rng = np.random.default_rng(0)
    data = {"a": np.where(np.arange(60) == 7, 2.5, 0.0), "b": rng.normal(size=60)}
    found = ap.effect(ap.DAG.from_string("a --> b"), "a", "b")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        text = str(found.estimated(data, model="linear"))
    assert "b per unit of a" in text
    assert "95% interval" not in text
    assert "A number without an interval" in text


def test_the_column_that_others_determine_is_named() -> None:
    rng = np.random.default_rng(0)
    a, group = rng.normal(size=80), rng.integers(0, 3, 80)
    dag = ap.DAG.from_string("a --> y; g --> a; g --> y; h --> a; h --> y")
    data = {"a": a, "g": group, "h": group // 2, "y": a + group + rng.normal(size=80)}
    with pytest.raises(ap.AnypagError, match="'h' is determined by 'g'"):
        ap.effect(dag, "a", "y", data=data)
    with pytest.raises(ap.AnypagError, match="'h' is constant"):
        ap.effect(dag, "a", "y", data={**data, "h": np.zeros(80, int)})


@pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")
def test_kinds_that_the_name_of_a_test_implies_hold_for_the_estimate() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 12, 400)
    data = {"a": a, "b": np.minimum(a, 4) + rng.integers(0, 9, 400), "c": rng.integers(0, 11, 400)}
    result = ap.learn(data, method="icd", test="permutation", selection_bias=False)
    table = ap.data.as_table({name: column * 1.5 for name, column in data.items()})
    assert set(table.kinds) == {"continuous"}
    assert set(result.effect("c", "a").basis.rows(table).table.kinds) == {"discrete"}
