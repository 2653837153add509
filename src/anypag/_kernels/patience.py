"""A kernel runs as plain Python until compiling it pays.

Compiling the kernels of a search takes about twenty seconds; as plain Python a small table takes a tenth of a second.
So a kernel that is marked `@patient` first runs as plain Python. It is compiled as soon as one of these is true:

- it has spent `PATIENCE` seconds as plain Python in this process, about what compiling it takes. So a process never
  takes much more than twice the time of the better choice;
- it gets an array of more than `SMALL` numbers, or a list longer than its own limit. A call cannot be interrupted, so
  one that might take long must not start as Python. A kernel whose work is not bounded by the size of its arguments
  must not be patient;
- an earlier process has compiled it, and it only has to be loaded from disk.

Both ways give the same results to the bit: no kernel is compiled with relaxed arithmetic, and functions of `math` are
the same C functions for both (if Intel's vector library replaces them in compiled code, every kernel is compiled at
once).

A patient kernel is an object around numba's. Kernels that call it are compiled as if it were numba's own: to the
compiler it has the type of the kernel inside.
"""

import os
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba import config
from numba.core.dispatcher import Dispatcher
from numba.extending import typeof_impl

PATIENCE = 0.25
"""Seconds. The environment variable `ANYPAG_PATIENCE` overrides it; 0 compiles at once, as benchmarks need."""
SMALL = 10_000
"""Numbers in an array: a table of all pairs of 100 nodes."""
FEW = 500
"""Entries of a list, for kernels that are quadratic in it: 250 edges, each listed from both sides."""

_names_of_files: dict[str, dict[str, Any]] = {}
"""For each file the global names that its kernels see when they run as Python."""


def patient(table: int = SMALL, lists: int = SMALL) -> Callable[[Any], Any]:
    """Decorator above `@njit`: the kernel starts as plain Python.

    Args:
        table: the most numbers in an array.
        lists: the most numbers in a one-dimensional array.
    """

    def begin_plain(kernel: Any) -> Any:  # with NUMBA_DISABLE_JIT it is the Python function already
        return Patient(kernel, table, lists) if isinstance(kernel, Dispatcher) else kernel

    return begin_plain


class Patient:
    """A kernel that runs as plain Python while that is faster, then compiled."""

    def __init__(self, kernel: Any, table: int, lists: int) -> None:
        self.kernel = kernel
        self._table, self._lists = table, lists
        self._waits = True

    def __call__(self, *arguments: Any) -> Any:
        if self._waits:
            if self._is_plain_better(arguments):
                return self._timed(*arguments)
            self._waits = False
        return self.kernel(*arguments)

    @property
    def py_func(self) -> Any:
        """The Python function that is compiled."""
        return self.kernel.py_func

    @property
    def signatures(self) -> Any:
        """The types of arguments that it has been compiled for."""
        return self.kernel.signatures

    def are_small(self, arguments: tuple[Any, ...]) -> bool:
        """Are all arrays among the arguments, and in tuples of them, within the limits?"""
        return all(
            self.are_small(one) if isinstance(one, tuple) else self._is_small(one)
            for one in arguments
            if isinstance(one, tuple | np.ndarray)
        )

    @cached_property
    def left(self) -> float:
        """The seconds that may still be spent as plain Python."""
        return 0.0 if getattr(config, "USING_SVML", False) else float(os.environ.get("ANYPAG_PATIENCE", PATIENCE))

    def _is_plain_better(self, arguments: tuple[Any, ...]) -> bool:
        return self.left > 0.0 and not self.signatures and self.are_small(arguments) and not self._is_on_disk

    def _timed(self, *arguments: Any) -> Any:
        began = time.perf_counter()
        try:
            return self._plain(*arguments)
        finally:
            self.left -= time.perf_counter() - began

    def _is_small(self, array: np.ndarray[Any, Any]) -> bool:
        return array.size <= (self._lists if array.ndim == 1 else self._table)

    @cached_property
    def _plain(self) -> Callable[..., Any]:
        return plain(self)

    @cached_property
    def _is_on_disk(self) -> bool:
        """Is there a cache file of this kernel on disk? Numba finds out whether it is current."""
        function, folder = self.py_func, self.kernel.stats.cache_path
        name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}-*.nbi"
        return folder is not None and any(Path(folder).glob(name))


@typeof_impl.register(Patient)
def _type_of_patient(value: Patient, context: Any) -> Any:
    """The type that the compiler sees: that of the kernel inside."""
    return numba.typeof(value.kernel)


def plain(kernel: Any) -> Callable[..., Any]:
    """The Python function of a kernel, which calls the Python functions of the kernels in its file."""
    names = kernel.py_func.__globals__
    file = names["__name__"]
    if file not in _names_of_files:
        seen = dict(names)
        seen |= {name: _within(seen, one) for name, one in names.items() if isinstance(one, Dispatcher | Patient)}
        _names_of_files[file] = seen
    return _within(_names_of_files[file], kernel)


def _within(names: dict[str, Any], kernel: Any) -> Callable[..., Any]:
    return FunctionType(kernel.py_func.__code__, names, kernel.py_func.__name__)
