"""A hash of a value's content: data, settings and code, as far as they can be inspected.

For a function the hash covers its code with all constants and names, its default arguments and its closure. A global of
the function is hashed by content if it is a function of the same package or a plain value, else only by name. For an
object the hash covers its members, including `__slots__`, and its class: the code of all methods and the public
settings (`SETTINGS`). Data frames and arrays are hashed by their values.

An object can declare its identity instead: `identity()` returns a text that changes whenever the answers do. Then
nothing else of the object is hashed. An object that cannot be inspected and declares nothing raises CheckpointError.

Two kinds of outer variables of a function are ignored, because they are often counters or caches: variables that the
function sets, and lists, dicts and sets without arrays, data frames or functions. The function may also read a file or
a server. If any of these changes the answers, users declare it by the `version` of `anypag.from_callable`.
"""

from __future__ import annotations

import dis
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import chain
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from anypag.errors import CheckpointError
from anypag.graphs.base import MixedGraph

DEEPEST = 12  # the deepest level of members that is inspected; deeper values count as not inspectable
SETTINGS = (bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, np.ndarray, np.generic)
"""The types of the members of a class that count as settings. Others are descriptors, or belong to Python."""
WRAPPED = ("__func__", "fget", "func", "py_func", "__wrapped__")
"""Where methods, properties, cached properties, compiled and decorated functions keep what they wrap."""


def content_hash(value: Any, *, declared: bool = False) -> str:
    """The hash, in hexadecimal. CheckpointError if a part of the value cannot be inspected and declares no identity.
    With `declared` such a part is left out: the user declares changes by `version`.

    >>> content_hash(np.zeros(2)) == content_hash(np.zeros(2)) != content_hash(np.zeros(3))
    True
    """
    return digest_of(_Walk(declared).parts(value, DEEPEST)).hex()


