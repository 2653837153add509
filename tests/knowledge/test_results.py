"""What became of each statement, wherever a result is told, kept, read or resumed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import anypag as ap
from anypag import DAG, Knowledge, Oracle, learn
from anypag.catalogue import TEST_METHODS
from anypag.errors import CheckpointError, FormatError
from anypag.results.files import load_result, save_result
from anypag.results.result import Result
from result_examples import resting_on
from search_examples import random_system

FIRE = DAG.from_string("storm --> fire; arson --> fire; fire --> smoke")


def told(text: str, *, selection: bool = False, dag: DAG = FIRE) -> list[str]:
    return [
        str(one) for one in learn(Oracle(dag), knowledge=Knowledge.from_text(text), selection_bias=selection).knowledge
    ]


def test_used() -> None:
    assert told("storm ~> smoke") == ["storm ~> smoke (line 1): used: a tail at storm towards fire"]
    assert told("storm !<-> fire") == ["storm !<-> fire (line 1): used: a tail at storm towards fire"]
    assert told("arson !~> fire") == ["arson !~> fire (line 1): used: an arrowhead at arson towards fire"]
    assert told("storm *-* fire") == ["storm *-* fire (line 1): used: not tested"]


def test_statements_that_are_used_together() -> None:
    """With selection "no cause" says nothing of a mark until it is known that the node does not select either."""
    assert [line.split(": ")[1] for line in told("arson !~> fire\narson !~> selection", selection=True)] == [
        "used",
        "used",
    ]


def test_implied_by_the_data() -> None:
    for statement in (
        "smoke !~> storm",
        "fire ~> smoke",
        "storm !~> arson",
        "storm !*-* smoke",
        "tiers: storm | smoke",
    ):
        assert "implied by the data anyway" in told(statement)[0]
    assert "implied" in told("smoke !~> selection", selection=True)[0]


def test_contradicted_with_the_test() -> None:
    (line,) = told("fire ~> storm")
    assert line == (
        "fire ~> storm (line 1): contradicted: R0 wants an arrowhead at fire towards storm, because storm and arson "
        "are independent (p = 1)"
    )
    result = learn(Oracle(FIRE), knowledge=Knowledge.from_text("fire ~> storm"), selection_bias=False)
    assert str(result.pag.edge("fire", "storm")) == "fire --> storm"
    assert {(c.at, c.other, c.rule) for c in result.conflicts} == {("fire", "storm", 0)}
    assert "In conflict: an arrowhead was wanted here by R0" in str(result.explain("fire", "storm"))


def test_contradicted_by_all_graphs_that_fit() -> None:
    (line,) = told("storm ~> arson")
    assert line == (
        "storm ~> arson (line 1): contradicted: the graph that the data give has no path left by which storm could "
        "cause arson"
    )


def can_cause(pag: ap.PAG, a: str, b: str) -> bool:
    """Is there a path from a to b without an arrowhead at the start of any edge? By walking it."""
    met, waiting = {a}, [a]
    while waiting:
        node = waiting.pop()
        for edge in pag.edges():
            for start, end, mark in ((edge.a, edge.b, edge.mark_a), (edge.b, edge.a, edge.mark_b)):
                if start == node and mark != ap.Mark.ARROW and end not in met:
                    met.add(end)
                    waiting.append(end)
    return b in met


@pytest.mark.parametrize("method", TEST_METHODS)
def test_a_cause_without_a_path_is_contradicted_whatever_the_method(method: str) -> None:
    n_contradicted = 0
    for seed in range(12):
        data = random_system(np.random.default_rng(seed), 6).linear_gaussian(300, seed=seed)
        names = sorted(data.names)
        a, b = names[seed % 6], names[(seed // 2 + 1 + seed) % 6]
        if a == b:
            continue
        known = Knowledge.from_text(f"{a} ~> {b}")
        result = learn(data, method=method, knowledge=known, selection_bias=False)
        if not can_cause(result.pag, a, b):
            assert result.knowledge[0].became == "contradicted", (method, seed)
            n_contradicted += 1
    assert n_contradicted >= 3


@pytest.mark.parametrize("method", TEST_METHODS)
def test_a_tier_that_the_result_breaks_is_located(method: str) -> None:
    """The pair, the mark and the test, also where the sample may be selected; and the pair's explanation says so."""
    data = ap.simulate.System(FIRE).linear_gaussian(2000, seed=1)
    result = learn(data, method=method, knowledge=Knowledge.from_text("tiers: storm arson smoke | fire"))
    (outcome,) = result.knowledge
    assert outcome.became == "contradicted"
    assert outcome.why.startswith("the data say fire --> smoke: R1 wants a tail at fire towards smoke, because ")
    assert "and smoke are independent given fire (p = 0." in outcome.why and "n = 2000" in outcome.why
    assert outcome.why in str(result.explain("fire", "smoke"))
    assert "beforehand" not in str(learn(data, method=method).explain("fire", "smoke"))


