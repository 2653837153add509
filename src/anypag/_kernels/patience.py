"""A kernel runs as plain Python until compiling it, or importing the compiler, pays.

Importing numba takes half a second, loading a compiled kernel from disk 2 to 10 ms, compiling one 0.3 s or more; as
plain Python a whole search over ten columns takes a few milliseconds. So `njit` here stands for numba's: it makes a
`Kernel`, which asks numba for machine code when that is first needed. A kernel that is marked `@patient` runs as plain
Python until one of these is true:

- numba is not imported yet, and all kernels together have spent `BEFORE_NUMBA` seconds;
- numba is imported, and this kernel has spent `LOADING` seconds (if it can be loaded from disk) or `PATIENCE` seconds
  (if it has to be compiled). So a process never takes much more than twice the time of the better choice;
- it gets an array of more than `SMALL` numbers, or a list longer than its own limit. A call cannot be interrupted, so
  one that might take long must not start as Python. A kernel whose work is not bounded by the size of its arguments
  must not be patient.

Both ways give the same results to the bit: no patient kernel is compiled with relaxed arithmetic, and functions of
`math` are the same C functions for both (if Intel's vector library replaces them in compiled code, every kernel is
compiled at once).

Kernels that call each other are compiled as usual: to the compiler a `Kernel` has the type of numba's object inside.
"""

import os
import sys
import time
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

PATIENCE = 0.25
"""Seconds. The environment variable `ANYPAG_PATIENCE` overrides all three; 0 compiles at once, as benchmarks need."""
BEFORE_NUMBA = 0.4
LOADING = 0.004
SMALL = 10_000
"""Numbers in an array: a table of all pairs of 100 nodes."""
FEW = 500
"""Entries of a list, for kernels that are quadratic in it: 250 edges, each listed from both sides."""

_names_of_files: dict[str, dict[str, Any]] = {}
"""For each file the global names that its kernels see when they run as Python."""
_spent = 0.0
"""The seconds that all kernels together have spent as plain Python."""


