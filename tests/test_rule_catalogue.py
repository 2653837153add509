"""A rule added to the catalogue, and nowhere else, is followed, explained, saved and kept in checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anypag as ap
from anypag.graphs.marks import Mark, MarkReason, SeparationsByPair
from anypag.graphs.orientation import Colliders, Pass
from anypag.graphs.rules import CLOSURE, KNOWN, RULES, Rule, rules_after_0
from test_imports import HEAVY, loaded_after

TEST = ap.Oracle(ap.DAG.from_string("A --> C; B --> C; C --> D; D --> E; E --> F; C --> F"))
NUMBER = 17  # far from the others: numbers need not be without gaps


def nothing_is_latent(graph: Pass, colliders: Colliders) -> int:
    """A o-> B: A --> B."""
    count = 0
    for i, j in zip(*(end.tolist() for end in (graph.marks == Mark.ARROW).nonzero()), strict=True):
        if graph.marks[j, i] == Mark.CIRCLE:
            graph.wanted[j, i] |= 1 << Mark.TAIL
            graph.rows[count] = (j, i, Mark.TAIL, -1, -1)
            count += 1
    return count


def words(reason: MarkReason, sepsets: SeparationsByPair) -> str:
    return f"nothing is latent, so {reason.at} is a cause of {reason.other}."


def add(monkeypatch: pytest.MonkeyPatch, *, needs_selection: bool = False) -> None:
    monkeypatch.setitem(RULES, NUMBER, Rule(NUMBER, nothing_is_latent, needs_selection, words))


@pytest.fixture(autouse=True)
def only_rules_that_hold_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule of somebody's own, added to the package, may set the mark first that the rule above sets."""
    for number in {*RULES} - {*range(13), *range(KNOWN, KNOWN + 10)}:
        monkeypatch.delitem(RULES, number)


def test_a_search_follows_and_explains_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(ap.learn(TEST, method="icd").pag.edge("A", "C")) == "A o-> C"
    add(monkeypatch)
    result = ap.learn(TEST, method="icd")
    assert str(result.pag.edge("A", "C")) == "A --> C"
    assert MarkReason("A", "C", Mark.TAIL, NUMBER, ()) in result.marks
    assert "R17: nothing is latent, so A is a cause of C." in str(result.explain("A", "C"))


def test_one_that_needs_selection_rests_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, needs_selection=True)
    assert str(ap.learn(TEST, method="icd", selection_bias=True).pag.edge("A", "C")) == "A --> C"
    assert str(ap.learn(TEST, method="icd", selection_bias=False).pag.edge("A", "C")) == "A o-> C"


def test_a_saved_result_comes_back_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    add(monkeypatch)
    result = ap.learn(TEST, method="icd")
    result.save(tmp_path / "pag.json")
    saved: Any = ap.read_result(tmp_path / "pag.json")
    assert saved.marks == result.marks and str(saved.explain("A", "C")) == str(result.explain("A", "C"))
    monkeypatch.delitem(RULES, NUMBER)
    with pytest.raises(ap.AnypagError, match=r"a rule, one of 0, 1, .*, was wanted; got 17"):
        ap.read_result(tmp_path / "pag.json")


def test_a_checkpoint_holds_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    add(monkeypatch)
    file = tmp_path / "run.checkpoint"
    part = ap.learn(TEST, method="icd", checkpoint=file, stop=lambda state, info: info.r == 1)
    assert NUMBER in {reason.rule for reason in part.marks} and not part.complete
    whole = ap.learn(TEST, method="icd", checkpoint=file, resume=True)
    assert (
        whole.complete
        and whole.pag == ap.learn(TEST, method="icd").pag
        and whole.marks == ap.learn(TEST, method="icd").marks
    )


def test_every_rule_stands_under_its_number_and_the_first_is_not_repeated() -> None:
    assert list(RULES) == [rule.number for rule in RULES.values()]
    every = rules_after_0(selection=True, knowledge=True, final=True)
    assert [rule.number for rule in every] == [number for number in RULES if number not in {0, KNOWN, CLOSURE}]
    assert [rule.number for rule in rules_after_0(selection=True)] == list(range(1, 11))
    left_out = {*rules_after_0(selection=True)} - {*rules_after_0(selection=False)}
    assert {rule.number for rule in left_out} == {5, 6, 7}


def test_what_the_rules_say_needs_no_compiler() -> None:
    assert loaded_after("import anypag.graphs.rules", *HEAVY) == set()
