"""Cases that a careful reader found: each of these went wrong once."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.choices import Choices
from anypag.cli.options import seconds
from anypag.errors import CheckpointError, CycleError, ParameterError
from anypag.results.schema import recorded
from anypag.run.engine import Search

ORACLE = ap.Oracle(ap.DAG.from_string("A --> B; B --> C; C --> D"))
TABLE = {name: np.random.default_rng(k).normal(size=40) for k, name in enumerate("abc")}


def test_n_oracles_of_different_sizes_are_different_runs(tmp_path: Path) -> None:
    path = tmp_path / "run.anypag"
    ap.learn(ap.n_oracle(ORACLE, 0), checkpoint=path)
    with pytest.raises(CheckpointError, match="the data are not the same"):
        ap.learn(ap.n_oracle(ORACLE, 1), checkpoint=path, resume=True)


@pytest.mark.parametrize("wrong", [{"sepset": []}, {"alpha": np.array([0.1, 0.2])}, {"max_r": np.array([1, 2])}])
def test_odd_values_are_refused_in_a_sentence(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="must be"):
        Choices(**wrong)


def test_numbers_of_numpy_are_saved(tmp_path: Path) -> None:
    alpha, max_r, selection = np.float32(0.05), np.int64(2), np.bool_(True)
    result = ap.learn(ORACLE, alpha=alpha, max_r=max_r, selection_bias=selection)  # type: ignore[arg-type]
    json.dumps(recorded(result.choices))
    result.save(tmp_path / "pag.json")


def test_minutes_can_be_written_min() -> None:
    assert seconds("5min") == seconds("5m") == 300


def test_a_test_beside_data_must_be_about_its_columns() -> None:
    with pytest.raises(ParameterError, match="The test is about 'A', 'B', 'C', 'D', the data about"):
        ap.learn(TABLE, method="icd", test=ORACLE)
    with pytest.raises(ParameterError, match="'missing' must be left out: the given test decides it"):
        ap.learn(TABLE, method="icd", test=lambda x, y, z: 0.5, missing="drop")


def test_ties_are_broken_by_name() -> None:
    orders = []
    for names in (["A", "B", "C"], ["C", "A", "B"]):
        search = Search(ap.from_callable(lambda x, y, z: 0.0, names))
        next(search.steps())
        orders.append([names[k] for k in search.problem.nodes.order])
    assert orders == [["A", "B", "C"]] * 2


def test_one_thread_per_core_is_one_for_a_test_that_takes_one_question() -> None:
    assert (
        Search(ap.from_callable(lambda x, y, z: 0.5, ["A", "B"]), Choices(method="icd", threads=0)).problem.threads == 1
    )


def test_an_error_about_a_path_survives_another_process() -> None:
    error = pickle.loads(pickle.dumps(CycleError("A circle.", ("A", "B", "A"))))
    assert (str(error), error.path) == ("A circle.", ("A", "B", "A"))
