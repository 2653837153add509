"""What a run is: the facts that must agree before one run may go on from another's checkpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from anypag.choices import DECLARED, Choices
from anypag.ci.base import innermost
from anypag.data.table import as_table
from anypag.graphs.base import MixedGraph
from anypag.search.problem import Problem

Fingerprint = dict[str, Any]

TITLES = {
    "anypag": "the version of anypag",
    "variables": "the variables",
    "rows": "the number of rows",
    "test": "the test",
    "data": "the data",
    "kinds": "the kinds of the columns",
    "missing": "the way with missing values",
    "initial": "the initial graph",
    "knowledge": "what is known beforehand",
    "r0": "the size of the first condition sets",
}
"""How differences are named; parameters go by their own names."""

PLURAL = frozenset({"variables", "data", "kinds"})
MOST_SHOWN = 60
DEEPEST = 5
"""How many levels of members a content hash goes down."""


def fingerprint(method: str, problem: Problem, data_or_test: Any) -> Fingerprint:
    """The facts of a run: a run with the same ones takes the same course.

    Args:
        method: the name of the algorithm.
        problem: what it works on.
        data_or_test: what it was made from.
    """
    from anypag import __version__

    choices = problem.choices
    told = {name: value for name, value in choices.recorded().items() if DECLARED[name].part != "run"}
    return {
        "anypag": __version__,
        "variables": list(problem.nodes.names),
        "rows": problem.n_rows,
        "test": problem.test_name,
        "data": _data_hash(data_or_test, choices),
        "method": method,
        **told,
        "initial": content_hash(choices.initial),
    }


def _data_hash(data: Any, choices: Choices) -> str:
    if hasattr(data, "pvalues"):
        return content_hash(innermost(data))
    of_test = "" if isinstance(choices.test, str) else content_hash(choices.test)
    if isinstance(data, str | Path):
        return file_hash(Path(data)) + of_test
    table = as_table(data, choices.names)
    return content_hash((table.names, table.values, table.labels)) + of_test


def differences(then: object, now: Fingerprint) -> list[str]:
    """In which facts two runs differ, one clause each; hashes are not shown, they say nothing to a reader."""
    if not isinstance(then, dict):
        return ["what it was made for is not recorded in it"]
    return [
        _difference(name, then.get(name), now.get(name)) for name in {**now, **then} if then.get(name) != now.get(name)
    ]


def _difference(name: str, then: Any, now: Any) -> str:
    title = TITLES.get(name, name)
    was, are = ("were", "they are") if name in PLURAL else ("was", "it is")
    if name in {"data", "initial", "knowledge"}:
        return f"{title} {are.split()[1]} not the same"
    return f"{title} {was} {_shown(then)}, now {are} {_shown(now)}"


def _shown(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "…"


def content_hash(value: Any) -> str:
    """A hash of what a value holds: the numbers of arrays, the members of objects, the code of functions.

    Of what a function closes over and of the members of other packages' objects, whole numbers, lists, dicts and sets
    are passed over: tests count and remember in them.

    >>> content_hash(np.zeros(2)) == content_hash(np.zeros(2)) != content_hash(np.zeros(3))
    True
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in _parts(value, DEEPEST):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def file_hash(path: Path) -> str:
    """A hash of the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _parts(value: Any, depth: int) -> Iterator[bytes]:
    yield type(value).__qualname__.encode()
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield f"{value.dtype.str} {value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        yield repr(value).encode()
    elif hasattr(value, "__code__"):
        yield value.__code__.co_code
        yield from _all_parts(_of_function(value), depth)
    elif isinstance(value, Mapping):
        yield from _all_parts((part for key, item in value.items() for part in (str(key), item)), depth)
    elif isinstance(value, Sequence | np.ndarray):
        yield from _all_parts(value, depth)
    elif not isinstance(value, type | ModuleType):
        yield from _all_parts(_of_object(value), depth)


def _all_parts(values: Iterable[Any], depth: int) -> Iterator[bytes]:
    """The parts of all of these; below a certain depth nothing is told apart any more."""
    if depth > 0:
        for value in values:
            yield from _parts(value, depth - 1)


def _of_function(function: Any) -> Iterator[Any]:
    """What a function's answers depend on: its name, what it closes over, the object it belongs to."""
    yield function.__qualname__
    yield from (cell.cell_contents for cell in function.__closure__ or () if _is_lasting(cell.cell_contents))
    yield getattr(function, "__self__", None)


def _of_object(value: Any) -> Iterator[Any]:
    if isinstance(value, MixedGraph):
        yield from (value.names, value.marks)
    elif hasattr(value, "__dict__"):
        is_ours = type(value).__module__.startswith("anypag.")
        for name, item in sorted(vars(value).items()):
            if is_ours or _is_lasting(item):
                yield from (name, item)


def _is_lasting(value: Any) -> bool:
    """Is it data or a setting, not a counter or a memory that changes while a test is used?"""
    return isinstance(value, bool) or not isinstance(value, int | list | dict | set | bytearray)
