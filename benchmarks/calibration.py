"""How right are statements by how often resamples make them? On systems whose truth is known.

    python benchmarks/calibration.py FOLDER [--resamples 100]

FOLDER holds tables (NAME.csv) with their truth (NAME.json: the true PAG under "truth", the DAG under "dag", "order",
"latent"). Prints, in Markdown, for half-samples and for resamples with replacement: of the statements made in a share
of the resamples, how many are right.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import anypag as ap
from anypag.arrays import Flags
from anypag.graphs.base import transitive
from anypag.graphs.marks import Mark

BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
MARKS = {"o": Mark.CIRCLE, ">": Mark.ARROW, "-": Mark.TAIL}
WAYS: tuple[Any, ...] = ("half", "bootstrap")
STATEMENTS = ("edge", "arrowhead", "tail", "is a cause", "is no cause")


def truth_of(document: Any) -> tuple[ap.PAG, Flags]:
    """The true PAG over the columns, and which column is an ancestor of which."""
    n = len(document["order"])
    marks = np.zeros((n, n), np.uint8)
    for i, j, at_i, at_j in document["truth"]:
        marks[j, i], marks[i, j] = MARKS[at_i], MARKS[at_j]
    size = 1 + max(node for edge in document["dag"] for node in edge)
    arrows = np.zeros((size, size), np.bool_)
    for parent, child in document["dag"]:
        arrows[parent, child] = True
    order = document["order"]
    return ap.PAG(marks), transitive(arrows)[np.ix_(order, order)]


def statements(s: Any, pag: ap.PAG, ancestor: Flags) -> dict[str, tuple[Any, Any]]:
    """For each kind of statement the shares of the resamples that make it, and whether it is right."""
    upper, off = np.triu_indices(len(pag), 1), ~np.eye(len(pag), dtype=np.bool_)
    joined = pag.marks > 0
    return {
        "edge": (s.adjacency[upper], joined[upper]),
        "arrowhead": (s.arrowhead[off], (~ancestor.T & joined)[off]),
        "tail": (s.tail[off], (ancestor.T & joined)[off]),
        "is a cause": (s.causes[off], ancestor[off]),
        "is no cause": (s.not_causes[off], ~ancestor[off]),
    }


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--resamples", type=int, default=100)
    arguments = parser.parse_args()
    shares: Any = defaultdict(list)
    systems = sorted(path for path in arguments.folder.glob("*.csv"))
    for done, path in enumerate(systems):
        pag, ancestor = truth_of(json.loads(path.with_suffix(".json").read_text()))
        for way in WAYS:
            s = ap.bootstrap(path, method="icd", n=arguments.resamples, resample=way)
            if s.stopped:  # Ctrl-C: tell what is known by now
                return tell(shares, done, arguments.resamples)
            for kind, (share, right) in statements(s, pag, ancestor).items():
                shares[way, kind].append((share, right))
    return tell(shares, len(systems), arguments.resamples)


def tell(shares: Any, n_systems: int, n_resamples: int) -> None:
    """Print the tables."""
    print(f"{n_systems} systems, {n_resamples} resamples each.\n")
    for way in WAYS:
        print(f"**{way}**\n")
        print_table({kind: shares[way, kind] for kind in STATEMENTS})


def print_table(found: dict[str, Any]) -> None:
    """One row for each bin: right / made."""
    print(f"| share of resamples | {' | '.join(found)} |\n|---|{'---|' * len(found)}")
    for low, high in pairwise(BINS):
        cells = []
        for pairs in found.values():
            share, right = (np.concatenate(part) for part in zip(*pairs, strict=True))
            chosen = (share >= low) & ((share < high) | (high == 1.0)) & (share > 0)
            cells.append(f"{right[chosen].mean():.2f} of {chosen.sum():,}" if chosen.any() else "none")
        print(f"| {low:.1f} to {high:.1f} | {' | '.join(cells)} |")
    brier = [np.concatenate([(share - right) ** 2 for share, right in pairs]).mean() for pairs in found.values()]
    print(f"| mean squared error | {' | '.join(f'{value:.4f}' for value in brier)} |\n")


if __name__ == "__main__":
    main()
