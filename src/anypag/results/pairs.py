"""Facts about pairs of variables: separating sets, p-values, strength of edges."""

from __future__ import annotations

from collections.abc import Callable, Collection, ItemsView, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags, Floats, Indices
from anypag.ci.base import CITest, Queries, innermost
from anypag.errors import UnknownNameError, absent
from anypag.graphs.marks import Edge, Separation
from anypag.graphs.pag import PAG
from anypag.search.state import State
from anypag.threads import slices

AnyNodes = npt.NDArray[np.integer]

_BITS = np.array([byte.bit_count() for byte in range(256)], np.uint8)  # the number of set bits of each byte
MOST_EDGES = 20_000  # in graphs with more edges, strengths are not computed
MOST_GIVEN = 30  # the most neighbours that a partial correlation conditions on


def pair_p_values(state: State, test: CITest, x: AnyNodes, y: AnyNodes) -> tuple[Floats, npt.NDArray[np.int16]]:
    """The p-value of each pair of nodes, and the iteration that separated the pair (-1 if none did).

    For a pair without an edge this is the p-value of the separation. For a pair with an edge it is the largest p-value
    of its tests, NaN if there were none. There may be no record for a pair that the empty set separates (see
    `State.joined_by`). Then the test is made again and gives the same p-value.
    """
    p, found_at = state.evidence.notes.of(state.n, x, y)
    unnoted = np.flatnonzero(np.isnan(p) & (found_at < 0))
    if len(unnoted):
        unnoted = unnoted[state.sepsets.slot(x[unnoted], y[unnoted]) == 0]
    if len(unnoted):
        order = state.nodes.order
        pairs = Queries(order[x[unnoted]], order[y[unnoted]], np.empty((len(unnoted), 0), np.int32))
        p[unnoted], found_at[unnoted] = test.pvalues(pairs), 0
    return p, found_at


def pair_p(state: State, test: CITest, a: int, b: int) -> float:
    return float(pair_p_values(state, test, np.array([a]), np.array([b]))[0][0])


def require_names(pair: tuple[str, str], names: Sequence[str]) -> None:
    """Raise an error for a pair with an unknown name, and suggest a similar one."""
    unknown = [str(name) for name in pair if name not in names]
    if unknown:
        raise UnknownNameError(absent("variable", unknown, names))


