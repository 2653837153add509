"""Random graphs and names for hypothesis.

Those drawn edge by edge shrink to small graphs but seldom hold the larger patterns; the `seeded_` ones hold them often,
and shrink in the number of nodes only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from anypag import DAG, MAG, PAG, latent_projection

Arrows = npt.NDArray[np.uint8]

EVERY_EDGE = ("o-o", "o->", "<-o", "-->", "<--", "<->", "---", "o--", "--o")
AWKWARD_NAMES = (
    "two words",
    " leading",
    "trailing ",
    "naïve größe 温度",
    'say "hi"',
    "it's",
    "a;b",
    "line\nend",
    "\ttab",
    "line\u2028separator",
    "next\x85line",
    "page\x0cfeed",
    "back\\slash",
    "\\",
    '"',
    "o->",
    "<->",
    "->",
    "o-o",
    "---",
    "-",
    "--",
    "A-->B",
    "x<y",
    "x>y",
    ";",
    "#",
    "#1",
    "<script>alert(1)</script>",
    "{x}",
    "o",
    "1",
    "0",
    "-1",
    "None",
    "é",
    "e\u0301",
    "\u200b",
    "a\u00a0b",
    "\ud800",
)

awkward_names = st.sampled_from(AWKWARD_NAMES) | st.text(min_size=1, max_size=6).filter(str.strip)


class System(NamedTuple):
    """A DAG, and the nodes of it that are not observed."""

    dag: DAG
    latent: tuple[int, ...]
    selection: tuple[int, ...]


def names_of(n: int) -> tuple[str, ...]:
    return tuple("ABCDEFGHIJKLMNOP"[:n])


@st.composite
def adjacencies(draw: st.DrawFn, n: int) -> Arrows:
    """The arrows of a DAG of n nodes, in any causal order, sparse or dense."""
    coin = draw(st.sampled_from([(0, 1), (0, 0, 1), (0, 1, 1)]))
    adjacency = np.zeros((n, n), np.uint8)
    rank = draw(st.permutations(range(n)))
    for i, j in combinations(range(n), 2):
        adjacency[rank[i], rank[j]] = draw(st.sampled_from(coin))
    return adjacency


@st.composite
def dags(draw: st.DrawFn, most: int = 8) -> DAG:
    n = draw(st.integers(2, most))
    return DAG(draw(adjacencies(n)), names_of(n))


@st.composite
def systems(draw: st.DrawFn, n: int = 8, n_latent: int = 2, n_selection: int = 1) -> System:
    """A DAG of n nodes, any of which may be latent or select."""
    roles = draw(st.permutations(range(n)))
    latent, selection = roles[:n_latent], roles[n_latent : n_latent + n_selection]
    return System(DAG(draw(adjacencies(n)), names_of(n)), tuple(latent), tuple(selection))


@st.composite
def mags(draw: st.DrawFn, most: int = 6) -> MAG:
    """Any MAG: over observed nodes, with latent parents and selection children of two nodes each."""
    n = draw(st.integers(2, most))
    pairs = st.lists(st.sampled_from(list(combinations(range(n), 2))), max_size=n, unique=True)
    return _projected(draw(adjacencies(n)), draw(pairs), draw(pairs))


@st.composite
def seeded_mags(draw: st.DrawFn, most: int = 8) -> MAG:
    """The same, from a seed."""
    n, density = draw(st.integers(4, most)), draw(st.sampled_from([0.2, 0.4, 0.7]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arrows = np.triu(rng.random((n, n)) < density, 1).astype(np.uint8)
    pairs = [rng.permutation(n)[:2].tolist() for _ in range(8)]
    return _projected(arrows, pairs[: rng.integers(0, 5)], pairs[4 : 4 + rng.integers(0, 5)])


def _projected(arrows: Arrows, confounded: Sequence[Sequence[int]], selecting: Sequence[Sequence[int]]) -> MAG:
    """The MAG of a DAG with a latent parent or a selection child for each of these pairs."""
    n, hidden = len(arrows), len(confounded) + len(selecting)
    first_selecting = n + len(confounded)
    adjacency = np.pad(arrows, (0, hidden))
    for k, pair in enumerate(confounded, n):
        adjacency[k, list(pair)] = 1
    for k, pair in enumerate(selecting, first_selecting):
        adjacency[list(pair), k] = 1
    return latent_projection(DAG(adjacency), range(n, first_selecting), range(first_selecting, n + hidden))


@st.composite
def pag_like(draw: st.DrawFn, most: int = 7, symbols: Sequence[str] = EVERY_EDGE) -> PAG:
    """Any marks at all: hardly ever the PAG of something."""
    n = draw(st.integers(2, most))
    kinds = draw(st.sampled_from([(None, *symbols), (None,) * len(symbols) + (*symbols,)]))
    lines = list(names_of(n))
    for a, b in combinations(names_of(n), 2):
        symbol = draw(st.sampled_from(kinds))
        lines += [f"{a} {symbol} {b}"] if symbol else []
    return PAG.from_string("\n".join(lines), names_of(n))


@st.composite
def seeded_pag_like(draw: st.DrawFn, weights: Mapping[str, int], least: int = 4, most: int = 7) -> PAG:
    """Any marks at all, with these weights for the kinds of edges."""
    names = names_of(draw(st.integers(least, most)))
    density = draw(st.sampled_from([0.3, 0.5, 0.7]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = np.array(list(weights.values())) / sum(weights.values())
    lines = [
        f"{a} {rng.choice(list(weights), p=share)} {b}"
        for a, b in combinations(rng.permutation(names).tolist(), 2)
        if rng.random() < density
    ]
    return PAG.from_string("\n".join(lines), [*names])
