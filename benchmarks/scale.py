"""Thousands of variables: against another commit, in threads, and how cost grows. `benchmarks/speed.py` is the door.

    python benchmarks/speed.py --against HEAD~1     # this tree and another commit in turn, as ratios
    python benchmarks/speed.py --cores              # 1,000 to 20,000 variables in 1, 4 and all threads; peak memory

Systems as in `speed.py` (seed 7), 1,000 rows, of 20,000 nodes 500 rows; against a commit with one thread for linear
algebra (older ones did not see to that themselves), on cores as installed. Every figure is from a process of its own,
which has compiled and tested 200 columns before: memory is what the first search took beyond that, for each pair of
variables (n²), and whole; time is the least of searches of the same table for three seconds. Commits are measured in
turn; their ratios are of CPU time, the best of each. Against a commit there are small tables too, a discrete one,
"bayes", a long discrete table and a long CSV file.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

SINGLE = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
ROUNDS = 3
AGAINST = (
    *(("icd", f"{n}x1000") for n in (35, 100, 500, 1000, 3000, 5000)),
    ("icd", "20x10000 discrete"),
    ("bayes", "20x1000"),
    ("icd", "10x1000000 discrete"),
    ("icd", "20x200000 csv"),
)
"""The method, and the nodes, rows and kind of the table."""
ON_CORES = ((1000, 1000), (3000, 1000), (10_000, 1000), (20_000, 500))
"""Nodes and rows."""
GROWTH_TO = 10_000
WARM = 200
SECONDS_OF_REPEATS = 3.0


@dataclass(frozen=True)
class Run:
    """One search, in a process of its own."""

    variables: int
    seconds: float
    cpu: float
    peak_mb: float
    before_mb: float
    steps: list[tuple[int, int, float]]
    """Iteration, tests, seconds."""

    @property
    def bytes_a_pair(self) -> float:
        """What the search took beyond the warmed-up process, for each of n² pairs."""
        return (self.peak_mb - self.before_mb) * 2**20 / self.variables**2


def drawn(nodes: int, rows: int, folder: Path, kind: str = "") -> Path:
    """The sample of a system, in a file."""
    import anypag as ap

    path = folder / (f"{nodes}x{rows}{kind}.csv" if kind == "csv" else f"{nodes}x{rows}{kind}.npy")
    if not path.exists():
        system = ap.simulate.random_system(nodes, 2.0, seed=7)
        sample = system.discrete(rows, seed=7) if kind == "discrete" else system.linear_gaussian(rows, seed=7)
        if kind == "csv":
            np.savetxt(path, sample.rows, delimiter=",", fmt="%.6f", header=",".join(sample.names), comments="")
        else:
            np.save(path, sample.rows)
    return path


def peak_mb() -> float:
    """The most memory the process has had since `forget_peak`; where Linux does not tell, since it began."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    found = [line for line in lines if line.startswith("VmHWM")]
    return int(found[0].split()[1]) / 1024 if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def forget_peak() -> None:
    """Start to measure anew: a process takes over what its parent had at the most."""
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5")


def run_here(path: Path, threads: int, method: str) -> Run:
    """Search after a warm-up, again and again for some seconds: memory is that of the first search, time the least."""
    import warnings

    import anypag as ap

    warnings.simplefilter("ignore")
    values = np.load(path) if path.suffix == ".npy" else path
    first = values if isinstance(values, np.ndarray) else np.loadtxt(path, delimiter=",", skiprows=1, max_rows=9999)
    warm = first[:10_000, :WARM]
    options: dict[str, Any] = {"method": method, "test": "gsq" if "discrete" in path.name else "fisherz"}
    ap.learn(warm, threads=threads, **options)
    ap.learn(warm, threads=1, **options)
    forget_peak()
    before = peak_mb()
    runs = [_timed(values, threads, options)]
    peak = peak_mb()
    while sum(seconds for seconds, _, _ in runs) < SECONDS_OF_REPEATS:
        runs.append(_timed(values, threads, options))
    seconds, _, steps = min(runs)
    return Run(first.shape[1], seconds, min(cpu for _, cpu, _ in runs), peak, before, steps)


def _timed(
    values: npt.NDArray[np.float64] | Path, threads: int, options: dict[str, Any]
) -> tuple[float, float, list[tuple[int, int, float]]]:
    """Wall and CPU seconds of one search, and of its iterations."""
    import anypag as ap

    began, cpu = time.perf_counter(), time.process_time()
    result = ap.learn(values, threads=threads, **options)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return seconds, cpu, [(item.r, item.info.n_tests, item.seconds) for item in result.history]


