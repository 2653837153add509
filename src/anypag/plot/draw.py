"""`plot`, `figure`, `svg`: a picture of a result or a graph."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from anypag.errors import GraphError, MissingExtraError, ParameterError
from anypag.files import write_whole
from anypag.graphs.contradictions import contradictions, doubted_pairs
from anypag.graphs.formats.registry import as_graph
from anypag.graphs.pag import DAG, PAG
from anypag.plot.geometry import Picture, picture
from anypag.plot.labels import NO_LEGEND, Legend, apart, legend_for
from anypag.plot.svg import svg_text
from anypag.plot.with_matplotlib import axes_of, figure_of, file_of
from anypag.results.result import Result


def svg(graph: Any, *, legend: bool = True) -> str:
    """The picture of a graph as SVG: boxes, edges with their marks, and a legend.

    Args:
        graph: a result, or a graph (anything that `anypag.as_graph` takes).
        legend: whether to add a legend below.

    Raises:
        MissingExtraError: igraph, which computes the layout, is not installed.
        GraphError: the graph is too large for a picture that can be read.

    >>> import anypag as ap
    >>> svg(ap.PAG.from_string("smoking o-> tar; tar --> cancer")).count('class="node"')
    3
    """
    return svg_text(*drawn_with(graph, legend=legend))


def svg_if_possible(graph: Any) -> str | None:
    """The picture as SVG for notebooks; None if it cannot be drawn (the notebook then shows text)."""
    with suppress(MissingExtraError, GraphError):
        return svg(graph)
    return None


def figure(graph: Any, *, legend: bool = True) -> Any:
    """The picture of a graph as a `matplotlib.figure.Figure`. Raises as `plot` does."""
    return figure_of(*drawn_with(graph, legend=legend))


def plot(graph: Any, ax: Any = None, *, legend: bool = True) -> Any:
    """Draw a graph as `svg` does, on axes of matplotlib's `pyplot` (by default of a new figure). Returns the axes. A
    notebook shows the figure by itself, a script by `matplotlib.pyplot.show()`. Raises as `svg` does, and
    MissingExtraError if matplotlib is not installed.
    """
    return axes_of(*drawn_with(graph, legend=legend), ax)


def write_picture(graph: Any, path: str | os.PathLike[str], *, legend: bool = True) -> None:
    """Write the picture of a graph to a file, whole or not at all. The ending picks the format: .svg, .png or .pdf."""
    path = Path(path)
    extension = path.suffix.lower()
    if extension not in {".svg", ".png", ".pdf"}:
        raise ParameterError(f"A picture is written to a file that ends in .svg, .png or .pdf; got {path.name!r}.")
    write_whole(path, file_of(*drawn_with(graph, legend=legend), extension))


def drawn_with(graph: Any, *, legend: bool = True) -> tuple[Picture, Legend]:
    learned, mixed = (graph if isinstance(graph, Result) else None), as_graph(graph)
    selection = not isinstance(mixed, DAG) if learned is None else learned.choices.selection_bias
    found = contradictions(PAG.trusted(mixed.marks, mixed.names))[0] if learned is None else learned.contradictions
    drawn = picture(mixed) if learned is None else _with_shares(with_contexts(picture(mixed), learned), learned)
    doubts = [learned.misfit_in_short] if learned is not None and learned.misfit_in_short else []
    if found:
        many = f"{len(found):,} contradiction{'s' * (len(found) != 1)}"
        doubts.append(f"{many}: dashed edges take part in claims that cannot all be true.")
    if doubts:
        drawn = drawn.doubting(doubted_pairs(found), " ".join(doubts))
    contexts = learned.choices.knowledge.design if learned is not None and learned.choices.knowledge else ()
    return drawn, legend_for(mixed.edges(), selection=selection, contexts=contexts) if legend else NO_LEGEND


def with_contexts(drawn: Picture, learned: Result) -> Picture:
    """The picture in which contexts (columns that tell data sets apart) have boxes with sharp corners."""
    contexts = learned.choices.knowledge.contexts if learned.choices.knowledge else ()
    boxes = (replace(box, corner=0.0) if box.name in contexts else box for box in drawn.boxes)
    return replace(drawn, boxes=tuple(boxes)) if contexts else drawn


def _with_shares(drawn: Picture, learned: Result) -> Picture:
    """The picture with a number at each edge: the share of resamples that have it, or its probability."""
    stability, said = learned.stability, learned.probabilities
    if stability is not None and stability.n:
        lines = [replace(x, again=stability.share(x.edge)) for x in apart(drawn.lines, drawn.boxes)]
    elif said is not None:
        sure = ((x, said.of_edge(x.edge.a, x.edge.b, x.edge.symbol)) for x in apart(drawn.lines, drawn.boxes))
        lines = [replace(line, again=share, is_probability=True) for line, share in sure]
    else:
        return drawn
    return replace(drawn, lines=tuple(lines))
