"""What a conditional-independence test is, to the rest of the package.

A test is bound to its data (or to a true graph) once; after that a search only ever asks "the p-values of these
index triples". Within one iteration all condition sets have the same size, so a batch of questions is a rectangle:
`x (b,)`, `y (b,)`, `z (b, r)`. A compiled loop, a graphics card, a cluster or an oracle all answer the same rectangle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from anypag.errors import CITestError

Indices = npt.NDArray[np.int32]
PValues = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Queries:
    """A batch of questions "is x independent of y given z?", all with condition sets of the same size.

    Args:
        x: (b,) indices.
        y: (b,) indices.
        z: (b, r) indices, one condition set a row.

    >>> q = Queries([0, 0], [1, 2], [[2], [1]])
    >>> len(q), q.r
    (2, 1)
    """

    x: Indices
    y: Indices
    z: Indices

    def __init__(self, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike) -> None:
        x, y, z = (np.ascontiguousarray(part, dtype=np.int32) for part in (x, y, z))
        if x.ndim != 1 or y.shape != x.shape or z.ndim != 2 or len(z) != len(x):
            raise CITestError(
                "Queries are x of shape (b,), y of shape (b,) and z of shape (b, r); "
                f"got shapes {x.shape}, {y.shape} and {z.shape}."
            )
        for name, part in (("x", x), ("y", y), ("z", z)):
            object.__setattr__(self, name, part)

    @classmethod
    def one(cls, x: int, y: int, z: Iterable[int] = ()) -> Self:
        """A batch of a single question."""
        return cls([x], [y], np.fromiter(z, np.int32)[None, :])

    @property
    def r(self) -> int:
        """The size of the condition sets."""
        return int(self.z.shape[1])

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: npt.NDArray[np.intp] | npt.NDArray[np.bool_] | slice) -> Self:
        """Some of the questions."""
        return type(self)(self.x[rows], self.y[rows], self.z[rows])


@runtime_checkable
class CITest(Protocol):
    """Anything that answers `Queries` with p-values.

    `names` are the variables, in the order of the indices. `exact` says that the answers are never wrong (an oracle),
    so that marks derived from them may be trusted to prune the search. `batch` is how many questions the test likes
    to get at a time: a compiled test answers thousands about as fast as one; 1 means that every single answer costs,
    and that none should be asked for ahead of need.
    """

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def exact(self) -> bool: ...

    @property
    def batch(self) -> int: ...

    def pvalues(self, queries: Queries) -> PValues:
        """(b,) float64, each in [0, 1]; never NaN. An oracle answers 0.0 (dependent) or 1.0 (independent)."""
        ...
