"""Tables of pairs, the best set of each edge and the lists of a skeleton, against slow and obvious twins."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from anypag._kernels.candidates import keep_best
from anypag._kernels.pairs import neighbours_of_pairs
from anypag.graphs.skeleton import Skeleton
from anypag.search.evidence import Evidence, PairBatch
from anypag.search.sepsets import Sepsets

N = 5
PAIRS = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda pair: pair[0] != pair[1])
P = st.one_of(st.just(math.nan), st.sampled_from([0.0, 0.25, 0.5, 1.0]))


def ends(pairs: list[tuple[int, int]]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    x, y = np.array(pairs, np.int32).reshape(-1, 2).T
    return np.ascontiguousarray(x), np.ascontiguousarray(y)


@given(st.lists(st.lists(st.tuples(PAIRS, P), max_size=12), max_size=3))
def test_the_largest_p_of_each_pair_is_kept(batches: list[list[tuple[tuple[int, int], float]]]) -> None:
    evidence = Evidence()
    twin: dict[frozenset[int], float] = {}
    for batch in batches:
        p_values = np.array([p for _, p in batch], np.float64)
        evidence = evidence.adding(PairBatch(N, *ends([pair for pair, _ in batch]), p_values, None))
        for pair, p in batch:
            if not math.isnan(p):
                twin[frozenset(pair)] = max(p, twin.get(frozenset(pair), p))
    for i in range(N):
        for j in range(N):
            found, _ = evidence.notes.of(N, np.array([i]), np.array([j]))
            np.testing.assert_equal(found[0], twin.get(frozenset((i, j)), math.nan) if i != j else math.nan)


@given(st.lists(st.tuples(PAIRS, st.sets(st.integers(0, N - 1), max_size=3)), max_size=6))
def test_separations_are_written_for_both_orders(found: list[tuple[tuple[int, int], set[int]]]) -> None:
    twin = {frozenset(pair): tuple(sorted(members)) for pair, members in found}
    pairs = [(min(pair), max(pair)) for pair in twin]
    z = np.array([(*members, *(-1,) * (3 - len(members))) for members in twin.values()], np.int32).reshape(-1, 3)
    before = Sepsets.none(N)
    after = before.adding(*ends(pairs), z)
    noted = Evidence().adding(PairBatch(N, *ends(pairs), np.linspace(0.1, 0.9, len(pairs)), 2))
    for i in range(N):
        for j in range(N):
            known = twin.get(frozenset((i, j))) if i != j else None
            assert after.get(i, j) == known
            assert after.known()[i, j] == (known is not None)
            _, found_at = noted.notes.of(N, np.array([i]), np.array([j]))
            assert found_at[0] == (-1 if known is None else 2)
    assert not before.known().any(), "the old value is as it was"
    assert after.is_consistent


@given(st.lists(st.lists(st.tuples(PAIRS, st.sets(st.integers(0, N - 1), max_size=2)), max_size=4), max_size=4))
def test_the_last_set_of_a_pair_counts(batches: list[list[tuple[tuple[int, int], set[int]]]]) -> None:
    sets, twin = Sepsets.none(N), dict[frozenset[int], tuple[int, ...]]()
    for batch in batches:
        once = {frozenset(pair): tuple(sorted(members)) for pair, members in batch}
        twin |= once
        z = np.array([(*members, *(-1,) * (2 - len(members))) for members in once.values()], np.int32).reshape(-1, 2)
        sets = sets.adding(*ends([(min(pair), max(pair)) for pair in once]), z)
        for i in range(N):
            for j in range(i):
                assert sets.get(i, j) == sets.get(j, i) == twin.get(frozenset((i, j)))
        assert sets.is_consistent


@given(st.sets(st.integers(0, N * N - 1).filter(lambda k: k // N < k % N)))
def test_all_pairs_but_the_edges_get_the_empty_set(edges: set[int]) -> None:
    x, y = ends([divmod(k, N) for k in sorted(edges)])
    skeleton = Skeleton(*neighbours_of_pairs(N, x, y))
    marks = np.zeros((N, N), np.uint8)
    marks[x, y] = marks[y, x] = 1
    for name, wanted in Skeleton.of(marks)._asdict().items():
        np.testing.assert_array_equal(getattr(skeleton, name), wanted, strict=True)
    sets = Sepsets.none(N).emptying(skeleton.start, skeleton.neighbour)
    assert sets.is_consistent
    assert np.array_equal(sets.known(), (marks == 0) & ~np.eye(N, dtype=bool))


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0])), max_size=12))
def test_the_first_of_the_best_sets_stays(rows: list[tuple[int, float]]) -> None:
    best_z, best_p = np.full((4, 1), -1, np.int32), np.full(4, np.nan)
    edge_of, p = np.array([k for k, _ in rows], np.int64), np.array([value for _, value in rows], np.float64)
    keep_best(edge_of, np.arange(len(rows), dtype=np.int32)[:, None], p, best_z, best_p)
    for edge in range(4):
        of_edge = [(value, -row) for row, (k, value) in enumerate(rows) if k == edge]
        if of_edge:
            value, row = max(of_edge)
            assert (best_p[edge], best_z[edge, 0]) == (value, -row)
        else:
            assert math.isnan(best_p[edge]) and best_z[edge, 0] == -1


@given(st.lists(PAIRS, max_size=10), st.lists(PAIRS, max_size=10))
def test_narrowed_lists_are_the_lists(left: list[tuple[int, int]], gone: list[tuple[int, int]]) -> None:
    marks = np.zeros((N, N), np.uint8)
    for k, (i, j) in enumerate([*gone, *left]):
        marks[i, j], marks[j, i] = 1 + k % 3, 1 + (k + 1) % 3
    fewer = np.array(marks)
    for i, j in gone:
        if (i, j) not in left and (j, i) not in left:
            fewer[i, j] = fewer[j, i] = 0
    node, neighbour = (end.astype(np.int32) for end in np.nonzero(fewer))
    wanted = Skeleton(np.searchsorted(node, np.arange(N + 1)), node, neighbour)
    ends = np.array([pair for pair in gone if marks[pair] and not fewer[pair]], np.int32).reshape(-1, 2)
    without, left_over = Skeleton.of(marks).without(marks, *np.ascontiguousarray(ends.T))
    np.testing.assert_array_equal(left_over, fewer)
    for got in (Skeleton.of(fewer), Skeleton.of(marks).narrowed(fewer), without):
        for name in got._fields:
            np.testing.assert_array_equal(getattr(got, name), getattr(wanted, name), strict=True, err_msg=name)