def digest_of(parts: Iterable[bytes]) -> bytes:
    """The hash of several byte strings, each with its length."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


class _Walk:
    """A walk through a value and everything in it; functions and objects are visited once."""

    def __init__(self, declared: bool) -> None:
        self._seen: set[int] = set()
        self._declared = declared

    def parts(self, value: Any, depth: int) -> Iterator[bytes]:
        yield type(value).__qualname__.encode()
        if isinstance(value, np.ndarray) and value.dtype != object:
            yield f"{value.dtype.str} {value.shape}".encode()
            yield np.ascontiguousarray(value).tobytes()
        elif value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
            yield repr(value).encode()
        elif isinstance(value, type | ModuleType):
            yield f"{getattr(value, '__module__', '')} {value.__name__}".encode()
            yield from self._of_class(value, depth) if isinstance(value, type) else ()
        elif callable(getattr(value, "identity", None)) and not _is_ours(type(value)):
            yield _declared_identity(value).encode()
        elif _is_frame(value):
            yield from self._all(_columns(value), depth)
        elif self._is_fresh(value):
            if depth <= 0:
                self._refuse(value)
                return
            yield from self._inside(value, depth)

    def _is_fresh(self, value: Any) -> bool:
        """Is this the first visit to the value? Also True if it may be temporary: then its `id` may be reused."""
        if not hasattr(value, "__dict__") or hasattr(value, "__self__"):
            return True
        is_fresh = id(value) not in self._seen
        self._seen.add(id(value))
        return is_fresh

    def _inside(self, value: Any, depth: int) -> Iterator[bytes]:
        if isinstance(value, partial):
            yield from self._all((value.func, value.args, value.keywords), depth)
        elif hasattr(value, "py_func") or hasattr(value, "__wrapped__"):  # a compiled or wrapped function
            yield from self.parts(getattr(value, "py_func", None) or value.__wrapped__, depth - 1)
        elif _is_our_function(value):  # not hashed: the fingerprint has the version of anypag
            yield f"{value.__module__} {value.__qualname__}".encode()
        elif hasattr(value, "__code__"):
            yield from _code_parts(value.__code__)
            yield from self._all(_of_function(value), depth)
        elif isinstance(value, Mapping):
            yield from self._all((part for key, item in value.items() for part in (str(key), item)), depth)
        elif isinstance(value, Set):
            yield from sorted(repr(item).encode() for item in value)
        elif isinstance(value, Sequence | np.ndarray):
            yield from self._all(value, depth)
        elif isinstance(value, MixedGraph):
            yield from self._all((value.names, value.marks), depth)
        elif hasattr(value, "__dict__") or _slots(type(value)):
            yield from self._of_class(type(value), depth)
            slots = {name: getattr(value, name) for name in _slots(type(value)) if hasattr(value, name)}
            members = slots | getattr(value, "__dict__", {})
            yield from self._all(chain.from_iterable(sorted(members.items())), depth)
        elif " at 0x" not in repr(value):  # a path, a date, a ufunc: `repr` identifies them
            yield repr(value).encode()
        else:
            self._refuse(value)

    def _of_class(self, kind: type, depth: int) -> Iterator[bytes]:
        """The code and the settings of a class and its base classes, except those of Python and anypag."""
        for part in kind.__mro__:
            if part.__module__ == "builtins" or _is_ours(part) or id(part) in self._seen:
                continue
            self._seen.add(id(part))
            for name, item in sorted(vars(part).items()):
                for function in _functions_in(item):
                    yield name.encode()
                    yield from _code_parts(function.__code__)
                    by_name = getattr(function, "__kwdefaults__", None) or {}
                    defaults = (*(getattr(function, "__defaults__", None) or ()), *chain.from_iterable(by_name.items()))
                    yield from self._all((one for one in defaults if isinstance(one, SETTINGS)), depth)
                if isinstance(item, SETTINGS) and not name.startswith("_"):
                    yield from self._all((name, item), depth)

    def _refuse(self, value: Any) -> None:
        if not self._declared:
            raise CheckpointError(
                "A checkpoint must recognise this test or algorithm, but the "
                f"{type(value).__qualname__} that it uses cannot be inspected. Give the object that holds it a method "
                "identity(), whose text changes whenever the answers do. For a function, use "
                'from_callable(..., version="1"). Or run without a checkpoint.'
            )

    def _all(self, values: Iterable[Any], depth: int) -> Iterator[bytes]:
        for value in values:
            yield from self.parts(value, depth - 1)


def _code_parts(code: CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield " ".join((*code.co_names, *code.co_freevars)).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_parts(constant)
        elif isinstance(constant, frozenset):  # the order of a set differs between processes
            yield repr(sorted(map(repr, constant))).encode()
        else:
            yield repr(constant).encode()


def _declared_identity(value: Any) -> str:
    said = value.identity()
    if not isinstance(said, str):
        raise CheckpointError(f"identity() of a {type(value).__qualname__} must return a text; got {said!r:.60}.")
    return said


def _functions_in(member: Any) -> Iterator[Any]:
    """The functions with code in a member of a class: the member itself, what it wraps, what that wraps, ..."""
    for _ in range(DEEPEST):
        if hasattr(member, "__code__"):
            yield member
        member = next((inner for name in WRAPPED if (inner := getattr(member, name, None)) is not None), None)


def _of_function(function: Any) -> Iterator[Any]:
    """The values that a function uses besides its code: name, defaults, closure, globals, the object of a method."""
    yield function.__qualname__
    yield (function.__defaults__ or (), function.__kwdefaults__ or {})
    own = _names_set(function.__code__)
    used = {name for part in _codes(function.__code__) for name in part.co_names}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name not in own and _is_filled(cell) and _is_data(cell.cell_contents):
            yield from (name, cell.cell_contents)
    for name in sorted(used - own):
        if name in function.__globals__:
            yield from (name, _as_used_in(function, function.__globals__[name]))
    yield getattr(function, "__self__", None)


def _as_used_in(function: Any, value: Any) -> Any:
    """The value of a global if it is data, a setting or a function of the same package; its full name if not."""
    is_function = hasattr(value, "__code__")
    is_own = is_function and _root(value.__module__) == _root(function.__module__)
    is_plain = not hasattr(value, "__dict__") or isinstance(value, np.ndarray) or _is_frame(value)
    if is_own or (is_plain and _is_data(value)):
        return value
    kind = value if hasattr(value, "__qualname__") or isinstance(value, ModuleType) else type(value)
    return f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', kind.__name__)}"


def _root(module: str | None) -> str:
    return (module or "").partition(".")[0]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of all functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _names_set(code: CodeType) -> set[str]:
    """The names of outer variables that a function sets or deletes."""
    sets = {"STORE_DEREF", "STORE_GLOBAL", "DELETE_DEREF", "DELETE_GLOBAL"}
    steps = (step for part in _codes(code) for step in dis.get_instructions(part))
    return {str(step.argval) for step in steps if step.opname in sets}


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _slots(kind: type) -> list[str]:
    named = [vars(part).get("__slots__", ()) for part in kind.__mro__ if part.__module__ != "builtins"]
    return [name for names in named for name in ((names,) if isinstance(names, str) else names) if name[:2] != "__"]


def _is_our_function(value: Any) -> bool:
    is_plain = hasattr(value, "__code__") and not value.__closure__ and not hasattr(value, "__self__")
    return is_plain and _root(value.__module__) == "anypag"


def _is_ours(kind: type) -> bool:
    return kind.__module__.startswith("anypag.")


def _is_data(value: Any) -> bool:
    """Is the value data, a setting or code, and not a cache that changes while a test is used?"""
    if isinstance(value, dict | list | set):
        items = value.values() if isinstance(value, dict) else value
        return any(isinstance(item, np.ndarray) or callable(item) or _is_frame(item) for item in items)
    return not isinstance(value, bytearray)


def _is_frame(value: Any) -> bool:
    """Is the value a table or a column of pandas, polars, pyarrow or a similar library?"""
    if type(value).__module__.partition(".")[0] in {"builtins", "numpy", "anypag"}:
        return False
    from narwhals.dependencies import is_into_dataframe, is_into_series

    return bool(is_into_dataframe(value) or is_into_series(value))


def _columns(frame: Any) -> Iterator[Any]:
    """The names, types and values of the columns of a table, or of a single column."""
    import narwhals as nw

    native = nw.from_native(frame, eager_only=True, allow_series=True)
    for series in native.iter_columns() if isinstance(native, nw.DataFrame) else (native,):
        yield (str(series.name), str(series.dtype))
        if series.dtype.is_numeric() and not series.dtype.is_decimal():
            yield series.is_null().to_numpy()
            yield np.asarray(series.fill_null(0).to_numpy())
        else:
            yield repr(series.to_list())
