"""Compiles kernels (loops over arrays). Some run as Python first: compiling them and importing numba take long.

Importing numba takes half a second, loading a compiled kernel from disk 2 to 10 ms, compiling one 0.3 s or more. As
plain Python, a whole search over ten columns takes a few milliseconds. So `njit` here replaces numba's: it makes a
`Kernel`, which asks numba for machine code when the code is first needed. A kernel marked `@patient` runs as plain
Python until one of these is true:

- numba is not imported yet, and all kernels together have spent `BEFORE_NUMBA` seconds;
- numba is imported, and this kernel has spent `LOADING` seconds (if it can be loaded from disk) or `PATIENCE` seconds
  (if it has to be compiled);
- it gets an array with more numbers than its limits (`SMALL` and `SHORT` by default). A call cannot be interrupted, so
  one that might take long must not start as Python. For the same reason only a kernel whose work is bounded by the size
  of its arguments or by `room` (see `anypag.threads`) may be patient.

So no process takes much more than twice as long as with the faster of plain Python and compiled code. Both give the
same results to the bit: no patient kernel is compiled with relaxed arithmetic, and functions of `math` are the same C
functions. (If Intel's vector library replaces them in compiled code, every kernel is compiled when it is first called.)

A kernel can call other kernels, because numba treats a `Kernel` as the numba object inside it. A kernel that is called
often and makes no array has the option `_nrt=False` (`numba.extending.register_jitable`). Without it, the kernel counts
references, which takes two atomic additions per call for each array that it gets or looks at.
A kernel whose name begins with `_` is called by kernels only: once compiled, it cannot be called from Python, and it is
not cached on disk. `compile_ahead` compiles the kernels of a file that have a signature (types) in another process.
"""

import atexit
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from threading import Thread
from types import FunctionType
from typing import Any, cast

