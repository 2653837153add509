"""CIDP: a formula for P(y | do(x), z) from a PAG (Jaber, Ribeiro, Zhang, Bareinboim, NeurIPS 2022)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anypag.effects.expressions import Expression, quotient, summed
from anypag.effects.ground import Ground
from anypag.effects.identify import Stuck, identified
from anypag.graphs.components import bucket_sets
from anypag.graphs.definite_status import is_definitely_connected
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import NodeSet, spread


@dataclass(frozen=True)
class Torn:
    """Where identification ended: seeing these causes cannot stand for setting them, yet they share a bucket with
    others.
    """

    causes: NodeSet
    bucket: NodeSet


def identified_given(ground: Ground, x: NodeSet, y: NodeSet, z: NodeSet) -> Expression | Stuck | Torn:
    """A formula for P(y | do(x), z), or where it cannot go on.

    A cause may be seen instead of set, and a condition set instead of seen, where rule 2 of the do-calculus allows it.
    """
    if not z:
        return identified(ground, x, y)
    seen = _buckets_seen(ground, x, y, z)
    if isinstance(seen, Torn):
        return seen
    x, z = _conditions_set(ground, *seen, y)
    joint = identified(ground, x, y | z)
    return joint if isinstance(joint, Stuck) else quotient(joint, summed(y, joint))


def _buckets_seen(ground: Ground, x: NodeSet, y: NodeSet, z: NodeSet) -> tuple[NodeSet, NodeSet] | Torn:
    """Causes that share a bucket with possible ancestors of y and z become conditions; X and Z after that."""
    while True:
        above = spread(ground.near.parents, y | z, ground.everyone & ~x)
        torn = [b for b in bucket_sets(ground.near, ground.everyone) if b & above and b & ~above]
        if not torn:
            return x, z
        causes = torn[0] & x
        if not causes or not is_seeing_setting(ground, causes, x & ~causes, y, z):
            return Torn(causes, torn[0])
        x, z = x & ~causes, z | causes


def _conditions_set(ground: Ground, x: NodeSet, z: NodeSet, y: NodeSet) -> tuple[NodeSet, NodeSet]:
    """Conditions that may be set instead of seen are set; X and Z after that."""
    while True:
        parts = (bucket & z for bucket in bucket_sets(ground.near, ground.everyone) if bucket & z)
        part = next((part for part in parts if is_seeing_setting(ground, part, x, y, z & ~part)), 0)
        if not part:
            return x, z
        x, z = x | part, z & ~part


def is_seeing_setting(ground: Ground, a: NodeSet, x: NodeSet, y: NodeSet, z: NodeSet) -> bool:
    """Rule 2: is P(y | do(x), do(a), z) = P(y | do(x), a, z) in every system that the graph stands for?

    It is if a and y are separated given x and z once edges into x and visible edges out of a are taken out. What is
    visible, and who is adjacent, is judged in the whole graph.
    """
    marks = np.array(ground.pag.marks)
    into = (marks == Mark.ARROW) & ground.flags(x)
    out = np.zeros_like(into)
    for node in np.flatnonzero(ground.flags(a)):
        out[node] = ground.flags(ground.near.visible[node])
    gone = into | out
    marks[gone | gone.T] = Mark.NONE
    return not is_definitely_connected(marks, ground.pag.marks != Mark.NONE, a, y, x | z)
