"""Files of Stata and SPSS: labels are levels in the order of their codes, declared codes are gaps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.data import as_table
from anypag.errors import DataError

pyreadstat = pytest.importorskip("pyreadstat")
pd = pytest.importorskip("pandas")

N = 120
RNG = np.random.default_rng(3)
CODES = RNG.integers(1, 4, N)
INCOME = np.where(np.arange(N) >= N - 9, -9.0, RNG.normal(50, 9, N))
AGE = np.where(np.arange(N) == 5, 99.0, RNG.integers(20, 60, N)).astype(float)
FRAME = {"health": CODES, "income": INCOME, "age": AGE, "name": RNG.choice(["b", "a"], N)}
LABELS = {"health": {1: "poor", 2: "fair", 3: "good"}, "age": {99: "refused"}}


@pytest.fixture(params=[".sav", ".zsav", ".dta"])
def path(request: Any, tmp_path: Path) -> Path:
    file, frame = tmp_path / f"people{request.param}", pd.DataFrame(FRAME)
    if request.param == ".dta":
        frame["income"] = pd.Series(["a" if value == -9 else value for value in INCOME.tolist()], dtype=object)
        pyreadstat.write_dta(frame, file, variable_value_labels=LABELS, missing_user_values={"income": ["a"]})
    else:
        compressed = {"compress": True} if request.param == ".zsav" else {}
        pyreadstat.write_sav(frame, file, variable_value_labels=LABELS, missing_ranges={"income": [-9]}, **compressed)
    return file


def test_labels_are_levels_in_the_order_of_their_codes(path: Path) -> None:
    table = as_table(path)
    assert table.labels == (("poor", "fair", "good"), None, None, ("a", "b"))
    assert table.kinds == ("discrete", "continuous", "continuous", "discrete")
    assert table.values[:, 0].tolist() == (CODES - 1).tolist()


def test_declared_codes_are_gaps_and_codes_with_a_label_of_their_own_are_named(path: Path) -> None:
    table = as_table(path)
    assert np.isnan(table.values[-9:, 1]).all() and not np.isnan(table.values[:-9, 1]).any()
    told = [finding.message for finding in ap.audit(path).findings]
    assert "Codes that the file declares missing were read as gaps in 'income'." in told
    assert "Column 'age' was read as numbers, though some numbers have labels: 99 ('refused')." in told


def test_a_graph_is_learned_from_such_a_file(path: Path) -> None:
    assert ap.learn(path, method="icd").pag.names == ("health", "income", "age", "name")


def test_a_file_that_is_none_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "no.dta").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"no\.dta cannot be read as a \.dta table"):
        as_table(tmp_path / "no.dta")


def test_a_label_that_comes_twice_has_its_code_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "twice.sav"
    pyreadstat.write_sav(pd.DataFrame(FRAME), file, variable_value_labels={"health": {1: "so", 2: "so", 3: "good"}})
    assert as_table(file).labels[0] == ("so (1)", "so (2)", "good")


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_empty_texts_are_gaps(ending: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"town": ["a", "", "b", "a"] * 10, "x": range(40)})
    (pyreadstat.write_dta if ending == ".dta" else pyreadstat.write_sav)(frame, tmp_path / f"t{ending}")
    table = as_table(tmp_path / f"t{ending}")
    assert table.labels[0] == ("a", "b") and np.isnan(table.values[:, 0]).sum() == 10
