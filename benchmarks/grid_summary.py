"""The tables of docs/accuracy.md, copied or summed up from pages that hold measurements.

    python benchmarks/grid_summary.py

Nothing is measured here. benchmarks/grid.md and kinds.md come from `grid.py tell --write` and `grid.py causes --write`,
docs/gallery/sachs.md from `sachs.py --write`. Each table stands between two marks of the page (`BLOCKS`). A line of the
grid's table is the mean over the lines that differ only in density and rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from grid import BEGIN, CAUSES_BEGIN, END
from leaderboard import cells, numbers

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
WHOLE, KINDS, SACHS, PAGE = HERE / "grid.md", HERE / "kinds.md", DOCS / "gallery" / "sachs.md", DOCS / "accuracy.md"
LEFT_OUT = ("mixed, additive", "dagma, ordinal")
GRID = ("bayes", "FCIT", "BOSS-FCI", "boss", "icd", "seconds")
PEERS = ("FCIT, prior 10", "FCIT, prior 1", "BOSS-FCI")
NETWORKS = ("bayes", *PEERS, "boss", "icd", "seconds")
SAID_WITH, CAUSE_WITH = "said with: right/of how many", "a cause with: right/of how many"
SAID = (
    *("Gaussian, 15 nodes", "Gaussian, 200 rows", "selection"),
    *("networks, nothing hidden", "networks, hidden nodes", "simulators, curved"),
)
CAUSES = (
    *("strong effects", "weak effects, up to 1,000 rows", "selection"),
    *("networks, nothing hidden", "networks, hidden nodes", "many levels"),
)
RATIOS = "Our errors / theirs, mean over lines (in how many below 1)"
LEAST, MOST = 0.6, 1.6
"""Bounds of expected / made: groups outside are named."""

Rows = list[dict[str, str]]


def tables(text: str) -> dict[str, Rows]:
    """The tables of a text by the name of their first column."""
    found: dict[str, Rows] = {}
    for block in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        head, _, *lines = (cells(line) for line in block.strip().splitlines())
        found[head[0]] = [dict(zip(head, line, strict=True)) for line in lines]
    return found


def of(page: Path, begin: str = BEGIN) -> dict[str, Rows]:
    """The tables between the two marks of a page."""
    return tables(page.read_text(encoding="utf-8").partition(begin)[2].partition(END)[0])


def shown(rows: Rows, names: Iterable[str] = ()) -> str:
    """The rows as a table, all columns or those that are named."""
    head: Sequence[str] = tuple(names) or tuple(rows[0])
    lines = [head, ["---"] * len(head), *([row[name] for name in head] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def grid() -> str:
    """Errors on the grid: means over the lines of one kind and number of nodes."""
    groups: dict[str, Rows] = {}
    for row in of(WHOLE)["cell"]:
        kind, nodes, *_ = row["cell"].split()
        groups.setdefault(f"{kind}, {nodes.removeprefix('n')} nodes", []).append(row)
    found = [{"cells": name, **{tool: _mean(part, tool) for tool in GRID}} for name, part in groups.items()]
    valid = re.search(r"^Share of graphs.*$", WHOLE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert valid is not None
    return f"{shown(found)}\n\n{RATIOS}. {ratios(of(WHOLE)['cell'], 'FCIT')}. {valid[0]}"


def _mean(rows: Rows, tool: str) -> str:
    """The mean of what the lines have; a dash where the tool did not run."""
    found = [numbers(row[tool])[0] for row in rows if numbers(row[tool])]
    return f"{fmean(found):.1f}" if found else "–"


def ratios(rows: Rows, tool: str) -> str:
    """Our errors as multiples of a tool's, line by line, on the tables that the tool finished: the mean, and how many
    are below 1.
    """
    found = [_times(row, tool) for row in rows if numbers(row[tool])]
    below = sum(ratio < 1 for ratio in found)
    return f"{tool}: {fmean(found):.2f} ({below} of {len(found)})"


def _times(row: dict[str, str], tool: str) -> float:
    """The sum of our errors / the sum of a tool's errors, at least 1. A cell has the mean of the tool's and, if it did
    not finish all tables, ours on the others and their number.
    """
    theirs, ours, tables = [*numbers(row[tool]), *numbers(row["bayes"]), *numbers(row["tables"])][:3]
    return ours * tables / max(theirs * tables, 1)


def networks() -> str:
    """Errors on networks and simulators; a line has both tables with nothing hidden and those with hidden nodes."""
    of_networks, of_simulators = of(WHOLE)["network"], of(WHOLE)["simulator"]
    named = ((re.sub(r"^\w+", r"\g<0> simulators", row["simulator"]), row) for row in of_simulators)
    rows = [*of_networks, *({"network": name, **row} for name, row in named)]
    by_name = {row["network"]: row for row in rows}
    pairs = [(row, by_name[f"{name}, hidden nodes"]) for name, row in by_name.items() if "hidden" not in name]
    found = [
        {"network": row["network"], **{tool: _both(row, other, tool) for tool in NETWORKS}} for row, other in pairs
    ]
    beside = "; ".join(ratios(of_networks, tool) for tool in (*PEERS, "boss"))
    return f"{shown(found)}\n\n{RATIOS}, networks only. {beside}."


def _both(nothing: dict[str, str], hidden: dict[str, str], tool: str) -> str:
    """Both cells, without how many tables a tool finished."""
    both = [re.sub(r" of \d+\)", ")", row.get(tool, "–")) for row in (nothing, hidden)]
    return "–" if both == ["–", "–"] else "/".join(both)


def honesty() -> str:
    """Made and expected errors, the groups where they differ much, and marks by what they are said with."""
    found = of(WHOLE)
    for row in found["odd seeds"]:
        row["expected / made"] = f"{_ratio(row):.2f}"
        row["said not to fit"] += f"/{row['tables']}"
    names = ("odd seeds", "made", "expected", "expected / made", "said not to fit")
    outside = f"Expected / made is outside {LEAST}–{MOST} for: {'; '.join(_outside())}."
    bins = [row for row in found[SAID_WITH][1:] if any(row[part] != "–" for part in SAID)]
    return "\n\n".join([shown(found["odd seeds"], names), outside, shown(bins, (SAID_WITH, *SAID))])


def _ratio(row: dict[str, str]) -> float:
    return float(row["expected"]) / float(row["made"])


def _outside() -> Iterator[str]:
    """The groups for which far too few or far too many errors are expected; kinds of columns with 1,000/5,000 rows."""
    groups: dict[str, list[float]] = {row["odd seeds"]: [_ratio(row)] for row in of(WHOLE)["odd seeds"]}
    for row in of(KINDS)["kind, way"]:
        groups.setdefault(row["kind, way"], []).append(_ratio(row))
    for name, found in groups.items():
        if not all(LEAST <= round(ratio, 2) <= MOST for ratio in found):
            yield f"{name}: {'/'.join(f'{ratio:.2f}' for ratio in found)}"


def causes() -> str:
    """Causes by what they are said with."""
    return shown(of(WHOLE, CAUSES_BEGIN)[CAUSE_WITH], (CAUSE_WITH, *CAUSES))


def kinds() -> str:
    """The table about kinds of columns: a line for each kind and way, with the numbers of 1,000/5,000 rows."""
    lines: dict[str, Rows] = {}
    for row in of(KINDS)["kind, way"]:
        if row["kind, way"] not in LEFT_OUT:
            lines.setdefault(row["kind, way"], []).append(row)
    names = ("made", "expected", "boss", "icd", "said not to fit")
    found = [{name: "/".join(row[name].split("/")[0] for row in rows) for name in names} for rows in lines.values()]
    return shown([{"kind, way": way, **row} for way, row in zip(lines, found, strict=True)])


def sachs() -> str:
    """What is found in all rows of the Sachs proteins, without their conditions."""
    rows = [row for row in tables(SACHS.read_text(encoding="utf-8"))["way"] if row["way"].startswith("all rows")]
    return shown(rows, [name for name in rows[0] if name not in {"way", "CPU s"}])


BLOCKS = (grid, networks, honesty, causes, kinds, sachs)


def page(text: str) -> str:
    """The page with new tables."""
    for block in BLOCKS:
        before, mark, rest = text.partition(f"<!-- grid_summary.py: {block.__name__} -->\n")
        if not mark:
            raise SystemExit(f"{PAGE} has no place for: {block.__name__}.")
        text = f"{before}{mark}{block()}\n{END}{rest.partition(END)[2]}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
