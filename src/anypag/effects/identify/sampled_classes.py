"""The equivalence classes of sampled graphs, and the verdict of each class about an effect.

Data cannot tell the members of a class apart, so the frequency of a single member means nothing. The verdict of a graph
is therefore that of its class. The probability of a verdict is the share of sampled graphs whose class has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from anypag.arrays import Counts, Flags
from anypag.effects.identify.adjustment import between, smallest
from anypag.effects.identify.causal_graph import CausalGraph, causal_graph_with, has_known_causes
from anypag.effects.identify.verdict import Verdict, verdict, without_formula
from anypag.errors import ContradictionError
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import Neighbours, NodeSet, rows_as_sets, spread
from anypag.graphs.pag import MAG, PAG
from anypag.graphs.projection import class_of, mag_of_diagram
from anypag.graphs.validity import completed
from anypag.knowledge.facts import Facts
from anypag.knowledge.knowledge import Knowledge
from anypag.search.by_scores.sampled_graphs import Diagrams


class SampledClass(NamedTuple):
    """One class of sampled graphs."""

    causal: CausalGraph  # its PAG with the marks from knowledge, and a member that agrees with them
    doubtful: NodeSet  # the ends of `---` and `--o`


@dataclass(frozen=True, eq=False)
class SampledClasses:
    """Sampled graphs that agree with knowledge, and their classes. Variables are sorted by name."""

    names: tuple[str, ...]
    diagrams: Marks  # (m, nodes, nodes): hidden causes of discrete columns are the last nodes
    place: Counts  # (m,) the index of each graph in the whole sample, which seeds its random numbers
    of: Counts  # (m,) the class of each graph
    counts: Flags  # (m,) does the graph count in shares? No if sampled with a lower penalty per edge, unless all were
    classes: tuple[SampledClass, ...]
    selection: bool
    n_levels: tuple[int, ...]  # the number of levels of each hidden cause

    def __len__(self) -> int:
        return len(self.of)

    def nodes(self, names: tuple[str, ...]) -> NodeSet:
        return sum(1 << self.names.index(name) for name in names)

    def verdicts(self, x: NodeSet, y: NodeSet, given: NodeSet, within: NodeSet) -> list[Verdict]:
        return [self._verdict(found, x, y, given, within) for found in self.classes]

    def _verdict(self, found: SampledClass, x: NodeSet, y: NodeSet, given: NodeSet, within: NodeSet) -> Verdict:
        """The verdict of one class. If selection is possible, adjustment and "no effect" hold if no possible cause of
        X, Y or a condition is `doubtful`. For formulas this is not proved, so the effect counts as not identified.
        """
        causal = found.causal
        if not self.selection:
            return verdict(causal, x, y, given, within)
        way = between(causal, x, y, given)
        if spread(causal.near.parents, x | y | given, causal.everyone) & found.doubtful:
            return Verdict("unidentified", way)
        plain = without_formula(causal, way, within)
        if plain is not None:
            return plain
        return Verdict("unidentified", way) if way.first else verdict(causal, x, y, given, within)

    def if_causal(self, k: int, x: NodeSet) -> Marks | None:
        """The marks of a member of class k with `o->` as `-->`, `o-o` pointing away from X; None if there is none."""
        marks = self.classes[k].causal.pag.marks
        order = np.argsort(~self.classes[k].causal.flags(x), kind="stable")  # X first
        chosen, cycle = completed(marks[np.ix_(order, order)])
        back = np.argsort(order)
        return None if cycle else np.asarray(chosen[np.ix_(back, back)])

    def members_if_causal(self, x: NodeSet, at: Counts) -> tuple[Counts, Marks]:
        """The graphs among `at` whose class has a member by `if_causal`, and the marks of that member for each."""
        member = {k: self.if_causal(k, x) for k in np.unique(self.of[at]).tolist()}
        known = [(k, marks) for k in at.tolist() if (marks := member[int(self.of[k])]) is not None]
        marks = np.array([marks for _, marks in known], np.uint8).reshape(-1, len(self.names), len(self.names))
        return np.array([k for k, _ in known], np.int64), marks

    def trusted(self, k: int, x: NodeSet) -> CausalGraph | None:
        """The member of `if_causal` as a `CausalGraph` whose arrows hide no common cause."""
        marks = self.if_causal(k, x)
        return None if marks is None else CausalGraph.of_mag(MAG.trusted(marks, self.names), trusted=True)

    def set_if_causal(self, k: int, x: NodeSet, y: NodeSet, given: NodeSet) -> NodeSet | None:
        """A smallest adjustment set in the member of `if_causal`, or None."""
        causal = self.trusted(k, x)
        return None if causal is None else smallest(causal, between(causal, x, y, given), causal.everyone)

    def open_arrows(self, k: int) -> Flags:
        """(n, n) False where row --> column is visible in class k; any other arrow may hide a common cause."""
        causal = self.classes[k].causal
        return ~np.array([causal.flags(seen) for seen in causal.near.visible], np.bool_)


def _grouped(
    diagrams: Marks, names: tuple[str, ...], n_levels: tuple[int, ...], facts: Facts | None
) -> tuple[Counts, tuple[SampledClass, ...]]:
    of, classes = np.zeros(len(diagrams), np.int64), list[SampledClass]()
    by_mag, by_pag = dict[bytes, int](), dict[bytes, int]()
    for k, diagram in enumerate(diagrams):
        mag = mag_of_diagram(diagram, len(n_levels))
        if mag.tobytes() not in by_mag:
            pag = class_of(mag)
            if pag.tobytes() not in by_pag:
                by_pag[pag.tobytes()] = len(classes)
                classes.append(_class_of(PAG.trusted(pag, names), MAG.trusted(mag, names), facts))
            by_mag[mag.tobytes()] = by_pag[pag.tobytes()]
        of[k] = by_mag[mag.tobytes()]
    return of, tuple(classes)


def _class_of(pag: PAG, mag: MAG, facts: Facts | None) -> SampledClass:
    causal = CausalGraph(pag, Neighbours.of(pag.marks), mag) if facts is None else causal_graph_with(mag, facts)
    marks = causal.pag.marks
    half = (marks.T == Mark.TAIL) & (marks != Mark.NONE) & (marks != Mark.ARROW)  # [i, j]: tail at i, no arrowhead at j
    return SampledClass(causal, rows_as_sets((half | half.T).any(axis=0)[None])[0])


@lru_cache(maxsize=4)
def classes_of(found: Diagrams, known: Knowledge | None, *, selection: bool) -> SampledClasses:
    """The classes of sampled graphs that agree with knowledge, cached; ContradictionError if no graph does."""
    order = np.argsort(np.array(found.names, np.str_), kind="stable")
    names = tuple(found.names[place] for place in order)
    marks = found.arranged(order).marks
    facts = known.facts(names, selection=selection) if known else None
    measured = marks[:, : len(names), : len(names)]
    kept = np.array([k for k, diagram in enumerate(measured) if has_known_causes(diagram, facts, selection)], np.int64)
    if not len(kept):
        raise ContradictionError(
            "No sampled graph agrees with the given knowledge, so no effect can be drawn. Take statements back, or say "
            "less, and search again."
        )
    of, classes = _grouped(marks[kept], names, found.n_levels, facts)
    counts = kept < (len(found) if found.n_counted is None else found.n_counted)
    counts = counts if counts.any() else ~counts
    return SampledClasses(names, marks[kept], kept, of, counts, classes, selection, found.n_levels)
