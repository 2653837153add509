"""IDP: a formula for P(y | do(x)) from a PAG (Jaber, Zhang, Bareinboim, ICML 2019 and NeurIPS 2022).

Q[C] is the distribution of C when everything else is set. What is wanted is a sum over Q[D], where D are the nodes that
may act on Y without passing X. Starting from Q[V] = P(v), buckets outside of what is wanted are taken off one by one; a
set that falls into regions is computed region by region. If neither is possible, two systems that this graph stands for
agree on P and differ in the effect.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from anypag.effects.expressions import ONE, Expression, P, product, quotient, summed
from anypag.effects.ground import Ground
from anypag.graphs.components import bucket_sets, pc_component_set, region_set
from anypag.graphs.node_sets import NodeSet, spread


class Stuck(NamedTuple):
    """Where identification ended: Q[wanted] cannot be had from Q[known]."""

    wanted: NodeSet
    known: NodeSet


def identified(ground: Ground, x: NodeSet, y: NodeSet) -> Expression | Stuck:
    """A formula for P(y | do(x)), or where it cannot go on.

    >>> from anypag import PAG
    >>> from anypag.effects.ground import ground_of
    >>> ground = ground_of(PAG.from_string("C o-> A; D o-> A; A --> Y"))
    >>> a, y = (1 << ground.pag.index(name) for name in "AY")
    >>> identified(ground, y, a) == P(a)
    True
    """
    wanted = spread(ground.near.parents, y, ground.everyone & ~x)
    plan = _Plan(ground)
    stuck = plan.stuck(wanted, ground.everyone)
    if stuck is not None:
        return stuck
    return summed(wanted & ~y, _Formulas(plan).q(wanted, ground.everyone, P(ground.everyone)))


class Regions(NamedTuple):
    """Q[first] Q[second] / Q[both]."""

    first: NodeSet
    second: NodeSet
    both: NodeSet


@dataclass
class _Plan:
    """How Q[wanted] is had from Q[over]: by sets alone, so that nothing is written down that leads nowhere."""

    ground: Ground
    steps: dict[tuple[NodeSet, NodeSet], NodeSet | Regions | Stuck] = field(default_factory=dict)
    outcomes: dict[tuple[NodeSet, NodeSet], Stuck | None] = field(default_factory=dict)

    def stuck(self, wanted: NodeSet, over: NodeSet) -> Stuck | None:
        """Where it cannot go on; None if it can to the end."""
        if not wanted or wanted == over:
            return None
        if (wanted, over) not in self.outcomes:
            self.outcomes[wanted, over] = self._stuck(wanted, over)
        return self.outcomes[wanted, over]

    def _stuck(self, wanted: NodeSet, over: NodeSet) -> Stuck | None:
        step = self.step(wanted, over)
        if isinstance(step, Stuck):
            return step
        if isinstance(step, Regions):
            return next((stuck for part in step if (stuck := self.stuck(part, over)) is not None), None)
        return self.stuck(wanted, over & ~step)

    def step(self, wanted: NodeSet, over: NodeSet) -> NodeSet | Regions | Stuck:
        """The next thing to do: a bucket to take off, or regions to compute apart."""
        if (wanted, over) not in self.steps:
            self.steps[wanted, over] = self._removable(wanted, over) or self._regions(wanted) or Stuck(wanted, over)
        return self.steps[wanted, over]

    def _removable(self, wanted: NodeSet, over: NodeSet) -> NodeSet:
        """A bucket that can be taken off; one without descendants if there is any. 0 if there is none."""
        near, removable = self.ground.near, 0
        for bucket in bucket_sets(near, over):
            if bucket & wanted:
                continue
            after = spread(near.children, bucket, over)
            if after == bucket:
                return bucket
            if not removable and not pc_component_set(near, bucket, over) & after & ~bucket:
                removable = bucket
        return removable

    def _regions(self, wanted: NodeSet) -> Regions | None:
        """The wanted set as a region and the region of what is left; None if all of it is one region."""
        near = self.ground.near
        for bucket in bucket_sets(near, wanted):
            region = region_set(near, bucket, wanted)
            if region != wanted:
                rest = region_set(near, wanted & ~region, wanted)
                return Regions(region, rest, region & rest)
        return None


@dataclass
class _Formulas:
    """A plan that leads to the end, written down."""

    plan: _Plan
    known: dict[tuple[NodeSet, NodeSet], Expression] = field(default_factory=dict)

    def q(self, wanted: NodeSet, over: NodeSet, q_over: Expression) -> Expression:
        """Q[wanted] from Q[over]."""
        if not wanted:
            return ONE
        if wanted == over:
            return q_over
        if (wanted, over) not in self.known:
            self.known[wanted, over] = self._q(wanted, over, q_over)
        return self.known[wanted, over]

    def _q(self, wanted: NodeSet, over: NodeSet, q_over: Expression) -> Expression:
        step = self.plan.step(wanted, over)
        assert not isinstance(step, Stuck)
        if isinstance(step, Regions):
            first, second, both = (self.q(part, over, q_over) for part in step)
            return quotient(product(first, second), both)
        return self.q(wanted, over & ~step, self._without(step, over, q_over))

    def _without(self, bucket: NodeSet, over: NodeSet, q_over: Expression) -> Expression:
        """Q[over] / Q[over](bucket | those not after it), as Q[over](not after) Q[over](after | not after, bucket)."""
        after = spread(self.plan.ground.near.children, bucket, over)
        later = quotient(q_over, summed(after & ~bucket, q_over))
        return product(summed(after, q_over), later)
