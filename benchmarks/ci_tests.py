"""Tests from data: answers per second on one core, side by side with causal-learn in the same run.

Run: python benchmarks/ci_tests.py [additive]    (causal-learn comes with the extra [bench]; without it, ours alone)
"""

from __future__ import annotations

import itertools
import os
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from anypag.ci.additive import Additive
from anypag.ci.base import CITest, Queries
from anypag.ci.discrete import ChiSquared, GSquared, PermutationChiSquared
from anypag.ci.gaussian import FisherZ
from anypag.ci.mixed import DegenerateGaussian

os.environ.setdefault("ANYPAG_PATIENCE", "0")  # what is timed is compiled at the first call

COLUMNS = 100
ROWS = 10_000
WANTED = {"fisherz": 5e6, "gsq, 2 levels": 2e5, "gsq, 3 levels": 2e4}


def queries(r: int, count: int, columns: int = COLUMNS) -> Queries:
    """Random questions, each of different columns."""
    rng = np.random.default_rng(r)
    picks = rng.random((count, columns)).argsort(axis=1)[:, : r + 2]
    return Queries(picks[:, 0], picks[:, 1], picks[:, 2:])


def fastest(work: Callable[[], object], repeats: int = 7) -> float:
    """Seconds of the fastest of some runs, after one that compiles."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def in_turn(*works: Callable[[], object], repeats: int = 25) -> list[float]:
    """CPU seconds of the fastest of some runs of each, one after the other, after runs that compile."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeats + 1):
        for work, taken in zip(works, times, strict=True):
            start = time.process_time()
            work()
            taken.append(time.process_time() - start)
    return [min(taken[1:]) for taken in times]


def causal_learn(data: npt.NDArray[Any], method: str) -> Any:
    """A test of causal-learn, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from causallearn.utils.cit import CIT
    except ImportError:
        return None
    return CIT(data, method)


def their_rate(data: npt.NDArray[Any], method: str, asked: Queries) -> float | None:
    """Answers per second of causal-learn, none of them from its cache."""
    cit = causal_learn(data, method)
    if cit is None:
        return None
    triples = list(zip(asked.x.tolist(), asked.y.tolist(), asked.z.tolist(), strict=True))
    cit(*triples[-1])
    start = time.perf_counter()
    for triple in triples[:-1]:
        cit(*triple)
    return (len(triples) - 1) / (time.perf_counter() - start)


def line(name: str, r: int, ours: float, theirs: float | None) -> None:
    """One row of the report."""
    wanted = WANTED.get(name)
    verdict = "" if wanted is None or r > 2 else f"   wanted {wanted:>11,.0f}: {'yes' if ours >= wanted else 'NO'}"
    beside = "" if theirs is None else f"   causal-learn {theirs:>8,.0f}/s   ratio {ours / theirs:>8,.0f}"
    print(f"{name:<16} r = {r}   {ours:>12,.0f}/s{beside}{verdict}")


def compare(name: str, test: CITest, data: npt.NDArray[Any], method: str | None, sizes: range, count: int) -> None:
    """One row for every size of condition set."""
    for r in sizes:
        asked = queries(r, count)
        rate = count / fastest(partial(test.pvalues, asked))
        line(name, r, rate, their_rate(data, method, queries(r, 300)) if method else None)


def gaussian() -> None:
    """Fisher's z: p-values, and |rho| alone."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(ROWS, COLUMNS)) @ rng.normal(size=(COLUMNS, COLUMNS))
    test = FisherZ(data)
    compare("fisherz", test, data, "fisherz", range(7), 65536)
    for r in range(4):
        asked = queries(r, 65536)
        line("|rho| alone", r, 65536 / fastest(partial(test.strength, asked)), None)


def discrete() -> None:
    """G² and χ² of binary columns and columns of three levels; one very large condition set."""
    rng = np.random.default_rng(0)
    for levels, count in ((2, 5000), (3, 2000)):
        data = rng.integers(0, levels, size=(ROWS, COLUMNS))
        compare(f"gsq, {levels} levels", GSquared(data), data, "gsq", range(4), count)
        compare(f"chisq, {levels} levels", ChiSquared(data), data, "chisq", range(4), count)
    test = GSquared(rng.integers(0, 20, size=(ROWS, 9)))
    asked = Queries.one(0, 1, range(2, 9))
    seconds = fastest(lambda: test.pvalues(asked))
    tracemalloc.start()
    test.pvalues(asked)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"G² given 7 columns of 20 levels, {ROWS:,} rows: {seconds * 1e3:.2f} ms, {peak / 2**20:.1f} MiB")


def permutations() -> None:
    """χ² by its permutations beside G², in turn, CPU time: few and many levels, few and many rows."""
    rng = np.random.default_rng(0)
    for levels, rows, columns in ((2, ROWS, COLUMNS), (3, ROWS, COLUMNS), (3, 1000, 30), (8, 1000, 20), (15, 500, 10)):
        data = rng.integers(0, levels, size=(rows, columns))
        permuted, g_squared = PermutationChiSquared(data), GSquared(data)
        for r in range(4):
            asked = queries(r, 1000, columns)
            ours, theirs = in_turn(partial(permuted.pvalues, asked), partial(g_squared.pvalues, asked), repeats=5)
            name = f"permutation, {levels} levels"
            print(f"{name:<24} r = {r}   {rows:>6,} rows   {1000 / ours:>10,.0f}/s   {ours / theirs:5.2f} times G²")


def mixed() -> None:
    """The test for mixed data, half of the columns discrete."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(ROWS, COLUMNS))
    data[:, ::2] = rng.integers(0, 3, size=(ROWS, COLUMNS // 2))
    compare("mixed", DegenerateGaussian(data), data, None, range(4), 5000)


def additive() -> None:
    """The additive test beside Fisher's z, on 1,000 rows; both in turn, CPU time, each the best of several."""
    rng = np.random.default_rng(0)
    for columns in (30, COLUMNS):
        data = rng.normal(size=(1000, columns)) @ rng.normal(size=(columns, columns))
        bound, straight = Additive(data), FisherZ(data)
        for r in (0, 1, 2, 3, 5):
            asked = queries(r, 20_000, columns)
            curved, simple = in_turn(partial(bound.pvalues, asked), partial(straight.pvalues, asked))
            name = f"additive, {columns} columns"
            print(f"{name:<24} r = {r}   {20_000 / curved:>12,.0f}/s   {curved / simple:5.1f} times Fisher's z")


def all_pairs() -> None:
    """From 1,000 columns in memory to all marginal p-values."""
    data = np.random.default_rng(0).normal(size=(1000, 1000))
    pairs = np.array(list(itertools.combinations(range(1000), 2)))
    asked = Queries(pairs[:, 0], pairs[:, 1], np.empty((len(pairs), 0)))
    bind = fastest(lambda: FisherZ(data), repeats=3)
    test = FisherZ(data)
    answer = fastest(lambda: test.pvalues(asked), repeats=3)
    print(
        f"1,000 columns x 1,000 rows: bound in {bind * 1e3:.0f} ms (audit included), "
        f"{len(pairs):,} marginal p-values in {answer * 1e3:.1f} ms"
    )


def on_one_core() -> None:
    """Starts the program again with linear algebra held to one thread, which must be said before it is loaded."""
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | threads)


if __name__ == "__main__":
    on_one_core()
    print(f"{ROWS:,} rows, {COLUMNS} columns, one core\n")
    parts = {part.__name__: part for part in (gaussian, permutations, discrete, mixed, additive, all_pairs)}
    for name in sys.argv[1:] or parts:
        parts[name]()
