"""What can be drawn here: how much, how carefully, and with which libraries.

A picture is made in seconds, or a sentence says why there is none. The limits are numbers of variables and edges, not
of seconds: the same graph always gives the same picture.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from anypag.errors import GraphError, MissingExtraError
from anypag.graphs.base import MixedGraph

CAREFUL_NODES, CAREFUL_EDGES = 300, 300
"""Up to here many layouts are tried and lines are bent around boxes; above, one layout with straight lines."""
MOST_NODES, MOST_EDGES = 2000, 3000
"""Above this a picture could not be read, and none is drawn."""


def is_small(nodes: int, edges: int) -> bool:
    """Is it little enough to be drawn with care?"""
    return nodes <= CAREFUL_NODES and edges <= CAREFUL_EDGES


def is_drawable(graph: MixedGraph) -> bool:
    """Can a picture of the whole graph be read?"""
    return len(graph) <= MOST_NODES and len(graph.edges()) <= MOST_EDGES


def require_drawable(graph: MixedGraph) -> None:
    """Refuse a graph that is too large for a picture.

    Raises:
        GraphError: it has too many variables or edges; the message says what to do instead.
    """
    if not is_drawable(graph):
        raise GraphError(
            f"A graph of {len(graph):,} variables and {len(graph.edges()):,} edges is too large for a picture: at most "
            f"{MOST_NODES:,} and {MOST_EDGES:,} are drawn. Write the report (.html), which shows the edges of one "
            "variable at a time, or the table (.csv); or draw the subgraph of some variables."
        )


def plotting(module: str) -> ModuleType:
    """A module of the extra `plot`, refused by a sentence where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise MissingExtraError(
            f"Pictures need {library}: pip install {library}, or install anypag with its extra 'plot'."
        ) from None
