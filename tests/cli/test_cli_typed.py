"""Sentences of the library reach the command line with options as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import anypag

from anypag.cli.typed import as_typed


@pytest.mark.parametrize(
    ("sentence", "typed"),
    [
        ("The option 'time_budget' must be None; got 0.", "The option --time-budget must be None; got 0."),
        ('Choose missing="pairwise".', "Choose --missing pairwise."),
        ('test="gsq" takes every column as discrete.', "--test gsq takes every column as discrete."),
        ("Set max_r to at most 3.", "Set --max-r to at most 3."),
        ("Drop it, or declare it discrete.", "Drop it, or declare it discrete (--kinds)."),
        ("Column 'max_r' is constant.", "Column 'max_r' is constant."),
        ("The edge A --> b_1 is there.", "The edge A --> b_1 is there."),
        ("Column 'dose--low_mg' is constant.", "Column 'dose--low_mg' is constant."),
    ],
)
def test_options_are_named_as_typed(sentence: str, typed: str) -> None:
    assert as_typed(sentence) == typed


def test_missing_values_are_answered_with_an_option(tmp_path: Path) -> None:
    data = tmp_path / "gaps.csv"
    data.write_text("a,b\n" + "".join(f"{k % 7}.5,{k * k % 11}.25\n" for k in range(30)) + ",1.0\n")
    ended = anypag("learn", data)
    assert ended.code == 1 and "choose --missing drop (complete rows) or --missing pairwise" in ended.err
    assert anypag("learn", data, "--missing", "drop").code == 0
    assert "--missing drop" in anypag("audit", data).out
