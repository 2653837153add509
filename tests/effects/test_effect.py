"""`ap.effect` as users call it: answers, words, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import anypag as ap
from anypag.cli.main import main
from anypag.report.effects import effects_shown

PAG = ap.PAG.from_string("age o-> smoking; stress o-> smoking; smoking --> tar; tar --> cancer; age --> cancer")


def ask(*question: object, **options: object) -> ap.Effect:
    return ap.effect(PAG, *question, selection_bias=False, **options)  # type: ignore[arg-type]


def test_the_example_is_a_pag() -> None:
    assert PAG.validate()


def test_zero() -> None:
    found = ask("cancer", "smoking")
    assert (found.status, found.is_identified, found.adjustment_set) == ("zero", True, None)
    assert found.formula == "P(smoking | do(cancer)) = P(smoking)"
    assert found.reason.startswith("cancer is not a cause of smoking")


def test_adjustment() -> None:
    found = ask("smoking", "cancer")
    assert (found.status, found.adjustment_set) == ("adjustment", ("age", "stress"))
    assert list(found.minimal_sets()) == [("age",)]
    assert found.smallest_set() == ("age",)
    assert found.latex is not None
    assert r"\operatorname{do}(\text{smoking})" in found.latex


def test_nothing_to_adjust_for() -> None:
    found = ask("smoking", "tar")
    assert list(found.minimal_sets()) == [()]
    assert ap.is_adjustment_set(PAG, "smoking", "tar", [])


def test_within() -> None:
    assert ask("smoking", "cancer", within=["age"]).adjustment_set == ("age",)
    assert ask("smoking", "cancer", within=["age", "tar"]).adjustment_set == ("age",)
    without = ask("smoking", "cancer", within=["stress"])
    assert (without.status, without.adjustment_set, without.smallest_set()) == ("formula", None, None)
    assert "among the allowed columns" in without.reason
    assert list(without.minimal_sets()) == []


def test_given() -> None:
    found = ask("smoking", "cancer", "age")
    assert found.status == "adjustment"
    assert found.formula is not None
    assert found.formula.startswith("P(cancer | do(smoking), age) = ")
    assert list(found.minimal_sets()) == [()]


def test_sets_of_causes_and_outcomes() -> None:
    found = ask(["smoking", "tar"], ["cancer"])
    assert found.cause == ("smoking", "tar")
    assert found.status == "adjustment"
    assert ap.effect(PAG, [1, 3], 4, selection_bias=False).cause == found.cause


def test_not_identified_names_the_edge_and_the_remedy() -> None:
    found = ask("stress", "cancer")
    assert found.status == "unidentified"
    assert found.formula is None
    assert found.reason == (
        "stress o-> smoking: this edge may hide a common cause of both, and may be due to that alone; to settle this, "
        "measure a further cause of stress that is related to smoking only through stress, if at all."
    )


def test_the_remedy_settles_it() -> None:
    wider = ap.PAG.from_string(
        "age o-> smoking; stress --> smoking; smoking --> tar; tar --> cancer; age --> cancer; "
        "war o-> stress; job o-> stress"
    )
    assert wider.validate()
    assert ap.effect(wider, "stress", "cancer", selection_bias=False).status == "adjustment"


def test_a_direction_that_is_not_known() -> None:
    pag = ap.PAG.from_string("A o-o B; B o-o C")
    assert "does not say which of the two causes the other" in ap.effect(pag, "A", "C", selection_bias=False).reason


def test_a_formula_without_an_adjustment_set() -> None:
    pag = ap.PAG.from_string("C o-> A; A --> M; A <-> B; M <-> B; M --> Y; B --> Y")
    found = ap.effect(pag, ["A", "B"], "Y", selection_bias=False)
    assert found.status == "formula"
    assert found.formula == "P(Y | do(A, B)) = Σ_{M} P(Y | M, B) P(M | A)"
    assert found.latex is not None
    assert found.latex.endswith(r"\sum_{\text{M}} P(\text{Y} \mid \text{M}, \text{B}) P(\text{M} \mid \text{A})")
    assert list(found.minimal_sets()) == []


def test_every_answer_can_be_said_and_saved() -> None:
    rng = np.random.default_rng(0)
    data = {name: rng.normal(size=200) for name in PAG.names}
    for cause in PAG.names:
        for outcome in PAG.names:
            if cause != outcome:
                found = ask(cause, outcome, data=data)
                assert found.reason in str(found)
                assert found.reason in found._repr_markdown_()
                assert json.loads(json.dumps(found.to_dict()))["status"] == found.status


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (("smokin", "cancer"), "did you mean 'smoking'"),
        (("smoking", "smoking"), "'smoking' is in two of them"),
        (("smoking", "cancer", ["cancer"]), "'cancer' is in two of them"),
        (([], "cancer"), "at least one cause"),
        (("smoking", ()), "at least one outcome"),
        ((3.5, "cancer"), "by its name or its index"),
        ((99, "cancer"), "Indices go from 0 to 4"),
    ],
)
def test_what_is_no_question_is_refused(question: tuple[object, ...], message: str) -> None:
    with pytest.raises(ap.AnypagError, match=message):
        ask(*question)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("A --> B; B o-o C", "contradicts itself.*must be a circle"),
        ("A o-o B; B o-o C; C o-o D; A o-o D", "contradicts itself.*chord"),
        ("A --- B", "the edge A --- B says that being in the sample depends on A or B"),
        ("A o-- B", "A o-- B says"),
    ],
)
def test_a_graph_that_cannot_be_relied_on_is_refused(graph: str, message: str) -> None:
    with pytest.raises(ap.AnypagError, match=message):
        ap.effect(ap.PAG.from_string(graph), "A", "B", selection_bias=False)


def test_selection_is_refused_with_the_edges_that_matter() -> None:
    with pytest.raises(ap.AnypagError, match=r"age o-> smoking; age --> cancer.*selection_bias=False"):
        ap.effect(PAG, "age", "cancer")
    with pytest.raises(ap.AnypagError, match="selection_bias=False"):
        ap.effect(PAG, "stress", "cancer", selection_bias=True)
    with pytest.raises(ap.AnypagError, match="the edge A --- B says"):
        ap.effect(ap.PAG.from_string("A --- B; C --- D; A --- C; B --- D"), "A", "B")


def test_adjustment_and_no_effect_hold_among_those_in_the_sample() -> None:
    for told in (None, True):
        found = ap.effect(PAG, "smoking", "cancer", selection_bias=told)
        assert found.status == "adjustment" and "among those in the sample" in str(found)
        assert ap.effect(PAG, "cancer", "smoking", selection_bias=told).status == "zero"
    assert "in the sample" not in str(ap.effect(PAG, "smoking", "cancer", selection_bias=False))


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(ap.AnypagError, match="from a graph or the result of a search; got int"):
        ap.effect(3, "A", "B")  # type: ignore[arg-type]


DAG = ap.DAG.from_string("age --> smoking; age --> cancer; stress --> smoking; smoking --> tar; tar --> cancer")


def test_results_know_whether_selection_was_possible() -> None:
    with pytest.raises(ap.AnypagError, match="selection_bias=False"):
        ap.effect(ap.learn(ap.Oracle(DAG)), "age", "cancer")
    assert "among those in the sample" in str(ap.effect(ap.learn(ap.Oracle(DAG)), "smoking", "cancer"))
    result = ap.learn(ap.Oracle(DAG), selection_bias=False)
    assert ap.effect(result, "smoking", "cancer").status == "adjustment"
    assert ap.effect(ap.learn(ap.Oracle(DAG)), "smoking", "cancer", selection_bias=False).status == "adjustment"


def test_an_unfinished_search_is_refused() -> None:
    result = ap.learn(ap.Oracle(DAG), selection_bias=False, max_r=0)
    with pytest.raises(ap.AnypagError, match=r"stopped early \(max_r\)"):
        ap.effect(result, "smoking", "cancer")


def test_marks_that_rest_on_knowledge_are_left_out() -> None:
    """stress is said to be a cause of smoking; whether something hidden acts on both is open all the same."""
    known = ap.Knowledge(causes=[("stress", "smoking")])
    result = ap.learn(ap.Oracle(DAG), selection_bias=False, knowledge=known)
    edge = result.pag.edge("stress", "smoking")
    assert edge is not None
    assert edge.symbol == "-->"
    found = result.effect("smoking", "cancer")
    assert found.status == "adjustment"
    assert "what the data alone say" in str(found)
    assert result.effect("stress", "cancer").status == "unidentified"
    plain = ap.learn(ap.Oracle(DAG), selection_bias=False)
    for cause in DAG.names:
        for outcome in DAG.names:
            if cause != outcome:
                assert result.effect(cause, outcome).formula == plain.effect(cause, outcome).formula


def test_knowledge_can_rule_selection_out() -> None:
    some = ap.learn(ap.Oracle(DAG), knowledge=ap.Knowledge(not_selecting=["age"]))
    with pytest.raises(ap.AnypagError, match="selection_bias=False"):
        some.effect("smoking", "cancer")
    every = ap.learn(ap.Oracle(DAG), knowledge=ap.Knowledge(not_selecting=DAG.names))
    assert every.effect("smoking", "cancer").status == "adjustment"


def test_a_method_that_leaves_edges_is_refused() -> None:
    result = ap.learn(ap.Oracle(DAG), selection_bias=False, method="rfci")
    with pytest.raises(ap.AnypagError, match="With rfci every claim is right; some edges may stay that FCI removes"):
        ap.effect(result, "smoking", "cancer")
    assert ap.effect(result.pag, "smoking", "cancer", selection_bias=False).status == "adjustment"


def test_a_contradicted_result_is_refused() -> None:
    outer, inner = "AXDY", {"A": "B", "X": "B", "D": "C", "Y": "C"}  # A, X → B and D, Y → C: is it B → C or C → B?

    def p(x: str, y: str, z: tuple[str, ...]) -> float:
        if x in outer and y in outer:
            return float(not z)
        end, middle = (x, y) if x in outer else (y, x)
        return float(end in outer and middle != inner[end] and z == (inner[end],))

    result = ap.learn(ap.from_callable(p, list("AXBCDY"), called_with="names"), selection_bias=False)
    with pytest.raises(ap.AnypagError, match="contradict themselves where the effect is read: rule R1 wanted a"):
        ap.effect(result, "B", "C")


def test_the_same_graph_with_its_nodes_in_another_order_is_not_mistaken_for_it() -> None:
    for order in (["X", "A", "Y", "B"], ["Y", "B", "X", "A"]):
        pag = ap.PAG.from_string("A o-> X; B o-> X; X --> Y; A --> Y", order)
        assert ap.effect(pag, "X", "Y", selection_bias=False).status == "adjustment"


def test_dowhy_takes_the_adjustment_set() -> None:
    dowhy, pandas = pytest.importorskip("dowhy"), pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    age, stress = rng.normal(size=(2, 500))
    smoking = age + stress + rng.normal(size=500)
    rows = {"age": age, "stress": stress, "smoking": smoking, "cancer": smoking + age + rng.normal(size=500)}
    pag = ap.PAG.from_string("age o-> smoking; stress o-> smoking; smoking --> cancer; age --> cancer")
    ours = ap.effect(pag, "smoking", "cancer", selection_bias=False, data=rows)
    causes = list(ours.adjustment_set or ())
    model = dowhy.CausalModel(
        pandas.DataFrame(rows), treatment=list(ours.cause), outcome=list(ours.outcome), common_causes=causes
    )
    estimand = model.identify_effect(proceed_when_unidentifiable=True)
    assert sorted(estimand.get_backdoor_variables()) == sorted(causes)
    theirs = model.estimate_effect(estimand, method_name="backdoor.linear_regression").value
    assert theirs == pytest.approx(ours.estimate, abs=1e-9)


def test_a_path_that_the_columns_given_leave_open_is_named() -> None:
    dag = ap.DAG.from_string("sex --> treat; age --> treat; treat --> y; sex --> y; age --> y; treat --> m; y --> m")
    assert ap.effect(dag, "treat", "y", within=["sex", "age"]).status == "adjustment"
    found = ap.effect(dag, "treat", "y", within=["sex", "m"])
    assert found.status == "formula" and "treat <-- age --> y stays open" in found.reason
    assert found.reason.endswith("A formula does, which also uses age.")


def test_a_path_along_which_hidden_causes_may_join_a_cause_to_what_follows_is_named() -> None:
    mag = ap.MAG.from_string("V <-> X; X --> M; M --> Y; W --> Y; X <-> W; W <-> M")
    found = ap.effect(mag, "X", "Y", selection_bias=False)
    assert found.status == "unidentified"
    why = "X may be a cause of M, and hidden causes along this path may also join the two."
    assert found.reason == f"X <-> W <-> M: {why}"


def curved() -> dict[str, np.ndarray]:
    """m follows x by a curve, and y follows m; v follows z and w by lines."""
    rng = np.random.default_rng(0)
    x, z, w = rng.normal(size=(3, 800))
    m = x**2 + 0.5 * rng.normal(size=800)
    return {"x": x, "m": m, "y": m + rng.normal(size=800), "z": z, "w": w, "v": z + w + rng.normal(size=800)}


CURVE = "The mean of 'm' seems to follow 'x' by a curve"


@pytest.mark.filterwarnings("ignore::anypag.AnypagWarning")
@pytest.mark.parametrize("method", ["icd", "bayes"])
def test_a_curve_on_the_way_is_said_before_the_numbers(
    method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Straight lines see no edge between x and m; "no effect" hangs on that."""
    table = curved()
    effort = {"effort": 0.1} if method == "bayes" else {}
    result = ap.learn(table, method=method, selection_bias=False, **effort)  # type: ignore[arg-type]
    assert result.pag.edge("x", "m") is None
    for asked in (("x", "m"), ("x", "y"), ("m", "x")):
        found = result.effect(*asked, data=table)
        (told,) = [line for line in found.warnings if line.startswith(CURVE)]
        assert told.endswith('So an effect may be missed here; the test "additive" sees curves.')
        assert str(found).index(told) < str(found).index(found._headline) and told in found._repr_markdown_()
        assert told in found.to_dict()["warnings"]
    assert not any("curve:" in line for line in result.effect("z", "v", data=table).warnings)
    assert not any("curve:" in line for line in result.effect("z", "y", data=table).warnings)
    shown = effects_shown(result, table)
    x, m, z, v = (result.pag.names.index(name) for name in "xmzv")
    by_graph = {(i, j): f"{heading}: {told}" for i, j, heading, told, _ in shown["pairs"]}
    assert by_graph[x, m].startswith(f"no effect: {CURVE}") and "curve" not in by_graph[z, v]
    sampled = {(i, j): " ".join(told) for i, j, _, told, _ in shown["sampled"]}
    assert method == "icd" or (CURVE in sampled[x, m] and "curve" not in sampled[z, v])
    result.save(tmp_path / "x.json")
    main(["effect", str(tmp_path / "x.json"), "x", "m"])
    assert CURVE in capsys.readouterr().out
