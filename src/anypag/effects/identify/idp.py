"""IDP and CIDP: a formula for P(y | do(x)), or P(y | do(x), z), from a PAG (Jaber, Zhang, Bareinboim, ICML 2019;
Jaber, Ribeiro, Zhang, Bareinboim, NeurIPS 2022).

Q[C] is the distribution of the nodes C when all other nodes are set. D contains Y and its possible ancestors by
paths without X. The effect is the sum of Q[D] over the nodes of D that are not in Y. The derivation starts from Q[V] =
P(v) of all nodes V. A step removes the nodes that are not possible ancestors of D, or else one bucket (nodes joined by
`o-o`). Or a step splits a set into two regions, whose formulas are combined (`Regions`). If no step is possible, two
systems of the graph's class agree on P and differ in the effect.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.expressions import ONE, Expression, P, product, quotient, summed
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import NodeSet, bucket_sets, pc_component_set, region_set, spread
from anypag.graphs.separation import is_definitely_connected

Torn = NodeSet  # the bucket at which identification failed: only some of its nodes are possible ancestors of y and z


class Stuck(NamedTuple):
    """Where identification failed: Q[wanted] cannot be computed from Q[known]."""

    wanted: NodeSet
    known: NodeSet


def identified(causal: CausalGraph, x: NodeSet, y: NodeSet) -> Expression | Stuck:
    """A formula for P(y | do(x)), or where identification failed."""
    wanted = spread(causal.near.parents, y, causal.everyone & ~x)
    plan = _Derivation(causal)
    stuck = plan.stuck(wanted, causal.everyone)
    return stuck or summed(wanted & ~y, plan.formula(wanted, causal.everyone, P(causal.everyone)))


class Regions(NamedTuple):
    """Two regions that together make up a set C, and their intersection: Q[C] = Q[first] Q[second] / Q[both]."""

    first: NodeSet
    second: NodeSet
    both: NodeSet


class _Derivation:
    """The steps that compute Q[wanted] from Q[over]. `stuck` finds the steps with sets only; `formula` applies them."""

    def __init__(self, causal: CausalGraph) -> None:
        self.causal = causal
        self.step, self.stuck = cache(self._step), cache(self._stuck)
        self.known = dict[tuple[NodeSet, NodeSet], Expression]()

    def _stuck(self, wanted: NodeSet, over: NodeSet) -> Stuck | None:
        if not wanted or wanted == over:
            return None
        step = self.step(wanted, over)
        if isinstance(step, Stuck):
            return step
        if isinstance(step, Regions):
            return next((stuck for part in step if (stuck := self.stuck(part, over)) is not None), None)
        return self.stuck(wanted, over & ~step)

    def _step(self, wanted: NodeSet, over: NodeSet) -> NodeSet | Regions | Stuck:
        """The next step: nodes to remove, or regions to compute separately."""
        return self._removable(wanted, over) or self._regions(wanted) or Stuck(wanted, over)

    def _removable(self, wanted: NodeSet, over: NodeSet) -> NodeSet:
        """The nodes that are no possible ancestors of wanted nodes, or else a removable bucket, or else 0."""
        near = self.causal.near
        idle = over & ~spread(near.parents, wanted, over)
        if idle:
            return idle
        for bucket in (bucket for bucket in bucket_sets(near, over) if not bucket & wanted):
            after = spread(near.children, bucket, over) & ~bucket
            if not pc_component_set(near, bucket, over) & after:  # no hidden causes join the bucket and `after`
                return bucket
        return 0

    def _regions(self, wanted: NodeSet) -> Regions | None:
        """A region of the wanted set and the region of its other nodes; None if the whole set is one region."""
        near = self.causal.near
        for bucket in bucket_sets(near, wanted):
            region = region_set(near, bucket, wanted)
            if region != wanted:
                rest = region_set(near, wanted & ~region, wanted)
                return Regions(region, rest, region & rest)
        return None

    def formula(self, wanted: NodeSet, over: NodeSet, q_over: Expression) -> Expression:
        """The formula of Q[wanted], made from that of Q[over] (`q_over`). Call it only if `stuck` returned None."""
        if not wanted:
            return ONE
        if wanted == over:
            return q_over
        if (wanted, over) not in self.known:
            step = self.step(wanted, over)
            assert not isinstance(step, Stuck)
            if isinstance(step, Regions):
                first, second, both = (self.formula(part, over, q_over) for part in step)
                self.known[wanted, over] = quotient(product(first, second), both)
            else:
                # Q(over) / Q(step | base) = Q(base) Q(after without step | base, step); base: the nodes not in `after`
                after = spread(self.causal.near.children, step, over)
                rest = product(summed(after, q_over), quotient(q_over, summed(after & ~step, q_over)))
                self.known[wanted, over] = self.formula(wanted, over & ~step, rest)
        return self.known[wanted, over]


def identified_given(causal: CausalGraph, x: NodeSet, y: NodeSet, z: NodeSet) -> Expression | Stuck | Torn:
    """A formula for P(y | do(x), z), or where identification failed. Causes and conditions may change roles."""
    if not z:
        return identified(causal, x, y)
    seen = _buckets_seen(causal, x, y, z)
    if isinstance(seen, Torn):
        return seen
    x, z = _conditions_set(causal, *seen, y)
    joint = identified(causal, x, y | z)
    return joint if isinstance(joint, Stuck) else quotient(joint, summed(y, joint))


def _buckets_seen(causal: CausalGraph, x: NodeSet, y: NodeSet, z: NodeSet) -> tuple[NodeSet, NodeSet] | Torn:
    """X and Z, after causes became conditions until no bucket is torn; the torn bucket if this fails."""
    while True:
        above = spread(causal.near.parents, y | z, causal.everyone & ~x)
        torn = [b for b in bucket_sets(causal.near, causal.everyone) if b & above and b & ~above]
        if not torn:
            return x, z
        causes = torn[0] & x
        if not causes or not is_seeing_setting(causal, causes, x & ~causes, y, z):
            return torn[0]
        x, z = x & ~causes, z | causes


def _conditions_set(causal: CausalGraph, x: NodeSet, z: NodeSet, y: NodeSet) -> tuple[NodeSet, NodeSet]:
    """X and Z, after conditions became causes where setting them gives the same effect as observing them."""
    while True:
        parts = (bucket & z for bucket in bucket_sets(causal.near, causal.everyone) if bucket & z)
        part = next((part for part in parts if is_seeing_setting(causal, part, x, y, z & ~part)), 0)
        if not part:
            return x, z
        x, z = x | part, z & ~part


def is_seeing_setting(causal: CausalGraph, a: NodeSet, x: NodeSet, y: NodeSet, z: NodeSet) -> bool:
    """Rule 2 of do-calculus: is P(y | do(x), do(a), z) = P(y | do(x), a, z) in every system of the graph's class? Yes,
    if x and z separate a and y without these edges: arrows into x, and arrows out of a that are visible in the graph.
    """
    marks = np.array(causal.pag.marks)
    into = (marks == Mark.ARROW) & causal.flags(x)
    out = np.zeros_like(into)
    for node in np.flatnonzero(causal.flags(a)):
        out[node] = causal.flags(causal.near.visible[node])
    gone = into | out
    marks[gone | gone.T] = Mark.NONE
    return not is_definitely_connected(marks, causal.pag.marks != Mark.NONE, a, y, x | z)
