"""Knowledge about processes, as statements about the nodes of a window.

A name with a lag, `x(t-1) ~> y`, speaks of one pair of nodes and its copies. Bare names in a statement that denies
something speak of the processes at every lag: `y !~> x` says that y is no cause of x, however long it takes. Contexts
of several data sets have no lags: `drug ~> x` holds of x at all times.
"""

from __future__ import annotations

from collections.abc import Iterator

from anypag.errors import KnowledgeError
from anypag.knowledge.knowledge import Knowledge
from anypag.knowledge.statements import Contexts, NotSelecting, PairStatement, Side, Statement, Tiers
from anypag.series.window import Window, named

DENYING = frozenset({"not_causes", "not_joined", "unconfounded"})


def known_of(window: Window, knowledge: Knowledge | None) -> Knowledge:
    """What is known of the nodes of a window: the order of time, and what the user said.

    >>> from anypag.knowledge.knowledge import Knowledge
    >>> print(known_of(Window(("x", "y"), 1), Knowledge.from_text("x(t-1) ~> y")))
    tiers: x(t-1) y(t-1) | x y
    x(t-1) ~> y
    """
    in_time = Knowledge(tiers=window.tiers)
    said = [] if knowledge is None else [one for each in knowledge.statements for one in _spread(window, each)]
    return Knowledge.of([*in_time.statements, *said])


def _spread(window: Window, said: Statement) -> Iterator[Statement]:
    """A statement at every place in the window where it holds."""
    if isinstance(said, PairStatement):
        for a in _side(window, said.left):
            for b in _side(window, said.right):
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
            f"`{said}` says nothing about a time series: its tiers are the times. Use `x(t-1) ~> y`, `y !~> x`, "
            "`x *-* y(t-1)` and the like, or `tiers: x | y` for processes."
        )


def _pairs(window: Window, said: PairStatement, a: str, b: str) -> Iterator[tuple[str, str]]:
    """The pairs of nodes that a statement about a and b is about."""
    (one, i), (other, j) = window.place(a), window.place(b)
    if i or j or {a, b} & set(window.contexts):
        yield from window.copies(a, b)
    elif said.kind in DENYING:
        lags = range(window.max_lag + 1)
        pairs = ((named(one, x), named(other, y)) for x in lags for y in lags if x >= y or said.kind != "not_causes")
        is_own = said.left == said.right == (one,)  # `* !~> x` is about other processes
        yield from (pair for pair in pairs if (is_own or one != other) and pair[0] != pair[1])
    else:
        raise KnowledgeError(f"`{said}` does not say how long it takes. Give a lag: `{named(a, 1)}` for one step.")


def _side(window: Window, names: Side) -> tuple[str, ...]:
    return window.processes if names is None else names