class Separations(Mapping[tuple[str, str], Separation]):
    """The separations of a result, by pair of names in either order."""

    def __init__(self, state: State, test: CITest) -> None:
        self._state, self._sets, self._test = state, state.sepsets, test
        self._names, self._order = state.nodes.names, state.nodes.order
        self._places = np.argsort(self._order)
        self._place = dict(zip(self._names, self._places.tolist(), strict=True))

    def __getitem__(self, pair: tuple[str, str]) -> Separation:
        require_names(pair, self._names)
        a, b = (np.array([self._place[name]]) for name in pair)
        if self._sets.get(int(a[0]), int(b[0])) is None:
            raise KeyError(pair)
        return next(self._of(a, b))

    def marginal(self, among: Collection[str]) -> list[tuple[str, str]]:
        """The pairs of these names that are independent given nothing."""
        names = [name for name in self._names if name in among]
        places = np.array([self._place[name] for name in names], np.intp)
        x, y = np.triu_indices(len(names), 1)
        is_empty = self._sets.slot(places[x], places[y]) == 0
        return [(names[a], names[b]) for a, b in zip(x[is_empty].tolist(), y[is_empty].tolist(), strict=True)]

    @property
    def n_marginal(self) -> int:
        """How many pairs the empty set separates."""
        return int(_BITS[self._sets.empty].sum(dtype=np.int64)) // 2

    def given_others(self) -> dict[tuple[str, str], Separation]:
        """The separations by a set that is not empty."""
        names, place = self._names, self._places
        ends = (self._order[end] for end in np.divmod(self._sets.pairs, max(self._sets.n, 1)))
        x, y = np.sort(np.stack([*ends]), axis=0) if len(self._sets.pairs) else np.empty((2, 0), np.intp)
        by_name = np.lexsort((y, x))
        x, y = x[by_name], y[by_name]
        found = self._of(place[x], place[y])
        return {(names[a], names[b]): why for a, b, why in zip(x.tolist(), y.tolist(), found, strict=True)}

    def unseparated(self, pag: PAG) -> Iterator[tuple[str, str]]:
        """Pairs without an edge and without a known separating set."""
        left = np.triu((pag.marks == 0) & ~self._known, 1)
        return ((self._names[a], self._names[b]) for a, b in np.argwhere(left).tolist())

    def _rows(self, x: AnyNodes, y: AnyNodes) -> list[int | None]:
        """The number of rows that the test of each separation used; None for a test without rows."""
        effective_n = getattr(self._test, "effective_n", None)
        if effective_n is None:
            return [None] * len(x)
        sets, columns, rows = self._sets, self._order, np.zeros(len(x), np.int64)
        members = sets.members[sets.slot(x, y)]
        size = (members >= 0).sum(axis=1)
        for s in np.unique(size):
            of_size = size == s
            pairs = columns[x[of_size]], columns[y[of_size]]
            rows[of_size] = effective_n(Queries(*pairs, columns[members[of_size, :s]]))
        return [*rows.tolist()]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        names = self._names
        x, y = self._pairs
        return ((names[a], names[b]) for a, b in zip(x.tolist(), y.tolist(), strict=True))

    def items(self) -> ItemsView[tuple[str, str], Separation]:
        """All separations, looked up in batches."""
        return _Items(self)

    def many(self, chosen: slice) -> Iterator[Separation]:
        return self._of(*(self._places[end[chosen]] for end in self._pairs))

    def _of(self, a: AnyNodes, b: AnyNodes) -> Iterator[Separation]:
        p, found_at = pair_p_values(self._state, self._test, a, b)
        found = (self._sets.slot(a, b).tolist(), p.tolist(), found_at.tolist(), self._rows(a, b))
        return (Separation(self._given[slot], p, r, n) for slot, p, r, n in zip(*found, strict=True))

    @property
    def _known(self) -> Flags:
        return self._sets.known()[np.ix_(self._places, self._places)]

    @cached_property
    def _pairs(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        x, y = np.nonzero(np.triu(self._known, 1))
        return x, y

    @cached_property
    def _given(self) -> list[tuple[str, ...]]:
        """The members of every separating set, in the order of the names."""
        names, columns = self._names, self._order
        rows = (row[row >= 0] for row in self._sets.members)
        return [tuple(names[column] for column in np.sort(columns[row]).tolist()) for row in rows]

    def __len__(self) -> int:
        return int(np.count_nonzero(self._sets.known())) // 2

    def __repr__(self) -> str:
        return f"<separating sets of {len(self)} pairs>"


class _Items(ItemsView[tuple[str, str], Separation]):
    def __init__(self, separations: Separations) -> None:
        super().__init__(separations)
        self._separations = separations

    def __iter__(self) -> Iterator[tuple[tuple[str, str], Separation]]:
        found = (why for run in slices(len(self._separations)) for why in self._separations.many(run))
        return zip(self._separations, found, strict=True)


def strengths_of(pag: PAG, bound_test: CITest) -> dict[tuple[str, str], str]:
    """The strength of each edge in a few words; empty if the test has no measure, or if there are very many edges."""
    test, edges = innermost(bound_test), pag.edges()
    names = {name: i for i, name in enumerate(test.names)}
    measure = getattr(test, "strength", None)
    if not edges or len(edges) > MOST_EDGES or measure is None:
        return {}
    if hasattr(test, "correlations_among"):
        return {edge[:2]: _correlations(pag, test.correlations_among, names, edge) for edge in edges}
    x, y = np.array([[names[edge.a] for edge in edges], [names[edge.b] for edge in edges]], np.int32)
    found = measure(Queries(x, y, np.empty((len(edges), 0), np.int32)))
    ways = signs_of(test, x, y)
    told = [f"{value:.2f}" if way == 0 else f"{way * value:+.2f}" for value, way in zip(found, ways, strict=True)]
    return {edge[:2]: f"association {value}" for edge, value in zip(edges, told, strict=True)}


def signs_of(test: CITest, x: Indices, y: Indices) -> Floats:
    """(b,) 1 where two columns rise together, -1 where one falls as the other rises; 0 if one column has no order."""
    rows, is_number = getattr(test, "some_rows", None), getattr(test, "is_number", ())
    if rows is None or not is_number:
        return np.zeros(len(x))
    kinds = getattr(test, "kinds", ("discrete",) * len(is_number))
    used = np.unique(np.concatenate([x, y]))
    has_way = np.zeros(len(is_number), bool)
    for i in used.tolist():
        has_way[i] = is_number[i] and (kinds[i] != "discrete" or len(np.unique(rows[:, i])) == 2)
    centred = rows - rows.mean(axis=0)
    return np.asarray(np.sign(np.einsum("ij,ij->j", centred[:, x], centred[:, y])) * (has_way[x] & has_way[y]))


def _correlations(pag: PAG, among: Callable[[list[int]], Floats], names: dict[str, int], edge: Edge) -> str:
    """In words, the correlation of an edge's ends, and the partial correlation given up to 30 of their neighbours."""
    others = dict.fromkeys([*pag.neighbours(edge.a), *pag.neighbours(edge.b)])
    given = [names[name] for name in others if name not in edge[:2]][:MOST_GIVEN]
    i, j = names[edge.a], names[edge.b]
    plain = f"correlation {among([i, j])[0, 1]:+.2f}"
    if not given:
        return plain
    inverse = np.linalg.pinv(among([i, j, *given]))
    partial = -inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1])
    others_joined = "the other column" if len(given) == 1 else f"the {len(given)} others"
    return f"{plain}, {partial:+.2f} given {others_joined} joined to either"
