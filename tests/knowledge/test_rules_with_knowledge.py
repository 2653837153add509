"""The kernels of R11, R12, K1–K5 and R3 with tails are their naive twins, on any marks at all."""

from __future__ import annotations

import inspect
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_knowledge as twin
from anypag._kernels import rules as kernel
from anypag.graphs.orientation import KnownCauses, Pass, Scratch
from anypag.graphs.projection import CollidersOf
from anypag.graphs.rules import RULES
from anypag.graphs.skeleton import Skeleton
from anypag.threads import do_nothing, in_turns

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


def proposed(rule: Any, marks: Marks, *known: Any) -> naive.Wanted:
    skeleton = Skeleton.of(marks)
    wanted, rows = np.zeros_like(marks), np.empty((2 * len(skeleton.neighbour) + 1, 5), np.int32)
    lists, stand = (marks, skeleton.start, skeleton.neighbour), np.zeros(4 + 3 * len(marks), np.int64)
    if "room" in inspect.signature(rule.py_func).parameters:
        in_turns(rule, *lists, wanted, rows, stand)
        count = int(stand[0])
    else:
        count = rule(*lists, *known, wanted, rows)
    return {(int(i), int(j), int(mark)) for i, j, mark, *_ in rows[:count].tolist()}


def proposed_by(number: int, marks: Marks, known: Flags) -> naive.Wanted:
    run = Pass(np.array(marks), Skeleton.of(marks), KnownCauses(known, known), Scratch(), do_nothing)
    count = RULES[number].propose(run, CollidersOf(marks))
    return {(int(i), int(j), int(mark)) for i, j, mark, *_ in run.rows[:count].tolist()}


def new(marks: Marks, wanted: naive.Wanted) -> naive.Wanted:
    """Kernels do not propose what stands already."""
    return {(i, j, mark) for i, j, mark in wanted if marks[i, j] != mark}


@pytest.mark.parametrize("name", ["rule_3_with_tails", "rule_11", "rule_12"])
@settings(max_examples=150)
@given(case=cases())
def test_rules_that_look_at_marks(name: str, case: tuple[Marks, Flags]) -> None:
    marks, _ = case
    assert proposed(getattr(kernel, name), marks) == new(marks, getattr(twin, name)(marks.tolist()))


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
