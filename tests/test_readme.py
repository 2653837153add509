"""The README is true: its commands, typed in order in an empty directory, print what it says they print."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("igraph", reason="the README's pictures need the extra [plot]")
pytest.importorskip("causaldata", reason="the README's table comes with causaldata")

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def without_times(text: str) -> str:
    """Seconds differ from run to run, and so does the room they take; a slow run also says what it is waiting for."""
    lines = (re.sub(r"\s+", " ", re.sub(r"[\d.,]+ m?s\b", "TIME", line)).strip() for line in text.splitlines())
    told_while_slow = re.compile(r"Wrote |Compiling|\w+: about .* left\.$")
    return "\n".join(line for line in lines if line and not told_while_slow.match(line))


def typed(command: str, folder: Path) -> str:
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": paths, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty directory, but for the examples that come with a checkout."""
    path = tmp_path_factory.mktemp("newcomer")
    shutil.copytree(ROOT / "examples", path / "examples")
    return path


def test_the_commands_print_what_the_readme_says(folder: Path) -> None:
    ran = 0
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            printed = typed(command, folder)
            assert without_times(printed) == without_times(expected), command
            ran += 1
    assert ran >= 3
    assert {"pag.json", "report.html"} <= {path.name for path in folder.iterdir()}


def test_the_python_of_the_readme_runs_after_its_commands(folder: Path) -> None:
    typed("python examples/health.py health.csv", folder)
    first = next(block for block in blocks("python") if "import anypag" in block)
    (folder / "first.py").write_text(first, encoding="utf-8")
    printed = typed("python first.py", folder)
    assert "cough <-> asthma" in printed
    assert "given=('tar',)" in printed
    drawn, shown = ((path / name).read_text() for path, name in ((folder, "pag.svg"), (ROOT / "docs", "health.svg")))
    titles = [sorted(re.findall("<title>(.*?)</title>", text)) for text in (drawn, shown)]
    assert titles[0] == titles[1], "docs/health.svg is the picture that the Python draws"


def test_every_file_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 120


def test_the_first_screen_has_the_two_commands() -> None:
    first_screen = "\n".join(README.splitlines()[:25])
    assert "make demo" in first_screen
    assert "make test" in first_screen
