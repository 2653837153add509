"""The recipes of CONTRIBUTING.md, carried out word for word in a copy of the package."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^ *```python\n( *)# (in )?(src/[^\n]*)\n(.*?)^ *```$", re.M | re.S)
HEADINGS = {"test": "conditional-independence test", "rule": "orientation rule", "algorithm": "algorithm"}


def carry_out(recipe: str, copy: Path) -> None:
    """Write the files of a recipe, and put lines into those that are there."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    part = text.split(f"## To add an {HEADINGS[recipe]}".replace("an con", "a con"))[1].split("\n## ")[0]
    for indent, inside, target, body in BLOCK.findall(part):
        lines = textwrap.indent(textwrap.dedent(body), "") if not inside else re.sub(f"(?m)^{indent}", "", body)
        if not inside:
            (copy / target).write_text(lines)
            continue
        name, _, place = target.partition(", after ")
        before, found, after = (copy / name).read_text().partition(f"{place}\n")
        assert found, f"{name} has no line that ends with {place!r}"
        (copy / name).write_text(before + found + lines + after)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def anypag(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line of the copy; the compiler is off, since compiling would take longer than all else."""
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "anypag", *arguments]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)


def write_table(path: Path) -> None:
    """a --> c <-- b, c --> d."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300))
    c = a + b + rng.normal(size=300)
    rows = zip(a, b, c, c + rng.normal(size=300), strict=True)
    path.write_text("a,b,c,d\n" + "".join(",".join(f"{x:.4f}" for x in row) + "\n" for row in rows))


def learned(copy: Path, *options: str) -> dict[str, Any]:
    """What `learn` with these options writes, by way of a checkpoint of a run that was cut short."""
    write_table(copy / "table.csv")
    common = ("learn", "table.csv", *options, "--checkpoint", "run.anypag")
    cut = anypag(copy, *common, "--max-tests", "6")
    assert cut.returncode == 3, cut.stderr
    done = anypag(copy, *common, "--resume", "--out", "pag.json")
    assert done.returncode == 0, done.stderr
    assert "which is complete up to r = 0" in done.stdout
    document: dict[str, Any] = json.loads((copy / "pag.json").read_text())
    return document["meta"]["anypag"]  # type: ignore[no-any-return]


def test_a_new_test(copy: Path) -> None:
    carry_out("test", copy)
    assert learned(copy, "--test", "spearman")["test"] == "Spearman"


def test_a_new_rule(copy: Path) -> None:
    carry_out("rule", copy)
    rules = {rule for _, _, _, rule, _ in learned(copy)["marks"]}
    assert 13 in rules
    said = anypag(copy, "explain", "pag.json", "a", "c")
    assert "a --> c" in said.stdout and "R13: nothing is latent, so a is a cause." in said.stdout, said.stderr


def test_a_new_algorithm(copy: Path) -> None:
    carry_out("algorithm", copy)
    found = learned(copy, "--method", "skeleton-only")
    assert found["method"] == "skeleton-only" and found["history"][0]["phase"] == "neighbours"
    assert "skeleton-only" in anypag(copy, "show", "pag.json").stdout
    assert "skeleton-only" in anypag(copy, "learn", "table.csv", "--method", "nonsense").stderr
    certified = anypag(copy, "certify", "--nodes", "2", "--method", "skeleton-only")
    assert certified.returncode == 0, certified.stderr
