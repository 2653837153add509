"""FCI, anytime FCI and RFCI, from the parts ICD is made of.

- FCI (Spirtes et al. 2000, in the stable form of Colombo & Maathuis 2014): an adjacency phase with neighbours as
  condition sets, then a phase with subsets of Possible-D-Sep, then R0–R10. Until the last step all marks are circles:
  the missing edges are right at every moment, marks only at the end.
- Anytime FCI (Spirtes 2001): FCI with one cap n on *every* condition set, for n = 0, 1, 2, ...: one graph each.
- RFCI (Colombo et al. 2012): the adjacency phase, then checked orientation. Never a wrong missing edge, arrowhead or
  tail, but some edges may stay that FCI would remove.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from anypag.ci.base import CITest
from anypag.graphs.orientation import as_circles
from anypag.search.asking import Asking
from anypag.search.candidates import Candidates, Pools, neighbour_pools, no_pools, possible_d_sep_pools
from anypag.search.icd import last_r
from anypag.search.orient import checked_and_oriented, oriented, unshielded_colliders
from anypag.search.parts import Tested, in_parts
from anypag.search.separate import test_candidates
from anypag.search.state import Params, State, StepInfo, Tick, no_tick

Indices = npt.NDArray[np.int32]


PoolsOfEdges = Callable[[Indices, Indices], Pools]
PoolsOf = Callable[[State], PoolsOfEdges]


def fci_step(state: State, test: CITest, params: Params, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """One size of condition sets in one phase of FCI; with the last one, the orientation at its end."""
    asking, largest = Asking(test, state, params.alpha, tick), last_r(state, params)
    is_adjacency = state.phase == "iteration"
    name, pools_of = ("adjacency", neighbour_pools) if is_adjacency else ("possible-d-sep", _frozen_pools)
    after, n_open = _thinned(state, asking, params, asking.r, pools_of)
    if n_open and asking.r < largest:
        return after, asking.info(name, state, after, after, n_open)
    if is_adjacency and largest > 0:
        after = replace(after, r=0, phase="possible-d-sep", frozen=unshielded_colliders(after))
        return after, asking.info(name, state, after, after, n_open)
    done = replace(oriented(after, params), done=True)
    return done, asking.info(name, state, after, done, n_open)


def anytime_fci_step(state: State, test: CITest, params: Params, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """FCI with no condition set larger than n = state.r + 1, on what the run for n - 1 left."""
    asking = Asking(test, state, params.alpha, tick)
    n = asking.r
    after, n_open = _thinned(replace(state, marks=as_circles(state.marks)), asking, params, n, neighbour_pools)
    after = replace(after, frozen=unshielded_colliders(after))
    for size in range(1, n + 1):  # Possible-D-Sep holds the neighbours: its last n_open counts them too
        after, n_open = _thinned(after, asking, params, size, _frozen_pools)
    is_last = n_open == 0 or n >= last_r(state, params)
    done = replace(oriented(replace(after, r=n), params), done=is_last)
    return done, asking.info("iteration", state, after, done, n_open)


def rfci_step(state: State, test: CITest, params: Params, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """One size of condition sets in the adjacency phase of RFCI; after the last, checked orientation."""
    asking = Asking(test, state, params.alpha, tick)
    after, n_open = _thinned(state, asking, params, asking.r, neighbour_pools)
    if n_open and asking.r < last_r(state, params):
        return after, asking.info("adjacency", state, after, after, n_open)
    done = replace(checked_and_oriented(after, asking, params, is_empty_known=state.r0 == 0), done=True)
    return done, asking.info("adjacency", state, after, done, n_open)


def _thinned(state: State, asking: Asking, params: Params, r: int, pools_of: PoolsOf) -> tuple[State, int]:
    """The state without the edges that sets of r nodes from their pools separate; how many had such sets and are left.

    The sets are minimal as they are found: all smaller ones from the same pools have been tried before.
    """
    x, y = state.edges()
    is_open, best = in_parts(partial(_tested, pools_of(state), asking, params, r), x, y, asking)
    found = best.separated(x, y, params.alpha)
    after = replace(state, r=r, sepsets=state.sepsets.keeping(x, y, best.p).adding(*found, r))
    return after.without(found.x, found.y), int(is_open.sum()) - len(found.x)


def _tested(pools_of_edges: PoolsOfEdges, asking: Asking, params: Params, r: int, x: Indices, y: Indices) -> Tested:
    pools = pools_of_edges(x, y) if r else no_pools(x)
    is_open = pools.n_large(r) > 0
    return Tested(is_open, test_candidates(Candidates(x, y, r, pools, is_open), asking, params.sepset))


def _frozen_pools(state: State) -> PoolsOfEdges:
    """Possible-D-Sep in the graph the adjacency phase left, as FCI reads it once."""
    assert state.frozen is not None
    return possible_d_sep_pools(replace(state, marks=state.frozen, outline=None))  # it had more edges then