def run_apart(
    path: Path, threads: int, source: Path | None = None, cache: Path | None = None, method: str = "icd"
) -> Run:
    """The same in another process, perhaps with the package of another folder."""
    environment = dict(os.environ)
    if source is not None:
        environment |= {**SINGLE, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, __file__, str(path), str(threads), method]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return Run(**json.loads(done.stdout.splitlines()[-1]))


def best(runs: Sequence[Run]) -> Run:
    """The one with the least CPU time."""
    return min(runs, key=lambda run: run.cpu)


def against(commit: str, folder: Path) -> Iterator[str]:
    """This tree and another commit, in turn."""
    root, other = Path(__file__).parents[1], folder / "other"
    subprocess.run(["git", "-C", str(root), "worktree", "add", "--detach", str(other), commit], check=True)
    try:
        sources = {commit: other / "src", "here": root / "src"}
        yield f"CPU seconds of one thread, this tree and {commit} in turn, best of {ROUNDS}, and what a search takes:"
        yield "\n| method, table | variables | before | now | times as fast | MB before | now | bytes a pair | now |"
        yield "|---|---|---|---|---|---|---|---|---|"
        for method, table in AGAINST:
            size, _, kind = table.partition(" ")
            nodes, rows = map(int, size.split("x"))
            path = drawn(nodes, rows, folder, kind)
            runs: dict[str, list[Run]] = {name: [] for name in sources}
            for _ in range(ROUNDS):
                for name, source in sources.items():
                    runs[name].append(run_apart(path, 1, source, folder / f"cache-{name}", method))
            old, new = (best(runs[name]) for name in sources)
            peaks = " | ".join(f"{run.peak_mb - run.before_mb:.1f}" for run in (old, new))
            sizes = f"{old.bytes_a_pair:.0f} | {new.bytes_a_pair:.0f}" if new.variables > 500 else "|"
            times = f"{old.cpu:.4g} | {new.cpu:.4g} | {old.cpu / new.cpu:.2f}"
            yield f"| {method}, {table} | {new.variables:,} | {times} | {peaks} | {sizes} |"
    finally:
        subprocess.run(["git", "-C", str(root), "worktree", "remove", "--force", str(other)], check=True)


def on_cores(folder: Path) -> Iterator[str]:
    """One thread, four, and one for every core."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield "| nodes | rows | variables | threads | seconds | CPU s | peak GB | bytes a pair | iterations: s (tests) |"
    yield "|---|---|---|---|---|---|---|---|---|"
    alone: list[Run] = []
    for nodes, rows in ON_CORES:
        path = drawn(nodes, rows, folder)
        for threads in sorted({1, min(4, cores), cores}):
            runs = [run_apart(path, threads) for _ in range(ROUNDS if nodes <= 3000 else 1)]
            run = min(runs, key=lambda run: run.seconds)
            alone += [run] if threads == 1 and nodes <= GROWTH_TO else []
            yield f"| {nodes:,} | {rows} | {run.variables:,} | {threads} {_row(run)} |"
    yield f"\n{_growth(alone)}"


def _row(run: Run) -> str:
    steps = ", ".join(f"{r}: {seconds:.3f} ({tests:,})" for r, tests, seconds in run.steps)
    return f"| {run.seconds:.3f} | {run.cpu:.2f} | {run.peak_mb / 1024:.2f} | {run.bytes_a_pair:.1f} | {steps}"


def _growth(runs: Sequence[Run]) -> str:
    """The exponents k in cost ~ variables^k."""
    x = np.log([run.variables for run in runs])
    time_like, memory_like = (
        np.polyfit(x, np.log(y), 1)[0]
        for y in ([run.cpu for run in runs], [run.peak_mb - run.before_mb for run in runs])
    )
    at = ", ".join(f"{run.variables:,}" for run in runs)
    return f"Growth at {at} variables, one thread: CPU time ~ n^{time_like:.2f}, memory ~ n^{memory_like:.2f}."


def report(commit: str | None) -> None:
    """Print the table against a commit, or that of threads."""
    with tempfile.TemporaryDirectory() as name:
        for line in against(commit, Path(name)) if commit else on_cores(Path(name)):
            print(line, flush=True)


if __name__ == "__main__":
    print(json.dumps(asdict(run_here(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))))
