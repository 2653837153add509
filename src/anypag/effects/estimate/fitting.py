"""Numbers for an effect: a model of the columns that matter, the value of the formula, an interval by bootstrap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product as combinations_of
from typing import Self

import numpy as np

from anypag.arrays import Counts, Flags, Floats
from anypag.data.audit.rows import infinity_findings
from anypag.data.findings import Audit
from anypag.data.levels import spread_out
from anypag.data.table import Table
from anypag.effects.estimate.estimates import Entries, Estimate, MeanChange, Model, Probability, levels_of, shown
from anypag.effects.estimate.linear import DeterminedError, Linear, Regression
from anypag.effects.estimate.tables import Tables, empty_cells, tables_of
from anypag.effects.identify.adjustment import Between
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.expressions import Expression, mentioned
from anypag.errors import DataError, Option, ParameterError, listed
from anypag.graphs.node_sets import NodeSet, members

Fitted = Linear | Tables | Regression
Numbers = tuple[Floats, Floats, Floats]  # values, and the ends of their intervals

MOST_CELLS_NAMED = 5  # how many combinations without rows a note names
_WAYS = (
    f"{Option('model', 'linear')} to treat levels as numbers (right for two levels), {Option('model', 'tables')} to "
    "treat every value as a level, or evaluate the formula with a tool for mixed data."
)
NO_INTERVAL = (
    "A number without an interval is the same in every resample of the rows, or cannot be computed in some resamples: "
    "too few rows have its levels to say how uncertain it is."
)
WEIGHTED = "Rows are weighted: the effect is that in the population which the weights represent."
ADDITIVE = (
    "Discrete columns enter a regression as indicators of their levels, without interactions: the effect is taken to "
    "be the same in every group."
)


@dataclass(frozen=True)
class Sampling:
    """How an interval is computed; `clusters`: the cluster of each row, if whole clusters are drawn."""

    resamples: int = 200
    level: float = 0.95
    seed: int = 0
    clusters: Counts | None = None

    def __post_init__(self) -> None:
        if self.resamples < 0 or not 0 < self.level < 1:
            raise ParameterError(
                f"An interval needs resamples ≥ 0 and a level between 0 and 1; got {self.resamples} and {self.level}."
            )

    def of_rows(self, chosen: Flags) -> Self:
        return self if self.clusters is None else replace(self, clusters=self.clusters[chosen])


def estimated(
    causal: CausalGraph,
    formula: Expression,
    way: Between,
    table: Table,
    model: Model | None,
    sampling: Sampling,
    *,
    by_adjustment: bool,
) -> Estimate:
    """The value of a formula, with intervals. `by_adjustment`: the formula adjusts for a set, or says "no effect"."""
    needed = mentioned(formula) | way.x | way.y | way.given
    part, n_dropped = columns_of(causal, table, needed)
    kind = chosen_model(part, model, causal.names(way.y))
    if kind == "mixed" and not by_adjustment:
        raise DataError(f"{_both_kinds(part)} A formula that does not adjust needs columns of one kind: say {_WAYS}")
    fitted = fit(part, kind, tuple(members(needed)))
    try:
        values = fitted.values(formula, way)
    except DeterminedError:
        why = _determined(part)
        raise DataError(f"The effect cannot be computed: {why}. Leave it out, and search again.") from None
    sampling = sampling.of_rows(complete_rows(table, part.names))
    if sampling.clusters is None and part.weights is not None:
        sampling = replace(sampling, clusters=np.arange(part.n))  # every row is a cluster, drawn with its weight
    low, high = np.full((2, len(values)), np.nan)
    if sampling.resamples:
        low, high = _interval(fitted, formula, way, sampling, part.weights)
    notes = [*rows_told(part, n_dropped), *([ADDITIVE] if isinstance(fitted, Regression) else [])]
    notes += _empty(part, fitted, formula, way) if isinstance(fitted, Tables) else []
    notes += [NO_INTERVAL] if sampling.resamples and np.any(np.isnan(low) & ~np.isnan(values)) else []
    entries = entries_of(causal, part, kind, way, (values, low, high))
    return Estimate(kind, entries, part.n, sampling.level, tuple(notes))


def _determined(part: Table) -> str:
    """The clause that names a constant column, or one that others determine. Discrete columns count as indicators."""
    spread = spread_out(part.values, part.kinds)
    spread = [(some - some.mean(axis=0)) / np.maximum(np.abs(some).max(axis=0), 1e-300) for some in spread]

    def leaves_nothing(i: int, others: list[int]) -> bool:
        design = np.column_stack([np.empty((part.n, 0)), *(spread[k] for k in others)])
        rest = spread[i] - design @ (np.linalg.pinv(design) @ spread[i])
        return bool(np.square(rest).sum() <= 1e-10 * max(np.square(spread[i]).sum(), 1e-300))

    for i, name in enumerate(part.names):
        others = list(range(i))
        if not leaves_nothing(i, others):
            continue
        for k in range(i):
            fewer = [other for other in others if other != k]
            others = fewer if leaves_nothing(i, fewer) else others
        by = listed([part.names[k] for k in others])
        return f"{name!r} is determined by {by}" if others else f"{name!r} is constant"
    return "one of the columns that it needs is nearly determined by the others"


def entries_of(causal: CausalGraph, part: Table, model: Model, way: Between, numbers: Numbers) -> Entries:
    """The entries: values and their intervals, each with the names of its cause and outcome."""
    shown_as = part.all_of_kind("continuous") if model == "linear" else part
    return tuple((_probabilities if model == "tables" else _changes)(causal, shown_as, way, numbers))


def columns_of(causal: CausalGraph, table: Table, needed: NodeSet) -> tuple[Table, int]:
    """The columns that the effect needs, in the order of nodes, in complete rows; and how many rows were left out."""
    part = table.take(causal.names(needed))
    Audit.of(infinity_findings(part.names, np.isinf(part.values).sum(axis=0))).require_usable()
    complete = complete_rows(part, part.names)
    if complete.sum() < 2:
        raise DataError(f"An effect needs 2 rows without missing values in its columns; there are {complete.sum()}.")
    return part.take_rows(complete), int((~complete).sum())


def rows_told(part: Table, n_dropped: int) -> list[str]:
    """Notes if rows were left out, and if rows are weighted."""
    gaps = [f"{n_dropped:,} rows with missing values were left out."] if n_dropped else []
    return [*gaps, *([] if part.weights is None else [WEIGHTED])]


def complete_rows(table: Table, names: Sequence[str]) -> Flags:
    """(n,) True for rows without gaps in the columns `names`."""
    return np.asarray(~np.isnan(table.take(names).values).any(axis=1), np.bool_)


def chosen_model(part: Table, model: Model | None, outcomes: tuple[str, ...]) -> Model:
    """The model that the user chose, else the one for these kinds of columns; DataError if it cannot use them."""
    kinds = dict(zip(part.names, part.kinds, strict=True))
    if model not in ("linear", "tables", "mixed", None):
        raise ParameterError(f'A model is "linear", "tables" or "mixed"; got {model!r}.')
    text = [name for name, labels in zip(part.names, part.labels, strict=True) if labels and len(labels) > 2]
    if model == "linear" and text:
        raise DataError(f"A linear model needs numbers; {text[0]!r} holds labels. Use numbers for its levels.")
    if model is None:
        of_one_kind: Model = "linear" if "continuous" in kinds.values() else "tables"
        model = of_one_kind if len(set(kinds.values())) == 1 else "mixed"
    discrete = [name for name in outcomes if kinds[name] == "discrete"]
    if model == "mixed" and discrete:
        about = f"The outcome {discrete[0]!r} is discrete, and regression needs a continuous outcome. "
        raise DataError(about if len(set(kinds.values())) == 1 else f"{_both_kinds(part)} {about}", f"Say {_WAYS}")
    return model


def _both_kinds(part: Table) -> str:
    first = {kind: name for name, kind in reversed(list(zip(part.names, part.kinds, strict=True)))}
    return f"{first['continuous']!r} is continuous and {first['discrete']!r} discrete."


def fit(part: Table, model: Model, nodes: tuple[int, ...]) -> Fitted:
    if model == "mixed":
        is_discrete = tuple(kind == "discrete" for kind in part.kinds)
        return replace(Regression.of(part.values, nodes), is_discrete=is_discrete, weights=part.weights)
    if model == "linear":
        for name, column in zip(part.names, part.values.T, strict=True):
            if column.min() == column.max():
                raise DataError(f"The column {name!r} has one value only, so it shows no effect.")
        return replace(Linear.of(part.values, nodes), weights=part.weights)
    coded = [np.unique(column, return_inverse=True) for column in part.values.T]
    codes = np.column_stack([code for _, code in coded])
    tables = tables_of(codes, tuple(len(levels) for levels, _ in coded), nodes)
    return tables if part.weights is None else tables.weighted(part.weights)


def _interval(
    fitted: Fitted, formula: Expression, way: Between, sampling: Sampling, weights: Floats | None
) -> tuple[Floats, Floats]:
    """The two ends of the interval: percentiles of the value over resamples of the rows, or of clusters of rows."""
    rng = np.random.default_rng(sampling.seed)
    drawn = []
    for _ in range(sampling.resamples):
        if sampling.clusters is None:
            resample = fitted.resampled(rng)
        else:
            times = cluster_counts(rng, sampling.clusters)
            resample = fitted.weighted(times if weights is None else times * weights)
        drawn.append(resample.values(formula, way))
    rare = (1 - sampling.level) / 2
    # regression leaves out resamples that lack a level of a discrete cause; with tables, one resample that lacks a cell
    # makes both ends NaN
    quantile = np.nanquantile if isinstance(fitted, Regression) else np.quantile
    low, high = quantile(np.array(drawn), [rare, 1 - rare], axis=0)
    # if no row of a group has a level, or all of them have it, all resamples agree, but the value is not certain
    is_stuck = np.ptp(np.array(drawn), axis=0) == 0
    return np.where(is_stuck, np.nan, low), np.where(is_stuck, np.nan, high)


def cluster_counts(rng: np.random.Generator, clusters: Counts) -> Floats:
    """(n,) how often each row is in a resample: k clusters, drawn with replacement from the k of the data."""
    n = int(clusters.max()) + 1
    return rng.multinomial(n, np.full(n, 1 / n))[clusters].astype(np.float64)


def _changes(causal: CausalGraph, part: Table, way: Between, numbers: Numbers) -> Iterator[MeanChange]:
    """The change of each outcome per unit of each cause, or for each level of a discrete cause against the first."""
    rows = zip(*(ends.tolist() for ends in numbers), strict=True)
    for cause in causal.names(way.x):
        is_number = part.kinds[part.names.index(cause)] == "continuous"
        first, *levels = [None, None] if is_number else levels_of(part, cause)
        for level, outcome in combinations_of(levels, causal.names(way.y)):
            value, low, high = next(rows)
            yield MeanChange(cause, outcome, value, low, high, level, first)


def _probabilities(causal: CausalGraph, part: Table, way: Between, numbers: Numbers) -> Iterator[Probability]:
    groups = [causal.names(nodes) for nodes in (way.x, way.given, way.y)]
    names = [name for group in groups for name in group]
    levels = combinations_of(*(levels_of(part, name) for name in names))
    for combination, row in zip(levels, zip(*numbers, strict=True), strict=True):
        setting = dict(zip(names, combination, strict=True))
        do, given, outcome = ({name: setting[name] for name in group} for group in groups)
        yield Probability(do, given, outcome, *map(float, row))


def _empty(part: Table, fitted: Tables, formula: Expression, way: Between) -> list[str]:
    """A sentence on the combinations that no row has."""
    cells = empty_cells(fitted, formula, way.x)
    if not cells:
        return []

    def told(node: int, level: int) -> str:
        name = part.names[fitted.place(node)]
        return f"{name} = {shown(levels_of(part, name)[level])}"

    named = [" and ".join(told(*one) for one in cell.items()) for cell in cells[:MOST_CELLS_NAMED]]
    more = f", and {len(cells) - MOST_CELLS_NAMED} more combinations" if len(cells) > MOST_CELLS_NAMED else ""
    return [f"No row has {'; '.join(named)}{more}: probabilities that need them are not known."]
