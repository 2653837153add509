"""Numbers for an effect: a model of the columns that matter, the value of the formula, an interval by bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product as combinations_of
from typing import Literal

import numpy as np
import numpy.typing as npt

from anypag.data.table import Table
from anypag.effects.adjustment import Between
from anypag.effects.expressions import Expression, mentioned
from anypag.effects.ground import Ground
from anypag.effects.linear import Linear
from anypag.effects.tables import Tables, empty_cells, tables_of
from anypag.errors import DataError, Option, ParameterError
from anypag.graphs.node_sets import NodeSet, members
from anypag.graphs.text import quote

Values = npt.NDArray[np.float64]
Model = Literal["linear", "tables"]
Level = str | float

MOST_CELLS_NAMED = 5


@dataclass(frozen=True)
class Probability:
    """One line of an estimated table: P(outcome | do, given), with its interval. NaN where no rows say."""

    do: dict[str, Level]
    given: dict[str, Level]
    outcome: dict[str, Level]
    value: float
    low: float
    high: float

    @property
    def label(self) -> str:
        """How the line is written."""
        outcome, cause, given = (
            ", ".join(f"{quote(name)} = {_shown(level)}" for name, level in part.items())
            for part in (self.outcome, self.do, self.given)
        )
        return f"P({outcome} | do({cause}){', ' + given if given else ''})"


@dataclass(frozen=True)
class Slope:
    """How much the mean of the outcome changes when the cause is set one unit higher, with its interval."""

    cause: str
    outcome: str
    value: float
    low: float
    high: float

    @property
    def label(self) -> str:
        """How the line is written."""
        return f"{quote(self.outcome)} per unit of {quote(self.cause)}"


@dataclass(frozen=True)
class Estimate:
    """Numbers for an effect.

    Args:
        model: "linear" or "tables".
        entries: one line per cause and outcome, or per combination of levels.
        n: the rows it rests on.
        level: how often such an interval covers the truth, 0.95 say.
        notes: what a reader must know.
    """

    model: Model
    entries: tuple[Slope, ...] | tuple[Probability, ...]
    n: int
    level: float
    notes: tuple[str, ...]

    @property
    def is_single(self) -> bool:
        """Is it one number?"""
        return self.model == "linear" and len(self.entries) == 1

    def lines(self) -> list[str]:
        """A line for each number."""
        return [
            f"{entry.label}: {entry.value:.4g} ({self.level:.0%} interval {entry.low:.4g} to {entry.high:.4g}, "
            f"n = {self.n:,})"
            for entry in self.entries
        ]


@dataclass(frozen=True)
class Sampling:
    """How an interval is made: resamples, the level, the seed."""

    resamples: int = 200
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.resamples < 0 or not 0 < self.level < 1:
            raise ParameterError(
                f"An interval needs resamples ≥ 0 and a level between 0 and 1; got {self.resamples} and {self.level}."
            )


def estimated(
    ground: Ground, formula: Expression, way: Between, table: Table, model: Model | None, sampling: Sampling
) -> Estimate:
    """The value of a formula on data."""
    needed = mentioned(formula) | way.x | way.y | way.given
    part, n_dropped = columns_of(ground, table, needed)
    kind = chosen_model(part, model)
    fitted = fit(part, kind, tuple(members(needed)))
    values = fitted.values(formula, way)
    low, high = _interval(fitted, formula, way, sampling)
    notes = [f"{n_dropped:,} rows with missing values were left out."] if n_dropped else []
    if isinstance(fitted, Tables):
        notes += _empty(part, fitted, formula, way)
    entries = entries_of(ground, part, fitted, way, (values, low, high))
    return Estimate(kind, entries, part.n, sampling.level, tuple(notes))


def entries_of(
    ground: Ground, part: Table, fitted: Linear | Tables, way: Between, numbers: tuple[Values, Values, Values]
) -> tuple[Slope, ...] | tuple[Probability, ...]:
    """Values and the two ends of their intervals, with what each is the value of."""
    if isinstance(fitted, Tables):
        return _probabilities(ground, part, way, numbers)
    return _slopes(ground, way, numbers)


def columns_of(ground: Ground, table: Table, needed: NodeSet) -> tuple[Table, int]:
    """The columns that matter, in the order of the nodes, without incomplete rows; and how many rows that left out."""
    part = table.take_columns(ground.names(needed))
    complete = np.asarray(~np.isnan(part.values).any(axis=1), np.bool_)
    if complete.sum() < 2:
        raise DataError(f"There are {complete.sum()} rows without missing values in the columns that the effect needs.")
    return part.take_rows(complete), int((~complete).sum())


def chosen_model(part: Table, model: Model | None) -> Model:
    """A linear model for continuous columns, tables for discrete ones; a mixture has to be settled by the user."""
    if model is not None:
        if model not in ("linear", "tables"):
            raise ParameterError(f'A model is "linear" or "tables"; got {model!r}.')
        text = [name for name, labels in zip(part.names, part.labels, strict=True) if labels and len(labels) > 2]
        if model == "linear" and text:
            raise DataError(f"A linear model needs numbers; {text[0]!r} holds labels. Use numbers for its levels.")
        return model
    kinds = dict(zip(part.names, part.kinds, strict=True))
    if len(set(kinds.values())) == 1:
        return "linear" if "continuous" in kinds.values() else "tables"
    first = {kind: next(name for name, other in kinds.items() if other == kind) for kind in kinds.values()}
    raise DataError(
        f"{first['continuous']!r} is continuous and {first['discrete']!r} discrete. Say ",
        Option("model", "linear"),
        " to treat levels as numbers (right for two levels), ",
        Option("model", "tables"),
        " to treat every value as a level, or hand the adjustment set over to a tool for mixed data.",
    )


def fit(part: Table, model: Model, nodes: tuple[int, ...]) -> Linear | Tables:
    """A model of the columns."""
    if model == "linear":
        constant = [name for name, column in zip(part.names, part.values.T, strict=True) if np.ptp(column) == 0]
        if constant:
            raise DataError(f"The column {constant[0]!r} has one value only, so it shows no effect.")
        return Linear(part.values, nodes)
    coded = [np.unique(column, return_inverse=True) for column in part.values.T]
    codes = np.column_stack([code for _, code in coded])
    return tables_of(codes, tuple(len(levels) for levels, _ in coded), nodes)


def _interval(fitted: Linear | Tables, formula: Expression, way: Between, sampling: Sampling) -> tuple[Values, Values]:
    """Percentiles of the value over resamples of the rows."""
    rng = np.random.default_rng(sampling.seed)
    drawn = [fitted.resampled(rng).values(formula, way) for _ in range(sampling.resamples)]
    if not drawn:
        nothing = np.full_like(fitted.values(formula, way), np.nan)
        return nothing, nothing
    rare = (1 - sampling.level) / 2
    low, high = np.quantile(np.array(drawn), [rare, 1 - rare], axis=0)
    return low, high


def _slopes(ground: Ground, way: Between, numbers: tuple[Values, Values, Values]) -> tuple[Slope, ...]:
    pairs = combinations_of(ground.names(way.x), ground.names(way.y))
    return tuple(Slope(*pair, *map(float, row)) for pair, row in zip(pairs, zip(*numbers, strict=True), strict=True))


def _probabilities(
    ground: Ground, part: Table, way: Between, numbers: tuple[Values, Values, Values]
) -> tuple[Probability, ...]:
    groups = [ground.names(nodes) for nodes in (way.x, way.given, way.y)]
    names = [name for group in groups for name in group]
    levels = combinations_of(*(levels_of(part, name) for name in names))
    rows = []
    for combination, row in zip(levels, zip(*numbers, strict=True), strict=True):
        setting = dict(zip(names, combination, strict=True))
        do, given, outcome = ({name: setting[name] for name in group} for group in groups)
        rows.append(Probability(do, given, outcome, *map(float, row)))
    return tuple(rows)


def levels_of(part: Table, name: str) -> list[Level]:
    """The levels of a column, in the order of their codes."""
    place = part.names.index(name)
    values, labels = np.unique(part.values[:, place]), part.labels[place]
    return [labels[int(value)] if labels else float(value) for value in values]


def _empty(part: Table, fitted: Tables, formula: Expression, way: Between) -> list[str]:
    """A sentence on the combinations that no row has."""
    cells = empty_cells(fitted, formula, way.x)
    if not cells:
        return []
    named = {node: part.names[fitted.place(node)] for node in fitted.nodes}
    shown = [
        " and ".join(f"{named[node]} = {_shown(levels_of(part, named[node])[level])}" for node, level in cell.items())
        for cell in cells[:MOST_CELLS_NAMED]
    ]
    more = f", and {len(cells) - MOST_CELLS_NAMED} combinations more" if len(cells) > MOST_CELLS_NAMED else ""
    return [f"No row has {'; '.join(shown)}{more}: probabilities that need them are not known."]


def _shown(level: Level) -> str:
    return level if isinstance(level, str) else f"{level:g}"
