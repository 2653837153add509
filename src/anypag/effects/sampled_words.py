"""What sampled graphs say about an effect, in words."""

from __future__ import annotations

import numpy as np

from anypag.effects.drawn_effect import DrawnEffect, Span
from anypag.effects.estimate.estimates import number
from anypag.effects.sampled import SURE_OF_NONE, SampledEffect, share
from anypag.scores.base import GAMMA

LEAST_TOLD = 0.01  # smaller groups of classes are not told in words
MUCH = 0.2  # a difference between shares that is told
IF_NONE_HIDDEN = "if no arrow hides a common cause of its ends"


def headline(found: SampledEffect, heading: str) -> str:
    """The headline: the answer in one sentence."""
    none = f"{share(found.p_zero)} of the sampled graphs say that there is no effect"
    if found.status == "zero":
        return f"{heading}: none; {none}."
    spans = [line.if_causal for line in found.lines if line.if_causal is not None]
    condition = f", {IF_NONE_HIDDEN}" if found.p_open else ""
    if not spans:
        rest = f"{share(found.p_identified)} identify it, {share(found.p_open)} leave it open"
        return f"{heading}: {none}, {rest}."
    if len(found.lines) == 1:
        return f"{_told(found.lines[0], spans[0])}{condition}; {none}."
    least, most = (end(span.estimate for span in spans) for end in (min, max))
    numbers = f"{len(found.lines)} numbers below, from {number(least)} to {number(most)}"
    return f"{heading}: {numbers}{condition}; {none}."


def _told(line: DrawnEffect, span: Span) -> str:
    """How the outcome changes: "X raises Y by 2 per unit (95 %: 1 to 3)", "X = b in place of a raises Y by 2"."""
    has_levels, outcome = line.cause.level is not None, line.outcome.as_outcome
    cause, per = (line.cause.as_cause.removeprefix("for "), "") if has_levels else (line.cause.name, " per unit")
    if span.low >= 0 or span.high <= 0:
        verb, sign = ("raises", 1) if span.low >= 0 else ("lowers", -1)
        ends = sorted((sign * span.low, sign * span.high))
        return (
            f"{cause} {verb} {outcome} by {number(sign * span.estimate)}{per} "
            f"(95 %: {number(ends[0])} to {number(ends[1])})"
        )
    return (
        f"{cause} changes {outcome} by {number(span.estimate)}{per} (95 %: {number(span.low)} to {number(span.high)})"
    )


def told(found: SampledEffect) -> list[str]:
    """What stands below the headline."""
    lines = [shares_told(found)]
    if len(found.lines) > 1:
        lines += [f"{line.label}: {line.if_causal or 'not known'}" for line in found.lines]
        is_known = any(line.if_causal is not None for line in found.lines)
        lines += [f"These numbers hold {IF_NONE_HIDDEN}."] if found.p_open and is_known else []
    elif found.lines and found.lines[0].span is not None and str(found.lines[0].span) != str(found.lines[0].if_causal):
        lines.append(f"Over all sampled graphs, with 0 for those without an effect: {found.lines[0].span}.")
    lines += [
        f"If arrows hide common causes where they may (noises correlate by up to {found.confounding:g} either way), "
        f"{line.label}: {line.if_hidden}."
        for line in found.lines
        if line.if_hidden is not None
    ]
    groups = (str(group) for group in found.by_class if group.share >= LEAST_TOLD)
    return [*lines, *groups, *_limits(found), *found.notes]


def _limits(found: SampledEffect) -> list[str]:
    """How much depends on the price of an edge, and the smallest effect that these rows would show."""
    lines, at_less = list[str](), found.question.zero_at_less
    hangs_on_it = found.p_zero >= SURE_OF_NONE and found.status != "zero"
    if at_less is not None and (abs(at_less - found.p_zero) >= MUCH or hangs_on_it):
        lines.append(f"Of graphs sampled at a lower price of an edge, {share(at_less)} say that there is no effect.")
    if found.rows and found.lines:
        least = smallest_seen(found.rows, 1 if found.is_discrete else len(found.question.classes.names))
        lines.append(f"With {found.rows:,} rows, effects below {least:.2g} standard units would mostly not be seen.")
    return lines


def smallest_seen(n: int, p: int) -> float:
    """The smallest partial correlation that pays the price of an edge (EBIC) in n rows of p variables. With p = 1 the
    price is that of BIC, as in the score of two columns with two levels.

    >>> round(smallest_seen(400, 5), 2)
    0.15
    """
    return float(np.sqrt(1 - np.exp(-(np.log(n) + 4 * GAMMA * np.log(p)) / n)))


def shares_told(found: SampledEffect) -> str:
    """The three shares, in a sentence."""
    return (
        f"Of {found.n:,} sampled graphs {share(found.p_zero)} say that there is no effect, "
        f"{share(found.p_identified)} identify it, {share(found.p_open)} leave it open."
    )
