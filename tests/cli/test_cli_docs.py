from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from commands import anypag

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_current() -> None:
    generator = runpy.run_path(str(DOCS / "generate_cli.py"), run_name="generator")
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == generator["reference"](), "run: python docs/generate_cli.py"


def test_help_and_reference_name_the_same_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    for part in text.split("## `anypag ")[1:]:
        command = part.split("`")[0]
        shown = " ".join(anypag(command, "--help").out.split())
        for line in part.splitlines():
            if line.startswith("| `--"):
                assert line.split("`")[1] in shown
