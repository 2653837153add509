"""causal-learn's `BackgroundKnowledge`: tiers and required edges are taken over, forbidden ones only on request."""

from __future__ import annotations

from typing import Any

from anypag.errors import KnowledgeError
from anypag.knowledge.edges import Forbidden, check_reading, forbidden, required
from anypag.knowledge.statements import Pairs, Statement, Tiers


def statements_of(background: Any, forbidden_edges: Forbidden = "refuse") -> tuple[Statement, ...]:
    """What such an object says.

    Raises:
        KnowledgeError: it is no such object, or says what a PAG cannot hold.
    """
    check_reading(forbidden_edges)
    parts = ("tier_map", "required_rules_specs", "forbidden_rules_specs")
    if not all(hasattr(background, part) for part in parts):
        raise KnowledgeError(f"A BackgroundKnowledge of causal-learn was wanted; got a {type(background).__name__}.")
    for part in ("forbidden_pattern_rules_specs", "required_pattern_rules_specs"):
        if getattr(background, part, None):
            raise KnowledgeError(f"Patterns of names ({part}) are not read; name the variables.")
    found: list[Statement] = []
    for a, b in _named_pairs(background.required_rules_specs):
        found += required(a, b, "required_rules_specs")
    for a, b in _named_pairs(background.forbidden_rules_specs):
        found.append(forbidden(a, b, "forbidden_rules_specs", forbidden_edges))
    return (*_tiers(background, forbidden_edges), *found)


def _tiers(background: Any, forbidden_edges: Forbidden) -> list[Statement]:
    groups = {tier: tuple(sorted(map(_name, nodes))) for tier, nodes in background.tier_map.items() if nodes}
    filled = tuple(groups[tier] for tier in sorted(groups))
    found: list[Statement] = [Tiers(filled, "tier_map")] if len(filled) > 1 else []
    for tier in sorted(getattr(background, "forbidden_within_tiers", ())):
        if forbidden_edges == "refuse":
            raise KnowledgeError(
                f"Edges within tier {tier} are forbidden, and nothing follows from that in a PAG. If none of its "
                "variables is a cause of another, say so, or read forbidden edges with forbidden='no cause'."
            )
        if len(groups.get(tier, ())) > 1:
            found.append(Pairs("not_causes", groups[tier], groups[tier], "forbidden_within_tiers"))
    return found


def _named_pairs(pairs: Any) -> list[tuple[str, str]]:
    return sorted((_name(a), _name(b)) for a, b in pairs)


def _name(node: Any) -> str:
    return str(node.get_name()) if hasattr(node, "get_name") else str(node)
