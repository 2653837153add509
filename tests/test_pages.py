"""Examples of pages show what the text around them says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def shown_by(page: str) -> dict[str, Any]:
    """What the code cells of a page leave behind."""
    cells = re.findall(
        r"^```\{code-cell\}\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    names: dict[str, Any] = {}
    for cell in cells:
        exec(cell, names)
    return names


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_what_can_go_wrong_goes_wrong_as_it_is_told() -> None:
    shown = shown_by("explanation/what-can-go-wrong.md")
    few, more, many = (shown["errors"][rows] for rows in (100, 1000, 10000))
    assert (few > more).all() and (more > many).all(), "errors grow fewer with more rows"
    assert not shown["result"].pag.is_adjacent("x", "y"), "Fisher's z takes a curve for no relation"
    assert "curve" in {finding.problem for finding in shown["result"].audit.findings}
    assert shown["seen"].pag.is_adjacent("x", "y")