def test_a_longer_way_to_what_is_no_effect_is_spelled_out() -> None:
    dag = DAG.from_string("storm --> fire; arson --> fire; fire --> smoke; smoke --> cough")
    (line,) = told("fire !~> cough", selection=True, dag=dag)
    assert "contradicted: the data say fire --> smoke --> cough: R1 wants a tail at fire towards smoke" in line


@pytest.mark.parametrize("method", ["icd", "fci", "rfci", "fci+"])
def test_statements_that_only_together_contradict_the_data(method: str) -> None:
    """Of a chain any one node may come first: each of the first two can be, but then the other cannot."""
    chain = DAG.from_string("wind --> cold; cold --> ice; ice --> fall; salt --> thaw")
    known = Knowledge.from_text("fall ~> cold\nfall !~> wind\nsalt ~> thaw")
    result = learn(Oracle(chain), method=method, knowledge=known, selection_bias=False)
    assert [one.became for one in result.knowledge] == ["contradicted", "contradicted", "used"]
    assert result.knowledge[0].why == "no graph that fits the data agrees with it and fall !~> wind at once"
    for text in ("fall ~> cold", "fall !~> wind"):
        alone = learn(Oracle(chain), method=method, knowledge=Knowledge.from_text(text), selection_bias=False)
        assert alone.knowledge[0].became != "contradicted"


def test_not_usable() -> None:
    assert "say `a !~> selection`" in told("arson !~> fire", selection=True)[0]
    assert "say selection_bias=False" in told("storm !<-> fire", selection=True)[0]
    assert "not usable" in told("smoke !<-> storm")[0]


def test_with_data_the_rows_are_told() -> None:
    table = _table()
    result = learn(
        table, method="icd", knowledge=Knowledge.from_text("fire ~> storm\nfire !*-* smoke"), selection_bias=False
    )
    first, second = result.knowledge
    assert first.became == second.became == "contradicted"
    assert "n = 2000" in first.why
    assert "p = " in first.why
    assert "every test kept their edge" in second.why
    assert result.pag.edge("fire", "smoke") is None


def _table() -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    rng = np.random.default_rng(0)
    storm, arson = rng.normal(size=(2, 2000))
    fire = storm + arson + rng.normal(size=2000)
    return {"storm": storm, "arson": arson, "fire": fire, "smoke": fire + rng.normal(size=2000)}


def test_marks_that_were_said_are_explained_as_such() -> None:
    result = learn(Oracle(FIRE), knowledge=Knowledge.from_text("storm ~> fire"), selection_bias=False)
    text = str(result.explain("storm", "fire"))
    assert "K0: the given knowledge says or implies that storm is a cause of fire." in text
    table = result.edge_table()
    row = [table["from"], table["to"]] if "from" in table else None
    assert "K0" in {*table["rule_from"], *table["rule_to"]}, row
    closed = learn(Oracle(FIRE), knowledge=Knowledge.from_text("storm ~> smoke"), selection_bias=False)
    assert "K6: every graph that fits" in str(closed.explain("storm", "fire"))


def test_a_saved_result_tells_the_same(tmp_path: Path) -> None:
    result = learn(Oracle(FIRE), knowledge=Knowledge.from_text("storm ~> smoke\nsmoke !~> storm"), selection_bias=False)
    result.save(tmp_path / "r.json")
    back = ap.read_result(tmp_path / "r.json")
    assert isinstance(back, Result)
    assert back.knowledge == result.knowledge
    assert back.choices.knowledge == result.choices.knowledge
    assert str(back.explain("storm", "fire")) == str(result.explain("storm", "fire"))
    result.save(tmp_path / "r.html")
    assert "What was known beforehand" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("knowledge", [3]),
        ("knowledge", [{"statement": "a", "place": "", "became": "liked", "marks": [], "why": ""}]),
        ("knowledge", [{"statement": "a", "place": "", "became": "used", "marks": [["a", "b", "o"]], "why": ""}]),
        ("knowledge", [{"statement": "a", "place": "", "became": "used", "marks": [3], "why": ""}]),
    ],
)
def test_a_broken_saved_result_is_refused(place: str, value: object) -> None:
    document = save_result(learn(Oracle(FIRE), knowledge=Knowledge.from_text("storm ~> smoke")))
    document["meta"]["anypag"][place] = value
    with pytest.raises(FormatError, match="knowledge"):
        load_result(document)
    document = save_result(learn(Oracle(FIRE)))
    document["meta"]["anypag"]["choices"]["knowledge"] = {"statements": 3}
    with pytest.raises(FormatError, match="Knowledge as JSON"):
        load_result(json.loads(json.dumps(document)))


def test_checkpoints(tmp_path: Path) -> None:
    known = Knowledge.from_text("tiers: storm arson | fire smoke\nstorm ~> smoke")
    path = tmp_path / "run.ckpt"
    whole = learn(_table(), method="icd", knowledge=known, selection_bias=False)
    learn(
        _table(),
        method="icd",
        knowledge=known,
        selection_bias=False,
        checkpoint=path,
        stop=lambda state, info: info.r == 0,
    )
    with pytest.raises(CheckpointError, match="what is known beforehand"):
        learn(_table(), method="icd", selection_bias=False, checkpoint=path, resume=True)
    resumed = learn(_table(), method="icd", knowledge=known, selection_bias=False, checkpoint=path, resume=True)
    assert resumed.pag == whole.pag
    assert resumed.knowledge == whole.knowledge
    again = learn(_table(), method="icd", knowledge=known, selection_bias=False, checkpoint=path, resume=True)
    assert again.pag == whole.pag
    assert again.marks == whole.marks


