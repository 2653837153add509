"""The method "auto": ICD first, then a posterior over graphs. There is an answer after every step.

1. Tests: ICD, one size r of condition sets in each step. Each step gives a graph, the first within milliseconds.
2. Orders, cooling, hidden causes, sampling: the phases of `by_scores.bayes`. The graph by tests is the answer until the
   first graphs are scored. From then on the answer is a valid PAG after every step. The last answer is the same, to the
   bit, as that of "bayes".

The state keeps the graph of ICD with its evidence (`after_tests`). `anypag.run.bind` chooses "icd" beforehand if no
score suits the table, if the posterior would take too long, or if the user chose an option that only searches
by tests have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from anypag.catalogue import METHODS
from anypag.graphs.base import Marks
from anypag.search.algorithm import Algorithm
from anypag.search.apply_knowledge import closed_step
from anypag.search.by_scores import bayes
from anypag.search.by_scores.bayes import MOST_TESTS, BayesState
from anypag.search.by_scores.boss import info_of, settle_next
from anypag.search.by_scores.posterior import Posterior
from anypag.search.by_tests import icd
from anypag.search.evidence import Evidence
from anypag.search.problem import Nodes, Problem
from anypag.search.progress import Tick, no_tick
from anypag.search.sepsets import Sepsets
from anypag.search.state import State, StepInfo, first_state, of_class
from anypag.stored import Flag, Nested, Whole, marks_matrix, stored


@dataclass(frozen=True, eq=False)
class Tested:
    """The outcome of ICD: its marks, separating sets and evidence."""

    r: int = stored(Whole(-1))
    marks: Marks = stored(marks_matrix())
    sepsets: Sepsets = stored(Nested(Sepsets))
    evidence: Evidence = stored(Nested(Evidence))
    done: bool = stored(Flag())
    """False if there were too many tests (`MOST_TESTS`), so that larger condition sets were not tried."""

    @classmethod
    def of(cls, state: State) -> Self:
        return cls(state.r, state.marks, state.sepsets, state.evidence.with_notes(), state.done)

    def state(self, nodes: Nodes) -> State:
        """These results as a state of ICD."""
        settled = np.zeros(self.marks.shape, np.bool_)
        return State(nodes, self.r, self.marks, self.sepsets, settled, self.evidence, done=self.done)


@dataclass(frozen=True, eq=False, repr=False)
class AutoState(BayesState):
    """A state of ICD until graphs are scored; afterwards a state of "bayes" that keeps what ICD found."""

    tested: Tested = stored(Nested(Tested), kw_only=True)
    n_tests: int = stored(Whole(), default=0, kw_only=True)  # tests that ICD asked for

    @property
    def after_tests(self) -> State | None:
        """The last state of ICD if the graph now comes from scores; None before that."""
        return self.tested.state(self.nodes) if len(self.starts) else None

    @property
    def posterior(self) -> Posterior | None:  # type: ignore[override]
        """The posterior so far; None before graphs are scored."""
        return super().posterior if len(self.starts) else None


def init(problem: Problem) -> AutoState:
    first = first_state(problem)
    return of_class(AutoState, replace(bayes.init(problem), phase="iteration"), tested=Tested.of(first))


def step(state: AutoState, problem: Problem, tick: Tick = no_tick) -> tuple[BayesState, StepInfo]:
    """Makes the next iteration of ICD, or after its last iteration the next step of the search by scores."""
    if state.phase == "iteration":
        return _tested(state, problem, tick)
    if state.phase == "orders":
        return _ordered(state, problem, tick)
    return bayes.step(state, problem, tick)


def _tested(state: AutoState, problem: Problem, tick: Tick) -> tuple[AutoState, StepInfo]:
    """Runs one iteration of ICD. After the last iteration the graph of ICD stays the answer, and orders are next."""
    after, info = icd.step(state, problem, tick)
    assert isinstance(after, AutoState)
    after = replace(after, n_tests=state.n_tests + info.n_tests)
    if not after.done and after.n_tests < MOST_TESTS:
        return after, info
    closed, info = closed_step(icd.ALGORITHM, after, info, problem, tick) if after.done else (after, info)
    return replace(closed, phase="orders", done=False, by_tests=after.marks, tested=Tested.of(closed)), info


def _ordered(state: AutoState, problem: Problem, tick: Tick) -> tuple[BayesState, StepInfo]:
    """Settles one order. After the last order, scores the graphs to start from; the best of them becomes the answer."""
    bayes.compile_beside_orders(problem)
    orders = settle_next(state.orders, problem, tick)
    settled = replace(state, orders=orders)
    after = _scored(settled, problem, tick) if orders.all_settled else settled
    return after, info_of("orders", state, after)


def _scored(state: AutoState, problem: Problem, tick: Tick) -> BayesState:
    """The state before cooling. Its graph comes from scores, so the evidence of ICD is only kept in `tested`."""
    assert state.by_tests is not None
    kept = {name: getattr(state, name) for name in ("orders", "asked", "tested", "n_tests")}
    return bayes.started(of_class(type(state), bayes.init(problem), **kept), state.by_tests, problem, tick)


ALGORITHM = Algorithm("auto", METHODS["auto"], init, step, icd.ALGORITHM.on_data, AutoState)  # type: ignore[arg-type]
