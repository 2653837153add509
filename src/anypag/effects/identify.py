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
    found = _Identification(ground).q(wanted, ground.everyone, P(ground.everyone))
    return found if isinstance(found, Stuck) else summed(wanted & ~y, found)


@dataclass
class _Identification:
    ground: Ground
    known: dict[tuple[NodeSet, NodeSet], Expression | Stuck] = field(default_factory=dict)

    def q(self, wanted: NodeSet, over: NodeSet, q_over: Expression) -> Expression | Stuck:
        """Q[wanted] from Q[over]."""
        if wanted == over:
            return q_over
        if (wanted, over) not in self.known:
            self.known[wanted, over] = self._q(wanted, over, q_over)
        return self.known[wanted, over]

    def _q(self, wanted: NodeSet, over: NodeSet, q_over: Expression) -> Expression | Stuck:
        if not wanted:
            return ONE
        bucket = self._removable(wanted, over)
        if bucket:
            return self.q(wanted, over & ~bucket, self._without(bucket, over, q_over))
        near = self.ground.near
        regions = (region_set(near, bucket, wanted) for bucket in bucket_sets(near, wanted))
        region = next((region for region in regions if region != wanted), 0)
        if not region:
            return Stuck(wanted, over)
        rest = region_set(near, wanted & ~region, wanted)
        parts = [self.q(part, over, q_over) for part in (region, rest, region & rest)]
        stuck = next((part for part in parts if isinstance(part, Stuck)), None)
        if stuck is not None:
            return stuck
        first, second, both = (part for part in parts if not isinstance(part, Stuck))
        return quotient(product(first, second), both)

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

    def _without(self, bucket: NodeSet, over: NodeSet, q_over: Expression) -> Expression:
        """Q[over] / Q[over](bucket | those not after it), as Q[over](not after) Q[over](after | not after, bucket)."""
        after = spread(self.ground.near.children, bucket, over)
        later = quotient(q_over, summed(after & ~bucket, q_over))
        return product(summed(after, q_over), later)
