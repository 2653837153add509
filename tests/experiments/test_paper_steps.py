"""The readings of the paper: the same parts put together anew give the library's algorithms, and each choice does what
it says."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from experiments.runs import run, warm_up
from experiments.variants import VARIANTS, Variant, reading
from hypothesis import given
from hypothesis import strategies as st

import anypag as ap
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from experiments import steps

TWINS = {
    "fci": reading(steps.fci(steps.node_pools, steps.all_at_once)),
    "icd-paper": reading(steps.algorithm_1(steps.radius_pools(steps.NEVER), steps.all_sets)),
}
COMPLETE = ("fci-original", "fci-path", "fci-path-original", "icd-paper-free")


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("rows", [0, 200])
def test_the_librarys_algorithms_come_out_of_the_same_parts(
    name: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(VARIANTS, "twin", Variant("", "", TWINS[name]))
    for seed in range(6):
        system = ap.simulate.random_system(9, 3.0, seed=seed)
        test = ap.FisherZ(system.linear_gaussian(rows, seed=seed)) if rows else system.oracle()
        ours, twin = (run(one, test, alpha=0.01, cap=10**6) for one in (name, "twin"))
        assert (ours.pag, ours.tests) == (twin.pag, twin.tests)


@pytest.mark.parametrize("name", COMPLETE)
def test_readings_of_complete_algorithms_find_the_true_graph(name: str) -> None:
    for seed in range(8):
        system = ap.simulate.random_system(9, 3.0, seed=seed)
        assert run(name, system.oracle(), alpha=0.01, cap=10**6).pag == system.true_pag()


def test_each_condition_saves_tests() -> None:
    def tests(name: str) -> int:
        systems = (ap.simulate.random_system(10, 3.0, seed=seed) for seed in range(3))
        return sum(run(name, system.oracle(), alpha=0.01, cap=10**6).n_tests for system in systems)

    free, closed, ancestors = (tests(f"icd-paper-{name}") for name in ("free", "free-closed", "free-closed-ancestors"))
    assert free > closed > ancestors
    assert free > tests("icd-paper") > tests("icd-paper-closed")
    assert tests("icd-paper") > tests("icd-paper-ancestors")
    assert tests("fci") > tests("fci-path") > tests("rfci")


@st.composite
def graphs(draw: st.DrawFn) -> Marks:
    n = draw(st.integers(3, 6))
    marks = np.zeros((n, n), np.uint8)
    for i in range(n):
        for j in range(i):
            if draw(st.booleans()):
                marks[i, j], marks[j, i] = (draw(st.sampled_from([Mark.CIRCLE, Mark.ARROW, Mark.TAIL])) for _ in "ab")
    return marks


@given(graphs(), st.data())
def test_a_set_is_closed_if_a_walk_inside_it_leads_to_every_member(marks: Marks, data: st.DataObject) -> None:
    members = data.draw(st.lists(st.integers(1, len(marks) - 1), unique=True, min_size=1))

    def leads_on(u: int, v: int, w: int) -> bool:
        is_collider = marks[u, v] == Mark.ARROW and marks[w, v] == Mark.ARROW
        return bool(marks[v, w] != Mark.NONE and (is_collider or marks[u, w] != Mark.NONE))

    def is_walk(path: tuple[int, ...]) -> bool:
        triples = zip(path, path[1:], path[2:], strict=False)
        return bool(marks[path[0], path[1]] != Mark.NONE) and all(leads_on(*triple) for triple in triples)

    paths = [path for size in range(1, len(members) + 1) for path in permutations(members, size)]
    reached = {path[-1] for path in paths if is_walk((0, *path))}
    if reached == set(members):  # a walk that is no path can only reach more
        assert steps.is_closed(marks, 0, members)
    if not any(marks[0, v] for v in members):
        assert not steps.is_closed(marks, 0, members)


def test_a_set_that_skips_a_node_of_the_path_is_not_closed() -> None:
    names = ["X", "V", "W"]
    marks = ap.PAG.from_string("X o-> V; V <-o W").subgraph(names).marks
    assert steps.is_closed(marks, 0, [1, 2])
    assert not steps.is_closed(marks, 0, [2])
    chain = ap.PAG.from_string("X o-o V; V o-o W").subgraph(names).marks
    assert not steps.is_closed(chain, 0, [1, 2])


def test_a_run_ends_at_the_cap_without_a_graph() -> None:
    system = ap.simulate.random_system(20, 2.0, seed=0)
    warm_up(("fci",), 0.01)
    capped = run("fci", system.oracle(), alpha=0.01, cap=500)
    assert capped.pag is None
    assert capped.n_tests >= 500
    whole = run("fci", system.oracle(), alpha=0.01, cap=10**6)
    assert whole.pag == system.true_pag()
    assert capped.n_tests < whole.n_tests
