"""A state and its history as facts and arrays, and back, as the fields of a state are declared.

`anypag.search.stored` says how each field is kept. Every number is checked before a search may see it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from anypag.checkpoint.store import Store
from anypag.graphs.pag import PAG
from anypag.graphs.rules import RULES
from anypag.results.base import COUNTS, Iteration, plain_info
from anypag.search.algorithm import Algorithm
from anypag.search.problem import Nodes, Strength
from anypag.search.state import State, StepInfo
from anypag.search.stored import Array as StoredArray
from anypag.search.stored import Fact, MarksMatrix, Nested, Paths, RuleRows, Size

Array = npt.NDArray[Any]
Made = TypeVar("Made")


class RefusedError(ValueError):
    """A checkpoint holds something that no run has written."""


def state_parts(state: State) -> tuple[dict[str, Any], dict[str, Array | None]]:
    """The facts and arrays of a state; None for an array that it has not."""
    parts = dict(_parts(replace(state, evidence=state.evidence.with_notes()), "state"))
    facts = {name: value for name, value in parts.items() if isinstance(value, int | str)}
    return facts, {name: value for name, value in parts.items() if name not in facts}


def _parts(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The stored fields of a dataclass, those of the dataclasses in it included, by name."""
    for item in fields(value):
        how, content = item.metadata.get("stored"), getattr(value, item.name)
        if isinstance(how, Nested):
            yield from _parts(content, f"{name}/{item.name}")
        elif isinstance(how, Paths):
            paths = sorted(content)
            yield f"{name}/{item.name}/nodes", np.array([node for path in paths for node in path], np.int32)
            yield f"{name}/{item.name}/lengths", np.array([len(path) for path in paths], np.int32)
        elif how is not None:
            yield f"{name}/{item.name}", how.kind(content) if isinstance(how, Fact) else content


def state_of(store: Store, algorithm: Algorithm, nodes: Nodes) -> State:
    """The state in a file.

    Raises:
        RefusedError: there is none that a search could go on from.
    """
    state = _Reader(store, len(nodes)).dataclass(algorithm.state, "state", nodes=nodes)
    _require(state.phase in algorithm.phases, f"the state is in no phase of {algorithm.name!r}")
    _require(state.sepsets.is_consistent, "separating sets are not there")
    _require(state.evidence.pairs.is_consistent, "p-values are not those of pairs")
    if state.asked is not None:
        checked_keys(state.asked)
    return state


def checked_keys(table: Array) -> Array:
    """A table of keys that compiled code may search: a power of two long, and half empty."""
    is_table = table.dtype == np.uint64 and table.ndim == 2 and table.shape[1] == 2 and len(table) >= 2
    _require(is_table and not len(table) & (len(table) - 1), "the counted questions are no table of keys")
    _require(2 * int(np.count_nonzero(table[:, 0])) <= len(table), "the table of counted questions is too full")
    return table


def nodes_of(store: Store, names: tuple[str, ...]) -> Nodes:
    """The order of the nodes in a file."""
    read, n = _Reader(store, len(names)), len(names)
    order = read.array(StoredArray("int32", ("n",), 0, "n"), "problem/order")
    _require(len(np.unique(order)) == n, "the order of the nodes is no permutation")
    return Nodes(names, order)


def stored_strength(store: Store, n: int) -> Strength:
    """How strongly the nodes depend on each other, in a file."""
    read = _Reader(store, n)
    table = read.array(StoredArray("float32", (None, None)), "problem/strength")
    place = read.array(StoredArray("int32", ("n",), 0, len(table)), "problem/place")
    _require(table.shape[0] == table.shape[1], "how strongly variables depend on each other is no table of pairs")
    return Strength(table, place)


def iteration_parts(item: Iteration, k: int) -> tuple[dict[str, Any], dict[str, Array]]:
    """The facts and the graph of iteration number k."""
    facts = {**plain_info(item.info), "seconds": item.seconds}
    return {f"history/{k}": facts}, {f"history/{k}": item.pag.marks}


def history_of(store: Store, steps: object, names: tuple[str, ...]) -> tuple[Iteration, ...]:
    """The first iterations in a file, as many as it says it has."""
    return tuple(_iteration(store, k, names) for k in range(_whole(steps, "number of iterations", 0)))


