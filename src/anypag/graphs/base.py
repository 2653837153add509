"""The base class of PAGs, MAGs and DAGs: names, one matrix of marks, and common methods.

`marks[i, j]` is the mark **at j** on the edge i–j, or 0 if there is no edge. For i → j, `marks[i, j] == ARROW` and
`marks[j, i] == TAIL`. The matrix is read-only. Methods never change a graph, but return a new one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags
from anypag.errors import GraphError, absent, listed
from anypag.graphs.marks import Edge, Mark, edge_symbol
from anypag.graphs.text import format_graph, parse_graph, quote

if TYPE_CHECKING:
    from anypag.graphs.skeleton import MarkedEdges

Node = str | int  # a node in the public interface: its name or its index
Marks = npt.NDArray[np.uint8]  # a marks matrix, (n, n)
SparseMarks = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Marks]
"""The entries of a marks matrix that are not 0: their rows, their columns, and the marks."""
_MOST_LISTED = 30  # `repr` lists the edges of graphs with at most this many nodes and edges


class MixedGraph:
    """A graph: names and marks. Use one of its three subclasses: `PAG`, `MAG` or `DAG`."""

    _allowed: ClassVar[frozenset[tuple[Mark, Mark]]]  # the pairs of marks an edge of this kind of graph may have

    __slots__ = ("_marked_edges", "_marks", "_names", "_places", "_sparse")

    def __init__(self, marks: npt.ArrayLike, names: Sequence[str] | None = None) -> None:
        array = square_matrix(marks, max(Mark).value, "Marks are 0 (none), 1 (circle), 2 (arrow) or 3 (tail)")
        self._marks: Marks | None = array.astype(np.uint8)  # a copy, so that the array of the caller stays writable
        self._marks.flags.writeable = False
        self._sparse: SparseMarks | None = None
        self._names = checked_names(names, len(self._marks))
        self._places: dict[str, int] | None = None
        self._marked_edges: MarkedEdges | None = None
        self._check_edges()

    def _check_edges(self) -> None:
        present = self.marks != Mark.NONE.value
        if present.diagonal().any():
            k = int(present.diagonal().argmax())
            raise GraphError(f"No node may have an edge with itself; marks[{k}, {k}] is not 0.")
        lopsided = np.argwhere(present & ~present.T)
        if len(lopsided):
            i, j = lopsided[0]
            a, b = quote(self.names[i]), quote(self.names[j])
            raise GraphError(
                f"Every edge needs a mark at both ends; the edge {a}–{b} has one at {b} "
                f"(marks[{i}, {j}] = {self.marks[i, j]}) and none at {a} (marks[{j}, {i}] = 0)."
            )
        self.check_kinds(self.marks, self.names)

    @classmethod
    def check_kinds(cls, marks: Marks, names: Sequence[str]) -> None:
        """Raise GraphError if there is an edge that this kind of graph cannot have."""
        table = np.zeros((len(Mark), len(Mark)), bool)
        for pair in {(Mark.NONE, Mark.NONE), *cls._allowed}:
            table[pair] = True
        wrong = np.argwhere(~table[marks.T, marks])
        if len(wrong):
            i, j = wrong[0]
            edge = Edge(names[i], names[j], Mark(marks[j, i]), Mark(marks[i, j]))
            kinds = " ".join(sorted({edge_symbol(*pair) for pair in cls._allowed}))
            raise GraphError(f"The edges of a {cls.__name__} are of the kinds {kinds}; got {edge}.")

    @property
    def _index(self) -> dict[str, int]:
        if self._places is None:
            self._places = {name: i for i, name in enumerate(self._names)}
        return self._places

    @property
    def marks(self) -> Marks:
        """(n, n), the mark at the column's node on the edge between row and column (see `Mark`); read-only."""
        if self._marks is None:
            assert self._sparse is not None
            row, column, mark = self._sparse
            self._marks = np.zeros((len(self._names), len(self._names)), np.uint8)
            self._marks[row, column] = mark
            self._marks.flags.writeable = False
        return self._marks

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes, in the order of the matrix."""
        return self._names

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.names)

    def __str__(self) -> str:
        return format_graph(self.names, self.edges())

    def __repr__(self) -> str:
        """The edges of a small graph, or the number of edges of a larger one."""
        kind = type(self).__name__
        if len(self) <= _MOST_LISTED and len(self.edges()) <= _MOST_LISTED:
            text = str(self).replace("\n", "; ")  # a line end inside a name is already escaped
            return f"{kind}({text!r})"
        return f"<{kind} of {len(self):,} nodes and {int(np.count_nonzero(self.marks)) // 2:,} edges>"

    def plot(self, ax: Any = None) -> Any:
        """A picture of the graph, by matplotlib (extra `plot`); see `anypag.plot.plot`."""
        from anypag.plot import plot

        return plot(self, ax)

    def _repr_svg_(self) -> str | None:
        """The picture of the graph that notebooks show, as SVG."""
        from anypag.plot import svg_if_possible

        return svg_if_possible(self)

    def __eq__(self, other: object) -> bool:
        """Equal kind, names and marks; the order of the names does not matter."""
        if not isinstance(other, MixedGraph) or type(self) is not type(other):
            return NotImplemented
        if self._index.keys() != other._index.keys():
            return False
        order = [other._index[name] for name in self.names]
        return bool(np.array_equal(self.marks, other.marks[np.ix_(order, order)]))

    def __hash__(self) -> int:
        order = sorted(range(len(self)), key=self.names.__getitem__)
        return hash((type(self), frozenset(self.names), self.marks[np.ix_(order, order)].tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._from_marks, (np.array(self.marks), self.names)

    def index(self, node: Node) -> int:
        """The index of a node given by name or index.

        >>> from anypag import PAG
        >>> PAG.from_string("A o-> B").index("B")
        1
        """
        if isinstance(node, str):
            if node not in self._index:
                raise GraphError(absent("node", [node], self.names))
            return self._index[node]
        if not isinstance(node, (int, np.integer)) or isinstance(node, bool):
            raise GraphError(f"A node is given by its name or its index; got {node!r}.")
        if not 0 <= node < len(self):
            raise GraphError(f"Indices go from 0 to {len(self) - 1}; got {node}.")
        return int(node)

    def indices(self, nodes: Iterable[Node], role: str) -> list[int]:
        """The indices of several nodes; `role` names them in errors."""
        if isinstance(nodes, (str, int, np.integer)):
            raise GraphError(f"{role} come as a list; got {nodes!r}. Write [{nodes!r}] for a single node.")
        return [self.index(node) for node in nodes]

    def edges(self) -> tuple[Edge, ...]:
        """All edges, each once, in the order of the matrix."""
        return _edges(self.entries, self.names)

    @property
    def entries(self) -> SparseMarks:
        """The rows, columns and marks of all entries that are not 0, row by row. Does not make the full matrix."""
        if self._sparse is None:
            return _entries(self.marks)
        row, column, mark = self._sparse
        order = np.lexsort((column, row))
        return row[order], column[order], mark[order]

    @property
    def marked_edges(self) -> MarkedEdges:
        """For each node, a list of its edges with their marks. Compiled code reads graphs in this form."""
        if self._marked_edges is None:
            from anypag.graphs.skeleton import Skeleton

            self._marked_edges = Skeleton.of(self.marks).with_marks(self.marks)
        return self._marked_edges

    def edge(self, a: Node, b: Node) -> Edge | None:
        """The edge between two nodes, written from `a` to `b`; None if there is none."""
        i, j = self.index(a), self.index(b)
        if self.marks[i, j] == Mark.NONE:
            return None
        return Edge(self.names[i], self.names[j], Mark(self.marks[j, i]), Mark(self.marks[i, j]))

    def path_text(self, path: Sequence[Node]) -> str:
        """A path as text; "and" stands between two nodes that have no edge.

        >>> from anypag import PAG
        >>> PAG.from_string("A o-> B; B <-> C").path_text(["A", "B", "C"])
        'A o-> B <-> C'
        """
        text = quote(self.names[self.index(path[0])])
        for a, b in pairwise(path):
            edge = self.edge(a, b)
            text += f" {'and' if edge is None else edge.symbol} {quote(self.names[self.index(b)])}"
        return text

    def is_adjacent(self, a: Node, b: Node) -> bool:
        """Is there an edge between the two nodes?"""
        return bool(self.marks[self.index(a), self.index(b)])

    def neighbours(self, node: Node) -> tuple[str, ...]:
        """The nodes that share an edge with this one."""
        return self._where(self.marks[self.index(node)] != Mark.NONE)

    def parents(self, node: Node) -> tuple[str, ...]:
        """The nodes p with p --> node."""
        i = self.index(node)
        return self._where((self.marks[:, i] == Mark.ARROW) & (self.marks[i] == Mark.TAIL))

    def children(self, node: Node) -> tuple[str, ...]:
        """The nodes c with node --> c."""
        i = self.index(node)
        return self._where((self.marks[i] == Mark.ARROW) & (self.marks[:, i] == Mark.TAIL))

    def ancestors(self, *nodes: Node) -> tuple[str, ...]:
        """The given nodes and every node with a directed path (--> --> ...) to one of them."""
        return self._reaching(arrows(self.marks), nodes)

    def descendants(self, *nodes: Node) -> tuple[str, ...]:
        """The given nodes and every node to which one of them has a directed path (--> --> ...)."""
        return self._reaching(arrows(self.marks).T, nodes)

    def possible_ancestors(self, *nodes: Node) -> tuple[str, ...]:
        """The given nodes and every node with a possibly directed path to one of them. On such a path, no edge has an
        arrowhead at the node that the path leaves, or a tail at the node that it enters.
        """
        return self._reaching(possible_steps(self.marks), nodes)

    def possible_descendants(self, *nodes: Node) -> tuple[str, ...]:
        """The given nodes and every node to which one of them has a possibly directed path.

        >>> from anypag import PAG
        >>> PAG.from_string("A o-> B; B --> C; D <-> C").possible_descendants("A")
        ('A', 'B', 'C')
        """
        return self._reaching(possible_steps(self.marks).T, nodes)

    @classmethod
    def from_string(cls, text: str, names: Sequence[str] | None = None) -> Self:
        """The graph in a text of edges such as `A o-> B`, one per line or separated by `;`. The inverse of `str`.

        A lone name is a node without edges. Names with blanks or other unusual characters must be in double quotes.
        `names` fixes the order of the nodes; else they come in order of appearance.

        >>> from anypag import DAG
        >>> DAG.from_string("smoking --> tar; tar --> cancer").ancestors("cancer")
        ('smoking', 'tar', 'cancer')
        """
        found, edges = parse_graph(text)
        return cls.from_edges(edges, found if names is None else names)

    @classmethod
    def from_edges(cls, edges: Iterable[Edge], names: Sequence[str]) -> Self:
        """The graph over `names` with the given edges."""
        names = checked_names(names, len(names))
        index = {name: i for i, name in enumerate(names)}
        marks = np.zeros((len(names), len(names)), np.uint8)
        for edge in edges:
            for name in (edge.a, edge.b):
                if name not in index:
                    raise GraphError(f"The edge {edge.a}–{edge.b} names {name!r}, which is not among {listed(names)}.")
            i, j = index[edge.a], index[edge.b]
            if i == j:
                raise GraphError(f"An edge joins two different nodes; got {edge.a}–{edge.b}.")
            if not {edge.mark_a, edge.mark_b} <= {Mark.CIRCLE, Mark.ARROW, Mark.TAIL}:
                raise GraphError(
                    f"An edge has a circle, an arrowhead or a tail at each end; {edge.a}–{edge.b} has "
                    f"{edge.mark_a!r} and {edge.mark_b!r}."
                )
            if marks[i, j]:
                raise GraphError(f"There is at most one edge between two nodes; {edge.a}–{edge.b} comes twice.")
            marks[i, j], marks[j, i] = edge.mark_b, edge.mark_a
        return cls._from_marks(marks, names)

    @classmethod
    def trusted(cls, marks: Marks, names: tuple[str, ...]) -> Self:
        """A graph from valid marks and names, without checks and without a copy."""
        marks.flags.writeable = False
        return cls._unchecked(marks, None, names)

    @classmethod
    def of_sparse(cls, sparse: SparseMarks, names: tuple[str, ...]) -> Self:
        """A graph from the non-zero entries of a valid matrix, unchecked. The matrix is made when it is first read."""
        return cls._unchecked(None, sparse, names)

    @classmethod
    def _unchecked(cls, marks: Marks | None, sparse: SparseMarks | None, names: tuple[str, ...]) -> Self:
        graph = cls.__new__(cls)
        graph._marks, graph._sparse, graph._names = marks, sparse, names
        graph._places = graph._marked_edges = None  # made when they are first read
        return graph

    @classmethod
    def _from_marks(cls, marks: Marks, names: Sequence[str]) -> Self:
        return cls(marks, names)

    def subgraph(self, nodes: Iterable[Node]) -> Self:
        """The graph over some of the nodes, in the order given, with the edges between them.

        A subgraph of a MAG or PAG only shows the edges between these nodes. It is not the graph of their marginal
        distribution (for that graph, see `anypag.latent_projection`).
        """
        keep = self.indices(nodes, "The nodes of a subgraph")
        return self._from_marks(self.marks[np.ix_(keep, keep)], [self.names[i] for i in keep])

    def relabel(self, names: Mapping[str, str] | Mapping[int, str] | Callable[[str], str]) -> Self:
        """The graph with new names, from a function, or from a mapping (nodes that it lacks keep their names).

        >>> from anypag import PAG
        >>> print(PAG.from_string("A o-> B").relabel({"A": "smoking"}))
        smoking o-> B
        """
        if isinstance(names, Mapping):
            new = list(self.names)
            for node, name in names.items():
                new[self.index(node)] = name
        else:
            new = [names(name) for name in self.names]
        return self._from_marks(self.marks, new)

    def _reaching(self, steps: Flags, nodes: Iterable[Node]) -> tuple[str, ...]:
        return self._where(reached_backwards(steps, [self.index(node) for node in nodes]))

    def _where(self, chosen: Flags) -> tuple[str, ...]:
        return tuple(self.names[i] for i in np.flatnonzero(chosen))


def edges_of(marks: Marks, names: Sequence[str]) -> tuple[Edge, ...]:
    """The edges of a marks matrix, each once."""
    return _edges(_entries(marks), names)


def _entries(marks: Marks) -> SparseMarks:
    row, column = np.nonzero(marks)
    return row.astype(np.int32), column.astype(np.int32), marks[row, column]


def _edges(entries: SparseMarks, names: Sequence[str]) -> tuple[Edge, ...]:
    row, column, mark = entries
    other, once = mark[np.lexsort((row, column))], row < column  # `other`: the mark at the row's node
    found = zip(*(part[once].tolist() for part in (row, column, other, mark)), strict=True)
    return tuple(Edge(names[i], names[j], Mark(at_i), Mark(at_j)) for i, j, at_i, at_j in found)


def arrows(marks: Marks) -> Flags:
    """(..., n, n) True where there is an edge row --> column."""
    return np.asarray((marks == Mark.ARROW.value) & (np.swapaxes(marks, -1, -2) == Mark.TAIL.value))


def marks_of_arrows(arrows: Flags | Marks) -> Marks:
    """(n, n) the marks of a DAG, in one byte each: 64-bit integers would take eight times the memory."""
    return arrows * np.uint8(Mark.ARROW) + arrows.T * np.uint8(Mark.TAIL)


def possible_steps(marks: Marks) -> Flags:
    """(n, n) True where the edge between row and column allows the row to be a cause of the column.

    Such an edge has no arrowhead at the row and no tail at the column. A possibly directed path has only such edges.
    """
    return np.asarray((marks != Mark.NONE) & (marks.T != Mark.ARROW) & (marks != Mark.TAIL))


def shortest_path(steps: Flags, a: int, b: int) -> list[int]:
    """The nodes of a shortest path from a to b along steps from row to column, with both ends; empty if none exists."""
    return [a] if a == b else way_to(lambda node: node == b, [a], lambda node: np.flatnonzero(steps[node]).tolist())


def way_to(is_end: Callable[[int], bool], starts: Iterable[int], steps: Callable[[int], Iterable[int]]) -> list[int]:
    """The nodes of a shortest path of one step or more from a start to a node where `is_end` is true; [] if none."""
    before = {start: start for start in starts}
    waiting = deque(before)
    while waiting:
        node = waiting.popleft()
        for there in steps(node):
            if is_end(there):
                path = [there, node]
                while before[path[-1]] != path[-1]:
                    path.append(before[path[-1]])
                return path[::-1]
            if there not in before:
                before[there] = node
                waiting.append(there)
    return []


def reached_backwards(arrows: Flags, targets: Iterable[int]) -> Flags:
    """(n,) True for the targets and for every node from which steps `arrows[i, j]` (i to j) lead to a target."""
    reached = np.zeros(len(arrows), bool)
    waiting = deque(targets)
    reached[list(waiting)] = True
    while waiting:
        fresh = np.flatnonzero(arrows[:, waiting.popleft()] & ~reached)
        reached[fresh] = True
        waiting.extend(fresh)
    return reached


def transitive(steps: Flags) -> Flags:
    """(..., n, n) True where a path of one or more steps leads from the row node to the column node."""
    from anypag._kernels.separation import transitive as kernel
    from anypag.graphs.skeleton import Skeleton

    if steps.ndim > 2:
        return np.stack([transitive(each) for each in steps]) if len(steps) else steps
    edges = Skeleton.of(steps.view(np.uint8))
    return np.asarray(kernel(edges.start, edges.neighbour), np.bool_)


def ancestry(marks: Marks) -> Flags:
    """(..., n, n) True where a directed path of one edge or more leads from the row node to the column node."""
    return transitive(arrows(marks))


def certain_ancestry(marks: Marks) -> Flags:
    """(n, n) True where the row node is an ancestor of the column node in every member of the class of a PAG.

    This is so if a directed path leads from row to column. It is also so if two possibly directed paths lead there, if
    both are uncovered (all triples unshielded), and if their second nodes are not adjacent: then in each member one of
    the two paths begins with a tail (Roumpelaki et al. 2016). An ancestor of such an ancestor counts too. If the sample
    may be selected, a tail may also mean a cause of selection. Then only the rows of nodes at which an
    edge has an arrowhead are reliable.
    """
    joined, (tail, head) = marks != Mark.NONE, np.nonzero(possible_steps(marks))
    goes_on = (head[:, None] == tail) & ~joined[np.ix_(tail, head)] & (tail[:, None] != head)
    ends = np.eye(len(marks), dtype=np.float32)[head]
    # (edges, n) True where an uncovered path that begins with the edge reaches the node
    leads = (transitive(goes_on) @ ends + ends) > 0
    apart = ~(joined | np.eye(len(marks), dtype=np.bool_))
    found = ancestry(marks)
    start = np.searchsorted(tail, np.arange(len(marks) + 1))
    for node in np.flatnonzero(np.diff(start) > 1):
        first = slice(start[node], start[node + 1])
        found[node] |= (leads[first] & (apart[head[first, None], head[first]] @ leads[first])).any(axis=0)
    return transitive(found)


def square_matrix(values: npt.ArrayLike, largest: int, wanted: str) -> npt.NDArray[Any]:
    """The values as an array. GraphError unless it is square and holds only the numbers 0, 1, ..., `largest`."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise GraphError("A graph is a square matrix; got rows of different lengths.") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise GraphError(f"A graph is a square matrix; got one of shape {array.shape}.")
    if array.dtype.kind in "bu" and (array.size == 0 or array.max() <= largest):  # faster than a check of each number
        return array
    wrong = np.argwhere(~np.isin(array, np.arange(largest + 1)))
    if len(wrong):
        i, j = wrong[0]
        raise GraphError(f"{wanted}; got {array.tolist()[i][j]!r} at [{i}, {j}].")
    return array


def checked_names(names: Sequence[str] | None, n: int) -> tuple[str, ...]:
    """The names as a tuple; X0, X1, ... for None. GraphError unless they are n different strings, none blank."""
    if names is None:
        return tuple(f"X{i}" for i in range(n))  # name and index agree
    if isinstance(names, str):
        raise GraphError(f"Names come as a list of strings; got the single string {names!r}.")
    names = tuple(names)
    if len(names) != n:
        raise GraphError(f"There must be one name per node: {n} nodes, {len(names)} names.")
    seen: set[str] = set()
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise GraphError(f"Names must be strings; got {name!r} at position {position}.")
        if not name.strip():
            raise GraphError(f"Names must not be blank; got {name!r} at position {position}.")
        if name in seen:
            raise GraphError(f"Names must differ; {name!r} comes twice.")
        seen.add(name)
    return tuple(str(name) for name in names)
