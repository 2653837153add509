"""Orientation with knowledge on every class of up to four nodes, and a sample at five, against the definition."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
import pytest
from certify.knowledge import KnowledgeTally, certify_knowledge, marks_given, weak_orders
from certify.members import ClassesOfMags, facts, members

from anypag.graphs.marks import Mark
from anypag.graphs.orientation import orient
from anypag.graphs.projection import marks_of_class
from anypag.graphs.rules import rules_after_0
from anypag.graphs.skeleton import Skeleton
from anypag.knowledge.closure import SeparationsOf, class_with_knowledge, close, known_of, orient_with_knowledge
from anypag.knowledge.facts import Facts

ZHANG = rules_after_0(selection=False)
EVERY = rules_after_0(selection=False, knowledge=True, final=True)


@pytest.fixture(scope="module")
def four() -> ClassesOfMags:
    return members(4)


def misses(found: ClassesOfMags, known: Sequence[Facts], classes: Sequence[int]) -> tuple[int, int]:
    """Cases, and those in which the rules miss a mark; an unsound mark fails."""
    cases = missed = 0
    for c in classes:
        mag = found.of(c)[0]
        skeleton, circles, colliders = Skeleton.of(mag), (mag != Mark.NONE).astype(np.uint8), SeparationsOf(mag)
        for one in known:
            truth = found.truth(c, one)
            if truth is None:
                continue
            result = orient_with_knowledge(circles, colliders, one, skeleton, final=True)
            assert not ((result.marks > Mark.CIRCLE) & (result.marks != truth)).any()
            assert not len(result.conflicts)
            cases += 1
            missed += bool((result.marks != truth).any())
    return cases, missed


def tiers(n: int, *, selection: bool, settled: bool = False) -> list[Facts]:
    """All weak orders; `settled`: who is in the sample was settled before the second tier."""
    pairs = list(permutations(range(n), 2))
    return [
        facts(
            n,
            not_causes=[(a, b) for a, b in pairs if tier[a] > tier[b]],
            not_selecting=[a for a in range(n) if settled and tier[a]],
            selection=selection,
        )
        for tier in weak_orders(n)
    ]


@pytest.mark.parametrize(
    ("selection", "settled", "cases"),
    [
        pytest.param(False, False, 12896, marks=pytest.mark.slow),
        pytest.param(True, False, 16965, marks=pytest.mark.slow),
        (True, True, 12899),
    ],
)
def test_all_tiers_on_four_nodes_are_found_by_the_rules(
    four: ClassesOfMags, selection: bool, settled: bool, cases: int
) -> None:
    known = tiers(4, selection=selection, settled=settled)
    assert misses(four, known, range(four.n_classes)) == (cases, 0)


def test_one_mark_on_four_nodes(four: ClassesOfMags) -> None:
    """48 misses without R11 and R12, none with."""
    classes = list(range(four.n_classes))
    alone, every = (marks_given(four, classes, "", rules) for rules in (ZHANG, EVERY))
    assert (alone.cases, alone.unsound, alone.missed_by_rules) == (1872, 0, 48)
    assert (every.cases, every.unsound, every.missed_by_rules) == (1872, 0, 0)


def test_two_marks_on_four_nodes(four: ClassesOfMags) -> None:
    """All pairs of marks of one member of each class."""
    cases, missed = {"zhang": 0, "every": 0}, {"zhang": 0, "every": 0}
    nothing = known_of(facts(4, selection=False))
    for c in range(four.n_classes):
        left = four.of(c)[~four.is_undirected[four.first[c] : four.first[c + 1]].any(axis=1)]
        if not len(left):
            continue
        mag = left[len(left) // 2]
        open_ends = np.argwhere(left.min(axis=0) != left.max(axis=0)).tolist()
        for ends in combinations(open_ends, 2):
            start = (mag != Mark.NONE).astype(np.uint8)
            for i, j in ends:
                start[i, j] = mag[i, j]
                if mag[i, j] == Mark.TAIL:
                    start[j, i] = Mark.ARROW
            having = left[(left[:, *np.array(ends).T] == mag[*np.array(ends).T]).all(axis=1)]
            low, high = having.min(axis=0), having.max(axis=0)
            truth = np.where(low == high, low, Mark.CIRCLE)
            for name, rules in (("zhang", ZHANG), ("every", EVERY)):
                got = orient(start, SeparationsOf(mag), rules, None, nothing).marks
                assert not ((got > Mark.CIRCLE) & (got != truth)).any()
                cases[name] += 1
                missed[name] += bool((got != truth).any())
    assert (cases["every"], missed["zhang"], missed["every"]) == TWO_MARKS


TWO_MARKS = (1938, 68, 0)


@pytest.mark.parametrize(
    ("sign", "selection", "cases", "missed"),
    [("~>", False, 1404, 348), ("!~>", False, 2856, 348), ("~>", True, 2064, 888), ("!~>", True, 2952, 60)],
)
def test_what_rules_alone_miss_is_known(
    four: ClassesOfMags, sign: str, selection: bool, cases: int, missed: int
) -> None:
    """Mostly statements on pairs that are not joined, which act through their consequences."""
    pairs = permutations(range(4), 2)
    known = [
        facts(4, causes=[p], selection=selection) if sign == "~>" else facts(4, not_causes=[p], selection=selection)
        for p in pairs
    ]
    assert misses(four, known, range(four.n_classes)) == (cases, missed)


def is_right(tally: KnowledgeTally) -> bool:
    return tally.is_right and (tally.missed_by_rules == 0 or "tiers" not in tally.kind)


def test_the_exact_closure_is_the_definition_on_three_nodes() -> None:
    tallies = certify_knowledge(3)
    assert all(map(is_right, tallies)), tallies
    assert sum(tally.cases for tally in tallies) > 1000


@pytest.mark.slow
def test_the_exact_closure_is_the_definition_on_some_classes_of_four() -> None:
    tallies = certify_knowledge(4, 6, seed=1)
    assert all(map(is_right, tallies)), tallies
    assert sum(tally.cases for tally in tallies) > 800


def test_sizes_that_cannot_be_enumerated_are_refused() -> None:
    with pytest.raises(ValueError, match="2 to 5 nodes; got 6"):
        certify_knowledge(6)


@pytest.mark.slow
def test_the_work_can_be_shared() -> None:
    assert certify_knowledge(3, workers=2) == certify_knowledge(3)


@pytest.mark.slow
def test_the_exact_closure_is_the_definition_on_four_nodes() -> None:
    tallies = certify_knowledge(4, workers=2)
    assert all(map(is_right, tallies)), tallies


@pytest.mark.slow
def test_five_thousand_classes_of_five_nodes() -> None:
    tallies = certify_knowledge(5, 5000, workers=2)
    assert all(tally.is_right for tally in tallies), tallies
    assert {tally.kind: (tally.cases, tally.missed_by_rules) for tally in tallies} == ON_FIVE


ON_FIVE = {
    "tiers, no selection": (5809, 0),
    "a ~> b, no selection": (5482, 1277),
    "a !~> b, no selection": (13458, 1332),
    "a ~> b and c !~> d, no selection": (4656, 1263),
    "tiers, selection possible": (9429, 1),
    "a ~> b, selection possible": (7325, 2969),
    "a !~> b, selection possible": (14134, 487),
    "a ~> b and c !~> d, selection possible": (6924, 2909),
    "tiers, selection before the last": (5809, 0),
    "a !~> b, a !~> selection": (13492, 1342),
    "one mark, no selection, R1–R10 alone": (37108, 1517),
    "one mark, no selection": (37108, 25),
}
"""Cases, and those in which the rules alone miss a mark."""


def test_a_search_for_members_that_is_cut_short_says_so(four: ClassesOfMags) -> None:
    known = facts(4, causes=[(0, 3)], selection=False)
    unfinished = 0
    for c in range(0, four.n_classes, 5):
        pag = four.truth(c, facts(4))
        assert pag is not None
        for trials in (0, 1, 2, 3):
            closure, truth = close(pag, four.of(c)[0], known, trials), four.truth(c, known)
            if closure.agrees is not None:
                assert closure.agrees == (truth is not None)
            if truth is None:
                continue
            assert not ((closure.marks > Mark.CIRCLE) & (closure.marks != truth)).any()
            assert (closure.is_open | (closure.marks == truth)).all()
            unfinished += not closure.finished
    assert unfinished > 50


def test_the_smallest_failure_of_the_rules_is_settled_by_the_closure() -> None:
    """Five nodes, "arrowhead at 1 on 1–3": R1–R12 give 1 --> 4; that 2 --> 4 follows too takes the definition."""
    from anypag import PAG

    names = list("01234")
    pag = PAG.from_string("1 o-> 0; 2 o-> 0; 0 o-o 3; 0 o-o 4; 1 o-> 3; 1 o-> 4; 2 o-> 3; 2 o-> 4", names)
    known = facts(5, not_causes=[(1, 3)], selection=False)
    mag = pag.to_mag().marks
    by_rules = orient_with_knowledge(pag.marks, SeparationsOf(mag), known, Skeleton.of(mag), final=True).marks
    assert by_rules[4, 2] == Mark.CIRCLE
    closure = close(pag.marks, mag, known)
    assert closure.finished
    assert (closure.marks[4, 2], closure.marks[2, 4]) == (Mark.TAIL, Mark.ARROW)


@pytest.mark.parametrize("selection", [True, False])
def test_with_the_marks_of_the_pag_the_rules_find_the_same(four: ClassesOfMags, selection: bool) -> None:
    for c in range(0, four.n_classes, 11):
        mag = four.of(c)[0]
        for one in tiers(4, selection=selection)[::3]:
            if four.truth(c, one) is not None:
                found = class_with_knowledge(mag, one, marks_of_class(mag))
                np.testing.assert_array_equal(found, class_with_knowledge(mag, one))
