"""`explain`: why two variables are joined as they are, or not joined."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

from anypag.errors import GraphError
from anypag.explain.facts import PairFacts, facts_of, oriented_by
from anypag.explain.sampled import hedged
from anypag.explain.words import Context, EdgeWords, EndClaim, reading, resample_notes
from anypag.graphs.marks import A_MARK, Edge, Mark, Separation, with_and
from anypag.graphs.node_sets import is_visible
from anypag.graphs.pag import PAG
from anypag.graphs.rules import KNOWN, separated, why
from anypag.knowledge.facts import Facts
from anypag.markup import block, heading, paragraphs, plain
from anypag.results.probabilities import Alternative
from anypag.results.result import Result, refuse_unsearched
from anypag.results.stability import PairCounts, pair_counts

_NOT_JOINED = "neither is a direct cause of the other, and no unmeasured variable acts directly on both."
NO_EDGE = {
    "alone": "{a} and {b} are independent: neither is a cause of the other, and they share no cause.",
    "given": f"{{a}} and {{b}} are independent given {{given}}: {_NOT_JOINED}",
    "unknown": f"{{a}} and {{b}} have no edge: {_NOT_JOINED}",
}
"""The sentence for a missing edge, by its separating set: the empty set, a set of variables, or none that is known."""
CONTRADICTED = "In a contradiction:"  # the first words of a sentence about a contradiction
NEAR = 3.0  # a p-value is near alpha if it differs by at most this factor
FOUND = {"rows": "Found at r = {r} with p = {p}, n = {n}.", "no rows": "Found at r = {r} with p = {p}."}


@dataclass(frozen=True)
class End:
    """One end of an edge: its mark, the claim that the mark makes about causes, and the reason for the mark."""

    at: str
    mark: Mark
    claim: EndClaim  # the statement for machines
    meaning: str  # the claim in words, with a hedge for its probability
    rule: int | None  # the number of the rule that set the mark; None if no rule is known
    why: str | None  # the reason in words: the rule, or that the mark was given
    conflicts: tuple[str, ...]  # sentences about rules that wanted another mark here
    probability: float | None = None  # of the claim, if graphs were sampled


@dataclass(frozen=True, repr=False)
class Explanation:
    """The explanation of how a graph joins two variables; `str()` gives it in plain words."""

    a: str
    b: str
    edge: Edge | None
    summary: str
    ends: tuple[End, ...]
    separation: Separation | None  # why there is no edge, if that is known
    kept_p: float | None  # the largest p-value among the tests that kept the edge
    n_rows: int | None
    notes: tuple[str, ...]
    probability: float | None = None  # of this edge, if graphs were sampled
    alternative: Alternative | None = None  # the most probable other edge
    contradictions: tuple[str, ...] = ()  # contradictions that involve the two variables
    assumed: str | None = None  # the assumption, such as "If the tests are right:"
    again: PairCounts | None = None  # the counts over resamples, if there were any
    by_tests: Explanation | None = None  # the explanation by tests alone, if a search by scores followed
    misfit: str | None = None  # the warning that the table does not fit what the probabilities assume

    def __str__(self) -> str:
        heading = str(self.edge) if self.edge else f"{self.a}   {self.b}   (no edge)"
        before = [f"{CONTRADICTED} {sentence}" for sentence in self.contradictions]
        before += [line for line in (self.misfit, self.assumed) if line]
        lines = [heading, *(f"  {line}" for line in (*before, self.summary, *self.lines()))]
        # a line break in a name must not start a new line
        return "\n".join(line.replace("\n", "\\n") for line in lines)

    def __repr__(self) -> str:
        """The pair in one line; `print` gives the explanation."""
        return f"<Explanation: {self.edge or f'{self.a} and {self.b}, no edge'}>"

    def _repr_html_(self) -> str:
        first, *rest = str(self).splitlines()
        return block(heading(first), paragraphs(rest))

    def lines(self) -> tuple[str, ...]:
        """The lines of text about the two ends, then the notes."""
        lines = list[str]()
        for end in self.ends:
            lines.append(f"At {end.at} {A_MARK[end.mark]}: {end.meaning}")
            lines += [f"  {reason}" for reason in (end.why, *end.conflicts) if reason]
        return (*lines, *self.notes)

    def to_dict(self) -> dict[str, Any]:
        """The explanation for machines: only strings, numbers, lists, dicts and None."""
        shown = plain({item.name: getattr(self, item.name) for item in fields(self)})
        ends = [{"mark": end.mark.name.lower(), "claim": end.claim.value} for end in self.ends]
        shown["ends"] = [one | names for one, names in zip(shown["ends"], ends, strict=True)]
        return {**shown, "edge": None if self.edge is None else self.edge.symbol}


def explain(result: Result | PAG, a: str, b: str) -> Explanation:
    """The explanation of how a result joins two variables, or why it does not.

    Args:
        result: the result of a search, or a bare PAG, which gives meanings but no reasons.
        a: one variable.
        b: another.

    Raises:
        GraphError: there is no variable of that name, or both names mean the same variable.

    >>> import anypag as ap
    >>> result = ap.learn(ap.Oracle(ap.DAG.from_string("storm --> fire; arson --> fire; fire --> smoke")))
    >>> print(explain(result, "fire", "smoke"))
    fire --> smoke
      fire is a cause of smoke, directly or through other variables, and no unmeasured variable acts directly \
