"""Several data sets in one table, with contexts: columns that say under which conditions a row was recorded."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from anypag.arrays import Counts, Flags, Floats
from anypag.data.columns import require_columns
from anypag.data.findings import Finding, warning
from anypag.data.sources.counted import refuse_weights
from anypag.data.table import Kind, Table, as_table, parts_of
from anypag.errors import DataError, ParameterError, absent, listed

ContextsTest = Literal["all", "pairwise"]
Rows = npt.NDArray[np.bool_] | npt.NDArray[np.intp]

MOST_SETS = 50  # the most values of a column that tells data sets apart


@dataclass(frozen=True, eq=False)
class Pooled(Table):
    """The rows of several data sets, with their contexts: the result of `pooled`, which explains `assumptions` and
    `contexts_test`. `learn` and `bootstrap` add contexts and targets to the user's `anypag.Knowledge`.
    """

    contexts: tuple[str, ...] = ()  # the names of the added columns
    assumptions: str = "123"
    targets: tuple[tuple[str, tuple[str, ...]], ...] = ()  # each context's known targets
    contexts_test: ContextsTest = "all"
    sets: tuple[str, ...] = ()  # the names of the data sets, the observed one first
    of_set: Counts = field(default_factory=lambda: np.zeros(0, np.int64))  # (n,) each row's set, as a place in `sets`
    by: str | None = None  # the column that told the data sets apart, if they were one table
    told: tuple[str, ...] = ()  # notes about the rows for readers of estimates

    def take(self, names: Sequence[str]) -> Table:
        """Some of the columns; `contexts` keeps only the contexts among them."""
        made = super().take(names)
        return replace(self, **parts_of(made), contexts=tuple(name for name in self.contexts if name in made.names))

    def take_rows(self, rows: Rows) -> Table:
        return replace(super().take_rows(rows), of_set=self.of_set[rows])  # type: ignore[call-arg]

    @property
    def observed(self) -> Table:
        """The rows of the observed set, without contexts."""
        return super().take([name for name in self.names if name not in self.contexts]).take_rows(self.of_set == 0)

    def for_estimates(self, chosen: Flags) -> Table:
        """Some of the rows as a plain table. Contexts that do not vary in these rows are replaced by random numbers
        that are unrelated to the other columns, so that adjusting for such a context changes nothing.
        """
        rows = Table(**parts_of(self)).take_rows(chosen)
        values, same = np.array(rows.values), [self.names.index(name) for name in self.same_in(chosen)]
        levels = [place for place in same if self.kinds[place] == "discrete"]
        noise = np.random.default_rng(0)
        for place in levels:
            values[:, place] = noise.permutation(np.arange(rows.n) % 2)
        numbers = [place for place in same if place not in levels]
        varying = [place for place in range(len(self.names)) if place not in same]
        values[:, numbers] = _unrelated(values[:, varying], noise.normal(size=(rows.n, len(numbers))))
        return replace(rows, values=np.asfortranarray(values))

    def same_in(self, chosen: Flags) -> tuple[str, ...]:
        """The contexts that do not vary in the chosen rows."""
        values = self.values[chosen]
        return tuple(name for name in self.contexts if len(np.unique(values[:, self.names.index(name)])) == 1)

    def within_sets(self) -> Table:
        """The table without contexts, its continuous columns centred in each data set."""
        values, numbers = np.array(self.values), self.of_kind("continuous")
        for rows in (self.of_set == k for k in np.unique(self.of_set)):
            with warnings.catch_warnings():  # a column without values in a set has no mean there
                warnings.simplefilter("ignore", RuntimeWarning)
                values[np.ix_(rows, numbers)] -= np.nanmean(values[np.ix_(rows, numbers)], axis=0)
        made = replace(self, values=np.asfortranarray(values), given_kinds=self.kinds)
        return Table.take(made, [name for name in self.names if name not in self.contexts])

    @property
    def is_fixed(self) -> bool:
        """Do contexts depend on the design alone, by the assumptions? Then every test may condition on all of them."""
        return "3" in self.assumptions or ("2" in self.assumptions and len(self.contexts) == 1)

    @property
    def design(self) -> Floats:
        """(m, k) the different rows of the contexts."""
        return np.unique(self.values[:, [self.names.index(name) for name in self.contexts]], axis=0)


def pooled(
    data: Any,
    *,
    by: str | None = None,
    observed: str | None = None,
    contexts: Any = "indicator",
    assumptions: str = "123",
    targets: Mapping[str, str | Sequence[str]] | None = None,
    contexts_test: ContextsTest = "all",
) -> Pooled:
    """Several data sets (arms of a trial, knock-outs, hospitals) as one table that records where its rows come from.

    Args:
        data: the data sets by their names; or one table, and `by`.
        by: the column of a single table that says which data set a row is from.
        observed: the name of the observed set (without an intervention), with which others are compared; by default the
            first of the sets, or the set of the first row.
        contexts: the columns that say which data set a row is from: "indicator" (for each set but the observed one, a
            column of zeros and ones), "one" (a single discrete column, `context`), or a table of the columns' values
            with a row for each set.
        assumptions: those of Joint Causal Inference: "1" (no variable is a cause of a context), "12" (and no hidden
            cause acts on a context and a variable), "123" (and contexts depend on each other by the design alone).
        targets: the known direct targets of contexts: {"drug": ["pkc"]}. The search finds other targets.
        contexts_test: the rows that answer whether a context acts on a variable: "all", or "pairwise" (each set against
            the observed one), which is better if sets differ a lot in size.

    Tests compare means: an intervention that changes only the spread of a variable is seen with `test="additive"`.
    The rows are assumed to be free of selection.

    Returns:
        a table for `learn`, `bootstrap` and `effect`, with the columns that all sets have; the audit names the others.

    >>> import numpy as np, anypag as ap
    >>> rng = np.random.default_rng(0)
    >>> a, c = rng.normal(size=(2, 500)), rng.normal(size=(2, 500))
    >>> sets = {"observed": {"A": a[0], "B": a[0] + c[0]}, "drug": {"A": a[1] + 1, "B": a[1] + 1 + c[1]}}
    >>> print(ap.learn(ap.pooled(sets), method="icd").pag)
    A --> B
    drug --> A
    """
    sets = sets_of(data, by)
    tables = {name: as_table(table) for name, table in _observed_first(sets, by, observed).items()}
    for table in tables.values():
        refuse_weights(table, "several data sets")
    if len(tables) < 2:
        raise DataError(f"Contexts need two data sets or more; got {listed(list(tables)) or 'none'}.")
    system, left_out = _stacked(tables)
    of_set = np.repeat(np.arange(len(tables)), [table.n for table in tables.values()])
    order = [list(sets).index(name) for name in tables]
    design = design_of(contexts, tuple(tables), order, continuous="discrete" not in system.kinds)
    made = beside(system, design, of_set)
    if contexts_test not in get_args(ContextsTest):
        raise ParameterError(f"'contexts_test' must be 'all' or 'pairwise'; got {contexts_test!r}.")
    acts_on = {name: (some,) if isinstance(some, str) else tuple(some) for name, some in (targets or {}).items()}
    require_columns(acts_on, design.names, "context")
    require_columns((name for some in acts_on.values() for name in some), system.names)
    known = tuple((name, some) for name, some in acts_on.items() if some)
    about: dict[str, Any] = {"contexts": design.names, "targets": known, "sets": tuple(tables), "of_set": of_set}
    made = made.with_findings([*left_out, *untold(design)])
    return Pooled(**parts_of(made), **about, assumptions=assumptions, contexts_test=contexts_test, by=by)


def _observed_first(sets: Mapping[str, Any], by: str | None, observed: str | None) -> Mapping[str, Any]:
    """The data sets, the observed one first. If `by` is a column of numbers, `observed` may be the number alone."""
    if observed is None:
        return sets
    named = observed if observed in sets else f"{by}={observed}"
    if named not in sets:
        raise DataError(absent("data set", [observed], list(sets)))
    return {named: sets[named], **sets}


def _unrelated(columns: Floats, noise: Floats) -> Floats:
    """The residuals of the noise after linear regression on the columns; the noise itself if rows are too few."""
    if len(columns) <= 2 * columns.shape[1]:
        return noise
    middle = columns - np.nanmean(columns, axis=0)
    size = np.nanmax(np.abs(middle), axis=0)
    known = np.column_stack([np.ones(len(columns)), np.nan_to_num(middle / np.where(size > 0, size, 1.0))])
    return np.asarray(noise - known @ np.linalg.lstsq(known, noise)[0], np.float64)


def sets_of(data: Any, by: str | None) -> Mapping[str, Any]:
    if by is None:
        if isinstance(data, Mapping) and all(isinstance(name, str) for name in data):
            return data
        raise ParameterError(f"Name the data sets, {{'observed': a, 'drug': b}}; got {type(data).__name__}.")
    table = as_table(data)
    require_columns([by], table.names)
    place, rest = table.names.index(by), table.take([name for name in table.names if name != by])
    column, labels = table.values[:, place], table.labels[place]
    if np.isnan(column).any():
        raise DataError(f"The column {by!r} says which data set a row is from; in some rows it is empty.")
    values = list(dict.fromkeys(column.tolist()))
    if len(values) > MOST_SETS:
        raise DataError(f"`by` names a column of up to {MOST_SETS} values; {by!r} has {len(values):,}.")
    names = [labels[int(value)] if labels else f"{by}={value:{'.17g' if value % 1 == 0 else 'g'}}" for value in values]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(f"Several values of {by!r} have the name {twice[0]!r}. Number the data sets, or use texts.")
    return {name: rest.take_rows(column == value) for value, name in zip(values, names, strict=True)}


def _stacked(tables: Mapping[str, Table]) -> tuple[Table, list[Finding]]:
    """The rows of all tables in the columns that every table has, and a finding about other columns."""
    first = next(iter(tables.values()))
    common = [name for name in first.names if all(name in table.names for table in tables.values())]
    others = dict.fromkeys(name for table in tables.values() for name in table.names if name not in common)
    if not common:
        raise DataError("The data sets have no column in common.")
    told = f"Only columns that every data set has are used: {listed(list(others))} are left out."
    left_out = [warning("contexts", others, told, "Name columns alike in all data sets to use more.")]
    parts = [table.take(common) for table in tables.values()]
    columns, labels = zip(*(_column(parts, i) for i in range(len(common))), strict=True)
    kinds = zip(*(part.given_kinds for part in parts), strict=True)
    given = tuple(next(filter(None, of_each), None) for of_each in kinds)
    found = tuple(finding for part in parts for finding in part.read)
    values = np.asfortranarray(np.column_stack(columns))
    lacks = {part: why for table in parts for part, why in table.lacks.items()}
    return Table(tuple(common), values, labels, given, found, first.reading, lacks=lacks), left_out if others else []


def _column(parts: Sequence[Table], i: int) -> tuple[Floats, tuple[str, ...] | None]:
    """The values of a column in all tables, and its labels. Texts get new codes; ordered levels keep their order."""
    labels = [part.labels[i] for part in parts]
    if not any(labels):
        return np.concatenate([part.values[:, i] for part in parts]), None
    if not all(labels):
        raise DataError(f"Column {parts[0].names[i]!r} has texts in some data sets and numbers in others.")
    every, column = _labels(parts, i), []
    for part, own in zip(parts, labels, strict=True):
        place = np.array([*(float(every.index(label)) for label in own or ()), np.nan])
        is_gap = np.isnan(part.values[:, i])
        column.append(place[np.where(is_gap, -1, part.values[:, i]).astype(np.int64)])
    return np.concatenate(column), every


def _labels(parts: Sequence[Table], i: int) -> tuple[str, ...]:
    """The texts of a column in all tables: in the order that the tables give, else in alphabetical order."""
    every = {label for part in parts for label in part.labels[i] or ()}
    ordered = [part.labels[i] or () for part in parts if part.given_kinds[i] == "ordinal"]
    longest = max(ordered, key=len, default=tuple(sorted(every)))
    if {*longest} != every or any([label for label in longest if label in own] != [*own] for own in ordered):
        raise DataError(
            f"The data sets do not agree on one order of all levels of {parts[0].names[i]!r}. In each, give "
            f"it the same kind, such as {' < '.join(longest)!r}."
        )
    return longest


def beside(system: Table, design: Table, of_set: Counts) -> Table:
    """The table, with the contexts of each row as further columns."""
    twice = [name for name in design.names if name in system.names]
    if twice:
        raise DataError(f"{twice[0]!r} names a column and a context. Rename the column, or the data set.")
    return replace(
        system,
        names=(*system.names, *design.names),
        values=np.asfortranarray(np.column_stack([system.values, design.values[of_set]])),
        labels=(*system.labels, *design.labels),
        given_kinds=(*system.given_kinds, *design.given_kinds),
    )


def comparable(table: Pooled, *contexts: str) -> Flags:
    """(n,) the rows whose other contexts are as in the observed set; all rows if one of `contexts` is fixed there."""
    others = [table.names.index(name) for name in table.contexts if name not in contexts]
    first = table.values[np.argmax(table.of_set == 0), others]
    alike = (table.values[:, others] == first).all(axis=1)
    own = table.values[np.ix_(alike, [table.names.index(name) for name in contexts])]
    return alike if (own != own[0]).any(axis=0).all() else np.ones(table.n, np.bool_)


def design_of(contexts: Any, sets: tuple[str, ...], order: Sequence[int], *, continuous: bool) -> Table:
    """The contexts, a row for each data set; row i is row `order[i]` of a given table. If all other columns are
    `continuous`, contexts of numbers or of two levels count as continuous too, so that the linear score, which allows
    for hidden causes, fits.
    """
    if isinstance(contexts, str) and contexts == "indicator":
        table = Table(sets[1:], np.eye(len(sets))[:, 1:], (None,) * (len(sets) - 1), (None,) * (len(sets) - 1))
    elif isinstance(contexts, str) and contexts == "one":
        table = Table(("context",), np.arange(len(sets), dtype=np.float64)[:, None], (sets,), ("discrete",))
    elif isinstance(contexts, str):
        raise ParameterError(f"'contexts' must be 'indicator', 'one' or a table of the design; got {contexts!r}.")
    else:
        table = as_table(contexts)
        if table.n != len(sets):
            raise DataError(f"The design has a row for each of the {len(sets)} data sets; got {table.n} rows.")
        table = _observed_levels_first(table.take_rows(np.array(order)))

    def kind(i: int) -> Kind:
        is_number = table.labels[i] is None or len(table.labels[i] or ()) == 2
        return "continuous" if continuous and is_number else "discrete"

    kinds = tuple(kind(i) for i in range(len(table.names)))
    labels = tuple(None if k == "continuous" else own for k, own in zip(kinds, table.labels, strict=True))
    return replace(table, given_kinds=kinds, labels=labels)


def _observed_levels_first(design: Table) -> Table:
    """The design with levels in order of appearance: estimates compare with the first, that of the observed set."""
    values, labels = np.array(design.values), list(design.labels)
    for i, own in enumerate(design.labels):
        if own:
            codes = list(dict.fromkeys(values[:, i].tolist()))
            values[:, i], labels[i] = list(map(codes.index, values[:, i])), tuple(own[int(code)] for code in codes)
    return replace(design, values=np.asfortranarray(values), labels=tuple(labels))


def untold(design: Table) -> list[Finding]:
    """A warning about contexts that other contexts determine: which one acts on a variable cannot be told."""
    places = range(len(design.names))
    others = [[other for other in places if other != k] for k in places]
    told = [design.names[k] for k in places if is_determined(design.values, k, others[k])]
    message = f"Contexts determined by others: {listed(told)}. Which context acts on a variable cannot be told."
    return [warning("contexts", told, message, "Vary them separately, or leave one of them out.")] if told else []


def is_determined(design: Floats, context: int, given: Sequence[int]) -> bool:
    """Do the contexts `given` determine `context` in the rows of the design?"""
    known = design[:, list(given)]
    return len(np.unique(known, axis=0)) == len(np.unique(np.column_stack([known, design[:, context]]), axis=0))
