"""docs/leaderboard.md: every table of the docs that has other tools beside ours, and the lines that we lose first.

    python benchmarks/leaderboard.py

Numbers are read from the pages that hold the measurements; nothing is measured here. A line is lost if the best other
tool has a better number. Where a tool did not finish all tables of a line, a page has our number on those it finished
in brackets, `36.0 (23.6 of 9)`, and the two of these are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "leaderboard.md"
MOST_TOLD = 10
"""Of a comparison with more lost lines only some are told; its table has all."""
NUMBER = re.compile(r"[-+]?[\d,]*\.?\d+")


class Line(NamedTuple):
    """One line of a comparison: our number, and the best of the others."""

    name: str
    ours: float
    other: float
    tool: str


class Comparison(NamedTuple):
    """A table of a page: which of its columns, or of its rows, are ours and which are others'."""

    about: str
    page: str
    head: str
    """How the table's first line begins."""
    key: tuple[str, ...]
    """The columns that name a line."""
    ours: str
    others: tuple[str, ...]
    command: str
    value: str = ""
    """Where tools are rows: the column that is compared. Empty: tools are columns."""
    more_is_better: bool = False
    part: int | None = None
    """Where a cell has several numbers: which of them."""


COMPARISONS = (
    Comparison(
        "errors on our grid, `bayes`", "benchmarks/grid.md", "| cell |", ("cell",), "bayes", ("FCIT", "BOSS-FCI"),
        "benchmarks/grid.py",
    ),
    Comparison(
        "errors on public networks, `bayes`", "benchmarks/grid.md", "| network |", ("network",), "bayes",
        ("FCIT, prior 10", "FCIT, prior 1", "BOSS-FCI"), "benchmarks/grid.py",
    ),
    Comparison(
        "marks right with experiments, `bayes`", "docs/howto/several-data-sets.md", "| way |", ("rows a set",),
        "pooled, `bayes`", ("causal-learn's CD-NOD",), "benchmarks/contexts.py", "marks right", more_is_better=True,
    ),
    Comparison(
        "marks wrong with experiments, `bayes`", "docs/howto/several-data-sets.md", "| way |", ("rows a set",),
        "pooled, `bayes`", ("causal-learn's CD-NOD",), "benchmarks/contexts.py", "wrong",
    ),
    *(
        Comparison(
            about, "benchmarks/series.md", "| system |", ("system",), "`auto`",
            ("LPCMCI, 1", "LPCMCI, 4"), "benchmarks/series.py", value,
            more_is_better=value != "CPU seconds", part=part,
        )
        for about, value, part in (
            ("precision of edges in series, `auto`", "precision / recall of edges", 0),
            ("recall of edges in series, `auto`", "precision / recall of edges", 1),
            ("share of marks right in series, `auto`", "right", None),
            ("CPU seconds in series, `auto`", "CPU seconds", None),
        )
    ),
    Comparison(
        "CRPS of effects, `if_causal`", "benchmarks/effects_compared.md",
        "| cell, rows | effects | all draws | `if_causal`",
        ("cell, rows",), "`if_causal`", ("all columns adjusted",), "benchmarks/effects_coverage.py", part=-1,
    ),
    Comparison(
        "CPU seconds, `icd`", "benchmarks/results.md", "| nodes |", ("nodes",), "anypag", ("causal-learn FCI",),
        "benchmarks/speed.py", "CPU s",
    ),
    Comparison(
        "extra edges, `icd`", "benchmarks/results.md", "| nodes |", ("nodes",), "anypag", ("causal-learn FCI",),
        "benchmarks/speed.py", "extra",
    ),
    Comparison(
        "missing edges, `icd`", "benchmarks/results.md", "| nodes |", ("nodes",), "anypag", ("causal-learn FCI",),
        "benchmarks/speed.py", "missing",
    ),
    Comparison(
        "wrong marks, `icd`", "benchmarks/results.md", "| nodes |", ("nodes",), "anypag", ("causal-learn FCI",),
        "benchmarks/speed.py", "marks",
    ),
)  # fmt: skip
"""A new comparison with another tool gets its entry here."""


