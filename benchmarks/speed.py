"""How fast, how lean and how right: whole searches, data matrix in and finished graph out, beside other tools.

    python benchmarks/speed.py                  # some minutes
    python benchmarks/speed.py --write          # the same, kept in benchmarks/results.md
    python benchmarks/speed.py --large          # 5,000 variables too
    python benchmarks/speed.py --only 35 100    # some cases
    python benchmarks/speed.py --against HEAD~1 # time and memory of small and large tables, another commit in turn
    python benchmarks/speed.py --cores          # 1,000 to 20,000 variables in 1, 4 and all threads
    python benchmarks/speed.py --small          # where the milliseconds go with 35 to 1,000 nodes

Random systems as in the paper on ICD (half of the confounders hidden; of 1,000 nodes about 900 are observed), linear
with Gaussian noise, alpha = 0.01. Every row of the table is a process of its own: its peak memory is that of Python,
the libraries, the data and the search together. Times are wall time, the best of several runs after one that compiles;
CPU time stands beside, since other programs may run. All tools read the same file; causal-learn comes with the extra
[bench], pcalg is used where `Rscript` has it, and neither is needed. Graphs are compared with the true PAG: extra
edges, missing edges, wrong marks on shared edges. Up to 200 nodes there are several systems a case: medians.
"One hidden cause" is as hard as a graph can be: no set of others separates any two variables.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, astuple, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import scale
import small

os.environ.setdefault("ANYPAG_PATIENCE", "0")  # what is timed is compiled at the first call

RESULTS = Path(__file__).with_name("results.md")
ALPHA = 0.01
SECONDS_OF_REPEATS = 3.0
SECONDS_FOR_OTHERS = 120.0
# one thread for linear algebra, always: after a product its threads spin for a while and keep a core from the search
SINGLE = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Case:
    """A system and a sample from it."""

    label: str
    nodes: int
    neighbours: float = 2.0
    rows: int = 1000
    kind: str = "gaussian"
    max_r: int | None = None

    @property
    def seeds(self) -> range:
        """One system is as good as another where there are many variables, but not where there are few."""
        return range(7, 12) if self.nodes <= 200 and self.max_r is None else range(7, 8)


CASES = (
    *(Case(str(n), n) for n in (15, 35, 100, 200, 500, 1000)),
    Case("1,000 observed", 1113),
    Case("100, rho = 4", 100, neighbours=4.0),
    Case("discrete, 20 x 10,000", 20, rows=10_000, kind="discrete"),
    Case("one hidden cause, r ≤ 5", 25, rows=20_000, kind="hidden cause", max_r=5),
)
LARGE = Case("5,000", 5000, rows=2000)

GROWTH: dict[str, list[tuple[float, Case]]] = {
    "variables": [(n, Case(f"{n} nodes", n)) for n in (125, 250, 500, 1000)],
    "density": [(rho, Case(f"rho {rho}", 100, neighbours=rho)) for rho in (2.0, 2.5, 3.0, 3.5, 4.0)],
    "rows": [(rows, Case(f"{rows} rows", 100, rows=rows)) for rows in (500, 2000, 8000, 32_000)],
}


@dataclass(frozen=True)
class Measured:
    """What one tool did with one case."""

    tool: str
    seconds: float
    cpu: float
    megabytes: float
    variables: float
    edges: float
    extra: float
    missing: float
    wrong_marks: float
    tests: float | None = None


# --- the tools ------------------------------------------------------------------------------------------------------

Marks = npt.NDArray[np.uint8]
Learned = tuple[Marks, int | None]
"""The marks, and how many tests were asked for if the tool says so."""


def anypag(values: npt.NDArray[Any], names: list[str], case: Case, threads: int) -> Learned:
    import anypag as ap

    test = "gsq" if case.kind == "discrete" else "fisherz"
    options: dict[str, Any] = {"test": test, "alpha": ALPHA, "max_r": case.max_r, "threads": threads}
    result = ap.learn(values, names=names, method="icd", **options)
    return result.pag.marks, result.n_tests


def causal_learn(values: npt.NDArray[Any], names: list[str], case: Case, threads: int) -> Learned:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from causallearn.search.ConstraintBased.FCI import fci

        test = "gsq" if case.kind == "discrete" else "fisherz"
        graph = fci(values, test, ALPHA, verbose=False, show_progress=False)[0].graph
    return np.array([0, 2, 1, 3], np.uint8)[np.asarray(graph, int).T % 4], None  # -1 tail, 1 arrowhead, 2 circle


def pcalg(values: npt.NDArray[Any], names: list[str], case: Case, threads: int) -> Learned:
    """RFCI with the compiled skeleton; its marks are coded as ours."""
    script = (
        "suppressMessages(library(pcalg)); f <- commandArgs(TRUE); d <- as.matrix(read.csv(f[1], header = FALSE));"
        f"fit <- rfci(list(C = cor(d), n = nrow(d)), gaussCItest, alpha = {ALPHA}, p = ncol(d),"
        "skel.method = 'stable.fast'); write.table(fit@amat, f[2], sep = ',', row.names = FALSE, col.names = FALSE)"
    )
    with tempfile.TemporaryDirectory() as folder:
        data, marks = Path(folder) / "data.csv", Path(folder) / "marks.csv"
        np.savetxt(data, values, delimiter=",")
        subprocess.run(["Rscript", "-e", script, str(data), str(marks)], check=True, capture_output=True)
        return np.loadtxt(marks, delimiter=",").astype(np.uint8), None


TOOLS: dict[str, Callable[..., Learned]] = {"anypag": anypag, "causal-learn FCI": causal_learn, "pcalg RFCI": pcalg}
LARGEST = {"anypag": 10_000, "causal-learn FCI": 100, "pcalg RFCI": 1200}
"""More nodes than this take others minutes to hours."""

KINDS = {"causal-learn FCI": {"gaussian", "discrete"}, "pcalg RFCI": {"gaussian"}}
"""What others are measured on: a hidden cause of all variables would keep them for days."""


def is_there(tool: str) -> bool:
    """Is the tool installed?"""
    if tool == "causal-learn FCI":
        from importlib.util import find_spec

        return find_spec("causallearn") is not None
    if tool == "pcalg RFCI":
        ask = ["Rscript", "-e", "library(pcalg)"]
        return shutil.which("Rscript") is not None and subprocess.run(ask, capture_output=True).returncode == 0
    return True


# --- one measurement, in a process of its own -----------------------------------------------------------------------


def prepare(case: Case, folder: Path) -> list[Path]:
    """Draw the case into files, one for each seed, with the true PAG."""
    import anypag as ap

    paths = [folder / f"{case.label}-{seed}.npz" for seed in case.seeds]
    for seed, path in zip(case.seeds, paths, strict=True):
        if case.kind == "hidden cause":
            values = np.random.default_rng(seed).normal(size=(case.rows, case.nodes + 1))
            truth = 1 - np.eye(case.nodes, dtype=np.uint8)
            np.savez(path, values=values[:, 1:] + values[:, :1], names=ap.PAG(truth).names, truth=truth)
        elif not path.exists():
            system = ap.simulate.random_system(case.nodes, case.neighbours, seed=seed)
            draw = system.linear_gaussian if case.kind == "gaussian" else system.discrete
            sample = draw(case.rows, seed=seed)
            truth = system.true_pag().subgraph(sample.names).marks
            np.savez(path, values=sample.rows, names=np.array(sample.names), truth=truth)
    return paths


def measure(tool: str, case: Case, threads: int, path: Path) -> Measured:
    """Run a tool on a file, several times if it is quick."""
    import anypag as ap

    with np.load(path) as file:
        values, names, truth = file["values"], file["names"].tolist(), file["truth"]
    run = TOOLS[tool]
    warm = len(names) if tool == "anypag" else 4  # ours compiles what it comes to, theirs only has to be imported
    run(values[:, :warm], names[:warm], case, threads)
    times: list[tuple[float, float]] = []
    while not times or (sum(seconds for seconds, _ in times) < SECONDS_OF_REPEATS and len(times) < 15):
        began, cpu = time.perf_counter(), time.process_time()
        marks, tests = run(values, names, case, threads)
        times.append((time.perf_counter() - began, time.process_time() - cpu))
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pag = ap.PAG(marks, names)
    errors = ap.metrics.compare(pag, ap.PAG(truth, names))
    seconds, cpu = (min(column) for column in zip(*times, strict=True))
    counts = (len(pag.edges()), errors.extra_edges, errors.missing_edges, errors.wrong_marks)
    return Measured(tool, seconds, cpu, megabytes, len(names), *counts, tests=tests)


def median(found: list[Measured]) -> Measured:
    """The median of every number."""
    rows = [astuple(item)[1:] for item in found]
    middle = (None if None in column else float(np.median(column)) for column in zip(*rows, strict=True))
    return Measured(found[0].tool, *middle)  # type: ignore[arg-type]


def measured(tool: str, case: Case, folder: Path, threads: int = 1) -> Measured | None:
    """The same from another process; None if it takes too long."""
    paths = map(str, prepare(case, folder))
    command = [sys.executable, __file__, "--measure", tool, json.dumps(asdict(case)), str(threads), *paths]
    environment = {**os.environ, **SINGLE}
    limit = None if tool == "anypag" else SECONDS_FOR_OTHERS
    try:
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    found = Measured(**json.loads(done.stdout.splitlines()[-1]))
    return found if threads == 1 else replace(found, tool=f"{found.tool}, all cores")


# --- tables ---------------------------------------------------------------------------------------------------------


COLUMNS = (
    "nodes, variables, tool, seconds, CPU s, tests, µs per test, peak MB, times ours, edges, extra, missing, marks"
)


def report(cases: list[Case], folder: Path) -> Iterator[str]:
    """The lines of the report, as they come."""
    yield from machine()
    columns = COLUMNS.split(", ")
    yield from ("", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|")
    others = [tool for tool in TOOLS if tool != "anypag" and is_there(tool)]
    for case in cases:
        ours = measured("anypag", case, folder)
        assert ours is not None
        yield row(case, ours, ours)
        yield row(case, measured("anypag", case, folder, threads=0), ours)
        for tool in others:
            if case.nodes <= LARGEST[tool] and case.kind in KINDS[tool]:
                theirs = measured(tool, case, folder)
                yield row(case, theirs, ours) if theirs else f"| {case.label} | | {tool} | > {SECONDS_FOR_OTHERS:g} |"
    yield ""
    yield from growth(folder)
    yield ""
    yield f"Load average when it ended: {os.getloadavg()[0]:.1f}. Threads gain nothing while others use the cores."


def row(case: Case, found: Measured | None, ours: Measured) -> str:
    """One line of the table."""
    assert found is not None
    cells = [
        case.label,
        f"{found.variables:g}",
        found.tool,
        f"{found.seconds:.4g}",
        f"{found.cpu:.4g}",
        "" if found.tests is None else f"{found.tests:,.0f}",
        "" if found.tests is None else f"{1e6 * found.seconds / found.tests:.2f}",
        f"{found.megabytes:.0f}",
        f"{found.seconds / ours.seconds:.3g}",
        *(f"{count:g}" for count in (found.edges, found.extra, found.missing, found.wrong_marks)),
    ]
    return f"| {' | '.join(cells)} |"


def growth(folder: Path) -> Iterator[str]:
    """How cost grows: the exponent k in seconds ~ x^k, fitted over the sizes beside it."""
    yield "| cost grows with | like | tests like | measured at | seconds |"
    yield "|---|---|---|---|---|"
    for what, sizes in GROWTH.items():
        found = [measured("anypag", case, folder) for _, case in sizes]
        x = np.log([size for size, _ in sizes])
        seconds = [f.cpu for f in found if f]
        slopes = (np.polyfit(x, np.log(y), 1)[0] for y in (seconds, [f.tests or 1 for f in found if f]))
        like = " | ".join(f"{what}^{slope:.2f}" for slope in slopes)
        at = ", ".join(f"{size:,}" for size, _ in sizes)
        yield f"| {what} | {like} | {at} | {', '.join(f'{s:.3g}' for s in seconds)} |"


def _version(name: str) -> str:
    """The version of a package; a checkout on the path need not be installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "(a checkout)"


