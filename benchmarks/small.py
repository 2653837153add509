"""Where the milliseconds of a small run go, and what threads change: `benchmarks/speed.py --small` is the door.

    python benchmarks/speed.py --small             # the table
    python benchmarks/speed.py --small --write     # the same, kept in docs/performance.md

Systems as in `speed.py`, 1,000 rows, `method="icd"`, warm kernels; each number of nodes in a process of its own, with
one thread for linear algebra. CPU milliseconds, the tenth percentile of the searches of one second, the median over
systems. The parts are timed in searches of their own, since a clock that is read often costs something.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

SINGLE = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
ASKED = {35: 6, 100: 14, 500: 45, 1000: 100}
PARTS = {
    "binding": ("anypag.run.engine", "bind"),
    "of it moments": ("anypag.data.table", "moments_of"),
    "of it the check for curves": ("anypag.data.audit.curves", "curve_findings"),
    "search": ("anypag.run.engine", "learned"),
    "of it orientation": ("anypag.search.by_tests.icd", "check_and_orient"),
    "contradictions, validity": ("anypag.run.engine", "warn_of_contradictions"),
}
"""What is timed: the function of that name, where its caller looks it up."""
WALLS = {"wall time, one thread": 1, "wall time, four threads": 4}
SECONDS = 1.0
PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
BEGIN, END = "<!-- small -->", "<!-- end of small -->"


def timed(path: Path, threads: int, clock: Callable[[], float], parts: dict[str, list[float]]) -> float:
    """Milliseconds of a search of the file, by a clock; `parts` get those of each call of theirs."""
    import anypag as ap

    values, whole = np.load(path), []
    ap.learn(values, method="icd", test="fisherz", threads=threads)
    began = time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        for made in parts.values():
            made.append(0.0)
        start = clock()
        ap.learn(values, method="icd", test="fisherz", threads=threads)
        whole.append(clock() - start)
    return _low(whole)


def _low(seconds: list[float]) -> float:
    return 1e3 * float(np.quantile(seconds, 0.1))


def _watch(module: str, name: str, spent: list[float]) -> None:
    """Add the time of every call of a function to the last entry of a list."""
    owner: Any = __import__(module, fromlist=[name])
    plain = getattr(owner, name)

    def watched(*arguments: Any, **options: Any) -> Any:
        start = time.process_time()
        made = plain(*arguments, **options)
        spent[-1] += time.process_time() - start
        return made

    setattr(owner, name, watched)


def measure(paths: list[Path]) -> dict[str, float]:
    """The medians over the files of everything that is timed."""
    warnings.simplefilter("ignore")
    found: list[dict[str, float]] = []
    for path in paths:
        whole = timed(path, 1, time.process_time, {})
        found.append({"whole": whole, **{what: timed(path, k, time.perf_counter, {}) for what, k in WALLS.items()}})
    spent: dict[str, list[float]] = {part: [0.0] for part in PARTS}
    for part, (module, name) in PARTS.items():
        _watch(module, name, spent[part])
    for path, told in zip(paths, found, strict=True):
        for made in spent.values():
            made.clear()
            made.append(0.0)
        timed(path, 1, time.process_time, spent)
        told |= {part: _low(made[1:]) for part, made in spent.items()}
    return {what: float(np.median([one[what] for one in found])) for what in found[0]}


def lines(prepared: dict[int, list[Path]]) -> Iterator[str]:
    """The table, a column for each number of nodes."""
    columns = {}
    for nodes, paths in prepared.items():
        command = [sys.executable, __file__, *map(str, paths)]
        done = subprocess.run(command, env={**os.environ, **SINGLE}, check=True, stdout=subprocess.PIPE, text=True)
        columns[nodes] = json.loads(done.stdout.splitlines()[-1])
    yield f"| CPU milliseconds, nodes: | {' | '.join(f'{n:,}' for n in columns)} |"
    yield "|---" * (len(columns) + 1) + "|"
    yield f"| asked | {' | '.join(str(ASKED[n]) for n in columns)} |"
    for what in ("whole", *PARTS, *WALLS):
        yield f"| {what} | {' | '.join(f'{found[what]:.3g}' for found in columns.values())} |"


def keep(table: list[str]) -> None:
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text("\n".join([f"{before}{BEGIN}", *table, f"{END}{after}"]), encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("ANYPAG_PATIENCE", "0")
    print(json.dumps(measure([Path(name) for name in sys.argv[1:]])))
