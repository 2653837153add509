"""ICD: iterative causal discovery, one step applied again and again (Rohekar et al. 2020, Algorithm 1, repaired).

`step` is the paper's CDIteration: given the graph of iteration r - 1 it tests every edge against sets of exactly r
nodes that lie within r edges, removes those that fall, and orients. After every step all missing edges, arrowheads
and tails are right (with an exact test); the next step is sharper.

The paper's own text does not keep that promise. Three things mend it: the graph is frozen while an iteration runs,
separating sets are made minimal, and orientation is checked before it is believed (`search.orient`). With marks that
can be trusted, nodes that cannot be ancestors of X or Y need not be tried, which is where most tests are saved.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from anypag._kernels import pairs as kernel
from anypag.ci.base import CITest
from anypag.graphs.base import Marks
from anypag.graphs.marks import Mark
from anypag.graphs.pag import PAG
from anypag.search.asking import Asking
from anypag.search.candidates import Candidates, pds_pools
from anypag.search.orient import checked_and_oriented, oriented
from anypag.search.parts import Tested, in_parts
from anypag.search.separate import minimal, test_candidates
from anypag.search.sepsets import Sepsets
from anypag.search.state import Params, State, StepInfo, Tick, no_tick
from anypag.threads import map_in_threads, slices

Indices = npt.NDArray[np.int32]


def init(test: CITest, params: Params, *, initial: PAG | None = None, r0: int = 0) -> State:
    """The state before the first iteration: by default every pair joined by o-o.

    Args:
        test: names the variables.
        params: the choices of the search.
        initial: a PAG to start from; its marks and missing edges are taken as known. No separating sets come with the
            missing edges, so R0 leaves their triples alone.
        r0: the size of the first condition sets.
    """
    n = len(test.names)
    known = _complete(n) if initial is None else initial.subgraph(test.names).marks
    return State(
        names=test.names,
        columns=np.arange(n, dtype=np.int32),
        r=r0 - 1,
        marks=np.array(known),
        known=np.array(known),
        sepsets=Sepsets.none(n),
        strength=np.zeros((n, n), np.float32),
        settled=np.zeros((n, n), np.bool_),
        r0=r0,
    )


def step(state: State, test: CITest, params: Params, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """One iteration: condition sets of r = state.r + 1 nodes.

    Args:
        state: the state after iteration r - 1.
        test: answers the questions.
        params: the choices of the search.
        tick: called before each batch of tests; what it raises abandons the step, and `state` is as good as it was.

    Returns:
        The state after iteration r, and what was done.
    """
    asking = Asking(test, state, params.alpha, tick)
    r, is_empty_known = asking.r, state.r0 == 0
    x, y = state.unsettled_edges()
    is_open, best = in_parts(partial(_tested, state, asking, params), x, y, asking)
    after = replace(state, r=r)
    if r == state.r0:
        after, place = ordered_by_dependence(after, asking, x, y, best.p)
        asking = asking.numbered_as(after)
        x, y, best = place.take(x), place.take(y), best.renumbered(place)
    found = minimal(best.separated(x, y, params.alpha), asking, is_empty_known=is_empty_known)
    after = replace(after, sepsets=after.sepsets.keeping(x, y, best.p).adding(*found, r)).without(found.x, found.y)
    if test.exact:
        after = after.settling(x[~is_open], y[~is_open])
    if len(found.x) or r == state.r0:  # else the marks stand as they are
        checked = checked_and_oriented(after, asking, params, is_empty_known=is_empty_known)
    else:
        checked = after
    done = replace(checked, outline=checked.skeleton, done=not is_open.any() or r >= last_r(state, params))
    n_open = int(kernel.count_marked_of(done.marks, x, y, is_open))
    return done, asking.info("iteration", state, after, done, n_open)


def _tested(state: State, asking: Asking, params: Params, x: Indices, y: Indices) -> Tested:
    """Test the candidates of some edges; a pool with fewer than r nodes settles an edge."""
    pools = pds_pools(state, x, y, asking.r, tails_close=True, max_sets=params.max_sets)
    is_open = pools.n_large(asking.r) == 2
    return Tested(is_open, test_candidates(Candidates(x, y, asking.r, pools, is_open), asking, params.sepset))


def paper_step(state: State, test: CITest, params: Params, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """Algorithm 1 of the paper to the letter, for reproduction (`method="icd-paper"`).

    A removed edge is gone for the next pair, candidates are the sets of exactly r nodes within PDS distance r
    (Definition 1 and nothing else), the first separating set counts, orientation is not checked. With a perfect
    oracle the final graph is right on every graph of up to 5 nodes, but **the anytime promise does not hold**: a
    stopped run can show wrong arrowheads (there is an example with 10 nodes). `step` is the repaired version;
    `docs/algorithm.md` has the counterexamples.
    """
    asking = Asking(test, state, params.alpha, tick)
    r, after, n_tried = asking.r, replace(state, r=asking.r), 0
    for x, y in zip(*(end[:, None] for end in state.edges()), strict=True):
        pools = pds_pools(after, x, y, r, tails_close=False, max_sets=-1)
        is_open = pools.n_large(r) > 0
        best = test_candidates(Candidates(x, y, r, pools, is_open), asking, "first")
        found = best.separated(x, y, params.alpha)
        after = replace(after, sepsets=after.sepsets.keeping(x, y, best.p).adding(*found, r))
        after = after.without(found.x, found.y)
        n_tried += int(is_open[0])
    done = replace(oriented(after, params), done=n_tried == 0 or r >= last_r(state, params))
    n_fallen = state.n_edges - after.n_edges
    return done, asking.info("iteration", state, after, done, n_tried - n_fallen)


def last_r(state: State, params: Params) -> int:
    """The size of the largest condition sets to try."""
    largest = max(state.n - 2, 0)
    return largest if params.max_r is None else min(params.max_r, largest)


def ordered_by_dependence(
    state: State, asking: Asking, x: Indices, y: Indices, p: npt.NDArray[np.float64]
) -> tuple[State, Indices]:
    """The first state with its nodes in an order the data decide, most dependent on all others first; their new places.

    Args:
        state: the state before any step.
        asking: the test may measure how strongly two variables depend on each other.
        x: (m,) one end of each pair that was tested.
        y: (m,) the other end.
        p: (m,) their p-values, which have to do where the test has no such measure.
    """
    a, b = (x, y) if len(x) == state.n * (state.n - 1) // 2 else kernel.all_pairs(state.n)
    measured = asking.strength(a, b)
    if measured is None:
        a, b, measured = x, y, np.nan_to_num(1.0 - p)
    strength = measured.astype(np.float32)
    order = np.argsort(-_exact_sums(state.n, a, b, strength), kind="stable")
    place = np.argsort(order).astype(np.int32)
    table = np.zeros((state.n, state.n), np.float32)

    def fill(run: slice) -> None:
        kernel.set_both_places(table, place, a[run], b[run], strength[run])

    map_in_threads(fill, slices(len(a)), asking.threads)
    return replace(state.reordered(order), strength=table), place


def _exact_sums(n: int, a: Indices, b: Indices, strength: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """(n,) the sum over all pairs of each node, in units so coarse that nothing is rounded: order does not matter."""
    unit = 2.0 ** (int(np.frexp(strength.max(initial=0.0))[1]) + n.bit_length() - 53)
    sums = np.zeros(n)
    kernel.add_rounded(sums, a, b, strength, 1.0 / unit)
    return sums


def _complete(n: int) -> Marks:
    """Every pair joined by o-o."""
    marks = np.full((n, n), Mark.CIRCLE, np.uint8)
    np.fill_diagonal(marks, Mark.NONE)
    return marks
