"""Validity: valid are exactly the PAGs of MAGs, a member is named, and a refusal says why."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given

import naive
from anypag import MAG, PAG
from anypag.errors import GraphError
from anypag.graphs.marks import Mark
from anypag.graphs.validity import Validity
from strategies import mags, pag_like, seeded_mags, seeded_pag_like

MARKS = (naive.CIRCLE, naive.ARROW, naive.TAIL)
PAG_KINDS = ((0, 0), *product(MARKS, MARKS))


def all_pags(n: int) -> dict[naive.Frozen, tuple[naive.Frozen, ...]]:
    """The PAGs of all classes of MAGs on n nodes, each with the members of its class."""
    return {naive.common_marks(members): members for members in naive.all_classes(n).values()}


def single_changes(marks: naive.Table) -> Iterator[naive.Frozen]:
    """All graphs that differ in one mark of one edge, and all that have one edge more or less."""
    n = len(marks)
    for i, j in product(range(n), repeat=2):
        if marks[i][j]:
            yield from (changed(marks, {(i, j): mark}) for mark in MARKS if mark != marks[i][j])
        if marks[i][j] and i < j:
            yield changed(marks, {(i, j): 0, (j, i): 0})
        if not marks[i][j] and i < j:
            yield from (changed(marks, {(i, j): a, (j, i): b}) for a, b in PAG_KINDS[1:])


def changed(marks: naive.Table, change: dict[tuple[int, int], int]) -> naive.Frozen:
    n = len(marks)
    return tuple(tuple(change.get((i, j), marks[i][j]) for j in range(n)) for i in range(n))


def test_of_all_graphs_on_three_nodes_exactly_the_pags_are_valid() -> None:
    valid = {marks for marks in naive.tables(3, PAG_KINDS) if PAG(marks).validate()}
    assert valid == set(all_pags(3))
    assert len(valid) == 11


def test_every_pag_on_four_nodes_is_valid_and_names_a_member() -> None:
    for marks, members in all_pags(4).items():
        pag = PAG(marks)
        verdict = pag.validate()
        assert verdict
        assert (str(verdict), verdict.reason, verdict.path) == ("valid", "", ())
        assert pag.to_mag() == verdict.mag
        assert freeze(pag.to_mag()) in members


def freeze(graph: MAG | PAG) -> naive.Frozen:
    return tuple(map(tuple, graph.marks.tolist()))


@pytest.mark.slow
def test_of_all_single_changes_to_pags_on_four_nodes_exactly_the_pags_are_valid() -> None:
    pags = all_pags(4)
    mutants = sorted({mutant for marks in pags for mutant in single_changes(marks)})
    assert len(mutants) > 5000
    for marks in mutants:
        verdict = PAG(marks).validate()
        assert bool(verdict) == (marks in pags), marks
        assert bool(verdict) == (not verdict.reason)


@given(mags(7) | seeded_mags())
def test_the_pag_of_a_mag_is_valid_and_its_member_has_the_same_pag(mag: MAG) -> None:
    pag = mag.to_pag()
    assert pag.validate()
    assert pag.to_mag().to_pag() == pag
    assert pag.to_mag().names == pag.names


@given(pag_like(6) | seeded_pag_like({"o-o": 4, "o->": 2, "-->": 2, "<->": 1, "---": 1}))
def test_the_reason_is_a_counter_example(pag: PAG) -> None:
    verdict = pag.validate()
    if verdict:
        assert pag.to_mag().to_pag() == pag
        return
    assert str(verdict) == f"not valid: {verdict.reason}"
    with pytest.raises(GraphError) as error:
        pag.to_mag()
    assert str(error.value) == f"No MAG has this PAG: {verdict.reason}"
    assert_counter_example(pag, verdict)


def assert_counter_example(pag: PAG, verdict: Validity) -> None:
    if "o-o chord" in verdict.reason:
        assert_has_no_circle_chord(pag, verdict.path)
    elif "no MAG fits" in verdict.reason:
        assert all(pag.is_adjacent(a, b) for a, b in zip(verdict.path, verdict.path[1:], strict=False))
        assert verdict.mag is None
    else:
        assert verdict.mag is not None
        assert verdict.mag.to_pag() == verdict.pag != pag
        a, b = (pag.index(name) for name in verdict.path)
        assert verdict.pag is not None
        assert pag.marks[a, b] != verdict.pag.marks[a, b]


def assert_has_no_circle_chord(pag: PAG, path: tuple[str, ...]) -> None:
    circles = (pag.marks == Mark.CIRCLE) & (pag.marks.T == Mark.CIRCLE)
    assert path[0] == path[-1]
    ring = [pag.index(name) for name in path[:-1]]
    assert len(set(ring)) == len(ring) >= 4
    places = range(len(ring))
    for k, m in product(places, places):
        beside = (k - m) % len(ring) in (1, len(ring) - 1)
        assert circles[ring[k], ring[m]] == beside


@pytest.mark.parametrize(
    ("text", "reason", "path"),
    [
        (
            "A o-> B; B <-o C; B o-> D",
            "the mark at B on B o-> D must be a tail: all MAGs with these independences have B --> D.",
            ("D", "B"),
        ),
        (
            "A o-> B; B o-o C",
            "the mark at B on B <-o A must be a circle: MAGs with these independences differ there.",
            ("A", "B"),
        ),
        (
            "A --> B",
            "the mark at B on B <-- A must be a circle: MAGs with these independences differ there.",
            ("A", "B"),
        ),
        (
            "A --> B; B <-- C",
            "the mark at A on A --> B must be a circle: MAGs with these independences differ there.",
            ("B", "A"),
        ),
        (
            "A o-o B; B o-o C; C o-o D; D o-o A",
            "in a PAG a cycle of four or more o-o edges has an o-o chord; A o-o D o-o C o-o B o-o A has none.",
            ("A", "D", "C", "B", "A"),
        ),
        (
            "A o-o B; B o-o C; C o-o D; D o-o A; A --> C",
            "in a PAG a cycle of four or more o-o edges has an o-o chord; A o-o D o-o C o-o B o-o A has none.",
            ("A", "D", "C", "B", "A"),
        ),
        (
            "A o-> B; B o-> C; C o-> A",
            "no MAG fits. The closest graph fails: This graph is not ancestral: it has a directed cycle: "
            "A --> B --> C --> A.",
            ("A", "B", "C", "A"),
        ),
        (
            "A <-> B; B --- C",
            "no MAG fits. The closest graph fails: This graph is not ancestral: an arrowhead points at an end of "
            "an undirected edge: A <-> B --- C.",
            ("A", "B", "C"),
        ),
    ],
)
def test_reasons(text: str, reason: str, path: tuple[str, ...]) -> None:
    verdict = PAG.from_string(text).validate()
    assert not verdict
    assert verdict.reason == reason
    assert verdict.path == path


def test_a_member_has_arrows_where_an_undirected_edge_would_meet_an_arrowhead() -> None:
    pag = PAG.from_string("A --- P; P --- Q; Q --- R; R --- A; A --o B; A --o C; B o-o C")
    assert pag.validate()
    assert pag.to_mag() == MAG.from_string("A --- P; P --- Q; Q --- R; R --- A; A --> B; A --> C; B --> C")


def test_the_smallest_graphs() -> None:
    for n in (0, 1):
        pag = PAG(np.zeros((n, n)))
        assert pag.validate()
        assert len(pag.to_mag()) == n
