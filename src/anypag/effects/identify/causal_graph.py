"""`CausalGraph`: a PAG prepared once for all questions about effects."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

import numpy as np
import numpy.typing as npt

from anypag.errors import ContradictionError, GraphError, NotMaximalOrAncestralError
from anypag.graphs.base import Marks, MixedGraph, ancestry
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import Neighbours, NodeSet, members, visible_edges
from anypag.graphs.pag import DAG, MAG, PAG
from anypag.graphs.projection import marks_of_class
from anypag.graphs.validity import completed, validate
from anypag.knowledge.closure import class_with_knowledge
from anypag.knowledge.facts import Facts
from anypag.knowledge.knowledge import Knowledge

WHAT_HELPS = (
    "What may help: say what you know (such as an order in time), try another alpha, or leave out columns that the "
    "question does not need."
)
OWN_GRAPH = (
    "If this is a graph of your own whose arrows are all causes, with nothing hidden, give it as a DAG: "
    "ap.effect(ap.DAG.from_string(...), ...), or --dag on the command line."
)


@dataclass(frozen=True, eq=False)
class CausalGraph:
    """A PAG, the sets of neighbours of its nodes, and one member of its class."""

    pag: PAG
    near: Neighbours
    member: MAG

    @classmethod
    def of_mag(cls, mag: MAG, *, trusted: bool = False) -> Self:
        """The prepared graph that has the marks of one MAG. `trusted`: all its arrows count as visible."""
        arrows = (mag.marks == Mark.ARROW) & (mag.marks.T == Mark.TAIL) if trusted else None
        return cls(PAG.trusted(np.array(mag.marks), mag.names), Neighbours.of(mag.marks, arrows), mag)

    @property
    def everyone(self) -> NodeSet:
        return self.near.everyone

    def names(self, nodes: NodeSet) -> tuple[str, ...]:
        return tuple(self.pag.names[node] for node in members(nodes))

    def flags(self, nodes: NodeSet) -> npt.NDArray[np.bool_]:
        """(n,) True at the members of a set."""
        n = len(self.pag)
        packed = np.frombuffer(nodes.to_bytes((n + 7) // 8, "little"), np.uint8)
        return np.unpackbits(packed, count=n, bitorder="little").view(np.bool_)

    def is_separated(self, x: NodeSet, y: NodeSet, z: NodeSet, first: NodeSet = 0) -> bool:
        """Does Z separate X and Y in the member of the class after the edges from X to `first` are removed?"""
        from anypag._kernels.separation import is_blocked

        return bool(is_blocked(*self.member.marked_edges, *map(self.flags, (x, y, z, first))))


def causal_graph_of(graph: MixedGraph, what_helps: str = WHAT_HELPS) -> CausalGraph:
    """The prepared graph. An error if edges imply selection, or (with advice `what_helps`) if a PAG is not valid."""
    return _causal_graph_of(_Exactly(graph), what_helps)


def causal_graph_with(mag: MAG, facts: Facts) -> CausalGraph:
    """The graph of a MAG's class with the marks and the visible arrows that follow from knowledge."""
    marks = class_with_knowledge(mag.marks, facts)
    arrows = (marks == Mark.ARROW) & (marks.T == Mark.TAIL)
    visible = visible_edges(marks) | (arrows & facts.unconfounded & (not facts.selection))
    return CausalGraph(PAG(marks, mag.names), Neighbours.of(marks, visible), mag)


def has_known_causes(marks: Marks, facts: Facts | None, selection: bool) -> bool:
    """Does a graph agree with what is known about causes? A graph with `---` agrees only if the sample may be selected.
    Every arrow `A --> B` makes A a cause of B here; `Facts.disagreement` allows selection to explain some tails.
    """
    tail = marks == Mark.TAIL
    if not selection and (tail & tail.T).any():
        return False
    if facts is None or not (facts.causes.any() or facts.not_causes.any()):
        return True
    leads = ancestry(marks)
    return not ((facts.causes & ~leads) | (facts.not_causes & leads)).any()


@dataclass(frozen=True)
class _Exactly:
    """A graph as a cache key; the order of nodes matters, because sets of nodes are made of indices."""

    graph: MixedGraph = field(compare=False)
    key: tuple[type[MixedGraph], tuple[str, ...], bytes] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", (type(self.graph), self.graph.names, self.graph.marks.tobytes()))


def causal_graph_under(shown: PAG, alone: PAG, known: Knowledge | None) -> CausalGraph | None:
    """The prepared graph with marks from knowledge, as in `shown`. None without contexts, or if the MAG that completes
    `shown` contradicts knowledge or is not in the class of `alone` (the graph that the data alone give).
    """
    return _causal_graph_under(_Exactly(shown), _Exactly(alone), known) if known and known.contexts else None


@lru_cache(maxsize=8)
def _causal_graph_under(shown: _Exactly, alone: _Exactly, known: Knowledge) -> CausalGraph | None:
    (marks, cycle), names = completed(shown.graph.marks), shown.graph.names
    facts = known.facts(names, selection=False)
    try:
        member = MAG(marks, names)
    except NotMaximalOrAncestralError:
        return None
    is_of_class = not cycle and np.array_equal(marks_of_class(member.marks), alone.graph.marks)
    return causal_graph_with(member, facts) if is_of_class and has_known_causes(marks, facts, selection=False) else None


@lru_cache(maxsize=8)
def _causal_graph_of(exactly: _Exactly, what_helps: str) -> CausalGraph:
    graph = exactly.graph
    for edge in graph.edges():
        if Mark.TAIL in edge and Mark.ARROW not in edge:
            raise GraphError(
                f"Effects are read only from graphs without selection; the edge {edge} says that being in "
                f"the sample depends on {edge.a} or {edge.b}."
            )
    if isinstance(graph, MAG):
        return CausalGraph.of_mag(graph)
    if isinstance(graph, DAG):  # nothing is hidden
        return CausalGraph.of_mag(MAG.trusted(np.array(graph.marks), graph.names), trusted=True)
    pag = PAG.trusted(np.array(graph.marks), graph.names)
    verdict = validate(pag)
    if not verdict or verdict.mag is None:
        helps = what_helps if (graph.marks == Mark.CIRCLE).any() else f"{OWN_GRAPH} {what_helps}"
        raise ContradictionError(
            f"This graph contradicts itself, so no effect can be read from it: {verdict.reason} {helps}"
        )
    return CausalGraph(pag, Neighbours.of(pag.marks), verdict.mag)
