"""What a release is made of: one version everywhere, everything the tests need in the sdist, no registry's host."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import anypag

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_is_the_same_everywhere() -> None:
    version = PROJECT["project"]["version"]
    assert anypag.__version__ == version
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_every_python_that_is_promised_is_named() -> None:
    named = {line.rsplit(" ", 1)[1] for line in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", line)}
    assert named == {"3.11", "3.12", "3.13"}
    assert PROJECT["project"]["requires-python"] == ">=3.11"
    assert all(f'"{python}"' in (ROOT / ".github/workflows/ci.yml").read_text() for python in named)


def test_the_sdist_holds_what_the_tests_read() -> None:
    held = {line.strip("/") for line in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}
    needed = {"src", "tests", "docs", "examples", "experiments", "benchmarks", "certify", "Makefile"}
    assert needed <= held
    for path in held:
        assert (ROOT / path).exists(), path
    texts = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    read = {name for name in re.findall(r'ROOT / "([\w.-]+)', texts) if (ROOT / name).exists()}
    assert read - {"pyproject.toml"} <= held, "a test reads a file that the sdist lacks"


def test_learning_from_a_data_frame_needs_no_polars() -> None:
    """polars is for files: it takes time to load, and a data frame of pandas needs none of it."""
    code = """
import sys, numpy as np, pandas as pd, warnings
warnings.simplefilter("ignore")
sys.modules["polars"] = None  # as if it were not installed
import anypag as ap
result = ap.learn(pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=list("abc")))
print(len(result.pag), "click" in sys.modules, "rich" in sys.modules, "matplotlib" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["3", "False", "False", "False"], done.stderr


@pytest.mark.parametrize("bound", PROJECT["project"]["dependencies"])
def test_every_dependency_has_a_lower_bound_and_no_upper_one(bound: str) -> None:
    assert re.fullmatch(r"[a-z-]+>=[\d.]+", bound)


def test_the_conda_recipe_asks_for_what_the_package_needs() -> None:
    yaml = pytest.importorskip("yaml")
    recipe, project = yaml.safe_load((ROOT / "conda/recipe.yaml").read_text(encoding="utf-8")), PROJECT["project"]
    wanted = [f"python {project['requires-python']}", *(need.replace(">=", " >=") for need in project["dependencies"])]
    assert recipe["requirements"]["run"] == wanted
    assert set(PROJECT["build-system"]["requires"]) <= set(recipe["requirements"]["host"])
    assert recipe["context"]["version"] == project["version"]
    assert recipe["build"]["python"]["entry_points"] == [f"anypag = {project['scripts']['anypag']}"]
    assert (recipe["about"]["summary"], recipe["about"]["license"]) == (project["description"], project["license"])
    assert (ROOT / recipe["about"]["license_file"]).is_file()
