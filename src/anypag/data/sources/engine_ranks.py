"""Normal scores of columns in an engine, from approximate ranks: counting is much cheaper there than sorting.

For each column about sixty values (knots) are chosen, roughly evenly spaced in the normal score, and the rows below and
up to each are counted exactly. Between two knots the score is interpolated linearly; a frequent value gets the score of
its mean rank. The knots are found in rounds: first from the first rows, then by interpolating the counts so far. Only
standard queries are used, so that all engines give the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anypag.arrays import Floats
from anypag.data.sources.engine_queries import Engine

KNOTS = 64
"""Knots of a column, about."""
ROUNDS = 2
_OFTEN = 1 / 500
"""A value in at least this share of the rows is a knot itself."""


@dataclass(frozen=True, eq=False)
class Knots:
    """Values of a column, ascending, the shares of rows below each of them, and of rows up to it."""

    values: Floats
    below: Floats
    up_to: Floats
    n: int

    def at(self, wanted: Floats) -> Floats:
        """The values up to which about these shares of the rows lie."""
        return np.interp(wanted, np.column_stack([self.below, self.up_to]).ravel(), np.repeat(self.values, 2))

    def joined(self, other: Knots) -> Knots:
        """Both together."""
        values, place = np.unique(np.concatenate([self.values, other.values]), return_index=True)
        below, up_to = (np.concatenate(pair)[place] for pair in ((self.below, other.below), (self.up_to, other.up_to)))
        return Knots(values, below, up_to, self.n)

    def thinned(self) -> Knots:
        """About `KNOTS` knots: the frequent values, the ends, and those nearest to even steps of the score."""
        is_kept = self.up_to - self.below > _OFTEN
        is_kept[[0, -1]] = True
        middle = np.searchsorted((self.below + self.up_to) / 2, _targets(self.n))
        is_kept[np.clip(middle, 0, len(is_kept) - 1)] = True
        return Knots(self.values[is_kept], self.below[is_kept], self.up_to[is_kept], self.n)

    def score(self, column: Any) -> Any:
        """The expression of the normal scores of a column; null where it has a gap."""
        import narwhals as nw
        from scipy.special import ndtri

        ends, shares = 0.5 / self.n, (self.up_to, self.below, (self.below + self.up_to) / 2)
        after, before, own = (ndtri(np.clip(some, ends, 1 - ends)).tolist() for some in shares)
        is_often, values, last = self.up_to - self.below > _OFTEN, self.values.tolist(), len(self.values) - 1

        def leaf(k: int) -> Any:
            if k == last:
                return column * 0.0 + own[k]
            start, end = after[k] if is_often[k] else own[k], before[k + 1] if is_often[k + 1] else own[k + 1]
            line = (column - values[k]) * ((end - start) / (values[k + 1] - values[k])) + start
            return nw.when(column == values[k]).then(column * 0.0 + own[k]).otherwise(line) if is_often[k] else line

        return _by_value(column, values, leaf)


def _by_value(column: Any, values: Sequence[float], leaf: Callable[[int], Any]) -> Any:
    """An expression that is leaf(k) between the k-th value and the next; a binary search."""
    import narwhals as nw

    def between(low: int, high: int) -> Any:
        if high - low == 1:
            return leaf(low)
        middle = (low + high) // 2
        return nw.when(column < values[middle]).then(between(low, middle)).otherwise(between(middle, high))

    return between(0, len(values))


def _targets(n: int) -> Floats:
    """The shares of rows at even steps of the normal score."""
    from scipy.special import ndtr, ndtri

    end = float(ndtri(1 - 0.5 / max(n, 2)))
    shares: Floats = ndtr(np.linspace(-end, end, KNOTS))
    return shares


def normal_scores(engine: Engine, chosen: Sequence[str]) -> Engine:
    """The table with some columns, which have no infinite values, replaced by their normal scores."""
    import narwhals as nw

    present = {name: nw.when(~nw.col(name).is_nan()).then(nw.col(name)) for name in chosen}
    knots = knots_of(engine.with_columns(present), engine)
    scores = [knots[name].score(nw.col(name)).alias(name) for name in chosen if name in knots]
    return replace(engine, frame=engine.frame.with_columns(*scores))


def knots_of(columns: Engine, engine: Engine) -> dict[str, Knots]:
    """The knots of every column; `engine` gives the first rows."""
    first = engine.glance()
    start = {name: first.values[:, first.names.index(name)] for name in columns.names}
    ends = columns.ends()
    steps = np.linspace(0, 1, KNOTS)
    wanted = {
        name: np.unique([*ends[name][1:], *np.quantile(seen[~np.isnan(seen)], steps, method="nearest")])
        for name, seen in start.items()
        if ends[name][0]
    }
    found = {name: _counted(columns, name, some, ends[name][0]) for name, some in wanted.items()}
    for _ in range(ROUNDS):
        for name, some in found.items():
            nearer = np.unique(some.at(_targets(some.n)))
            found[name] = some.joined(_counted(columns, name, nearer, some.n))
    return {name: some.thinned() for name, some in found.items()}


def _counted(columns: Engine, name: str, values: Floats, n: int) -> Knots:
    """The shares of rows below and up to each of the values, by one grouped query."""
    import narwhals as nw

    column, edges = nw.col(name), values.tolist()

    def leaf(k: int) -> Any:
        above = nw.when(column == edges[k]).then(nw.lit(2 * k + 1)).otherwise(nw.lit(2 * k + 2))
        return above if k else nw.when(column < edges[0]).then(nw.lit(0)).otherwise(above)

    placed = columns.frame.filter(~column.is_null()).select(_by_value(column, edges, leaf).alias("place"))
    pulled = placed.group_by("place").agg(nw.len().alias("n")).collect()
    counts = np.zeros(2 * len(edges) + 1)
    counts[[int(place) for place in pulled["place"].to_list()]] = pulled["n"].to_list()
    shares = np.cumsum(counts) / n
    return Knots(values, shares[0:-1:2], shares[1::2], n)
