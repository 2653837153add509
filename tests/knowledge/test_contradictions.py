"""Statements that contradict each other are named at once, by the shortest chain."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_knowledge as twin
from anypag import DAG, Knowledge, Oracle, learn
from anypag.errors import KnowledgeError
from anypag.knowledge.bind import shortest_chain

NAMES = list("abcde")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a ~> b\nb ~> a", "a ~> b ~> a by `a ~> b` (line 1) and `b ~> a` (line 2); nothing is a cause of itself."),
        ("a ~> b\na !~> b", "a ~> b by `a ~> b` (line 1); but a is no cause of b by `a !~> b` (line 2)."),
        (
            "tiers: a b | c\nc ~> d\nd ~> a",
            "c ~> d ~> a by `c ~> d` (line 2) and `d ~> a` (line 3); "
            "but c is no cause of a by `tiers: a b | c` (line 1).",
        ),
        (
            "a ~> b\nb ~> c\nc ~> d\nd ~> e\na !~> e\nb !~> d",
            "b ~> c ~> d by `b ~> c` (line 2) and `c ~> d` (line 3); but b is no cause of d by `b !~> d` (line 6).",
        ),
        ("{a, b} ~> *", "a ~> b ~> a by `{a, b} ~> *` (line 1); nothing is a cause of itself."),
        (
            "tiers: a b | c\nwithin tiers: no causes\na ~> b",
            "a ~> b by `a ~> b` (line 3); but a is no cause of b by `within tiers: no causes` (line 2).",
        ),
        (
            "tiers: a b | c d e\na ~> b\na !*-* b",
            "a ~> b by `a ~> b` (line 2); but they have no edge by `a !*-* b` (line 3), and no other variables can "
            "link them.",
        ),
        ("a *-* b\nb !*-* a", "`a *-* b` (line 1) and `b !*-* a` (line 2) say opposite things about a and b."),
    ],
)
def test_the_shortest_chain_is_named(text: str, sentence: str) -> None:
    with pytest.raises(KnowledgeError) as caught:
        Knowledge.from_text(text).facts(NAMES)
    assert str(caught.value) == f"The knowledge contradicts itself: {sentence}"


def test_a_cause_needs_no_edge_where_another_variable_can_stand_between() -> None:
    Knowledge.from_text("tiers: a b c | d e\na ~> b\na !*-* b").facts(NAMES)


def test_an_edge_needs_a_cause_where_nothing_selects() -> None:
    known = Knowledge.from_text("a *-* b\na !<-> b\na !~> b\nb !~> a")
    known.facts(NAMES)
    with pytest.raises(KnowledgeError, match="neither is a cause of the other"):
        known.facts(NAMES, selection=False)


def test_contradictions_are_named_before_any_test() -> None:
    oracle, known = Oracle(DAG.from_string("a --> b; b --> c")), Knowledge.from_text("a ~> b\nb ~> a")
    with pytest.raises(KnowledgeError, match="contradicts itself"):
        learn(oracle, knowledge=known, progress=lambda _: pytest.fail("a test was made"))


PAIRS = list(permutations(range(4), 2))


@given(st.sets(st.sampled_from(PAIRS), max_size=5), st.sets(st.sampled_from(PAIRS), max_size=4))
def test_a_chain_is_found_exactly_if_no_order_fits_and_none_is_shorter(
    causes: set[tuple[int, int]], not_causes: set[tuple[int, int]]
) -> None:
    tables = [np.zeros((4, 4), np.bool_) for _ in range(2)]
    for table, pairs in zip(tables, (causes, not_causes), strict=True):
        for pair in pairs:
            table[pair] = True
    chain = shortest_chain(*tables)
    reach = twin._closure(causes)
    is_possible = all(a != b for a, b in reach) and not reach & not_causes
    assert bool(chain) != is_possible
    if chain:
        assert all(step in causes for step in pairwise(chain))
        assert chain[0] == chain[-1] or (chain[0], chain[-1]) in not_causes
        assert len(chain) == min(map(len, wrong_chains(causes, not_causes)))


def wrong_chains(causes: set[tuple[int, int]], not_causes: set[tuple[int, int]]) -> list[tuple[int, ...]]:
    chains: list[tuple[int, ...]] = list(causes)
    found: list[tuple[int, ...]] = []
    while chains:
        found += [chain for chain in chains if chain[0] == chain[-1] or (chain[0], chain[-1]) in not_causes]
        if found:
            return found
        chains = [(*chain, b) for chain in chains for a, b in causes if a == chain[-1]]
    return found
