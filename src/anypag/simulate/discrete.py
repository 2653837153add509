"""Discrete systems: a table has the distribution of a variable for each combination of its parents' levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from anypag.arrays import Floats
from anypag.choices import is_whole
from anypag.errors import ParameterError
from anypag.graphs.base import Node
from anypag.graphs.pag import DAG
from anypag.simulate.sample import Sample, Seed, checked_count, checked_parts, generator

ConditionalTables = dict[str, npt.NDArray[np.float64]]
"""For every node the table p(node | parents): one axis per parent, in the order of the DAG, then one for the levels."""
SELECTED = 1  # the level of a selection variable that puts a row into the sample
MOST_ENTRIES = 10_000_000  # no table is larger than this (80 MB)
ROWS_BEFORE_REFUSAL = 100_000  # a simulation is refused only after this many rows were drawn
LEAST_SELECTED_SHARE = 1e-3  # if a smaller share of the drawn rows is selected, the simulation is refused
_SMALLEST_BATCH = 10_000  # the fewest rows that are drawn at a time


def discrete(
    dag: DAG,
    n_samples: int,
    *,
    levels: int | Mapping[str, int] = 2,
    latent: Iterable[Node] = (),
    selection: Iterable[Node] = (),
    tables: Mapping[str, npt.ArrayLike] | None = None,
    seed: Seed,
) -> Sample:
    """Draw from a system of discrete variables with levels 0, 1, ...

    Selection: a row is selected if all selection variables are at level 1. Rows are drawn until `n_samples` are
    selected. The simulation is refused if, after 100,000 rows or more, fewer than one in 1,000 is selected.

    Args:
        dag: the causal graph, latent and selection nodes included.
        n_samples: how many (selected) rows.
        levels: how many levels every variable has, or a mapping from names to numbers of levels (names that are
            missing from it get 2).
        latent: nodes that are not measured.
        selection: nodes that decide whether a row is in the sample.
        tables: for every node the table p(node | parents): one axis per parent (in the order of `dag.parents`), then
            one for the node's own levels; drawn by `random_tables` if left out. With tables, `levels` is ignored.
        seed: a whole number or a `numpy.random.Generator`.

    Returns:
        The observed columns, whole numbers.

    Raises:
        ParameterError: hardly any row is selected, or a node has too many parents for a table.

    >>> discrete(DAG.from_string("A --> S; B --> S"), 100, levels=3, selection=["S"], seed=1)
    Sample(100 rows of 'A', 'B')
    """
    n_samples = checked_count(n_samples)
    observed, selected = checked_parts(dag, latent, selection)
    random = generator(seed, "discrete")
    tables = random_tables(dag, levels, seed=random) if tables is None else _checked_tables(dag, tables)
    parents = [np.flatnonzero(column) for column in dag.adjacency.T]
    flat = (tables[name].reshape(-1, tables[name].shape[-1]) for name in dag.names)
    order = [dag.index(name) for name in dag.topological_order()]
    network = _Network(order, parents, [np.cumsum(table, axis=1) for table in flat])
    ancestors = {dag.index(name) for name in dag.ancestors(*selected)}
    values = _selected_rows(network, selected, ancestors, n_samples, random)
    network.draw(values, [i for i in network.order if i not in ancestors], random)
    return Sample(values[observed].T, [dag.names[i] for i in observed])


def random_tables(dag: DAG, levels: int | Mapping[str, int] = 2, *, seed: Seed) -> ConditionalTables:
    """A random conditional table for every node.

    Each distribution is drawn independently and uniformly (from a flat Dirichlet distribution).

    >>> random_tables(DAG.from_string("A --> B"), 3, seed=1)["B"].shape
    (3, 3)
    """
    random, tables = generator(seed, "random_tables"), {}
    given = dict(levels) if isinstance(levels, Mapping) else dict.fromkeys(dag.names, levels)
    for name, count in given.items():
        dag.index(name)
        if not is_whole(count, 2):
            raise ParameterError(f"A discrete variable has at least 2 levels; got {count!r} for {name!r}.")
    sizes = {name: int(given.get(name, 2)) for name in dag.names}
    for name in dag.names:
        shape = [sizes[parent] for parent in dag.parents(name)]
        entries = prod(shape) * sizes[name]
        if entries > MOST_ENTRIES:
            raise ParameterError(
                f"The table of {name!r} would have {entries:.2g} entries ({len(shape)} parents); "
                f"at most {MOST_ENTRIES:,} are allowed. Use a sparser DAG or fewer levels."
            )
        tables[name] = random.dirichlet(np.ones(sizes[name]), size=shape)
    return tables


@dataclass(frozen=True)
class _Network:
    """The tables of a system as cumulative probabilities, by which rows are drawn; nodes are given by index."""

    order: list[int]
    parents: list[npt.NDArray[np.intp]]
    cumulative: list[Floats]  # (combinations of the parents' levels, levels)

    def draw(self, values: npt.NDArray[np.int32], nodes: Iterable[int], random: np.random.Generator) -> None:
        """Fill `values` (variables, rows) at the nodes; their parents must be filled already or come earlier."""
        for node in nodes:
            combination = np.zeros(values.shape[1], np.intp)
            for parent in self.parents[node]:
                combination = combination * self.cumulative[parent].shape[1] + values[parent]
            uniform = random.random(values.shape[1])
            for bound in self.cumulative[node].T[:-1]:
                values[node] += uniform >= bound[combination]


def _selected_rows(
    network: _Network, selected: list[int], ancestors: set[int], n_samples: int, random: np.random.Generator
) -> npt.NDArray[np.int32]:
    """(variables, n_samples) selected rows. Selection variables and their causes are drawn; all others are still 0."""
    first = [i for i in network.order if i in ancestors]
    shape = (len(network.order), max(n_samples, _SMALLEST_BATCH))
    kept, n_kept, n_drawn = [np.zeros((shape[0], 0), np.int32)], 0, 0
    while n_kept < n_samples:
        values = np.zeros(shape, np.int32)
        network.draw(values, first, random)
        kept.append(values[:, (values[selected] == SELECTED).all(axis=0)])
        n_kept, n_drawn = n_kept + kept[-1].shape[1], n_drawn + shape[1]
        if n_drawn >= ROWS_BEFORE_REFUSAL and n_kept < LEAST_SELECTED_SHARE * n_drawn:
            raise ParameterError(
                f"Hardly any row is selected: {n_kept:,} of {n_drawn:,} drawn have level {SELECTED} in every "
                "selection variable. Use fewer selection nodes, other tables, or another seed."
            )
    return np.ascontiguousarray(np.concatenate(kept, axis=1)[:, :n_samples])


def _checked_tables(dag: DAG, tables: Mapping[str, npt.ArrayLike]) -> ConditionalTables:
    """The tables, each of the right shape and summing to 1."""
    odd = set(dag.names) ^ set(tables)
    if odd:
        raise ParameterError(
            f"There must be one table per node; {min(odd)!r} is a node without a table, or a table without a node."
        )
    checked = {name: np.asarray(tables[name], np.float64) for name in dag.names}
    for name, table in checked.items():
        levels = [checked[parent].shape[-1] for parent in dag.parents(name) if checked[parent].ndim]
        if table.shape[:-1] != tuple(levels) or not table.ndim:
            raise ParameterError(
                f"The table of {name!r} must have one axis per parent ({', '.join(dag.parents(name)) or 'none'}) "
                f"and one for its own levels: shape {(*levels, 'its levels')}; got shape {table.shape}."
            )
        if not (table >= 0).all() or not np.allclose(table.sum(axis=-1), 1):
            raise ParameterError(f"Every distribution in the table of {name!r} must be non-negative and sum to 1.")
    return checked
