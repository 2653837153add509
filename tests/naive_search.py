"""Slow, obvious twins of the search layer, written from the description of the algorithm.

A graph is a dict: `graph[i, j]` is the mark at j on the edge i–j, one of "o", ">" and "-". Paths and walks are listed
one by one, sets are Python sets, every candidate is built before the first is tested. Nothing here is quick, and
nothing here shares code with the package.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, pairwise, product

import numpy as np
import numpy.typing as npt

Graph = dict[tuple[int, int], str]
Pair = frozenset[int]
Sets = dict[Pair, tuple[int, ...]]
PValue = Callable[[int, int, tuple[int, ...]], float]
"""p of "x is independent of y given z", z ascending."""
Proposal = tuple[int, int, str]
"""(i, j, mark): this mark at j on i–j."""
Rule = Callable[[Graph, int], Iterator[Proposal]]

SYMBOLS = " o>-"


def graph_of(marks: npt.NDArray[np.uint8]) -> Graph:
    """The graph of a marks matrix."""
    return {(int(i), int(j)): SYMBOLS[marks[i, j]] for i, j in np.argwhere(marks)}


def marks_of(graph: Graph, n: int) -> npt.NDArray[np.uint8]:
    """The marks matrix of a graph."""
    marks = np.zeros((n, n), np.uint8)
    for (i, j), mark in graph.items():
        marks[i, j] = SYMBOLS.index(mark)
    return marks


def complete(n: int) -> Graph:
    """Every pair joined by o-o."""
    return {(i, j): "o" for i in range(n) for j in range(n) if i != j}


def neighbours(graph: Graph, v: int) -> list[int]:
    """Ascending."""
    return sorted(j for i, j in graph if i == v)


def edges(graph: Graph) -> list[tuple[int, int]]:
    """The smaller end first, ascending."""
    return sorted((i, j) for i, j in graph if i < j)


def without(graph: Graph, pairs: Iterable[Pair]) -> Graph:
    """The graph without some edges."""
    gone = set(pairs)
    return {(i, j): mark for (i, j), mark in graph.items() if frozenset((i, j)) not in gone}


def simple_paths(graph: Graph, x: int, y: int) -> Iterator[tuple[int, ...]]:
    """Every path from x to y that meets no node twice."""

    def extended(path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if path[-1] == y:
            yield path
            return
        for w in neighbours(graph, path[-1]):
            if w not in path:
                yield from extended((*path, w))

    yield from extended((x,))


# --- separation, from the definition ------------------------------------------------------------------------------


def ancestors(graph: Graph, nodes: Iterable[int]) -> set[int]:
    """The nodes and all that have a directed path to one."""
    found = set(nodes)
    while True:
        more = {i for (i, j), mark in graph.items() if j in found and mark == ">" and graph[j, i] == "-"} - found
        if not more:
            return found
        found |= more


def is_separated(graph: Graph, x: int, y: int, z: Iterable[int]) -> bool:
    """m-separation: no path on which every collider is an ancestor of z and no other inner node is in z."""
    given = set(z)
    anterior = ancestors(graph, given)

    def is_open(u: int, v: int, w: int) -> bool:
        return v in anterior if graph[u, v] == ">" and graph[w, v] == ">" else v not in given

    return not any(all(is_open(*path[k : k + 3]) for k in range(len(path) - 2)) for path in simple_paths(graph, x, y))


def is_ancestral(graph: Graph) -> bool:
    """No node is an ancestor of one that has an arrowhead at it from there; no arrowhead meets an undirected edge."""
    for (i, j), mark in graph.items():
        if mark == ">" and j in ancestors(graph, [i]):
            return False
        if mark == "-" and graph[j, i] == "-" and any(graph.get((k, j)) == ">" for k in neighbours(graph, j)):
            return False
    return True


def subsets(nodes: Iterable[int]) -> list[tuple[int, ...]]:
    """All of them, small ones first."""
    members = sorted(nodes)
    return [z for size in range(len(members) + 1) for z in combinations(members, size)]


def independences(graph: Graph, n: int) -> frozenset[tuple[int, int, tuple[int, ...]]]:
    """Every separation a graph implies."""
    return frozenset(
        (x, y, z)
        for x, y in combinations(range(n), 2)
        for z in subsets(set(range(n)) - {x, y})
        if (x, y) not in graph and is_separated(graph, x, y, z)
    )


def classes_of_mags(n: int) -> dict[frozenset[tuple[int, int, tuple[int, ...]]], list[Graph]]:
    """All maximal ancestral graphs over n nodes, those with the same independences together."""
    kinds = ("", "->", ">-", ">>", "--")
    pairs = list(combinations(range(n), 2))
    found: dict[frozenset[tuple[int, int, tuple[int, ...]]], list[Graph]] = {}
    for choice in product(kinds, repeat=len(pairs)):
        graph: Graph = {}
        for (i, j), kind in zip(pairs, choice, strict=True):
            if kind:
                graph[j, i], graph[i, j] = kind[0], kind[1]
        if not is_ancestral(graph):
            continue
        model = independences(graph, n)
        separated = {(x, y) for x, y, _ in model}
        if all(pair in graph or pair in separated for pair in pairs):  # maximal
            found.setdefault(model, []).append(graph)
    return found


def common_marks(members: list[Graph]) -> Graph:
    """The PAG of a class: the marks its members share, circles where they differ."""
    return {edge: mark if all(member[edge] == mark for member in members) else "o" for edge, mark in members[0].items()}


def wrong_claims(graph: Graph, mag: Graph, n: int) -> list[str]:
    """What a graph says that does not hold in a MAG: missing edges, arrowheads, tails (edges too many say nothing)."""
    wrong = [f"no edge {pair}" for pair in edges(mag) if pair not in graph]
    selected = {i for (i, j), mark in mag.items() if mark == "-" and mag[j, i] == "-"}
    for (a, b), mark in graph.items():
        is_anterior = b in selected or b in ancestors(mag, [a])
        if (mark == ">" and is_anterior) or (mark == "-" and not is_anterior):
            wrong.append(f"mark {mark} at {b} on {a}–{b}")
    return wrong


# --- pools and candidates -----------------------------------------------------------------------------------------


def on_a_path(graph: Graph, x: int, y: int) -> set[int]:
    """The nodes that lie on some path between two nodes."""
    return {v for path in simple_paths(graph, x, y) for v in path}


def is_possibly_anterior(graph: Graph, z: int, targets: Iterable[int]) -> bool:
    """Some path from z to a target has no arrowhead at the z-side of any edge."""
    return any(
        all(graph[v, u] != ">" for u, v in pairwise(path))
        for target in targets
        for path in simple_paths(graph, z, target)
    )


def walk_passes(graph: Graph, u: int, v: int, w: int, *, tails_close: bool) -> bool:
    """May a PDS-walk go u, v, w?"""
    if graph[u, v] == ">" and graph[w, v] == ">":
        return True
    return (u, w) in graph and not (tails_close and "-" in (graph[u, v], graph[w, v]))


def pool(
    graph: Graph, x: int, y: int, r: int, *, tails_close: bool, anterior: bool, out: Collection[int] = ()
) -> dict[int, int]:
    """The distance of every node of the pool of x for the edge x–y: all walks are walked, none through `out`."""
    allowed = on_a_path(graph, x, y) - {x, y, *out}
    if anterior:
        allowed = {v for v in allowed if is_possibly_anterior(graph, v, (x, y))}
    distance: dict[int, int] = {}

    def walk(path: tuple[int, ...]) -> None:
        if len(path) > 1:
            distance[path[-1]] = min(distance.get(path[-1], r), len(path) - 1)
        if len(path) > r:
            return
        for w in neighbours(graph, path[-1]):
            u, v = (path[-2], path[-1]) if len(path) > 1 else (w, w)
            if w in allowed and (len(path) == 1 or (w != u and walk_passes(graph, u, v, w, tails_close=tails_close))):
                walk((*path, w))

    if r > 0:
        walk((x,))
    return distance


def pools(
    graph: Graph, x: int, y: int, r: int, *, tails_close: bool = True, max_sets: int, out: Collection[int] = ()
) -> tuple[dict[int, int], dict[int, int]]:
    """Both pools of an edge; narrowed to possible anteriors where there would be more than `max_sets` candidates."""
    sides = ((x, y), (y, x))
    wide = tuple(pool(graph, a, b, r, tails_close=tails_close, anterior=False, out=out) for a, b in sides)
    n_sets = len({z for side in wide for z in combinations(sorted(side), r)})
    if max_sets < 0 or n_sets <= max_sets:
        return wide[0], wide[1]
    narrow = tuple(pool(graph, a, b, r, tails_close=tails_close, anterior=True, out=out) for a, b in sides)
    return narrow[0], narrow[1]


def candidates(
    both: tuple[dict[int, int], dict[int, int]], r: int, dependence: Callable[[int], float]
) -> list[tuple[int, ...]]:
    """The r-subsets of two pools, each once, by mean distance, then from x's pool before y's, then by the places of
    their members in the pool: the nearest first, of those the most dependent, of those the smallest index.
    """
    best: dict[tuple[int, ...], tuple[int, int, tuple[int, ...]]] = {}
    for side, distance in enumerate(both):
        place = sorted(distance, key=lambda v: (distance[v], -dependence(v), v))
        for places in combinations(range(len(place)), r):
            members = tuple(sorted(place[k] for k in places))
            key = (sum(distance[v] for v in members), side, places)
            best[members] = min(best.get(members, key), key)
    return sorted(best, key=lambda z: best[z])


def smaller_sets(x: int, y: int, z: tuple[int, ...], sepsets: Sets) -> list[tuple[int, ...]]:
    """The proper parts R of z that separate x and y if z does: all others of z are separated from x, or all of them
    from y, by R, or all of them by R with the other end.
    """
    found = []
    for part in subsets(z):
        others = set(z) - set(part)
        for end, other in ((x, y), (y, x)):
            known = [sepsets.get(frozenset((end, w))) for w in others]
            if others and any(all(s == given for s in known) for given in (part, tuple(sorted({*part, other})))):
                found.append(part)
    return found


def possible_d_sep(graph: Graph, x: int, n: int) -> set[int]:
    """All nodes that a path reaches from x, any number of edges long, on which every inner node is a collider or the
    corner of a triangle. Walks of as many edges as there are (directed) edges find them all.
    """
    pairs = {(x, v) for v in neighbours(graph, x)}
    while True:
        more = {
            (v, w)
            for u, v in pairs
            for w in neighbours(graph, v)
            if w not in (u, x) and walk_passes(graph, u, v, w, tails_close=False)
        } - pairs
        if not more:
            return {v for _, v in pairs}
        pairs |= more


# --- orientation --------------------------------------------------------------------------------------------------


def unshielded(graph: Graph, n: int) -> Iterator[tuple[int, int, int]]:
    """A–B–C with A and C not adjacent, both ways round."""
    for b in range(n):
        for a, c in product(neighbours(graph, b), repeat=2):
            if a != c and (a, c) not in graph:
                yield a, b, c


def is_arrow(graph: Graph, a: int, b: int) -> bool:
    """A --> B."""
    return graph.get((a, b)) == ">" and graph[b, a] == "-"


def rule_1(g: Graph, n: int) -> Iterator[Proposal]:
    for a, b, c in unshielded(g, n):
        if g[a, b] == ">" and g[c, b] == "o":
            yield from ((c, b, "-"), (b, c, ">"))


def rule_2(g: Graph, n: int) -> Iterator[Proposal]:
    for (a, c), mark in g.items():
        for b in range(n):
            is_chain = g.get((a, b)) == ">" and g.get((b, c)) == ">"
            if mark == "o" and is_chain and (is_arrow(g, a, b) or is_arrow(g, b, c)):
                yield a, c, ">"


def rule_3(g: Graph, n: int) -> Iterator[Proposal]:
    for a, b, c in unshielded(g, n):
        for d in range(n):
            if g[a, b] == g[c, b] == ">" and g.get((a, d)) == g.get((c, d)) == "o" and g.get((d, b)) == "o":
                yield d, b, ">"


def all_discriminating_paths(g: Graph, n: int) -> Iterator[tuple[int, ...]]:
    """<D, ..., A, B, C>: D and C not adjacent, every node between D and B a collider and a parent of C; B o-* C."""
    for (c, b), mark in g.items():
        for d in range(n):
            if mark != "o" or d == c or (d, c) in g:
                continue
            for path in simple_paths(g, d, b):
                inner = path[1:-1]
                ends_well = inner and c not in path
                if ends_well and all(
                    g[u, v] == ">" and g[w, v] == ">" and is_arrow(g, v, c)
                    for u, v, w in zip(path, inner, path[2:], strict=False)
                ):
                    yield (*path, c)


def discriminating_paths(g: Graph, n: int) -> list[tuple[int, ...]]:
    """For each D, B, C the shortest, of these the first in the order of its nodes from B on."""
    best: dict[tuple[int, int, int], tuple[int, tuple[int, ...]]] = {}
    for *way, c in all_discriminating_paths(g, n):
        key = (len(way), tuple(way[::-1]))
        best[way[0], way[-1], c] = min(best.get((way[0], way[-1], c), key), key)
    return [(*way[::-1], c) for (_, _, c), (_, way) in best.items()]


def rule_4(g: Graph, n: int, paths: Iterable[tuple[int, ...]], sepsets: Sets) -> Iterator[Proposal]:
    """What the paths say, each for all that have its D, B and C."""
    said = {(path[0], *path[-2:]) for path in paths}
    for path in all_discriminating_paths(g, n) if said else ():
        a, b, c = path[-3:]
        if (path[0], b, c) not in said:
            continue
        if b in sepsets[frozenset((path[0], c))]:
            yield from ((c, b, "-"), (b, c, ">"))
        else:
            yield from ((a, b, ">"), (c, b, ">"), (b, c, ">"))


def uncovered_paths(g: Graph, x: int, y: int, *, circles_only: bool) -> Iterator[tuple[int, ...]]:
    """Paths whose every three consecutive nodes have outer ones that are not adjacent; circle paths, or possibly
    directed ones.
    """
    for path in simple_paths(g, x, y):
        is_uncovered = all((path[k], path[k + 2]) not in g for k in range(len(path) - 2))
        if circles_only:
            fits = all(g[u, v] == "o" and g[v, u] == "o" for u, v in pairwise(path))
        else:
            fits = all(g[v, u] != ">" and g[u, v] != "-" for u, v in pairwise(path))
        if is_uncovered and fits:
            yield path


def rule_5(g: Graph, n: int) -> Iterator[Proposal]:
    for (a, b), mark in g.items():
        if mark != "o" or g[b, a] != "o":
            continue
        for path in uncovered_paths(g, a, b, circles_only=True):
            if len(path) >= 4 and (a, path[-2]) not in g and (b, path[1]) not in g:
                for u, v in (*pairwise(path), (a, b)):
                    yield from ((u, v, "-"), (v, u, "-"))


def rule_6(g: Graph, n: int) -> Iterator[Proposal]:
    for (a, b), mark in g.items():
        if mark == "-" and g[b, a] == "-":
            for c in neighbours(g, b):
                if g[c, b] == "o":
                    yield c, b, "-"


def rule_7(g: Graph, n: int) -> Iterator[Proposal]:
    for a, b, c in unshielded(g, n):
        if g[b, a] == "-" and g[a, b] == "o" and g[c, b] == "o":
            yield c, b, "-"


def circle_arrows(g: Graph) -> list[tuple[int, int]]:
    """A o-> C."""
    return [(a, c) for (a, c), mark in g.items() if mark == ">" and g[c, a] == "o"]


def rule_8(g: Graph, n: int) -> Iterator[Proposal]:
    for a, c in circle_arrows(g):
        for b in range(n):
            if is_arrow(g, b, c) and (is_arrow(g, a, b) or (g.get((a, b)) == "o" and g[b, a] == "-")):
                yield c, a, "-"


def rule_9(g: Graph, n: int) -> Iterator[Proposal]:
    for a, c in circle_arrows(g):
        for path in uncovered_paths(g, a, c, circles_only=False):
            if len(path) >= 4 and (path[1], c) not in g:
                yield c, a, "-"


def rule_10(g: Graph, n: int) -> Iterator[Proposal]:
    for a, c in circle_arrows(g):
        parents = [b for b in range(n) if b != a and is_arrow(g, b, c)]
        ways = {b: [p[1] for p in uncovered_paths(g, a, b, circles_only=False) if c not in p] for b in parents}
        for b, d in combinations(parents, 2):
            if any(m != w and (m, w) not in g for m in ways[b] for w in ways[d]):
                yield c, a, "-"


RULES: dict[int, Rule] = {
    1: rule_1,
    2: rule_2,
    3: rule_3,
    5: rule_5,
    6: rule_6,
    7: rule_7,
    8: rule_8,
    9: rule_9,
    10: rule_10,
}


Check = Callable[[list[tuple[int, ...]]], bool]


@dataclass
class Oriented:
    """Marks, and the marks wanted in vain."""

    graph: Graph
    conflicts: set[Proposal] = field(default_factory=set)

    def apply(self, proposals: set[Proposal]) -> bool:
        """Set them all at once: on circles, and where arrowhead and tail were never both wanted."""
        disputed = {(i, j) for i, j, _ in self.conflicts}
        fresh = set()
        for i, j, mark in sorted(proposals):
            other = ">" if mark == "-" else "-"
            if self.graph[i, j] == mark:
                continue
            if self.graph[i, j] == "o" and (i, j, other) not in proposals and (i, j) not in disputed:
                self.graph[i, j] = mark
                fresh.add((i, j, mark))
            else:
                self.conflicts.add((i, j, mark))
        withdrawn = {proposal for proposal in fresh if is_contradicted(self.graph, *proposal)}
        self.graph.update({(i, j): "o" for i, j, _ in withdrawn})
        self.conflicts |= withdrawn
        return fresh != withdrawn


def is_contradicted(g: Graph, i: int, j: int, mark: str) -> bool:
    """Does the mark at j on i–j take part in a contradiction?

    That is a chain of tails from w to v and an arrowhead at w on w–v, or one into a ring of tails and any at w.
    """
    n = 1 + max(v for pair in g for v in pair)
    leads = [[g.get((y, x)) == "-" for y in range(n)] for x in range(n)]
    for k in range(n):
        leads = [[leads[x][y] or (leads[x][k] and leads[k][y]) for y in range(n)] for x in range(n)]
    rings = [x for x in range(n) if leads[x][x]]
    ends_in_ring = [x in rings or any(leads[x][k] for k in rings) for x in range(n)]
    at_or_leads = [[x == y or leads[x][y] for y in range(n)] for x in range(n)]
    arrows = [(v, w) for (v, w), there in g.items() if there == ">"]
    if mark == ">":
        return leads[j][i] or ends_in_ring[j]
    return any(at_or_leads[w][j] and (at_or_leads[i][v] or ends_in_ring[i]) for v, w in arrows)


def rule_0(g: Graph, n: int, sepsets: Sets) -> Iterator[Proposal]:
    for a, b, c in unshielded(g, n):
        if b not in sepsets.get(frozenset((a, c)), (b,)):
            yield from ((a, b, ">"), (c, b, ">"))


def orient(
    known: Graph, n: int, sepsets: Sets, *, check: Check = lambda paths: True, selection: bool = True
) -> Oriented:
    """R0, then always the first of R1–R10 that changes something; `check` says whether R4 may rely on its paths."""
    result = Oriented(dict(known))
    result.apply(set(rule_0(result.graph, n, sepsets)))
    rules = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] if selection else [1, 2, 3, 4, 8, 9, 10]
    while any(result.apply(_proposals(rule, result, n, sepsets, check)) for rule in rules):
        pass
    return result


def _proposals(rule: int, result: Oriented, n: int, sepsets: Sets, check: Check) -> set[Proposal]:
    if rule != 4:
        return set(RULES[rule](result.graph, n))
    paths = [p for p in discriminating_paths(result.graph, n) if frozenset((p[0], p[-1])) in sepsets]
    return set(rule_4(result.graph, n, paths if check(paths) else [], sepsets))


# --- the algorithm ------------------------------------------------------------------------------------------------


@dataclass
class Step:
    """What is known after an iteration."""

    r: int
    graph: Graph
    sepsets: Sets
    n_asked: int
    """Distinct tests asked for in this iteration."""
    n_open: int
    """Edges that had candidates and are left; none once there can be no larger sets."""


class Search:
    """ICD, from the description. `p` is called with nodes as it numbers them: by dependence, after r = 0."""

    def __init__(
        self, n: int, p: PValue, *, alpha: float, exact: bool, max_sets: int, last_r: int, dependence: PValue
    ) -> None:
        self.n, self.alpha, self.exact, self.max_sets, self.last_r = n, alpha, exact, max_sets, last_r
        self.early_sets = 100  # so many times as many sets of one or two nodes
        self._p, self._dependence = p, dependence
        self.order = list(range(n))
        self.asked: set[tuple[Pair, tuple[int, ...]]] = set()
        self.known: dict[tuple[Pair, tuple[int, ...]], float] = {}

    def ask(self, x: int, y: int, z: Iterable[int]) -> float:
        """p, counted."""
        given = tuple(sorted(self.order[k] for k in z))
        key = (frozenset((self.order[x], self.order[y])), given)
        self.asked.add(key)
        if key not in self.known:
            a, b = sorted(key[0])
            self.known[key] = self._p(a, b, given)
        return self.known[key]

    def steps(self) -> Iterator[Step]:
        graph = complete(self.n)
        sepsets: Sets = {}
        settled: set[Pair] = set()
        checked_edges: set[tuple[Pair, tuple[int, ...]]] = set()
        checked_paths: set[tuple[int, ...]] = set()
        for r in range(self.last_r + 1):
            before = len(self.asked)
            fallen: Sets = {}
            is_open: list[tuple[int, int]] = []
            for x, y in edges(graph):
                pair = frozenset((x, y))
                both = pools(graph, x, y, r, max_sets=self.max_sets * (self.early_sets if r <= 2 else 1))
                if pair in settled or min(map(len, both)) < r:
                    settled |= {pair} if self.exact else set()
                    continue
                is_open.append((self.order[x], self.order[y]))
                z = self.separating_set(x, y, candidates(both, r, partial(self.strength, x, y)))
                if z is not None:
                    fallen[pair] = self.minimal(x, y, z)
            graph, sepsets = without(graph, fallen), {**sepsets, **fallen}
            if r == 0:
                graph, sepsets = self.reorder(graph, sepsets)
            graph, sepsets = self.checked_orientation(graph, sepsets, checked_edges, checked_paths)
            learned = self.relabelled(graph)
            n_open = sum(pair in learned for pair in is_open) if r < self.n - 2 else 0
            yield Step(r, learned, self.relabelled_sets(sepsets), len(self.asked) - before, n_open)
            if not is_open:
                return

    def strength(self, x: int, y: int, v: int) -> float:
        """How strongly v depends on x and y, in the precision of the package."""
        a, b = (np.float32(self._dependence(self.order[k], self.order[v], ())) for k in (x, y))
        return float(np.float32(a + b))

    def separating_set(self, x: int, y: int, sets: list[tuple[int, ...]]) -> tuple[int, ...] | None:
        if self.exact:
            return next((z for z in sets if self.ask(x, y, z) > self.alpha), None)
        best = max(sets, key=lambda z: self.ask(x, y, z))
        return best if self.ask(x, y, best) > self.alpha else None

    def minimal(self, x: int, y: int, z: tuple[int, ...]) -> tuple[int, ...]:
        while len(z) > 1:
            smaller = [tuple(k for k in z if k != gone) for gone in z]
            best = max(smaller, key=lambda s: self.ask(x, y, s))
            if self.ask(x, y, best) <= self.alpha:
                return z
            z = best
        return z

    def reorder(self, graph: Graph, sepsets: Sets) -> tuple[Graph, Sets]:
        total = [sum(sorted(self._dependence(v, w, ()) for w in range(self.n) if w != v)) for v in range(self.n)]
        self.order = sorted(range(self.n), key=lambda v: -total[v])
        place = {v: k for k, v in enumerate(self.order)}
        return (
            {(place[i], place[j]): mark for (i, j), mark in graph.items()},
            {frozenset(place[v] for v in pair): z for pair, z in sepsets.items()},
        )

    def relabelled(self, graph: Graph) -> Graph:
        return {(self.order[i], self.order[j]): mark for (i, j), mark in graph.items()}

    def relabelled_sets(self, sepsets: Sets) -> Sets:
        return {
            frozenset(self.order[v] for v in pair): tuple(sorted(self.order[k] for k in z))
            for pair, z in sepsets.items()
        }

    def checked_orientation(
        self,
        graph: Graph,
        sepsets: Sets,
        checked_edges: set[tuple[Pair, tuple[int, ...]]],
        checked_paths: set[tuple[int, ...]],
    ) -> tuple[Graph, Sets]:
        while True:
            questions = []
            for pair, z in sepsets.items():  # in the order they were found
                for a, b, c in unshielded(graph, self.n):
                    given = tuple(k for k in z if k != b)
                    if frozenset((a, c)) == pair and given:  # edges were tested given nothing at r = 0
                        questions.append((frozenset((a, b)), given))
            graph, sepsets, fell = self.remove(graph, sepsets, questions)
            if fell:
                continue
            fell_on_paths = False
            before = dict.fromkeys(graph, "o"), dict(sepsets)

            def check(paths: list[tuple[int, ...]]) -> bool:
                nonlocal graph, sepsets, fell_on_paths
                fresh = [] if fell_on_paths else [path for path in paths if path not in checked_paths]
                questions = [
                    (frozenset((u, v)), z)
                    for path in fresh
                    for u, v in pairwise(path)
                    for z in subsets(set(sepsets[frozenset((path[0], path[-1]))]) - {u, v})
                    if z
                ]
                checked_paths.update(fresh)
                if questions:
                    graph, sepsets, fell_on_paths = self.remove(graph, sepsets, questions)
                return not fell_on_paths

            result = orient(before[0], self.n, before[1], check=check)
            if not fell_on_paths:
                return result.graph, sepsets

    def remove(
        self, graph: Graph, sepsets: Sets, questions: list[tuple[Pair, tuple[int, ...]]]
    ) -> tuple[Graph, Sets, bool]:
        found: dict[Pair, list[tuple[int, float, int]]] = {}
        for k, (pair, z) in enumerate(questions):
            x, y = pair
            p = self.ask(x, y, z)
            if p > self.alpha:
                found.setdefault(pair, []).append((len(z), -p, k))
        fallen: Sets = {}
        for x, y in sorted(tuple(sorted(pair)) for pair in found):
            best = min(found[frozenset((x, y))])  # the smallest set, then the largest p, then the first
            fallen[frozenset((x, y))] = self.minimal(x, y, questions[best[2]][1])
        return without(graph, fallen), {**sepsets, **fallen}, bool(fallen)


def fci_skeleton(n: int, p: PValue, alpha: float) -> tuple[Graph, Sets]:
    """The adjacency phase of FCI, stable, and its Possible-D-Sep phase; all marks circles."""
    sepsets: Sets = {}
    graph = _thinned(complete(n), sepsets, p, alpha, neighbour_pools(n))
    colliders = Oriented(dict(graph))
    colliders.apply(set(rule_0(graph, n, sepsets)))
    frozen = {v: possible_d_sep(colliders.graph, v, n) for v in range(n)}
    return _thinned(graph, sepsets, p, alpha, lambda _graph, v: frozen[v]), sepsets


def neighbour_pools(n: int) -> Callable[[Graph, int], set[int]]:
    return lambda graph, v: set(neighbours(graph, v))


def _thinned(graph: Graph, sepsets: Sets, p: PValue, alpha: float, pool_of: Callable[[Graph, int], set[int]]) -> Graph:
    for r in range(len(graph)):  # more than any pool holds
        fallen: Sets = {}
        for x, y in edges(graph):
            sets = [z for a, b in ((x, y), (y, x)) for z in combinations(sorted(pool_of(graph, a) - {b}), r)]
            first = next((z for z in sets if p(x, y, z) > alpha), None)
            if first is not None:
                fallen[frozenset((x, y))] = first
        graph = without(graph, fallen)
        sepsets |= fallen
    return graph


def fci(n: int, p: PValue, alpha: float = 0.5) -> Graph:
    """FCI."""
    graph, sepsets = fci_skeleton(n, p, alpha)
    return orient(graph, n, sepsets).graph
