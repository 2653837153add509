"""The window of a time series: every process at lags 0 to `max_lag`, and which pairs of nodes are copies of each other.

A process is a variable that changes in time. Node (v, l) is process v at time t - l. Its name is `v` for l = 0, else
`v(t-l)`; its index is l · k + v for k processes. Causal relations do not change in time, so a claim about a pair of
nodes also holds for the copies of the pair, which are shifted in time. The latest copy of a pair has its later node at
lag 0. Searches test or score this copy, because it has the most past in the window.

A context is a column that tells data sets apart (`anypag.pooled`). It does not change in time, so it is one node.
Contexts have the last indices and come first in time. What holds for a context and a process holds at every lag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Self

import numpy as np

from anypag.arrays import Counts, Flags, Indices
from anypag.errors import DataError, KnowledgeError, ParameterError
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.knowledge.knowledge import Knowledge
from anypag.knowledge.statements import Contexts, NotSelecting, PairStatement, Statement, Tiers

_AT_A_LAG = re.compile(r"(.+)\(t-(\d+)\)")
DENYING = frozenset({"not_causes", "not_joined", "unconfounded"})  # in these a name without a lag means all lags


@dataclass(frozen=True)
class Window:
    """The processes of a time series at lags 0 to `max_lag`.

    >>> Window(("x", "y"), 1).names
    ('x', 'y', 'x(t-1)', 'y(t-1)')
    """

    processes: tuple[str, ...]
    max_lag: int
    contexts: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """The window whose nodes have these names, lag 0 first, contexts last."""
        found = [_AT_A_LAG.fullmatch(name) for name in names]
        lagged = {part[1] for part in found if part}
        plain = [name for name, part in zip(names, found, strict=True) if not part]
        moving, fixed = ([name for name in plain if (name in lagged) == moves] for moves in (True, False))
        return cls(tuple(moving), max((int(part[2]) for part in found if part), default=0), tuple(fixed))

    def __post_init__(self) -> None:
        for name in (*self.processes, *self.contexts):
            if _AT_A_LAG.fullmatch(name):
                raise DataError(f"The column {name!r} has the name of a lagged copy. Rename it, or leave it out.")

    def __len__(self) -> int:
        return self.n_moving + len(self.contexts)

    @property
    def n_moving(self) -> int:
        """The number of nodes that are a process at a lag."""
        return self.k * (self.max_lag + 1)

    @property
    def k(self) -> int:
        return len(self.processes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes, lag 0 first, contexts last."""
        moving = (named(process, lag) for lag in range(self.max_lag + 1) for process in self.processes)
        return (*moving, *self.contexts)

    @cached_property
    def lags(self) -> Counts:
        """(n,) the lag of every node; contexts have `max_lag` + 1."""
        moving = np.repeat(np.arange(self.max_lag + 1), self.k)
        return np.append(moving, np.full(len(self.contexts), self.max_lag + 1))

    @property
    def tiers(self) -> list[list[str]]:
        """The nodes in the order of time, the earliest first."""
        slices = [list(self.names[lag * self.k : (lag + 1) * self.k]) for lag in range(self.max_lag + 1)]
        return [*([list(self.contexts)] if self.contexts else []), *slices[::-1]]

    @cached_property
    def latest(self) -> tuple[Indices, Indices]:
        """The earlier nodes of all latest copies, and the later ones. At one time, the smaller index is the earlier."""
        pairs = [(a, b) for a in range(len(self)) for b in range(self.k) if a >= self.k or a < b]
        pairs += combinations(range(self.n_moving, len(self)), 2)
        x, y = np.array(pairs, np.int32).reshape(-1, 2).T
        return x, y

    def place(self, name: str) -> tuple[str, int]:
        """The process and the lag of a node; for a context its name and 0.

        >>> Window(("x", "y"), 2).place("y(t-2)")
        ('y', 2)
        """
        found = _AT_A_LAG.fullmatch(name)
        process, lag = (found[1], int(found[2])) if found else (name, 0)
        if process in self.contexts and lag:
            raise ParameterError(f"{process!r} does not change in time and has no lags; got {name!r}.")
        if process not in (*self.processes, *self.contexts):
            raise ParameterError(f"There is no process {process!r}; there are {', '.join(self.processes)}.")
        if lag > self.max_lag:
            raise ParameterError(f"The lags of this window are 0 to {self.max_lag}; got {name!r}.")
        return process, lag

    def copies(self, a: str, b: str) -> Iterator[tuple[str, str]]:
        """The copies of a pair of nodes in the window, the latest first."""
        (one, i), (other, j) = self.place(a), self.place(b)
        fixed = [name in self.contexts for name in (one, other)]
        if all(fixed):
            yield a, b
            return
        early = max(i, j) if any(fixed) else min(i, j)
        for shift in range(self.max_lag - max(i, j) + early + 1):
            ends = zip((one, other), (i, j), fixed, strict=True)
            first, second = (name if stays else named(name, lag - early + shift) for name, lag, stays in ends)
            yield first, second

    def later(self, nodes: Indices, steps: Counts) -> Indices:
        """The copies of nodes this many steps later; -1 for copies after the window's end, and for padding (-1)."""
        moved = np.maximum(nodes - self.k * steps, -1)
        return np.where(nodes >= self.n_moving, nodes, moved).astype(np.int32)

    def spread(self, marks: Marks) -> Marks:
        """(n, n) marks in which all copies of a pair have the marks of its latest copy."""
        x, y = self.latest_copy
        return marks[x, y]

    @cached_property
    def latest_copy(self) -> tuple[Indices, Indices]:
        """Two (n, n) arrays: the nodes of the latest copy of every pair."""
        x, y = np.indices((len(self), len(self)), np.int32)
        steps = np.minimum(self.lags[:, None], self.lags)  # contexts stay where they are
        return self.later(x, steps), self.later(y, steps)

    @cached_property
    def is_latest(self) -> Flags:
        """(n, n) True where a pair is its own latest copy: its later node is at lag 0, or both nodes are contexts."""
        at_0, fixed = self.lags == 0, self.lags > self.max_lag
        found: Flags = at_0[:, None] | at_0[None, :] | (fixed[:, None] & fixed[None, :])
        np.fill_diagonal(found, False)
        return found

    def in_time(self) -> Marks:
        """(n, n) marks that join every pair, with an arrowhead at each later node: it causes no earlier node."""
        marks = np.where(self.lags[:, None] > self.lags[None, :], Mark.ARROW, Mark.CIRCLE).astype(np.uint8)
        np.fill_diagonal(marks, Mark.NONE)
        return marks


