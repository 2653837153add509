"""Several data sets in one table: what is put together, how it is tested, scored, searched and resampled."""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
import naive_ci
from anypag.arrays import Floats
from anypag.choices import Choices
from anypag.ci.base import Queries
from anypag.ci.contexts import OfContexts
from anypag.ci.resolve import resolve_test
from anypag.cli.options import spelled
from anypag.data.sources.data_sets import OTHER_ROWS, DataSets
from anypag.data.sources.pooled import Pooled, comparable, is_determined
from anypag.data.table import as_table
from anypag.errors import AnypagWarning, DataError, GraphError, KnowledgeError, ParameterError
from anypag.explain.facts import _reasons_in, facts_of, oriented_by
from anypag.explain.summary import ActsOn, _told, contexts_told
from anypag.graphs.marks import Mark
from anypag.graphs.pag import PAG
from anypag.knowledge.closure import class_with_knowledge as pag_with
from anypag.plot import svg as ap_svg
from anypag.report.content import content
from anypag.results.files import load_result, save_result
from anypag.results.probabilities import Misfit
from anypag.run.engine import Search
from anypag.run.replicates import Plan
from anypag.search.by_scores.chain import Landscape, Walker, advance, graph_of, marks_of
from anypag.search.by_scores.starting_graphs import with_design


def system(n: int, seed: int, **shift: float) -> dict[str, Floats]:
    """A --> B --> C, D <- hidden -> B; `shift` moves variables where they are made."""
    rng = np.random.default_rng(seed)
    noise, hidden = rng.normal(size=(4, n)), rng.normal(size=n)
    a = noise[0] + shift.get("A", 0)
    b = 0.8 * a + noise[1] + hidden + shift.get("B", 0)
    c = 0.8 * b + noise[2] + shift.get("C", 0)
    return {"A": a, "B": b, "C": c, "D": 0.8 * hidden + noise[3] + shift.get("D", 0)}


def sets(n: int = 400) -> dict[str, Mapping[str, Any]]:
    return {"observed": system(n, 1), "drug": system(n, 2, B=1.0), "heat": system(n, 3, A=1.0, D=1.0)}


def test_rows_stand_below_each_other_with_an_indicator_for_each_set_but_the_first() -> None:
    found = ap.pooled(sets(5))
    assert isinstance(found, Pooled)
    assert found.names == ("A", "B", "C", "D", "drug", "heat")
    assert found.values[:, 4].tolist() == [0.0] * 5 + [1.0] * 5 + [0.0] * 5
    assert found.values[:, 0].tolist() == [x for one in sets(5).values() for x in one["A"]]
    assert found.observed.names == ("A", "B", "C", "D")
    assert found.observed.values[:, 1].tolist() == sets(5)["observed"]["B"].tolist()
    assert found.take_rows(np.array([0, 7])).of_set.tolist() == [0, 1]  # type: ignore[attr-defined]
    assert found.take(["A", "heat"]).contexts == ("heat",)  # type: ignore[attr-defined]


def test_a_column_may_say_which_set_a_row_is_from() -> None:
    every = sets(5)
    columns = {name: np.concatenate([one[name] for one in every.values()]) for name in "ABCD"}
    frame = pl.DataFrame({**columns, "arm": np.repeat(list(every), 5)})
    assert np.array_equal(ap.pooled(frame, by="arm").values, ap.pooled(every).values)
    assert ap.pooled({**columns, "arm": np.repeat([3, 1, 2], 5)}, by="arm").sets == ("arm=3", "arm=1", "arm=2")
    with pytest.raises(DataError, match="There is no column 'leg'"):
        ap.pooled(frame, by="leg")