on both.
      At fire a tail: fire is a cause of smoke, directly or through other variables.
        R1: arson and smoke are independent given fire, and fire, which is needed for that, is not a cause of arson; \
so fire must be a cause of smoke.
      At smoke an arrowhead: smoke is not a cause of fire.
        R1: arson and smoke are independent given fire, and fire, which is needed for that, is not a cause of arson; \
so fire must be a cause of smoke, and smoke not of fire.
      No test separated them.
    >>> print(explain(result, "storm", "arson"))
    storm   arson   (no edge)
      storm and arson are independent: neither is a cause of the other, and they share no cause.
      Found at r = 0 with p = 1.
    """
    refuse_unsearched(result, a, b)
    copies = {name: first for name, first in getattr(result, "copies", {}).items() if name in {a, b}}
    one, other = copies.get(a, a), copies.get(b, b)
    if copies and one == other:
        raise GraphError(f"{a!r} and {b!r} are the same column: the graph has one variable for both.")
    said = replace(explain_pair(facts_of(result), one, other), misfit=getattr(result, "misfit_in_short", None))
    same = (f"{name} is the same column as {first}, which stands for both." for name, first in copies.items())
    return replace(said, notes=(*said.notes, *same)) if copies else said


def explain_pair(facts: PairFacts, a: str, b: str) -> Explanation:
    a, b = (facts.pag.names[place] for place in facts.pag.indices((a, b), "variables"))
    if a == b:
        raise GraphError(f"Two different variables are needed; got {a!r} twice.")
    edge = facts.pag.edge(a, b)
    said = _joined_or_not(facts, a, b, edge)
    notes = [*said.notes, *_depending(facts, said)]
    if facts.tested is not None and facts.tested.learned is not None:
        alone = explain_pair(facts.tested, said.a, said.b)
        said = replace(said, by_tests=alone)
        notes += tests_alone(alone, edge, facts.tested.learned.choices.alpha)
        notes += [f"  {sentence}" for sentence in _depending(facts.tested, alone)]
    seen = pair_counts(None if facts.learned is None else facts.learned.stability, a, b, edge)
    return replace(said, again=seen, notes=(*notes, *resample_notes(seen, a, b)))


def _depending(facts: PairFacts, said: Explanation) -> tuple[str, ...]:
    """The warnings that an edge or a mark depends on one test or on one column; none if no data were tested."""
    if facts.learned is None or facts.learned.is_exact or not facts.by_tests:
        return ()
    alpha, found = facts.learned.choices.alpha, said.separation
    is_near = _is_near(found.p if found else said.kept_p, alpha)
    told = ["This depends on one test near alpha: another alpha, or other rows, may change it."] if is_near else []
    if found is not None and len(found.given) == 1:
        told.append(f"This depends on one column: in a table without {found.given[0]}, tests may join the two.")
    for end in ((said.a, said.b), (said.b, said.a)):
        behind = [one for reason in facts.reasons.get(end, [])[:1] for one in islice(facts.witnesses(reason), 2)]
        for third, other, apart, clause in behind if len(behind) == 1 else ():
            near, test = " near alpha" * _is_near(apart.p, alpha), separated(other, third, facts.sepsets)
            rests = f"The mark at {end[0]} rests on {clause}one test{near}: {test}, p = {apart.p:.3g}."
            told.append(f"{rests} In a table without {third} it may be a circle.")
    return tuple(told)


def _is_near(p: float | None, alpha: float) -> bool:
    return p is not None and alpha / NEAR <= p <= NEAR * alpha


def tests_alone(alone: Explanation, edge: Edge | None, alpha: float) -> tuple[str, ...]:
    """The sentences on the result of tests alone. `edge`: the pair's edge in the final graph, if any."""
    given = "the same" if alone.edge == edge else f"`{alone.edge}`" if alone.edge else "no edge"
    found, p = alone.separation, alone.kept_p
    if found is not None:
        others = f" given {with_and(found.given)}" if found.given else ""
        why = f"one test found them independent{others}, p = {found.p:.3g} (alpha = {alpha:g})"
    else:
        why = "no test separated them" if alone.edge else "no separating set is known"
        why += "" if p is None else f"; the largest p-value was {p:.3g} (alpha = {alpha:g})"
    rules = [f"  At {end.at} {A_MARK[end.mark]}: {end.why}" for end in alone.ends if end.why]
    return (f"Searching by tests alone gives {given}: {why}.", *rules)


