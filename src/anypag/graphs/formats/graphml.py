"""GraphML, the XML that yEd, Gephi, Cytoscape and igraph read: every edge has the marks at its two ends as data.

`mark_source` and `mark_target` are "circle", "arrow" or "tail"; the graph's `kind` says what it is. Edges run forward,
from causes to effects, and what draws no marks of its own draws arrows. An edge without marks is read as an arrow.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from anypag.errors import FormatError
from anypag.graphs.base import MixedGraph
from anypag.graphs.formats.parsed import KINDS, Parsed, check_encodable
from anypag.graphs.marks import Edge, Mark

_SPACE = "http://graphml.graphdrawing.org/xmlns"
_KEYS = (("kind", "graph"), ("name", "node"), ("mark_source", "edge"), ("mark_target", "edge"))
_MARKS = {mark.name.lower(): mark for mark in (Mark.CIRCLE, Mark.ARROW, Mark.TAIL)}
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def dump(graph: MixedGraph) -> str:
    """The text; a name with a character that XML does not have is refused."""
    for name in graph.names:
        if _NOT_IN_XML.search(name):
            raise FormatError(f"GraphML cannot hold a control character; got the name {name!r}. Rename the node.")
    root = ET.Element("graphml", xmlns=_SPACE)
    for key, what in _KEYS:
        ET.SubElement(root, "key", {"id": key, "for": what, "attr.name": key, "attr.type": "string"})
    drawn = ET.SubElement(root, "graph", edgedefault="directed")
    _say(drawn, "kind", type(graph).__name__)
    place = {name: f"n{i}" for i, name in enumerate(graph.names)}
    for name, node in place.items():
        _say(ET.SubElement(drawn, "node", id=node), "name", name)
    for edge in map(Edge.forward, graph.edges()):
        line = ET.SubElement(drawn, "edge", source=place[edge.a], target=place[edge.b])
        _say(line, "mark_source", edge.mark_a.name.lower())
        _say(line, "mark_target", edge.mark_b.name.lower())
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode", xml_declaration=False)
    return text.replace("\r", "&#13;") + "\n"  # else XML's readers make a line end of it


def parse(text: str) -> Parsed:
    """The graph of a GraphML text."""
    graph = _graph(text)
    names = {
        node.get("id", ""): str(_said(node, "name") or node.get("id", "")) for node in graph.iter(f"{{{_SPACE}}}node")
    }
    edges = [_edge(line, names) for line in graph.iter(f"{{{_SPACE}}}edge")]
    kind = _said(graph, "kind")
    return Parsed(list(names.values()), edges, kind if kind in KINDS else None)


def _graph(text: str) -> ET.Element:
    check_encodable([text])
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise FormatError("GraphML has no document type or entities of its own; this text has.")
    try:
        root = ET.fromstring(text)
    except (ET.ParseError, ValueError) as error:
        raise FormatError(f"The text is no XML: {error}.") from None
    graph = root.find(f"{{{_SPACE}}}graph")
    if graph is None:
        raise FormatError("GraphML has a <graph> in its <graphml>; there is none here.")
    return graph


def _edge(line: ET.Element, names: dict[str, str]) -> Edge:
    ends = [line.get(end, "") for end in ("source", "target")]
    unknown = [end for end in ends if end not in names]
    if unknown:
        raise FormatError(f"An edge goes from node to node; there is no node {unknown[0][:60]!r}.")
    a, b = (names[end] for end in ends)
    return Edge(a, b, _mark(line, "mark_source", Mark.TAIL), _mark(line, "mark_target", Mark.ARROW))


def _mark(line: ET.Element, key: str, default: Mark) -> Mark:
    said = _said(line, key)
    if said is not None and said not in _MARKS:
        raise FormatError(f"The {key} of an edge is one of {', '.join(_MARKS)}; got {said[:40]!r}.")
    return default if said is None else _MARKS[said]


def _say(element: ET.Element, key: str, value: str) -> None:
    ET.SubElement(element, "data", key=key).text = value


def _said(element: ET.Element, key: str) -> str | None:
    found = [data for data in element.findall(f"{{{_SPACE}}}data") if data.get("key") == key]
    return (found[0].text or "") if found else None
