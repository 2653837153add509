"""What every question about effects in one PAG shares, looked up once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from anypag.errors import GraphError
from anypag.graphs.mag import MAG
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import Neighbours, NodeSet, members
from anypag.graphs.pag import PAG
from anypag.graphs.validity import validate


@dataclass(frozen=True, eq=False)
class Ground:
    """A valid PAG of a sample that nothing selected, its edges as sets, and one member of its class."""

    pag: PAG
    near: Neighbours
    member: MAG

    @property
    def everyone(self) -> NodeSet:
        """All nodes."""
        return self.near.everyone

    def names(self, nodes: NodeSet) -> tuple[str, ...]:
        """The names of a set of nodes."""
        return tuple(self.pag.names[node] for node in members(nodes))

    def flags(self, nodes: NodeSet) -> npt.NDArray[np.bool_]:
        """(n,) True at the members of a set."""
        n = len(self.pag)
        packed = np.frombuffer(nodes.to_bytes((n + 7) // 8, "little"), np.uint8)
        return np.unpackbits(packed, count=n, bitorder="little").view(np.bool_)


@lru_cache(maxsize=8)
def ground_of(pag: PAG) -> Ground:
    """What questions about effects in this PAG need.

    Raises:
        GraphError: it is not the PAG of any MAG, or only of MAGs with selection.
    """
    undirected = next((edge for edge in pag.edges() if _speaks_of_selection(edge.mark_a, edge.mark_b)), None)
    if undirected is not None:
        raise GraphError(
            f"Effects are read from graphs of samples that nothing selected; the edge {undirected} says that being in "
            f"the sample depends on {undirected.a} or {undirected.b}."
        )
    verdict = validate(pag)
    if not verdict or verdict.mag is None:
        raise GraphError(f"This graph contradicts itself, so no effect can be read from it: {verdict.reason}")
    return Ground(pag, Neighbours.of(pag.marks), verdict.mag)


def _speaks_of_selection(left: Mark, right: Mark) -> bool:
    return Mark.TAIL in (left, right) and Mark.ARROW not in (left, right)
