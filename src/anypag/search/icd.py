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

from anypag.ci.base import CITest, Queries, strength_of
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
    x, y = _unsettled_edges(state)
    is_open, kept_p, found = in_parts(partial(_tested, state, asking, params), x, y, asking)
    found = minimal(found, asking, is_empty_known=is_empty_known)
    after = replace(state, r=r)
    if r == state.r0:
        after, place = ordered_by_dependence(after, test, x, y, kept_p)
        x, y, found = place[x], place[y], found.renumbered(place)

    after = replace(after, sepsets=after.sepsets.keeping(x, y, kept_p).adding(*found, r)).without(found.x, found.y)
    if test.exact:
        after = after.settling(x[~is_open], y[~is_open])
    if len(found.x) or r == state.r0:  # else the marks stand as they are
        checked = checked_and_oriented(after, asking.numbered_as(after), params, is_empty_known=is_empty_known)
    else:
        checked = after
    done = replace(checked, outline=checked.lists, done=not is_open.any() or r >= last_r(state, params))
    n_open = int(np.count_nonzero(done.marks[x[is_open], y[is_open]]))
    return done, asking.info("iteration", state, after, done, n_open)


def _tested(state: State, asking: Asking, params: Params, x: Indices, y: Indices) -> Tested:
    """Test the candidates of some edges; a pool with fewer than r nodes settles an edge."""
    pools = pds_pools(state, x, y, asking.r, tails_close=True, max_sets=params.max_sets)
    is_open = pools.n_large(asking.r) == 2
    found, p = test_candidates(Candidates(x, y, asking.r, pools, is_open), asking, params.sepset)
    return Tested(is_open, p, found)


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
        found, kept_p = test_candidates(Candidates(x, y, r, pools, is_open), asking, "first")
        after = replace(after, sepsets=after.sepsets.keeping(x, y, kept_p).adding(*found, r))
        after = after.without(found.x, found.y)
        n_tried += int(is_open[0])
    done = replace(oriented(after, params), done=n_tried == 0 or r >= last_r(state, params))
    n_fallen = (len(state.lists.neighbour) - len(after.lists.neighbour)) // 2
    return done, asking.info("iteration", state, after, done, n_tried - n_fallen)


def last_r(state: State, params: Params) -> int:
    """The size of the largest condition sets to try."""
    largest = max(state.n - 2, 0)
    return largest if params.max_r is None else min(params.max_r, largest)


def ordered_by_dependence(
    state: State, test: CITest, x: Indices, y: Indices, p: npt.NDArray[np.float64]
) -> tuple[State, Indices]:
    """The first state with its nodes in an order the data decide, most dependent on all others first; their new places.

    Args:
        state: the state before any step.
        test: measures how strongly two variables depend on each other, if it can.
        x: (m,) one end of each pair that was tested.
        y: (m,) the other end.
        p: (m,) their p-values, which have to do where the test has no such measure.
    """
    strength = np.zeros((state.n, state.n), np.float32)
    a, b = (end.astype(np.int32) for end in np.triu_indices(state.n, 1))
    measured = strength_of(test, Queries(state.columns[a], state.columns[b], np.empty((len(a), 0), np.int32)))
    if measured is None:
        strength[x, y] = np.nan_to_num(1.0 - p)
    else:
        strength[a, b] = measured
    strength += strength.T
    order = np.argsort(-_exact_sums(strength), kind="stable")
    return replace(state, strength=strength).reordered(order), np.argsort(order).astype(np.int32)


def _exact_sums(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """The sum of each row, in units so coarse that nothing is rounded: the order of the columns does not matter."""
    unit = 2.0 ** (int(np.frexp(rows.max())[1]) + len(rows).bit_length() - 53)
    return np.asarray(np.rint(rows / unit).sum(axis=1, dtype=np.float64))


def _unsettled_edges(state: State) -> tuple[Indices, Indices]:
    x, y = state.edges()
    is_unsettled = ~state.settled[x, y]
    return x[is_unsettled], y[is_unsettled]


def _complete(n: int) -> Marks:
    """Every pair joined by o-o."""
    return np.where(np.eye(n, dtype=np.bool_), Mark.NONE, Mark.CIRCLE).astype(np.uint8)
