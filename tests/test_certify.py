"""The certificate: its truth is the definition's, and it does find errors."""

from __future__ import annotations

import json

import numpy as np
import pytest
from certify.__main__ import main
from certify.algorithms import _tally, classes, has_wrong_claim
from certify.contexts import SETTINGS, certify_contexts, is_design

import naive
from anypag.errors import ParameterError
from anypag.graphs.marks import Mark


@pytest.mark.parametrize(("n", "n_classes", "n_graphs"), [(2, 2, 5), (3, 11, 72), (4, 251, 3045), (5, 24566, 379052)])
def test_there_are_as_many_classes_and_graphs_as_there_should_be(n: int, n_classes: int, n_graphs: int) -> None:
    found = classes(n)
    assert len(found.truth) == n_classes
    assert found.n_members.sum() == n_graphs


@pytest.mark.parametrize("n", [3, 4])
def test_the_truth_is_what_all_members_of_a_class_share(n: int) -> None:
    expected = {naive.common_marks(members) for members in naive.all_classes(n).values()}
    assert {tuple(map(tuple, truth.tolist())) for truth in classes(n).truth} == expected


def test_sizes_that_cannot_be_enumerated_are_refused() -> None:
    with pytest.raises(ParameterError, match="2 to 5 nodes; got 6"):
        classes(6)


def test_a_right_method_has_no_error_and_a_wrong_truth_is_noticed() -> None:
    found = classes(3)
    assert _tally("icd", found).is_right
    swapped = found._replace(truth=np.roll(found.truth, 1, axis=0))
    tally = _tally("icd", swapped)
    assert tally.wrong_skeletons
    assert not tally.is_right


def test_a_claim_on_an_edge_that_is_yet_to_fall_is_judged_by_ancestry() -> None:
    truth = np.zeros((2, 2), np.uint8)
    arrow_at_1 = np.array([[0, Mark.ARROW], [Mark.CIRCLE, 0]], np.uint8)
    nowhere, at_1 = np.zeros((2, 2), bool), np.array([[False, True], [False, False]])
    assert has_wrong_claim(arrow_at_1, truth, at_1, nowhere)
    assert not has_wrong_claim(arrow_at_1, truth, nowhere, at_1)


def test_the_command_tells_what_it_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--nodes", "3", "--method", "icd", "rfci", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["methods"]
    assert [row["method"] for row in found] == ["icd", "rfci"]
    assert all(row["graphs"] == 11 and row["right"] for row in found)


def test_the_command_tells_what_follows_from_knowledge(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--nodes", "2", "--knowledge", "--json"]) == 0
    kinds = json.loads(capsys.readouterr().out)["kinds"]
    assert all(kind["right"] for kind in kinds)
    assert all(kind["missed_by_rules"] == 0 for kind in kinds if "tiers" in kind["kind"])
    assert main(["--nodes", "2", "--knowledge"]) == 0
    assert "tiers, no selection" in capsys.readouterr().out


def test_the_command_tells_what_follows_from_contexts(capsys: pytest.CaptureFixture[str]) -> None:
    assert [tally.is_right for tally in certify_contexts(3)] == [True] * 6
    assert main(["--nodes", "2", "--contexts", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["kinds"]
    assert [(row["contexts"], row["assumptions"]) for row in found] == list(SETTINGS)


def test_a_design_is_what_the_assumptions_say() -> None:
    both, forth = np.array([[0, 2], [2, 0]], np.uint8), np.array([[0, 2], [3, 0]], np.uint8)
    nowhere, first_leads = np.zeros((2, 2), bool), np.array([[False, True], [False, False]])
    assert [is_design(both, nowhere, 1, assumptions) for assumptions in ("1", "12", "123")] == [True, False, False]
    assert [is_design(forth, first_leads, 1, assumptions) for assumptions in ("1", "12", "123")] == [True] * 3
    assert [is_design(forth, first_leads, 2, assumptions) for assumptions in ("1", "12", "123")] == [True, True, False]
