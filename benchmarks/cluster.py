"""Workers: wall time with one and with two, and what a task costs beside the work.

    python benchmarks/cluster.py [--backend loky | dask]

200 resamples of 1,000 rows and 30 variables, and one search with a test that takes 20 ms; results must be the same.
Wall times on a machine that does other things too are rough: look at the ratios.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import joblib
import numpy as np

import anypag as ap
from anypag.choices import Choices
from anypag.ci.base import PValues
from anypag.ci.resample import resamples_of
from anypag.ci.wrappers import LEAST_MAPPED
from anypag.data.table import as_table


class Slow:
    """Fisher's z that takes 20 ms a question."""

    batch = 1
    exact = False

    def __init__(self, rows: Any, names: tuple[str, ...]) -> None:
        self.names, self._rows = names, rows
        self._test: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_test": None}

    def pvalues(self, queries: ap.Queries) -> PValues:
        """The answers, slowly."""
        self._test = self._test or ap.FisherZ(self._rows, self.names)
        time.sleep(0.02 * len(queries))
        answers: PValues = self._test.pvalues(queries)
        return answers


@contextmanager
def workers(backend: str, n: int) -> Iterator[None]:
    """So many workers, started before any clock runs."""
    if backend == "dask":
        dask: Any = import_module("distributed")
        with (
            dask.LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
            dask.Client(cluster),
            joblib.parallel_config(backend="dask"),
        ):
            yield
    else:
        with joblib.parallel_config(backend=backend, n_jobs=n):
            yield


def nothing() -> list[int]:
    """200 tasks without work, sent as resamples are."""
    made: list[int] = joblib.Parallel(max_nbytes=LEAST_MAPPED)(joblib.delayed(int)(k) for k in range(200))
    return made


def wall(function: Callable[[], Any]) -> tuple[float, Any]:
    """The time on the clock, and the result."""
    began = time.perf_counter()
    made = function()
    return time.perf_counter() - began, made


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="loky", choices=["loky", "dask"])
    backend = parser.parse_args().backend
    rows = np.asarray(ap.simulate.random_system(34, 2.0, seed=3).linear_gaussian(1000, seed=1))[:, :30]
    few = rows[:, :10]
    names = tuple(f"X{i}" for i in range(10))
    table = as_table(rows)
    data = len(pickle.dumps(resamples_of(ap.FisherZ(table), table, Choices(method="icd", test="fisherz"))))
    print(f"{backend}: the rows are {data:,} bytes; with each of 200 tasks they would be {200 * data:,}.")
    print("| | 1 worker | 2 workers | ratio |\n|---|---|---|---|")
    for what, call in {
        "200 resamples": lambda: ap.bootstrap(rows, method="icd", n=200).graphs,
        "a search with a 20 ms test": lambda: ap.learn(Slow(few, names), method="icd").pag,
        "200 tasks that do nothing": nothing,
    }.items():
        spent, made = [], []
        for n in (1, 2):
            with workers(backend, n):
                ap.bootstrap(rows, method="icd", n=4)  # starts the processes, which load the compiler
                seconds, result = wall(call)
            spent.append(seconds)
            made.append(result)
        assert made[0] == made[1]
        print(f"| {what} | {spent[0]:.2f} s | {spent[1]:.2f} s | {spent[0] / spent[1]:.2f} |")
    print(f"\nOverhead of a task, from the last line: {1e3 * spent[1] / 200:.2f} ms.")


if __name__ == "__main__":
    main()
