"""Random DAGs, and complete systems: a DAG with its latent and selection nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anypag.arrays import Counts, Flags
from anypag.choices import is_whole
from anypag.errors import ParameterError
from anypag.graphs.pag import DAG, PAG
from anypag.simulate.discrete import discrete
from anypag.simulate.gaussian import linear_gaussian
from anypag.simulate.sample import Sample, Seed, checked_parts, generator

if TYPE_CHECKING:
    from anypag.ci.base import Oracle


@dataclass(frozen=True)
class System:
    """A causal DAG over observed, latent and selection variables.

    Args:
        dag: the causal graph over all of them.
        latent: the names of the nodes that are not measured.
        selection: the names of the nodes that are conditioned on because only some units got into the sample.

    >>> System(DAG.from_string("L --> A; L --> B; B --> C"), latent=("L",)).observed
    ('A', 'B', 'C')
    """

    dag: DAG
    latent: tuple[str, ...] = ()
    selection: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checked_parts(self.dag, self.latent, self.selection)

    @property
    def observed(self) -> tuple[str, ...]:
        """The names of the observed variables."""
        hidden = {*self.latent, *self.selection}
        return tuple(name for name in self.dag.names if name not in hidden)

    def true_pag(self) -> PAG:
        """The PAG that a perfect search would learn from the observed variables."""
        from anypag.graphs.projection import true_pag

        return true_pag(self.dag, self.latent, self.selection)

    def oracle(self) -> Oracle:
        """A test over the observed variables that is never wrong."""
        from anypag.ci.base import Oracle

        return Oracle(self.dag, self.latent, self.selection)

    def linear_gaussian(self, n_samples: int, *, seed: Seed) -> Sample:
        """Selected rows of the observed variables; see `anypag.simulate.linear_gaussian`."""
        return linear_gaussian(self.dag, n_samples, latent=self.latent, selection=self.selection, seed=seed)

    def discrete(self, n_samples: int, *, levels: int | Mapping[str, int] = 2, seed: Seed) -> Sample:
        """Selected rows of the observed variables; see `anypag.simulate.discrete`."""
        return discrete(self.dag, n_samples, levels=levels, latent=self.latent, selection=self.selection, seed=seed)


def random_system(n: int, expected_neighbours: float = 2.0, *, n_selection: int = 0, seed: Seed) -> System:
    """A random system as in Rohekar et al. (2020): a `random_dag` with half of its possible confounders hidden.

    Args:
        n: the number of nodes without selection nodes; latent nodes are included.
        expected_neighbours: see `random_dag`.
        n_selection: how many `selection_children` to add (none in the paper).
        seed: a whole number or a `numpy.random.Generator`.

    >>> system = random_system(20, n_selection=1, seed=3)
    >>> len(system.observed) + len(system.latent), system.selection
    (20, ('S0',))
    """
    random = generator(seed, "random_system")
    dag = random_dag(n, expected_neighbours, seed=random)
    latent = latents(dag, seed=random)
    dag, selection = selection_children(dag, n_selection, n_parents=min(2, n), seed=random)
    return System(dag, latent, selection)


def latents(dag: DAG, *, seed: Seed) -> tuple[str, ...]:
    """The nodes to hide: half (rounded down) of those with no parents and two or more children (Rohekar et al. 2020).

    >>> dag = DAG.from_string("A --> C; A --> D; B --> C; B --> D")
    >>> len(latents(dag, seed=1))
    1
    """
    adjacency = dag.adjacency
    candidates = np.flatnonzero((adjacency.sum(axis=0) == 0) & (adjacency.sum(axis=1) >= 2))
    chosen = generator(seed, "latents").choice(candidates, len(candidates) // 2, replace=False)
    return tuple(dag.names[i] for i in sorted(chosen))


def selection_children(dag: DAG, count: int = 1, *, n_parents: int = 2, seed: Seed) -> tuple[DAG, tuple[str, ...]]:
    """Add selection variables: new nodes S0, S1, ..., each with random parents in the graph and without children.

    Args:
        dag: the graph.
        count: how many selection variables to add.
        n_parents: how many parents each of them has.
        seed: a whole number or a `numpy.random.Generator`.

    Returns:
        The larger DAG, with the new nodes last, and the names of the new nodes.

    >>> dag, selection = selection_children(DAG.from_string("A --> B"), seed=1)
    >>> dag.parents("S0"), selection
    (('A', 'B'), ('S0',))
    """
    if not is_whole(count):
        raise ParameterError(f"count is how many selection nodes to add, 0 or more; got {count!r}.")
    if count and not (is_whole(n_parents) and n_parents <= len(dag)):
        raise ParameterError(f"A selection node has up to {len(dag)} parents; got n_parents = {n_parents!r}.")
    random = generator(seed, "selection_children")
    free = [name for i in range(len(dag) + count) if (name := f"S{i}") not in dag.names]
    names = tuple(free[:count])
    adjacency = np.zeros((len(dag) + count, len(dag) + count), np.uint8)
    adjacency[: len(dag), : len(dag)] = dag.adjacency
    for child in range(len(dag), len(dag) + count):
        adjacency[random.choice(len(dag), n_parents, replace=False), child] = 1
    return DAG(adjacency, (*dag.names, *names)), names


def random_dag(n: int, expected_neighbours: float, *, connected: bool = True, seed: Seed) -> DAG:
    """A random DAG: every pair i < j has the edge i → j with probability `expected_neighbours / (n - 1)`.

    With `connected` (as in Rohekar et al. 2020) the graph has the same distribution as if graphs were drawn until one
    is connected, but drawing is fast for any size. Connected graphs are denser: with `expected_neighbours` 2, nodes
    have 2.6 neighbours on average, in graphs of 35 nodes and of 1,000 nodes.

    Args:
        n: how many nodes; they are named X0, X1, ... in causal order.
        expected_neighbours: the mean number of neighbours of a node (parents and children) in graphs that need not be
            connected; from 0 to n - 1.
        connected: whether the graph must be connected.
        seed: a whole number or a `numpy.random.Generator`.

    >>> print(random_dag(4, 1.5, seed=0))
    X0 --> X1
    X0 --> X3
    X1 --> X2
    X2 --> X3
    """
    if not is_whole(n, 1):
        raise ParameterError(f"A random DAG has a whole number of nodes, at least 1; got n = {n!r}.")
    if not 0 <= expected_neighbours <= n - 1:
        got = f"got expected_neighbours = {expected_neighbours!r}."
        raise ParameterError(f"Each of {n} nodes can have 0 to {n - 1} neighbours; {got}")
    if connected and n > 1 and expected_neighbours == 0:
        raise ParameterError(
            f"A graph of {n} nodes without edges is not connected; "
            "ask for expected_neighbours above 0, or for connected=False."
        )
    random = generator(seed, "random_dag")
    if n == 1:
        return DAG([[0]])
    probability = expected_neighbours / (n - 1)
    edges = _connected_pairs(n, probability, random) if connected else random.random((n, n)) < probability
    return DAG(np.triu(edges, 1).astype(np.uint8))


def _connected_pairs(n: int, probability: float, random: np.random.Generator) -> Flags:
    """(n, n), symmetric: the edges of a random graph, each with this probability, given that the graph is connected.

    A breadth-first search from one node visits the nodes that it has found, in turn. Number the visits 0, 1, 2, ... For
    each other node, the number of the visit at which it is found is geometric, independently of the rest. The graph is
    connected if and only if the search always has a next node until all are found. The numbers are drawn until this
    condition holds, on average at most n / e times (e = 2.718). Two nodes that were both found before either was
    visited are then joined independently, with the given probability.
    """
    found_by = _cut_geometric(n - 1, probability, random)
    while (np.cumsum(np.bincount(found_by, minlength=n - 1)) <= np.arange(n - 1)).any():
        found_by = _cut_geometric(n - 1, probability, random)
    order = np.argsort(found_by, kind="stable")  # the nodes except the first, in the order of visits
    found_by = np.concatenate(([-1], found_by[order]))
    visit = np.arange(n)
    earlier = visit[:, None] < visit[None, :]
    free = earlier & (visit[:, None] > found_by[None, :]) & (random.random((n, n)) < probability)
    joined = free | (earlier & (visit[:, None] == found_by[None, :]))
    place = np.empty(n, np.intp)
    place[np.concatenate(([0], order + 1))] = visit
    return np.asarray((joined | joined.T)[np.ix_(place, place)])


def _cut_geometric(n: int, probability: float, random: np.random.Generator) -> Counts:
    """n draws of the number of failures before the first success, given that this number is below n."""
    if probability == 1:
        return np.zeros(n, np.int64)
    log_failure = np.log1p(-probability)
    within = -np.expm1(n * log_failure)  # the probability of a success among n tries
    failures = np.log1p(-random.random(n) * within) / log_failure
    return np.asarray(np.minimum(failures.astype(np.int64), n - 1))
