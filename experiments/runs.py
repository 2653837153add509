"""One run of one variant: distinct tests per size, seconds, the graph; ended at a cap where it explodes."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace

import anypag as ap
from anypag.ci.base import CITest
from anypag.ci.wrappers import Counted
from anypag.run.engine import Search
from anypag.search.progress import Progress
from anypag.simulate.sample import generator
from experiments.settings import Task
from experiments.variants import VARIANTS


class CapReachedError(Exception):
    """The run has made as many tests as it may."""


@dataclass(frozen=True)
class Run:
    """What a run did."""

    tests: dict[int, int]
    """Distinct tests asked for, per size of the condition set."""
    seconds: float
    pag: ap.PAG | None
    """The graph; None where the cap ended the run."""

    @property
    def n_tests(self) -> int:
        """All of them."""
        return sum(self.tests.values())


def run(variant: str, test: CITest, *, alpha: float, cap: int) -> Run:
    """Run a variant on a test, until it is done or has asked `cap` distinct questions.

    Tests are asked for in batches, so that a capped run may be some thousand tests over.
    """
    tests = Counter[int]()
    search = Search(Counted(test, distinct=True), replace(VARIANTS[variant].choices, alpha=alpha))
    pag: ap.PAG | None = None

    def stop_at_cap(progress: Progress) -> None:
        if tests.total() + progress.n_asked >= cap:
            tests[progress.r] += progress.n_asked  # of the step that is not finished; nearly all are of this size
            raise CapReachedError

    began = time.perf_counter()
    try:
        for state, info in search.steps(tick=stop_at_cap):
            tests.update(info.tests)
            pag = state.pag if state.done else None
    except CapReachedError:
        pag = None
    return Run(dict(tests), time.perf_counter() - began, pag)


def system_of(task: Task) -> ap.simulate.System:
    """The random system of a task: half of its parentless nodes with two or more children are latent."""
    return ap.simulate.random_system(task.nodes, task.expected_neighbours, seed=task.seed)


def test_of(task: Task, system: ap.simulate.System) -> CITest:
    """Fisher's z on as many rows as the task has, or the perfect oracle."""
    if task.rows == 0:
        return system.oracle()
    return ap.FisherZ(sample_of(task, system), singular="keep")


def sample_of(task: Task, system: ap.simulate.System) -> ap.simulate.Sample:
    """The data of a task; shuffled columns hold the same values under the same names."""
    sample = system.linear_gaussian(task.rows, seed=task.seed)
    if task.columns == "causal":
        return sample
    order = generator(task.seed, "columns").permutation(len(sample.names))
    return ap.simulate.Sample(sample.rows[:, order], [sample.names[k] for k in order])


def warm_up(variants: tuple[str, ...], alpha: float) -> None:
    """Compile all that these variants need, so that no run is timed with it."""
    system = ap.simulate.random_system(8, 3.0, seed=1)
    for variant in variants:
        run(variant, system.oracle(), alpha=alpha, cap=10_000)
