"""Checks on a question about an effect: its variables, its graph, and whether the graph is reliable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, NoReturn, TypeGuard

import numpy as np

from anypag.catalogue import AtTheEnd
from anypag.effects.identify.causal_graph import WHAT_HELPS, CausalGraph, causal_graph_of, causal_graph_under
from anypag.effects.identify.verdict import MOST_EDGES, Status
from anypag.errors import ContradictionError, GraphError, Option, ParameterError
from anypag.graphs.base import MixedGraph, Node, possible_steps, transitive
from anypag.graphs.marks import A_MARK, Edge, Mark
from anypag.graphs.node_sets import NodeSet, node_set, rows_as_sets, spread
from anypag.graphs.pag import DAG, PAG
from anypag.graphs.projection import of_data_alone
from anypag.results.result import Result, refuse_unsearched

AFewNodes = Node | Iterable[Node]
ROLES = ("causes", "outcomes", "conditions")
IF_KNOWLEDGE_IS_CONTRADICTED = (
    "The graph keeps the marks of the statement, and rules derive more marks from these. So no effect can be read from "
    "the graph, not even far from these marks. If the statement is uncertain, take it back or say less (such as: both "
    "in one tier), and search again. If it is certain, a test erred: try another alpha, or leave out columns that the "
    "question does not need. Effects are read from the data alone anyway: search without the statement to see them."
)
IF_CONTEXTS_ARE_CONTRADICTED = (
    "Either a test has erred (try another alpha, leave out columns that the question does not need, or search with "
    "sampled graphs, which agree with the design), or an assumption about contexts does not hold (say less: "
    f"{Option('assumptions', '1')})."
)
WHAT_HELPS_BESIDE_KNOWLEDGE = (
    "Knowledge does not help here: effects are read from the data alone. What may help: try another alpha, or "
    "leave out columns that the question does not need."
)
ALONE = "ask about the graph alone (`result.pag`, or on the command line a file with nothing but edges, such as .txt)"
WITHOUT_KNOWLEDGE = "Marks that rest on knowledge were left out: this is what the data alone say."
SEES_CURVES = 'So an effect may be missed here; the test "additive" sees curves.'
WHY = "The criteria for effects are proven for graphs of the data alone, so knowledge cannot settle this question."


def graph_of(source: MixedGraph | Result) -> MixedGraph:
    if isinstance(source, MixedGraph):
        return source
    if not isinstance(source, Result):
        raise ParameterError(f"Effects are read from a graph or the result of a search; got {type(source).__name__}.")
    return source.pag


def nodes_of(graph: MixedGraph, nodes: AFewNodes, role: str) -> NodeSet:
    single = isinstance(nodes, str) or not isinstance(nodes, Iterable)
    return node_set(graph.indices([nodes] if single else nodes, f"The {role}"))  # type: ignore[list-item, arg-type]


def without_copies(source: MixedGraph | Result, *parts: AFewNodes) -> tuple[list[AFewNodes], list[str]]:
    """The nodes of each part, with copies replaced by the variables they copy; and a sentence for each such copy."""
    given = [[part] if isinstance(part, str) or not isinstance(part, Iterable) else list(part) for part in parts]
    refuse_unsearched(source, *(node for part in given for node in part))
    copies = source.copies if isinstance(source, Result) else {}
    if not copies:
        return list(given), []
    named = [node for part in given for node in part if isinstance(node, str) and node in copies]
    told = [f"{name} is the same column as {copies[name]}, which stands for both." for name in named]
    return [[copies.get(node, node) if isinstance(node, str) else node for node in part] for part in given], told


class EffectAsked(NamedTuple):
    """The question of `effect`, as the user asks it."""

    cause: AFewNodes
    outcome: AFewNodes
    given: AFewNodes = ()
    within: Iterable[Node] | None = None
    selection_bias: bool | None = None

    def nodes(self, graph: MixedGraph) -> tuple[NodeSet, NodeSet, NodeSet]:
        """Causes, outcomes and conditions; a variable may be in only one of them."""
        x, y, z = (nodes_of(graph, part, role) for part, role in zip(self[:3], ROLES, strict=True))
        if not x or not y:
            raise ParameterError(f"An effect needs at least one {'outcome' if x else 'cause'}.")
        if both := x & y | x & z | y & z:
            twice = repr(graph.names[both.bit_length() - 1])
            raise ParameterError(f"Causes, outcomes and conditions are different variables; {twice} is in two of them.")
        return x, y, z

    def usable(self, graph: MixedGraph) -> NodeSet:
        return nodes_of(graph, graph.names if self.within is None else self.within, "columns to look within")


def checked_graph(source: MixedGraph | Result, x: NodeSet, y: NodeSet, selection_bias: bool | None) -> CausalGraph:
    """The prepared graph; an error if it is not reliable. `holds_if_selected` later checks selection in a PAG."""
    graph = graph_of(source)
    if is_selection_possible(source, selection_bias) and (rests_on_knowledge(source) or not isinstance(graph, PAG)):
        refuse_selection(graph, x, y)
    if isinstance(source, Result):
        refuse_unfinished(source)
        against = next((outcome for outcome in source.knowledge if outcome.became == "contradicted"), None)
        if against is not None:
            is_design = against.statement.startswith("contexts ")
            what_to_do = IF_CONTEXTS_ARE_CONTRADICTED if is_design else IF_KNOWLEDGE_IS_CONTRADICTED
            raise ContradictionError(f"The data contradict what was known beforehand: {against}. {what_to_do}")
        _refuse_contradicted(source, graph, x, y)
    if rests_on_knowledge(source):
        alone = of_data_alone(source.pag)
        with_contexts = causal_graph_under(source.pag, alone, source.choices.knowledge)
        return with_contexts or causal_graph_of(alone, WHAT_HELPS_BESIDE_KNOWLEDGE)
    return causal_graph_of(graph)


def curves_told(source: MixedGraph | Result, causes: Iterable[Node], outcomes: Iterable[Node]) -> tuple[str, ...]:
    """A warning for each curve that the audit found on a way by which the causes may act on the outcomes. Such a way
    follows edges that allow causation, and pairs with a curve, where tests of straight lines may miss an edge.
    """
    audit = source.audit if isinstance(source, Result) else None
    found = [one for one in (audit.findings if audit else ()) if one.problem == "curve"]
    if not found:
        return ()
    graph = graph_of(source)
    x, y = (graph.indices(some, "variables") for some in (causes, outcomes))
    steps = possible_steps(graph.marks)
    for one in found:
        ends = [graph.index(name) for name in one.columns if name in graph.names]
        if len(one.columns) == len(ends) == 2:  # a finding of many pairs does not say which
            steps[ends, ends[::-1]] = True
    steps[y], steps[:, x] = False, False  # a way ends where it reaches an outcome, and does not return to a cause
    leads = transitive(steps)
    between = np.flatnonzero(leads[x].any(axis=0) & leads[:, y].any(axis=1)).tolist()
    there = {graph.names[k] for k in (*x, *between, *y)}
    return tuple(f"{one.brief} {SEES_CURVES}" for one in found if len(there.intersection(one.columns)) > 1)


def rests_on_knowledge(source: MixedGraph | Result) -> TypeGuard[Result]:
    return isinstance(source, Result) and bool(source.choices.knowledge)


def is_selection_possible(source: MixedGraph | Result, selection_bias: bool | None) -> bool:
    """May the sample be selected? By default a result's choices and knowledge decide, a DAG says no, else yes."""
    if selection_bias is not None:
        return selection_bias
    if not isinstance(source, Result):
        return not isinstance(source, DAG)
    known, allowed_for = source.choices.knowledge, source.choices.selection_bias
    return allowed_for and not (known and known.facts(source.pag.names).not_selecting.all())


