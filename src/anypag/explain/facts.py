"""The input of explanations, the experiment that decided a mark, and the hint about further knowledge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from anypag.explain.sampled import cause_notes, sampled_note
from anypag.graphs.contradictions import Contradiction, contradictions
from anypag.graphs.marks import Edge, Mark, MarkReason, Separation
from anypag.graphs.pag import PAG
from anypag.graphs.rules import RULES
from anypag.knowledge.facts import Facts
from anypag.results.grounds import reasons_of
from anypag.results.probabilities import Probabilities
from anypag.results.result import Result

ReasonsByEnd = Mapping[tuple[str, str], list[MarkReason]]  # by (a, b): why the edge a–b has its mark at a


@dataclass(frozen=True)
class PairFacts:
    """The input of explanations, looked up once. A bare graph has no `learned` and no reasons."""

    pag: PAG
    learned: Result | None
    sepsets: Mapping[tuple[str, str], Separation]
    reasons: ReasonsByEnd
    conflicts: ReasonsByEnd
    contradictions: tuple[Contradiction, ...] = ()

    def contradictions_of(self, a: str, b: str) -> tuple[str, ...]:
        """The contradictions that involve a claim about these two variables."""
        return tuple(str(item) for item in self.contradictions if item.is_about(a, b))

    @property
    def assumed(self) -> str | None:
        """The assumption that all claims rest on."""
        return None if self.learned is None else assumed_of(self.learned)

    @cached_property
    def known(self) -> Facts | None:
        known = None if self.learned is None else self.learned.choices.knowledge
        return known.facts(self.pag.names, selection=self.selection) if known else None

    def said_of_edge(self, a: str, b: str) -> str | None:
        """The sentence about the user's statement that two variables are joined, or are not; None if there is none."""
        i, j = self.pag.index(a), self.pag.index(b)
        if self.known is not None and self.known.joined[i, j]:
            return "It was said beforehand that they are joined, so they were not tested."
        is_not = self.known is not None and self.known.not_joined[i, j]
        return "It was said beforehand that they are not joined." if is_not else None

    def against_what_was_said(self, a: str, b: str) -> tuple[str, ...]:
        """Sentences on statements of the user that an edge contradicts. Each names the mark and the test behind it."""
        if self.learned is None or self.known is None:
            return ()
        ends = (f"at {a} towards {b}", f"at {b} towards {a}")
        told = [one for one in self.learned.knowledge if one.became == "contradicted"]
        told = [one for one in told if any(end in one.why for end in ends)]
        return tuple(f"The data contradict what was said beforehand, {one.statement}: {one.why}." for one in told)

    def witnesses(self, reason: MarkReason) -> Iterator[tuple[str, str, Separation, str]]:
        """The patterns of R0 or R1 that give the mark of `reason`; none for other rules. Each has a third node,
        the end of the edge (a node) from which a test separated it, this separation, and for R1 a clause on the
        arrowhead from the third node.
        """
        is_collider = reason.rule == 0
        middle, end = reason[:2] if is_collider or reason.mark == Mark.TAIL else reason[1::-1]
        for third in self.pag.neighbours(middle) if reason.rule <= 1 else ():
            edge, apart = self.pag.edge(third, middle), self.sepsets.get((end, third)) if third != end else None
            points = edge is not None and edge.mark_b == Mark.ARROW
            if apart is not None and (middle in apart.given) is not is_collider and (is_collider or points):
                yield third, end, apart, "" if is_collider else f"the arrowhead at {middle} from {third} and on "

    @property
    def selection(self) -> bool:
        """May the sample have been selected?"""
        return self.learned is None or self.learned.choices.selection_bias

    @property
    def final(self) -> bool:
        """Is the search complete, so that no edge will be removed any more?"""
        return self.learned is None or self.learned.complete

    @property
    def n_rows(self) -> int | None:
        return None if self.learned is None else self.learned.n_rows

    @property
    def probabilities(self) -> Probabilities | None:
        return None if self.learned is None else self.learned.probabilities

    def sampled_notes(self, a: str, b: str, symbol: str) -> tuple[str, ...]:
        """The sentences about sampled graphs for two variables that the answer joins by `symbol`."""
        said = self.probabilities
        return () if said is None else (sampled_note(said, a, b, symbol), *cause_notes(said, a, b))

    @cached_property
    def tested(self) -> PairFacts | None:
        """The input for explaining the graph that tests alone gave, if a search by scores followed them; else None."""
        alone = None if self.learned is None else self.learned.before_scores
        return None if alone is None else facts_of(alone)

    @property
    def by_tests(self) -> bool:
        """Do edges and marks come from tests and rules?"""
        return self.learned is not None and not self.learned.from_scores


