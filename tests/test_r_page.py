"""The page for users of R, run as it stands where R and reticulate are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "r.md"


def has_reticulate() -> bool:
    command = ["Rscript", "-e", 'quit(status = !requireNamespace("reticulate", quietly = TRUE))']
    return shutil.which("Rscript") is not None and subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not has_reticulate(), reason="needs R with reticulate")
def test_the_page_for_r_prints_what_it_shows(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    code, shown = (re.findall(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE) for kind in ("r", "text"))
    script = tmp_path / "page.R"
    script.write_text("".join(code), encoding="utf-8")
    told = {**os.environ, "RETICULATE_PYTHON": sys.executable}
    ended = subprocess.run(["Rscript", script], cwd=tmp_path, env=told, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr
    assert [line.rstrip() for line in ended.stdout.splitlines()] == [
        line.rstrip() for block in shown for line in block.splitlines()
    ]
    assert (tmp_path / "swiss.html").is_file()