def test_estimators_and_threads() -> None:
    known = Knowledge(tiers=[["storm", "arson"], ["fire", "smoke"]])
    plain = learn(_table(), method="icd", knowledge=known, selection_bias=False)
    assert ap.ICD(knowledge=known, selection_bias=False).fit(_table()).pag_ == plain.pag
    assert learn(_table(), method="icd", knowledge=known, selection_bias=False, threads=2).pag == plain.pag


def test_a_stopped_run_tells_what_became_of_statements_so_far() -> None:
    known = Knowledge.from_text("tiers: storm arson | fire smoke\nstorm ~> smoke")
    result = learn(Oracle(FIRE), knowledge=known, selection_bias=False, max_r=0)
    assert not result.complete
    assert len(result.knowledge) == 2
    assert all(outcome.became != "contradicted" for outcome in result.knowledge)


def test_columns_in_another_order_change_nothing() -> None:
    known = Knowledge.from_text("storm ~> smoke\narson !~> fire")
    table = _table()
    shuffled = {name: table[name] for name in ("smoke", "arson", "storm", "fire")}
    one, two = (learn(data, method="icd", knowledge=known, selection_bias=False) for data in (table, shuffled))
    assert one.pag == two.pag
    assert one.knowledge == two.knowledge


def test_something_else_is_refused() -> None:
    with pytest.raises(ap.AnypagError, match="None or a Knowledge"):
        learn(Oracle(FIRE), knowledge="storm ~> fire")  # type: ignore[arg-type]


def test_effects_are_read_from_what_the_data_say_alone() -> None:
    table = _table()
    implied = learn(table, method="icd", knowledge=Knowledge.from_text("smoke !~> storm"), selection_bias=False)
    assert (
        ap.effect(implied, "fire", "smoke").status
        == ap.effect(learn(table, method="icd", selection_bias=False), "fire", "smoke").status
    )
    used = learn(table, method="icd", knowledge=Knowledge.from_text("storm ~> smoke"), selection_bias=False)
    assert ap.effect(used, "fire", "smoke").status == ap.effect(implied, "fire", "smoke").status
    out = learn(table, method="icd", knowledge=Knowledge.from_text("fire !*-* smoke"), selection_bias=False)
    with pytest.raises(ap.AnypagError, match="The data contradict what was known beforehand") as refused:
        ap.effect(out, "storm", "fire")
    for step in ("take it back or say less", "try another alpha", "leave out columns", "search without the statement"):
        assert step in str(refused.value)


def test_an_effect_says_which_edges_read_otherwise_than_in_the_graph_shown() -> None:
    random = np.random.default_rng(0)
    age = random.normal(size=1000)
    married = age + random.normal(size=1000)
    table = {"age": age, "married": married, "children": married + random.normal(size=1000)}
    known = Knowledge(tiers=[["age"], ["married"], ["children"]])
    result = learn(table, method="icd", knowledge=known, selection_bias=False)
    assert str(result.pag.edge("age", "married")) == "age o-> married"
    (note,) = ap.effect(result, "age", "children").notes
    assert "age o-o married here is age o-> married in the graph shown" in note
    assert "so knowledge cannot settle this question" in note


def test_what_helps_is_not_what_was_done() -> None:
    square = ap.PAG.from_string("storm o-o fire; fire o-o smoke; smoke o-o arson; arson o-o storm")
    for known, advice in ((None, "say what you know"), (Knowledge(tiers=[["storm"], ["fire"]]), "does not help here")):
        saved = load_result(save_result(learn(_table(), method="icd", knowledge=known, selection_bias=False)))
        broken = resting_on(saved, pag=square.subgraph(saved.pag.names), conflicts=())
        with pytest.raises(ap.AnypagError, match="contradicts itself") as refused:
            ap.effect(broken, "storm", "smoke")
        assert advice in str(refused.value)
        assert known is None or "say what you know" not in str(refused.value)


def test_explanations_name_what_was_said_of_an_edge() -> None:
    dag = DAG.from_string("A --> C; B --> C; C --> D")
    result = learn(Oracle(dag), knowledge=Knowledge(joined=[("A", "C")], not_joined=[("C", "D"), ("A", "B")]))
    assert "It was said beforehand that they are joined, so they were not tested." in str(result.explain("A", "C"))
    for pair in (("C", "D"), ("A", "B")):
        assert "It was said beforehand that they are not joined." in str(result.explain(*pair))
    assert "said beforehand" not in str(result.explain("B", "C"))
    assert "said beforehand" not in str(learn(Oracle(dag)).explain("A", "C"))
