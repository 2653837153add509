"""`anypag show`, `convert`, `compare`, `explain`: commands for an existing graph."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anypag.cli.commands import ExitCode, command
from anypag.cli.options import spelled
from anypag.cli.outputs import check_outputs, check_replaced
from anypag.cli.terminal import Terminal
from anypag.errors import ParameterError
from anypag.saving import PICTURES, check_ending, save

if TYPE_CHECKING:
    from anypag.graphs.base import MixedGraph
    from anypag.graphs.marks import Edge
    from anypag.results.consistency import Consistency
    from anypag.results.result import Result


@command()
def show(graph: Path, *, terminal: Terminal) -> ExitCode:
    """Show a graph: its edges, and how it was learned if the file says so.

    Args:
        graph GRAPH: A graph: .json, .txt, .tetrad, .dagitty or .csv (an edge table, or a matrix of marks).
    """
    from anypag.cli.tell import misfit_told, tell_probable, tell_stability, tell_why_unlikely
    from anypag.explain.summary import edge_lines, how_far

    result, bare = _read(graph)
    edges = [edge.forward() for edge in bare.edges()]
    counts = dict(sorted(Counter(edge.symbol for edge in edges).items()))
    consistency = _consistency(result, bare)
    if terminal.as_json:
        about = {"kind": type(bare).__name__, "nodes": list(bare.names), "edges": _rows(edges, result)}
        doubts = {"valid": consistency.valid, "contradictions": list(map(str, consistency.contradictions))}
        terminal.json({**about, "counts": counts, **doubts})
        return ExitCode.COMPLETE
    listed = ", ".join(f"{count} {symbol}" for symbol, count in counts.items()) or "none"
    terminal.line(f"{type(bare).__name__} with {len(bare)} nodes and {len(edges)} edges: {listed}", "bold")
    if result is not None:
        terminal.line(f"Learned by {result.method}. {how_far(result, spelled)}")
        terminal.lines(misfit_told(result), "bold red")
        terminal.lines(result.remarks)
    terminal.lines(consistency.lines(), "bold red" if consistency.contradictions else None)
    terminal.line()
    terminal.lines(str(bare).split("\n") if result is None else edge_lines(result))
    if result is not None:
        tell_why_unlikely(terminal, result)
        tell_probable(terminal, result)
        tell_stability(terminal, result)
    return ExitCode.COMPLETE


@command()
def convert(
    source: Path, target: Path, *, read_as: str | None = None, write_as: str | None = None, terminal: Terminal
) -> ExitCode:
    """Write a graph in another format, or draw it. A .csv OUT is an edge table, or a matrix with --to pcalg.

    Args:
        source IN: The graph to read.
        target OUT: The file to write; .svg, .png and .pdf draw the graph, .html makes the report.
        read_as FORMAT: text, json, edges, tetrad, pcalg or dagitty; by default the ending of the file decides.
        write_as FORMAT: text, json, edges, tetrad, pcalg, dagitty or dot; by default the ending of the file decides.
    """
    from anypag.graphs.formats.registry import read_graph, write_graph

    check_outputs([target], [source])
    check_replaced([target])
    ending = target.suffix.lower()
    graph = read_graph(source, format=read_as)
    result = _read(source)[0] if read_as is None else None
    consistency = _consistency(result, graph)
    if write_as is None and ending in PICTURES:
        check_ending(target)
        from anypag.plot import write_picture

        write_picture(result or graph, target)
    elif write_as is None and ending == ".html":
        if result is None:
            raise ParameterError(f"A report needs a result of a search; {source.name} holds only a graph.")
        save(result, target)
    else:
        write_graph(graph, target, format=write_as)
    if terminal.as_json:
        written = {"written": str(target), "kind": type(graph).__name__, "nodes": len(graph)}
        terminal.json({**written, "contradictions": list(map(str, consistency.contradictions))})
    else:
        terminal.line(f"Wrote {target}: {len(graph)} nodes, {len(graph.edges())} edges.")
        terminal.lines(consistency.lines() if consistency.contradictions else (), "bold red")
    return ExitCode.COMPLETE


@command()
def compare(learned: Path, other: Path, *, terminal: Terminal) -> ExitCode:
    """List the edges in which a learned graph differs from the true one, and count them.

    If `anypag learn` wrote both files (.json), neither of them is the truth, and only the differences are listed.

    Args:
        learned LEARNED: The learned graph.
        other OTHER: The true graph over the same variables, or another learned graph.
    """
    from anypag.metrics import compare as compared
    from anypag.metrics import differences, lines_of

    (first, learned_graph), (second, other_graph) = _read(learned), _read(other)
    comparison = compared(learned_graph, other_graph) if first is None or second is None else None
    found = differences(learned_graph, other_graph) if comparison is None else comparison.differences
    if terminal.as_json:
        counts = {} if comparison is None else comparison.as_dict()
        terminal.json({**counts, "differences": [item._asdict() for item in found]})
    elif comparison is not None:
        terminal.lines(str(comparison).split("\n"))
    else:
        n_pairs = len(learned_graph) * (len(learned_graph) - 1) // 2
        terminal.line(f"{len(found):,} of {n_pairs:,} pairs of variables are joined differently.", "bold")
        terminal.items(lines_of(found, learned.name, other.name))
    return ExitCode.COMPLETE


@command()
def explain(graph: Path, a: str, b: str, *, terminal: Terminal) -> ExitCode:
    """Explain what a graph says about two variables, and why.

    The reasons are in the .json file that `anypag learn --out` writes; other graphs have no reasons.

    Args:
        graph GRAPH: A graph: .json, .txt, .tetrad, .dagitty or .csv (an edge table, or a matrix of marks).
        a A: A variable.
        b B: Another variable.
    """
    from anypag.explain import explain as explained
    from anypag.graphs.pag import PAG

    result, bare = _read(graph)
    explanation = explained(result or PAG(bare.marks, bare.names), a, b)
    if terminal.as_json:
        terminal.json(explanation.to_dict())
    else:
        terminal.lines(str(explanation).split("\n"))
    return ExitCode.COMPLETE


def _read(path: Path) -> tuple[Result | None, MixedGraph]:
    from anypag.results.files import read_result
    from anypag.results.result import Result

    read = read_result(path)
    return (read, read.pag) if isinstance(read, Result) else (None, read)


def _consistency(result: Result | None, graph: MixedGraph) -> Consistency:
    """The consistency of a result, or of a bare graph (for which only contradictions between marks are checked)."""
    from anypag.graphs.contradictions import contradictions
    from anypag.graphs.pag import PAG
    from anypag.results.consistency import Consistency

    if result is not None:
        return result.consistency
    found, _ = contradictions(PAG(graph.marks, graph.names))
    return Consistency(False if found else None, found)


def _rows(edges: list[Edge], result: Result | None) -> list[dict[str, Any]]:
    """The edges as JSON objects, with their probabilities if graphs were sampled."""
    rows: list[dict[str, Any]] = [{"from": edge.a, "to": edge.b, "edge": edge.symbol} for edge in edges]
    if result is None or result.probabilities is None:
        return rows
    return [{**row, "probability": result.probabilities.of_edge(*row.values())} for row in rows]
