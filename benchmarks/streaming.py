"""A Parquet file of 2 GB: its covariance in parts, the memory that takes, and the digits it keeps.

Run: python benchmarks/streaming.py [--gigabytes 2]          (needs as much room in the folder for temporary
files)

The file is made in parts, read by a fresh process whose peak memory is the system's own figure, checked
against sums of the same numbers made again from their seeds, and deleted.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

COLUMNS = 50
ROWS_A_PART = 100_000
MOST_MEGABYTES = 600
MOST_ERROR = 1e-10
NAMES = [f"v{i:02d}" for i in range(COLUMNS)]


def parts(count: int) -> Iterator[npt.NDArray[np.float64]]:
    """The rows of the file, made again whenever they are wanted; columns of different scale and offset."""
    weights = np.random.default_rng(0).normal(size=(COLUMNS, COLUMNS))
    offset, scale = np.linspace(-1000, 1000, COLUMNS), np.logspace(-3, 3, COLUMNS)
    for seed in range(count):
        rows = np.random.default_rng(seed + 1).normal(size=(ROWS_A_PART, COLUMNS))
        yield (rows @ weights) * scale + offset


def write(path: Path, count: int) -> None:
    """The file, one row group after the other."""
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema([(name, pyarrow.float64()) for name in NAMES])
    with pyarrow.parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for part in parts(count):
            writer.write_table(pyarrow.table(dict(zip(NAMES, part.T, strict=True))))


def covariance(count: int) -> npt.NDArray[np.float64]:
    """The covariance in two passes over the same numbers: first the means, then the products."""
    n = count * ROWS_A_PART
    mean = np.sum([part.sum(axis=0) for part in parts(count)], axis=0) / n
    rest = np.sum([(part - mean).sum(axis=0) for part in parts(count)], axis=0) / n
    mean = mean + rest
    total = np.zeros((COLUMNS, COLUMNS))
    for part in parts(count):
        total += (part - mean).T @ (part - mean)
    return total / (n - 1)


def read(path: Path, result: Path) -> None:
    """What the fresh process does: bind the test, and say what it took."""
    from anypag.data.sources.file import FileTable

    start = time.perf_counter()
    moments = FileTable.of(path).moments()
    seconds = time.perf_counter() - start
    np.save(result, moments.covariance)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "megabytes": peak, "rows": moments.n}))


def main(gigabytes: float) -> bool:
    """Makes, reads, compares, deletes; whether memory and digits are as they should be."""
    count = max(round(gigabytes * 1e9 / (ROWS_A_PART * COLUMNS * 8)), 1)
    with tempfile.TemporaryDirectory() as folder:
        path, result = Path(folder) / "large.parquet", Path(folder) / "covariance.npy"
        write(path, count)
        print(f"file: {path.stat().st_size / 1e9:.2f} GB, {count * ROWS_A_PART:,} rows x {COLUMNS} columns")
        command = [sys.executable, __file__, "--read", str(path), str(result)]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        streamed = np.load(result)
    expected = covariance(count)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    error = float(np.abs((streamed - expected) / scale).max())
    print(f"read in {told['seconds']:.1f} s, peak memory {told['megabytes']:.0f} MB (wanted < {MOST_MEGABYTES})")
    print(f"largest difference of a covariance, in units of the deviations: {error:.1e} (wanted < {MOST_ERROR})")
    return bool(told["megabytes"] < MOST_MEGABYTES and error < MOST_ERROR)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--read", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        read(*options.read)
    else:
        sys.exit(0 if main(options.gigabytes) else 1)
