"""Checkpoints: a run can be killed at any moment and continued.

After every iteration the file holds the state, the history and the numbers of tests. For slow tests (`batch == 1`) the
answers (p-values) are written too, every few seconds during an iteration. A resumed run asks the test only for missing
answers. The fields of a state declare how they are stored (`anypag.stored`): arrays as arrays, everything else as JSON
("facts"). Every number is checked before a search uses it. `docs/checkpoint.md` describes the file.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import reduce
from itertools import islice
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np

from anypag.arrays import AnyArray
from anypag.checkpoint.fingerprint import Fingerprint, differences
from anypag.checkpoint.store import Store
from anypag.ci.wrappers import Cached
from anypag.errors import AnypagError, CheckpointError
from anypag.graphs.pag import PAG
from anypag.results.result import ITERATION, Iteration, Result
from anypag.search.algorithm import Algorithm
from anypag.search.node_order import strength_in
from anypag.search.problem import Nodes, Problem, Strength
from anypag.search.state import State
from anypag.stored import Array as StoredArray
from anypag.stored import Form, Nested, RefusedError, Variables, Whole, marks_matrix, read_at, stored_fields

SECONDS_BETWEEN_WRITES = 2.0  # for answers within an iteration, and for finished resamples
_ANSWERS = re.compile(r"answers/(\d{8})/\d{1,9}/(queries|p)", re.ASCII)


class Checkpoint(AbstractContextManager["Checkpoint"]):
    """The checkpoint of a run; use it in a `with` statement.

    `state` and `history` are those at the end of the earlier run; None and empty for a new run. `problem` gets the
    order of nodes in the file, and its test gets the stored answers. `facts` identify the run (`fingerprint`). With
    `resume` the run continues from the file if it exists. CheckpointError if the file exists and `resume` is False, or
    if it belongs to another run, is damaged, is in use or cannot be written.
    """

    def __init__(self, path: Path, problem: Problem, algorithm: Algorithm, facts: Fingerprint, *, resume: bool) -> None:
        self.state: State | None = None
        self.history: tuple[Iteration, ...] = ()
        self.problem = problem
        self._algorithm = algorithm
        self._test = problem.test
        self._answers = self._test.test.known if isinstance(self._test.test, Cached) else {}
        self._n_parts = 0
        self._store = store_of_run(path, facts, {"steps": 0}, self._take_up, resume=resume)
        self._n_written = len(self._answers)
        self._written_at = time.monotonic()

    @property
    def path(self) -> Path:
        return self._store.path

    def before_batch(self) -> None:
        if time.monotonic() - self._written_at >= SECONDS_BETWEEN_WRITES:
            self.write_answers()

    def after_step(self, result: Result) -> None:
        k = len(result.history) - 1
        facts, arrays = state_parts(result.state)
        last, order, strength = result.history[k], result.problem.nodes.order, result.problem.strength
        if k == 0:
            arrays["problem/order"] = order
            if strength_in(result.problem, order) is None:  # the test of a resumed run would not have the strengths
                arrays |= {"problem/strength": strength.table, "problem/place": strength.place}
        step = ITERATION.write({**vars(last.info), "seconds": last.seconds}, Variables(last.pag.names))
        self._write(
            {**facts, f"history/{k}": step, "steps": k + 1},
            {**arrays, f"history/{k}": last.pag.marks, **self._fresh_answers()},
        )

    def write_answers(self) -> None:
        fresh = self._fresh_answers()
        if fresh:
            self._write({}, fresh)
        self._written_at = time.monotonic()

    def __exit__(self, *exception: object) -> None:
        try:
            self.write_answers()
        finally:
            self._store.__exit__()

    def _write(self, facts: dict[str, Any], arrays: Mapping[str, AnyArray | None]) -> None:
        self._store.write(facts, arrays)
        self._n_parts += 1
        self._n_written = len(self._answers)
        self._written_at = time.monotonic()

    def _fresh_answers(self) -> dict[str, AnyArray]:
        """The answers not written yet: an array of questions and one of p-values for each size of condition set."""
        by_size: dict[int, list[tuple[list[int], float]]] = {}
        for (x, y, z), p in islice(self._answers.items(), self._n_written, None):
            by_size.setdefault(len(z), []).append(([x, y, *z], p))
        arrays: dict[str, AnyArray] = {}
        for size, rows in by_size.items():
            name = f"answers/{self._n_parts:08}/{size}"
            arrays[f"{name}/queries"] = np.array([query for query, _ in rows], np.int32)
            arrays[f"{name}/p"] = np.array([p for _, p in rows])
        return arrays

    def _take_up(self, store: Store) -> None:
        self._store, names = store, self.problem.nodes.names
        try:
            self.history = history_of(store, names)
            if self.history:
                order = _array(store, "problem/order", StoredArray("int32", ("n",), 0, "n"), names)
                if len(np.unique(order)) != len(names):
                    raise RefusedError("the order of the nodes is no permutation")
                self.problem = self.problem.numbered(order, self._strength(Nodes(names, order)))
                self.state = state_of(store, self._algorithm, self.problem)
            self._read_answers(len(names))
        except CheckpointError:
            raise
        except (RefusedError, AnypagError) as error:
            raise store.damaged(str(error)) from None

    def _strength(self, nodes: Nodes) -> Strength:
        if not self._algorithm.facts.orders_nodes:  # nodes stay in the order of columns, so strengths are not needed
            return self.problem.strength
        in_memory = strength_in(self.problem, nodes.order)
        if in_memory is not None:
            return in_memory
        table = _array(self._store, "problem/strength", StoredArray("float32", (None, None)), nodes.names)
        place = _array(self._store, "problem/place", StoredArray("int32", ("n",), 0, len(table)), nodes.names)
        if table.shape[0] != table.shape[1]:
            raise RefusedError("the table of how strongly variables depend on each other is not square")
        return Strength(table, place)

    def _read_answers(self, n: int) -> None:
        parts = {name: _ANSWERS.fullmatch(name) for name in self._store.names("answers/")}
        strange = [name for name, found in parts.items() if found is None]
        if strange:
            raise RefusedError(f"the array {strange[0]!r:.60} does not belong in a checkpoint")
        for name in (name.removesuffix("/p") for name in parts if name.endswith("/p")):
            queries, p = self._store.array(f"{name}/queries"), self._store.array(f"{name}/p")
            if queries is None or p is None or not _are_answers(queries, p, n):
                raise RefusedError(f"the array {name!r} holds no answers of a test")
            for (x, y, *z), value in zip(queries.tolist(), p.tolist(), strict=True):
                self._answers[x, y, tuple(z)] = value
        self._n_parts = 1 + max((int(found[1]) for found in parts.values() if found), default=-1)


def store_of_run(
    path: Path, facts: Fingerprint, first: dict[str, Any], read: Callable[[Store], None], *, resume: bool
) -> Store:
    """The open file of a run, which `facts` identify. An existing file is passed to `read`; a new one also gets the
    facts `first`. CheckpointError if the file belongs to another run, or if it exists and `resume` is False.
    """
    if not path.exists():
        return Store.create(path, {"run": facts, **first})
    if not resume:
        remedy = "Resume from it, remove it, or choose another file."
        raise CheckpointError(f"The checkpoint {path} already exists. {remedy}")
    store = Store(path)
    try:
        differing = differences(store.fact("run"), facts)
        if differing:
            raise CheckpointError(
                f"The checkpoint {path} belongs to another run: {'; '.join(differing)}. "
                "Use the same choices to continue that run, or choose another file."
            )
        read(store)
    except BaseException:
        store.__exit__()
        raise
    return store


def _are_answers(queries: AnyArray, p: AnyArray, n: int) -> bool:
    is_table = queries.ndim == 2 and queries.shape[1] >= 2 and queries.dtype == np.int32
    if not is_table or p.dtype != np.float64 or p.shape != (len(queries),):
        return False
    in_range = bool(((queries >= 0) & (queries < n)).all() and ((p >= 0) & (p <= 1)).all())
    z = queries[:, 2:]
    return in_range and bool((queries[:, 0] < queries[:, 1]).all() and (np.diff(z, axis=1) > 0).all())


def state_parts(state: State) -> tuple[dict[str, Any], dict[str, AnyArray | None]]:
    """The facts of a state, by name; its arrays, by name (None for an array that the state lacks)."""
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
        raise RefusedError(f"{algorithm.name!r} cannot continue from the state")
    return state


def _leaves(form: Nested, name: str) -> Iterator[tuple[str, Form]]:
    """The stored fields of a dataclass and of the dataclasses within it, each with its name in a file."""
    for part, inner in stored_fields(form.kind).items():
        if isinstance(inner, Nested):
            yield from _leaves(inner, f"{name}/{part}")
        else:
            yield f"{name}/{part}", inner


def history_of(store: Store, names: tuple[str, ...]) -> tuple[Iteration, ...]:
    found: list[Iteration] = []
    for k in range(Whole().read(store.fact("steps"), Variables(names))):
        marks = _array(store, f"history/{k}", marks_matrix(), names)
        said = read_at(f"iteration {k}", ITERATION, store.fact(f"history/{k}"), Variables(names))
        found.append(Iteration.of(PAG(marks, names), said))
    return tuple(found)


def _array(store: Store, name: str, form: Form, names: tuple[str, ...]) -> AnyArray:
    found: AnyArray = read_at(f"the array {name!r}", form, store.array(name), Variables(names))
    return found
