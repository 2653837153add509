"""What goes with an alternative, against counting graph by graph."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import naive_posterior as naive
from anypag import PAG
from anypag.search.by_scores.sampled_graphs import NUMBERS, STATES, changes_with, states_of

KINDS = sorted(STATES)


@st.composite
def sampled(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[list[int]]]:
    """A few graphs with their counts, and the answer; alike enough for changes to go together."""
    n_pairs = draw(st.integers(1, 6))
    kinds = st.sampled_from(draw(st.lists(st.sampled_from(KINDS), min_size=2, max_size=3, unique=True)))
    graph = st.lists(kinds, min_size=n_pairs, max_size=n_pairs)
    graphs = draw(st.lists(graph, min_size=1, max_size=8))
    counts = draw(st.lists(st.integers(1, 9), min_size=len(graphs), max_size=len(graphs)))
    return graphs, counts, draw(st.lists(graph, min_size=1, max_size=2))


@given(sampled())
def test_what_goes_with_an_alternative_is_what_counting_finds(
    drawn: tuple[list[list[int]], list[int], list[list[int]]],
) -> None:
    graphs, counts, answers = drawn
    pairs: naive.Sampled = list(zip(graphs, counts, strict=True))
    for pair in range(len(answers[0])):
        for state in {graph[pair] for graph in graphs} - {answer[pair] for answer in answers}:
            arrays = np.array(graphs, np.uint8), np.array(counts, np.int64), np.array(answers, np.uint8)
            found = changes_with(*arrays, pair, state)
            assert [tuple(change) for change in found] == naive.changes_with(pairs, answers, pair, state)


def test_states_are_the_edges_of_every_pair() -> None:
    graph = PAG.from_string("A o-> B; C --> B; C --- D")
    pairs = [("A", "B"), ("A", "C"), ("A", "D"), ("B", "C"), ("B", "D"), ("C", "D")]
    edges = [graph.edge(*pair) for pair in pairs]
    states = states_of(graph.marks[None])[0]
    assert [STATES[state] for state in states.tolist()] == ["" if edge is None else edge.symbol for edge in edges]
    assert [NUMBERS[STATES[state]] for state in states.tolist()] == states.tolist()


def test_what_is_in_doubt_anyway_does_not_go_with_an_alternative() -> None:
    """The second pair changes with the first; the third is either way, whatever the first is."""
    graphs = np.array([[14, 14, 14], [14, 14, 11], [11, 11, 14], [11, 11, 11]], np.uint8)
    counts = np.array([40, 40, 9, 11], np.int64)
    assert changes_with(graphs, counts, graphs[:1], 0, 11) == [(1, 11, 1.0)]
