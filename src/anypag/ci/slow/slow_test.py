"""The base of slow tests, which process all rows for every question: kernel tests and tests by regression.

Every answer is expensive, so `batch` is 1: answers are cached, kept in checkpoints, and can be shared out among workers
(`n_jobs`). A question seeds its random numbers by its names, so its answer depends neither on earlier questions nor on
the order of x and y.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from anypag.arrays import Counts, Floats
from anypag.choices import Choices
from anypag.ci.base import PValues, Queries
from anypag.ci.data_test import DataTest
from anypag.data.audit.checklist import audited
from anypag.data.findings import Singular
from anypag.data.levels import indicators
from anypag.data.sources.protocol import Needs
from anypag.data.table import Kind, Missing, as_table

LEAST_ROWS = 10  # the least rows of a question; with fewer p = 1


class SlowTest(DataTest):
    """A test that works on the rows for every question.

    Args:
        data, names, missing, singular, max_r: as for `FisherZ`.
        kinds: "continuous", "discrete" or "ordinal", for columns whose kind should not be inferred; a discrete column
            becomes one column of zeros and ones for each level but the most frequent.
        seed: of random numbers; the same seed and question give the same answer.
    """

    takes = "any"
    batch: ClassVar[int] = 1
    strength = None  # type: ignore[assignment]  # it would cost a test for every pair

    kinds: tuple[Kind, ...]  # the kind of each column: given by the user or inferred

    def __init__(
        self,
        data: Any,
        names: Sequence[str] | None = None,
        *,
        kinds: Mapping[str, str] | None = None,
        missing: Missing = "error",
        singular: Singular = "error",
        max_r: int | None = None,
        seed: int = 0,
    ) -> None:
        needs = Needs("any", missing, singular, max_r, sees_curves=True)
        ready = audited(as_table(data, names, kinds=kinds), needs)
        ready.audit.require_usable()
        table = ready.source.rows()
        super().__init__(table.names, table.n, ready.audit)
        self.kinds = table.kinds
        self.seed = seed
        self._columns = [
            indicators(column) if kind == "discrete" else column[:, None]
            for column, kind in zip(table.values.T, self.kinds, strict=True)
        ]

    @classmethod
    def bind(cls, data: Any, choices: Choices) -> Self:
        names, kinds, max_r = choices.names, choices.kinds, choices.max_r
        return cls(data, names, kinds=kinds, missing=choices.missing, singular=choices.singular, max_r=max_r)

    def pvalues(self, queries: Queries) -> PValues:
        queries = self.arranged(queries)
        rows = zip(queries.x.tolist(), queries.y.tolist(), queries.z.tolist(), strict=True)
        return np.array([self._asked(x, y, z) for x, y, z in rows])

    def effective_n(self, queries: Queries) -> Counts:
        rows = zip(queries.x.tolist(), queries.y.tolist(), queries.z.tolist(), strict=True)
        return np.array([int(np.sum(self._is_complete([x, y, *z]))) for x, y, z in rows], np.int64)

    def _is_complete(self, columns: list[int]) -> Floats:
        gaps = [np.isnan(self._columns[i]).any(axis=1) for i in columns]
        complete: Floats = ~np.any(gaps, axis=0)
        return complete

    def _asked(self, x: int, y: int, z: list[int]) -> float:
        """The p-value of one arranged question: columns standardised, over the complete rows."""
        rows = self._is_complete([x, y, *z])
        if rows.sum() < LEAST_ROWS:
            return 1.0
        ends = [_standardised(self._columns[i][rows]) for i in (x, y)]
        given = _standardised(np.column_stack([np.empty((int(rows.sum()), 0)), *(self._columns[i][rows] for i in z)]))
        if not all(end.shape[1] for end in ends):  # constant in these rows
            return 1.0
        random = np.random.default_rng(self._seed_of([x, y, *z]))
        return float(min(max(self.one(ends[0], ends[1], given, random), 0.0), 1.0))

    def _seed_of(self, columns: list[int]) -> int:
        text = "\0".join([str(self.seed), *(self.names[i] for i in columns)])
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest(), "little")

    @abstractmethod
    def one(self, x: Floats, y: Floats, z: Floats, random: np.random.Generator) -> float:
        """The p-value of one question: (n, k) columns of x, y and z, each with mean 0 and deviation 1."""


def _standardised(columns: Floats) -> Floats:
    """The columns that are not constant, with mean 0 and deviation 1; scaled first, so that no square overflows."""
    scaled = columns / np.maximum(np.abs(columns).max(axis=0, initial=0.0), 1e-300)
    centred = scaled - scaled.mean(axis=0)
    deviation = np.sqrt(np.square(centred).mean(axis=0))
    changes = deviation > 1e-12
    unit: Floats = centred[:, changes] / deviation[changes]
    return unit
