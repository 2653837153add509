"""The command line with tables of counts and covariance matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import anypag, write_chain


def edges(*arguments: str | Path) -> list[str]:
    ended = anypag("learn", "--method", "icd", *arguments, "--json")
    assert ended.code == 0, ended.err
    return sorted(map(str, ended.document["result"]["graph"]["edges"]))


@pytest.fixture
def chain(tmp_path: Path) -> pd.DataFrame:
    write_chain(tmp_path / "rows.csv")
    return pd.read_csv(tmp_path / "rows.csv")


def test_a_covariance_matrix_is_as_good_as_the_rows(chain: pd.DataFrame, tmp_path: Path) -> None:
    chain.cov().to_csv(tmp_path / "cov.csv")
    matrix: list[str | Path] = [tmp_path / "cov.csv", "--covariance", str(len(chain))]
    assert edges(*matrix) == edges(tmp_path / "rows.csv")
    assert edges(*matrix, "--test", "fisherz", "--singular", "keep") == edges(tmp_path / "rows.csv")
    assert edges(*matrix, "--drop", "a") == edges(tmp_path / "rows.csv", "--drop", "a")
    assert edges(*matrix, "--columns", "d,c,b") == edges(tmp_path / "rows.csv", "--columns", "d,c,b")
    assert "cov.csv: 400 rows, 4 variables; test FisherZ" in anypag("learn", "--method", "icd", *matrix).out


def test_a_run_from_a_matrix_goes_on_from_its_checkpoint(chain: pd.DataFrame, tmp_path: Path) -> None:
    chain.cov().to_csv(tmp_path / "cov.csv")
    run: list[str | Path] = [
        "learn",
        "--method",
        "icd",
        tmp_path / "cov.csv",
        "--covariance",
        "400",
        "--checkpoint",
        tmp_path / "run.anypag",
    ]
    assert anypag(*run).code == 0
    assert "which is complete up to r = " in anypag(*run, "--resume").out
    chain.assign(a=chain["a"] ** 3).cov().to_csv(tmp_path / "cov.csv")
    assert "the data are not the same" in anypag(*run, "--resume").err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--test", "gsq"], "--covariance goes with --test fisherz"),
        (["--bootstrap", "5"], "--bootstrap needs rows, and a covariance matrix has none"),
        (["--counts", "a"], "--counts needs rows"),
        (["--missing", "drop"], "--missing does not apply to a covariance matrix. Leave it out."),
        (["--transform", "normal-scores"], "--transform does not apply to a covariance matrix. Leave it out."),
    ],
)
def test_what_a_matrix_has_no_use_for_is_refused(
    more: list[str], message: str, chain: pd.DataFrame, tmp_path: Path
) -> None:
    chain.cov().to_csv(tmp_path / "cov.csv")
    ended = anypag("learn", "--method", "icd", tmp_path / "cov.csv", "--covariance", "400", *more)
    assert ended.code != 0 and message in ended.err


def test_counts_are_as_good_as_the_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 600))
    frame = pd.DataFrame({"a": a, "b": b, "c": a ^ b ^ (rng.random(600) < 0.1), "d": np.where(a, "u", "v")})
    frame.loc[rng.random(600) < 0.2, "d"] = "v"
    frame.to_csv(tmp_path / "rows.csv", index=False)
    counts = frame.groupby(list(frame.columns)).size().reset_index(name="how many")
    counts.to_csv(tmp_path / "counts.csv", index=False)
    table: list[str | Path] = [tmp_path / "counts.csv", "--counts", "how many"]
    assert edges(*table) == edges(tmp_path / "rows.csv")
    assert edges(*table, "--columns", "c,a") == edges(tmp_path / "rows.csv", "--columns", "c,a")
    assert edges(*table, "--drop", "d") == edges(tmp_path / "rows.csv", "--drop", "d")
    assert "600 rows, 4 variables" in anypag("learn", "--method", "icd", *table).out
    assert "600 rows, 4 columns (0 continuous, 4 discrete)" in anypag("audit", *table).out
    assert "There is no column 'n'" in anypag("learn", "--method", "icd", tmp_path / "counts.csv", "--counts", "n").err
    assert anypag("learn", *table, "--bootstrap", "3", "--max-r", "0").code in {0, 3}


def test_the_command_line_weights_rows_and_remembers_it(tmp_path: Path) -> None:
    data, out = tmp_path / "survey.csv", tmp_path / "result.json"
    random = np.random.default_rng(0)
    a, noise, more = random.normal(size=(3, 500))
    table = {"a": a, "b": a + noise, "c": a + noise + more, "w": random.uniform(1, 5, 500)}
    rows = np.column_stack(list(table.values()))
    np.savetxt(data, rows, delimiter=",", header=",".join(table), comments="")
    learned = anypag("learn", data, "--weights", "w", "--method", "icd", "--out", out)
    assert learned.code == 0 and "weighted rows are worth" in learned.err + learned.out
    told = anypag("effect", "--dag", "b --> c", "b", "c", "--data", data, "--weights", "w").out
    slope = np.polyfit(table["b"], table["c"], 1, w=np.sqrt(table["w"]))[0]
    assert f"{slope:.4g}" in told
    again = anypag("effect", out, "b", "c", "--data", data, "--no-selection-bias").out
    assert "weighted" in again or "not identified" in again
    assert "not both" in anypag("learn", data, "--weights", "w", "--counts", "w").err
    assert "weighted rows" in anypag("audit", data, "--weights", "w").out
