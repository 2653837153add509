"""A state and its history as facts and arrays, and back: every number is checked before a search may see it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from anypag.graphs.pag import PAG
from anypag.graphs.rules import RULES
from anypag.run.result import Iteration, plain_info
from anypag.run.store import Store
from anypag.search.notes import Notes, Tables
from anypag.search.sepsets import Sepsets
from anypag.search.state import State, StepInfo

Array = npt.NDArray[Any]

PHASES = ("iteration", "possible-d-sep")
COUNTS = ("r", "n_edges", "removed", "removed_by_checks", "n_open", "n_evaluated", "n_conflicts")


class RefusedError(ValueError):
    """A checkpoint holds something that no run has written."""


def state_parts(state: State) -> tuple[dict[str, Any], dict[str, Array]]:
    """The facts and arrays of a state."""
    sets = state.sepsets
    paths = sorted(state.checked_paths)
    arrays: dict[str, Array] = {
        "columns": state.columns,
        "marks": state.marks,
        "known": state.known,
        "slot": sets.slot,
        "members": sets.members,
        "p": sets.p,
        "found_at": sets.found_at,
        "strength": state.strength,
        "settled": state.settled,
        "log": state.log,
        "conflicts": state.conflicts,
        "checked": state.checked,
        "path_nodes": np.array([node for path in paths for node in path], np.int32),
        "path_lengths": np.array([len(path) for path in paths], np.int32),
    }
    if state.frozen is not None:
        arrays["frozen"] = state.frozen
    facts = {"r": state.r, "r0": state.r0, "phase": state.phase, "done": bool(state.done)}
    return {"state": facts}, {f"state/{name}": array for name, array in arrays.items()}


def state_of(store: Store, names: tuple[str, ...]) -> State:
    """The state in a file.

    Raises:
        RefusedError: there is none that a search could go on from.
    """
    facts = store.fact("state")
    _require(isinstance(facts, dict), "it has no state")
    r, r0 = _whole(facts.get("r"), "r", -1), _whole(facts.get("r0"), "r0", 0)
    _require(facts.get("phase") in PHASES and isinstance(facts.get("done"), bool), "the state is in no known phase")
    read = _Arrays(store, len(names))
    members = read.array("members", np.int32, (None, None), -1, read.n)
    _require(len(members) > 0, "there is no row for the empty set")
    return State(
        names=names,
        columns=read.permutation("columns"),
        r=r,
        marks=read.marks("marks"),
        known=read.marks("known"),
        sepsets=Sepsets(
            slot=read.square("slot", np.int32, -1, len(members)),
            members=members,
            notes=Notes(read.n, Tables(read.square("p", np.float64), read.square("found_at", np.int16, -1, read.n))),
        ),
        strength=read.square("strength", np.float32),
        settled=read.square("settled", np.bool_),
        r0=r0,
        phase=facts["phase"],
        frozen=None if store.array("state/frozen") is None else read.marks("frozen"),
        done=facts["done"],
        log=read.rule_rows("log"),
        conflicts=read.rule_rows("conflicts"),
        checked=read.array("checked", np.int64, (None,)),
        checked_paths=read.paths(),
    )


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
    _require(isinstance(seconds, float) and seconds >= 0, f"iteration {k} took no time")
    _require(facts.keys() == {item.name for item in fields(StepInfo)} | {"seconds"}, f"iteration {k} lacks facts")
    _require(isinstance(facts["phase"], str), f"iteration {k} has no phase")
    counts = {name: _whole(facts[name], name, 0) for name in COUNTS}
    info = StepInfo(phase=facts["phase"], tests=_tests(tests), **counts)
    return Iteration(PAG(marks, names), info, seconds)


def _tests(value: object) -> dict[int, int]:
    _require(isinstance(value, list) and all(isinstance(row, list) and len(row) == 2 for row in value), "no counts")
    assert isinstance(value, list)
    return {_whole(size, "size", 0): _whole(count, "count", 0) for size, count in value}


class _Arrays:
    """The arrays of a state over n nodes, checked one by one."""

    def __init__(self, store: Store, n: int) -> None:
        self.n = n
        self._store = store

    def array(
        self, name: str, dtype: type, shape: tuple[int | None, ...], low: int | None = None, end: int | None = None
    ) -> Array:
        """An array of this type and shape (None: any length) with numbers from `low` to below `end`."""
        array = self._store.array(f"state/{name}")
        _require(array is not None, f"the array {name!r} is not there")
        assert array is not None
        is_shape = array.ndim == len(shape) and all(
            k in {None, size} for k, size in zip(shape, array.shape, strict=True)
        )
        _require(
            is_shape and array.dtype == dtype, f"the array {name!r} is of shape {array.shape} and type {array.dtype}"
        )
        _require(low is None or bool((array >= low).all()), f"the array {name!r} holds numbers below {low}")
        _require(end is None or bool((array < end).all()), f"the array {name!r} holds numbers from {end} on")
        return array

    def square(self, name: str, dtype: type, low: int | None = None, end: int | None = None) -> Array:
        return self.array(name, dtype, (self.n, self.n), low, end)

    def marks(self, name: str) -> Array:
        marks = self.square(name, np.uint8, 0, 4)
        PAG(marks)  # an edge has two marks, and no node one with itself
        return marks

    def permutation(self, name: str) -> Array:
        order = self.array(name, np.int32, (self.n,), 0, self.n)
        _require(len(np.unique(order)) == self.n, f"the array {name!r} is no order of the variables")
        return order

    def rule_rows(self, name: str) -> Array:
        """Rule, two nodes, mark, and up to two nodes more."""
        rows = self.array(name, np.int32, (None, 6), -1)
        lowest, ends = np.array([0, 0, 0, -1, -1]), np.array([self.n, self.n, 4, self.n, self.n])
        is_right = np.isin(rows[:, 0], list(RULES)) & ((rows[:, 1:] >= lowest) & (rows[:, 1:] < ends)).all(axis=1)
        _require(bool(is_right.all()), f"the array {name!r} holds what no rule has set")
        return rows

    def paths(self) -> frozenset[tuple[int, ...]]:
        nodes = self.array("path_nodes", np.int32, (None,), 0, self.n).tolist()
        lengths = self.array("path_lengths", np.int32, (None,), 1)
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
