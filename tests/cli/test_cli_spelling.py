"""Sentences of the library reach the command line with options as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import anypag

from anypag.cli.options import spelled
from anypag.errors import DataError, Option, ParameterError, Sentence


@pytest.mark.parametrize(
    ("parts", "in_python", "typed"),
    [
        (("The option ", Option("time_budget"), " is"), "The option 'time_budget' is", "The option --time-budget is"),
        (("Choose ", Option("missing", "pairwise"), "."), 'Choose missing="pairwise".', "Choose --missing pairwise."),
        (("Say ", Option("selection_bias"), "."), "Say 'selection_bias'.", "Say --no-selection-bias."),
        (("Leave it out (", Option("names"), ")."), "Leave it out ('names').", "Leave it out (--columns or --drop)."),
        (("Column 'max_r' is {constant}.",), "Column 'max_r' is {constant}.", "Column 'max_r' is {constant}."),
    ],
)
def test_options_are_named_as_typed(parts: tuple[object, ...], in_python: str, typed: str) -> None:
    assert str(Sentence(*parts)) == str(DataError(*parts)) == in_python
    assert ParameterError(*parts).sentence.spelled(spelled) == typed


def test_missing_values_are_answered_with_an_option(tmp_path: Path) -> None:
    data = tmp_path / "gaps.csv"
    data.write_text("a,b\n" + "".join(f"{k % 7}.5,{k * k % 11}.25\n" for k in range(30)) + ",1.0\n")
    ended = anypag("learn", "--method", "icd", data, "--missing", "error")
    assert (
        ended.code == 1
        and "choose --missing drop (only the 30 complete rows are used) or --missing pairwise" in ended.err
    )
    dropped = anypag("learn", "--method", "icd", data, "--missing", "drop")
    assert dropped.code == 0 and "gaps.csv: 30 rows of 31 (1 has gaps), 2 variables;" in dropped.out
    assert "--missing drop" in anypag("audit", data, "--missing", "error").out