def table_of(comparison: Comparison) -> list[dict[str, str]]:
    """The rows of its table, each by the names of the columns; an empty first cell repeats the one above it."""
    lines = iter((ROOT / comparison.page).read_text(encoding="utf-8").splitlines())
    head = next(line for line in lines if line.startswith(comparison.head))
    names, rows = cells(head), list[dict[str, str]]()
    for line in lines:
        if not line.startswith("|"):
            break
        row = cells(line)
        rows.append(dict(zip(names, [row[0] or rows[-1][names[0]], *row[1:]], strict=True)))
    return rows[1:]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def numbers(cell: str) -> list[float]:
    return [float(found.replace(",", "")) for found in NUMBER.findall(cell)]


def lines_of(comparison: Comparison) -> Iterator[Line]:
    """Its lines, those without another tool left out."""
    rows = table_of(comparison)
    if not comparison.value:
        yield from (line for row in rows for line in by_columns(comparison, row))
        return
    tool = next(name for name in rows[0] if comparison.ours in {row[name] for row in rows})
    groups: dict[str, dict[str, str]] = {}
    for row in rows:
        groups.setdefault(", ".join(row[name] for name in comparison.key), {})[row[tool]] = row[comparison.value]
    for name, said in groups.items():
        part = comparison.part or 0
        found = {other: numbers(said[other])[part] for other in comparison.others if numbers(said.get(other, ""))}
        if found:
            best = (max if comparison.more_is_better else min)(found, key=lambda one: found[one])
            yield Line(name, numbers(said[comparison.ours])[part], found[best], best)


def by_columns(comparison: Comparison, row: dict[str, str]) -> Iterator[Line]:
    """The line of a row whose columns are tools: the other that is best beside our number on the same tables."""
    found = []
    for tool in comparison.others:
        said, ours = numbers(row[tool]), numbers(row[comparison.ours])
        if said and comparison.part is not None:
            found.append(Line(row[comparison.key[0]], ours[comparison.part], said[comparison.part], tool))
        elif said:
            found.append(Line(row[comparison.key[0]], said[1] if len(said) > 1 else ours[0], said[0], tool))
    if found:
        yield max(found, key=lambda line: line.ours / max(line.other, 0.001))


def is_lost(comparison: Comparison, line: Line) -> bool:
    return line.ours < line.other if comparison.more_is_better else line.ours > line.other


def text() -> str:
    """The page."""
    found = {comparison: list(lines_of(comparison)) for comparison in COMPARISONS}
    lost = {one: [line for line in lines if is_lost(one, line)] for one, lines in found.items()}
    told = [f"| {one.about} | {lines_told(lines)} |" for one, lines in lost.items() if lines]
    return "\n".join([HEAD, *told, ALL, *(summary(one, lines) for one, lines in found.items()), TAIL])


def lines_told(lines: list[Line]) -> str:
    """All lines that are lost; of many the three that are lost by the largest factor, and how many there are."""
    if len(lines) <= MOST_TOLD:
        return "; ".join(map(lost_told, lines))
    worst = sorted(lines, key=lambda line: -max(line.ours, line.other) / max(min(line.ours, line.other), 0.001))
    return f"{len(lines)} lines, by the most: {'; '.join(map(lost_told, worst[:3]))}"


def lost_told(line: Line) -> str:
    return f"{line.name.strip('*')}: {line.ours:g} to {line.other:g} ({line.tool})"


def summary(comparison: Comparison, lines: list[Line]) -> str:
    """One row: how many lines there are, and how many are won, equal and lost."""
    lost = sum(is_lost(comparison, line) for line in lines)
    equal = sum(line.ours == line.other for line in lines)
    page = comparison.page.removeprefix("docs/")
    where = f"[{page}]({page})" if comparison.page.startswith("docs/") else f"`{page}`"
    counts = f"{len(lines) - lost - equal}/{equal}/{lost}"
    tools = "; ".join(tool for tool in comparison.others if not tool.endswith("(G²)"))
    return f"| {comparison.about} | {tools} | {counts} | `{comparison.command}`, {where} |"


HEAD = """# Beside other tools

Every comparison that these pages hold, read from their tables by `python benchmarks/leaderboard.py`. A line is lost if
the best of the other tools has the better number; differences within chance count too.

## Where we lose

| compared | our number to the best other's |
|---|---|"""
ALL = """
## All comparisons

| compared | with | lines better/equal/worse | command, table |
|---|---|---|---|"""
TAIL = """
Effects also stand beside [published numbers](gallery/textbook.md), our tests beside those of causal-learn
([tests](tests.md)).

Where to go next: [accuracy](accuracy.md), [performance](performance.md).
"""

if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
