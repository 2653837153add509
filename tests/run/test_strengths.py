"""How strong edges are: correlations against those of the residuals of a regression, by hand."""

from __future__ import annotations

import numpy as np
import pytest

import anypag as ap

RNG = np.random.default_rng(0)


def test_correlations_are_those_of_residuals() -> None:
    a, b = RNG.normal(size=(2, 500))
    c = a - b + RNG.normal(size=500)
    table = {"a": a, "b": b, "c": c, "d": c + RNG.normal(size=500)}
    result = ap.learn(table, method="icd")
    assert set(result.strengths) == {edge[:2] for edge in result.pag.edges()}
    given = np.column_stack([np.ones(500), b, table["d"]])
    left = [column - given @ np.linalg.lstsq(given, column, rcond=None)[0] for column in (a, c)]
    plain, partial = np.corrcoef(a, c)[0, 1], np.corrcoef(*left)[0, 1]
    assert result.strengths["a", "c"] == f"correlation {plain:+.2f}, {partial:+.2f} given the 2 others joined to either"


@pytest.mark.parametrize("ending", ["json"])
def test_they_come_back_from_a_file_and_have_no_sign_for_categories(tmp_path: object, ending: str) -> None:
    x = RNG.integers(0, 3, 400)
    table = {"x": x, "y": np.where(RNG.random(400) < 0.8, x, 0), "z": RNG.integers(0, 2, 400)}
    result = ap.learn(table, method="icd")
    (words,) = result.strengths.values()
    assert words.startswith("association 0.")
    path = f"{tmp_path}/r.{ending}"
    result.save(path)
    saved = ap.read_result(path)
    assert saved.strengths == result.strengths  # type: ignore[union-attr]


def test_a_perfect_test_knows_none_and_a_file_names_its_source(tmp_path: object) -> None:
    assert ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; C --> B"))).strengths == {}
    path = f"{tmp_path}/a study.csv"
    np.savetxt(path, RNG.normal(size=(50, 2)), delimiter=",", header="a,b", comments="")
    assert ap.learn(path, method="icd").source == "a study.csv"
    assert ap.bootstrap(path, method="icd", n=2, seed=0).result.source == "a study.csv"
    assert ap.learn({"a": RNG.normal(size=50), "b": RNG.normal(size=50)}, method="icd").source is None
