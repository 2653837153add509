"""The interface of a source of rows (`Source`), and what a test asks of it (`Needs`).

`Table` is the source of rows in memory, `CountedTable` that of rows with counts. A view is a source too: `take`,
`with_kinds`, `complete` and `normal_scores` return one. Columns are always in the user's order. A class of
sources documents a member only where it differs from `Source`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self

from anypag.arrays import Counts, Floats

if TYPE_CHECKING:
    from anypag.data.findings import Finding, Singular
    from anypag.data.moments import Moments, Products
    from anypag.data.sources.counted import CountedTable
    from anypag.data.table import Kind, Missing, Table

MOST_LOOKED_AT = 4_000_000  # the most numbers (32 MB) that are read from a file or an engine for checks of values
Lacked = Literal["rows", "order", "values"]  # rows to check one by one, the order of recording, any values at all


class Needs(NamedTuple):
    """What a test, an algorithm and the user's choices require of a table; the audit reports violations."""

    takes: Kind | Literal["any"] = "any"  # the kind that the test gives to every column; "any": each column's own
    missing: Missing = "error"
    singular: Singular = "error"
    max_r: int | None = None  # the size of the largest condition set; None: all columns except x and y
    score: bool = False  # does the method score graphs too?
    sees_curves: bool = False  # does the test see more than straight lines?
    weighs: bool = False  # can the test weight rows?


class Summary(NamedTuple):
    """Gaps and extremes. `low`, `high`: NaN for a column without values; for text NaN, or the extremes of codes."""

    n: int  # the number of rows
    n_complete: int  # how many rows have no gap
    missing: Counts  # (p,) how many values each column lacks
    infinite: Counts  # (p,) how many values of each column are infinite
    low: Floats  # (p,) the least values
    high: Floats  # (p,) the largest values


class Others(NamedTuple):
    """How many rows have a given number in a column, and the smallest and largest other number (NaN if none)."""

    times: int
    low: float
    high: float


class Levels(NamedTuple):
    """The different values of a column, ascending, and how many rows have each; a gap is not a level."""

    values: list[Any]
    counts: Counts


class Spread(NamedTuple):
    """Moments with indicators in place of discrete columns. `start` (p + 1,): where each variable's columns begin."""

    moments: Moments
    start: Counts


class Source(Protocol):
    """Columns with names and kinds, and what checks and tests read from them."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in the user's order."""

    @property
    def n(self) -> int:
        """The number of rows, those with gaps included."""

    @property
    def labels(self) -> tuple[tuple[str, ...] | None, ...]:
        """Per column the texts that its values are codes of; None for a column of numbers."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of each column: the user's choice, else inferred from the values on first use."""

    @property
    def read(self) -> tuple[Finding, ...]:
        """Findings from reading the source."""

    @property
    def raw(self) -> Source:
        """The source before its columns were transformed; itself if they were not."""

    @property
    def lacks(self) -> Mapping[Lacked, str]:
        """What the source cannot give, with the reason: {"rows": "a covariance matrix has no rows"}."""

    # views

    def take(self, names: Sequence[str]) -> Source:
        """Some of the columns, in the order asked for."""

    def with_kinds(self, kinds: Mapping[str, Kind]) -> Source:
        """The source with some kinds set by hand."""

    def complete(self) -> Source:
        """The rows without gaps."""

    def settled(self) -> Source:
        """The source with kinds inferred from all rows, if that does not need too much memory."""

    def normal_scores(self) -> Source:
        """The source with normal scores in place of the values of its continuous columns."""

    # reads

    def summary(self) -> Summary:
        """Gaps, infinite values and extremes."""

    def levels(self, i: int) -> Levels:
        """The levels of a column."""

    def beside(self, i: int, value: float) -> Others:
        """How many rows have this number in a column, and the range of its other numbers."""

    def sample(self) -> Table:
        """Rows for checks that need values: all rows, or the first ones; an empty table if the source has no rows."""

    def moments(self, names: Sequence[str] | None = None, *, threads: int = 1, on: Products | None = None) -> Moments:
        """Means, deviations and correlations of some columns, over rows without gaps in them; `on`: a graphics card."""

    def spread(self) -> Spread:
        """The moments of all columns, with indicators for the discrete ones."""

    def groups(self, names: Sequence[str] | None = None) -> CountedTable | None:
        """The distinct rows of some columns with their counts; None if there are too many."""

    def rows(self) -> Table:
        """All rows in memory. DataError if the source has no rows, or too many."""


class ThroughRows:
    """The base of sources that read all rows into memory for normal scores and for `spread`."""

    def rows(self) -> Table:
        raise NotImplementedError

    @property
    def raw(self) -> Self:
        return self

    @property
    def lacks(self) -> Mapping[Lacked, str]:
        return {}

    def settled(self) -> Self | Table:
        return self

    def beside(self, i: int, value: float) -> Others:
        return self.rows().beside(i, value)

    def normal_scores(self) -> Table:
        return self.rows().normal_scores()

    def spread(self) -> Spread:
        return self.rows().spread()
