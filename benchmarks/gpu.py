"""A graphics card beside the CPU: single passes, and whole searches to 20,000 variables. Needs a card and CuPy.

    OPENBLAS_NUM_THREADS=1 python benchmarks/gpu.py              # some minutes
    OPENBLAS_NUM_THREADS=1 python benchmarks/gpu.py --nodes 1000 10000

First the kernels are compared with the CPU's, to the bit. Passes are timed with everything on the card, the best of
three. Searches are those of `benchmarks/scale.py` (seed 7; 1,000 rows, of 20,000 nodes 500), table in memory to
finished graph, with all threads on the CPU for what is left to it; the graphs are compared.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import anypag as ap
from anypag.choices import Choices
from anypag.ci.base import Queries
from anypag.ci.gaussian import FisherZ
from anypag.ci.gpu_card import CardError, cuda_card
from anypag.ci.passes import NearEdges
from anypag.run.engine import Search
from anypag.search.by_tests.candidates import places_of
from anypag.search.inquiry import Inquiry
from scale import drawn

ROWS = {20_000: 500}


def fastest(work: Callable[[], Any], repeats: int = 3) -> float:
    """Seconds of the fastest of some runs, after one that warms up."""
    work()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def compared(values: Any) -> str:
    """The card's kernels beside the CPU's, from one matrix."""
    test, card, rng = FisherZ(values, singular="keep"), cuda_card(), np.random.default_rng(0)
    card.take(test.correlation)
    wrong = 0
    for r in range(8):
        picks = np.stack([rng.choice(len(test.names), r + 2, replace=False) for _ in range(5000)]).astype(np.int32)
        asked = test.arranged(Queries(picks[:, 0], picks[:, 1], picks[:, 2:]))
        strengths, left_out = card.strengths(asked.x, asked.y, asked.z, 1e-10)
        wrong += int((strengths != test.strength(asked)).sum() + (left_out != test.left_out(asked)).sum())
    return f"{wrong} of 40,000 partial correlations given 0 to 7 columns differ from the CPU's in any bit"


def passes(values: Any, threads: int) -> str:
    """What single passes take, and how many tests a second that is."""
    search = Search(values, Choices(device="cuda", threads=threads))
    state, _ = next(search.steps())
    card, test = Inquiry(search.problem, 1).passes, search.problem.bound_test
    assert card is not None and isinstance(test, FisherZ)
    order, n = search.problem.nodes.order, state.n
    x, y = state.edges()
    block, skeleton = state.blocks.of_edge, state.skeleton
    edges = NearEdges(skeleton.start, skeleton.neighbour, block, x, y, block[places_of(skeleton, x, y)])
    centred = np.ascontiguousarray(values.T)
    raw = cuda_card()
    products = fastest(lambda: raw.diagonal(raw.products(centred)))
    none = fastest(lambda: card.dependent_pairs(order, 0.01, slice(0, n)))
    one = fastest(lambda: card.best_singles(order, edges, 1000))
    n_tests = card.best_singles(order, edges, 1000).n_tests
    picks = np.random.default_rng(0).integers(0, n, (2_000_000, 4)).astype(np.int32)
    two = fastest(lambda: test.strength(Queries(picks[:, 0], picks[:, 1], picks[:, 2:])))
    return (
        f"| {n:,} | {products * 1e3:.1f} | {none * 1e3:.1f} | {n * (n - 1) / 2e9 / none:.2f} | {one * 1e3:.1f} "
        f"| {n_tests / 1e9 / one:.2f} | {two * 1e3:.1f} | {2e-3 / two:.2f} |"
    )


def searches(values: Any, nodes: int, threads: int) -> list[str]:
    """Whole searches, on the card and on the CPU."""
    found, lines = {}, []
    for device in ("cuda", "cpu"):
        ap.learn(values[:, :300], device=device, threads=threads)
        began = time.perf_counter()
        result = ap.learn(values, device=device, threads=threads)
        seconds = time.perf_counter() - began
        found[device] = result.pag
        steps = ", ".join(f"{item.r}: {item.seconds:.2f}" for item in result.history)
        bound = seconds - sum(item.seconds for item in result.history)
        lines.append(f"| {nodes:,} | {values.shape[1]:,} | {device} | {seconds:.2f} | {bound:.2f} | {steps} |")
    differ = int((found["cuda"].marks != found["cpu"].marks).sum())
    return [*lines, f"| {nodes:,} | | marks that differ | {differ} | | |"]


def main() -> None:
    """The tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1000, 10_000, 20_000])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    try:
        cuda_card()
    except CardError as error:
        print(error)
        return
    threads = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        drawings = {nodes: np.load(drawn(nodes, ROWS.get(nodes, 1000), Path(folder))) for nodes in options.nodes}
        print(compared(drawings[options.nodes[0]][:, :300]), flush=True)
        print("\n| variables | products, ms | r = 0, ms | G tests/s | r = 1, ms | G tests/s | 2 M sets of two | G/s |")
        print("|---|---|---|---|---|---|---|---|")
        for values in drawings.values():
            print(passes(values, threads), flush=True)
        print(f"\n{threads} threads:\n\n| nodes | variables | device | seconds | binding | iterations |")
        print("|---|---|---|---|---|---|")
        for nodes, values in drawings.items():
            print("\n".join(searches(values, nodes, threads)), flush=True)


if __name__ == "__main__":
    main()