def _iteration(store: Store, k: int, names: tuple[str, ...]) -> Iteration:
    facts, marks = store.fact(f"history/{k}"), store.array(f"history/{k}")
    _require(isinstance(facts, dict) and marks is not None, f"iteration {k} is not there")
    assert marks is not None
    _require(marks.shape == (len(names), len(names)), f"the graph of iteration {k} has another size")
    seconds, tests = facts.get("seconds"), facts.get("tests")
    _require(isinstance(seconds, float) and seconds >= 0, f"iteration {k} has no duration")
    _require(facts.keys() == {item.name for item in fields(StepInfo)} | {"seconds"}, f"iteration {k} lacks facts")
    _require(isinstance(facts["phase"], str), f"iteration {k} has no phase")
    counts = {name: _whole(facts[name], name, 0) for name in COUNTS}
    info = StepInfo(phase=facts["phase"], tests=_tests(tests), **counts)
    return Iteration(PAG(marks, names), info, seconds)


def _tests(value: object) -> dict[int, int]:
    _require(isinstance(value, list) and all(isinstance(row, list) and len(row) == 2 for row in value), "no counts")
    assert isinstance(value, list)
    return {_whole(size, "size", 0): _whole(count, "count", 0) for size, count in value}


class _Reader:
    """Reads stored fields over n nodes, and checks them one by one."""

    def __init__(self, store: Store, n: int) -> None:
        self._n = n
        self._store = store

    def dataclass(self, kind: Callable[..., Made], name: str, **others: Any) -> Made:
        """The dataclass of this kind; `others` are fields that are not stored."""
        stored = [item for item in fields(cast(Any, kind)) if "stored" in item.metadata]
        return kind(**others, **{item.name: self._value(item, f"{name}/{item.name}") for item in stored})

    def _value(self, item: Any, name: str) -> Any:
        how = item.metadata["stored"]
        if isinstance(how, Nested):
            return self.dataclass(how.kind, name)
        if isinstance(how, Fact):
            return self._fact(how, name)
        if isinstance(how, Paths):
            return self._paths(name)
        if item.default is None and self._store.array(name) is None:
            return None
        if isinstance(how, MarksMatrix):
            return self._marks(name)
        return self._rule_rows(name) if isinstance(how, RuleRows) else self.array(how, name)

    def array(self, how: StoredArray, name: str) -> Array:
        """An array as it was declared."""
        array = self._store.array(name)
        _require(array is not None, f"the array {name!r} is not there")
        assert array is not None
        low, end, shape = how.low, self._size(how.end), [self._size(size) for size in how.shape]
        is_shape = array.ndim == len(shape) and all(
            k in {None, size} for k, size in zip(shape, array.shape, strict=True)
        )
        is_right = is_shape and array.dtype == how.dtype
        _require(is_right, f"the array {name!r} is of shape {array.shape} and type {array.dtype}")
        _require(low is None or bool((array >= low).all()), f"the array {name!r} holds numbers below {low}")
        _require(end is None or bool((array < end).all()), f"the array {name!r} holds numbers from {end} on")
        return array

    def _size(self, size: Size) -> int | None:
        return self._n if size == "n" else size

    def _fact(self, how: Fact, name: str) -> Any:
        value = self._store.fact(name)
        _require(type(value) is how.kind, f"{name} is {value!r:.40}")
        return _whole(value, name, how.low) if how.kind is int else value

    def _marks(self, name: str) -> Array:
        marks = self.array(StoredArray("uint8", ("n", "n"), 0, 4), name)
        PAG(marks)  # an edge has two marks, and no node one with itself
        return marks

    def _rule_rows(self, name: str) -> Array:
        """Rule, two nodes, mark, and up to two nodes more."""
        rows, n = self.array(StoredArray("int32", (None, 6), -1), name), self._n
        lowest, ends = np.array([0, 0, 0, -1, -1]), np.array([n, n, 4, n, n])
        is_right = np.isin(rows[:, 0], list(RULES)) & ((rows[:, 1:] >= lowest) & (rows[:, 1:] < ends)).all(axis=1)
        _require(bool(is_right.all()), f"the array {name!r} holds what no rule has set")
        return rows

    def _paths(self, name: str) -> frozenset[tuple[int, ...]]:
        nodes = self.array(StoredArray("int32", (None,), 0, "n"), f"{name}/nodes").tolist()
        lengths = self.array(StoredArray("int32", (None,), 1), f"{name}/lengths")
        _require(int(lengths.sum(dtype=np.int64)) == len(nodes), "the checked paths are cut off")
        ends = np.cumsum(lengths).tolist()
        return frozenset(tuple(nodes[end - size : end]) for end, size in zip(ends, lengths.tolist(), strict=True))


def _whole(value: object, what: str, low: int) -> int:
    _require(
        isinstance(value, int) and not isinstance(value, bool) and low <= value < 2**62, f"{what} is {value!r:.40}"
    )
    assert isinstance(value, int)
    return value


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise RefusedError(otherwise)
