"""The additive test of a table that lives in an engine: counts and sums are pulled, no rows.

The engine rounds the columns (`anypag.data.sources.engine_steps`); all counts and sums of the rounded values are exact.
A table of counts of two columns gives the correlations of all their functions, and of their own product. The
correlation of a product of two condition variables with a third one takes sums over the rows of each step of the third;
with a product of two others it takes plain sums. These are queried when a question needs them, and cached.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from math import prod
from threading import Lock
from typing import Self

import numpy as np

from anypag.arrays import Counts, Floats, Indices
from anypag.choices import Choices
from anypag.ci.additive import (
    TESTED,
    Basis,
    HeadProducts,
    degree_for,
    excess_of,
    functions,
    room_for_gram,
    straight_if_mostly_one,
)
from anypag.ci.permuted import excess_of_levels
from anypag.data.audit.checklist import Audited, audited
from anypag.data.audit.rows import largest_set
from anypag.data.findings import Finding
from anypag.data.sources.engine import EngineTable
from anypag.data.sources.engine_steps import STEPS, SteppedTable, Steps
from anypag.data.sources.protocol import Needs
from anypag.errors import DataError, Option

MOST_PRODUCTS = 8_000
"""The number of products whose correlations with each other take half a gigabyte."""


def read_basis(source: EngineTable, choices: Choices) -> tuple[Audited, Basis]:
    """An audited table in an engine, and the functions of its columns.

    Raises:
        DataError: something in the table would make the result wrong.
    """
    source = replace(source, read=(*source.read, *_said(source)))
    needs = Needs("any", choices.missing, choices.singular, choices.max_r, choices.needs_score, sees_curves=True)
    ready = audited(source, needs)
    ready.audit.require_usable()
    used = ready.source
    assert isinstance(used, EngineTable)
    largest = largest_set(len(used.names), choices.max_r)
    levels = [used.levels(i) if kind == "discrete" else None for i, kind in enumerate(used.kinds)]
    _require_few_products([1 if some is None else len(some.values) - 1 for some in levels], largest)
    return ready, basis_in_engine(SteppedTable.of(used.engine, levels), largest)


def _said(source: EngineTable) -> list[Finding]:
    """Ranks are approximate."""
    count = source.kinds.count("continuous")
    message = (
        f"The ranks of {count} column{'s' * (count != 1)} are approximate: values are rounded to a {STEPS}th of a "
        "normal score, and counted exactly from there on."
    )
    remedy = "Take the table, or a sample of it, into memory where the last digits matter."
    return [Finding("warning", "ranks", (), message, remedy)] if count else []


def _require_few_products(heads: list[int], largest: int) -> None:
    count = (sum(heads) ** 2 - sum(head**2 for head in heads)) // 2
    if count > MOST_PRODUCTS and largest > 1:
        raise DataError(
            f"The condition variables have {count:,} products of two, more than the {MOST_PRODUCTS:,} whose "
            "correlations can be kept. Choose fewer columns, set ",
            Option("max_r"),
            " to 1, or take a sample of the rows into memory.",
        )


def basis_in_engine(table: SteppedTable, largest: int) -> Basis:
    """The functions of the columns, for condition sets of up to `largest` members; in the order of the names."""
    n = int(table.columns[0].counts.sum())
    made = [_functions(column, degree_for(n)) for column in table.columns]
    start = np.append(0, np.cumsum([some.shape[1] for some in made])).astype(np.int64)
    products = ProductsInEngine.of(table, made, start) if largest > 1 else None
    gram = room_for_gram(start[-1])
    parts = [slice(first, last) for first, last in pairwise(start)]
    for i, column in enumerate(table.columns):
        gram[parts[i], parts[i]] = made[i].T @ (column.counts[:, None] * made[i])
    for i, j in combinations(range(len(made)), 2):
        counts = table.counts(i, j)
        gram[parts[i], parts[j]] = block = made[i].T @ counts @ made[j]
        gram[parts[j], parts[i]] = block.T
        if products is not None:
            products.add_pair(i, j, counts)
    none, no_gaps = np.empty((0, 0)), np.empty((len(made), 0), np.bool_)
    cross, among, pair_start = (none, none, none.astype(np.int64)) if products is None else products.arrays
    is_discrete = np.array([column.levels is not None for column in table.columns])
    rows = np.empty((start[-1], 0))
    steps = zip(made, table.columns, is_discrete, strict=True)
    excess = np.stack([_excess(some, column, bool(levels)) for some, column, levels in steps])
    return Basis(gram, cross, among, rows, no_gaps, start, is_discrete, pair_start, excess, products)


def _excess(made: Floats, column: Steps, is_discrete: bool) -> Floats:
    """(3,) how far the functions of a column are from normal."""
    return np.full(TESTED, excess_of_levels(column.counts)) if is_discrete else excess_of(made, column.counts)


def _functions(column: Steps, degree: int) -> Floats:
    """(k, q) the functions of each step; over the rows with mean 0 and length 1, zeros for one that hardly changes."""
    n = column.counts.sum()
    if column.levels is not None:
        made = column.heads
    else:
        made = straight_if_mostly_one(functions(column.ranks, degree), float(column.counts.max() / n))
    size = np.abs(made).max(axis=0)
    for _ in range(2):  # the second time removes the rounding error of the first mean
        made = made - column.counts @ made / n
    length = np.sqrt(column.counts @ np.square(made))
    unit: Floats = made * _inverse(length, 1e-12 * size * np.sqrt(n))
    return unit


def _inverse(length: Floats, least: Floats | float) -> Floats:
    return np.divide(1.0, length, out=np.zeros_like(length), where=length > least)


@dataclass(frozen=True, eq=False)
class ProductsInEngine:
    """The correlations of products of two columns, with functions and with each other.

    Correlations with functions of the same two columns come from their counts (`add_pair`), all others from queries.
    """

    table: SteppedTable
    functions: list[Floats]
    start: Counts
    pairs: HeadProducts
    cross: Floats
    products: Floats
    mean: Floats
    """(k,) of each product over the rows."""
    inverse: Floats
    """(k,) one over its length, once the mean is taken off; 0 if it does not change."""
    lock: AbstractContextManager[bool] = field(default_factory=Lock)
    """Held by the thread that queries: an engine answers one query at a time."""
    _threes: set[tuple[int, ...]] = field(default_factory=set)
    _fours: set[tuple[int, ...]] = field(default_factory=set)

    @classmethod
    def of(cls, table: SteppedTable, made: list[Floats], start: Counts) -> Self:
        """Room for all products of a table."""
        pairs = HeadProducts.of(np.array([column.n_heads for column in table.columns]), start)
        cross, products = np.zeros((pairs.count, start[-1] + 2)), np.zeros((pairs.count, pairs.count))
        return cls(table, made, start, pairs, cross, products, np.zeros(pairs.count), np.zeros(pairs.count))

    @property
    def arrays(self) -> tuple[Floats, Floats, Counts]:
        """`Basis.cross`, `Basis.products` and `Basis.pair_start`."""
        return self.cross, self.products, self.pairs.start

    @property
    def n(self) -> float:
        """Rows."""
        return float(self.table.columns[0].counts.sum())

    def add_pair(self, i: int, j: int, counts: Floats) -> None:
        """Writes the correlations that follow from the counts of two columns."""
        one, other = self.table.columns[i].heads, self.table.columns[j].heads
        places = self.pairs.places(i, j).ravel()
        self.mean[places] = (one.T @ counts @ other).ravel() / self.n
        squares = np.einsum("sa,sc,st,tb,td->abcd", one, one, counts, other, other, optimize=True)
        lengths = np.sqrt(np.maximum(np.einsum("abab->ab", squares).ravel() - self.n * self.mean[places] ** 2, 0.0))
        self.inverse[places] = _inverse(lengths, 1e-12 * np.sqrt(self.n))
        self._write(places, places, squares)
        self.cross[places, -1] = self.inverse[places] > 0
        self._add_cross(places, i, np.einsum("sa,sb->sab", one, counts @ other))
        self._add_cross(places, j, np.einsum("sa,sb->sab", counts.T @ one, other))

    def fetch(self, x: Indices, y: Indices, z: Indices) -> None:
        """Queries what these questions need and no earlier one did."""
        heads = self.pairs.heads[z]
        wanted = (np.square(heads.sum(axis=1)) - np.square(heads).sum(axis=1)) // 2
        has_products = (wanted > 0) & (wanted * 20 <= self.n)  # the rule of `additive_tests`
        if not has_products.any():
            return
        x, y, z = x[has_products], y[has_products], np.sort(z[has_products], axis=1)
        with self.lock:
            self._ask_threes(_threes_of(x, y, z, len(self.functions)) - self._threes)
            fours = _fours_of(z, len(self.functions)) - self._fours
            if fours:
                self._ask_fours(fours)

    def _ask_threes(self, wanted: set[tuple[int, ...]]) -> None:
        """Query the products of two columns with a third, one query for each third column."""
        by_third: dict[int, list[tuple[int, int]]] = {}
        for i, j, k in sorted(wanted):
            by_third.setdefault(k, []).append((i, j))
        for k, pairs in by_third.items():
            asked = [((i, a), (j, b)) for i, j in pairs for a in self._heads(i) for b in self._heads(j)]
            sums, done = self.table.sums_by(k, asked), 0
            for i, j in pairs:
                count = self.pairs.places(i, j).size
                self._add_three(i, j, k, sums[:, done : done + count])
                done += count
        self._threes.update(wanted)

    def _add_three(self, i: int, j: int, k: int, sums: Floats) -> None:
        """Writes the correlations of the products of i and j with k, from their sums over the rows of each
        step of k.
        """
        places, heads = self.pairs.places(i, j), self.table.columns[k].heads
        self._add_cross(places.ravel(), k, sums)
        by_heads = np.einsum("sa,sc,sbd->abcd", heads, heads, sums.reshape(-1, *places.shape), optimize=True)
        self._write(self.pairs.places(k, i).ravel(), self.pairs.places(k, j).ravel(), by_heads)

    def _add_cross(self, places: Counts, k: int, sums: Floats) -> None:
        """The correlations of products with the functions of a column, from their sums over the rows of its steps."""
        found = sums.reshape(len(sums), -1).T @ self.functions[k]
        self.cross[places, self.start[k] : self.start[k + 1]] = found * self.inverse[places, None]

    def _ask_fours(self, wanted: set[tuple[int, ...]]) -> None:
        """Query the products of two columns with those of two others."""
        asked, done = sorted(wanted), 0
        shapes = [tuple(self.pairs.heads[list(four)].tolist()) for four in asked]
        each = [(four, heads) for four, shape in zip(asked, shapes, strict=True) for heads in np.ndindex(*shape)]
        sums = self.table.sums([tuple(zip(four, heads, strict=True)) for four, heads in each])
        for four, shape in zip(asked, shapes, strict=True):
            found, done = sums[done : done + prod(shape)].reshape(shape), done + prod(shape)
            for i, j, k, m in ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2)):
                one, other = self.pairs.places(four[i], four[j]), self.pairs.places(four[k], four[m])
                self._write(one.ravel(), other.ravel(), found.transpose(i, j, k, m))
        self._fours.update(wanted)

    def _write(self, rows: Counts, columns: Counts, sums: Floats) -> None:
        """The correlations of the products at some places with those at others, from their sums."""
        centred = sums.reshape(len(rows), len(columns)) - self.n * np.outer(self.mean[rows], self.mean[columns])
        found = centred * self.inverse[rows, None] * self.inverse[columns]
        self.products[np.ix_(rows, columns)], self.products[np.ix_(columns, rows)] = found, found.T

    def _heads(self, i: int) -> range:
        return range(int(self.pairs.heads[i]))


def _threes_of(x: Indices, y: Indices, z: Indices, p: int) -> set[tuple[int, ...]]:
    """Two members of a condition set, ascending, and a third member, x or y."""
    members = {*range(z.shape[1])}
    others = {two: (x, y, *(z[:, k] for k in members.difference(two))) for two in combinations(members, 2)}
    asked = [(z[:, i], z[:, j], other) for (i, j), some in others.items() for other in some]
    return _different(asked, p)


def _fours_of(z: Indices, p: int) -> set[tuple[int, ...]]:
    """Four members of a condition set, ascending."""
    return _different([tuple(z[:, i] for i in four) for four in combinations(range(z.shape[1]), 4)], p)


def _different(asked: Sequence[tuple[Indices, ...]], p: int) -> set[tuple[int, ...]]:
    """The distinct rows, of columns 0 to p - 1."""
    if not asked:
        return set()
    shape = (p,) * len(asked[0])
    found = np.unique(np.concatenate([np.ravel_multi_index(one, shape) for one in asked]))
    return set(zip(*(part.tolist() for part in np.unravel_index(found, shape)), strict=True))
