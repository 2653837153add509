"""The twin is right: behind every MAG lie exactly the stories that causal graphs tell."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import naive
import naive_knowledge as twin
from anypag import DAG, latent_projection


def told(dag: naive.Frozen, n: int, selection: list[int]) -> twin.Story:
    nodes = range(n)
    causes = {(a, b) for a, b in product(nodes, nodes) if a != b and a in naive.ancestors(dag, [b])}
    return twin.Story(frozenset(causes), frozenset(a for a in nodes if a in naive.ancestors(dag, selection)))


@pytest.mark.parametrize("n", [2, 3])
def test_every_story_is_that_of_a_causal_graph_with_the_same_mag(n: int) -> None:
    for mag in naive.all_mags(n):
        for story in twin.stories(mag):
            dag, latent, selection = twin.causal_graph(mag, story)
            assert naive.project(dag, latent, selection) == mag
            assert told(dag, n, selection) == story


def test_every_causal_graph_tells_one_of_the_stories() -> None:
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(1500):
        n, n_latent, n_selection = 3, int(rng.integers(0, 4)), int(rng.integers(0, 4))
        size = n + n_latent + n_selection
        order, density = rng.permutation(size), rng.choice([0.2, 0.35, 0.5])
        arrows = np.zeros((size, size), np.uint8)
        for i, j in zip(*np.triu_indices(size, 1), strict=True):
            arrows[order[i], order[j]] = rng.random() < density
        latent, selection = range(n, n + n_latent), list(range(n + n_latent, size))
        mag = twin.freeze(latent_projection(DAG(arrows), latent, selection).marks.tolist())
        dag = twin.freeze((2 * arrows + 3 * arrows.T).tolist())
        story = told(dag, n, selection)
        assert story in twin.stories(mag)
        seen.add((mag, story))
    assert len(seen) > 200
