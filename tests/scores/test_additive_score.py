"""The score with functions of columns: against regressions and a general optimiser, and as a search uses it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

import anypag as ap
from anypag import DAG, MAG, AnypagError
from anypag.ci.additive import DEGREE, _surprise, functions
from anypag.cli.options import spelled
from anypag.data import as_table
from anypag.data.audit.determined import same_order_findings
from anypag.data.findings import Singular
from anypag.scores.additive import additive_score
from anypag.scores.mixed import MixedScore
from naive_scores import additive_deviance
from score_examples import gaussian_score, score_of
from strategies import dags

Floats = npt.NDArray[np.float64]


def curved(seed: int, rows: int = 400) -> dict[str, Floats]:
    """A --> B <-- C, B --> D, all effects with a bend."""
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=(2, rows))
    b = a**2 + np.abs(c) + rng.normal(size=rows)
    d = b + 0.5 * b**2 + rng.normal(size=rows)
    return {"A": a, "B": b, "C": c, "D": d}


def columns_of(data: dict[str, Floats], degree: int = DEGREE) -> list[Floats]:
    """Functions of the ranks of each column, with mean 0 and length 1."""
    found = []
    for values in data.values():
        ranks = np.argsort(np.argsort(values)) + 1
        made = functions((2.0 * ranks - 1 - len(ranks)) / len(ranks), degree)
        made = made - made.mean(axis=0)
        found.append(made / np.sqrt((made**2).sum(axis=0)))
    return found


def explaining(parts: list[Floats], rows: int) -> MixedScore:
    """A score without prices, of variables of which the first function is explained."""
    every = np.column_stack(parts)
    start = np.concatenate([[0], np.cumsum([part.shape[1] for part in parts])]).astype(np.int32)
    names, ones = tuple("ABCDEFGH"[: len(parts)]), np.ones(len(parts), np.int32)
    return MixedScore(
        names, rows, every.T @ every, discount=0.0, stop=1e-13, start=start, explained=ones, takes_functions=ones
    )


@given(dags(most=5), st.integers(0, 10**6), st.data())
@settings(deadline=None)
def test_a_dag_scores_by_its_regressions(dag: DAG, seed: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    table = {name: rng.normal(size=40) for name in dag.names}
    parts = [part[:, : data.draw(st.integers(1, DEGREE))] for part in columns_of(table)]
    by_hand = 0.0
    for v in range(len(dag)):
        parents = [parts[u] for u in np.flatnonzero(dag.adjacency[:, v])]
        left = parts[v][:, 0]
        if parents:
            known = np.column_stack(parents)
            left = left - known @ np.linalg.lstsq(known, left)[0]
        by_hand += float(np.log(left @ left))
    assert score_of(explaining(parts, 40), dag.marks) == pytest.approx(-20 * by_hand, abs=1e-5)


DISTRICTS = ("A --> B; B <-> C; C <-- D", "A --> B; A <-> C; B <-> C; C <-> D", "A <-> B; C <-> D; A --> D")


@pytest.mark.parametrize("text", DISTRICTS)
def test_fitting_finds_what_a_general_optimiser_finds(text: str) -> None:
    graph = MAG.from_string(text, list("ABCD"))
    parts = [part[:, :width] for part, width in zip(columns_of(curved(3, 80)), (3, 2, 1, 3), strict=True)]
    found = -score_of(explaining(parts, 80), graph) / 40
    assert found == pytest.approx(additive_deviance(graph.marks.tolist(), parts), abs=1e-5)


def test_a_member_of_a_district_explains_another_by_all_of_its_functions() -> None:
    parts = [part[:, :3] for part in columns_of(curved(5, 80))]
    graph = np.zeros((4, 4), np.uint8)  # A <-> C, B <-> C and A --> B: no MAG, but a path diagram of the chain
    graph[0, 2] = graph[2, 0] = graph[1, 2] = graph[2, 1] = graph[0, 1] = 2
    graph[1, 0] = 3
    found = -score_of(explaining(parts, 80), graph) / 40
    assert found == pytest.approx(additive_deviance(graph.tolist(), parts), abs=1e-5)


def test_without_curves_it_is_the_gaussian_score_of_normal_scores() -> None:
    rng = np.random.default_rng(0)
    data = rng.normal(size=(300, 4)) @ (np.eye(4) + 0.5 * rng.normal(size=(4, 4)))
    table = dict(zip("DACB", np.exp(data.T / 3), strict=True))  # names in no order
    score = additive_score(ap.Additive(table), gamma=0.5)
    assert np.diff(score.start).tolist() == [1, 1, 1, 1]
    plain = gaussian_score({name: part[:, 0] for name, part in zip(table, columns_of(table), strict=True)}, 0.5)
    for text in ("A --> B; B <-> C; C <-- D", "A --- B; B --- C; D", "A --> B; B --> C; C --> D"):
        graph = MAG.from_string(text, list(table))
        assert score_of(score, graph) == pytest.approx(score_of(plain, graph), abs=1e-6)


def own_or_normal(data: dict[str, Floats]) -> dict[str, bool]:
    """Is a variable explained in its own numbers? By regressions on five functions of all others and their numbers."""
    parts, found = columns_of(data), dict[str, bool]()
    for k, (name, values) in enumerate(data.items()):
        others = [
            np.column_stack([part, data[other]]) for other, part in zip(data, parts, strict=True) if other != name
        ]
        known = np.column_stack([np.ones(len(values)), *others])
        left = [y - known @ np.linalg.lstsq(known, y)[0] for y in (parts[k][:, 0], values)]
        better = np.log(left[0].std() / parts[k][:, 0].std()) - np.log(left[1].std() / values.std())
        found[name] = bool(better > _surprise(values))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_a_variable_is_explained_in_its_own_numbers_where_these_fit_better(seed: int) -> None:
    """B is a sum of steep curves: its normal scores are none. D and E are bent themselves; E has heavy tails."""
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=(2, 500))
    b = 2 * np.tanh(3 * a) + 1.5 * np.tanh(3 * c) + 0.3 * rng.normal(size=500)
    d, e = a + rng.normal(size=500), c + rng.normal(size=500)
    data = {"A": a, "B": b, "C": c, "D": np.sign(d) * np.abs(d) ** 0.3, "E": np.exp(e), "F": rng.normal(size=500)}
    expected = own_or_normal(data)
    assert expected["B"] and not expected["D"] and not expected["E"]
    score = ap.Additive(data).score()
    first = dict(zip(score.names, score.correlation[score.start[:-1]], strict=True))
    scores = {name: part[:, 0] for name, part in zip(data, columns_of(data), strict=True)}
    heads = {name: data[name] if expected[name] else scores[name] for name in data}
    for one in data:
        for k, other in enumerate(score.names):
            together = np.corrcoef(heads[one], heads[other])[0, 1]
            assert first[one][score.start[k]] == pytest.approx(together, abs=1e-9)


def test_numbers_are_compared_with_normal_ones_by_their_density() -> None:
    rng = np.random.default_rng(0)
    assert abs(_surprise(rng.normal(size=2000))) < 0.03
    assert _surprise(rng.random(2000)) == pytest.approx((1 + np.log(2 * np.pi / 12)) / 2, abs=0.03)
    for values in (rng.exponential(size=2000), np.repeat(rng.normal(size=20), 100), np.zeros(10)):
        assert _surprise(values) == np.inf


def test_functions_are_there_where_something_depends_on_them() -> None:
    data = curved(1)
    luck = np.random.default_rng(99).normal(size=400)
    group = (data["A"] > 0).astype(float)
    score = ap.Additive({**data, "luck": luck, "group": group}).score()
    assert isinstance(score, MixedScore) and score.explained is not None
    widths = dict(zip(score.names, np.diff(score.start).tolist(), strict=True))
    assert widths["luck"] == widths["group"] == 1
    assert widths["A"] == widths["C"] == DEGREE
    assert score.explained.tolist() == [1] * 6


def test_with_fewer_rows_than_functions_those_that_gain_most_are_kept() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 60))
    bows = {f"x bow {i}": x**2 + 0.3 * rng.normal(size=60) for i in range(6)}
    table = {"x": x, "w": w, **bows, "w bow": w**2 + 0.8 * rng.normal(size=60)}
    widths = [
        np.diff(additive_score(ap.Additive({k: v[:n] for k, v in table.items()}), 0.0).start) for n in (60, 18, 12)
    ]
    assert [found[:2].tolist() for found in widths] == [[DEGREE, DEGREE], [DEGREE, 1], [1, 1]]


def test_groups_are_no_effects_of_what_they_act_on() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.integers(0, 3, 1000), rng.integers(0, 2, 1000)
    y = np.array([1.5, -1.5, 1.5])[x] + 1.5 * w + rng.normal(size=1000)
    table = {"x": np.array(list("pqr"))[x], "w": np.array(list("st"))[w], "y": y}
    found = ap.learn(table, method="bayes", test="additive").pag
    assert found == ap.PAG.from_string("x o-> y; w o-> y", ["x", "w", "y"])


@pytest.mark.parametrize("values", [3, 5])
def test_a_number_with_few_values_has_as_many_functions_as_it_can(values: int) -> None:
    rng = np.random.default_rng(1)
    x, w = rng.integers(0, values, (2, 800)) - (values - 1) / 2.0
    hidden = rng.normal(size=800)
    table = {"x": x, "w": w, "y": x**2 + hidden + rng.normal(size=800), "z": w**2 + hidden + rng.normal(size=800)}
    test = ap.Additive(table, kinds={"x": "continuous", "w": "continuous"})
    assert np.diff(additive_score(test, 0.5).start)[:2].tolist() == [values - 1] * 2
    found = ap.learn(test, method="bayes").pag
    assert found == ap.PAG.from_string("x o-> y; w o-> z; y <-> z", list(table))


@pytest.mark.parametrize("shape", [np.exp, lambda a: -(a**3)])
def test_columns_in_the_same_order_are_refused(shape: Callable[[Floats], Floats]) -> None:
    data = curved(0)
    with pytest.raises(AnypagError, match="'A' and 'E' put the rows in the same order"):
        ap.learn({**data, "E": shape(data["A"])}, method="bayes", test="additive")


def test_columns_in_the_same_order_are_told_with_all_else() -> None:
    data = {**curved(0), "constant": np.zeros(len(curved(0)["A"]))}
    with pytest.raises(AnypagError, match="for 2 reasons") as raised:
        ap.learn({**data, "E": np.exp(data["A"])}, method="bayes", test="additive", singular="error")
    assert "'A' and 'E' put the rows in the same order" in str(raised.value)
    assert "'constant' is constant" in str(raised.value)
    assert "Leave one of them out (--columns or --drop)." in raised.value.sentence.spelled(spelled)
    ap.learn({**curved(0), "E": np.exp(data["A"])}, method="icd", test="additive", max_r=0)  # tests can tell them apart


@pytest.mark.parametrize("singular", ["error", "keep"])
def test_columns_on_a_line_are_told_once(singular: Singular) -> None:
    data = curved(0)
    reason = "= 2·A" if singular == "error" else "'A' and 'E' put the rows in the same order"
    with pytest.raises(AnypagError) as raised:
        ap.learn({**data, "E": 2 * data["A"] + 1}, method="bayes", test="additive", singular=singular)
    assert reason in str(raised.value)
    assert "reasons" not in str(raised.value)


@given(arrays(np.float64, (6, 2), elements=st.integers(0, 3).map(float)))
def test_the_same_order_is_found_as_ranks_compared_say(values: Floats) -> None:
    values = np.repeat(values, 4, axis=0)  # fewer rows may be in the same order by chance
    table = as_table(values, ["a", "b"], kinds={"a": "continuous", "b": "continuous"})
    a, b = (rankdata(column) for column in values.T)
    is_same = len(set(a)) > 1 and (bool((a == b).all()) or bool((a + b == 25).all()))
    assert bool(same_order_findings(table, "keep")) == is_same


@pytest.mark.parametrize("singular", ["error", "keep"])
def test_a_few_complete_rows_may_be_in_the_same_order_by_chance(singular: Singular) -> None:
    values = np.random.default_rng(0).normal(size=(300, 8))
    values[np.arange(3, 300), np.arange(3, 300) % 8] = np.nan
    assert not same_order_findings(as_table(values), singular)


@pytest.mark.parametrize("unit", [1e200, 1e-200, 1e-310, 1e300])
def test_the_same_order_is_found_in_units_of_any_size(unit: float) -> None:
    x = np.random.default_rng(0).uniform(0.5, 1.5, 60)
    bent, straight = as_table({"x": x * unit, "y": x**3}), as_table({"x": x * unit, "y": 3 - 2 * x})
    assert same_order_findings(bent, "error")
    if unit > 1e-300:  # below, fewer digits are left
        assert not same_order_findings(straight, "error")
    assert not same_order_findings(as_table({"x": x + 1e8, "y": 2 * (x + 1e8)}), "error")


def test_too_few_rows_are_told_without_a_word_of_levels() -> None:
    rows = np.random.default_rng(0).normal(size=(8, 8))
    with pytest.raises(AnypagError, match="A score for 8 variables needs at least 10 rows; got 8"):
        ap.learn(rows, method="bayes", test="additive")


def test_a_curve_tells_cause_from_effect() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=500)
    score = ap.Additive({"x": x, "y": x**2 + 0.3 * rng.normal(size=500)}).score()
    forth, back, none = (score_of(score, DAG.from_string(text, ["x", "y"])) for text in ("x --> y", "y --> x", "x; y"))
    assert forth > none + 100
    assert back < none


def test_the_search_finds_curved_effects_in_any_order_of_columns() -> None:
    data = curved(0)
    found = ap.learn(data, method="bayes", test="additive").pag
    assert found == ap.PAG.from_string("A o-> B; C o-> B; B --> D", list("ABCD"))
    backwards = ap.learn(dict(reversed(data.items())), method="bayes", test="additive").pag
    assert (backwards.marks[::-1, ::-1] == found.marks).all()


def test_gaps_are_refused_in_a_sentence() -> None:
    data = curved(0)
    data["A"][3] = np.nan
    with pytest.raises(AnypagError, match="needs a value in every cell"):
        ap.learn(data, method="bayes", test="additive", missing="pairwise")
