"""Budgets of many searches together: what counts, what is shared, and what is said where nothing came of it."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any

import joblib
import numpy as np
import pytest

import anypag as ap
from anypag.arrays import Counts, Floats
from anypag.choices import Choices
from anypag.ci.base import PValues
from anypag.errors import ParameterError
from anypag.results.files import read_result
from anypag.results.result import Result
from anypag.run import clock as clocks
from anypag.run.replicates import Budget, Replicate

sys.path.append(str(Path(__file__).parents[1] / "cli"))
from commands import anypag

DATA = ap.simulate.random_system(6, 2.5, seed=4).linear_gaussian(160, seed=1)
COLUMNS = {name: np.array(DATA[name]) for name in DATA.names}


@pytest.fixture
def compiling(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Who counts the seconds of compiling; they are set by hand."""
    counted = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(clocks, "COMPILING", counted)
    return counted


def test_compiling_is_no_time_spent_of_a_budget(compiling: SimpleNamespace) -> None:
    budget = Budget(Choices(method="icd", time_budget=0.05))
    time.sleep(0.06)
    assert budget.spent == "time"
    compiling.seconds = 0.04
    assert budget.spent is None
    left = budget.left(0).from_now().time_budget
    assert left is not None and 0.001 < left <= 0.03


def test_compiling_is_no_time_spent_on_an_iteration(compiling: SimpleNamespace) -> None:
    def p(x: int, y: int, z: tuple[int, ...]) -> float:
        time.sleep(0.02)
        compiling.seconds += 0.02
        return 0.0

    test = ap.from_callable(p, ["a", "b", "c", "d"])
    ap.learn(test, method="icd")  # what is compiled in truth
    result = ap.learn(test, method="icd")
    assert result.n_tests >= 6 and sum(item.seconds for item in result.history) < 0.02 * result.n_tests / 2


def test_a_replicate_that_had_to_wait_has_less_time() -> None:
    allowed = Budget(Choices(method="icd", time_budget=0.2)).left(0)
    time.sleep(0.1)
    left = allowed.from_now().time_budget
    assert left is not None and 0 < left <= 0.1
    time.sleep(0.12)
    assert allowed.from_now().time_budget == 1e-3
    assert Budget(Choices(method="icd")).left(0).from_now().time_budget is None


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("seed", range(5))
def test_tests_are_never_promised_twice(n_jobs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    budget, working, used, least = Budget(Choices(method="icd", max_tests=10_000), n_jobs), dict[int, int](), 0, 0
    for k in range(200):
        if budget.spent:
            break
        allowed = budget.left(k).choices.max_tests
        assert allowed is not None
        working[k] = allowed
        assert n_jobs > 1 or allowed == 10_000 - budget.n_tests
        least += allowed == 1  # less than one test cannot be allowed
        assert used + sum(working.values()) <= 10_000 + least
        if len(working) > n_jobs or rng.random() < 0.5 or n_jobs == 1:
            done = int(rng.choice(list(working)))
            took = min(working.pop(done), int(rng.integers(400)))
            used += took
            budget.took(Replicate(done, None, "", took))
    assert budget.n_tests == used <= 10_000 + least


class Tallied:
    """Fisher's z, one question at a time, with a count of all questions to it and its resamples."""

    batch, exact, n = 1, False, 160

    def __init__(self, values: Floats, tally: list[int], fails_from: int | None = None) -> None:
        self.names = DATA.names
        self._values, self._tally, self._fails_from, self._lock = values, tally, fails_from, Lock()
        self._test, self._asked = ap.FisherZ(values, self.names), 0

    def pvalues(self, queries: ap.Queries) -> PValues:
        with self._lock:
            self._asked += len(queries)
            self._tally.append(len(queries))
        if self._fails_from is not None and self._asked > self._fails_from:
            raise RuntimeError("no power")
        return self._test.pvalues(queries)

    def resampled(self, counts: Counts) -> Tallied:
        return Tallied(np.repeat(self._values, counts, axis=0), self._tally, self.resamples_fail_from)

    resamples_fail_from: int | None = None


class Failing(Tallied):
    resamples_fail_from = 10


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_budget_of_tests_holds_for_several_at_a_time(n_jobs: int) -> None:
    tally: list[int] = []
    whole = ap.learn(Tallied(np.array(DATA.rows), []), method="icd").n_tests
    with joblib.parallel_config(backend="threading", n_jobs=n_jobs):
        s = ap.bootstrap(Tallied(np.array(DATA.rows), tally), method="icd", n=100, max_tests=20 * whole)
    assert s.stopped == "tests" and 3 <= s.n < 40
    assert sum(tally) <= 20 * whole + 2 * n_jobs


def test_tests_of_resamples_that_fail_are_counted() -> None:
    tally: list[int] = []
    whole = ap.learn(Tallied(np.array(DATA.rows), []), method="icd").n_tests
    s = ap.bootstrap(Failing(np.array(DATA.rows), tally), method="icd", n=100, max_tests=whole + 45)
    assert s.stopped == "tests" and s.n == 0 and 4 <= len(s.failures) <= 5
    assert sum(tally) <= whole + 45 + len(s.failures)  # the question that failed has no answer, and does not count


def test_where_no_resample_gave_a_graph_there_is_nothing_to_tell(tmp_path: Path) -> None:
    s = ap.bootstrap(DATA, method="icd", n=5, max_tests=1)
    assert s.n == 0 and "0 of 5 resamples" in str(s)
    a, b = DATA.names[:2]
    assert "resample" not in str(s.explain(a, b))
    for name in ("run.json", "run.html", "run.svg"):
        s.save(tmp_path / name)
    again = read_result(tmp_path / "run.json")
    assert isinstance(again, Result) and again.stability is not None
    assert again.stability.n == 0


def test_the_command_line_says_that_no_resample_gave_a_graph(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    lines = [",".join(DATA.names), *(",".join(map(str, row)) for row in DATA.rows.tolist())]
    table.write_text("\n".join(lines))
    told = anypag("learn", "--method", "icd", table, "--bootstrap", "5", "--max-tests", "16")
    assert "0 of 5 resamples" in told.out and "No resample gave a graph." in told.out


def test_a_test_that_was_made_by_hand_cannot_be_made_for_other_rows() -> None:
    gaps = {name: np.where(np.arange(160) % 17 == k, np.nan, COLUMNS[name]) for k, name in enumerate(COLUMNS)}
    made: list[Any] = [ap.FisherZ(gaps, missing="pairwise"), ap.FisherZ(gaps, missing="drop")]
    for test in made:
        with pytest.raises(ParameterError, match=r"give a table and the name of a test.*FisherZ has no `resampled`"):
            ap.bootstrap(gaps, 3, method="icd", test=test)


@pytest.mark.parametrize("test", ["auto", "fisherz", "additive", ap.FisherZ])
def test_a_test_that_goes_by_its_name_or_class_can(test: Any) -> None:
    assert ap.bootstrap(COLUMNS, 3, method="icd", test=test).n == 3
