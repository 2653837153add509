from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from commands import anypag, write_chain

from anypag.choices import AMONG_NUMBERS, MISSING_WORDS
from anypag.data import as_table
from anypag.graphs.formats.registry import read_graph
from anypag.graphs.pag import DAG


def test_audit_finds_nothing_in_good_data(tmp_path: Path) -> None:
    ended = anypag("audit", write_chain(tmp_path / "data.csv"))
    assert ended.code == 0
    first, *_, last = ended.out.splitlines()
    assert first == "data.csv: 400 rows, 4 columns (4 continuous, 0 discrete)"
    assert "continuous  numbers with fractions" in ended.out
    assert last.startswith("No problems found. Checked for: text among numbers, ") and last.endswith(".")


def test_audit_lists_errors_and_ends_with_1(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a,b,c\n" + "".join(f"{k * k % 7}.5,{k * 7919 % 101},1\n" for k in range(50)))
    assert "Left out: 'c' (constant in the rows used)." in anypag("audit", data).out
    ended = anypag("audit", data, "--singular", "error")
    assert ended.code == 1 and "error  constant  Column 'c' is constant." in ended.out
    document = anypag("audit", data, "--singular", "error", "--json").document
    assert document["rows"] == 50 and document["findings"][0]["columns"] == ["c"]
    assert anypag("audit", data, "--drop", "c").code == 0


def test_audit_says_of_counts_what_learn_says(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("x,y,n\n" + "".join(f"{k * 7919 % 97 / 10},{k * k % 89 / 10},5\n" for k in range(80)))
    audited, learned = anypag("audit", path, "--counts", "n"), anypag("learn", path, "--counts", "n")
    assert audited.out.startswith("counts.csv: 400 rows, 2 columns (2 continuous, 0 discrete)")
    assert "Neighbouring rows are alike" not in audited.out + learned.out
    why = "a table of counts has no order of rows"
    assert f"rows in time order ({why})." in audited.out and f"rows in time order ({why})." in learned.out
    unchecked = anypag("audit", path, "--counts", "n", "--json").document["unchecked"]
    assert {"about": "rows in time order", "reason": why} in unchecked


@pytest.mark.parametrize("command", ["audit", "learn"])
def test_row_numbers_that_are_left_out_are_told_beside_dropped_columns(tmp_path: Path, command: str) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    rows = [f"{i},{a},{b},{c}" for i, (a, b, c) in enumerate(rng.normal(size=(120, 3)).tolist())]
    path.write_text("\n".join([",a,b,c", *rows]))
    told = "A column that numbers or names the rows"
    assert told in anypag(command, path, "--drop", "c").out
    assert told in anypag(command, path).out
    assert told not in anypag(command, path, "--columns", "a,b").out


def test_help_names_the_words_that_are_taken_for_gaps() -> None:
    told = set(re.split(r"[,;.\s]+", anypag("audit", "--help").out))
    assert {*MISSING_WORDS[1:], *AMONG_NUMBERS} <= told


def test_simulate_writes_data_and_truth_that_agree(tmp_path: Path) -> None:
    data, truth, dag = tmp_path / "data.csv", tmp_path / "truth.json", tmp_path / "dag.json"
    options: list[str | Path] = [
        "--truth",
        truth,
        "--dag",
        dag,
        "--variables",
        "8",
        "--rows",
        "50",
        "--seed",
        "4",
        "--selection",
        "1",
    ]
    ended = anypag("simulate", data, *options)
    assert ended.code == 0 and ended.out.splitlines()[1:] == [f"Wrote {path}" for path in (data, truth, dag)]
    table = as_table(data)
    assert table.n == 50 and table.names == read_graph(truth).names
    assert isinstance(read_graph(dag), DAG) and set(table.names) < set(read_graph(dag).names)
    again = tmp_path / "again.csv"
    anypag("simulate", again, *options[4:])
    assert again.read_bytes() == data.read_bytes()


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_simulate_discrete(tmp_path: Path, ending: str) -> None:
    data = tmp_path / f"data.{ending}"
    ended = anypag("simulate", data, "--kind", "discrete", "--levels", "3", "--rows", "200", "--json")
    assert ended.document["rows"] == 200
    table = as_table(data)
    assert set(table.kinds) == {"discrete"} and table.values.max() == 2


def test_simulate_refuses_before_it_draws(tmp_path: Path) -> None:
    assert anypag("simulate", tmp_path / "data.xls").code == 2
    assert anypag("simulate", tmp_path / "none" / "data.csv").code == 2
    ended = anypag("simulate", tmp_path / "data.csv", "--truth", tmp_path / "data.csv")
    assert ended.code == 2 and "it is to be written twice" in ended.err
    assert anypag("simulate", tmp_path / "data.csv", "--neighbours", "99").code == 2
    assert not list(tmp_path.iterdir())
