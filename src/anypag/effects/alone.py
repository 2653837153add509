"""The graph of the data alone beside the one that was shown, in which marks rest on knowledge."""

from __future__ import annotations

from anypag.effects.verdict import Status
from anypag.graphs.base import MixedGraph

MOST_EDGES = 3
"""How many edges are named."""

WITHOUT_KNOWLEDGE = "Marks that rest on knowledge were left out: this is what the data alone say."
WHY = "The criteria for effects are proven for graphs of the data alone, so knowledge cannot settle this question."


def left_out(shown: MixedGraph, alone: MixedGraph, status: Status, reason: str) -> str:
    """That marks were left out, and how edges of the graph shown read without them, those of the reason first."""
    pairs = [(edge.a, edge.b) for edge in (edge.forward() for edge in shown.edges())]
    changed = [pair for pair in pairs if alone.edge(*pair) != shown.edge(*pair)]
    changed.sort(key=lambda pair: not any(str(alone.edge(*both)) in reason for both in (pair, pair[::-1])))
    named = [f"{alone.edge(*pair)} here is {shown.edge(*pair)} in the graph shown" for pair in changed[:MOST_EDGES]]
    more = [f"and {len(changed) - MOST_EDGES} more"] if len(changed) > MOST_EDGES else []
    edges = [f"{'; '.join([*named, *more])}."] if named else []
    return " ".join([WITHOUT_KNOWLEDGE, *edges, *([WHY] if status == "unidentified" else [])])
