"""Graphs as they come: ours, causal-learn's, networkx's."""

from __future__ import annotations

from typing import Any

from anypag.errors import GraphError
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats.matrix import parse_causal_learn_matrix
from anypag.graphs.formats.networkx_graph import from_networkx
from anypag.graphs.formats.parsed import build


def as_graph(thing: Any, *, kind: type[MixedGraph] | None = None) -> MixedGraph:
    """A graph of any of these makes.

    Args:
        thing: a PAG, MAG or DAG; a result, for its graph; a graph of causal-learn (`GeneralGraph`, or the
            `CausalGraph` around it that its `pc` returns); a `networkx.DiGraph`, as for `from_networkx`.
        kind: `PAG`, `MAG` or `DAG`, for graphs of others; see `from_networkx` for what is taken without it.

    Raises:
        GraphError: it is none of these.
    """
    if isinstance(thing, MixedGraph):
        return thing
    if isinstance(getattr(thing, "pag", None), MixedGraph):
        found: MixedGraph = thing.pag
        return found
    inner = getattr(thing, "G", thing)
    if is_causal_learn_graph(inner):
        return build(parse_causal_learn_matrix(inner.graph, [str(node.get_name()) for node in inner.get_nodes()]), kind)
    if type(thing).__module__.partition(".")[0] == "networkx":
        return from_networkx(thing, kind=kind)
    raise GraphError(
        "A graph is wanted: a PAG, MAG or DAG, a result, a graph of causal-learn or a networkx.DiGraph; "
        f"got {type(thing).__name__}."
    )


def is_causal_learn_graph(thing: Any) -> bool:
    """Is it a graph object of causal-learn?"""
    return hasattr(thing, "graph") and hasattr(thing, "get_nodes")
