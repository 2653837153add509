"""Algorithm 1 of the paper to the letter, for reproduction (`method="icd-paper"`).

An edge is removed before the next pair is tested. Candidates are the sets of exactly r nodes within PDS distance r, by
Definition 1 alone; "within" means at most r (the text also says less than r). The first separating set is taken, and
orientation is not checked. With a perfect oracle the final graph is right on every graph of up to 5 nodes, but **the
anytime promise does not hold**: a stopped run can show wrong arrowheads (there is an example with 10 nodes).
`by_tests.icd` is the repaired version; `docs/algorithm.md` has the counterexamples.
"""

from __future__ import annotations

from dataclasses import replace

from anypag.catalogue import METHODS
from anypag.search.algorithm import Algorithm
from anypag.search.by_tests.candidates import Candidates, PDSep, pdsep_pools
from anypag.search.by_tests.separate import test_candidates
from anypag.search.inquiry import Inquiry
from anypag.search.orient import orient_state
from anypag.search.problem import Problem
from anypag.search.progress import Tick, no_tick
from anypag.search.state import State, StepInfo, first_state


def step(state: State, problem: Problem, tick: Tick = no_tick) -> tuple[State, StepInfo]:
    """One iteration: edge after edge, each in the graph that the ones before it left."""
    r = state.r + 1
    inquiry, after, n_tried = Inquiry(problem, r, tick, state), replace(state, r=r), 0
    for x, y in zip(*(end[:, None] for end in state.unsettled_edges()), strict=True):
        walks = PDSep(r, tails_close=False, max_sets=-1)
        pools = pdsep_pools(after, problem, x, y, walks, inquiry.look)
        is_open = pools.n_large(r) > 0
        best = test_candidates(Candidates(x, y, r, pools, is_open), inquiry, "first")
        after = after.keeping(x, y, best.p).separating(best.separated(x, y, inquiry.alpha), r)
        n_tried += int(is_open[0])
    oriented = replace(orient_state(after, problem, inquiry.look), done=n_tried == 0 or r >= problem.last_r)
    n_fallen = state.n_edges - after.n_edges
    return inquiry.finished("iteration", state, after, oriented, n_tried - n_fallen)


ALGORITHM = Algorithm("icd-paper", METHODS["icd-paper"], init=first_state, step=step)
