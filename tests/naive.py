"""Slow, obvious twins of the graph kernels: definitions turned into loops, sharing no code with the package.

A graph is a table `marks[i][j]`, the mark at j on the edge i–j: 0 none, 1 circle, 2 arrowhead, 3 tail.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise, product

NONE, CIRCLE, ARROW, TAIL = 0, 1, 2, 3

Table = Sequence[Sequence[int]]
Frozen = tuple[tuple[int, ...], ...]
Path = tuple[int, ...]
Statement = tuple[int, int, Path]


# --- paths and ancestors -------------------------------------------------------------------------------------------


def neighbours(marks: Table, v: int) -> list[int]:
    return [w for w in range(len(marks)) if marks[v][w]]


def simple_paths(marks: Table, x: int, y: int) -> Iterator[Path]:
    """All paths from x to y, no node twice."""

    def longer(path: Path) -> Iterator[Path]:
        for v in neighbours(marks, path[-1]):
            if v == y:
                yield (*path, v)
            elif v not in path:
                yield from longer((*path, v))

    return longer((x,))


def is_parent(marks: Table, a: int, b: int) -> bool:
    return marks[a][b] == ARROW and marks[b][a] == TAIL


def is_collider(marks: Table, a: int, b: int, c: int) -> bool:
    return marks[a][b] == ARROW and marks[c][b] == ARROW


def reaching(step: Callable[[int, int], bool], n: int, targets: Iterable[int]) -> set[int]:
    """The targets and all nodes from which steps lead to one of them."""
    reached = set(targets)
    while fresh := {v for v in range(n) for w in reached if v not in reached and step(v, w)}:
        reached |= fresh
    return reached


def ancestors(marks: Table, targets: Iterable[int]) -> set[int]:
    return reaching(lambda v, w: is_parent(marks, v, w), len(marks), targets)


def possible_ancestors(marks: Table, target: int) -> set[int]:
    """The target and all nodes with a possibly directed path to it, path by path."""
    sources = range(len(marks))
    return {target} | {
        v
        for v in sources
        if v != target and any(is_possibly_directed(marks, p) for p in simple_paths(marks, v, target))
    }


def is_possibly_directed(marks: Table, path: Path) -> bool:
    return all(marks[w][v] != ARROW and marks[v][w] != TAIL for v, w in pairwise(path))


# --- separation ----------------------------------------------------------------------------------------------------


def connects(marks: Table, path: Path, z: Collection[int], above_z: Collection[int]) -> bool:
    """Is every inner collider an ancestor of Z, and no other inner node in Z?"""
    return all(
        b in above_z if is_collider(marks, a, b, c) else b not in z
        for a, b, c in zip(path, path[1:], path[2:], strict=False)
    )


def is_separated(marks: Table, x: int, y: int, z: Collection[int]) -> bool:
    above_z = ancestors(marks, z)
    return not any(connects(marks, path, z, above_z) for path in simple_paths(marks, x, y))


def statements(n: int) -> list[Statement]:
    """All questions (x, y, Z) about n nodes, x < y."""
    pairs = combinations(range(n), 2)
    return [(x, y, z) for x, y in pairs for z in subsets([v for v in range(n) if v not in (x, y)])]


def subsets(nodes: Sequence[int]) -> Iterator[Path]:
    for size in range(len(nodes) + 1):
        yield from combinations(nodes, size)


def independence_model(marks: Table) -> frozenset[Statement]:
    """The statements that hold in a graph."""
    paths = {(x, y): list(simple_paths(marks, x, y)) for x, y in combinations(range(len(marks)), 2)}
    above = {z: ancestors(marks, z) for z in subsets(range(len(marks)))}
    return frozenset(
        (x, y, z)
        for x, y, z in statements(len(marks))
        if not any(connects(marks, path, z, above[z]) for path in paths[x, y])
    )


# --- maximal ancestral graphs --------------------------------------------------------------------------------------


def is_ancestral(marks: Table) -> bool:
    """No directed cycle, no node an ancestor of its spouse, no arrowhead at an end of an undirected edge."""
    nodes = range(len(marks))
    for v, w in product(nodes, nodes):
        if marks[v][w] == ARROW and w in ancestors(marks, [v]):
            return False
        if marks[v][w] == ARROW and any(marks[u][w] == TAIL and marks[w][u] == TAIL for u in nodes):
            return False
    return True


def is_maximal(marks: Table) -> bool:
    """Is every pair without an edge separated by some set?"""
    separated = {(x, y) for x, y, _ in independence_model(marks)}
    return all(marks[x][y] or (x, y) in separated for x, y in combinations(range(len(marks)), 2))


def inducing_paths(marks: Table, x: int, y: int) -> list[Path]:
    """The paths all of whose inner nodes are colliders on them and ancestors of x or y."""
    above = ancestors(marks, [x, y])
    return [
        path
        for path in simple_paths(marks, x, y)
        if all(b in above and is_collider(marks, a, b, c) for a, b, c in zip(path, path[1:], path[2:], strict=False))
    ]


def tables(n: int, kinds: Sequence[tuple[int, int]]) -> Iterator[Frozen]:
    """All graphs on n nodes whose pairs (i < j) have one of these (mark at i, mark at j)."""
    pairs = list(combinations(range(n), 2))
    for choice in product(kinds, repeat=len(pairs)):
        yield table(n, dict(zip(pairs, choice, strict=True)))


def table(n: int, ends: dict[tuple[int, int], tuple[int, int]]) -> Frozen:
    marks = [[NONE] * n for _ in range(n)]
    for (i, j), (at_i, at_j) in ends.items():
        marks[i][j], marks[j][i] = at_j, at_i
    return tuple(map(tuple, marks))


MAG_KINDS = ((NONE, NONE), (TAIL, ARROW), (ARROW, TAIL), (ARROW, ARROW), (TAIL, TAIL))


@cache
def all_mags(n: int) -> dict[Frozen, frozenset[Statement]]:
    """All maximal ancestral graphs on n labelled nodes, from the definition, each with its independences."""
    found = {marks: independence_model(marks) for marks in tables(n, MAG_KINDS) if is_ancestral(marks)}
    return {
        marks: model
        for marks, model in found.items()
        if len({(x, y) for x, y, _ in model}) + n_edges(marks) == n * (n - 1) // 2  # no edge, yet separated: never both
    }


def n_edges(marks: Table) -> int:
    return sum(1 for i, j in combinations(range(len(marks)), 2) if marks[i][j])


@cache
def all_classes(n: int) -> dict[frozenset[Statement], tuple[Frozen, ...]]:
    """The Markov equivalence classes of all MAGs on n nodes: independences -> members."""
    classes: dict[frozenset[Statement], tuple[Frozen, ...]] = {}
    for marks, model in all_mags(n).items():
        classes[model] = (*classes.get(model, ()), marks)
    return classes


def equivalence_class(marks: Table) -> list[Frozen]:
    """The MAGs with the independences of this one, by trying every way to mark its edges."""
    n = len(marks)
    pairs = [(i, j) for i, j in combinations(range(n), 2) if marks[i][j]]
    model = independence_model(marks)
    candidates = (
        table(n, dict(zip(pairs, choice, strict=True))) for choice in product(MAG_KINDS[1:], repeat=len(pairs))
    )
    return [other for other in candidates if is_ancestral(other) and independence_model(other) == model]


def common_marks(members: Sequence[Table]) -> Frozen:
    """The marks all members share, circles where they differ."""
    n = len(members[0])
    return tuple(tuple(_common({member[i][j] for member in members}) for j in range(n)) for i in range(n))


def _common(found: set[int]) -> int:
    return found.pop() if len(found) == 1 else CIRCLE


# --- projection ----------------------------------------------------------------------------------------------------


def canonical_dag(marks: Table) -> tuple[Frozen, list[int], list[int]]:
    """A DAG with the independences of a MAG: a latent parent for each <->, a selection child for each ---.

    Gives its marks (the nodes of the MAG first), its latent nodes and its selection nodes.
    """
    arrows: list[tuple[int, int]] = []
    latent: list[int] = []
    selection: list[int] = []
    n = len(marks)
    for i, j in combinations(range(n), 2):
        ends = (marks[j][i], marks[i][j])
        new = n + len(latent) + len(selection)
        if ends == (ARROW, ARROW):
            latent.append(new)
            arrows += [(new, i), (new, j)]
        elif ends == (TAIL, TAIL):
            selection.append(new)
            arrows += [(i, new), (j, new)]
        elif ends != (NONE, NONE):
            arrows.append((i, j) if ends[1] == ARROW else (j, i))
    ordered = {(min(a, b), max(a, b)): (TAIL, ARROW) if a < b else (ARROW, TAIL) for a, b in arrows}
    return table(n + len(latent) + len(selection), ordered), latent, selection


def project(dag: Table, latent: Collection[int], selection: Collection[int]) -> Frozen:
    """The MAG over the observed nodes: an edge where no set of observed nodes separates, tails at ancestors."""
    observed = [v for v in range(len(dag)) if v not in latent and v not in selection]
    ends = {}
    for (i, x), (j, y) in combinations(enumerate(observed), 2):
        others = [v for v in observed if v not in (x, y)]
        if not any(is_separated(dag, x, y, (*z, *selection)) for z in subsets(others)):
            at_x = TAIL if x in ancestors(dag, [y, *selection]) else ARROW
            at_y = TAIL if y in ancestors(dag, [x, *selection]) else ARROW
            ends[i, j] = (at_x, at_y)
    return table(len(observed), ends)


# --- orientation ---------------------------------------------------------------------------------------------------


Wanted = set[tuple[int, int, int]]
"""Marks (i, j, mark): this mark at j on the edge i–j."""


def triples(marks: Table) -> Iterator[Path]:
    """All a, b, c with edges a–b and b–c."""
    for b in range(len(marks)):
        for a, c in product(neighbours(marks, b), repeat=2):
            if a != c:
                yield a, b, c


def rule_0(marks: Table, is_unshielded_collider: Callable[[int, int, int], bool]) -> Wanted:
    """An unshielded triple A *-* B *-* C that is a collider: A *-> B <-* C."""
    found = [(a, b, c) for a, b, c in triples(marks) if not marks[a][c] and is_unshielded_collider(a, b, c)]
    return {(end, b, ARROW) for a, b, c in found for end in (a, c)}


def rule_1(marks: Table) -> Wanted:
    """A *-> B o-* C, A and C not adjacent: B --> C."""
    found = [(b, c) for a, b, c in triples(marks) if marks[a][b] == ARROW and marks[c][b] == CIRCLE and not marks[a][c]]
    return {mark for b, c in found for mark in ((c, b, TAIL), (b, c, ARROW))}


def rule_2(marks: Table) -> Wanted:
    """A --> B *-> C or A *-> B --> C, and A *-o C: A *-> C."""
    return {
        (a, c, ARROW)
        for a, b, c in triples(marks)
        if marks[a][c] == CIRCLE
        and ((is_parent(marks, a, b) and marks[b][c] == ARROW) or (marks[a][b] == ARROW and is_parent(marks, b, c)))
    }


def rule_3(marks: Table) -> Wanted:
    """A *-> B <-* C, A *-o D o-* C, A and C not adjacent, D *-o B: D *-> B."""
    return {
        (d, b, ARROW)
        for a, b, c in triples(marks)
        for d in range(len(marks))
        if not marks[a][c]
        and is_collider(marks, a, b, c)
        and marks[a][d] == CIRCLE
        and marks[c][d] == CIRCLE
        and marks[d][b] == CIRCLE
    }


def discriminating_paths(marks: Table) -> list[Path]:
    """All paths <D, ..., A, B, C> with B o-* C that discriminate B."""
    nodes = range(len(marks))
    return [
        path
        for d, c in product(nodes, nodes)
        if d != c and not marks[d][c]
        for path in simple_paths(marks, d, c)
        if len(path) >= 4 and discriminates(marks, path) and marks[c][path[-2]] == CIRCLE
    ]


def discriminates(marks: Table, path: Path) -> bool:
    """Every node between the first and the last but one is a collider on the path and a parent of the last."""
    return all(
        is_collider(marks, path[k - 1], path[k], path[k + 1]) and is_parent(marks, path[k], path[-1])
        for k in range(1, len(path) - 2)
    )


def rule_4(marks: Table, separates: Callable[[Path], bool]) -> Wanted:
    """<D, ..., A, B, C> discriminates B: B --> C if B is in the set that separates D and C, else A <-> B <-> C."""
    wanted: Wanted = set()
    for path in discriminating_paths(marks):
        a, b, c = path[-3:]
        if separates(path):
            wanted |= {(c, b, TAIL), (b, c, ARROW)}
        else:
            wanted |= {(a, b, ARROW), (b, a, ARROW), (b, c, ARROW), (c, b, ARROW)}
    return wanted


def is_uncovered(marks: Table, path: Path) -> bool:
    return not any(marks[a][c] for a, c in zip(path, path[2:], strict=False))


def is_circle_path(marks: Table, path: Path) -> bool:
    return all(marks[v][w] == CIRCLE and marks[w][v] == CIRCLE for v, w in pairwise(path))


def rule_5(marks: Table) -> Wanted:
    """A o-o B, and an uncovered circle path A, C, ..., D, B with A, D and B, C not adjacent: all of these edges ---."""
    wanted: Wanted = set()
    for a, b in product(range(len(marks)), repeat=2):
        if marks[a][b] != CIRCLE or marks[b][a] != CIRCLE:
            continue
        for path in simple_paths(marks, a, b):
            ends_apart = len(path) > 3 and not marks[a][path[-2]] and not marks[b][path[1]]
            if ends_apart and is_uncovered(marks, path) and is_circle_path(marks, path):
                wanted |= {(v, w, TAIL) for v, w in pairwise((*path, a))}
                wanted |= {(w, v, TAIL) for v, w in pairwise((*path, a))}
    return wanted


def rule_6(marks: Table) -> Wanted:
    """A --- B o-* C: B --* C."""
    return {
        (c, b, TAIL)
        for a, b, c in triples(marks)
        if marks[a][b] == TAIL and marks[b][a] == TAIL and marks[c][b] == CIRCLE
    }


def rule_7(marks: Table) -> Wanted:
    """A --o B o-* C, A and C not adjacent: B --* C."""
    return {
        (c, b, TAIL)
        for a, b, c in triples(marks)
        if marks[b][a] == TAIL and marks[a][b] == CIRCLE and marks[c][b] == CIRCLE and not marks[a][c]
    }


def circle_arrows(marks: Table) -> list[tuple[int, int]]:
    """All a, c with A o-> C."""
    nodes = range(len(marks))
    return [(a, c) for a, c in product(nodes, nodes) if marks[a][c] == ARROW and marks[c][a] == CIRCLE]


def rule_8(marks: Table) -> Wanted:
    """A --> B --> C or A --o B --> C, and A o-> C: A --> C."""
    return {
        (c, a, TAIL)
        for a, c in circle_arrows(marks)
        for b in neighbours(marks, a)
        if marks[b][a] == TAIL and marks[a][b] in (ARROW, CIRCLE) and is_parent(marks, b, c)
    }


def uncovered_possibly_directed(marks: Table, x: int, y: int) -> list[Path]:
    return [
        path for path in simple_paths(marks, x, y) if is_uncovered(marks, path) and is_possibly_directed(marks, path)
    ]


def rule_9(marks: Table) -> Wanted:
    """A o-> C, and an uncovered possibly directed path A, B, ..., C with B and C not adjacent: A --> C."""
    return {
        (c, a, TAIL)
        for a, c in circle_arrows(marks)
        for path in uncovered_possibly_directed(marks, a, c)
        if path[1] != c and not marks[path[1]][c]
    }


def rule_10(marks: Table) -> Wanted:
    """A o-> C, B --> C <-- D, uncovered possibly directed paths A, M, ..., B and A, W, ..., D: A --> C,

    if M and W (which may be B and D) are distinct and not adjacent. Paths that pass through C are left out: an
    orientation in which C precedes its own parents cannot be right.
    """
    wanted: Wanted = set()
    for a, c in circle_arrows(marks):
        ways = {
            (path[1], b)
            for b in range(len(marks))
            if b != a and is_parent(marks, b, c)
            for path in uncovered_possibly_directed(marks, a, b)
            if c not in path
        }
        if any(m != w and b != d and not marks[m][w] for (m, b), (w, d) in product(ways, ways)):
            wanted.add((c, a, TAIL))
    return wanted


def orient(
    skeleton: Table, is_unshielded_collider: Callable[[int, int, int], bool], separates: Callable[[Path], bool]
) -> Frozen:
    """R0, then R1–R10 in place, one mark at a time, until none has anything to say. Only circles are changed."""
    marks = [list(row) for row in skeleton]
    _set(marks, rule_0(marks, is_unshielded_collider))
    rules = (rule_1, rule_2, rule_3, rule_5, rule_6, rule_7, rule_8, rule_9, rule_10)
    changed = True
    while changed:
        changed = False
        for rule in rules:
            changed |= _set(marks, rule(marks))
        changed |= _set(marks, rule_4(marks, separates))
    return tuple(map(tuple, marks))


def _set(marks: list[list[int]], wanted: Wanted) -> bool:
    circles = [(i, j, mark) for i, j, mark in sorted(wanted) if marks[i][j] == CIRCLE]
    for i, j, mark in circles:
        marks[i][j] = mark
    return bool(circles)


def pag_by_rules(mag: Table) -> Frozen:
    """The PAG of a MAG by the rules, its colliders read off the MAG."""
    circles = tuple(tuple(CIRCLE if mark else NONE for mark in row) for row in mag)

    def is_unshielded_collider(a: int, b: int, c: int) -> bool:
        return is_collider(mag, a, b, c)

    def separates(path: Path) -> bool:
        return not is_collider(mag, *path[-3:])

    return orient(circles, is_unshielded_collider, separates)


# --- the same three rules with walks, as the kernels have them -----------------------------------------------------


def uncovered_walk(
    marks: Table, a: int, first: int, stop: int, is_allowed: Callable[[int, int], bool]
) -> set[tuple[int, int]]:
    """The edges (v, w) on uncovered walks a, first, ... that end when they meet a or `stop`."""
    reached = {(a, first)}
    while True:
        fresh = {
            (v, w)
            for u, v in reached
            if v != stop
            for w in neighbours(marks, v)
            if w not in (a, u) and not marks[u][w] and is_allowed(v, w)
        }
        if fresh <= reached:
            return reached
        reached |= fresh


def possibly_directed_walk(marks: Table, a: int, first: int, stop: int) -> set[tuple[int, int]]:
    if not is_possibly_directed(marks, (a, first)):
        return set()
    return uncovered_walk(marks, a, first, stop, lambda v, w: is_possibly_directed(marks, (v, w)))


def rule_5_with_walks(marks: Table) -> Wanted:
    """R5 for the edge A o-o B alone: its marks, where an uncovered circle walk leads from A round to B."""
    wanted: Wanted = set()
    for b, a, c in triples(marks):
        if marks[b][c] or not is_circle_path(marks, (b, a, c)):
            continue
        edges = uncovered_walk(marks, a, c, b, lambda v, w: is_circle_path(marks, (v, w)))
        if any(end == b and d != a and not marks[a][d] for d, end in edges):
            wanted |= {(a, b, TAIL), (b, a, TAIL)}
    return wanted


def on_uncovered_circle_rounds(marks: Table) -> set[tuple[int, int]]:
    """The edges on closed uncovered walks of o-o edges: none of them can have an arrowhead in any MAG."""
    steps = {((u, v), (v, w)) for u, v, w in triples(marks) if not marks[u][w] and is_circle_path(marks, (u, v, w))}
    edges = {edge for step in steps for edge in step}

    def comes_round(edge: tuple[int, int]) -> bool:
        reached = {after for before, after in steps if before == edge}
        while fresh := {after for before, after in steps if before in reached} - reached:
            reached |= fresh
        return edge in reached

    return {edge for edge in edges if comes_round(edge)}


def rule_9_with_walks(marks: Table) -> Wanted:
    return {
        (c, a, TAIL)
        for a, c in circle_arrows(marks)
        for b in neighbours(marks, a)
        if b != c and not marks[b][c]
        if any(end == c for _, end in possibly_directed_walk(marks, a, b, c))
    }


def rule_10_with_walks(marks: Table) -> Wanted:
    wanted: Wanted = set()
    for a, c in circle_arrows(marks):
        ways = {
            (m, b)
            for m in neighbours(marks, a)
            if m != c
            for _, b in possibly_directed_walk(marks, a, m, c)
            if is_parent(marks, b, c)
        }
        if any(m != w and b != d and not marks[m][w] for (m, b), (w, d) in product(ways, ways)):
            wanted.add((c, a, TAIL))
    return wanted