class _Compiling:
    """The seconds that compiling has taken in this process; `hearers` are called whenever it begins or ends."""

    def __init__(self) -> None:
        self.hearers: list[Callable[[], None]] = []
        self._done, self._depth, self._since = 0.0, 0, 0.0

    def begin(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._since = time.monotonic()
        self._tell()

    def end(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._done += time.monotonic() - self._since
        self._tell()

    def _tell(self) -> None:
        for hearer in tuple(self.hearers):
            hearer()

    @property
    def seconds(self) -> float:
        return self._done + (time.monotonic() - self._since if self._depth else 0.0)


COMPILING = _Compiling()


def njit(signature: str | None = None, **options: Any) -> Callable[[Any], Any]:
    """As numba's decorator, but numba is imported when the kernel is first compiled or loaded.

    Args:
        signature: the types to compile it for, as text; numba's names of types are known. By default a kernel is
            compiled for the arguments of its calls.
        options: those of numba.
    """

    def later(function: Any) -> Any:
        return function if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0" else Kernel(function, signature, options)

    return later


def patient(table: int = SMALL, lists: int = SMALL, **options: Any) -> Callable[[Any], Any]:
    """In place of `@njit(cache=True)`: the kernel starts as plain Python.

    Args:
        table: the most numbers in an array.
        lists: the most numbers in a one-dimensional array.
        options: those of numba.
    """

    def begin_plain(function: Any) -> Any:
        kernel = njit(cache=True, **options)(function)
        if isinstance(kernel, Kernel):  # with NUMBA_DISABLE_JIT it is the Python function
            kernel.waits, kernel.table, kernel.lists = True, table, lists
        return kernel

    return begin_plain


class Kernel:
    """A function that numba can compile; a patient one runs as plain Python while that is faster."""

    def __init__(self, function: Any, signature: str | None, options: dict[str, Any]) -> None:
        self.py_func = function
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__
        self.waits, self.table, self.lists, self.spent = False, 0, 0, 0.0
        self._signature, self._options = signature, options

    def __call__(self, *arguments: Any) -> Any:
        if self.waits:
            if self._is_plain_better(arguments):
                return self._timed(*arguments)
            self.waits = False
        return self.compiled(*arguments)

    @cached_property
    def compiled(self) -> Any:
        """Numba's object of this kernel. One with a signature is compiled, or loaded, when this is first asked for."""
        there = numba()
        with there.core.compiler_lock.global_compiler_lock:
            if "compiled" in self.__dict__:  # another thread was faster
                return self.__dict__["compiled"]
            made = there.njit(self._signature, **self._options)(self.py_func)
            self.__dict__["compiled"] = made
            return made

    @property
    def signatures(self) -> Any:
        """The types of arguments that it has been compiled for."""
        return self.compiled.signatures if "compiled" in self.__dict__ else []

    def are_small(self, arguments: tuple[Any, ...]) -> bool:
        """Are all arrays among the arguments, and in tuples of them, within the limits?"""
        for one in arguments:
            if isinstance(one, tuple):
                if not self.are_small(one):
                    return False
            elif hasattr(one, "ndim") and one.size > (self.lists if one.ndim == 1 else self.table):
                return False
        return True

    def _is_plain_better(self, arguments: tuple[Any, ...]) -> bool:
        if self.signatures or not self.are_small(arguments):
            return False
        if (asked := os.environ.get("ANYPAG_PATIENCE")) is not None:
            return self.spent < float(asked) and not _has_vector_library()
        if _has_vector_library():
            return False
        if not numba.cache_info().currsize:
            return _spent < BEFORE_NUMBA
        return self.spent < (LOADING if self._is_on_disk else PATIENCE)

    def _timed(self, *arguments: Any) -> Any:
        global _spent
        began = time.perf_counter()
        try:
            return self._plain(*arguments)
        finally:
            took = time.perf_counter() - began
            self.spent += took
            _spent += took

    @cached_property
    def _plain(self) -> Callable[..., Any]:
        return plain(self)

    @cached_property
    def _is_on_disk(self) -> bool:
        """Is there a cache file of this kernel on disk? Numba finds out whether it is current."""
        folder = self.compiled.stats.cache_path
        name = f"{Path(self.py_func.__code__.co_filename).stem}.{self.__name__}-*.nbi"
        return folder is not None and any(Path(folder).glob(name))


@cache
def numba() -> Any:
    """The compiler, imported at the first call and set up for kernels."""
    import warnings

    import numba as there
    import numba.core.event
    from numba.extending import typeof_impl

    # Scores are handed to searches as compiled functions, which numba calls experimental, and has since 2020.
    warnings.filterwarnings("ignore", "First-class function type feature", there.NumbaExperimentalFeatureWarning)
    typeof_impl.register(Kernel)(lambda kernel, context: there.typeof(kernel.compiled))
    try:
        there.njit(cache=True)(_nothing)
    except RuntimeError:  # there is no folder for the cache
        _make_folder(there.config)
    _listen(there.core.event)
    return there


def _listen(event: Any) -> None:
    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            COMPILING.begin()

        def on_end(self, _: Any) -> None:
            COMPILING.end()

    event.register("numba:compile", Listener())


def _nothing() -> None:
    """A function to compile, to see whether there is a cache folder."""


def _make_folder(config: Any) -> None:
    import atexit
    import shutil
    import tempfile

    config.CACHE_DIR = tempfile.mkdtemp(prefix="anypag-kernels-")
    atexit.register(shutil.rmtree, config.CACHE_DIR, ignore_errors=True)


@cache
def _has_vector_library() -> bool:
    """Is Intel's vector library installed, with which compiled functions of `math` differ in the last bit?"""
    if numba.cache_info().currsize:
        return bool(getattr(numba().config, "USING_SVML", False))
    return any(any(Path(sys.prefix, folder).glob("*svml*")) for folder in ("lib", "Library/bin"))


def plain(kernel: Any) -> Callable[..., Any]:
    """The Python function of a kernel, which calls the Python functions of the kernels in its file."""
    names = kernel.py_func.__globals__
    file = names["__name__"]
    if file not in _names_of_files:
        seen = dict(names)
        seen |= {name: _within(seen, one) for name, one in names.items() if isinstance(one, Kernel)}
        _names_of_files[file] = seen
    return _within(_names_of_files[file], kernel)


def _within(names: dict[str, Any], kernel: Any) -> Callable[..., Any]:
    return FunctionType(kernel.py_func.__code__, names, kernel.py_func.__name__)
