"""Normal scores and the additive test of tables in engines: rows are pulled if they are few enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_examples import in_duckdb, written

import anypag as ap
from anypag.choices import Choices
from anypag.ci.resolve import resolve_test
from anypag.errors import DataError, ParameterError


def bent_table(rows: int = 3000) -> dict[str, Any]:
    """Steep, far out, with a heap of zeros, of whole numbers; the rows sorted by one of the columns."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 5)) @ (np.eye(5) + 0.4 * np.eye(5, k=1))
    x = x[np.argsort(x[:, 4])]
    heap, whole = np.maximum(x[:, 2], 0), np.round(8 * x[:, 3])
    steep, far = np.exp(2 * x[:, 0]), np.tan(1.5 * np.tanh(x[:, 1]))
    return {"steep": steep, "far": far, "heap": heap, "whole": whole, "sorted": x[:, 4]}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("test", ["auto", "fisherz"])
def test_ranks_of_a_small_table_are_exact(test: str, tmp_path: Path) -> None:
    table, choices = bent_table(400), Choices(method="icd", transform="normal-scores", test=test)
    here: Any = resolve_test(table, choices)
    there: Any = resolve_test(in_duckdb(written(table, tmp_path)), choices)
    np.testing.assert_allclose(there.correlation, here.correlation, atol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_the_additive_test_is_that_of_the_rows(tmp_path: Path) -> None:
    table, asked = bent_table(300), ap.Queries([0, 0, 1], [1, 2, 4], [[3], [4], [2]])
    places = table, in_duckdb(written(table, tmp_path))
    here, there = (resolve_test(data, Choices(method="icd", test="additive")) for data in places)
    assert np.array_equal(there.pvalues(asked), here.pvalues(asked))


@pytest.mark.parametrize("choice", [{"test": "additive"}, {"transform": "normal-scores"}])
def test_too_many_rows_are_refused(choice: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anypag.data.sources.engine.MOST_PULLED", 100)
    with pytest.raises(DataError, match=r"at most 100 numbers;.* Take a sample of the rows there"):
        ap.learn(in_duckdb(written(bent_table(100), tmp_path)), method="icd", **choice)


def test_what_cannot_be_ranked_is_refused(tmp_path: Path) -> None:
    table = bent_table(200)
    table["far"] = np.where(np.arange(200) == 3, np.inf, table["far"])
    with pytest.raises(DataError, match="Column 'far' has 1 infinite value"):
        ap.learn(in_duckdb(written(table, tmp_path)), method="icd", transform="normal-scores")
    discrete = {"a": np.arange(60) % 2, "b": np.arange(60) % 3}
    with pytest.raises(ParameterError, match="no column is continuous"):
        ap.learn(in_duckdb(written(discrete, tmp_path)), method="icd", transform="normal-scores")
