"""The kernels of R11, R12, K1–K5 and R3 with tails are their naive twins, on any marks at all."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_knowledge as twin
from anypag.graphs.marks import Mark, MarkReason
from anypag.graphs.orientation import KnownCauses, Pass, Scratch, orient
from anypag.graphs.pag import PAG
from anypag.graphs.projection import CollidersOf
from anypag.graphs.rules import RULES, why
from anypag.graphs.skeleton import Skeleton
from anypag.threads import do_nothing

Marks = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
KINDS = ((0, 0), *((a, b) for a in (1, 2, 3) for b in (1, 2, 3)))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Marks, Flags]:
    n = draw(st.integers(2, 5))
    marks, flags = np.zeros((n, n), np.uint8), np.zeros((n, n), np.bool_)
    for i, j in combinations(range(n), 2):
        marks[i, j], marks[j, i] = draw(st.sampled_from(KINDS))
        flags[i, j], flags[j, i] = draw(st.booleans()), draw(st.booleans())
    return marks, flags


def proposed_by(number: int, marks: Marks, known: Flags) -> naive.Wanted:
    run = Pass(np.array(marks), Skeleton.of(marks), KnownCauses(known, known), Scratch(), do_nothing)
    count = RULES[number].propose(run, CollidersOf(marks))
    return {(int(i), int(j), int(mark)) for i, j, mark, *_ in run.rows[:count].tolist()}


def new(marks: Marks, wanted: naive.Wanted) -> naive.Wanted:
    """Kernels do not propose what stands already."""
    return {(i, j, mark) for i, j, mark in wanted if marks[i, j] != mark}


@pytest.mark.parametrize(("name", "number"), [("rule_3_with_tails", 27), ("rule_11", 11), ("rule_12", 12)])
@settings(max_examples=150)
@given(case=cases())
def test_rules_that_look_at_marks(name: str, number: int, case: tuple[Marks, Flags]) -> None:
    marks, known = case
    assert proposed_by(number, marks, known) == new(marks, getattr(twin, name)(marks.tolist()))


@pytest.mark.parametrize(
    ("name", "number"), [("knowledge_1", 21), ("knowledge_2", 22), ("knowledge_3", 23), ("not_confounded", 25)]
)
@settings(max_examples=150)
@given(case=cases())
def test_rules_that_look_things_up(name: str, number: int, case: tuple[Marks, Flags]) -> None:
    marks, known = case
    assert proposed_by(number, marks, known) == new(marks, getattr(twin, name)(marks.tolist(), known.tolist()))


@settings(max_examples=150)
@given(case=cases())
def test_no_undirected_edge_meets_an_arrowhead(case: tuple[Marks, Flags]) -> None:
    marks, known = case
    assert proposed_by(24, marks, known) == new(marks, twin.knowledge_4(marks.tolist()))


@pytest.mark.parametrize(("edge", "tail"), [("V --o B", "V"), ("V o-- B", "B")])
def test_the_reason_of_k4_names_the_end_with_the_tail(edge: str, tail: str) -> None:
    pag = PAG.from_string(f"A --> V; {edge}")
    nothing = np.zeros((3, 3), np.bool_)
    (row,) = orient(pag.marks, CollidersOf(pag.marks), [RULES[24]], knowledge=KnownCauses(nothing, nothing)).log
    rule, i, j, mark, *because = row.tolist()
    reason = MarkReason(pag.names[j], pag.names[i], Mark(mark), rule, tuple(pag.names[k] for k in because))
    assert why(reason, {}) == (
        "K4: the edge between A and V has an arrowhead at V, so V is no cause of being in the sample, and no edge of V "
        f"has two tails; the edge between {reason.at} and {reason.other} has a tail at {tail}."
    )