def assumed_of(result: Result) -> str | None:
    """The assumption behind the claims of a result; None if its test was perfect."""
    return None if result.is_exact else f"If the {'scores' if result.from_scores else 'tests'} are right:"


def facts_of(result: Result | PAG) -> PairFacts:
    if isinstance(result, PAG):
        return PairFacts(result, None, {}, {}, {}, contradictions(result)[0])
    return replace(facts_on_the_way(result), contradictions=result.contradictions)


def facts_on_the_way(result: Result) -> PairFacts:
    """The input of explanations; `contradictions` is empty, because finding them takes long in dense early graphs."""
    return PairFacts(result.pag, result, result.sepsets, _by_end(result.marks), _by_end(result.conflicts))


def _by_end(reasons: Iterable[MarkReason]) -> ReasonsByEnd:
    ends: dict[tuple[str, str], list[MarkReason]] = {}
    for reason in reasons:
        ends.setdefault((reason.at, reason.other), []).append(reason)
    return ends


def what_to_say(result: Result, how: str) -> str | None:
    """The hint on what knowledge could add to a graph learned without any, or None. `how`: the options for knowledge.

    >>> import anypag as ap
    >>> data = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> C; B --> C; C --> D"), 500, seed=1)
    >>> print(what_to_say(ap.learn(data, method="icd"), "knowledge="))
    What you know for sure, such as an order in time (knowledge=), can decide ends marked with a circle, and exclude \
impossible arrows.
    """
    symbols = {edge.forward().symbol for edge in result.pag.edges()}
    is_open, is_directed = any("o" in symbol for symbol in symbols), not symbols.isdisjoint({"-->", "o->"})
    if result.choices.knowledge or not (is_open or is_directed):
        return None
    could = ", and ".join(["decide ends marked with a circle"] * is_open + ["exclude impossible arrows"] * is_directed)
    return f"What you know for sure, such as an order in time ({how}), can {could}."


def oriented_by(facts: PairFacts, edge: Edge) -> tuple[str, ...]:
    """A sentence if a context (a column that tells data sets apart) decided a mark. It names the context and rule."""
    known = None if facts.learned is None else facts.learned.choices.knowledge
    contexts = set(known.contexts) if known else set()
    if not contexts or {edge.a, edge.b} & contexts:
        return ()
    reasons = facts.reasons if facts.by_tests else _reasons_in(facts)
    for at, other in ((edge.a, edge.b), (edge.b, edge.a)):
        found = _behind((at, other), reasons, contexts, set())
        if found is not None:
            return (f"An experiment decides a mark of this edge: {found[0]}, by rule {found[1]}.",)
    return ()


def _behind(
    end: tuple[str, str], reasons: ReasonsByEnd, contexts: set[str], seen: set[tuple[str, str]]
) -> tuple[str, str] | None:
    """The first context in the reason of a mark, or of the marks it rests on; and the rule that used the context."""
    seen.add(end)
    for reason in reasons.get(end, [])[:1]:
        for name in (name for name in reason.because if name in contexts):
            return name, RULES[reason.rule].name
        for pair in product(end, reason.because if reason.rule else ()):  # R0 rests on no mark
            found = None if pair in seen else _behind(pair, reasons, contexts, seen)
            if found is not None:
                return found
    return None


def _reasons_in(facts: PairFacts) -> ReasonsByEnd:
    """Reasons for marks of a graph found by scores: the rules are applied to its separations and the knowledge."""
    from anypag.graphs.skeleton import Skeleton
    from anypag.graphs.validity import completed
    from anypag.knowledge.closure import SeparationsOf, orient_with_knowledge

    pag, known = facts.pag, facts.known
    if known is None:
        return {}
    mag = completed(pag.marks)[0]
    circles = (pag.marks != Mark.NONE).astype(np.uint8)
    log = orient_with_knowledge(circles, SeparationsOf(mag), known, Skeleton.of(mag), final=True).log
    return _by_end(reasons_of(log, pag.names))
