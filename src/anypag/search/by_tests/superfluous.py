"""Where every test costs: a set that a smaller one makes superfluous is not asked about.

Let Z be a candidate for the edge A–B and R a part of it. If every other member of Z is separated from A by R, or every
one by R with B, then Z separates A and B only if R does: independences add up (`docs/algorithm.md`). And R is asked
about as well, before Z, where its members are neighbours of the end whose pool the sets are from. The separations are
those that the state had when the iteration began; so neither the order of questions nor a stop in between has a say.
"""

from __future__ import annotations

import numpy as np

from anypag.arrays import Counts, Flags, Indices
from anypag.ci.base import Queries
from anypag.search.sepsets import UNKNOWN, Sepsets
from anypag.search.state import State


def needed(state: State, least: int, near: Indices, edge_of: Counts, queries: Queries) -> Flags:
    """Which of these candidates have to be asked about.

    Args:
        state: as it was when the iteration began.
        least: the size of the smallest sets that the search asks about.
        near: (m,) of each edge, the end whose pool its candidates are from.
        edge_of: the edge of each question.
        queries: an edge and a candidate each.
    """
    is_needed = np.ones(len(queries), np.bool_)
    for k, (x, y, z) in enumerate(zip(queries.x, queries.y, queries.z, strict=True)):
        neighbours = frozenset(z[state.marks[near[edge_of[k]], z] != 0].tolist())
        is_needed[k] = not is_superfluous(state.sepsets, int(x), int(y), z, neighbours, least)
    return is_needed


def is_superfluous(sepsets: Sepsets, x: int, y: int, z: Indices, neighbours: frozenset[int], least: int) -> bool:
    """Would a part of z, of `least` members or more and all of them among `neighbours`, separate x and y if z did?"""
    members = frozenset(z.tolist())
    for end, other in ((x, y), (y, x)):
        found = _sets_between(sepsets, end, z)
        for given in {known for known in found if known is not None}:
            part = given - {other}
            is_asked = part < members and part <= neighbours and len(part) >= least
            if is_asked and all(known == given for w, known in zip(z, found, strict=True) if w not in part):
                return True
    return False


def _sets_between(sepsets: Sepsets, end: int, z: Indices) -> list[frozenset[int] | None]:
    """The set that separates each of z from an end; None where none is known."""
    slots = sepsets.slot(np.full(len(z), end), z)
    rows = sepsets.members[slots]
    return [
        None if slot == UNKNOWN else frozenset(row[row >= 0].tolist()) for slot, row in zip(slots, rows, strict=True)
    ]
