"""A graphics card beside the CPU: single passes, and whole searches to 20,000 variables. Needs a card and CuPy.

    OPENBLAS_NUM_THREADS=1 python benchmarks/gpu.py              # some minutes
    OPENBLAS_NUM_THREADS=1 python benchmarks/gpu.py --nodes 1000 10000

Passes are timed with everything on the card, the best of three.
Searches are those of `benchmarks/scale.py` (seed 7; 1,000 rows, of 20,000 nodes 500), table in memory to
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
from anypag.ci.gpu import CardError, cuda_card
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


def passes(values: Any, threads: int) -> str:
    """What single passes take, and how many tests a second that is."""
    search = Search(values, Choices(method="icd", device="cuda", threads=threads))
    state, _ = next(search.steps())
    card = Inquiry(search.problem, 1).passes
    assert card is not None
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
    return (
        f"| {n:,} | {products * 1e3:.1f} | {none * 1e3:.1f} | {n * (n - 1) / 2e9 / none:.2f} | {one * 1e3:.1f} "
        f"| {n_tests / 1e9 / one:.2f} |"
    )


def searches(values: Any, nodes: int, threads: int) -> list[str]:
    """Whole searches, on the card and on the CPU."""
    found, lines = {}, []
    for device in ("cuda", "cpu"):
        ap.learn(values[:, :300], method="icd", device=device, threads=threads)
        began = time.perf_counter()
        result = ap.learn(values, method="icd", device=device, threads=threads)
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
        print("| variables | products, ms | r = 0, ms | G tests/s | r = 1, ms | G tests/s |\n|---|---|---|---|---|---|")
        for values in drawings.values():
            print(passes(values, threads), flush=True)
        print(f"\n{threads} threads:\n\n| nodes | variables | device | seconds | binding | iterations |")
        print("|---|---|---|---|---|---|")
        for nodes, values in drawings.items():
            print("\n".join(searches(values, nodes, threads)), flush=True)


if __name__ == "__main__":
    main()
