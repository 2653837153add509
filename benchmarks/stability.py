"""What 100 resamples cost, as a multiple of one run: 1,000 rows, 35 variables, one worker.

    OPENBLAS_NUM_THREADS=1 python benchmarks/stability.py

CPU time, medians. A run is `learn`, from a file as people have it and from an array in memory.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import anypag as ap

os.environ.setdefault("ANYPAG_PATIENCE", "0")  # what is timed is compiled at the first call

WAYS: tuple[Any, ...] = ("half", "bootstrap")
TURNS = 9


def cpu(function: Callable[[], object]) -> float:
    """The CPU time of a call."""
    began = time.process_time()
    function()
    return time.process_time() - began


def main() -> None:
    """Measure, turn by turn so that a busy machine is busy for all, and print one line for each kind of resample."""
    sample = ap.simulate.random_system(39, 2.0, seed=3).linear_gaussian(1000, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.csv"
        np.savetxt(file, sample.rows, delimiter=",", header=",".join(sample.names), comments="")
        ap.bootstrap(file, method="icd", n=2)  # compiles
        for way in WAYS:
            turns = [
                (
                    sum(cpu(partial(ap.learn, file)) for _ in range(10)) / 10,
                    sum(cpu(partial(ap.learn, sample)) for _ in range(10)) / 10,
                    cpu(partial(ap.bootstrap, file, n=100, resample=way)),
                    cpu(partial(ap.bootstrap, sample, n=100, resample=way)),
                )
                for _ in range(TURNS)
            ]
            from_file, from_memory, many_from_file, many = np.median(turns, axis=0)
            print(
                f"{len(sample.names)} variables, {way}: 100 resamples and the run on the whole data, from a file "
                f"{many_from_file:.2f} s, {many_from_file / from_file:.0f} times one run ({1e3 * from_file:.1f} ms); "
                f"from memory {many:.2f} s, {many / from_memory:.0f} times ({1e3 * from_memory:.1f} ms)"
            )


if __name__ == "__main__":
    main()