def machine() -> Iterator[str]:
    """What it was measured on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {_version(name)}" for name in ("anypag", "numpy", "numba", "scipy"))
    model = models[0] if models else platform.processor()
    yield f"- {model}, {os.cpu_count()} cores, {memory:.0f} GiB; {platform.platform()}"
    yield f"- Python {platform.python_version()}, {packages}"
    yield f"- {time.strftime('%Y-%m-%d', time.gmtime())}; load average when it began: {os.getloadavg()[0]:.1f}"


def small_runs() -> list[str]:
    """The table of small runs, printed and returned."""
    with tempfile.TemporaryDirectory() as folder:
        files: dict[int, list[Path]] = {}
        for case in (case for case in CASES if case.label in map(str, small.ASKED)):
            files[case.nodes] = []
            for path in prepare(case, Path(folder)):
                np.save(path.with_suffix(".npy"), np.load(path)["values"])
                files[case.nodes].append(path.with_suffix(".npy"))
        told = list(small.lines(files))
    print("\n".join(told))
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="5,000 variables too")
    parser.add_argument("--write", action="store_true", help=f"keep the tables in {RESULTS.name}")
    parser.add_argument("--only", nargs="+", help="only the cases with these labels")
    parser.add_argument("--against", metavar="COMMIT", help="ratios to another commit")
    parser.add_argument("--cores", action="store_true", help="threads and memory to 20,000 variables")
    parser.add_argument("--small", action="store_true", help="where the milliseconds of small runs go")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.against or options.cores:
        for line in machine():
            print(line)
        scale.report(options.against)
        return
    if options.small:
        told = small_runs()
        if options.write:
            small.keep(told)
        return
    if options.measure:
        tool, case, threads, *paths = options.measure
        found = [measure(tool, Case(**json.loads(case)), int(threads), Path(path)) for path in paths]
        print(json.dumps(asdict(median(found))))
        return
    cases = [case for case in (*CASES, LARGE) if case != LARGE or options.large]
    cases = [case for case in cases if not options.only or case.label in options.only]
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for line in report(cases, Path(folder)):
            print(line, flush=True)
            lines.append(line)
    if options.write:
        head = [
            "# How fast",
            "",
            "Written by `python benchmarks/speed.py --write`, which says what the columns mean.",
            "",
        ]
        RESULTS.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