def test_sets_named_by_numbers_keep_all_their_rows() -> None:
    def of(*numbers: float) -> dict[str, Any]:
        return {**system(20, 1), "id": np.repeat(np.array(numbers, np.float64), 20 // len(numbers))}

    found = ap.pooled(of(1234567, 1234568), by="id")
    assert (found.n, found.sets) == (20, ("id=1234567", "id=1234568"))
    assert ap.pooled(of(0.1, 0.25), by="id").sets == ("id=0.1", "id=0.25")
    with pytest.raises(DataError, match="Several values of 'id' have the name"):
        ap.pooled(of(0.12345671, 0.12345672), by="id")


def test_only_common_columns_are_used_and_the_audit_says_so() -> None:
    every = sets(50)
    every["drug"] = {**every["drug"], "E": every["drug"]["A"]}
    found = ap.pooled(every)
    assert "E" not in found.names
    with pytest.warns(AnypagWarning, match="Only columns that every data set has are used: 'E'"):
        ap.learn(found, method="icd")


def test_texts_are_numbered_alike_in_all_sets() -> None:
    one, other = {"A": ["x", "z"], "B": [1.5, 2.5]}, {"A": ["y", None], "B": [0.5, 1.5]}
    found = ap.pooled({"one": one, "other": other})
    assert found.labels[0] == ("x", "y", "z")
    assert np.array_equal(found.values[:, 0], [0.0, 2.0, 1.0, np.nan], equal_nan=True)
    assert found.kinds == ("discrete", "continuous", "discrete")  # beside levels, the context is one of levels too
    with pytest.raises(DataError, match="texts in some data sets and numbers in others"):
        ap.pooled({"one": one, "other": {"A": [1, 2], "B": [0.5, 1.5]}})


@pytest.mark.parametrize(
    ("wrong", "error", "why"),
    [
        ({"contexts": "each"}, ParameterError, "'indicator', 'one' or a table"),
        ({"contexts": {"dose": [1, 2]}}, DataError, "a row for each of the 3 data sets"),
        ({"contexts": {"A": [1, 2, 3]}}, DataError, "names a column and a context"),
        ({"targets": {"cold": ["A"]}}, DataError, "no context 'cold'"),
        ({"targets": {"drug": ["Z"]}}, DataError, "no column 'Z'"),
        ({"contexts_test": "some"}, ParameterError, "'all' or 'pairwise'"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, Any], error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        ap.pooled(sets(5), **wrong)


def test_one_data_set_has_no_contexts() -> None:
    with pytest.raises(DataError, match="two data sets or more"):
        ap.pooled({"observed": system(5, 1)})
    with pytest.raises(KnowledgeError, match="'1', '12' or '123'"):
        ap.Knowledge(contexts=["a"], assumptions="3")


designs = st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=2, max_size=5)


@settings(deadline=None, max_examples=30)
@given(designs, st.integers(0, 5), st.data())
def test_every_question_is_asked_given_all_contexts_that_leave_something_to_test(
    design: list[list[int]], seed: int, data: st.DataObject
) -> None:
    table = np.array(design, np.float64)
    if any(len(np.unique(column)) == 1 for column in table.T) or is_determined(table, 0, [1]) & is_determined(
        table, 1, [0]
    ):
        return  # a context that is constant, or two that are the same
    rng = np.random.default_rng(seed)
    parts = {
        f"s{k}": {"A": rng.normal(size=12), "B": rng.normal(size=12), "C": rng.normal(size=12)}
        for k in range(len(table))
    }
    pool = ap.pooled(parts, contexts={"c": table[:, 0], "d": table[:, 1]})
    test = resolve_test(pool, Choices(method="icd", test="fisherz"))
    assert isinstance(test, OfContexts)
    x, y = data.draw(st.sampled_from([(0, 1), (0, 3), (4, 2), (3, 1)]))
    z = data.draw(st.lists(st.sampled_from([v for v in range(5) if v not in (x, y)]), unique=True))
    answer = float(test.pvalues(Queries([x, x], [y, y], [z, z]))[1])
    assert answer == pytest.approx(naive_ci.fisher_z_in_contexts(pool.values, (3, 4), x, y, z), abs=1e-9)


def test_contexts_that_determine_each_other_are_skipped_and_told() -> None:
    dose = {"dose": [0, 1, 2], "drug": [0, 1, 1]}
    every = {"none": system(300, 1), "low": system(300, 2, B=1.0), "high": system(300, 3, B=2.0)}
    with pytest.warns(AnypagWarning, match="Contexts determined by others: 'drug'"):
        result = ap.learn(ap.pooled(every, contexts=dose), method="icd")
    assert result.pag.edge("drug", "B") is not None  # given the dose nothing is left of the drug to test
    assert result.pag.edge("drug", "C") is None
    assert set(result.sepsets["drug", "C"].given) == {"B"}  # the dose would determine the drug
    assert set(result.sepsets["dose", "C"].given) == {"B", "drug"}
    assert set(result.sepsets["A", "C"].given) == {"B", "dose", "drug"}


def test_a_search_finds_what_an_experiment_acts_on() -> None:
    result = ap.learn(ap.pooled(sets()), method="icd")
    edges = {str(edge.forward()) for edge in result.pag.edges()}
    assert {"drug --> B", "heat --> A", "heat --> D", "drug <-> heat", "B --> C"} <= edges
    assert not result.contradictions
    assert not result.choices.selection_bias
    assert set(result.sepsets["A", "C"].given) == {"B", "drug", "heat"}


def test_an_effect_of_one_set_is_not_hidden_by_another() -> None:
    """B is as large under heat as on average in the other two sets: the indicator alone would not show it."""
    every = {"observed": system(900, 1), "drug": system(900, 2, B=1.0), "heat": system(900, 3, B=0.5)}
    result = ap.learn(ap.pooled(every), method="icd")
    assert result.pag.edge("heat", "B") is not None


def test_more_contexts_than_a_number_has_bits() -> None:
    rng = np.random.default_rng(0)
    every = {f"s{k}": {"A": rng.normal(size=20) + 3 * (k == 67), "B": rng.normal(size=20)} for k in range(70)}
    result = ap.learn(ap.pooled(every), method="icd", alpha=1e-4)
    about = {str(edge.forward()) for edge in result.pag.edges() if {edge.a, edge.b} & {"A", "B"}}
    assert about == {"s67 --> A"}


def test_a_context_that_never_changes_is_refused() -> None:
    design = {"dose": [0.0, 1.0, 2.0], "room": [1.0, 1.0, 1.0]}
    with pytest.raises(DataError, match="'room'"):
        ap.learn(ap.pooled(sets(50), contexts=design), method="icd")


def test_a_test_in_contexts_goes_to_other_processes() -> None:
    test = resolve_test(ap.pooled(sets(50)), Choices(method="icd", test="fisherz"))
    asked = Queries([4], [1], [[2]])
    before = test.pvalues(asked)
    assert pickle.loads(pickle.dumps(test)).pvalues(asked) == before


@pytest.mark.parametrize("names", [("observed", "drug"), ("observed", "drug", "heat")])
def test_one_column_of_levels_may_be_the_context(names: tuple[str, ...]) -> None:
    every = {name: system(300, seed, B=2.0 * (seed > 0)) for seed, name in enumerate(names)}
    pag = ap.learn(ap.pooled(every, contexts="one"), method="icd").pag
    assert {edge.b if edge.a == "context" else edge.a for edge in pag.edges() if "context" in (edge.a, edge.b)} == {"B"}


def test_known_targets_are_not_tested() -> None:
    every = {"observed": system(100, 1), "drug": system(100, 2)}
    assert ap.learn(ap.pooled(every), method="icd").pag.edge("drug", "B") is None
    result = ap.learn(ap.pooled(every, targets={"drug": "B"}), method="icd")
    assert str(result.pag.edge("drug", "B")) == "drug --> B"


def test_contexts_said_in_knowledge_too_are_those_of_the_table_or_refused() -> None:
    pool = ap.pooled({"observed": system(100, 1), "drug": system(100, 2)}, targets={"drug": "B"})
    known = ap.Knowledge(contexts="drug", not_causes=[("C", "A")])
    result = ap.learn(pool, method="icd", knowledge=known)
    assert str(result.pag.edge("drug", "B")) == "drug --> B"
    assert result.choices.knowledge is not None and result.choices.knowledge.contexts == ("drug",)
    assert "C !~> A" in str(result.choices.knowledge)
    for wrong in (ap.Knowledge(contexts="drug", assumptions="1"), ap.Knowledge(contexts=["drug", "A"])):
        with pytest.raises(KnowledgeError, match=f"contexts 123: drug.*{wrong}.*Leave contexts out of the knowledge"):
            ap.learn(pool, method="icd", knowledge=wrong)
        with pytest.raises(KnowledgeError, match="Leave contexts out"):
            ap.bootstrap(pool, 2, method="icd", knowledge=wrong)
    repeated = ap.bootstrap(pool, 2, method="icd", knowledge=known).result.choices.knowledge
    assert repeated == result.choices.knowledge
    other = ap.learn(ap.pooled({"observed": system(100, 1), "heat": system(100, 2)}), method="icd", knowledge=repeated)
    assert other.choices.knowledge is not None and other.choices.knowledge.contexts == ("heat",)  # of its own table


def test_targets_that_are_left_out_are_not_known() -> None:
    pool = ap.pooled({"observed": system(100, 1), "drug": system(100, 2)}, targets={"drug": ["A", "B"]})
    result = ap.learn(pool, method="icd", names=["B", "C"])
    assert set(result.pag.names) == {"B", "C", "drug"} and str(result.pag.edge("drug", "B")) == "drug --> B"
    assert set(ap.learn(pool, method="icd", names=["C", "D"]).pag.names) == {"C", "D", "drug"}
    assert set(ap.bootstrap(pool, 2, method="icd", names=["C", "D"]).names) == {"C", "D", "drug"}


def test_names_of_columns_leave_contexts_in() -> None:
    assert set(ap.learn(ap.pooled(sets(100)), names=["A", "B"], method="icd").pag.names) == {"A", "B", "drug", "heat"}


def test_pairwise_compares_each_set_with_the_observed_one() -> None:
    pool = ap.pooled(sets(), contexts_test="pairwise")
    assert comparable(pool, "drug").sum() == 800
    test = resolve_test(pool, Choices(method="icd"))
    alone = resolve_test(
        ap.pooled({name: rows for name, rows in sets().items() if name != "heat"}), Choices(method="icd")
    )
    given_c = Queries([4], [1], [[2]])
    assert float(test.pvalues(given_c)[0]) == float(alone.pvalues(given_c)[0])
    assert {"drug --> B", "heat --> A"} <= {str(edge.forward()) for edge in ap.learn(pool, method="icd").pag.edges()}


def test_columns_that_are_equal_in_compared_rows_are_compared_in_all_rows() -> None:
    every = sets(100)
    every["heat"] = {**every["heat"], "E": every["heat"]["A"] + 1}
    every = {name: {"E": rows["D"], **rows} for name, rows in every.items()}
    found = [resolve_test(ap.pooled(every, contexts_test=how), Choices(method="icd")) for how in ("all", "pairwise")]
    drug = found[0].names.index("drug")
    p = [float(test.pvalues(Queries([drug], [found[0].names.index("B")], [[]]))[0]) for test in found]
    assert p[0] == p[1]


def test_a_context_that_changes_only_with_others_is_tested_given_them() -> None:
    every = {"none": system(200, 1), "both": system(200, 2, A=2.0), "one": system(200, 3, A=2.0)}
    design = {"c": [0.0, 1.0, 0.0], "d": [0.0, 1.0, 1.0]}
    for how in ("all", "pairwise"):
        pool = ap.pooled(every, contexts=design, contexts_test=how)
        assert ap.learn(pool, method="icd").pag.edge("c", "A") is None


def test_clusters_are_drawn_within_sets(tmp_path: Path) -> None:
    strata, clusters = np.repeat([0, 1], [30, 12]), np.arange(42) // 3
    counts = Plan(2, strata=strata, clusters=clusters).counts(0, 42)
    assert (counts[:30].sum(), counts[30:].sum()) == (30, 12)
    assert (counts.reshape(14, 3) == counts[::3, None]).all()
    pool = ap.pooled(sets(90))
    kept, asked = tmp_path / "kept.db", {"n": 2, "method": "icd"}
    assert len(ap.bootstrap(pool, cluster=np.arange(270) // 3, **asked).graphs) == 2  # type: ignore[arg-type]
    with pytest.raises(DataError, match="some clusters have rows in several"):
        ap.bootstrap(pool, cluster=np.arange(270) // 4, **asked)  # type: ignore[arg-type]
    ap.bootstrap(pool, checkpoint=kept, **asked)  # type: ignore[arg-type]
    other = replace(pool, of_set=np.repeat([0, 1], [90, 180]))
    with pytest.raises(ap.AnypagError, match="the data sets of the rows"):
        ap.bootstrap(other, checkpoint=kept, resume=True, **asked)  # type: ignore[arg-type]


def test_resamples_keep_the_size_of_each_set() -> None:
    strata = np.repeat([0, 1], [30, 10])
    for how in ("bootstrap", "half"):
        counts = Plan(2, how, strata=strata).counts(0, 40)
        whole = 1 if how == "bootstrap" else 2
        assert (counts[:30].sum(), counts[30:].sum()) == (30 // whole, 10 // whole)
    s = ap.bootstrap(ap.pooled(sets(200)), 3, method="icd")
    assert s.adjacency[s.names.index("drug"), s.names.index("B")] == 1.0


def test_chains_condition_on_contexts() -> None:
    """Edges between contexts are in every graph, and neither scored nor charged for; twelve exceed a district."""
    rng = np.random.default_rng(0)
    pool = ap.pooled({f"s{k}": {"A": rng.normal(size=30), "B": rng.normal(size=30)} for k in range(13)})
    problem = Search(pool, Choices(method="bayes")).problem
    facts, score = problem.facts, problem.score_in_order
    assert facts is not None
    marks = with_design(np.zeros((14, 14), np.uint8), facts)
    marks[0, 1], marks[1, 0] = Mark.ARROW, Mark.TAIL
    landscape = Landscape.of(score, facts=facts)
    without = np.where(marks == marks.T, 0, marks).astype(np.uint8)
    assert landscape.score_of(graph_of(marks)) == Landscape.of(score).score_of(graph_of(without))
    after = marks_of(advance(Walker.at(graph_of(marks), landscape, 1), landscape, 200, 1.0).graph)
    assert (after[2:, 2:] == marks[2:, 2:]).all()


def test_words_say_what_an_experiment_acts_on_and_which_one_decided_a_mark() -> None:
    result = ap.learn(ap.pooled(sets()), method="icd")
    text = str(result)
    assert "drug acts directly on B, on no other." in text
    assert "heat acts directly on A and D, on no other." in text
    assert 'seen with test="additive"' in text
    assert "An experiment decides a mark of this edge: heat, by rule R1." in str(result.explain("A", "B"))
    table = result.targets()
    direct = [row for row in zip(*table.values(), strict=True) if row[2]]
    assert direct == [("drug", "B", True, None), ("heat", "A", True, None), ("heat", "D", True, None)]
    assert "experiment" not in str(result.explain("drug", "heat"))
    acts = str(result.explain("heat", "A"))
    assert "heat --> A" in acts and "common cause" not in acts


def test_an_experiment_that_may_act_on_a_variable_is_not_said_to_act_on_nothing() -> None:
    pair = {name: rows for name, rows in sets(300).items() if name != "heat"}
    result = ap.learn(ap.pooled(pair, assumptions="1"), method="icd")
    assert str(result.pag.edge("drug", "B")) == "drug o-> B"
    assert "drug may act directly on B, on no other." in str(result)
    assert dict(zip(result.targets()["variable"], result.targets()["directly"], strict=True))["B"] is None
    rows = [
        ActsOn("drug", name, acts, share)
        for name, acts, share in (("A", True, 1), ("B", None, 0.99), ("C", False, 0.2))
    ]
    told = "drug acts directly on A (1.00), may act directly on B (0.99), on no other (at most 0.20, C)."
    assert _told(rows, "AB") == told
    assert _told(rows[2:], "C") == "drug acts on nothing that was measured."  # drug <-> C
    untested = ap.learn(ap.pooled(pair), method="icd", max_tests=3)
    assert contexts_told(untested) == []


def test_an_edge_between_contexts_is_by_design() -> None:
    told = str(ap.learn(ap.pooled(sets(100)), method="icd").explain("drug", "heat"))
    assert "Joined by design" in told and "common cause" not in told


@pytest.mark.filterwarnings("ignore")
def test_nothing_is_assumed_of_the_distribution_of_contexts() -> None:
    result = ap.learn(ap.pooled(sets(300), assumptions="12"), method="bayes", effort=0.01)
    assert not any(result.misfit_told)
    with mock.patch.object(ap.Result, "misfit", Misfit(None, 0.5, (("A", "B"), ("B", "C")))):
        assert "".join(result.misfit_told).endswith("Do not rely on the probabilities.")


def test_reasons_of_a_graph_by_scores_are_found_by_the_same_rules() -> None:
    result = ap.learn(ap.pooled(sets()), method="icd")
    by_tests = facts_of(result)
    found = _reasons_in(by_tests)
    edge = result.pag.edge("A", "B")
    assert edge is not None
    assert oriented_by(replace(by_tests, reasons=found), edge) == oriented_by(by_tests, edge)


def test_contexts_have_boxes_of_another_shape() -> None:
    result = ap.learn(ap.pooled(sets()), method="icd")
    corners = {box["name"]: box for box in _boxes(ap_svg(result))}
    assert corners["drug"]["rx"] == "0"
    assert corners["A"]["rx"] == "7"
    assert "columns that tell data sets apart (sharp corners), joined by design" in ap_svg(result)
    assert ("a common cause was not measured" in ap_svg(result)) is any(
        edge.symbol == "<->" and {edge.a, edge.b} != {"drug", "heat"} for edge in result.pag.edges()
    )
    page = content(result, None)
    assert [box[5] for box in page["boxes"]] == [0.0 if name in {"drug", "heat"} else 7.0 for name in page["names"]]
    shown = page["experiments"]
    assert shown["told"][0] == result.sets.told and shown["told"][1].startswith("drug acts directly on")  # type: ignore[union-attr]
    assert shown["head"] == ["experiment", "acts directly on"] and ["drug", "B"] in shown["rows"]


def _boxes(picture: str) -> list[dict[str, str]]:
    found = re.findall(r'<g class="node"><title>(.*?)</title><rect [^>]*?rx="(\d+)"', picture)
    return [{"name": name, "rx": corner} for name, corner in found]


@pytest.mark.slow
def test_a_spread_that_changes_is_seen_with_the_additive_test() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(4, 500))
    every = {"observed": {"A": noise[0], "B": noise[1]}, "drug": {"A": 2 * noise[2], "B": noise[3]}}
    pool = ap.pooled(every)
    assert ap.learn(pool, method="icd").pag.edge("drug", "A") is None
    assert str(ap.learn(pool, method="icd", test="additive").pag.edge("A", "drug")) == "A <-- drug"


def test_an_effect_is_that_in_the_observed_set() -> None:
    """The drug breaks the effect of B on C: only the observed set shows it whole."""
    broken = system(500, 2)
    broken["C"] = np.random.default_rng(5).normal(size=500)
    pool = ap.pooled({"observed": system(500, 1), "drug": broken})
    dag = ap.DAG.from_string("A --> B; B --> C; drug --> C; D")
    answer = ap.effect(dag, "B", "C", data=pool)
    assert answer.estimate == pytest.approx(0.8, abs=0.1)
    assert answer.notes[-1] == "This is the effect in the set 'observed': the numbers come from its 500 rows."


def test_the_audit_sees_conditions_in_one_table() -> None:
    every = sets(100)
    shifted = {
        name: {key: value + 2 * k for key, value in rows.items()} for k, (name, rows) in enumerate(every.items())
    }
    columns = {name: np.concatenate([one[name] for one in shifted.values()]) for name in "ABCD"}
    frame = {**columns, "arm": np.repeat(list(every), 100)}
    found = [finding for finding in ap.audit(frame).findings if finding.problem == "conditions"]
    assert [finding.columns for finding in found] == [("arm",)]
    assert "--context arm" in found[0].sentence.spelled(spelled)
    mixed = np.random.default_rng(0).permutation(300)
    shuffled = {name: column[mixed] for name, column in frame.items()}
    assert not [finding for finding in ap.audit(shuffled).findings if finding.problem == "conditions"]
    assert not ap.learn(ap.pooled(frame, by="arm"), method="icd").problem.audit.warnings


def test_contexts_that_do_not_vary_in_the_rows_are_not_adjusted_for() -> None:
    whole = ap.pooled(sets(200))
    sampled = ap.learn(whole, method="bayes", effort=0.3)
    told = str(sampled.effect("A", "C", data=whole))
    assert "adjusting for nothing" in told and "drug" not in told and "heat" not in told
    across = str(sampled.effect("drug", "C", data=whole))
    assert "adjusting for A" in across and "heat" not in across
    one = ap.learn(whole, method="icd").effect("A", "C", data=whole)
    assert "a single value in these rows, drug and heat, are in the formula but not in the estimate" in str(one.notes)


def test_the_effect_of_a_context_compares_the_sets() -> None:
    pool = ap.pooled(sets())
    result = ap.learn(pool, effort=0.1)
    answer = result.effect("drug", "C", data=pool)
    assert isinstance(answer.estimate, float) and answer.estimate == pytest.approx(0.8, abs=0.2)
    assert "This compares the sets 'observed', 'drug': the numbers come from their 800 rows." in answer.notes
    dag = ap.DAG.from_string("A --> B; B --> C; drug --> B; heat --> A; heat --> D")
    assert ap.effect(dag, "drug", "C", data=pool).estimate == pytest.approx(0.8, abs=0.2)
    table = result.effects(pool)
    pairs = dict(zip(zip(table["cause"], table["outcome"], strict=True), table["estimate"], strict=True))
    for cause in ("drug", "B"):
        by_effect, by_estimated = result.effect(cause, "C", data=pool), result.effect(cause, "C").estimated(pool)
        assert by_effect.estimate == by_estimated.estimate and by_effect.notes == by_estimated.notes
        assert pairs[cause, "C"] == pytest.approx(by_effect.estimate)


@pytest.mark.parametrize("option", [{"given": "drug"}, {"by": "drug"}, {"cluster": "drug"}])
def test_a_context_is_no_group_of_rows(option: dict[str, str]) -> None:
    dag = ap.DAG.from_string("A --> B; B --> C; drug --> B")
    with pytest.raises(ParameterError, match=r"'drug' is a context: it has one value in each data set"):
        ap.effect(dag, "A", "C", data=ap.pooled({"observed": system(50, 1), "drug": system(50, 2)}), **option)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def trial() -> tuple[Pooled, ap.Result]:
    """Three sets and what a short search by tests and scores says of them."""
    pool = ap.pooled(sets())
    return pool, ap.learn(pool, effort=0.2)


def test_sampled_classes_have_what_contexts_decide(trial: tuple[Pooled, ap.Result]) -> None:
    """An edge at a context is `-->` or none in every class: its probability is that of any edge."""
    _, result = trial
    said, posterior = result.probabilities, result.posterior
    assert said is not None and posterior is not None
    for context in ("drug", "heat"):
        for other in "ABCD":
            assert {symbol for symbol, *_ in said.states(context, other)} <= {"", "-->"}
            assert said.of_edge(context, other, "-->") == pytest.approx(said.of_any_edge(context, other))
            assert {symbol for symbol, _ in posterior.states(context, other)} <= {"", "-->"}
    assert not said.as_sampled
    table = result.targets()
    for context, other, probability in zip(table["context"], table["variable"], table["probability"], strict=True):
        assert probability == pytest.approx(said.of_edge(context, other, "-->"))


def test_classes_are_closed_by_the_rules_of_knowledge_one_by_one(trial: tuple[Pooled, ap.Result]) -> None:
    posterior = trial[1].posterior
    assert posterior is not None and posterior.facts is not None
    for raw, closed in zip(posterior.sample.pags, posterior.pags, strict=True):
        assert np.array_equal(closed, pag_with(PAG(raw).to_mag().marks, posterior.facts))
        assert ((raw == Mark.CIRCLE) | (raw == closed)).all()
    alone = replace(posterior, facts=None)
    assert alone.pags is posterior.sample.pags
    assert np.array_equal(alone.marks, posterior.marks)


def test_scores_do_not_speak_against_a_design(trial: tuple[Pooled, ap.Result]) -> None:
    """Sets of different sizes depend on each other: no graph may gain by explaining that with other columns."""
    every = {"observed": system(300, 1), "drug": system(250, 2, B=1.0), "heat": system(100, 3, A=1.0, D=1.0)}
    for result in (trial[1], ap.learn(ap.pooled(every), method="bayes", effort=0.05)):
        assert not any("prefer graphs without" in str(outcome) for outcome in result.knowledge)


def test_what_is_told_as_no_target_is_less_sure_than_any_target() -> None:
    shares = {"A": (True, 0.9), "B": (True, 0.4), "C": (False, 0.4), "D": (False, 0.3)}
    rows = [ActsOn("drug", name, *of) for name, of in shares.items()]
    told = "drug acts directly on A (0.90), may act directly on B (0.40) and C (0.40), on no other (at most 0.30, D)."
    assert _told(rows, "AB") == told


def test_shares_of_resamples_are_told_as_such() -> None:
    pool = ap.pooled(sets(100))
    told = contexts_told(ap.bootstrap(pool, 3, method="icd").result)
    assert "In brackets is the share of resamples that join the two." in told
    assert not any("resamples" in line for line in contexts_told(ap.learn(pool, method="icd")))


def test_it_is_said_which_set_is_the_observed_one() -> None:
    every = sets(60)
    pool = ap.pooled(every, observed="heat", contexts={"dose": [1, 2, 0]})
    assert pool.sets == ("heat", "observed", "drug")
    assert pool.design[:, 0].tolist() == [0, 1, 2] and pool.values[0, pool.names.index("dose")] == 0
    told = "Data sets: 'heat' (60 rows), with which the others are compared; 'observed' (60 rows), 'drug' (60 rows)."
    assert told in str(ap.learn(ap.pooled(every, observed="heat"), method="icd"))
    columns = {name: np.concatenate([one[name] for one in every.values()]) for name in "ABCD"}
    numbered = {**columns, "arm": np.repeat([3, 1, 2], 60)}
    assert ap.pooled(numbered, by="arm", observed="2").sets == ("arm=2", "arm=3", "arm=1")
    with pytest.raises(DataError, match="There is no data set 'cold'"):
        ap.pooled(every, observed="cold")


def test_levels_of_a_design_begin_with_that_of_the_observed_set() -> None:
    pool = ap.pooled(sets(5), contexts={"diet": ["usual", "none", "keto"]})
    assert pool.labels[4] == ("usual", "none", "keto") and pool.values[::5, 4].tolist() == [0, 1, 2]


@pytest.fixture(scope="module")
def arms() -> tuple[dict[str, Any], ap.Result]:
    """One table with the sets in a column, in another order of rows, and what a search by tests says."""
    every = sets(200)
    columns = {name: np.concatenate([one[name] for one in every.values()]) for name in "ABCD"}
    table = {**columns, "arm": np.repeat(list(every), 200)}
    return table, ap.learn(ap.pooled(table, by="arm"), method="icd")


def test_rows_of_the_whole_table_are_told_apart_again(arms: tuple[dict[str, Any], ap.Result]) -> None:
    table, result = arms
    shuffled = np.random.default_rng(0).permutation(600)
    for again in (result, load_result(save_result(result))):
        for cause, outcome in (("B", "C"), ("drug", "C")):
            by_pool = again.effect(cause, outcome, data=ap.pooled(table, by="arm"))
            by_table = again.effect(cause, outcome, data=table)
            assert by_table.estimate == by_pool.estimate and by_table.notes == by_pool.notes
            mixed = again.effect(cause, outcome, data={name: np.array(c)[shuffled] for name, c in table.items()})
            assert mixed.estimate == pytest.approx(by_pool.estimate)
    with pytest.raises(DataError, match="'cold' is not one of them"):
        result.effect("B", "C", data={**table, "arm": np.repeat(["observed", "cold", "heat"], 200)})
    with pytest.raises(DataError, match="there are no rows of 'observed'"):
        result.effect("B", "C", data={name: column[200:] for name, column in table.items()})


def test_rows_of_another_set_are_refused(arms: tuple[dict[str, Any], ap.Result]) -> None:
    table, result = arms
    own = {name: column[:200] for name, column in table.items() if name != "arm"}
    assert result.effect("B", "C", data=own).estimate == result.effect("B", "C", data=table).estimate
    assert OTHER_ROWS not in result.effect("B", "C", data=own).notes
    assert OTHER_ROWS in result.effect("B", "C", data=system(150, 9)).notes
    with pytest.raises(ParameterError, match="These rows are the data set 'drug', but effects are estimated in"):
        result.effect("B", "C", data={name: column[200:400] for name, column in own_columns(table)})
    with pytest.raises(ParameterError, match="as many rows as all data sets"):
        result.effect("B", "C", data=dict(own_columns(table)))
    with pytest.raises(ParameterError, match="The effect of 'drug' compares data sets"):
        result.effect("drug", "C", data=own)


def own_columns(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, column) for name, column in table.items() if name != "arm"]


def test_texts_are_recognised_in_a_file_of_one_set() -> None:
    rng = np.random.default_rng(0)
    parts = {
        name: {"sex": rng.choice(levels, 200).tolist(), "B": rng.choice(["x", "y"], 200).tolist()}
        for name, levels in (("observed", ["f", "m"]), ("drug", ["d", "m"]))
    }
    found = DataSets.of(ap.pooled(parts), ("B", "drug", "sex"))
    assert found is not None
    assert not found.pool(as_table(parts["observed"]), ("B", "drug", "sex")).told
    with pytest.raises(ParameterError, match="the data set 'drug'"):
        found.pool(as_table(parts["drug"]), ("B", "drug", "sex"))


def test_names_of_sets_are_explained(arms: tuple[dict[str, Any], ap.Result]) -> None:
    _, result = arms
    with pytest.raises(GraphError, match="'arm' tells the data sets apart: in the graph it became the contexts 'drug'"):
        result.explain("arm", "B")
    with pytest.raises(GraphError, match="'observed' is the observed data set"):
        result.effect("observed", "B")
    with pytest.raises(GraphError, match="There is no node 'leg'"):
        result.explain("leg", "B")


def test_the_effect_of_a_context_is_not_that_against_a_mixture() -> None:
    """Heat lowers C, though the graph does not say so: the drug is compared with the observed set all the same."""
    every = {"observed": system(500, 1), "drug": system(500, 2, C=1.0), "heat": system(500, 3, C=-4.0)}
    dag = ap.DAG.from_string("A --> B; B --> C; drug --> C; heat --> A")
    answer = ap.effect(dag, "drug", "C", data=ap.pooled(every))
    assert answer.estimate == pytest.approx(1.0, abs=0.3)
    both = ap.effect(dag, ["drug", "heat"], "C", data=ap.pooled(every))
    assert "'heat': the numbers come from their 1,500 rows." in " ".join(both.notes)


def test_the_single_graph_has_what_contexts_decide() -> None:
    result = ap.learn(ap.pooled({"observed": system(500, 1), "drug": system(500, 2, B=1.0)}), method="icd")
    answer = result.effect("drug", "C")
    assert answer.status == "adjustment" and not any("left out" in note for note in answer.notes)
    tiers = ap.learn(
        ap.simulate.linear_gaussian(ap.DAG.from_string("A --> B; B --> C"), 300, seed=1),
        method="icd",
        knowledge=ap.Knowledge(tiers=[["A"], ["B"], ["C"]]),
        selection_bias=False,
    )
    assert any("left out" in note for note in tiers.effect("A", "C").notes)


def test_curves_are_looked_for_within_sets() -> None:
    """Three sets whose means lie on a curve, and nothing but straight lines in each."""
    rng = np.random.default_rng(0)
    every = {f"s{k}": {"A": rng.normal(size=200) + 4 * k, "B": rng.normal(size=200) + 8 * (k == 1)} for k in range(3)}
    columns = {name: np.concatenate([one[name] for one in every.values()]) for name in "AB"}
    assert any(finding.problem == "curve" for finding in ap.audit(columns).findings)
    audit = ap.learn(ap.pooled(every), method="icd").audit
    assert audit is not None and not any(finding.problem == "curve" for finding in audit.findings)
    bent = {
        name: {"A": rows["A"], "B": (rows["A"] - rows["A"].mean()) ** 2 + rows["B"]} for name, rows in every.items()
    }
    with pytest.warns(AnypagWarning, match="by a curve"):
        ap.learn(ap.pooled(bent), method="icd")


def test_edges_between_contexts_are_one_line() -> None:
    every = {**sets(60), "cold": system(60, 4), "wet": system(60, 5)}
    text = str(ap.learn(ap.pooled(every), method="icd"))
    assert "drug, heat, cold, wet: joined by design, as they say which data set a row is from." in text
    assert "<-> heat" not in text and "heat <->" not in text
    two = str(ap.learn(ap.pooled(sets(60)), method="icd"))
    assert "drug, heat: joined by design" in two and "<-> heat" not in two


def test_a_context_is_no_collider_where_another_one_was_not_given() -> None:
    """Of a dose that works one way at first and the other way then, the drug as such shows nothing. The dose determines
    the drug, so it is not in their separating set; still nothing acts on it.
    """
    every = {"none": system(400, 1), "low": system(400, 2, C=1.0), "high": system(400, 3, C=-1.0)}
    pool = ap.pooled(every, contexts={"dose": [0, 1, 2], "drug": [0, 1, 1]})
    with pytest.warns(AnypagWarning, match="Contexts determined by others: 'drug'"):
        result = ap.learn(pool, method="icd")
    assert result.pag.edge("drug", "C") is None and "dose" not in result.sepsets["drug", "C"].given
    assert str(result.pag.edge("dose", "C")) == "dose --> C"
    assert not result.contradictions and [one.became for one in result.knowledge] == ["used"]


def test_what_contradicts_a_design_is_told_with_the_contexts_given() -> None:
    rng = np.random.default_rng(21)

    def rows(b: float = 0.0, c: float = 0.0) -> dict[str, Floats]:
        hidden, a = rng.normal(size=(2, 60))
        of_b = 0.5 * a + 0.5 * hidden + rng.normal(size=60) + b
        of_c = 0.4 * of_b + rng.normal(size=60) + c
        return {"A": a, "B": of_b, "C": of_c, "D": 0.4 * of_c + 0.5 * hidden + rng.normal(size=60)}

    pool = ap.pooled({"observed": rows(), "drug": rows(b=1.0), "heat": rows(c=0.8)})
    (outcome,) = ap.learn(pool, method="icd", alpha=0.05).knowledge
    assert outcome.became == "contradicted" and "B and heat are independent given C, drug (p = " in outcome.why


def test_effects_of_all_pairs_take_the_rows_of_the_observed_set_alone(trial: tuple[Pooled, ap.Result]) -> None:
    pool, result = trial
    alone, whole = result.effects(dict(sets()["observed"])), result.effects(pool)
    rows = [dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True)]
    for row, own in zip(rows, zip(alone["cause"], alone["outcome"], alone["estimate"], strict=True), strict=True):
        is_of_sets = bool({row["cause"], row["outcome"]} & {"drug", "heat"})
        assert own == (row["cause"], row["outcome"], None if is_of_sets else row["estimate"])


@pytest.mark.filterwarnings("error")
def test_rows_of_estimates_may_have_a_column_with_one_value() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 40))
    pool = ap.pooled({"observed": {"A": np.ones(40), "B": a}, "drug": {"A": b, "B": a + b}})
    rows = pool.for_estimates(pool.of_set == 0)
    assert np.isfinite(rows.values).all() and np.ptp(rows.values[:, rows.names.index("drug")]) > 0
