"""`python -m certify`: every algorithm on every equivalence class of a few nodes, against the truth by definition."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from anypag.catalogue import TEST_METHODS
from certify.algorithms import COSTLY, Tally, certify
from certify.contexts import certify_contexts
from certify.knowledge import certify_knowledge
from certify.series import certify_series

HEAD = "method       nodes classes wrong skeletons wrong marks wrong on the way  tests a graph = per size 0, 1, 2, ..."
KNOWLEDGE_HEAD = f"{'knowledge':<42} nodes    cases  unsound  missed by rules  wrong closures"
SERIES_HEAD = (
    f"{'time series':<40} systems classes  wrong adjacencies  unsound  conflicts   settled of marks  "
    "agreed but open  tests"
)
CONTEXTS_HEAD = "contexts  JCI  nodes classes wrong skeletons  unsound incomplete  circles left of those without a word"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Returns 1 if an algorithm is ever wrong, else 0."""
    parser = argparse.ArgumentParser(prog="python -m certify", description=__doc__)
    parser.add_argument("--nodes", type=int, choices=range(2, 6), default=4, help="the size of the graphs (4)")
    parser.add_argument("--method", nargs="+", default=(*TEST_METHODS, f"icd{COSTLY}"), help="all of them if left out")
    parser.add_argument("--knowledge", action="store_true", help="check what follows from knowledge instead")
    parser.add_argument("--contexts", action="store_true", help="check searches that know of contexts instead")
    parser.add_argument("--series", action="store_true", help="check searches over the shifts of time series instead")
    parser.add_argument("--part", type=_part, default=(1, 1), metavar="K/M", help="of the methods: one of M parts")
    parser.add_argument("--workers", type=int, help="of the methods: processes (one for each core)")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    options = parser.parse_args(arguments)
    if options.knowledge:
        found = _knowledge(options.nodes, show=not options.json)
    elif options.contexts:
        found = _contexts(options.nodes, show=not options.json)
    elif options.series:
        found = _series(show=not options.json)
    else:
        tallies = certify(options.nodes, tuple(dict.fromkeys(options.method)), options.part, options.workers)
        found = _methods(tallies, show=not options.json)
    if options.json:
        by_kind = options.knowledge or options.contexts or options.series
        print(json.dumps({"nodes": options.nodes, "kinds" if by_kind else "methods": found}))
    return 0 if all(row["right"] for row in found) else 1


def _series(*, show: bool) -> list[dict[str, Any]]:
    if show:
        print(SERIES_HEAD)
    found = []
    for tally in certify_series():
        if show:
            wrong = tally.wrong_adjacencies + tally.missing_on_the_way
            print(
                f"{tally.kind:<40} {tally.systems:>7,} {tally.classes:>7,} {wrong:>18} {tally.unsound:>8} "
                f"{tally.conflicts:>10} {tally.settled:>8,} of {tally.marks:>5,} {tally.open_though_agreed:>16,} "
                f"{tally.tests:>6,}",
                flush=True,
            )
        found.append(tally.to_dict())
    return found


def _part(text: str) -> tuple[int, int]:
    """2/5 as (2, 5)."""
    k, m = map(int, text.split("/"))
    if not 1 <= k <= m:
        raise ValueError
    return k, m


def _methods(tallies: Iterable[Tally], *, show: bool) -> list[dict[str, Any]]:
    if show:
        print(HEAD)
    found = []
    for tally in tallies:
        if show:
            print(_line(tally), flush=True)
        found.append({**asdict(tally), "right": tally.is_right})
    return found


def _line(tally: Tally) -> str:
    per_size = "  ".join(f"{count / max(1, tally.graphs):6.2f}" for _, count in sorted(tally.tests.items()))
    return (
        f"{tally.method:<12} {tally.n:>5} {tally.graphs:>7,} {tally.wrong_skeletons:>15} {tally.wrong_marks:>11} "
        f"{tally.wrong_on_the_way:>16}  {tally.mean_tests:6.2f} = {per_size}"
    )


def _knowledge(nodes: int, *, show: bool) -> list[dict[str, Any]]:
    """What follows from knowledge; on five nodes on 5,000 of the classes."""
    tallies = certify_knowledge(nodes, 5000 if nodes == 5 else None, workers=os.cpu_count() or 1)
    if show:
        print(KNOWLEDGE_HEAD)
        for tally in tallies:
            numbers = f"{tally.cases:>8,} {tally.unsound:>8} {tally.missed_by_rules:>16,} {tally.wrong_closures:>15}"
            print(f"{tally.kind:<42} {tally.n:>5} {numbers}")
    return [{**asdict(tally), "right": tally.is_right} for tally in tallies]


def _contexts(nodes: int, *, show: bool) -> list[dict[str, Any]]:
    """What follows from contexts; on five nodes on 500 of the classes."""
    tallies = certify_contexts(nodes, 500 if nodes == 5 else None, workers=os.cpu_count() or 1)
    if show:
        print(CONTEXTS_HEAD)
        for tally in tallies:
            wrong = f"{tally.wrong_skeletons:>15} {tally.unsound:>8} {tally.incomplete:>10}"
            circles = f"{tally.circles:>12,} {tally.circles_without:>26,}"
            print(f"{tally.contexts:>8} {tally.assumptions:>4} {tally.n:>6} {tally.classes:>7,} {wrong} {circles}")
    return [{**asdict(tally), "right": tally.is_right} for tally in tallies]


if __name__ == "__main__":
    raise SystemExit(main())
