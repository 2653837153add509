"""Run the Python blocks of the pages that are no notebooks, page by page, in an empty folder with the example's table.

`make docs` runs it. What cannot be run (a cluster's address, other tools) stands in a block that is marked `py`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MADE = {HERE / "reference" / "api.md"}


def blocks_of(page: Path) -> list[str]:
    """The Python blocks of a page; none of a notebook, which is run by itself, nor of what docstrings make."""
    text = page.read_text(encoding="utf-8")
    if page in MADE or "{code-cell}" in text:
        return []
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def run(page: Path, blocks: list[str]) -> None:
    """All blocks of a page, one after the other, in one program."""
    with tempfile.TemporaryDirectory() as folder:
        for example in ("health", "cohort"):
            script = HERE.parent / "examples" / f"{example}.py"
            subprocess.run([sys.executable, str(script), f"{example}.csv"], cwd=folder, check=True, capture_output=True)
        shutil.copytree(HERE.parent / "examples", Path(folder) / "examples")
        (Path(folder) / "page.py").write_text(PREFACE + "\n".join(blocks), encoding="utf-8")
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(
            [sys.executable, "page.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise SystemExit(f"An example of {page.relative_to(HERE)} does not run:\n{done.stderr}")


PREFACE = """import anypag as ap
import numpy as np

data = "health.csv"
"""

if __name__ == "__main__":
    for page in sorted(HERE.rglob("*.md")):
        if "_build" not in page.parts and (blocks := blocks_of(page)):
            run(page, blocks)
