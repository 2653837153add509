from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from commands import anypag, write_chain

from anypag.choices import AMONG_NUMBERS, MISSING_WORDS


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