def reading_of(
    pag: PAG, edge: Edge, *, selection: bool, final: bool, by_tests: bool = True, known: Facts | None = None
) -> EdgeWords:
    """The meaning of an edge, with placeholders for the names. `known`: facts from knowledge; others: see `Context`."""
    i, j = pag.index(edge.a), pag.index(edge.b)
    is_directed = {edge.mark_a, edge.mark_b} == {Mark.ARROW, Mark.TAIL}
    cause, effect = (edge.a, edge.b) if edge.mark_a == Mark.TAIL else (edge.b, edge.a)
    is_said = known is not None and not selection and bool(known.unconfounded[i, j])
    context = Context(
        selection=selection,
        unselected_a=bool((pag.marks[:, i] == Mark.ARROW).any()),
        unselected_b=bool((pag.marks[:, j] == Mark.ARROW).any()),
        visible=is_directed and final and (is_said or is_visible(pag, cause, effect)),
        final=final,
        by_tests=by_tests,
        not_cause_a=known is not None and bool(known.not_causes[i, j]),
        not_cause_b=known is not None and bool(known.not_causes[j, i]),
        by_design=known is not None and bool(known.design[i] and known.design[j]),
    )
    return reading(edge.mark_a, edge.mark_b, context)


def words_of(facts: PairFacts, edge: Edge) -> EdgeWords:
    """The meaning of an edge of the graph that is explained."""
    return reading_of(
        facts.pag, edge, selection=facts.selection, final=facts.final, by_tests=facts.by_tests, known=facts.known
    )


