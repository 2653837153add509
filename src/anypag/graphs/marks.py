"""Marks at the ends of edges, and the text of edges.

An edge between A and B carries one mark at each end. Read a mark at B on the edge A–B as a statement about B:

- arrowhead `>`: B is not a cause of A (nor of selection);
- tail `-`: B is a cause of A, or of selection into the sample;
- circle `o`: the data do not say; some members of the equivalence class have an arrowhead, others a tail.

As text, an edge is its left mark, a dash and its right mark: `o->`, `<->`, `---`, ...
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple


class Mark(IntEnum):
    """The mark at one end of an edge (the numbers are those of pcalg's `amat.pag`). Compare a matrix of marks with
    `mark.value`, not with `mark`: NumPy takes seven times as long to compare with a `Mark`.
    """

    NONE = 0
    CIRCLE = 1
    ARROW = 2
    TAIL = 3


A_MARK = {Mark.CIRCLE: "a circle", Mark.ARROW: "an arrowhead", Mark.TAIL: "a tail"}
_LEFT = {Mark.CIRCLE: "o", Mark.ARROW: "<", Mark.TAIL: "-"}
_RIGHT = {Mark.CIRCLE: "o", Mark.ARROW: ">", Mark.TAIL: "-"}
EDGE_SYMBOLS: dict[str, tuple[Mark, Mark]] = {
    f"{left}-{right}": (left_mark, right_mark)
    for left_mark, left in _LEFT.items()
    for right_mark, right in _RIGHT.items()
}
"""The nine ways to write an edge, each with its left and its right mark."""
_UNCLEAR = re.compile(r'[;"\n\r\t]|(^|\s)(<|o|-|)-(>|o|-|)(\s|$)')


def edge_symbol(left: Mark, right: Mark) -> str:
    """The text of an edge with these marks: `edge_symbol(Mark.CIRCLE, Mark.ARROW) == "o->"`."""
    return f"{_LEFT[left]}-{_RIGHT[right]}"


class Edge(NamedTuple):
    """An edge between `a` and `b`, with the mark at each end.

    >>> print(Edge("A", "B", Mark.CIRCLE, Mark.ARROW))
    A o-> B
    """

    a: str
    b: str
    mark_a: Mark
    mark_b: Mark

    @property
    def symbol(self) -> str:
        """The sign between the two names in the text of the edge, such as `o->`."""
        return edge_symbol(self.mark_a, self.mark_b)

    def reversed(self) -> Edge:
        """This edge, written from the other end."""
        return Edge(self.b, self.a, self.mark_b, self.mark_a)

    def forward(self) -> Edge:
        """This edge in the usual direction: `-->` `o->` `--o` `o-o` `<->` `---`."""
        return self.reversed() if self.symbol in {"<--", "<-o", "o--"} else self

    def __str__(self) -> str:
        return f"{_clear(self.a)} {self.symbol} {_clear(self.b)}"


def _clear(name: str) -> str:
    """The name; in quotes if it begins or ends with a blank, or holds `;`, a quote, a tab, a line end or an edge."""
    is_clear = name == name.strip() and not _UNCLEAR.search(name)
    return name if is_clear else json.dumps(name, ensure_ascii=False)


class Separation(NamedTuple):
    """Why two variables have no edge: the set that separates them, the p-value of the test given this set, and the
    iteration r of the search that separated them. `n` is the number of rows that the p-value is computed from; None if
    the test has no rows (an oracle).
    """

    given: tuple[str, ...]
    p: float
    r: int
    n: int | None = None


SeparationsByPair = Mapping[tuple[str, str], Separation]  # by pair of names, in either order


class MarkReason(NamedTuple):
    """A mark that a rule set or, in a conflict, only proposed: `mark` at `at` on the edge between `at` and `other`.

    `rule` is the number of the rule (see `anypag.graphs.rules`). `because` names the nodes that made the rule apply:
    for R0 and R4 the two nodes whose separating set was used, for other rules the nodes of the pattern.
    """

    at: str
    other: str
    mark: Mark
    rule: int
    because: tuple[str, ...]


def with_and(names: tuple[str, ...]) -> str:
    """Names in a sentence: `A`, `A and B`, `A, B and C`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
