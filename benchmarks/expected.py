"""How good the times are that a run says beforehand: what was said at the beginning of a phase, and what it took.

    python benchmarks/expected.py [SECONDS]

Of each run the phases count for which at least so many seconds (3) were said, each with the first time that was said.
Results in `docs/reliability.md`.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import anypag as ap
from anypag.search.progress import Progress


class Said(NamedTuple):
    """A phase, when it was said how long it will take, and how long it took from then on."""

    where: str
    at: float
    said: float
    took: float


def heard(learn: Callable[..., object], least: float) -> Iterator[Said]:
    """What a run says of its long phases."""
    ticks = list[tuple[float, Progress]]()
    began = time.perf_counter()
    learn(progress=lambda progress: ticks.append((time.perf_counter() - began, progress)))
    phases: list[list[tuple[float, Progress]]] = []
    for now, at in ticks:
        if not phases or phases[-1][-1][1].where != at.where or at.done < phases[-1][-1][1].done:
            phases.append([])
        phases[-1].append((now, at))
    for phase in phases:
        long = [(now, at) for now, at in phase if at.seconds_left is not None and at.seconds_left >= least]
        if long:
            now, at = long[0]
            yield Said(at.where, now - phase[0][0], at.seconds_left or 0.0, phase[-1][0] - now)


def table(n: int, rows: int, neighbours: float, seed: int = 1) -> dict[str, Any]:
    """A linear system of numbers."""
    return dict(ap.simulate.linear_gaussian(ap.simulate.random_dag(n, neighbours, seed=seed), rows, seed=seed))


def levels(columns: dict[str, Any]) -> dict[str, Any]:
    """The columns, each cut into three levels."""
    return {name: np.digitize(x, np.quantile(x, [0.33, 0.66])) for name, x in columns.items()}


def slow_test() -> ap.CITest:
    """A test of one's own that takes five milliseconds a question."""
    quick = ap.FisherZ(table(14, 400, 4.0))

    def pvalue(x: int, y: int, z: tuple[int, ...]) -> float:
        time.sleep(0.005)
        return float(quick.pvalues(ap.Queries.one(x, y, z))[0])

    return ap.from_callable(pvalue, quick.names)


RUNS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "icd, 14 variables, 5 ms a test": (slow_test, {"method": "icd"}),
    "icd, 60 columns of levels": (lambda: levels(table(60, 2000, 6.0)), {"method": "icd", "max_r": 3}),
    "rfci, 60 columns of levels": (lambda: levels(table(60, 2000, 6.0)), {"method": "rfci", "max_r": 3}),
    "boss, 100 numbers with 8 neighbours": (lambda: table(100, 1000, 8.0), {"method": "boss"}),
    "bayes, 40 numbers": (lambda: table(40, 500, 4.0), {"method": "bayes"}),
}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    least = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    print("| run | phase | said after | said | took |\n|---|---|---|---|---|")
    for name, (data, choices) in RUNS.items():
        for where, *seconds in heard(partial(ap.learn, data(), time_budget=300.0, **choices), least):
            print(f"| {name} | {where} | " + " | ".join(f"{x:.1f} s" for x in seconds) + " |", flush=True)
