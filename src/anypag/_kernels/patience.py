"""Little work is done before anything is compiled for it.

Compiling the kernels of a search takes some twenty seconds; as plain Python a small table takes a tenth of one. So a
kernel that is marked `@patient` first runs as the Python that it is. It is compiled, as numba does it, as soon as one
of these is so:

- it has spent `PATIENCE` seconds as plain Python in this process, about what compiling it takes. So a process never
  spends much more than twice the time of the better choice;
- it is handed a table of more than `SMALL` numbers, or a list of more than it says are few: a call is never broken off,
  so one that might take long does not begin. A kernel whose work is not bounded by what it is handed does not wait;
- what an earlier process compiled of it is kept on disk, and only has to be loaded.

Both ways give the same results to the bit: no kernel is compiled with relaxed arithmetic, and functions of `math` are
the same C functions for both (where Intel's vector library stands in for them in compiled code, nothing waits).

numba asks `_compile_for_args` for the function to call where it has no machine code yet. Should a later numba ask
something else, all is compiled at once, as without this file; `tests/test_patience.py` would say so.
"""

import os
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from numba import config
from numba.core.dispatcher import Dispatcher

PATIENCE = 0.25
"""Seconds; `ANYPAG_PATIENCE` in the environment names others, and 0 compiles at once, as benchmarks want it."""
SMALL = 10_000
"""Numbers in an array: 100 nodes, for a table of all pairs."""
FEW = 500
"""Entries of a list, for kernels that go through it again for each of its entries: 250 edges, each from both sides."""

_names_of_files: dict[str, dict[str, Any]] = {}
"""What the kernels of a file see when they run as Python."""


def patient(table: int = SMALL, lists: int = SMALL) -> Callable[[Any], Any]:
    """Written above `@njit`: the kernel begins as plain Python.

    Args:
        table: numbers in an array, at most.
        lists: numbers in an array of one dimension, at most.
    """

    def begin_plain(kernel: Any) -> Any:
        if isinstance(kernel, Dispatcher):  # with NUMBA_DISABLE_JIT it is the Python function already
            kernel._compile_for_args = _Patience(kernel, table, lists)  # type: ignore[attr-defined]
        return kernel

    return begin_plain


class _Patience:
    """Which function to call where a kernel has no machine code for its arguments: its Python, or one just compiled."""

    def __init__(self, kernel: Any, table: int, lists: int) -> None:
        self._kernel = kernel
        self._table, self._lists = table, lists
        self._compiled = kernel._compile_for_args

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self._left <= 0.0 or not self._are_small(arguments) or self._is_kept:
            return self._compiled(*arguments, **named)
        return self._timed

    def _timed(self, *arguments: Any) -> Any:
        began = time.perf_counter()
        try:
            return self._plain(*arguments)
        finally:
            self._left -= time.perf_counter() - began

    def _are_small(self, arguments: tuple[Any, ...]) -> bool:
        return all(
            self._are_small(one) if isinstance(one, tuple) else self._is_small(one)
            for one in arguments
            if isinstance(one, tuple | np.ndarray)
        )

    def _is_small(self, array: np.ndarray[Any, Any]) -> bool:
        return array.size <= (self._lists if array.ndim == 1 else self._table)

    @cached_property
    def _left(self) -> float:
        return 0.0 if getattr(config, "USING_SVML", False) else float(os.environ.get("ANYPAG_PATIENCE", PATIENCE))

    @cached_property
    def _plain(self) -> Callable[..., Any]:
        return _plain(self._kernel)

    @cached_property
    def _is_kept(self) -> bool:
        """Is something of this kernel on disk? Whether it fits, numba finds out."""
        function, folder = self._kernel.py_func, self._kernel.stats.cache_path
        name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}-*.nbi"
        return folder is not None and any(Path(folder).glob(name))


def _plain(kernel: Any) -> Callable[..., Any]:
    """The Python of a kernel, calling the Python of the kernels beside it."""
    names = kernel.py_func.__globals__
    file = names["__name__"]
    if file not in _names_of_files:
        plain = dict(names)
        plain |= {name: _within(plain, thing) for name, thing in names.items() if isinstance(thing, Dispatcher)}
        _names_of_files[file] = plain
    return _within(_names_of_files[file], kernel)


def _within(names: dict[str, Any], kernel: Any) -> Callable[..., Any]:
    return FunctionType(kernel.py_func.__code__, names, kernel.py_func.__name__)