def refuse_selection(graph: MixedGraph, x: NodeSet, y: NodeSet) -> NoReturn:
    """Raise an error that selection may make the effect wrong; it names the edges in doubt."""
    edges = _edges_of_doubt(graph, x, y)
    more = f" and {len(edges) - MOST_EDGES} more" if len(edges) > MOST_EDGES else ""
    doubt = f" ({'; '.join(map(str, edges[:MOST_EDGES]))}{more})" if edges else ""
    raise GraphError(
        "If the sample may have been selected, a variable with a tail or a circle may affect being in the "
        f"sample{doubt}, so effects cannot be read from the graph, not even among those in the sample. If the sample "
        f"is not selected, say {Option('selection_bias', False)}."
    )


def _edges_of_doubt(graph: MixedGraph, x: NodeSet, y: NodeSet) -> list[Edge]:
    """Edges among possible causes of X or Y. Each begins at a node without arrowheads, which may affect selection."""
    steps = possible_steps(graph.marks)
    above = spread(rows_as_sets(steps.T), x | y, (1 << len(graph)) - 1)
    is_pointed_at = (graph.marks == Mark.ARROW).any(axis=0)
    found = []
    for edge in graph.edges():
        for written in (edge, edge.reversed()):
            a, b = graph.index(written.a), graph.index(written.b)
            if steps[a, b] and above >> a & 1 and above >> b & 1 and not is_pointed_at[a]:
                found.append(written)
                break
    return found


