"""Searches by scores among graphs that agree with what is known: tiers, chains, and graphs to start from."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anypag._kernels import mag_chain as kernel
from anypag.graphs.projection import mag_of_diagram
from anypag.knowledge.facts import Facts
from anypag.scores.gaussian import GaussianScore
from anypag.search.by_scores.chain import Known, Landscape, Prior, Walker, advance, graph_of, marks_of
from anypag.search.by_scores.starting_graphs import agreeing, agrees, allowed_states, is_diagram, needs_mags, tiers_of
from naive_scores import all_mag_marks
from score_examples import score_of

Marks = npt.NDArray[np.uint8]
EDGES = np.array([[0, 0], [2, 3], [3, 2], [2, 2], [3, 3]], np.uint8)


def random_diagram(n: int, rng: np.random.Generator) -> Marks:
    marks = np.zeros((n, n), np.uint8)
    for i in range(n):
        for j in range(i + 1, n):
            trial = marks.copy()
            trial[i, j], trial[j, i] = EDGES[rng.choice(5, p=[0.4, 0.2, 0.2, 0.15, 0.05])]
            marks = trial if is_diagram(trial) else marks
    return marks


def true_facts(marks: Marks, rng: np.random.Generator, *, edges: bool = False) -> Facts:
    """Some of what holds in a diagram."""
    n = len(marks)
    selection = bool(rng.integers(2)) or bool(((marks == 3) & (marks.T == 3)).any())
    facts = Facts.none(n, selection=selection)
    arrow, tail = marks == 2, marks == 3
    reach = np.linalg.matrix_power(np.eye(n) + (arrow & tail.T), n) > 0
    for a, b in permutations(range(n), 2):
        if rng.random() < 0.3:
            (facts.causes if reach[a, b] else facts.not_causes)[a, b] = True
        if edges and a < b and rng.random() < 0.2:
            table = facts.joined if marks[a, b] else facts.not_joined
            table[a, b] = table[b, a] = True
    facts.not_selecting[~(tail & tail.T).any(axis=1) & (rng.random(n) < 0.4)] = True
    return facts.closed()


@given(st.integers(1, 8), st.integers(0, 10**6))
@settings(deadline=None, max_examples=60)
def test_no_later_tier_can_hold_a_cause_of_an_earlier_one_and_no_tier_can_be_parted(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    facts = true_facts(random_diagram(n, rng), rng)
    tier = tiers_of(facts)
    assert sorted(set(tier.tolist())) == list(range(tier.max() + 1))
    for a, b in permutations(range(n), 2):
        assert tier[a] <= tier[b] or facts.not_causes[a, b]
    may_cause = ~facts.not_causes
    for k in range(tier.max() + 1):  # within a tier everyone may be a cause of everyone, over others of it
        inside = np.flatnonzero(tier == k)
        reach = np.linalg.matrix_power(may_cause[np.ix_(inside, inside)].astype(float), len(inside)) > 0
        assert reach.all()


@given(st.integers(2, 7), st.integers(0, 10**6))
@settings(deadline=None, max_examples=150)
def test_the_kernel_and_the_definition_say_the_same_of_a_diagram(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    facts, marks = true_facts(random_diagram(n, rng), rng), random_diagram(n, rng)
    graph, room = graph_of(marks), np.empty((3, 1), np.uint64)
    states = {(0, 0): 0, (2, 3): 1, (3, 2): 2, (2, 2): 3, (3, 3): 4}
    allowed = allowed_states(facts)
    is_allowed = all(
        allowed[i, j] >> states[int(marks[i, j]), int(marks[j, i])] & 1 for i, j in permutations(range(n), 2)
    )
    assert agrees(marks, facts) == (is_allowed and bool(kernel.agrees(graph, *Known.of(facts)[:3], room)))


@given(st.integers(2, 7), st.integers(0, 10**6))
@settings(deadline=None, max_examples=150)
def test_behind_a_diagram_that_agrees_is_a_mag_that_does(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    marks = random_diagram(n, rng)
    facts = true_facts(marks, rng)
    assert agrees(marks, facts)
    assert facts.agree_with(mag_of_diagram(marks))


@given(st.integers(2, 8), st.integers(0, 10**6), st.booleans())
@settings(deadline=None, max_examples=150)
def test_a_start_agrees_and_keeps_what_agrees(n: int, seed: int, hidden: bool) -> None:
    rng = np.random.default_rng(seed)
    true, other = random_diagram(n, rng), random_diagram(n, rng)
    facts = true_facts(true, rng, edges=True)
    for marks in (other, np.zeros_like(other)):
        found = agreeing(marks, facts, hidden=hidden)
        assert found is None or agrees(found, facts)
        if found is not None and not hidden:
            assert not ((found == found.T) & (found != 0)).any()
    if agrees(other, facts) and not facts.causes.any():
        np.testing.assert_array_equal(agreeing(other, facts, hidden=True), other)


def test_starts_are_nearly_always_found() -> None:
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        true = random_diagram(6, rng)
        found += agreeing(np.zeros_like(true), true_facts(true, rng, edges=True), hidden=True) is not None
    assert found >= 190


def test_the_law_of_a_chain_with_knowledge() -> None:
    """The posterior over the graphs that agree, with a graph on the way to every other."""
    rng = np.random.default_rng(5)
    data = rng.normal(size=(30, 3)) @ (np.eye(3) + 0.5 * np.triu(rng.normal(size=(3, 3)), 1))
    score = GaussianScore(("A", "B", "C"), 30, np.asarray(np.corrcoef(data.T)), gamma=0.25)
    facts = Facts.none(3)
    facts.not_causes[2, 0] = facts.not_selecting[2] = True
    facts.causes[0, 2] = True
    facts = facts.closed()
    graphs = all_mag_marks(3, lambda marks: agrees(marks, facts))
    assert 20 < len(graphs) < len(all_mag_marks(3, is_diagram))
    logs = np.array([score_of(score, marks) + prior_of(marks) for marks in graphs])
    exact = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    landscape = Landscape.of(score, allowed=allowed_states(facts), facts=facts, ancestral=False)
    start = agreeing(np.zeros((3, 3), np.uint8), facts, hidden=True)
    assert start is not None
    walker, met = Walker.at(graph_of(start), landscape, 3), np.zeros(len(graphs))
    place = {graph_of(marks).tobytes(): k for k, marks in enumerate(graphs)}
    for _ in range(15_000):
        walker = advance(walker, landscape, 8, 1.0)
        met[place[walker.graph.tobytes()]] += 1
    assert agrees(marks_of(walker.best), facts)
    assert np.abs(met / met.sum() - exact).sum() / 2 < 0.03


def prior_of(marks: Marks) -> float:
    arrow, tail = marks == 2, marks == 3
    counts = [int((arrow & tail.T).sum()), int((arrow & arrow.T).sum()) // 2, int((tail & tail.T).sum()) // 2]
    terms = Prior().terms(len(marks))
    return float(terms[0, sum(counts)] + sum(terms[k + 1, count] for k, count in enumerate(counts)))


@pytest.mark.parametrize("table", ["not_joined", "unconfounded"])
def test_what_only_a_mag_shows_is_asked_of_mags(table: str) -> None:
    facts = Facts.none(2, selection=False)
    assert not needs_mags(facts)
    getattr(facts, table)[[0, 1], [1, 0]] = True
    assert needs_mags(facts)
