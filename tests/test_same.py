"""`benchmarks/same.py` sees what changes, and where; its cases cover every two settings that go together."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path
from typing import Any

import pytest

import anypag as ap
from anypag.catalogue import METHODS, TESTS
from anypag.results import schema
from anypag.stored import As, Number


def _loaded() -> Any:
    path = Path(__file__).parents[1] / "benchmarks" / "same.py"
    spec = importlib.util.spec_from_file_location("benchmarks_same", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


same = _loaded()
CASE = same.Case("icd", "fisherz", "memory", "whole", "none", "nothing", "in order", "once", seed=7)


def changed(before: str, after: str) -> set[str]:
    """The parts whose digests differ."""
    (found,) = same.differing([before], [after])
    return set(found.split(": ")[1].split(" (")[0].split(", "))


def test_the_same_code_gives_the_same_line() -> None:
    assert not list(same.differing([same.line_of(CASE)], [same.line_of(CASE)]))


def test_p_values_that_differ_in_the_last_bits_are_seen_in_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    before, as_it_is = same.line_of(CASE), ap.Result.kept_p
    monkeypatch.setattr(ap.Result, "kept_p", lambda self, a, b: as_it_is(self, a, b) * (1 + 1e-15))
    assert "numbers" in changed(before, same.line_of(CASE))
    assert "graph" not in changed(before, same.line_of(CASE))


def test_another_alpha_is_seen_in_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    before, options = same.line_of(CASE), same.options_of(CASE)
    monkeypatch.setattr(same, "options_of", lambda case: {**options, "alpha": 1e-9})
    assert {"graph", "numbers", "json"} <= changed(before, same.line_of(CASE))


def test_another_sentence_is_seen_in_the_texts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = same.line_of(CASE)
    monkeypatch.setattr(ap.Result, "summary", lambda self: "Something else.")
    assert changed(before, same.line_of(CASE)) == {"texts"}


def test_cases_cover_all_that_goes_together() -> None:
    possible: set[Any] = set()
    for case in itertools.product(*same.SETTINGS.values()):
        made = same.Case(*case, seed=0)
        if made.is_possible:
            possible.update(made.pairs)
    covered = {pair for case in same.cases(same.SEARCHES) for pair in case.pairs}
    assert possible <= covered


def test_a_case_that_is_gone_is_told() -> None:
    assert list(same.differing(["a | 1 edges | graph=0", "b | 1 edges | graph=0"], ["a | 1 edges | graph=0"])) == [
        "b: only old"
    ]


def test_a_field_of_the_file_is_seen_in_the_json_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = same.line_of(CASE)
    monkeypatch.setitem(schema.CHOICES, "alpha", As(Number(), lambda alpha, _: 0.5))
    assert changed(before, same.line_of(CASE)) == {"json"}


def test_every_method_and_every_test_of_data_is_among_the_cases() -> None:
    assert set(same.SETTINGS["method"]) == {*METHODS}
    assert set(same.SETTINGS["test"]) == {"auto", *TESTS, *same.WITHOUT_DATA}
    assert set(same.SETTINGS["source"]) == {*same.SOURCES}


def test_data_sets_and_weights_reach_the_search(tmp_path: Path) -> None:
    of_sets, of_weights = (same.found_by(CASE._replace(source=name), tmp_path) for name in ("contexts", "weighted"))
    assert of_sets.sets is not None and {"set 1"} <= {*of_sets.pag.names}
    assert "weights" in {finding.problem for finding in of_weights.audit.findings}
