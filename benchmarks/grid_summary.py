"""The tables of docs/accuracy.md: a summary of benchmarks/grid.md and kinds.md, which `grid.py tell --write` made.

    python benchmarks/grid_summary.py

Nothing is measured here. A line of the grid's summary is the mean over the lines that differ only in density and rows;
brackets (what we made on the tables that a tool finished) are left out there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

from grid import BEGIN, END, write
from leaderboard import cells, numbers

WHOLE, KINDS = Path(__file__).with_name("grid.md"), Path(__file__).with_name("kinds.md")
LEFT_OUT = ("mixed, additive", "dagma, ordinal")
KINDS_BEGIN = "<!-- kinds, made by benchmarks/grid.py -->"
PAGE = Path(__file__).parents[1] / "docs" / "accuracy.md"
GRID = ("bayes", "FCIT", "BOSS-FCI", "boss", "icd", "seconds")
SAID_WITH = "said with: right/of how many"
SAID = (SAID_WITH, "Gaussian, 15 nodes", "Gaussian, 200 rows", "selection", "networks, hidden nodes")

Rows = list[dict[str, str]]


def tables(text: str) -> dict[str, Rows]:
    """The tables of a text by the name of their first column."""
    found: dict[str, Rows] = {}
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        head, _, *lines = (cells(line) for line in block.strip().splitlines())
        found[head[0]] = [dict(zip(head, line, strict=True)) for line in lines]
    return found


def grouped(rows: Rows) -> Rows:
    """Means over the lines of one kind and number of nodes."""
    groups: dict[str, Rows] = {}
    for row in rows:
        kind, nodes, *_ = row["cell"].split()
        groups.setdefault(f"{kind}, {nodes.removeprefix('n')} nodes", []).append(row)
    return [
        {"cells": name, "lines": str(len(part)), **{tool: _mean(part, tool) for tool in GRID}}
        for name, part in groups.items()
    ]


def _mean(rows: Rows, tool: str) -> str:
    """The mean of what the lines have; a dash where the tool did not run."""
    found = [numbers(row[tool])[0] for row in rows if numbers(row[tool])]
    return f"{fmean(found):.1f}" if found else "–"


def shown(rows: Rows, names: Iterable[str] = ()) -> str:
    """The rows as a table, all columns or those that are named."""
    head: Sequence[str] = tuple(names) or tuple(rows[0])
    lines = [head, ["---"] * len(head), *([row[name] for name in head] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def summary(text: str) -> str:
    """The tables of the page."""
    of = tables(text.partition(BEGIN)[2].partition(END)[0])
    ratios = re.findall(r"^Mean of the ratios.*$", text, flags=re.MULTILINE)
    parts = [shown(grouped(of["cell"])), ratios[0], f"Networks: {ratios[1]}"]
    return "\n\n".join([*parts, shown(of["odd seeds"]), shown(of[SAID_WITH], SAID)])


def of_kinds(text: str) -> str:
    """The table about kinds of columns: a line for each kind and way, with the numbers of 1,000 / 5,000 rows."""
    lines: dict[str, Rows] = {}
    for row in tables(text)["kind, way"]:
        if row["kind, way"] not in LEFT_OUT:
            lines.setdefault(row["kind, way"], []).append(row)
    names = ("tables", "made", "expected", "boss", "icd", "said not to fit", "seconds")
    found = [{name: " / ".join(row[name].split("/")[0] for row in rows) for name in names} for rows in lines.values()]
    return shown([{"kind, way": way, **row} for way, row in zip(lines, found, strict=True)])


if __name__ == "__main__":
    write(summary(WHOLE.read_text(encoding="utf-8")), PAGE)
    write(of_kinds(KINDS.read_text(encoding="utf-8")), PAGE, KINDS_BEGIN)
