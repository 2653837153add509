"""How long a user waits for a command: CPU time as multiples of `python -c "import numpy"` in the same run.

    python benchmarks/waiting.py                    # this checkout, as a wheel installs it
    python benchmarks/waiting.py --against 95f826b  # another commit in turn
    python benchmarks/waiting.py --quick            # without searches by scores, which have to be compiled first
    python benchmarks/waiting.py --first            # also the first use after installation, with an empty cache
    python benchmarks/waiting.py --write            # the table in docs/performance.md

Each commit is built into a wheel and installed into an environment of its own, with what it needs and their bytecode: a
checkout may have none and compile at every call, and numba imports other packages (pyyaml, cffi) wherever it finds
them. Commands run in turn, in processes of their own; the least of several runs counts. With `--first` wall time is
told too: it means little while others use the machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- waiting -->", "<!-- end of waiting -->"
NUMPY, NO_TABLE = ("-c", "import numpy"), ("numpy", "")
TABLES = ("numbers", "levels", "mixed")
"""Each has 500 rows of 8 columns; levels are three words, and every second column of the mixed table has them."""
COMMANDS = {
    "explain": (4.5, "explain icd.json a b"),
    "show": (4.5, "show icd.json"),
    "audit": (7.0, "audit TABLE.csv"),
    "learn, method icd": (8.0, "learn TABLE.csv --method icd --out again.json"),
    "learn, method bayes": (18.0, "learn TABLE.csv --method bayes --out again.json"),
    "learn": (None, "learn TABLE.csv --out again.json"),
    "effect --data": (None, "effect sampled.json a b --data numbers.csv"),
}
"""What is measured: the most that is asked for, if anything, and what is typed, for each table if it names one."""
FIRST = {"icd": 2.0, "bayes": 8.0}
"""The most seconds asked for a first search after installation."""
BY_SCORES = ("learn, method bayes", "learn", "effect --data")
ICD = "learn numbers.csv --method icd --out icd.json"
SAMPLED = "learn numbers.csv --no-selection-bias --out sampled.json"
SINGLE = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")


def install(commit: str | None, folder: Path) -> Path:
    """Build a wheel of this checkout, or of a commit, and install it. Returns the Python that has it."""
    source = ROOT
    if commit is not None:
        source = folder / f"source-{commit}"
        source.mkdir()
        packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "x", "-C", str(source)], input=packed, check=True)
    target = folder / f"installed-{commit}"
    subprocess.run([sys.executable, "-m", "venv", str(target)], check=True)
    python = target / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-warn-script-location", str(source)], check=True)
    subprocess.run(
        [python, "-m", "compileall", "-q", str(target)], check=False
    )  # files that show errors may not compile
    return python


def took(words: tuple[str, ...], python: Path, folder: Path, cache: Path) -> tuple[float, float]:
    """CPU and wall seconds of a new process of Python."""
    environment = {**os.environ, **SINGLE, "NUMBA_CACHE_DIR": str(cache)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([python, *words], cwd=folder, env=environment, check=True, capture_output=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def typed(quick: bool) -> dict[tuple[str, str], str]:
    """What is typed for each command and table."""
    kept = [what for what in COMMANDS if not (quick and what in BY_SCORES)]
    return {
        (what, table): COMMANDS[what][1].replace("TABLE", table)
        for what in kept
        for table in (TABLES if "TABLE" in COMMANDS[what][1] else TABLES[:1])
    }


def of_commands(pythons: dict[str, Path], folder: Path, repeats: int, quick: bool) -> Iterator[str]:
    """The table of commands."""
    commands, caches = typed(quick), {name: folder / f"cache-{name}" for name in pythons}
    for name, python in pythons.items():  # each its own files and compiled code; not timed
        (folder / name).mkdir()
        for table in TABLES:
            shutil.copy(folder / f"{table}.csv", folder / name)
        for line in (ICD, *(() if quick else (SAMPLED,)), *commands.values()):
            took(("-m", "anypag", *line.split()), python, folder / name, caches[name])
    best = {("now", NO_TABLE): np.inf} | {(name, key): np.inf for name in pythons for key in commands}
    for _ in range(repeats):
        for name, key in best:
            words: tuple[str, ...] = NUMPY if key == NO_TABLE else ("-m", "anypag", *commands[key].split())
            seconds, _ = took(words, pythons[name], folder / name, caches[name])
            best[name, key] = min(best[name, key], seconds)
    numpy = best["now", NO_TABLE]
    yield f"`import numpy` took {numpy:.3f} s of CPU time. Multiples of it:"
    yield from ("", f"| | asked | {' | '.join(pythons)} |", "|---" * (2 + len(pythons)) + "|")
    for what, table in commands:
        asked, of = COMMANDS[what][0], f" of {table}" if "TABLE" in COMMANDS[what][1] else ""
        cells = " | ".join(f"{best[name, (what, table)] / numpy:.1f}" for name in pythons)
        yield f"| anypag {what}{of} | {'' if asked is None else f'{asked:g}'} | {cells} |"


def of_first_uses(pythons: dict[str, Path], folder: Path) -> Iterator[str]:
    """The table of first uses."""
    yield from ("", "First search after installation, an empty cache, seconds of CPU (wall):", "")
    yield from (f"| | asked, wall | {' | '.join(pythons)} |", "|---" * (2 + len(pythons)) + "|")
    for method, table in product(FIRST, TABLES):
        cells = []
        for name, python in pythons.items():
            words = ("-m", "anypag", "learn", f"{table}.csv", "--method", method)
            cpu, wall = took(words, python, folder, folder / f"empty-{name}-{method}-{table}")
            cells.append(f"{cpu:.1f} ({wall:.1f})")
        yield f"| {method} of {table} | {FIRST[method]:g} | {' | '.join(cells)} |"


def write_tables(folder: Path) -> None:
    """The tables that commands read."""
    rows = np.random.default_rng(0).normal(size=(500, 8)) @ np.triu(np.ones((8, 8)))
    words = np.array(["low", "middle", "high"])[np.digitize(rows / rows.std(axis=0), [-0.5, 0.5])]
    numbers = np.char.mod("%.4f", rows)
    for name, values in zip(TABLES, (numbers, words, np.where(np.arange(8) % 2, words, numbers)), strict=True):
        np.savetxt(folder / f"{name}.csv", values, "%s", delimiter=",", header="a,b,c,d,e,f,g,h", comments="")


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", metavar="COMMIT", help="measure this commit in turn")
    parser.add_argument("--first", action="store_true", help="the first use too")
    parser.add_argument("--quick", action="store_true", help="leave searches by scores out")
    parser.add_argument("--repeats", type=int, default=7, help="how often each command runs")
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="waiting-"))
    try:
        write_tables(folder)
        pythons = {"now": install(None, folder)}
        if options.against:
            pythons[options.against] = install(options.against, folder)
        lines = list(of_commands(pythons, folder, options.repeats, options.quick))
        lines += of_first_uses(pythons, folder) if options.first else []
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(lines))
    if options.write:
        text = PAGE.read_text(encoding="utf-8")
        before, after = text.split(BEGIN)[0], text.split(END)[1]
        PAGE.write_text("\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"]), encoding="utf-8")


if __name__ == "__main__":
    main()
