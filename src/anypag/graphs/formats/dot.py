"""DOT, the language of Graphviz, with marks as arrow shapes: `odot` circle, `normal` arrowhead, `none` tail.

Edges run forward, from causes to effects: tools that read DOT without its arrow shapes take them so. The kind of graph
is the graph's name (`digraph PAG {`). Where nodes have labels, as in files of causal-learn, the labels are the names.
"""

from __future__ import annotations

from anypag.errors import FormatError
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats.parsed import KINDS, Parsed
from anypag.graphs.formats.statements import Link, parse_document, quoted
from anypag.graphs.marks import Edge, Mark

_SHAPES = {Mark.CIRCLE: "odot", Mark.ARROW: "normal", Mark.TAIL: "none"}
_MARKS = {shape: mark for mark, shape in _SHAPES.items()} | {"vee": Mark.ARROW}
_DIRECTIONS = {"forward": (False, True), "back": (True, False), "both": (True, True), "none": (False, False)}
"""For each `dir`, whether the shapes at tail and head are drawn; where one is not, the mark is a tail."""


def dump(graph: MixedGraph) -> str:
    """The DOT text; a name with a backslash where DOT would read it otherwise is refused."""
    nodes = [f"  {quoted(name, 'DOT')};" for name in graph.names]
    edges = [
        f"  {quoted(edge.a, 'DOT')} -> {quoted(edge.b, 'DOT')} "
        f"[dir=both, arrowtail={_SHAPES[edge.mark_a]}, arrowhead={_SHAPES[edge.mark_b]}];"
        for edge in map(Edge.forward, graph.edges())
    ]
    return "\n".join([f"digraph {type(graph).__name__} {{", *nodes, *edges, "}", ""])


def parse(text: str) -> Parsed:
    """The graph of a DOT text."""
    document = parse_document(text, ("->", "--"))
    heading = [word for word in document.heading if word.lower() != "strict"]
    if not heading or heading[0].lower() not in {"graph", "digraph"} or len(heading) > 2:
        raise FormatError(f"DOT begins with 'digraph' or 'graph'; got {' '.join(document.heading)[:60]!r}.")
    names = {node: attributes.get("label", node) for node, attributes in document.nodes.items()}
    edges = [_edge(link, names) for link in document.links]
    kind = heading[-1] if heading[-1] in KINDS else None
    return Parsed(list(names.values()), edges, kind)


def _edge(link: Link, names: dict[str, str]) -> Edge:
    direction = link.attributes.get("dir", "forward" if link.operator == "->" else "none")
    if direction not in _DIRECTIONS:
        raise FormatError(f"The dir of an edge is one of {', '.join(_DIRECTIONS)}; got {direction[:40]!r}.")
    has_tail, has_head = _DIRECTIONS[direction]
    mark_a = _mark(link, "arrowtail") if has_tail else Mark.TAIL
    mark_b = _mark(link, "arrowhead") if has_head else Mark.TAIL
    return Edge(names[link.a], names[link.b], mark_a, mark_b)


def _mark(link: Link, end: str) -> Mark:
    shape = link.attributes.get(end, "normal")
    if shape not in _MARKS:
        raise FormatError(f"The {end} of an edge is one of {', '.join(_MARKS)}; got {shape[:40]!r}.")
    return _MARKS[shape]
