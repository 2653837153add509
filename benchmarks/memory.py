"""The memory of a whole process as a user sees it: the table, the search, the printed answer, the saved result.

    python benchmarks/memory.py                          # 5,000 and 10,000 nodes, 500 rows: an array, a CSV file
    python benchmarks/memory.py --nodes 14000 --rows 300 # others

Systems as in `speed.py` (seed 7), alpha = 0.001, `learn` with its defaults (so many variables are searched by tests).
Every line is a process of its own, with one thread for linear algebra, which has searched a small table before. "peak"
is the most it had from then on, bytes a pair what that is beyond the loaded libraries.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import scale


def measure(path: Path) -> str:
    """A line about the file, an array or a table."""
    import anypag as ap

    warnings.simplefilter("ignore")
    ap.learn(np.random.default_rng(0).normal(size=(200, scale.WARM)))  # loads, perhaps compiles
    scale.forget_peak()
    import_mb, began = scale.peak_mb(), time.process_time()
    data = np.load(path) if path.suffix == ".npy" else path
    result = ap.learn(data, alpha=0.001)
    peaks, seconds, pairs = [scale.peak_mb()], [time.process_time() - began], len(result.pag) ** 2
    str(result)
    result.save(path.with_suffix(".json"))
    peaks.append(scale.peak_mb())
    seconds.append(time.process_time() - began - seconds[0])
    a_pair = " | ".join(f"{(peak - import_mb) * 2**20 / pairs:.1f}" for peak in peaks)
    told = f"{peaks[0]:,.0f} | {peaks[1]:,.0f} | {a_pair} | {seconds[0]:.1f} | {seconds[1]:.1f}"
    return f"| {len(result.pag):,} | {path.suffix} | {told} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[5000, 10_000])
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(measure(options.measure))
        return
    print("| variables | from | peak MB | and saved | bytes a pair | and saved | CPU s of learn | of saving |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for nodes in options.nodes:
            for kind in ("", "csv"):
                path = scale.drawn(nodes, options.rows, Path(folder), kind)
                command = [sys.executable, __file__, "--measure", str(path)]
                subprocess.run(command, env={**os.environ, **scale.SINGLE}, check=True)


if __name__ == "__main__":
    main()
