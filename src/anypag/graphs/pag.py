"""Partial ancestral graphs: what an independence model says, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from anypag.graphs.base import MixedGraph
from anypag.graphs.marks import EDGE_SYMBOLS, Mark

if TYPE_CHECKING:
    from anypag.graphs.mag import MAG
    from anypag.graphs.reasoning.validity import Validity


class PAG(MixedGraph):
    """A partial ancestral graph: circles where the members of the equivalence class differ.

    Args:
        marks: (n, n), `marks[i, j]` the mark at j on the edge i–j (see `Mark`), 0 where there is no edge.
        names: one per node; X0, X1, ... if left out.

    Any marks are taken, because a graph learned from finite data need not be the PAG of any MAG;
    `validate()` says whether this one is.

    >>> pag = PAG.from_string("smoking o-> tar; tar --> cancer")
    >>> print(pag.edge("tar", "smoking"))
    tar <-o smoking
    """

    __slots__ = ()
    _allowed: ClassVar[frozenset[tuple[Mark, Mark]]] = frozenset(EDGE_SYMBOLS.values())

    def to_mag(self) -> MAG:
        """A member of the equivalence class this PAG stands for.

        Raises:
            GraphError: there is none; `validate()` says why.
        """
        from anypag.graphs.reasoning.validity import member

        return member(self)

    def validate(self) -> Validity:
        """Is this the PAG of some MAG, and if not, why not?"""
        from anypag.graphs.reasoning.validity import validate

        return validate(self)
