"""The verdict of a graph about one effect: zero, identified by adjustment, by a formula, or not identified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from anypag.effects.identify.adjustment import Between, between, canonical
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.expressions import Expression, P, product, simplified, summed
from anypag.effects.identify.idp import Stuck, Torn, identified_given
from anypag.graphs.node_sets import NodeSet, members

Status = Literal["zero", "adjustment", "formula", "identified", "unidentified"]
"""The status of an effect; "identified" is used for sampled graphs only."""


@dataclass(frozen=True)
class Verdict:
    """What a graph says about P(y | do(x), given), with the canonical adjustment set and a formula where there are
    such, and where identification failed (`stopped`).
    """

    status: Status
    way: Between
    z: NodeSet | None = None
    formula: Expression | None = None
    stopped: Stuck | Torn | None = None


def verdict(causal: CausalGraph, x: NodeSet, y: NodeSet, given: NodeSet, within: NodeSet) -> Verdict:
    """The verdict of a graph; adjustment sets are searched `within` some columns only."""
    way = between(causal, x, y, given)
    plain = without_formula(causal, way, within)
    if plain is not None:
        return plain
    found = identified_given(causal, x, y, given)
    if isinstance(found, Stuck | Torn):
        return Verdict("unidentified", way, stopped=found)
    formula = shortened(causal, found, x | y | given)
    return Verdict("formula" if formula.free & x else "zero", way, formula=formula)


def without_formula(causal: CausalGraph, way: Between, within: NodeSet) -> Verdict | None:
    """The verdict "zero" if no path can carry the effect, or "adjustment"; None if only a formula could identify it."""
    if not way.first and not between(causal, way.x, way.y | way.given).first:
        return Verdict("zero", way, formula=P(way.y, way.given))
    z = canonical(causal, way, within)
    return None if z is None else Verdict("adjustment", way, z, adjustment_formula(way, z))


def holds_if_selected(found: Verdict) -> bool:
    """Is a verdict from a PAG without `---` and `--o` valid if the sample may be selected? A visible arrow out of X
    needs an arrowhead at X, so X and its descendants do not affect selection: adjustment gives the effect among those
    in the sample. For formulas this is not proved; `tests/effects/test_selection.py` has the enumeration.
    """
    return found.z is not None or not found.way.first


def adjustment_formula(way: Between, z: NodeSet) -> Expression:
    """Σ_z P(y | x, z, given) P(z | given)."""
    return summed(z, product(P(way.y, way.x | way.given | z), P(z, way.given))) if z else P(way.y, way.x | way.given)


def shortened(causal: CausalGraph, formula: Expression, wanted: NodeSet) -> Expression:
    """The formula without conditions that make no difference in any distribution of the graph."""

    def without_needless_conditions(leaf: P) -> P:
        given = leaf.given
        for node in members(leaf.given):
            rest = given & ~(1 << node)
            if causal.is_separated(leaf.of, 1 << node, rest):
                given = rest
        return P(leaf.of, given)

    short = simplified(formula, without_needless_conditions)
    idle = short.free & ~wanted  # these cannot matter, so the mean over them is taken
    return summed(idle, product(short, P(idle))) if idle else short
