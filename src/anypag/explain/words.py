"""The meaning of an edge's marks in words.

A mark at A on the edge A–B is a statement about A. An arrowhead says that A is an ancestor of neither B nor selection
into the sample; a tail says that A is an ancestor of B or of selection. `EndClaim` is the claim about causes:

- without selection, a tail means "cause of";
- if another edge has an arrowhead at A, A does not affect selection, and a tail at A means "cause of" too;
- A --- B is possible only if both affect selection. Causes do not run in a circle, so one of the two (A, say) is no
  cause of B, and the tail at A means that A affects selection. B affects selection too, perhaps only through A.

The sentences have the placeholders {a} and {b} for names; the script of the report's page fills them in too.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from anypag.graphs.marks import Mark
from anypag.results.stability import PairCounts


class EndClaim(Enum):
    """The claim at one end of an edge: is its variable A a cause of the variable B at the other end?"""

    NO = "no"
    YES = "yes"
    YES_OR_SELECTED = "yes, or a cause of selection"
    SELECTED = "a cause of selection"
    OPEN = "not known"
    NO_SINCE_OTHER = "no, since the other is"
    NO_AS_KNOWN = "no, as is known"
    SELECTED_ONLY = "a cause of selection; known not to cause the other"
    CONTRADICTED = "contradicted"


_AT_END = {
    EndClaim.NO: "{a} is not a cause of {b}.",
    EndClaim.YES: "{a} is a cause of {b}, directly or through other variables.",
    EndClaim.YES_OR_SELECTED: "{a} is a cause of {b}, or of being in the sample.",
    EndClaim.SELECTED: "{a} affects being in the sample.",
    EndClaim.OPEN: "Whether {a} is a cause of {b} is not known.",
    EndClaim.NO_SINCE_OTHER: "{a} is not a cause of {b}, since {b} is a cause of {a}.",
    EndClaim.NO_AS_KNOWN: "{a} is not a cause of {b}, as is known.",
    EndClaim.SELECTED_ONLY: "{a} is a cause of being in the sample, since it is known not to cause {b}.",
    EndClaim.CONTRADICTED: "{a} would be a cause of {b}, and {b} of {a}: one of the tests behind this must be wrong.",
}


class Context(NamedTuple):
    """Everything that the words for an edge depend on, apart from its two marks."""

    selection: bool = True  # may variables of the graph affect who is in the sample?
    unselected_a: bool = False  # an arrowhead at `a`, on any edge, says that `a` does not affect selection
    unselected_b: bool = False
    visible: bool = False  # no unmeasured variable can act directly on both
    final: bool = True  # the search is complete, so no edge will be removed
    by_tests: bool = True  # edges come from tests, so larger condition sets may still remove them
    not_cause_a: bool = False  # knowledge says that `a` is no cause of `b`
    not_cause_b: bool = False
    by_design: bool = False  # both are contexts, joined by the design of the experiments


class EdgeWords(NamedTuple):
    """An edge in words: a claim and a sentence for each end, and one or two sentences for the whole edge."""

    claim_a: EndClaim
    claim_b: EndClaim
    at_a: str
    at_b: str
    summary: str


def reading(mark_a: Mark, mark_b: Mark, context: Context) -> EdgeWords:
    """The words for an edge a–b with these marks.

    >>> print(reading(Mark.CIRCLE, Mark.ARROW, Context(selection=False)).summary)
    {a} may be a cause of {b}, or they share a common cause that was not measured, or both.
    """
    may_select_a, may_select_b = (context.selection and not at for at in (context.unselected_a, context.unselected_b))
    if mark_a == mark_b == Mark.TAIL and not (may_select_a and may_select_b):
        claim_a = claim_b = EndClaim.CONTRADICTED
    else:
        claim_a = _claim(mark_a, mark_b, may_select_a, may_select_b, context.not_cause_a)
        claim_b = _claim(mark_b, mark_a, may_select_b, may_select_a, context.not_cause_b)
    summary = _summary(claim_a, claim_b, context)
    return EdgeWords(claim_a, claim_b, _AT_END[claim_a], _swapped(_AT_END[claim_b]), summary)


def _claim(mark: Mark, far: Mark, may_select: bool, far_may_select: bool, is_known_not: bool) -> EndClaim:
    """The claim at an end of an edge. `far`: the mark at the other end; `is_known_not`: knowledge says "no cause"."""
    if mark == Mark.ARROW:
        return EndClaim.NO
    if mark == Mark.CIRCLE and far == Mark.TAIL and not far_may_select:
        return EndClaim.NO_SINCE_OTHER
    if mark == Mark.CIRCLE:
        return EndClaim.NO_AS_KNOWN if is_known_not else EndClaim.OPEN
    if not may_select:
        return EndClaim.YES
    if far == Mark.TAIL:
        return EndClaim.SELECTED
    return EndClaim.SELECTED_ONLY if is_known_not else EndClaim.YES_OR_SELECTED


def _summary(claim_a: EndClaim, claim_b: EndClaim, context: Context) -> str:
    if context.by_design:
        return "Joined by design, as both say which data set a row is from. Nothing follows about causes."
    no = {EndClaim.NO, EndClaim.NO_SINCE_OTHER, EndClaim.NO_AS_KNOWN}
    if claim_a is EndClaim.CONTRADICTED:
        return "The two ends contradict each other: each would be a cause of the other. A test behind this is wrong."
    if claim_a is EndClaim.SELECTED:
        return "Both {a} and {b} affect being in the sample: the two are linked, at least in part, by selection."
    if claim_a in no and claim_b in no:
        or_selected = ", or selection of the sample links them" if context.selection else ""
        return f"Neither is a cause of the other: they share {_common_cause(context)}{or_selected}."
    if claim_a is EndClaim.OPEN and claim_b is EndClaim.OPEN:
        return _either("{a} may be a cause of {b}, or {b} of {a}", context)
    if claim_a in no or claim_b in {EndClaim.YES, EndClaim.YES_OR_SELECTED, EndClaim.SELECTED_ONLY}:
        return _swapped(_one_way(claim_b, claim_a, context))
    return _one_way(claim_a, claim_b, context)


def _one_way(claim_a: EndClaim, claim_b: EndClaim, context: Context) -> str:
    """The sentence for an edge where `a` is or may be a cause of `b`, and `b` is not known to cause `a`."""
    if claim_a is EndClaim.OPEN:
        return _either("{a} may be a cause of {b}", context)
    sentence = _AT_END[claim_a]
    if claim_b in {EndClaim.OPEN, EndClaim.NO_AS_KNOWN}:
        return f"{sentence} {{b}} may affect being in the sample too."
    if context.visible:
        return f"{sentence[:-1]}, and no unmeasured variable acts directly on both."
    return f"{sentence} There may also be {_common_cause(context)}."


def _either(start: str, context: Context) -> str:
    selected = ", or selection of the sample links them; more than one may be true."
    return f"{start}, or they share {_common_cause(context)}{selected if context.selection else ', or both.'}"


def _common_cause(context: Context) -> str:
    may_fall = "" if context.final or not context.by_tests else ", or that the search has not yet fully accounted for"
    return f"a common cause that was not measured{may_fall}"


def _swapped(sentence: str) -> str:
    return sentence.replace("{a}", "{0}").replace("{b}", "{a}").replace("{0}", "{b}")


def resample_notes(seen: PairCounts | None, a: str, b: str) -> tuple[str, ...]:
    """The sentences on how often resamples join a pair, and how."""
    if seen is None:
        return ()
    mostly = "no edge" if seen.else_mostly == "none" else f"`{seen.else_mostly}`"
    other = "" if seen.else_mostly is None else f"; else mostly {mostly}"
    causes = (
        f"{x} is claimed to be a cause of {y} in {is_cause} of {seen.n}, and not to be a cause in {is_none}."
        for x, y, is_cause, is_none in zip((a, b), (b, a), seen.causes, seen.not_causes, strict=True)
        if is_cause
    )
    return f"The same in {seen.same} of {seen.n} resamples{other}. Joined in {seen.joined}.", *causes
