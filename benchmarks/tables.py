"""Discrete tables: this tree beside another commit, by default the one before rows were counted for several tests.

    python benchmarks/tables.py [--resamples] [--against COMMIT]

Systems of 20 nodes (ρ = 2.5, seeds 1 to 6; 18 or 19 observed) with two or three levels, 10,000 rows. CPU time of one
thread, the two trees in turn, least of three processes with six runs each: making the test out of the rows (levels,
audit), the search, and the answers to its questions alone, as the search asks for them. What the searches find must be
the same, p-values to the bit. With `--resamples`: `bootstrap` with ten resamples, which have more edges and larger
condition sets, per resample and with all else that it does.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

BEFORE = "0fe6b01"
ROWS, SEEDS, RUNS, PROCESSES, RESAMPLES = 10_000, range(1, 7), 6, 3, 10
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
Figures = dict[str, Any]


def rows_of(seed: int) -> Any:
    """A table. Public names only, here and below: they are those of both commits."""
    import numpy as np

    import anypag as ap

    system, rng = ap.simulate.random_system(20, 2.5, seed=seed), np.random.default_rng(seed)
    levels = {name: int(k) for name, k in zip(system.dag.names, rng.integers(2, 4, len(system.dag.names)), strict=True)}
    return system.discrete(ROWS, levels=levels, seed=seed).rows


def measured(kind: Any, seed: int) -> Figures:
    """Of one table: seconds to make the test, to search and to answer, and what was found."""
    import anypag as ap

    rows, seconds, result = rows_of(seed), [], None
    for _ in range(RUNS + 1):  # the first compiles
        began = time.process_time()
        test = kind(rows)
        made = time.process_time()
        result = ap.learn(test, method="icd")
        seconds.append((made - began, time.process_time() - made))
    answers = min(_answering(kind(rows)) for _ in range(RUNS))
    assert result is not None
    kept = sorted((*sorted((edge.a, edge.b)), result.kept_p(edge.a, edge.b).hex()) for edge in result.pag.edges())
    apart = [(pair, why.given, why.p.hex()) for pair, why in sorted(result.sepsets.items())]
    found = digest((result.pag.marks.tolist(), kept, apart))
    least = [min(part) for part in zip(*seconds[1:], strict=True)]
    return {"made": least[0], "search": least[1], "answers": answers, "tests": result.n_tests, "found": found}


def digest(found: Any) -> str:
    """A short word for something found, the same for the same bits."""
    return hashlib.blake2b(repr(found).encode(), digest_size=8).hexdigest()


def resampled(test: str, seed: int) -> Figures:
    """Of one table: seconds a resample, and the share of resamples that have each mark."""
    import anypag as ap

    rows, seconds, result = rows_of(seed), [], None
    for _ in range(3):  # the first compiles
        began = time.process_time()
        result = ap.bootstrap(rows, RESAMPLES, method="icd", seed=seed, test=test)
        seconds.append((time.process_time() - began) / RESAMPLES)
    assert result is not None
    marks = [share.tolist() for share in (result.adjacency, result.arrowhead, result.tail, result.circle)]
    return {"resample": min(seconds[1:]), "found": digest(marks)}


def _answering(test: Any) -> float:
    """CPU seconds of a search that are spent within the test."""
    import anypag as ap

    spent, answer = 0.0, test.pvalues

    def timed(queries: Any) -> Any:
        nonlocal spent
        began = time.process_time()
        answers = answer(queries)
        spent += time.process_time() - began
        return answers

    test.pvalues = timed
    ap.learn(test, method="icd")
    return spent


def all_measured() -> dict[str, Figures]:
    """Of every table, under both tests."""
    from anypag.ci.discrete import ChiSquared, GSquared

    warnings.simplefilter("ignore")
    return {f"{kind.__name__} {seed}": measured(kind, seed) for kind in (GSquared, ChiSquared) for seed in SEEDS}


def all_resampled() -> dict[str, Figures]:
    """Of every table, under both tests."""
    warnings.simplefilter("ignore")
    return {f"{test} {seed}": resampled(test, seed) for test in ("gsq", "chisq") for seed in SEEDS}


def in_tree(tree: Path, cache: Path, what: str) -> dict[str, Figures]:
    """The same in a process of its own, with the source of a tree."""
    environment = {**os.environ, **ONE_THREAD, "ANYPAG_PATIENCE": "0", "NUMBA_CACHE_DIR": str(cache)}
    environment["PYTHONPATH"] = str(tree / "src")
    command = [sys.executable, str(Path(__file__).resolve()), "--measure", what]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, cwd=cache)
    figures: dict[str, Figures] = json.loads(done.stdout.splitlines()[-1])
    return figures


def least_of(runs: list[dict[str, Figures]], table: str) -> Figures:
    """The least of each figure over processes."""
    parts = ("made", "search", "answers")
    return {**runs[0][table], **{part: min(run[table][part] for run in runs) for part in parts}}


def compared(table: str, before: Figures, now: Figures) -> str:
    """One line of the table."""
    each = [f"{1e6 * figures['answers'] / figures['tests']:.1f}" for figures in (before, now)]
    search, made = ([f"{1e3 * figures[part]:.1f}" for figures in (before, now)] for part in ("search", "made"))
    of_search, of_answers = (f"{before[part] / now[part]:.1f}" for part in ("search", "answers"))
    same = "yes" if (before["found"], before["tests"]) == (now["found"], now["tests"]) else "NO"
    columns = (*table.split(), f"{now['tests']:,}", *search, of_search, *each, of_answers, *made, same)
    return f"| {' | '.join(columns)} |"


def search_table(runs: list[tuple[dict[str, Figures], dict[str, Figures]]]) -> None:
    """What searches took."""
    print(
        "| test | seed | tests | search before, ms | now | times as fast | µs a test before | now | times as fast |",
        end="",
    )
    print(" making the test before, ms | now | same bits |")
    print(f"|{'---|' * 12}")
    for table in runs[0][0]:
        print(compared(table, *(least_of([pair[k] for pair in runs], table) for k in (0, 1))))


def resample_table(before: dict[str, Figures], now: dict[str, Figures]) -> None:
    """What resamples took."""
    print("| test | seed | a resample before, ms | now | times as fast | same shares |")
    print(f"|{'---|' * 6}")
    for table, then in before.items():
        each = [1e3 * figures["resample"] for figures in (then, now[table])]
        same = "yes" if then["found"] == now[table]["found"] else "NO"
        figures = (*table.split(), f"{each[0]:.1f}", f"{each[1]:.1f}", f"{each[0] / each[1]:.1f}", same)
        print(f"| {' | '.join(figures)} |")


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", default=BEFORE, metavar="COMMIT")
    parser.add_argument("--resamples", action="store_true", help="what resamples take, not searches")
    parser.add_argument("--measure", choices=("searches", "resamples"), help="this tree only, as JSON")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(all_resampled() if options.measure == "resamples" else all_measured()))
        return
    what, processes = ("resamples", 1) if options.resamples else ("searches", PROCESSES)
    here = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        other, caches = Path(folder) / "tree", [Path(folder) / name for name in ("before", "now")]
        for cache in caches:
            cache.mkdir()
        subprocess.run(["git", "worktree", "add", "--detach", str(other), options.against], cwd=here, check=True)
        try:
            runs = [(in_tree(other, caches[0], what), in_tree(here, caches[1], what)) for _ in range(processes)]
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(other)], cwd=here, check=True)
    if options.resamples:
        resample_table(*runs[0])
    else:
        search_table(runs)


if __name__ == "__main__":
    main()
