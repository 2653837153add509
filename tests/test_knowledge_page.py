"""The page on knowledge is true: its commands print what it says they print, and its Python runs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import anypag as ap
from test_readme import ROOT, typed, without_times

PAGE = (ROOT / "docs" / "knowledge.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cohort")
    shutil.copytree(ROOT / "examples", path / "examples")
    (path / "known.txt").write_text(blocks("text")[0], encoding="utf-8")
    return path


def test_the_commands_print_what_the_page_says(folder: Path) -> None:
    commands = [part for block in blocks("console") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    assert len(commands) == 4
    for part in commands:
        command, _, expected = part.partition("\n")
        assert without_times(typed(command, folder)) == without_times(expected), command


def test_the_python_of_the_page_runs_after_its_commands(folder: Path) -> None:
    if not (folder / "cohort.csv").exists():
        typed("python examples/cohort.py cohort.csv", folder)
    (folder / "first.py").write_text(blocks("python")[0], encoding="utf-8")
    printed = typed("python first.py", folder)
    assert "smoking --> tar" in printed
    assert "selection before tier 2 (selection_before_tier): used" in printed


def test_what_the_page_says_of_a_randomised_exposure() -> None:
    said = next(block for block in blocks("text") if "treatment !<-> outcome" in block)
    rng = np.random.default_rng(0)
    treatment, (age, hidden) = rng.integers(0, 2, 1000), rng.normal(size=(2, 1000))
    outcome = 0.7 * treatment + hidden + age + rng.normal(size=1000)
    table = {"treatment": treatment, "outcome": outcome, "age": age, "z": hidden + rng.normal(size=1000)}
    result = ap.learn(table, method="icd", knowledge=ap.Knowledge.from_text(said), selection_bias=False)
    assert str(result.pag.edge("treatment", "outcome")) == "treatment --> outcome"
    found = ap.effect(ap.DAG.from_string("treatment --> outcome"), "treatment", "outcome", data=table)
    by_hand = outcome[treatment == 1].mean() - outcome[treatment == 0].mean()
    assert found.estimate == pytest.approx(by_hand)
