"""The orientation rules, each with how it proposes marks and the sentence that says why it set one.

`RULES` is all that the rest of the package knows of them: orientation runs them, results and checkpoints accept their
numbers, explanations use their sentences. A new rule is a kernel in `anypag._kernels.rules` and one entry at the end of
this file. Importing this does not load the compiler: a sentence needs none.

In every sentence `at` is the variable the mark stands at and `other` the one at the far end of the edge. What `because`
holds differs from rule to rule; `anypag._kernels.rules` states each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from anypag.graphs.marks import Mark
from anypag.graphs.reasons import MarkReason, Separation, listed

if TYPE_CHECKING:
    from anypag.graphs.orientation import Colliders, Pass

Sepsets = Mapping[tuple[str, str], Separation]


class Rule(NamedTuple):
    """An orientation rule."""

    number: int
    propose: Callable[[Pass, Colliders], int]
    """Writes the marks it wants into `wanted` and `rows` of the pass (see `_kernels.rules`); gives their number."""
    needs_selection: bool
    """Applies only where the sample may have been selected by something the variables affect."""
    words: Callable[[MarkReason, Sepsets], str]
    """Why it set a mark, as a sentence."""


def rules_after_0(*, selection: bool) -> tuple[Rule, ...]:
    """The rules that are repeated after R0 until none sets a mark any more, in the order they are tried."""
    return tuple(rule for rule in RULES.values() if rule.number and (selection or not rule.needs_selection))


def why(reason: MarkReason, sepsets: Sepsets) -> str:
    """The sentence for one mark.

    >>> sepsets = {("arson", "storm"): Separation((), 0.6, 0)}
    >>> why(MarkReason("fire", "arson", Mark.ARROW, 0, ("arson", "storm")), sepsets)
    'R0: arson and storm are independent, yet both are joined to fire; so fire is a cause of neither.'
    """
    return f"R{reason.rule}: {RULES[reason.rule].words(reason, sepsets)}"


def _colliders(graph: Pass, colliders: Colliders) -> int:
    return colliders.propose(graph.marks, graph.skeleton, graph.wanted, graph.rows)


def _discriminating_paths(graph: Pass, colliders: Colliders) -> int:
    from anypag._kernels import rules as kernel

    edges = graph.skeleton
    paths, is_in_set = colliders.decide(kernel.discriminating_paths(graph.marks, edges.start, edges.neighbour))
    return int(kernel.rule_4(graph.marks, paths, is_in_set, graph.wanted, graph.rows))


def _pattern(kernel_name: str) -> Callable[[Pass, Colliders], int]:
    """A rule that needs the marks only, by the name of its function in `anypag._kernels.rules`."""

    def propose(graph: Pass, colliders: Colliders) -> int:
        from anypag._kernels import rules as kernel

        edges = graph.skeleton
        rule = getattr(kernel, kernel_name)
        return int(rule(graph.marks, edges.start, edges.neighbour, graph.wanted, graph.rows))

    return propose


def _separated(a: str, b: str, sepsets: Sepsets) -> str:
    """`a and b are independent given ...`, or that they have no edge where no separating set is known."""
    found = sepsets.get((a, b))
    if found is None:
        return f"{a} and {b} have no edge"
    return f"{a} and {b} are independent" + (f" given {listed(found.given)}" if found.given else "")


def _rule_0(reason: MarkReason, sepsets: Sepsets) -> str:
    a, c = reason.because
    found = sepsets.get((a, c))
    without = "yet both" if found is None or not found.given else f"not {reason.at}, yet both"
    return f"{_separated(a, c, sepsets)}, {without} are joined to {reason.at}; so {reason.at} is a cause of neither."


def _rule_1(reason: MarkReason, sepsets: Sepsets) -> str:
    (a,) = reason.because
    b, c = (reason.at, reason.other) if reason.mark == Mark.TAIL else (reason.other, reason.at)
    found = sepsets.get((a, c))
    role = (
        "which is needed for that" if found is not None and b in found.given else "which joins them without colliding"
    )
    end = f"so {b} must be a cause of {c}" + ("." if reason.mark == Mark.TAIL else f", and {c} is none of {b}.")
    return f"{_separated(a, c, sepsets)}, and {b}, {role}, is not a cause of {a}; {end}"


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
    path = f"a discriminating path runs from {d} to {c} through {b}, and {_separated(d, c, sepsets)}"
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


RULES: dict[int, Rule] = {
    rule.number: rule
    for rule in (
        Rule(0, _colliders, False, _rule_0),
        Rule(1, _pattern("rule_1"), False, _rule_1),
        Rule(2, _pattern("rule_2"), False, _rule_2),
        Rule(3, _pattern("rule_3"), False, _rule_3),
        Rule(4, _discriminating_paths, False, _rule_4),
        Rule(5, _pattern("rule_5"), True, _rule_5),
        Rule(6, _pattern("rule_6"), True, _rule_6),
        Rule(7, _pattern("rule_7"), True, _rule_7),
        Rule(8, _pattern("rule_8"), False, _rule_8),
        Rule(9, _pattern("rule_9"), False, _rule_9),
        Rule(10, _pattern("rule_10"), False, _rule_10),
    )
}
"""All rules by number, in the order they are tried. R0 runs once, before the others."""
