"""A score of counts with trees in place of full tables, tried in the searches "boss" and "bayes"; not in the package.

    pip install -e '.[bench]'
    python benchmarks/others.py DATA --only hailfinder
    python benchmarks/tree_scores.py DATA --method boss [--only GLOB] [--price 2] [--without]

DATA: folders as for `grid.py learn`. Prints the errors of each table, the number of hidden causes and CPU seconds;
`--without`: with the score of the package. `benchmarks/tried.md` has figures.

The table of a node given its parents has a row for each combination of their levels. Here rows with about the same
shares are one leaf of a tree. From the root, which has all rows of the data, a leaf is split by one parent: one of its
levels against all others, or all levels apart. The split with the largest gain is taken until none gains. A leaf is
scored by its marginal likelihood with one prior row. A split costs `price` times the logarithm of the number of splits
to choose from. As an edge of the package's score it also pays for rare levels, of the node and of the parent. If the
full table, scored as in the package, is better than the tree, it counts instead. Besides, every edge costs log(p).
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import time
import warnings
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import anypag as ap
import grid
from anypag._kernels.discrete_score import ADDING, COMPONENT, FORBIDDEN, IMPOSSIBLE, LEAST_GAIN, REMOVING, of_set
from anypag._kernels.patience import njit
from anypag.scores.base import Bound
from anypag.scores.discrete import DiscreteScore
from anypag.scores.latent import LatentScore

Array = npt.NDArray[Any]

MOST_LEAVES = 400  # the most leaves that wait to be split
SMALL = 256  # the term of a count below this is computed once for each tree
FEWEST = 4  # a leaf with fewer rows is not split


@njit(cache=True, nogil=True)
def _leaf(counts: Array, r: int, worth: Array) -> float:
    """The log marginal likelihood of rows with these levels, with one prior row spread evenly over the r levels."""
    n, value = 0, 0.0
    for level in range(r):
        count = counts[level]
        n += count
        value += worth[count] if count < SMALL else math.lgamma(count + 1.0 / r) - math.lgamma(1.0 / r)
    return value - math.lgamma(1.0 + n)


@njit(cache=True, nogil=True)
def _uneven(n: int, parts: int, part: int, r: int) -> float:
    """What a part with `part` of n rows pays too little: half a logarithm for each of its r - 1 parameters."""
    return 0.5 * (r - 1) * math.log((n / parts + 0.5) / (part + 0.5))


@njit(cache=True, nogil=True)
def _tree(table: Array, numbers: Array, v: int, parents: Array, k: int) -> float:
    """The score of node v in the tree that is found by splitting leaves as long as this gains."""
    p, n_rows, r = table.shape[0], table.shape[1], int(numbers[1 + v])
    price, rare, most = numbers[1 + p], numbers[2 + p + v], 2
    for x in range(k):
        most = max(most, int(numbers[1 + parents[x]]))
    worth = np.empty(SMALL)
    for c in range(SMALL):
        worth[c] = math.lgamma(c + 1.0 / r) - math.lgamma(1.0 / r)
    rows, moved = np.arange(n_rows), np.empty(n_rows, np.int64)
    begin, end = np.zeros(MOST_LEAVES, np.int64), np.zeros(MOST_LEAVES, np.int64)
    possible = np.zeros((MOST_LEAVES, k, most), np.uint8)  # the levels that splits above have not excluded
    for x in range(k):
        possible[0, x, : int(numbers[1 + parents[x]])] = 1
    end[0], waiting, value = n_rows, 1, 0.0
    counts, size = np.zeros((k, most, r), np.int64), np.zeros((k, most), np.int64)
    whole, rest = np.zeros(r, np.int64), np.zeros(r, np.int64)
    while waiting > 0:
        waiting -= 1
        first, last = begin[waiting], end[waiting]
        n, levels = last - first, possible[waiting].copy()
        counts[:], size[:], whole[:] = 0, 0, 0
        for i in range(first, last):
            whole[table[v, rows[i]]] += 1
        n_splits = 0
        for x in range(k):
            column = table[parents[x]]
            for i in range(first, last):
                counts[x, column[rows[i]], table[v, rows[i]]] += 1
                size[x, column[rows[i]]] += 1
            met = levels[x].sum()
            n_splits += met if met > 2 else met - 1
        here, cost = _leaf(whole, r, worth), price * math.log(max(n_splits, 2))
        best, by, at = 0.0, -1, -1  # `at`: the level that is split off; -1 if all levels are split
        for x in range(k if n >= FEWEST and waiting + most < MOST_LEAVES else 0):
            met, apart = levels[x].sum(), 0.0
            for level in range(most if met > 1 else 0):
                if levels[x, level] == 0:
                    continue
                part, own = size[x, level], _leaf(counts[x, level], r, worth)
                apart += own - _uneven(n, met, part, r)
                for y in range(r):
                    rest[y] = whole[y] - counts[x, level, y]
                gain = own + _leaf(rest, r, worth) - here - cost - rare
                gain -= _uneven(n, 2, part, r) + _uneven(n, 2, n - part, r)
                if gain > best:
                    best, by, at = gain, x, level
            if met > 2 and apart - here - cost - rare * (met - 1) > best:
                best, by, at = apart - here - cost - rare * (met - 1), x, -1
        if by < 0:
            value += here
            continue
        column, place = table[parents[by]], first
        parts = levels[by].sum() if at < 0 else 2
        value -= cost + rare * (parts - 1)
        for turn in range(most if at < 0 else 2):
            if at < 0 and levels[by, turn] == 0:
                continue
            begin[waiting] = place
            possible[waiting] = levels
            for level in range(most):
                if (level if at < 0 else int(level != at)) != turn:
                    possible[waiting, by, level] = 0
            for i in range(first, last):
                if possible[waiting, by, column[rows[i]]]:
                    moved[place] = rows[i]
                    place += 1
            end[waiting] = place
            value -= _uneven(n, parts, place - begin[waiting], r)
            waiting += 1
        rows[first:last] = moved[first:last]
    return value


@njit(cache=True, nogil=True)
def _mixed(x: Any) -> Any:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def _of_node(
    matrix: Array, table: Array, numbers: Array, keys: Array, values: Array, v: int, nodes: Array, k: int
) -> Any:
    """The score of v given the first k nodes, less the price of the edges; cached."""
    whole = _mixed(np.uint64(v + 1) * np.uint64(0xD1342543DE82EF95)) + np.uint64(k)
    for x in range(k):
        whole += _mixed(np.uint64(nodes[x] + 1) * np.uint64(0x9E3779B97F4A7C15))
        if matrix[v, nodes[x]] > FORBIDDEN:
            return IMPOSSIBLE
    whole = _mixed(whole) | np.uint64(1)
    mask, p = np.uint64(len(keys) - 1), table.shape[0]
    slot = whole & mask
    for _ in range(32):
        if keys[slot] == whole:
            return values[slot]
        if keys[slot] == 0:
            break
        slot = (slot + np.uint64(1)) & mask
    room, alone = np.zeros(1, np.int64), np.append(nodes[:k], v)
    value = of_set(table, numbers, keys, values, room, alone, k + 1)
    value -= of_set(table, numbers, keys, values, room, alone, k)
    edges = 0.0
    for x in range(k):
        u = nodes[x]
        rare = numbers[2 + p + v] * (numbers[1 + u] - 1) + numbers[2 + p + u] * (numbers[1 + v] - 1)
        value -= rare
        edges += matrix[v, u] - rare
    if k > 0:
        value = max(value, _tree(table, numbers, v, np.sort(nodes[:k]), k))
    value -= edges
    for _ in range(64):  # the sets of columns took places meanwhile
        if keys[slot] == 0:
            keys[slot], values[slot] = whole, value
            break
        slot = (slot + np.uint64(1)) & mask
    return value


@njit(COMPONENT, cache=True, nogil=True)
def component(
    matrix: Array,
    table: Array,
    numbers: Array,
    keys: Array,
    values: Array,
    nodes: Array,
    d: int,
    m: int,
    relation: Array,
    fits: Array,
    asked: int,
) -> Any:
    if d > 1:
        return IMPOSSIBLE
    return _of_node(matrix, table, numbers, keys, values, nodes[0], nodes[1:m].copy(), m - 1)


@njit(ADDING, cache=True, nogil=True)
def adding(
    matrix: Array,
    table: Array,
    numbers: Array,
    keys: Array,
    values: Array,
    v: int,
    parents: Array,
    k: int,
    candidates: Array,
    count: int,
    worth: Array,
    room: Array,
) -> Any:
    nodes = np.empty(k + 1, np.int64)
    nodes[:k] = parents[:k]
    for c in range(count):
        if matrix[v, candidates[c]] > FORBIDDEN:
            worth[candidates[c]] = -np.inf
        elif np.isnan(worth[candidates[c]]) and room[0] >= 0:
            nodes[k] = candidates[c]
            worth[candidates[c]] = _of_node(matrix, table, numbers, keys, values, v, nodes, k + 1)
            room[0] -= 20_000
    return _of_node(matrix, table, numbers, keys, values, v, nodes, k) + LEAST_GAIN


@njit(REMOVING, cache=True, nogil=True)
def removing(
    matrix: Array,
    table: Array,
    numbers: Array,
    keys: Array,
    values: Array,
    v: int,
    parents: Array,
    k: int,
    worth: Array,
    room: Array,
) -> Any:
    nodes = np.empty(k, np.int64)
    for x in range(k):
        if np.isnan(worth[x]) and room[0] >= 0:
            for y in range(k - 1):
                nodes[y] = parents[y + (y >= x)]
            worth[x] = _of_node(matrix, table, numbers, keys, values, v, nodes, k - 1)
            room[0] -= 20_000
    return _of_node(matrix, table, numbers, keys, values, v, parents, k)


def take_trees(price: float) -> None:
    """From now on, scores of counts are those of trees."""
    kernels = {"component": component, "adding": adding, "removing": removing}

    def bound(self: DiscreteScore) -> Bound:
        numbers = np.array([self.ess, *self.n_levels, price, *self.rarity], np.float64)
        return Bound(self.prices(), self.levels, numbers, np.zeros(1 << 21, np.uint64), np.zeros(1 << 21))

    def of_node(self: LatentScore, node: int, is_parent: bytes) -> float:
        parents = np.flatnonzero(np.frombuffer(is_parent, np.bool_))
        nodes, unused = np.append(node, parents).astype(np.int64), (np.zeros((1, 1), np.uint8), np.zeros((1, 1, 1)), 0)
        value = component(*self._discrete.bound, nodes, 1, len(nodes), *unused)
        return float(value + self._prices(())[node, parents].sum())

    cached: Any = cached_property(bound)
    cached.__set_name__(DiscreteScore, "bound")
    DiscreteScore.bound = cached  # type: ignore[method-assign]
    DiscreteScore._kernel = lambda self, name: kernels[name]  # type: ignore[method-assign]
    LatentScore._of_node = of_node  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--method", default="boss")
    parser.add_argument("--only", default="*")
    parser.add_argument("--price", type=float, default=2.0)
    parser.add_argument("--without", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.without:
        take_trees(options.price)
    for path in sorted(path for folder in options.data for path in folder.glob("*.csv")):
        if fnmatch.fnmatch(path.stem, options.only):
            print(path.stem, *told(path, options.method), flush=True)


def told(path: Path, method: str) -> tuple[int, int, float]:
    """The errors on a table, how many hidden causes were found, and the CPU seconds."""
    began = time.process_time()
    result = ap.learn(path, method=method, kinds={"*": "discrete"}, threads=1)
    seconds = round(time.process_time() - began, 1)
    truth: npt.NDArray[np.uint8] = grid.truth_of(json.loads(path.with_suffix(".json").read_text()), result.pag.names)[0]
    n_hidden = 0 if result.posterior is None else len(result.posterior.n_levels)
    return sum(grid.errors(result.pag.marks, truth)), n_hidden, seconds


if __name__ == "__main__":
    main()
