"""The site, as far as it can be checked without building it: `make docs` does the rest."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
MADE = {"reference/api", "cli"}
PAGES = {
    str(path.relative_to(DOCS).with_suffix("")): path
    for path in sorted(DOCS.rglob("*.md"))
    if "_build" not in path.parts
}


def listed(page: str) -> set[str]:
    """The pages that a page has in its contents."""
    text, folder = PAGES[page].read_text(encoding="utf-8"), Path(page).parent
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.DOTALL)
    names = [line.strip() for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
    return {(folder / name).as_posix() for name in names}


def test_every_page_has_its_place_and_every_place_its_page() -> None:
    placed = listed("index") | listed("gallery/index")
    assert set(PAGES) - {"index"} - placed == set(), "a page without a place in docs/index.md"
    assert placed - set(PAGES) - MADE == set(), "a place without a page"


def last_paragraph(text: str) -> str:
    return text.rstrip().rsplit("\n\n", 1)[-1]


@pytest.mark.parametrize("page", sorted(set(PAGES) - MADE))
def test_every_page_ends_with_where_to_go_next(page: str) -> None:
    last = last_paragraph(PAGES[page].read_text(encoding="utf-8"))
    assert re.match(r"Where to go next: .*\]\(", last, flags=re.DOTALL), last


@pytest.mark.parametrize("name", ["generate_api.py", "generate_cli.py"])
def test_the_pages_that_are_made_end_so_too(name: str) -> None:
    reference = runpy.run_path(str(DOCS / name), run_name="made")["reference"]
    assert last_paragraph(reference()).startswith("Where to go next: ")


def test_no_page_stands_in_the_contents_twice() -> None:
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", PAGES["index"].read_text(encoding="utf-8"), flags=re.DOTALL)
    names = [line for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("page", sorted(PAGES))
def test_links_lead_to_pages_that_are_there(page: str) -> None:
    for link in re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", PAGES[page].read_text(encoding="utf-8")):
        target = (PAGES[page].parent / link).resolve()
        assert target.exists() or target.relative_to(DOCS).with_suffix("").as_posix() in MADE, link


@pytest.mark.parametrize("page", sorted(name for name, path in PAGES.items() if "{code-cell}" in path.read_text()))
def test_the_cells_of_notebooks_are_python_or_commands(page: str) -> None:
    cells = re.findall(r"```\{code-cell\}\n(.*?)```", PAGES[page].read_text(encoding="utf-8"), flags=re.DOTALL)
    assert cells
    for cell in cells:
        code = re.sub(r"(?m)^:.*$", "", cell)
        if code.startswith("%%bash\n"):
            assert all(line.startswith("anypag ") for line in code.splitlines()[1:])
        else:
            ast.parse(code)


def test_the_gallery_has_four_notebooks() -> None:
    assert len(listed("gallery/index")) >= 4


def test_the_leaderboard_is_what_the_tables_of_the_pages_say() -> None:
    made = runpy.run_path(str(DOCS.parent / "benchmarks" / "leaderboard.py"))["text"]()
    assert PAGES["leaderboard"].read_text(encoding="utf-8") == made, "run: python benchmarks/leaderboard.py"
    assert made.index("## Where we lose") < made.index("## All comparisons")


def test_the_page_on_accuracy_has_the_tables_of_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    benchmarks = DOCS.parent / "benchmarks"
    monkeypatch.syspath_prepend(benchmarks)
    made = runpy.run_path(str(benchmarks / "grid_summary.py"))["page"]
    text = PAGES["accuracy"].read_text(encoding="utf-8")
    assert made(text) == text, "run: python benchmarks/grid_summary.py"
