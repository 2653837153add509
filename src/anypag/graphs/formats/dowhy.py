"""For dowhy, which reasons about one causal graph: text it takes, where a graph is sure enough to be one.

A DAG is one. A PAG or MAG stands for many; it is handed over only where they all agree on what dowhy reads off: every
edge is either a visible arrow, which hides no common cause, or `<->`, which is written as a common cause that was not
observed. Selection of the sample, which dowhy does not know, must be ruled out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from anypag.errors import GraphError
from anypag.graphs.base import MixedGraph
from anypag.graphs.dag import DAG
from anypag.graphs.marks import Edge, Mark
from anypag.graphs.visibility import is_visible

_ARROW, _BOTH = (Mark.TAIL, Mark.ARROW), (Mark.ARROW, Mark.ARROW)
_SHOWN = 3


def to_dowhy(graph: MixedGraph) -> str:
    """The text for `dowhy.CausalModel(data, treatment, outcome, graph=text)`, in GML.

    Args:
        graph: a DAG; or a PAG or MAG of a sample that nothing selected, whose arrows are all visible.

    Raises:
        GraphError: the graph leaves open what dowhy would take for known; the message says what, and what to do.

    >>> from anypag import PAG
    >>> print(to_dowhy(PAG.from_string("A <-> B")))
    graph [
      directed 1
      node [ id 0 label "A" ]
      node [ id 1 label "B" ]
      node [ id 2 label "U0" observed "no" ]
      edge [ source 2 target 0 ]
      edge [ source 2 target 1 ]
    ]
    >>> to_dowhy(PAG.from_string("A o-> B"))
    Traceback (most recent call last):
    anypag.errors.GraphError: dowhy reasons about one causal graph, and this PAG leaves open which: A o-> B has \
a circle. Ask for the effect you want instead, result.effect(cause, outcome): where it is identified by adjustment, \
its handoff() has what dowhy needs.
    """
    edges = [edge.forward() for edge in graph.edges()]
    _require_known(graph, edges)
    index = {name: i for i, name in enumerate(graph.names)}
    arrows = [(index[edge.a], index[edge.b]) for edge in edges if edge[2:] == _ARROW]
    hidden = [edge for edge in edges if edge[2:] == _BOTH]
    for k, edge in enumerate(hidden, start=len(index)):
        arrows += [(k, index[edge.a]), (k, index[edge.b])]
    nodes = [f"  node [ id {i} label {json.dumps(name)} ]" for name, i in index.items()]
    nodes += [
        f'  node [ id {len(index) + k} label "{name}" observed "no" ]'
        for k, name in zip(range(len(hidden)), _unused(graph), strict=False)
    ]
    links = [f"  edge [ source {a} target {b} ]" for a, b in arrows]
    return "\n".join(["graph [", "  directed 1", *nodes, *links, "]"])


def _require_known(graph: MixedGraph, edges: list[Edge]) -> None:
    """Refuse a graph that is not sure of an edge."""
    if isinstance(graph, DAG):
        return
    open_ones = [f"{edge} {why}" for edge in edges if (why := _left_open(graph, edge))]
    if not open_ones:
        return
    more = f", and {len(open_ones) - _SHOWN} edges more" if len(open_ones) > _SHOWN else ""
    raise GraphError(
        f"dowhy reasons about one causal graph, and this {type(graph).__name__} leaves open which: "
        f"{', '.join(open_ones[:_SHOWN])}{more}. Ask for the effect you want instead, result.effect(cause, outcome): "
        "where it is identified by adjustment, its handoff() has what dowhy needs."
    )


def _left_open(graph: MixedGraph, edge: Edge) -> str:
    """What an edge leaves open, in a few words; nothing if it is sure."""
    if Mark.CIRCLE in edge[2:]:
        return "has a circle"
    if edge[2:] == _ARROW:
        return "" if is_visible(graph, edge.a, edge.b) else "may hide a common cause"
    return "" if edge[2:] == _BOTH else "says that the sample is selected"


def _unused(graph: MixedGraph) -> Iterator[str]:
    """Names for what was not observed."""
    k = 0
    while True:
        if f"U{k}" not in graph.names:
            yield f"U{k}"
        k += 1