def refuse_unfinished(source: Result) -> None:
    """Raise an error for a search that stopped early, or a method that may leave too many edges."""
    if not source.complete:
        raise GraphError(
            f"The search stopped early ({source.stopped}): edges may still be removed, and effects with them. Finish "
            f"it, or {ALONE} to take it as final."
        )
    at_the_end = source.facts.promises.at_the_end
    if at_the_end is AtTheEnd.SOUND:
        raise GraphError(
            f"With {source.method} {at_the_end}, and effects would be read from these edges too. Use another "
            f"method, or {ALONE} to take it as it is."
        )


def _refuse_contradicted(source: Result, graph: MixedGraph, x: NodeSet, y: NodeSet) -> None:
    """Raise an error if rules disagreed about an edge between possible causes of X and Y."""
    helps = WHAT_HELPS_BESIDE_KNOWLEDGE if rests_on_knowledge(source) else WHAT_HELPS
    above = spread(rows_as_sets(possible_steps(graph.marks).T), x | y, (1 << len(graph)) - 1)
    for conflict in source.conflicts:
        if all(above >> graph.index(name) & 1 for name in (conflict.at, conflict.other)):
            mark = f"{A_MARK[conflict.mark]} at {conflict.at} on the edge to {conflict.other}"
            raise ContradictionError(
                f"The data contradict themselves where the effect is read: rule R{conflict.rule} wanted {mark}, other "
                f"rules did not. {helps} To take the graph as it is, {ALONE}."
            )


def left_out(shown: MixedGraph, alone: MixedGraph, status: Status, reason: str) -> str:
    """The note that marks from knowledge were left out. It names edges that differ; edges in the reason come first."""
    pairs = [(edge.a, edge.b) for edge in map(Edge.forward, shown.edges())]
    changed = [pair for pair in pairs if alone.edge(*pair) != shown.edge(*pair)]
    changed.sort(key=lambda pair: not any(str(alone.edge(*both)) in reason for both in (pair, pair[::-1])))
    named = [f"{alone.edge(*pair)} here is {shown.edge(*pair)} in the graph shown" for pair in changed[:MOST_EDGES]]
    more = [f"and {len(changed) - MOST_EDGES} more"] if len(changed) > MOST_EDGES else []
    edges = [f"{'; '.join([*named, *more])}."] if named else []
    return " ".join([WITHOUT_KNOWLEDGE, *edges, *([WHY] if status == "unidentified" else [])])
