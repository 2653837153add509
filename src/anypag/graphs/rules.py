"""The orientation rules: each has a kernel that proposes marks, and a sentence that explains a mark.

The rest of the package only uses `RULES`. Orientation runs the rules, results and checkpoints store their numbers, and
explanations use their sentences. A new rule needs an entry at the end of this file. Unless it is a pattern of three
nodes (`Triple`), it also needs a kernel in `anypag._kernels.rules`. Importing this file does not load the compiler.

In every sentence `at` is the variable at the mark and `other` is the variable at the other end. The meaning of
`because` depends on the rule; see `anypag._kernels.rules`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anypag._kernels import rules as kernel
from anypag.arrays import Counts
from anypag.graphs.marks import Mark, MarkReason, SeparationsByPair, with_and
from anypag.threads import in_turns

if TYPE_CHECKING:
    from anypag.graphs.orientation import Colliders, Pass, Paths

Explain = Callable[[MarkReason, SeparationsByPair], str]
KNOWN = 20  # the "rule" of a mark that the user's knowledge gives
CLOSURE = 26  # the "rule" of a mark shared by all graphs that agree with the data and the user's knowledge
_MARKS = {"o": Mark.CIRCLE, "<": Mark.ARROW, ">": Mark.ARROW, "-": Mark.TAIL}
_BITS = {"*": 0b1110, **{sign: 1 << mark for sign, mark in _MARKS.items()}}
_PLACES = {"V": 0, "A": 1, "B": 2, "": 3}
_NOTHING_KNOWN = np.zeros((0, 0), np.bool_)


class Rule(NamedTuple):
    """An orientation rule."""

    number: int
    propose: Callable[[Pass, Colliders], int]
    """Writes proposed marks into `wanted` and `rows` of the `Pass` (see `_kernels.rules`). Returns their number."""
    needs_selection: bool  # applies only if the variables may affect who is in the sample
    words: Explain  # makes the sentence that explains a mark
    needs_knowledge: bool = False  # useful only with knowledge
    needs_all_edges: bool = False  # valid only at the end of a search, when no superfluous edge is left
    needs_edges: tuple[tuple[str, int], ...] = ()
    """The number of edges of each kind that the pattern needs. With fewer, the rule is neither compiled nor run."""

    @property
    def name(self) -> str:
        """R0–R12; K0–K7 for the rules with numbers from `KNOWN` on, which rest on knowledge."""
        return f"R{self.number}" if self.number < KNOWN else f"K{self.number - KNOWN}"


def rules_after_0(*, selection: bool, knowledge: bool = False, final: bool = False) -> tuple[Rule, ...]:
    """The rules to repeat after R0 until none sets a mark, in order. `final`: no superfluous edge is left."""
    return tuple(
        rule
        for rule in RULES.values()
        if rule.number not in {0, KNOWN, CLOSURE}
        and (selection or not rule.needs_selection)
        and (knowledge or not rule.needs_knowledge)
        and (final or not rule.needs_all_edges)
    )


def why(reason: MarkReason, sepsets: SeparationsByPair) -> str:
    """The sentence for one mark."""
    rule = RULES[reason.rule]
    return f"{rule.name}: {rule.words(reason, sepsets)}"


def _colliders(graph: Pass, colliders: Colliders) -> int:
    return colliders.propose(graph.marks, graph.skeleton, graph.wanted, graph.rows)


def _discriminating_paths(graph: Pass, colliders: Colliders) -> int:
    found, stand = discriminating_paths(graph), np.zeros(2, np.int64)
    if len(found):
        given = *graph.lists, *colliders.decide(found), graph.wanted, graph.rows
        in_turns(kernel.rule_4, *given, stand, look=graph.look)
    return int(stand[0])


def discriminating_paths(graph: Pass) -> Paths:
    """The shortest discriminating paths of the current marks (`_kernels.rules.discriminating_paths`)."""
    paths, stand = np.full((16, 8), -1, np.int32), np.zeros(2, np.int64)

    def find_some(room: Counts) -> bool:
        nonlocal paths
        paths = kernel.discriminating_paths(*graph.lists, paths, stand, room)
        return int(stand[1]) == len(graph.skeleton.neighbour)

    in_turns(find_some, look=graph.look)
    return paths[: stand[0]]


def _pattern(kernel_name: str, known: str | None = None) -> Callable[[Pass, Colliders], int]:
    """The `propose` of a rule whose kernel reads marks and, unless `known` is None, this field of `KnownCauses`."""

    def propose(graph: Pass, colliders: Colliders) -> int:
        more = () if known is None else (getattr(graph.known, known),)
        return int(getattr(kernel, kernel_name)(*graph.lists, *more, graph.wanted, graph.rows))

    return propose


class Triple(NamedTuple):
    """The marks that a rule reads at a node V and two of its neighbours, A and B, and the marks that then follow."""

    first: str  # the edge A–V: `*->` has an arrowhead at V and any mark at A
    second: str  # the edge V–B
    across: str  # the edge A–B; "" for none, "any" for any or none
    then: str  # `V --> B`: the marks that follow; a star leaves a mark as it is
    because: str = ""  # the nodes that the reason names; by default the node that `then` does not name
    known: str = ""  # "A" or "B": `_triple`'s table `known` must be True at [V, this node]


def _triple(*patterns: Triple, known: str | None = None) -> Callable[[Pass, Colliders], int]:
    """The `propose` of a rule about three nodes that fit one of the patterns; `known` is a field of `KnownCauses`."""
    seen, wanted = np.zeros((len(patterns), 7), np.int64), np.zeros((len(patterns), 2, 5), np.int64)
    for k, (first, second, across, then, because, knows) in enumerate(patterns):
        beyond = {"": (1, 1), "any": (15, 15)}.get(across) or (_BITS[across[2]], _BITS[across[0]])
        legs = _BITS[first[2]], _BITS[first[0]], _BITS[second[0]], _BITS[second[2]]
        seen[k] = *legs, *beyond, _PLACES[knows] % 3
        left, sign, right = then.split()
        reasons = because or "VAB".replace(left, "").replace(right, "")
        for row, (at, other, mark) in enumerate(((left, right, sign[0]), (right, left, sign[2]))):
            if mark != "*":
                named = _PLACES[reasons[:1]], _PLACES[reasons[1:]]
                wanted[k, row] = _PLACES[other], _PLACES[at], _MARKS[mark], *named

    def propose(graph: Pass, colliders: Colliders) -> int:
        table = _NOTHING_KNOWN if known is None else getattr(graph.known, known)
        return int(kernel.triples(*graph.lists, table, seen, wanted, graph.wanted, graph.rows))

    return propose


def _long_pattern(kernel_name: str, *more: int) -> Callable[[Pass, Colliders], int]:
    """The `propose` of a rule whose kernel reads marks and `more` (numbers), and runs in short calls (turns)."""

    def propose(graph: Pass, colliders: Colliders) -> int:
        rule, stand = getattr(kernel, kernel_name), np.zeros(4 + 3 * len(graph.marks), np.int64)
        in_turns(rule, *graph.lists, *more, graph.wanted, graph.rows, stand, look=graph.look)
        return int(stand[0])

    return propose


def _nothing(graph: Pass, colliders: Colliders) -> int:
    return 0


def _saying(sentence: str) -> Explain:
    """A function that fills in the fields of a sentence. `{at}` and `{other}` are the ends of the edge. `{because}`
    lists all nodes that the reason names. A sentence without `{because}` has one field for each of these, in order.
    """
    because = list(dict.fromkeys(re.findall(r"{(?!at}|other}|because})(\w+)}", sentence)))

    def words(reason: MarkReason, sepsets: SeparationsByPair) -> str:
        named = dict(zip(because, reason.because, strict="{because}" not in sentence))
        return sentence.format(at=reason.at, other=reason.other, because=with_and(reason.because), **named)

    return words


def separated(a: str, b: str, sepsets: SeparationsByPair) -> str:
    """`a and b are independent given ...`; or `a and b have no edge`, if no separating set is known."""
    found = sepsets.get((a, b))
    if found is None:
        return f"{a} and {b} have no edge"
    return f"{a} and {b} are independent" + (f" given {with_and(found.given)}" if found.given else "")


def _rule_0(reason: MarkReason, sepsets: SeparationsByPair) -> str:
    a, c = reason.because
    found = sepsets.get((a, c))
    without = "yet both" if found is None or not found.given else f"a set without {reason.at}, yet both"
    return f"{separated(a, c, sepsets)}, {without} have an edge to {reason.at}; so {reason.at} is a cause of neither."


def _rule_1(reason: MarkReason, sepsets: SeparationsByPair) -> str:
    (a,) = reason.because
    b, c = (reason.at, reason.other) if reason.mark == Mark.TAIL else (reason.other, reason.at)
    found = sepsets.get((a, c))
    role = "which is needed for that" if found is not None and b in found.given else "a non-collider between them"
    end = f"so {b} must be a cause of {c}" + ("." if reason.mark == Mark.TAIL else f", and {c} not of {b}.")
    return f"{separated(a, c, sepsets)}, and {b}, {role}, is not a cause of {a}; {end}"


def _rule_4(reason: MarkReason, sepsets: SeparationsByPair) -> str:
    d, c = reason.because
    b = reason.other if reason.at == c else reason.at
    found = sepsets.get((d, c))
    path = f"a discriminating path runs from {d} to {c} through {b}, and {separated(d, c, sepsets)}"
    if found is not None and b in found.given:
        end = "" if reason.mark == Mark.TAIL else f", and {c} not of {b}"
        return f"{path}: {b} is needed, so it is a cause of {c}{end}."
    if reason.at == c:
        return f"{path}: {b} is not needed, so neither of {b} and {c} is a cause of the other."
    return f"{path}: {b} is not needed, so it is not a cause of {reason.other}."


def _rule_11(reason: MarkReason, sepsets: SeparationsByPair) -> str:
    b, c = reason.because
    a, d = (reason.at, reason.other) if reason.mark == Mark.TAIL else (reason.other, reason.at)
    end = "a tail" if reason.mark == Mark.TAIL else f"a tail at {a} and an arrowhead"
    return (
        f"the edge between {b} and {c} has an arrowhead at {c}, and {c} is a cause of {d}. {b} and {d} have no edge; "
        f"{a} has edges to all three. {b} and {d} can be separated only if the edge between {a} and {d} has {end} at "
        f"{reason.at}."
    )


def _known(reason: MarkReason, sepsets: SeparationsByPair) -> str:
    said = f"the given knowledge says or implies that {reason.at} is a cause"
    if reason.mark == Mark.TAIL:
        return f"{said} of {reason.other}."
    return f"{said} neither of {reason.other} nor of being in the sample."


_SENTENCES = {
    "R2": "the edge between {other} and {b} has an arrowhead at {b}, that between {b} and {at} has one at {at}, and "
    "one of the two edges has a tail at its other end; if {at} were a cause of {other}, an arrowhead would be wrong.",
    "R3": "{other}, a non-collider between {a} and {c}, is a cause of {a}, of {c} or of being in the sample; {at} is a "
    "cause of none of these, so it is no cause of {other}.",
    "R5": "{at} and {other} lie on a ring through {because} in which only neighbours are joined, without any collider; "
    "only selection of the sample makes such a ring.",
    "R6": "the edge {a} --- {at} says that {at} affects being in the sample, so every mark at {at} is a tail.",
    "R7": "{a} is a cause of {at} or of being in the sample, and {at} is a cause of {a}, of {other} or of being in the "
    "sample; an arrowhead at {at} would contradict this.",
    "R8": "{at} has a tail towards {b}, and {b} is a cause of {other}; a cause of a cause is a cause.",
    "R9": "a path from {at} through {b} may lead to {other}, and {b} and {other} have no edge. If the edge between "
    "{at} and {other} had an arrowhead at {at}, all edges of the path would be arrows. So {at} would be a cause of "
    "{other}; but the arrowhead would say that it is not.",
    "R10": "{m} and {w} have no edge, and paths from {at} through them may lead to two causes of {other}. At least one "
    "of the paths must be directed, so the edge between {at} and {other} has a tail at {at}.",
    "R12": "a path begins with the edge between {at} and {other} and may lead to {d}. If {at} were a cause of {other}, "
    "all edges of the path would be arrows, so {at} would be a cause of {d}; but arrows lead from {d} back to {at}.",
    "K1": "{at} is known to be no cause of {other}, and its arrowhead from {c} says that it is no cause of being in "
    "the sample either.",
    "K2": "{at} is no collider between {other} and {c}, so it is a cause of {other}, of {c} or of being in the sample; "
    "it is known not to cause {c}.",
    "K3": "{at} has a tail towards {b}, of which it is known to be no cause; so who is in the sample depends on {at}, "
    "and every mark at {at} is a tail.",
    "K4": "the edge between {c} and {a} has an arrowhead at {a}, so {a} is no cause of being in the sample, and no "
    "edge of {a} has two tails; the edge between {at} and {other} has a tail at {other}.",
    "K5": "{at} and {other} are known to have no hidden common cause, and {other} is no cause of {at}; so {at} causes "
    "{other}.",
    "K6": "every graph that fits the data and the given knowledge has this mark; all such graphs were checked.",
}
_SAID = {name: _saying(sentence) for name, sentence in _SENTENCES.items()}

_against_circle = _triple(Triple("o-*", "-->", "<-*", "A <-* V"), Triple("o-*", "*->", "<--", "A <-* V"))
_way_on = _triple(Triple("<-o", "-->", "<--", "A *-- V"), Triple("<-o", "--o", "<--", "A *-- V"))
_known_arrow = _triple(Triple("*->", "o-*", "any", "V <-* B", known="B"), known="not_causes")
_known_tail = _triple(*(Triple("*-o", on, "", "A *-- V", known="B") for on in ("o-*", "--*")), known="not_causes")
_known_selecting = _triple(Triple("*--", "o-*", "any", "V --* B", known="A"), known="not_causes")
_not_confounded = _pattern("not_confounded", "unconfounded")
_no_two_tails = _triple(Triple("*->", "--o", "any", "V *-> B", "AV"), Triple("*->", "o--", "any", "V <-* B", "AV"))


RULES: dict[int, Rule] = {
    rule.number: rule
    for rule in (
        Rule(0, _colliders, False, _rule_0),
        Rule(1, _triple(Triple("*->", "o-*", "", "V --> B")), False, _rule_1),
        Rule(2, _against_circle, False, _SAID["R2"], needs_edges=(("-->", 1),)),
        Rule(3, _long_pattern("rule_3", int(Mark.CIRCLE)), False, _SAID["R3"]),
        Rule(4, _discriminating_paths, False, _rule_4, needs_edges=(("-->", 1),)),
        Rule(5, _long_pattern("rule_5"), True, _SAID["R5"], needs_edges=(("o-o", 4),)),
        Rule(6, _triple(Triple("---", "o-*", "any", "V --* B")), True, _SAID["R6"], needs_edges=(("---", 1),)),
        Rule(7, _triple(Triple("--o", "o-*", "", "V --* B")), True, _SAID["R7"], needs_edges=(("--o", 1),)),
        Rule(8, _way_on, False, _SAID["R8"], needs_edges=(("o->", 1), ("-->", 1))),
        Rule(9, _long_pattern("rule_9"), False, _SAID["R9"], needs_edges=(("o->", 1),)),
        Rule(10, _long_pattern("rule_10"), False, _SAID["R10"], needs_edges=(("o->", 1), ("-->", 2))),
        Rule(11, _long_pattern("rule_11"), False, _rule_11, needs_knowledge=True, needs_all_edges=True),
        Rule(12, _long_pattern("rule_12"), False, _SAID["R12"], needs_knowledge=True),
        Rule(KNOWN, _nothing, False, _known, needs_knowledge=True),
        Rule(KNOWN + 1, _known_arrow, True, _SAID["K1"], needs_knowledge=True),
        Rule(KNOWN + 2, _known_tail, True, _SAID["K2"], needs_knowledge=True),
        Rule(KNOWN + 3, _known_selecting, True, _SAID["K3"], needs_knowledge=True),
        Rule(KNOWN + 4, _no_two_tails, True, _SAID["K4"], needs_knowledge=True),
        Rule(KNOWN + 5, _not_confounded, False, _SAID["K5"], needs_knowledge=True, needs_all_edges=True),
        Rule(KNOWN + 7, _long_pattern("rule_3", int(Mark.TAIL)), False, _SAID["R3"], needs_knowledge=True),
        Rule(CLOSURE, _nothing, False, _SAID["K6"], needs_knowledge=True, needs_all_edges=True),
    )
}
"""All rules by number, in the order of their use. R0 runs once, first. K0 and K6 explain marks that no pattern sets."""
