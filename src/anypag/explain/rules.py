"""Why a rule sets a mark: one sentence for each of R0–R10, with the names of the variables it looked at.

In every sentence `at` is the variable the mark stands at and `other` the one at the far end of the edge. What `because`
holds differs from rule to rule; `anypag._kernels.rules` states each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anypag.explain.words import listed
from anypag.graphs.marks import Mark
from anypag.run.result import MarkReason, Separation

Sepsets = Mapping[tuple[str, str], Separation]


def why(reason: MarkReason, sepsets: Sepsets) -> str:
    """The sentence for one mark.

    >>> from anypag.graphs.marks import Mark
    >>> from anypag.run.result import MarkReason, Separation
    >>> sepsets = {("arson", "storm"): Separation((), 0.6, 0)}
    >>> why(MarkReason("fire", "arson", Mark.ARROW, 0, ("arson", "storm")), sepsets)
    'R0: arson and storm are independent, yet both are joined to fire; so fire is a cause of neither.'
    """
    return f"R{reason.rule}: {_SENTENCES[reason.rule](reason, sepsets)}"


def separated(a: str, b: str, sepsets: Sepsets) -> str:
    """`a and b are independent given ...`, or that they have no edge where no separating set is known."""
    found = sepsets.get((a, b))
    if found is None:
        return f"{a} and {b} have no edge"
    return f"{a} and {b} are independent" + (f" given {listed(found.given)}" if found.given else "")


def _rule_0(reason: MarkReason, sepsets: Sepsets) -> str:
    a, c = reason.because
    found = sepsets.get((a, c))
    without = "yet both" if found is None or not found.given else f"not {reason.at}, yet both"
    return f"{separated(a, c, sepsets)}, {without} are joined to {reason.at}; so {reason.at} is a cause of neither."


def _rule_1(reason: MarkReason, sepsets: Sepsets) -> str:
    (a,) = reason.because
    b, c = (reason.at, reason.other) if reason.mark == Mark.TAIL else (reason.other, reason.at)
    found = sepsets.get((a, c))
    role = (
        "which is needed for that" if found is not None and b in found.given else "which joins them without colliding"
    )
    end = f"so {b} must be a cause of {c}" + ("." if reason.mark == Mark.TAIL else f", and {c} is none of {b}.")
    return f"{separated(a, c, sepsets)}, and {b}, {role}, is not a cause of {a}; {end}"


def _rule_2(reason: MarkReason, sepsets: Sepsets) -> str:
    (b,) = reason.because
    a, c = reason.other, reason.at
    return (
        f"{a} points to {b} and {b} points to {c}, one of them as a cause; were {c} a cause of {a}, "
        "one of these two arrows would be wrong."
    )


def _rule_3(reason: MarkReason, sepsets: Sepsets) -> str:
    a, c = reason.because
    d, b = reason.other, reason.at
    return (
        f"{d}, which joins {a} and {c} without colliding, is a cause of {a}, of {c} or of being in the sample; "
        f"{b} is a cause of none of these, so it is none of {d}."
    )


def _rule_4(reason: MarkReason, sepsets: Sepsets) -> str:
    d, c = reason.because
    b = reason.other if reason.at == c else reason.at
    found = sepsets.get((d, c))
    path = f"a discriminating path runs from {d} to {c} through {b}, and {separated(d, c, sepsets)}"
    if found is not None and b in found.given:
        end = "" if reason.mark == Mark.TAIL else f", and {c} is none of {b}"
        return f"{path}: {b} is needed, so it is a cause of {c}{end}."
    if reason.at == c:
        return f"{path}: {b} is not needed, so neither of {b} and {c} is a cause of the other."
    return f"{path}: {b} is not needed, so it is not a cause of {reason.other}."


def _rule_5(reason: MarkReason, sepsets: Sepsets) -> str:
    return (
        f"{reason.at} and {reason.other} lie on a ring through {listed(reason.because)} in which only neighbours are "
        "joined, without any collider; only selection of the sample makes such a ring."
    )


def _rule_6(reason: MarkReason, sepsets: Sepsets) -> str:
    (a,) = reason.because
    return f"the edge {a} --- {reason.at} says that {reason.at} affects being in the sample; so all its ends are tails."


def _rule_7(reason: MarkReason, sepsets: Sepsets) -> str:
    (a,) = reason.because
    b, c = reason.at, reason.other
    return (
        f"{a} is a cause of {b} or of being in the sample, and {b} is a cause of {a}, of {c} or of being in the "
        f"sample; with an arrowhead at {b} both could not be."
    )


def _rule_8(reason: MarkReason, sepsets: Sepsets) -> str:
    (b,) = reason.because
    return f"{reason.at} has a tail towards {b}, and {b} is a cause of {reason.other}; a cause of a cause is a cause."


def _rule_9(reason: MarkReason, sepsets: Sepsets) -> str:
    (b,) = reason.because
    a, c = reason.at, reason.other
    return (
        f"a path from {a} through {b} may lead to {c}, and {b} and {c} have no edge; if the end at {a} were an "
        f"arrowhead, every step of that path would have to lead from {a} to {c}, which an arrowhead excludes."
    )


def _rule_10(reason: MarkReason, sepsets: Sepsets) -> str:
    m, w = reason.because
    a, c = reason.at, reason.other
    return (
        f"paths from {a} through {m} and through {w}, which have no edge, may lead to two causes of {c}; "
        f"at least one of them must, so the end at {a} is a tail."
    )


_SENTENCES: dict[int, Callable[[MarkReason, Sepsets], str]] = {
    0: _rule_0,
    1: _rule_1,
    2: _rule_2,
    3: _rule_3,
    4: _rule_4,
    5: _rule_5,
    6: _rule_6,
    7: _rule_7,
    8: _rule_8,
    9: _rule_9,
    10: _rule_10,
}
