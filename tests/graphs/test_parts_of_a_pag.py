"""Buckets, pc-components, regions, visible edges and separation by definite status against their twins."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_effects
from anypag import MAG, PAG, is_separated, is_visible
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import (
    Neighbours,
    bucket_sets,
    members,
    node_set,
    pc_component_set,
    region_set,
    rows_as_sets,
    spread,
)
from anypag.graphs.separation import is_definitely_connected
from strategies import mags, pag_like, seeded_mags

NO_SELECTION = ("o-o", "o->", "<-o", "-->", "<--", "<->")


def without_selection(mag: MAG) -> bool:
    return not ((mag.marks == Mark.TAIL) & (mag.marks.T == Mark.TAIL)).any()


true_pags = (mags(6) | seeded_mags(7)).filter(without_selection).map(MAG.to_pag)
"""PAGs of something."""

graphs = pag_like(6, NO_SELECTION) | true_pags


def table(marks: Marks) -> naive.Frozen:
    return tuple(map(tuple, marks.tolist()))


def parts(pag: PAG) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, len(pag) - 1), unique=True, min_size=1)


@given(st.sets(st.integers(0, 70)))
def test_a_set_of_nodes_is_its_members(nodes: set[int]) -> None:
    assert list(members(node_set(nodes))) == sorted(nodes)


@given(graphs)
def test_rows_become_sets(pag: PAG) -> None:
    flags = pag.marks != 0
    assert [list(members(row)) for row in rows_as_sets(flags)] == [np.flatnonzero(row).tolist() for row in flags]


@given(graphs, st.data())
def test_spreading_stays_inside(pag: PAG, data: st.DataObject) -> None:
    inside = data.draw(parts(pag))
    here = naive_effects.part(table(pag.marks), inside)
    reached = spread(rows_as_sets(pag.marks != 0), 1 << inside[0], node_set(inside))
    assert set(members(reached)) == {v for v in inside if v == inside[0] or [*naive.simple_paths(here, inside[0], v)]}


@given(graphs)
def test_visible_edges(pag: PAG) -> None:
    marks = table(pag.marks)
    for a, b in permutations(range(len(pag)), 2):
        assert is_visible(pag, a, b) == naive_effects.is_visible(marks, a, b)


@given(graphs, st.data())
def test_buckets_pc_components_and_regions(pag: PAG, data: st.DataObject) -> None:
    inside = data.draw(parts(pag))
    sources = data.draw(st.lists(st.sampled_from(inside), unique=True, min_size=1))
    marks, near = table(pag.marks), Neighbours.of(pag.marks)
    here = naive_effects.part(marks, inside)
    spanned = (node_set(sources), node_set(inside))
    assert {frozenset(members(found)) for found in bucket_sets(near, node_set(inside))} == {
        frozenset(naive_effects.bucket(here, v)) for v in inside
    }
    assert set(members(pc_component_set(near, *spanned))) == set(naive_effects.pc_component(marks, sources, inside))
    assert set(members(region_set(near, *spanned))) == set(naive_effects.region(marks, sources, inside))


@given(graphs)
def test_possible_descendants(pag: PAG) -> None:
    for v in range(len(pag)):
        wanted = {pag.names[w] for w in naive_effects.possible_descendants(table(pag.marks), [v])}
        assert set(pag.possible_descendants(v)) == wanted


@given(graphs, st.data())
def test_definite_connection_by_walks_and_by_paths(pag: PAG, data: st.DataObject) -> None:
    """In any graph a path is a walk; in a PAG both connect the same nodes."""
    x, y = data.draw(st.permutations(range(len(pag))))[:2]
    z = data.draw(st.sets(st.sampled_from([v for v in range(len(pag)) if v not in (x, y)]))) if len(pag) > 2 else set()
    by_path = naive_effects.is_definitely_connected(table(pag.marks), x, y, z)
    by_walk = is_definitely_connected(pag.marks, pag.marks != 0, 1 << x, 1 << y, node_set(z))
    assert by_walk or not by_path
    if pag.validate():
        assert by_walk == by_path


@given(true_pags, st.data())
def test_separated_in_the_pag_means_separated_in_its_members(pag: PAG, data: st.DataObject) -> None:
    x, y, *rest = data.draw(st.permutations(range(len(pag))))
    z = data.draw(st.lists(st.sampled_from(rest), unique=True)) if rest else []
    connected = is_definitely_connected(pag.marks, pag.marks != 0, 1 << x, 1 << y, node_set(z))
    assert connected != is_separated(pag.to_mag(), x, y, z)


def test_definite_connection_of_sets() -> None:
    pag = PAG.from_string("A o-> C; B o-> C; D o-o E")

    def connected(x: str, y: str) -> bool:
        first, second = (node_set(pag.index(name) for name in nodes) for nodes in (x, y))
        return is_definitely_connected(pag.marks, pag.marks != 0, first, second, 0)

    assert not connected("AB", "DE")
    assert connected("AD", "BE")
