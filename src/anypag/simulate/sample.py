"""Shared by all simulations: seeds, the returned sample, and checks of arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anypag.choices import is_whole
from anypag.errors import DataError, ParameterError
from anypag.graphs.base import Node
from anypag.graphs.pag import DAG

Seed = int | np.random.Generator  # a whole number that is not negative, or a generator to draw from


def generator(seed: Seed, purpose: str) -> np.random.Generator:
    """The generator for one purpose.

    The purpose is part of the seed, so that a graph and a sample with the same seed do not share random draws
    (otherwise the weight of an edge would depend on the draw that created it).
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if not is_whole(seed):
        raise ParameterError(f"A seed is a whole number from 0 on, or a numpy.random.Generator; got {seed!r}.")
    return np.random.default_rng([int(seed), *purpose.encode()])


@dataclass(frozen=True, eq=False, repr=False)
class Sample(Mapping[str, npt.NDArray[Any]]):
    """Rows of observed variables, with their names; read-only.

    It is a mapping from names to columns, which anypag takes as a table; for a data frame use
    `pandas.DataFrame(dict(sample))`. `numpy.asarray(sample)` is `sample.rows`.

    Args:
        rows: (rows, variables), floats or whole numbers (the levels of discrete variables).
        names: one per column.

    >>> sample = Sample([[1.0, 2.0], [3.0, 4.0]], ["A", "B"])
    >>> sample["B"]
    array([2., 4.])
    >>> sample
    Sample(2 rows of 'A', 'B')
    """

    rows: npt.NDArray[Any]
    names: tuple[str, ...]

    def __init__(self, rows: npt.ArrayLike, names: Sequence[str]) -> None:
        array = np.array(rows)
        array.flags.writeable = False
        if array.ndim != 2 or array.shape[1] != len(names):
            raise DataError(f"A sample has one column per name; got shape {array.shape} for {len(names)} names.")
        object.__setattr__(self, "rows", array)
        object.__setattr__(self, "names", tuple(names))

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self.names:
            raise KeyError(name)
        return np.asarray(self.rows[:, self.names.index(name)])

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        """The number of columns: the length of a mapping is the number of its keys."""
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sample):
            return NotImplemented
        return self.names == other.names and bool(np.array_equal(self.rows, other.rows))

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.rows, dtype) if copy else np.asarray(self.rows, dtype)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.names[:6])) + (", …" if len(self.names) > 6 else "")
        return f"Sample({self.n_rows} rows of {shown})"


def checked_count(n_samples: int) -> int:
    """The number of rows as an int. ParameterError if it is not a whole number from 0 on."""
    if not is_whole(n_samples):
        raise ParameterError(f"n_samples is a whole number of rows, 0 or more; got {n_samples!r}.")
    return int(n_samples)


def checked_parts(dag: DAG, latent: Iterable[Node], selection: Iterable[Node]) -> tuple[list[int], list[int]]:
    """The indices of the observed and of the selection nodes."""
    hidden = sorted({dag.index(node) for node in latent})
    selected = sorted({dag.index(node) for node in selection})
    both = [dag.names[i] for i in hidden if i in selected]
    if both:
        raise ParameterError(f"A node is latent or a selection node, not both; got {both[0]!r} as both.")
    observed = [i for i in range(len(dag)) if i not in set(hidden) | set(selected)]
    if not observed:
        raise ParameterError(f"At least one node must be observed; all {len(dag)} are latent or selection nodes.")
    return observed, selected