def named(process: str, lag: int) -> str:
    """The name of a process at a lag."""
    return process if lag == 0 else f"{process}(t-{lag})"


def known_of(window: Window, knowledge: Knowledge | None) -> Knowledge:
    """The knowledge about the nodes of a window: the order of time, and the user's statements.

    A statement with a lag, `x(t-1) ~> y`, is about one pair of nodes and its copies. In a statement that denies
    something, a name without a lag means the process at every lag: `y !~> x` says that y is no cause of x at any lag.
    Contexts of several data sets have no lags: `drug ~> x` holds for x at all times.

    >>> from anypag.knowledge.knowledge import Knowledge
    >>> print(known_of(Window(("x", "y"), 1), Knowledge.from_text("x(t-1) ~> y")))
    tiers: x(t-1) y(t-1) | x y
    x(t-1) ~> y
    """
    in_time = Knowledge(tiers=window.tiers)
    said = [] if knowledge is None else [one for each in knowledge.statements for one in _spread(window, each)]
    return Knowledge.of([*in_time.statements, *said])


def _spread(window: Window, said: Statement) -> Iterator[Statement]:
    """The statements about nodes of the window that one statement of the user means."""
    if isinstance(said, PairStatement):
        left, right = (window.processes if names is None else names for names in (said.left, said.right))
        for a, b in product(left, right):
            yield from (PairStatement(said.kind, (x,), (y,), said.place) for x, y in _pairs(window, said, a, b))
    elif isinstance(said, Contexts) and set(said.names) <= set(window.contexts):
        yield said
    elif isinstance(said, NotSelecting):
        chosen = {window.place(name)[0] for name in said.names or window.names}
        yield NotSelecting(tuple(name for name in window.names if window.place(name)[0] in chosen), said.place)
    elif isinstance(said, Tiers):
        for k, later in enumerate(said.tiers):
            for earlier in said.tiers[:k]:
                yield from _spread(window, PairStatement("not_causes", later, earlier, said.place))
    else:
        raise KnowledgeError(
            f"`{said}` cannot be said of a time series, in which each time is a tier. Use `x(t-1) ~> y`, `y !~> x`, "
            "`x *-* y(t-1)` and the like, or `tiers: x | y` for processes."
        )


def _pairs(window: Window, said: PairStatement, a: str, b: str) -> Iterator[tuple[str, str]]:
    (one, i), (other, j) = window.place(a), window.place(b)
    if i or j or {a, b} & set(window.contexts):
        yield from window.copies(a, b)
    elif said.kind in DENYING:
        lags = range(window.max_lag + 1)
        pairs = ((named(one, x), named(other, y)) for x in lags for y in lags if x >= y or said.kind != "not_causes")
        is_own = said.left == said.right == (one,)  # `x !~> x`, but not `* !~> x`
        yield from (pair for pair in pairs if (is_own or one != other) and pair[0] != pair[1])
    else:
        raise KnowledgeError(f"`{said}` does not say at which lag. Give a lag: `{named(a, 1)}` for one step.")
