"""Complete systems: a DAG with its latent and selection nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anypag.choices import is_whole
from anypag.errors import ParameterError
from anypag.graphs.dag import DAG
from anypag.graphs.pag import PAG
from anypag.simulate.dags import random_dag
from anypag.simulate.discrete import discrete
from anypag.simulate.gaussian import linear_gaussian
from anypag.simulate.sample import Sample, Seed, checked_parts, generator

if TYPE_CHECKING:
    from anypag.ci.oracle import Oracle


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
        """What a perfect search would learn from the observed variables."""
        from anypag.graphs.projection import true_pag

        return true_pag(self.dag, self.latent, self.selection)

    def oracle(self) -> Oracle:
        """A test over the observed variables that is never wrong."""
        from anypag.ci.oracle import Oracle

        return Oracle(self.dag, self.latent, self.selection)

    def linear_gaussian(self, n_samples: int, *, seed: Seed) -> Sample:
        """Selected rows of the observed variables; see `anypag.simulate.linear_gaussian`."""
        return linear_gaussian(self.dag, n_samples, latent=self.latent, selection=self.selection, seed=seed)

    def discrete(self, n_samples: int, *, levels: int | Mapping[str, int] = 2, seed: Seed) -> Sample:
        """Selected rows of the observed variables; see `anypag.simulate.discrete`."""
        return discrete(self.dag, n_samples, levels=levels, latent=self.latent, selection=self.selection, seed=seed)


def random_system(n: int, expected_neighbours: float = 2.0, *, n_selection: int = 0, seed: Seed) -> System:
    """A random system as in the paper on ICD: a `random_dag`, half of its possible confounders hidden.

    Args:
        n: how many nodes, latent ones included, selection nodes not.
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
    """The nodes to hide: as in the paper, half of those without parents that have two or more children, rounded down.

    >>> dag = DAG.from_string("A --> C; A --> D; B --> C; B --> D")
    >>> len(latents(dag, seed=1))
    1
    """
    adjacency = dag.adjacency
    candidates = np.flatnonzero((adjacency.sum(axis=0) == 0) & (adjacency.sum(axis=1) >= 2))
    chosen = generator(seed, "latents").choice(candidates, len(candidates) // 2, replace=False)
    return tuple(dag.names[i] for i in sorted(chosen))


def selection_children(dag: DAG, count: int = 1, *, n_parents: int = 2, seed: Seed) -> tuple[DAG, tuple[str, ...]]:
    """Add selection variables: new nodes S0, S1, ..., each caused by some of the others and causing nothing.

    Args:
        dag: the graph.
        count: how many to add.
        n_parents: how many parents each has.
        seed: a whole number or a `numpy.random.Generator`.

    Returns:
        The larger DAG, the new nodes last, and the names of these.

    >>> dag, selection = selection_children(DAG.from_string("A --> B"), seed=1)
    >>> dag.parents("S0"), selection
    (('A', 'B'), ('S0',))
    """
    if not is_whole(count):
        raise ParameterError(f"count is how many selection nodes to add, 0 or more; got {count!r}.")
    if count and not (is_whole(n_parents) and n_parents <= len(dag)):
        raise ParameterError(f"A selection node has up to {len(dag)} parents; got n_parents = {n_parents!r}.")
    random = generator(seed, "selection_children")
    taken = set(dag.names)
    free = (f"S{i}" for i in range(len(dag) + count))
    names = tuple([name for name in free if name not in taken][:count])
    adjacency = np.zeros((len(dag) + count, len(dag) + count), np.uint8)
    adjacency[: len(dag), : len(dag)] = dag.adjacency
    for child in range(len(dag), len(dag) + count):
        adjacency[random.choice(len(dag), n_parents, replace=False), child] = 1
    return DAG(adjacency, (*dag.names, *names)), names
