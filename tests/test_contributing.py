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

from test_imports import LAYERS

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^ *```(?:python|text)\n( *)# (in )?(\w[^\n]*)\n(.*?)^ *```$", re.M | re.S)
HEADING = re.compile(r"^## To add an? (.*)$", re.M)
RECIPES = dict(zip(*[iter(HEADING.split((ROOT / "CONTRIBUTING.md").read_text())[1:])] * 2, strict=True))
"""By what is to be added, the text of its recipe."""


def carry_out(recipe: str, copy: Path) -> None:
    """Write the files of a recipe, and put lines into those that are there."""
    for indent, inside, target, body in BLOCK.findall(RECIPES[recipe]):
        lines = textwrap.indent(textwrap.dedent(body), "") if not inside else re.sub(f"(?m)^{indent}", "", body)
        if not inside:
            (copy / target).write_text(lines)
            continue
        name, is_replaced, place = re.split(", (?:after|(in place of)) ", target)
        before, found, after = (copy / name).read_text().partition(f"{place}\n")
        assert found, f"{name} has no line that ends with {place!r}"
        (copy / name).write_text(before + ("" if is_replaced else found) + lines + after)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("src", "tests", "docs", "benchmarks", "certify"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
    for name in ("CONTRIBUTING.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def python(copy: Path, *arguments: str, compiler: bool = False) -> subprocess.CompletedProcess[str]:
    """Python with the copy; by default the compiler is off, since compiling would take longer than all else."""
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "NUMBA_DISABLE_JIT": "0" if compiler else "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)


LIGHT = ("test_same.py", "test_choices.py", "test_rule_catalogue.py")
"""Tests that are about everything that is declared."""
OF_METHODS = ("search/test_algorithm_protocol.py", "search/test_pure_steps.py")
"""Tests that every method of the catalogue passes."""


def assert_nothing_is_missed(copy: Path, name: str = "", suites: tuple[str, ...] = ()) -> None:
    """Runs in the copy the light tests, those of this file about the guide, and what suites ask of the new `name`."""
    quiet = ("-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning")  # integers overflow
    guide = [f"tests/test_contributing.py::{test}" for test in GUIDE]
    ran = [python(copy, *quiet, *guide, *(f"tests/{suite}" for suite in LIGHT))]
    ran += [python(copy, *quiet, "-k", f"[{name}", *(f"tests/{suite}" for suite in suites))] if suites else []
    assert not any(one.returncode for one in ran), "".join(one.stdout for one in ran)


def anypag(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line of the copy."""
    return python(copy, "-m", "anypag", *arguments)


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
    common = ("learn", "table.csv", "--method", "icd", *options, "--checkpoint", "run.anypag")
    cut = anypag(copy, *common, "--max-tests", "6")
    assert cut.returncode == 3, cut.stderr
    done = anypag(copy, *common, "--resume", "--out", "pag.json")
    assert done.returncode == 0, done.stderr
    assert "which is complete up to r = 0" in done.stdout
    document: dict[str, Any] = json.loads((copy / "pag.json").read_text())
    return document["meta"]["anypag"]  # type: ignore[no-any-return]


def test_a_new_test(copy: Path) -> None:
    carry_out("conditional-independence test", copy)
    assert learned(copy, "--test", "spearman")["test"] == "Spearman"
    assert_nothing_is_missed(copy, "spearman", ("ci/test_protocol.py",))


def test_a_new_rule(copy: Path) -> None:
    carry_out("orientation rule", copy)
    rules = {rule for _, _, _, rule, _ in learned(copy)["marks"]}
    assert 13 in rules
    said = anypag(copy, "explain", "pag.json", "a", "c")
    assert "a --> c" in said.stdout and "R13: nothing is latent, so a is a cause." in said.stdout, said.stderr
    assert_nothing_is_missed(copy)
    for command in ("'show', 'pag.json'", "'explain', 'pag.json', 'a', 'c'"):
        heavy = "print({'numba', 'scipy'} & sys.modules.keys(), file=sys.stderr)"
        ran = python(
            copy, "-c", f"import sys; from anypag.cli.main import main; main([{command}]); {heavy}", compiler=True
        )
        assert ran.stderr == "set()\n"


def test_a_new_algorithm_by_tests(copy: Path) -> None:
    carry_out("algorithm by tests", copy)
    found = learned(copy, "--method", "skeleton-only")
    assert found["method"] == "skeleton-only" and found["history"][0]["phase"] == "neighbours"
    assert "skeleton-only" in anypag(copy, "show", "pag.json").stdout
    assert "skeleton-only" in anypag(copy, "learn", "table.csv", "--method", "nonsense").stderr
    certified = python(copy, "-m", "certify", "--nodes", "2", "--method", "skeleton-only")
    assert certified.returncode == 0, certified.stderr
    assert_nothing_is_missed(copy, "skeleton-only", OF_METHODS)


def test_a_new_algorithm_by_scores(copy: Path) -> None:
    carry_out("algorithm by scores", copy)
    write_table(copy / "table.csv")
    done = anypag(copy, "learn", "table.csv", "--method", "one-order", "--out", "pag.json")
    assert done.returncode == 0, done.stderr
    document = json.loads((copy / "pag.json").read_text())
    assert document["meta"]["anypag"]["history"][0]["phase"] == "orders"
    joined = {frozenset((edge["from"], edge["to"])) for edge in document["graph"]["edges"]}
    assert joined >= {frozenset("ac"), frozenset("bc"), frozenset("cd")}
    assert_nothing_is_missed(copy, "one-order", OF_METHODS)


def test_a_new_source(copy: Path) -> None:
    carry_out("source", copy)
    write_table(copy / "table.csv")
    script = """
        import sqlite3
        import polars
        import anypag as ap

        rows = polars.read_csv("table.csv")
        connection = sqlite3.connect(":memory:")
        connection.execute("CREATE TABLE t (a REAL, b REAL, c REAL, d REAL)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows.rows())
        here, there = ap.learn(rows), ap.learn(connection)
        assert here.pag == there.pag and dict(here.sepsets) == dict(there.sepsets), there.pag
        assert ap.learn(connection, names=["a", "c"], test="fisherz").pag.names == ("a", "c")
        """
    done = python(copy, "-c", textwrap.dedent(script))
    assert done.returncode == 0, done.stderr
    assert_nothing_is_missed(copy)


def test_a_new_option(copy: Path) -> None:
    carry_out("option", copy)
    write_table(copy / "table.csv")
    done = anypag(copy, "learn", "table.csv", "--method", "icd", "--max-steps", "1", "--out", "pag.json")
    assert done.returncode == 3, done.stderr
    assert len(json.loads((copy / "pag.json").read_text())["meta"]["anypag"]["history"]) == 1
    assert_nothing_is_missed(copy)


def test_every_recipe_is_carried_out() -> None:
    text = Path(__file__).read_text()
    assert all(f'carry_out("{recipe}", copy)' in text for recipe in RECIPES)


def files_of_the_map() -> list[str]:
    """The files that the map has rows for; a line that is not indented names the room of the rows below it."""
    rows = (ROOT / "CONTRIBUTING.md").read_text().partition("```text\n")[2].partition("```")[0].splitlines()
    room, files = "", []
    for row in rows:
        if row.startswith("  "):
            name, _, holds = row.strip().partition(" ")
            assert holds.strip(), f"{room}{name}: what does it hold?"
            files.append(room + name)
        else:
            room = row
    return files


def test_the_map_has_one_row_for_every_file() -> None:
    package = ROOT / "src" / "anypag"
    files = [path for path in package.rglob("*") if path.suffix in {".py", ".js", ".css", ".cu"}]
    there = [str(path.relative_to(package)) for path in files if path.name != "__init__.py"]
    assert sorted(files_of_the_map()) == sorted(there)


def test_the_parts_are_listed_in_the_order_of_their_imports() -> None:
    listed = (ROOT / "CONTRIBUTING.md").read_text().partition("```\nerrors,")[2].partition("```")[0]
    rows = [set(row.split(", ")) for row in f"errors,{listed}".strip().splitlines()]
    assert rows == [{part for part in layer if part != "__main__"} for layer in LAYERS]


def test_places_named_in_the_guide_are_there() -> None:
    """In the table of facts, a name in backticks beside a file's name is in that file."""
    package = ROOT / "src" / "anypag"
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("| to change | open |")[2].partition("\n\n")[0]
    named = re.findall(r"`([\w.]+)` in `([\w/]+\.py)`", table)
    assert len(named) >= 10
    for name, file in named:
        assert name.rpartition(".")[2] in (package / file).read_text(), f"{file} has no {name}"
    assert all((package / file).exists() for file in re.findall(r"`(\w+/[\w/]+\.py)`", table))


GUIDE = [name for name in dir() if name.startswith("test_") and not name.startswith("test_a_new_")]
"""The tests of this file about the guide itself."""
