"""The schema of checkpoints: a state and its history as facts and arrays, and back.

The fields of a state declare how they are stored (`anypag.stored`). Each field has its own name in the file; arrays are
stored as arrays, everything else as facts. Every number is checked before a search uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from operator import getitem
from typing import Any

import numpy as np

from anypag.arrays import AnyArray
from anypag.checkpoint.store import Store
from anypag.graphs.pag import PAG
from anypag.results.result import ITERATION, Iteration
from anypag.search.algorithm import Algorithm
from anypag.search.problem import Nodes, Problem, Strength
from anypag.search.state import State
from anypag.stored import Array as StoredArray
from anypag.stored import Form, Nested, RefusedError, Variables, Whole, marks_matrix, stored_fields


def state_parts(state: State) -> tuple[dict[str, Any], dict[str, AnyArray | None]]:
    """The facts and arrays of a state; None for a missing array."""
    form, whole = Nested(type(state)), replace(state, evidence=state.evidence.with_notes())
    tree: Any = {"state": form.write(whole, Variables(state.nodes.names))}
    leaves = [(name, leaf, reduce(getitem, name.split("/"), tree)) for name, leaf in _leaves(form, "state")]
    facts = {name: value for name, leaf, value in leaves if not leaf.is_array}
    return facts, {name: value for name, leaf, value in leaves if leaf.is_array}


def state_of(store: Store, algorithm: Algorithm, problem: Problem) -> State:
    """The state in a file, from which a search of this problem can continue. RefusedError if there is none."""
    form, tree = Nested(algorithm.state), dict[str, Any]()
    for name, leaf in _leaves(form, "state"):
        *above, last = name.split("/")
        inner = tree
        for part in above:
            inner = inner.setdefault(part, {})
        inner[last] = store.array(name) if leaf.is_array else store.fact(name)
    try:
        state: State = form.read(tree["state"], Variables(problem.nodes.names), nodes=problem.nodes)
    except RefusedError as error:
        raise error.at('"state"') from None
    if state.phase not in algorithm.facts.phases or not state.fits(problem):
        raise RefusedError(f"{algorithm.name!r} cannot go on from the state")
    return state


def _leaves(form: Nested, name: str) -> Iterator[tuple[str, Form]]:
    """The stored fields of a dataclass and of dataclasses within it, by their names in a file."""
    for part, inner in stored_fields(form.kind).items():
        if isinstance(inner, Nested):
            yield from _leaves(inner, f"{name}/{part}")
        else:
            yield f"{name}/{part}", inner


def nodes_of(store: Store, names: tuple[str, ...]) -> Nodes:
    """The order of the nodes in a file."""
    order = _array(store, "problem/order", StoredArray("int32", ("n",), 0, "n"), names)
    if len(np.unique(order)) != len(names):
        raise RefusedError("the order of the nodes is no permutation")
    return Nodes(names, order)


def stored_strength(store: Store, names: tuple[str, ...]) -> Strength:
    """How strongly the nodes depend on each other, as stored."""
    table = _array(store, "problem/strength", StoredArray("float32", (None, None)), names)
    place = _array(store, "problem/place", StoredArray("int32", ("n",), 0, len(table)), names)
    if table.shape[0] != table.shape[1]:
        raise RefusedError("the table of how strongly variables depend is not square")
    return Strength(table, place)


def iteration_parts(item: Iteration, k: int) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The facts and the graph of iteration number k."""
    facts = ITERATION.write({**vars(item.info), "seconds": item.seconds}, Variables(item.pag.names))
    return {f"history/{k}": facts}, {f"history/{k}": item.pag.marks}


def history_of(store: Store, steps: object, names: tuple[str, ...]) -> tuple[Iteration, ...]:
    """The first `steps` iterations in a file."""
    n_steps = Whole().read(steps, Variables(names))
    return tuple(_iteration(store, k, names) for k in range(n_steps))


def _iteration(store: Store, k: int, names: tuple[str, ...]) -> Iteration:
    marks = _array(store, f"history/{k}", marks_matrix(), names)
    try:
        return Iteration.of(PAG(marks, names), ITERATION.read(store.fact(f"history/{k}"), Variables(names)))
    except RefusedError as error:
        raise error.at(f"iteration {k}") from None


def _array(store: Store, name: str, form: Form, names: tuple[str, ...]) -> AnyArray:
    try:
        found: AnyArray = form.read(store.array(name), Variables(names))
        return found
    except RefusedError as error:
        raise error.at(f"the array {name!r}") from None
