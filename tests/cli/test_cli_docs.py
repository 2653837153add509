from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from commands import anypag

DOCS = Path(__file__).parents[2] / "docs"


def test_help_and_reference_name_the_same_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    reference = runpy.run_path(str(DOCS / "generate_cli.py"), run_name="made")["reference"]
    commands, _, shared = reference().partition("## Shared")
    for part in commands.split("## `anypag ")[1:]:
        lists = re.findall(r"(?m)^Shared: .*$", part)
        told = set(re.findall(r"(?m)^- `(--[\w-]+)", part)) | set(re.findall(r"`(--[\w-]+)`", "".join(lists)))
        shown = re.findall(r"(?m)^  (?:-\w, )?(--[\w-]+)", anypag(re.split("[` ]", part)[0], "--help").out)
        assert told == set(shown) - {"--help"}
        assert all(
            f"- {name}" in shared or f"- {name[:-1]} " in shared for name in re.findall("`--.*?`", "".join(lists))
        )