def _joined_or_not(facts: PairFacts, a: str, b: str, edge: Edge | None) -> Explanation:
    """The explanation of an edge, or of its absence, without the notes on single tests and resamples."""
    said, symbol = facts.probabilities, "" if edge is None else edge.symbol
    found = facts.sepsets.get((a, b)) if edge is None else None
    p = math.nan if facts.learned is None or edge is None else facts.learned.kept_p(a, b)
    probability = None if said is None else said.of_edge(a, b, symbol)
    alternative, kept_p = None if said is None else said.alternative(a, b, symbol), None if math.isnan(p) else p
    if edge is None:
        summary, ends = no_edge_summary(a, b, found), tuple[End, ...]()
        why_none = (facts.said_of_edge(a, b), found and found_by(found))
        notes = (*filter(None, why_none), *facts.sampled_notes(a, b, ""))
    else:
        words = words_of(facts, edge)
        at_a, at_b, summary = (text.format(a=a, b=b) for text in (words.at_a, words.at_b, words.summary))
        ends = (_end(facts, edge, words.claim_a, at_a), _end(facts, edge.reversed(), words.claim_b, at_b))
        notes = _notes_of_edge(facts, edge, p)
    summary, contradicted = hedged(summary, probability), facts.contradictions_of(a, b)
    told = Explanation(a, b, edge, summary, ends, found, kept_p, facts.n_rows, notes, probability, alternative)
    return replace(told, contradictions=contradicted, assumed=facts.assumed)


def _end(facts: PairFacts, edge: Edge, claim: EndClaim, meaning: str) -> End:
    here = (edge.a, edge.b)
    reasons = facts.reasons.get(here, [])
    was_given = facts.by_tests and edge.mark_a != Mark.CIRCLE
    given = "The search began with this mark (`initial`)." if was_given else None
    probability = _end_probability(facts, edge, claim)
    rule, because = (reasons[0].rule, why(reasons[0], facts.sepsets)) if reasons else (None, given)
    conflicts = tuple(
        f"In conflict: {A_MARK[other.mark]} was wanted here by {why(other, facts.sepsets)}"
        for other in facts.conflicts.get(here, [])
    )
    return End(edge.a, edge.mark_a, claim, hedged(meaning, probability), rule, because, conflicts, probability)


def _end_probability(facts: PairFacts, edge: Edge, claim: EndClaim) -> float | None:
    """The probability of the claim at `edge.a`; None without sampled graphs or a claim, or if the user stated it."""
    was_said = any(reason.rule == KNOWN for reason in facts.reasons.get((edge.a, edge.b), []))
    if facts.probabilities is None or claim in {EndClaim.OPEN, EndClaim.NO_AS_KNOWN} or was_said:
        return None
    # the claim NO_SINCE_OTHER follows from the mark at the other end
    behind = edge.reversed() if claim is EndClaim.NO_SINCE_OTHER else edge
    return facts.probabilities.of_mark(behind.a, behind.b, behind.symbol)


def _notes_of_edge(facts: PairFacts, edge: Edge, p: float) -> tuple[str, ...]:
    known, sampled = facts.said_of_edge(edge.a, edge.b), facts.sampled_notes(edge.a, edge.b, edge.symbol)
    against = (*facts.against_what_was_said(edge.a, edge.b), *oriented_by(facts, edge))
    if known is not None:
        return (known, *against, *sampled)
    if facts.learned is None or not facts.by_tests:
        return (*against, *sampled)
    learned, kept = facts.learned, "No test separated them"
    rows = "" if learned.n_rows is None else f", n = {learned.n_rows:,}"
    if p > 0 or (rows and not math.isnan(p)):
        kept += f": the largest p-value was {p:.3g} (alpha = {learned.choices.alpha:g}{rows})"
    if learned.complete or learned.tests_done:
        return (f"{kept}.", *against)
    early = f"The search stopped after r = {learned.r}: larger condition sets may still remove this edge."
    return (f"{kept}.", early, *against)


def no_edge_summary(a: str, b: str, found: Separation | None) -> str:
    """The sentence about a missing edge: the independence, and its meaning."""
    if found is None:
        return NO_EDGE["unknown"].format(a=a, b=b)
    return NO_EDGE["given" if found.given else "alone"].format(a=a, b=b, given=with_and(found.given))


def found_by(found: Separation) -> str:
    text = FOUND["no rows" if found.n is None else "rows"]
    return text.format(r=found.r, p=f"{found.p:.3g}", n=f"{found.n or 0:,}")