PATIENCE, BEFORE_NUMBA, LOADING = 0.25, 0.4, 0.004
"""Seconds of plain Python (see above). `ANYPAG_PATIENCE` in the environment overrides all three; 0 allows none."""
A_WHILE = 1.0  # seconds of compiling after which a message tells the user that kernels are compiled
SECONDS_TO_WAIT = 5.0  # for another process that compiles, until hearers are called again
SMALL = 40_000  # the most numbers in a table for plain Python: as many as a table of all pairs of 200 nodes has
SHORT = 10_000  # the same limit for one-dimensional arrays
EDGES = 2_000
"""The most edges for plain Python in kernels that go through the edges of a graph; each edge is listed from both ends,
so no graph of up to 45 nodes has more. With 112 nodes a search took 0.5 s as Python; compiling took 10 s."""
FEW = 500  # the same limit for kernels with quadratic time, and for questions that take long
INNER = {"cache": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Numba's options for kernels that only kernels call."""

_names_of_files: dict[str, dict[str, Any]] = {}
"""For each file, the global names that its kernels see when they run as Python."""
_spent = 0.0  # the seconds of CPU time that all kernels together have spent as plain Python
_ahead: dict[str, subprocess.Popen[bytes] | None] = {}
"""For each file that `compile_ahead` was called for: the process that compiles it; None if none was started."""


class _Compiling:
    """The seconds spent compiling, or waiting for another process that compiles. Calls `hearers` at each start and end;
    they can raise.

    Python's garbage collector is off during compiling, because it would take a tenth of the time and find nothing.
    """

    def __init__(self) -> None:
        self.hearers: list[Callable[[], None]] = []
        self._done, self._depth, self._since, self._had_collector = 0.0, 0, 0.0, False
        self.misses_large = False
        """Was a kernel with a signature missing on disk? Such kernels take seconds each to compile."""

    def begin(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._since, self._had_collector = time.monotonic(), gc.isenabled()
            gc.disable()
        self.tell()

    def end(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._done += time.monotonic() - self._since
            if self._had_collector:
                gc.enable()
        self.tell()

    def tell(self) -> None:
        for hearer in tuple(self.hearers):
            hearer()

    @property
    def seconds(self) -> float:
        return self._done + (time.monotonic() - self._since if self._depth else 0.0)

    @property
    def takes_long(self) -> bool:
        """Is something being compiled that takes long: a kernel with a signature, or `A_WHILE` seconds in all?"""
        return self._depth > 0 and (self.misses_large or self.seconds >= A_WHILE)


COMPILING = _Compiling()


def njit(signature: str | None = None, **options: Any) -> Callable[[Any], Any]:
    """A decorator like numba's, except that numba is imported only when the kernel is first compiled or loaded.

    Args:
        signature: the types to compile it for, as text, in numba's notation. By default a kernel is compiled for the
            types of the arguments of its calls.
        options: those of numba.
    """

    def later(function: Any) -> Any:
        return function if _is_off() else Kernel(function, signature, options)

    return later


def _is_off() -> bool:
    """Are kernels to run as plain Python?"""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"


def patient(table: int = SMALL, lists: int = SHORT, **options: Any) -> Callable[[Any], Any]:
    """A decorator to use in place of `@njit(cache=True)`: the kernel starts as plain Python.

    Args:
        table: the kernel is compiled if an array of two or more dimensions has more numbers than this.
        lists: the same limit for one-dimensional arrays.
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

    compiled: Any
    """Numba's object. A kernel with a signature is compiled, or loaded from disk, when this is first read."""

    def __init__(self, function: Any, signature: str | None, options: dict[str, Any]) -> None:
        self.py_func = function
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__
        self.waits, self.table, self.lists, self.spent = False, 0, 0, 0.0
        inner = INNER if function.__name__.startswith("_") else {}
        self.signature, self._options = signature, {"_nrt": True} | options | inner
        self._takes_kernels = "FunctionType" in (signature or "")  # looking for them takes a microsecond a call

    def __call__(self, *arguments: Any) -> Any:
        if self.waits:
            if self._is_plain_better(arguments):
                return self._timed(*arguments)
            self.waits = False
        if self._takes_kernels:
            arguments = tuple(one.compiled if isinstance(one, Kernel) else one for one in arguments)
        return self.compiled(*arguments)  # read last: it may wait for another process

    def __getattr__(self, name: str) -> Any:
        """Makes `compiled` when it is first read. A cached property could deadlock: in Python 3.11 it holds a lock that
        all kernels share. The compiler in another thread might need that lock while this one waits for the compiler.
        """
        if name != "compiled":
            raise AttributeError(f"A kernel has no {name!r}.", name=name, obj=self)
        _wait_for(self.__module__)
        there = numba()
        with there.core.compiler_lock.global_compiler_lock:
            if "compiled" in self.__dict__:  # another thread was faster
                return self.__dict__["compiled"]
            if self.signature is not None and self._options.get("cache"):  # should be on disk: compiling takes long
                COMPILING.misses_large |= not self._has_file()
            made = there.njit(self.signature, **self._options)(self.py_func)
            self.__dict__["compiled"] = made
            return made

    @property
    def signatures(self) -> Any:
        """The types of arguments that it has been compiled for."""
        return self.compiled.signatures if "compiled" in self.__dict__ else []

    def are_small(self, arguments: tuple[Any, ...]) -> bool:
        """Are all arrays (also in tuples) within the limits?"""
        for one in arguments:
            if hasattr(one, "ndim"):
                if one.size > (self.lists if one.ndim == 1 else self.table):
                    return False
            elif isinstance(one, tuple):
                if not self.are_small(one):
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
        return self.spent < (LOADING if self.is_on_disk else PATIENCE)

    def _timed(self, *arguments: Any) -> Any:
        global _spent
        known = [one if not isinstance(one, Kernel) else one._plain if one.waits else one.compiled for one in arguments]
        began = time.thread_time()
        try:
            return self._plain(*known)
        finally:
            took = time.thread_time() - began
            self.spent += took
            _spent += took

    @cached_property
    def _plain(self) -> Callable[..., Any]:
        return plain(self)

    @cached_property
    def is_on_disk(self) -> bool:
        """Is there a cache file of this kernel on disk? Only numba checks whether the file is current."""
        return self._has_file()

    def _has_file(self) -> bool:
        folder = numba().njit(cache=True)(self.py_func).stats.cache_path  # compiles nothing
        name = f"{Path(self.py_func.__code__.co_filename).stem}.{self.__name__}-*.nbi"
        return folder is not None and any(Path(folder).glob(name))


def compile_ahead(file: str) -> None:
    """Starts another process that compiles the kernels of a file that have a signature, and leaves them on disk. A call
    of such a kernel waits for the process. Does nothing if all are on disk already or there is only one core.
    """
    if file not in _ahead:
        is_needed = (os.cpu_count() or 1) > 1 and not all(kernel.is_on_disk for kernel in _with_signature(file))
        COMPILING.misses_large |= is_needed
        _ahead[file] = _process_that_compiles(file) if is_needed and numba().config.DISABLE_JIT == 0 else None


def _with_signature(file: str) -> list[Kernel]:
    names = vars(import_module(f"anypag._kernels.{file}"))
    return [one for one in names.values() if isinstance(one, Kernel) and one.signature is not None]


def compile_file(file: str) -> None:
    """Compiles the kernels of a file that have a signature; ends the process when the other end of stdin is closed."""
    Thread(target=lambda: os.read(0, 1) or os._exit(1), daemon=True).start()
    for kernel in _with_signature(file):
        kernel.compiled  # noqa: B018


def _process_that_compiles(file: str) -> subprocess.Popen[bytes] | None:
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import compile_file; compile_file({file!r})"
    folder = numba().config.CACHE_DIR
    environment = os.environ | ({"NUMBA_CACHE_DIR": folder} if folder else {})
    if "python" not in Path(sys.executable or "").name or getattr(sys, "frozen", False):  # embedded Python
        return None
    with suppress(OSError):  # processes may be forbidden; then kernels are compiled here
        words, nowhere = [sys.executable, "-c", code], subprocess.DEVNULL
        process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere)
        atexit.register(_end, process)
        return process
    return None


def _wait_for(module: str) -> None:
    """If another process compiles this file, waits for it. Kernels that it did not compile are compiled here."""
    process = _ahead.get(module.rpartition(".")[2])
    if process is None or process.poll() is not None:
        return
    try:
        COMPILING.begin()
        while process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(SECONDS_TO_WAIT)
            COMPILING.tell()
    finally:
        COMPILING.end()


def _end(process: subprocess.Popen[bytes]) -> None:
    with process:  # closes its stdin, and waits
        process.kill()


@cache
def numba() -> Any:
    """The compiler, imported at the first call and set up for kernels."""
    import shutil
    import tempfile
    import warnings

    import numba as there
    import numba.core.event
    from numba.extending import typeof_impl

    config, event = cast(Any, there).config, cast(Any, there).core.event
    # Searches take scores as compiled functions. Numba has called such arguments experimental since 2020.
    warnings.filterwarnings("ignore", "First-class function type feature", there.NumbaExperimentalFeatureWarning)
    typeof_impl.register(Kernel)(lambda kernel, context: there.typeof(kernel.compiled))
    if _is_off():
        return there
    try:
        there.njit(cache=True)(_nothing)
    except RuntimeError:  # no folder for the cache can be written
        config.CACHE_DIR = tempfile.mkdtemp(prefix="anypag-kernels-")
        atexit.register(shutil.rmtree, config.CACHE_DIR, ignore_errors=True)

    class Listener(event.Listener):  # type: ignore[misc, name-defined]
        def on_start(self, _: Any) -> None:
            COMPILING.begin()

        def on_end(self, _: Any) -> None:
            COMPILING.end()

    event.register("numba:compile", Listener())
    return there


def _nothing() -> None:
    """A function to compile, to see whether there is a cache folder."""


@cache
def _has_vector_library() -> bool:
    """Is Intel's vector library installed, with which compiled functions of `math` differ in the last bit?"""
    if numba.cache_info().currsize:
        return bool(getattr(numba().config, "USING_SVML", False))
    return any(any(Path(sys.prefix, folder).glob("*svml*")) for folder in ("lib", "Library/bin"))


def plain(kernel: Any) -> Callable[..., Any]:
    """The Python function of a kernel, which calls the Python functions of the kernels in its file."""
    if not isinstance(kernel, Kernel):  # with NUMBA_DISABLE_JIT it is that function
        return cast(Callable[..., Any], kernel)
    names = kernel.py_func.__globals__
    file = names["__name__"]
    if file not in _names_of_files:
        seen = dict(names)
        seen |= {name: _within(seen, one) for name, one in names.items() if isinstance(one, Kernel)}
        _names_of_files[file] = seen
    return _within(_names_of_files[file], kernel)


def _within(names: dict[str, Any], kernel: Any) -> Callable[..., Any]:
    return FunctionType(kernel.py_func.__code__, names, kernel.py_func.__name__)
