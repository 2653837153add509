"""The base of tests bound to a table: names, rows, the audit, and the check of queries; and that of slow tests."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Floats, Indices
from anypag.choices import Choices
from anypag.ci.base import PValues, Queries, without_score
from anypag.data.audit.checklist import audited
from anypag.data.findings import Audit, Singular
from anypag.data.levels import indicators
from anypag.data.moments import name_order
from anypag.data.sources.protocol import Needs, Source
from anypag.data.table import Kind, Missing, as_table
from anypag.data.worth import Worth
from anypag.errors import CITestError, DataError, Option

if TYPE_CHECKING:
    from anypag.scores.base import Score


LEAST_ROWS = 10  # the least rows of a question to a slow test; with fewer p = 1
MOST_ROWS_KEPT, MOST_COLUMNS_KEPT = 5000, 200  # the largest table whose rows are kept for checks after the search


class DataTest(ABC):
    """A test bound to data.

    `names` are the columns, `n` the rows, `audit` what was found in them. Condition sets are worked through in the
    order of the names (`arranged`), so that an answer depends neither on how a set is written nor on the order of the
    columns.
    """

    exact: ClassVar[bool] = False
    batch: ClassVar[int] = 65536

    takes: ClassVar[Literal["continuous", "discrete", "any"]]  # the kind of columns the test is for

    weighs: ClassVar[bool] = False
    """Can it weight rows (`anypag.weighted`)?"""

    fits: ClassVar[str] = "as its author says"
    """What must be true of the data for its p-values to be right, in a few words for reports."""

    names: tuple[str, ...]
    n: int
    audit: Audit
    worth: Worth | None = None
    """What its rows are worth, where that is not one each: weighted rows, ordered levels."""
    some_rows: Floats | None = None
    """(m, p) rows for checks of a fitted graph, as the test sees them; None if there are none, or gaps."""

    is_number: tuple[bool, ...] = ()  # per column: does it hold numbers, not words? Known where `some_rows` are

    def __init__(self, names: tuple[str, ...], n: int, audit: Audit) -> None:
        self.names = names
        self.n = n
        self.audit = audit
        self._stored: Indices = name_order(names).astype(np.int32)
        """(p,) where the column at each place in the order of the names is stored."""
        self.place: Indices = np.argsort(self._stored).astype(np.int32)
        """(p,) the place of each column in the order of the names."""

    @classmethod
    @abstractmethod
    def bind(cls, data: Any, choices: Choices) -> Self:
        """The test of a table, made as the choices say."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.names)} columns, {self.n_rows} rows)"

    @property
    def n_rows(self) -> int:
        """The number of rows behind its answers."""
        return self.n if self.worth is None else self.worth.n_rows

    @property
    def n_scored(self) -> int:
        """The number of rows that a score counts."""
        return self.n if self.worth is None else self.worth.n_scored

    @property
    def is_weighted(self) -> bool:
        """Can its resamples be made by weights? Not known for a user's subclass."""
        return type(self).__module__.startswith("anypag.")

    @abstractmethod
    def pvalues(self, queries: Queries) -> PValues:
        """(b,) p-values."""

    @abstractmethod
    def strength(self, queries: Queries) -> Floats:
        """(b,) larger means more dependent, also where all p-values are 0."""

    @abstractmethod
    def effective_n(self, queries: Queries) -> Counts:
        """(b,) the number of rows each answer rests on."""

    def score(self) -> Score:
        """The score of what the test read, for graphs over the same columns and rows. DataError if there is none."""
        raise without_score(self)

    def _keep_some_rows(self, source: Source) -> None:
        """Keep the rows of a small table, and some from all parts of a large one, if each is worth one."""
        if "rows" not in source.lacks and self.worth is None and len(source.names) <= MOST_COLUMNS_KEPT:
            values = source.sample().values
            step = -(-len(values) // MOST_ROWS_KEPT)
            self.some_rows = values if step < 2 else values[::step].copy()
            self.is_number = tuple(labels is None for labels in source.labels)

    def _store_by_name(self) -> None:
        """Columns are stored in the order of their names from here on."""
        self._stored = np.arange(len(self.names), dtype=np.int32)

    def arranged(self, queries: Queries) -> Queries:
        """The queries as kernels take them: stored column numbers, x before y and z ascending by name."""
        from anypag._kernels.pairs import arranged

        inside, *parts = arranged(self.place, self._stored, queries.x, queries.y, queries.z)
        self._require(inside)
        return Queries(*parts)

    def _check(self, queries: Queries) -> None:
        from anypag._kernels.pairs import all_in_range

        self._require(all_in_range(queries.x, queries.y, queries.z, len(self.names)))

    def _require(self, inside: bool) -> None:
        if not inside:
            raise CITestError(
                f"Indices go from 0 to {len(self.names) - 1}, one for each of the {len(self.names)} columns; "
                "the queries hold others."
            )


def require_no_gaps(has_gaps: bool) -> None:
    """Raises DataError if there are gaps, since a score needs complete rows."""
    if has_gaps:
        raise DataError(f"A score needs a value in every cell, and some are missing. Take {Option('missing', 'drop')}.")


def strength_of_statistic(statistics: Floats, means: npt.NDArray[Any], rows: Counts) -> Floats:
    """A likelihood-ratio or χ² statistic on the scale of a correlation, between 0 and 1.

    For Gaussian columns such a statistic is -n · log(1 - rho²), so rho = sqrt(1 - exp(-statistic / n)); the
    same formula serves the others. The mean of the statistic under independence (its degrees of freedom, for χ²) is
    subtracted first, so that many cells alone do not look like a strong dependence.
    """
    excess = np.maximum(statistics - means, 0.0) / np.maximum(rows, 1)
    strength: Floats = np.sqrt(-np.expm1(-excess))
    return strength


class StatisticTest(DataTest):
    """A test whose statistic follows χ²."""

    @abstractmethod
    def statistics(self, queries: Queries) -> tuple[Floats, npt.NDArray[Any], Counts]:
        """(b,) each: statistics, degrees of freedom, and the number of rows they rest on."""

    def pvalues(self, queries: Queries) -> PValues:
        """(b,) p-values."""
        statistics, freedoms, _ = self.statistics(queries)
        return pvalues_of_statistic(statistics, freedoms)

    def strength(self, queries: Queries) -> Floats:
        """(b,) how strongly the data speak for dependence, in [0, 1]; see `strength_of_statistic`."""
        return strength_of_statistic(*self.statistics(queries))


def pvalues_of_statistic(statistics: Floats, freedoms: npt.NDArray[Any]) -> PValues:
    """The upper tail of χ²; 1 where there are no degrees of freedom."""
    from scipy.special import chdtrc

    return np.where(freedoms > 0, chdtrc(np.where(freedoms > 0, freedoms, 1), statistics), 1.0)


class SlowTest(DataTest):
    """The base of slow tests, which process all rows for every question.

    Every answer is expensive, so `batch` is 1: answers are cached, kept in checkpoints, and can be shared out among
    workers (`n_jobs`). A question seeds its random numbers by its names, so its answer depends neither on earlier
    questions nor on the order of x and y.

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
