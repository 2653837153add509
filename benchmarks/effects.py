"""Effects from graphs: verdicts and adjustment sets of all pairs, formulas, an estimate with its interval.

    python benchmarks/effects.py

CPU seconds on true PAGs over p variables of the paper's generator (rho = 2, half of the confounders latent). "All
pairs" is the verdict and the canonical set of every ordered pair. A formula is asked for pairs, and pairs of two
causes, that have a possibly directed path between them, since the others are zero at once: "zero-rate" is their share.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import islice, permutations

import numpy as np

import anypag as ap
from anypag.effects.identify.adjustment import between, canonical
from anypag.effects.identify.causal_graph import CausalGraph, causal_graph_of

os.environ.setdefault("ANYPAG_PATIENCE", "0")  # what is timed is compiled at the first call

SEEDS = range(5)


def main() -> None:
    compile_kernels()
    print(f"{'p':>4} {'edges':>5} {'graph s':>9} {'all pairs s':>11} {'zero-rate':>9} {'adjusted':>8}")
    for n in (35, 112, 225):  # a tenth is latent
        for seed in SEEDS:
            all_pairs(n, seed)
    print(f"\n{'p':>4} {'causes':>6} {'asked':>6} {'identified':>10} {'median ms':>9} {'largest ms':>10}")
    for n in (39, 112):
        for size in (1, 2):
            formulas(n, size)
    print(f"\n{'rows':>7} {'estimate and interval s':>24}")
    for rows in (1000, 10_000, 100_000):
        estimate(rows)


def pag_of(n: int, seed: int) -> ap.PAG:
    return ap.simulate.random_system(n, 2.0, seed=seed).true_pag()


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def compile_kernels() -> None:
    list(ap.effect(ap.PAG.from_string("A o-> X; B o-> X; X --> Y"), "X", "Y", selection_bias=False).minimal_sets())


def all_pairs(n: int, seed: int) -> None:
    """One line: the verdicts of all ordered pairs of one graph."""
    pag = pag_of(n, seed)
    first = seconds(lambda: causal_graph_of(pag))
    causal = causal_graph_of(pag)
    counts = {"zero": 0, "adjustment": 0}
    spent = seconds(lambda: _verdicts(causal, counts))
    share = counts["zero"] / (len(pag) * (len(pag) - 1))
    edges = len(pag.edges())
    print(
        f"{len(pag):4d} {edges:5d} {first:9.4f} {first + spent:11.4f} {share:9.2f} {counts['adjustment']:8d}",
        flush=True,
    )


def _verdicts(causal: CausalGraph, counts: dict[str, int]) -> None:
    for x, y in permutations(range(len(causal.pag)), 2):
        way = between(causal, 1 << x, 1 << y)
        if not way.first:
            counts["zero"] += 1
        elif canonical(causal, way, causal.everyone) is not None:
            counts["adjustment"] += 1


def formulas(n: int, size: int) -> None:
    """One line: whole answers, formula and reason included, where there is a possibly directed path."""
    spent, identified = [], 0
    for seed in SEEDS:
        pag = pag_of(n, seed)
        rng = np.random.default_rng(seed)
        asked = (rng.permutation(len(pag))[: size + 1].tolist() for _ in range(100_000))
        causal = causal_graph_of(pag)
        pairs = ((x, y) for *x, y in asked if between(causal, sum(1 << v for v in x), 1 << y).first)
        for x, y in islice(pairs, 100):
            began = time.process_time()
            answer = ap.effect(pag, x, y, selection_bias=False)
            spent.append(1000 * (time.process_time() - began))
            identified += answer.is_identified
    print(
        f"{len(pag):4d} {size:6d} {len(spent):6d} {identified:10d} {np.median(spent):9.3f} {max(spent):10.2f}",
        flush=True,
    )


def estimate(rows: int) -> None:
    """One line: an adjustment by regression with 200 resamples."""
    dag = ap.DAG.from_string("age --> smoking; age --> cancer; stress --> smoking; smoking --> cancer")
    data = ap.simulate.linear_gaussian(dag, rows, seed=0)
    answer = ap.effect(ap.true_pag(dag), "smoking", "cancer", selection_bias=False)
    print(f"{rows:7d} {seconds(lambda: answer.estimated(data)):24.3f}", flush=True)


if __name__ == "__main__":
    main()
