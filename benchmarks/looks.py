"""How long a run goes without a look: the longest call of every compiled function, on dense tables of 200 variables.

    python benchmarks/looks.py

Every compiled function that Python calls is timed while methods search dense tables (200 variables, 20 neighbours each)
under a time budget. A run hears its budget, SIGTERM and Ctrl-C between two calls. Results in `docs/reliability.md`.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numba.extending import typeof_impl

import anypag as ap
from anypag import _kernels
from anypag._kernels.patience import Kernel

Longest = dict[str, float]
"""Seconds of the longest call of each function, by "file.name"."""


class Timed:
    """A compiled function that notes how long its calls take; to the compiler it is the function itself."""

    def __init__(self, name: str, kernel: Any, longest: Longest) -> None:
        self.kernel, self._name, self._longest = kernel, name, longest

    def __call__(self, *arguments: Any) -> Any:
        before = len(self.kernel.signatures)
        began = time.thread_time()
        answer = self.kernel(*arguments)
        if len(self.kernel.signatures) == before:  # else it was compiled
            self._longest[self._name] = max(self._longest.get(self._name, 0.0), time.thread_time() - began)
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)


@typeof_impl.register(Timed)
def _type_of_timed(value: Timed, context: Any) -> Any:
    return numba.typeof(value.kernel.compiled)  # type: ignore[no-untyped-call]


OF_SCORES = ("component", "adding", "removing", "adding_blocks", "removing_blocks", "of_set")
"""Functions of scores, which kernels that go in turns are handed and call."""


def kernels() -> dict[str, Any]:
    """Every compiled function with a public name, by "file.name"."""
    found = {}
    for module in pkgutil.iter_modules(_kernels.__path__):
        names = vars(importlib.import_module(f"anypag._kernels.{module.name}"))
        for name, value in names.items():
            is_here = getattr(getattr(value, "py_func", None), "__module__", "").endswith(f".{module.name}")
            if isinstance(value, Kernel) and is_here and not name.startswith("_") and name not in OF_SCORES:
                found[f"{module.name}.{name}"] = value
    return found


@contextmanager
def timed() -> Iterator[Longest]:
    """Time every call that Python makes of a compiled function."""
    longest: Longest = {}
    changed: list[tuple[Any, str, Any]] = []
    for key, kernel in kernels().items():
        stand_in = Timed(key, kernel, longest)
        for module in list(sys.modules.values()):
            for name, value in list(vars(module).items() if module else ()):
                if value is kernel and getattr(module, "__name__", "").startswith("anypag"):
                    changed.append((module, name, kernel))
                    setattr(module, name, stand_in)
    try:
        yield longest
    finally:
        for module, name, kernel in changed:
            setattr(module, name, kernel)


def table(n: int = 200, rows: int = 1000, neighbours: float = 20.0) -> dict[str, Any]:
    """A dense system of numbers."""
    dag = ap.simulate.random_dag(n, neighbours, seed=1)
    return dict(ap.simulate.linear_gaussian(dag, rows, seed=1))


def levels(columns: dict[str, Any]) -> dict[str, Any]:
    """The columns, each cut into three levels."""
    return {name: np.digitize(x, np.quantile(x, [0.33, 0.66])) for name, x in columns.items()}


def cases(seconds: float) -> dict[str, Callable[[], object]]:
    """What is run, by name."""
    numbers = table()
    discrete = levels(numbers)
    mixed = {name: discrete[name] if k % 2 else numbers[name] for k, name in enumerate(numbers)}
    tables = {"fisherz": numbers, "permutation": discrete, "mixed": mixed}
    by_tests = ("icd", "icd-paper", "fci", "rfci", "fci+", "anytime-fci")

    def learn(method: str, test: str, **more: Any) -> Callable[[], object]:
        return lambda: ap.learn(tables[test], method=method, test=test, time_budget=seconds, singular="keep", **more)

    found = {f"{method} {test}": learn(method, test) for test in tables for method in by_tests}
    found |= {
        f"{method} {test}": learn(method, test)
        for test in ("fisherz", "permutation")
        for method in ("boss", "bayes", "gfci")
    }
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ["ANYPAG_PATIENCE"] = "0"
    with timed() as longest:
        for name, run in cases(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0).items():
            began = time.perf_counter()
            run()
            print(f"{name}: {time.perf_counter() - began:.1f} s", flush=True)
    for name, seconds in sorted(longest.items(), key=lambda item: -item[1]):
        print(f"{name:40} {seconds:.4f}")
    print("not called:", ", ".join(sorted(set(kernels()) - set(longest))))
