"""Random directed acyclic graphs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anypag.choices import is_whole
from anypag.errors import ParameterError
from anypag.graphs.dag import DAG
from anypag.simulate.sample import Seed, generator


def random_dag(n: int, expected_neighbours: float, *, connected: bool = True, seed: Seed) -> DAG:
    """A random DAG: every pair i < j has the edge i → j with probability `expected_neighbours / (n - 1)`.

    With `connected` (as in the paper on ICD) graphs have the distribution that drawing until one is connected would
    give, found in a way that is fast for any size. Connected graphs are denser: with `expected_neighbours` 2,
    nodes have 2.6 on average, for 35 nodes as for 1,000.

    Args:
        n: how many nodes; they are named X0, X1, ... in causal order.
        expected_neighbours: the mean number of neighbours of a node, parents and children together, before
            connectedness is asked for; from 0 to n - 1.
        connected: is the graph in one piece?
        seed: a whole number or a `numpy.random.Generator`.

    Returns:
        The graph.

    >>> print(random_dag(4, 1.5, seed=0))
    X0 --> X1
    X0 --> X3
    X1 --> X2
    X2 --> X3
    """
    _check_size(n, expected_neighbours, connected)
    random = generator(seed, "random_dag")
    if n == 1:
        return DAG([[0]])
    probability = expected_neighbours / (n - 1)
    edges = _connected_pairs(n, probability, random) if connected else random.random((n, n)) < probability
    return DAG(np.triu(edges, 1).astype(np.uint8))


def _check_size(n: int, expected_neighbours: float, connected: bool) -> None:
    if not is_whole(n, 1):
        raise ParameterError(f"A random DAG has a whole number of nodes, at least 1; got n = {n!r}.")
    if not 0 <= expected_neighbours <= n - 1:
        raise ParameterError(
            f"Each of {n} nodes can have 0 to {n - 1} neighbours; got expected_neighbours = {expected_neighbours!r}."
        )
    if connected and n > 1 and expected_neighbours == 0:
        raise ParameterError(
            f"A graph of {n} nodes without edges is not connected; "
            "ask for expected_neighbours above 0, or for connected=False."
        )


def _connected_pairs(n: int, probability: float, random: np.random.Generator) -> npt.NDArray[np.bool_]:
    """(n, n), symmetric: which pairs are joined, each with this probability, given that the graph is connected.

    Think of a breadth-first search from one node, and number its visits. For each other node, the number of the visit
    that finds it is geometric, independently of the others. The graph is connected if and only if the search always has
    a next node until all are found. So these numbers are drawn until that holds. Edges between nodes that were both
    found before either was visited are then independent coins.
    """
    found_by = _finding_visits(n - 1, probability, random)
    order = np.argsort(found_by, kind="stable")  # the nodes except the first, in the order of visits
    found_by = np.concatenate(([-1], found_by[order]))
    visit = np.arange(n)
    earlier = visit[:, None] < visit[None, :]
    free = earlier & (visit[:, None] > found_by[None, :]) & (random.random((n, n)) < probability)
    joined = free | (earlier & (visit[:, None] == found_by[None, :]))
    place = np.empty(n, np.intp)
    place[np.concatenate(([0], order + 1))] = visit
    return np.asarray((joined | joined.T)[np.ix_(place, place)])


def _finding_visits(n: int, probability: float, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """For each of n nodes the number of the visit that finds it; visits 0 to t find at least t + 1 of them (the first
    node of the search is not counted).

    Each is geometric, truncated at n visits. A draw is accepted with a probability of at least about e / n, so the loop
    is short.
    """
    while True:
        visits = _cut_geometric(n, probability, random)
        if (np.cumsum(np.bincount(visits, minlength=n)) > np.arange(n)).all():
            return visits


def _cut_geometric(n: int, probability: float, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """n draws of the number of failures before the first success, given that it is below n."""
    if probability == 1:
        return np.zeros(n, np.int64)
    log_failure = np.log1p(-probability)
    within = -np.expm1(n * log_failure)  # the probability of a success among n tries
    failures = np.log1p(-random.random(n) * within) / log_failure
    return np.asarray(np.minimum(failures.astype(np.int64), n - 1))
