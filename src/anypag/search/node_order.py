"""The order of nodes, decided by the data: nodes that depend most on all others come first.

The test measures how strongly two variables depend on each other. If it has no such measure, the p-values of all pairs
given the empty set are used, and iteration 0 reuses them. If then r0 > 0, there is no iteration 0, and names decide.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anypag._kernels import pairs as kernel
from anypag.arrays import Floats, Indices
from anypag.ci.base import Queries, strength_of
from anypag.ci.passes import Passes
from anypag.search.inquiry import Inquiry
from anypag.search.problem import Marginals, Problem, Strength, complete_marks
from anypag.search.progress import Tick
from anypag.threads import map_in_threads, slices, threads_for

ROWS_AT_ONCE = 256  # rows of a table that a thread handles at a time


def order_nodes(problem: Problem, tick: Tick) -> Problem:
    """The problem with its nodes ordered by the data, and with the strength of their dependences."""
    known = strength_in(problem, problem.nodes.order)
    if known is not None:
        return _ordered_by_sums(problem, known.table)
    x, y = kernel.marked_pairs(complete_marks(problem.n), np.zeros((problem.n, problem.n), np.bool_))
    none = np.empty((len(x), 0), np.int32)

    def measure(run: slice) -> Floats | None:
        return strength_of(problem.test, Queries(x[run], y[run], none[run]))

    parts = [part for part in map_in_threads(measure, slices(len(x)), problem.threads) if part is not None]
    if parts:
        return _ordered(problem, x, y, np.concatenate(parts).astype(np.float32))
    if problem.choices.r0:  # no iteration tests the empty set, so nodes are ordered by name
        order = np.argsort(np.array(problem.nodes.names)).astype(np.int32)
        return problem.numbered(order, problem.strength)
    return _ordered_by_tests(problem, tick)


def strength_in(problem: Problem, order: Indices) -> Strength | None:
    """The strengths of dependence of nodes in this order; None if the test does not hold all of them in memory."""
    dense: Passes | None = getattr(problem.bound_test, "passes", None)
    return None if dense is None else Strength(dense.correlation, order)


def _ordered_by_tests(problem: Problem, tick: Tick) -> Problem:
    inquiry = Inquiry(problem, 0, tick)
    x, y = np.nonzero(np.triu(problem.given, 1))
    pairs = Queries(x, y, np.empty((len(x), 0), np.int32))
    p = inquiry.ask(pairs, "candidates")
    ordered = _ordered(problem, pairs.x, pairs.y, np.nan_to_num(1.0 - p).astype(np.float32))
    place = np.argsort(ordered.nodes.order)
    table = np.full(problem.given.shape, np.nan)
    table[place[x], place[y]] = table[place[y], place[x]] = p
    marginals = Marginals(table, inquiry.n_asked, inquiry.n_evaluated, inquiry.asked)
    return problem.numbered(ordered.nodes.order, ordered.strength, marginals)


def _ordered(problem: Problem, x: Indices, y: Indices, strength: npt.NDArray[np.float32]) -> Problem:
    table = np.zeros((problem.n, problem.n), np.float32)

    def fill(run: slice) -> None:
        kernel.set_both(table, x[run], y[run], strength[run])

    map_in_threads(fill, slices(len(x)), problem.threads)
    return _ordered_by_sums(problem, table)


def _ordered_by_sums(problem: Problem, table: npt.NDArray[np.float32] | Floats) -> Problem:
    """The problem with nodes ordered by the sums of their strengths. Strengths are rounded to multiples of one unit, so
    that adding them causes no further rounding errors.
    """
    n, runs = len(table), slices(len(table), ROWS_AT_ONCE)
    threads = threads_for(n * n, problem.threads)
    largest = max(map_in_threads(lambda run: kernel.largest_beside(table, run.start, run.stop), runs, threads))
    unit = 2.0 ** (int(np.frexp(np.float32(largest))[1]) + n.bit_length() - 53)
    sums = np.zeros(n)
    map_in_threads(lambda run: kernel.rounded_sums(table, run.start, run.stop, 1.0 / unit, sums), runs, threads)
    by_name = np.array(problem.nodes.names)  # names break ties; the order of the columns must not
    order = np.lexsort((by_name, -sums)).astype(np.int32)
    return problem.numbered(order, Strength(table, order))
