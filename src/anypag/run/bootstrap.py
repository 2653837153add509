"""`bootstrap`: the search on the whole data, then on resamples of the rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from anypag.checkpoint.fingerprint import fingerprint
from anypag.choices import Choices, Device, DSep, Sepset, Stop
from anypag.ci.base import CITest, is_test, with_its_answers
from anypag.ci.resample import resamples_of, rows_to_resample
from anypag.data.columns import Transform
from anypag.data.findings import Singular
from anypag.data.sources.pooled import Pooled
from anypag.data.table import Missing, as_table, clusters_in
from anypag.errors import DataError, Option
from anypag.graphs.pag import PAG
from anypag.knowledge.knowledge import Knowledge
from anypag.results.result import Result
from anypag.results.stability import Failure, Resample, Stability
from anypag.run.bind import with_design
from anypag.run.clock import Stopped
from anypag.run.engine import Search, learned, source_of, warn_of, warn_of_contradictions
from anypag.run.replicates import Budget, Plan, Replicates, made_through_joblib
from anypag.run.watcher import Listeners, showing
from anypag.search.algorithm import Algorithm
from anypag.search.progress import Progress, Tick, no_tick

Listening = Callable[[], AbstractContextManager[None]]  # makes a context in which signals may raise `Stopped`


class Bootstrap:
    """The outcome of `bootstrap`: the result of the whole data, and the frequencies of edges and marks over resamples.
    It has the attributes of `Stability` (`s.adjacency`, `s.causes`, `s.graphs`, ...), and those of `Result` that
    `Stability` lacks (`s.explain`, `s.effect`, `s.save`, ...).

    Args:
        result: the result of the whole data; its explanations, tables, files and pictures show the frequencies.
    """

    def __init__(self, result: Result) -> None:
        self.result = result

    @property
    def stability(self) -> Stability:
        """The frequencies over the graphs of resamples."""
        assert self.result.stability is not None  # set by `bootstrap`
        return self.result.stability

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "result":  # `copy` looks up attributes before there is a result
            raise AttributeError(name)
        return getattr(self.stability if hasattr(self.stability, name) else self.result, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.stability), *dir(self.result)})

    def __str__(self) -> str:
        return f"{self.result}\n{self.stability}"

    def __repr__(self) -> str:
        return f"<Bootstrap: {self.stability.summary()}>"

    def _repr_html_(self) -> str:
        return self.stability._repr_html_()


class Resampling:
    """A bootstrap that is ready to run: everything is checked, nothing is tested yet. All searches share the budgets
    and the checkpoint. `cluster`: a column (left out of the search) or a value for each row; rows with equal values are
    drawn together.
    """

    def __init__(self, data_or_test: Any, choices: Choices, plan: Plan, cluster: Any = None) -> None:
        choices = with_design(data_or_test, choices)
        if isinstance(data_or_test, Pooled):
            plan = replace(plan, strata=data_or_test.of_set)
        if cluster is not None:
            data_or_test = as_table(data_or_test)
            own = cluster if isinstance(cluster, str) else None
            others = tuple(name for name in choices.names or data_or_test.names if name != own)
            choices, plan = replace(choices, names=others), replace(plan, clusters=clusters_in(cluster, data_or_test))
            _require_whole_clusters(plan)
        self.plan, self.choices = plan, choices
        rows = None if is_test(data_or_test) else rows_to_resample(data_or_test, choices)
        self.of_search = replace(choices, checkpoint=None, resume=False, progress=False, n_jobs=None)
        if rows is not None:  # names and kinds are already applied
            self.of_search = replace(self.of_search, names=None, kinds=None)
        self._source = data_or_test if rows is None else rows
        self.search = Search(self._source, self.of_search, source_of(data_or_test))
        self.names, test = self.search.problem.nodes.names, self.search.problem.bound_test
        if rows is not None and test.names != rows.names:  # of several equal columns the search uses only one
            rows = rows.take(test.names)
        is_alone = with_its_answers(self.search.problem.test) is test
        self._rows = resamples_of(test, rows, self.of_search, by_sums=is_alone)
        if self._rows.n:
            _require_rows(plan, self._rows.n, self.search.problem.n)

    def run(
        self, whole: Callable[[], Result] | None = None, tick: Tick = no_tick, listening: Listening = nullcontext
    ) -> Bootstrap:
        """Search the whole data (by `whole`, if given), then the resamples. After Ctrl-C, or when a budget is spent,
        the finished resamples are returned. Resamples run in the context `listening()`.
        """
        with Replicates(self.names) as done:
            if self.choices.checkpoint is not None:
                about = {"resample": self.plan.resample, "seed": self.plan.seed, **self.plan.about_rows}
                facts = fingerprint(self.search.algorithm, self.search.problem, self._source) | about
                done.keep(Path(self.choices.checkpoint), facts, resume=self.choices.resume)
            budget = Budget(self.search.problem.choices, self.choices.n_jobs)
            listeners = Listeners(progress=tick)
            result = learned(self.search, self.of_search, listeners) if whole is None else whole()
            budget.n_tests += result.n_tests
            stopped = result.stopped if result.stopped in {"time", "tests", "interrupt"} else None
            if stopped is None:
                stopped = self._resample(done, budget, partial(Progress, result.r, "resamples"), tick, listening)
            told = replace(result.choices, kinds=self.choices.kinds)  # the search got a table with these kinds
            plan = self.plan  # a checkpoint may hold more resamples than were asked for
            graphs = tuple(graph for k, graph in sorted(done.graphs.items()) if k < plan.n)
            failures = tuple(failure for k, failure in sorted(done.failures.items()) if k < plan.n)
            found = Stability(self.names, graphs, plan.n, plan.resample, plan.seed, failures, stopped, result.pag)
            return Bootstrap(replace(result, choices=told, stability=found))

    def _resample(
        self, done: Replicates, budget: Budget, progress: Callable[..., Progress], tick: Tick, listening: Listening
    ) -> str | None:
        """Make the missing replicates, and return what stopped the run before all were made, or None."""
        n, missing = self.plan.n, done.missing(self.plan.n)
        made = made_through_joblib(self._rows, self.plan, missing, self.choices, budget.left)
        try:
            with listening():
                for left, item in zip(range(len(missing) - 1, -1, -1), made, strict=False):
                    budget.took(item)
                    if item.stopped is not None:
                        return item.stopped
                    if item.marks is None:
                        done.failures[item.k] = Failure(item.k, item.why or "")
                    else:
                        done.add(item.k, PAG.trusted(item.marks, self.names))
                    tick(progress(n - left, n, budget.n_tests))
                    if left and (spent := budget.spent):
                        return spent
        except KeyboardInterrupt:
            return "interrupt"
        except Stopped as stopped:
            return stopped.reason
        except BrokenExecutor as error:
            if "KeyboardInterrupt" in str(error.__cause__):  # Ctrl-C ended a worker that was still importing
                return "interrupt"
            raise
        finally:
            with warnings.catch_warnings():  # joblib warns that started replicates were dropped
                warnings.simplefilter("ignore", UserWarning)
                made.close()  # type: ignore[attr-defined]  # it is a generator
        return None


def _require_whole_clusters(plan: Plan) -> None:
    """Raise an error if a cluster has rows in several data sets, because each data set is resampled on its own."""
    if plan.clusters is None or plan.strata is None:
        return
    both = np.unique(np.column_stack([plan.clusters, plan.strata]), axis=0)
    if len(both) > len(np.unique(plan.clusters)):
        wrong = "The rows of a cluster must be in one data set; some clusters have rows in several. Split them."
        raise DataError(wrong)


def _require_rows(plan: Plan, n_rows: int, n_variables: int) -> None:
    distinct = n_rows // 2 if plan.resample == "half" else int(n_rows * (1 - np.exp(-1)))  # (expected) different rows
    if distinct <= n_variables:
        raise DataError(
            f"A resample must have more rows than there are variables. With {Option('resample', plan.resample)} each "
            f"would have about {distinct} different rows of {n_rows}, and there are {n_variables} variables. Collect "
            "more rows or use fewer columns."
        )


def bootstrap(
    data_or_test: Any,
    n: int = 100,
    *,
    seed: int = 0,
    resample: Resample = "bootstrap",
    method: str | Algorithm = "auto",
    alpha: float = 0.01,
    test: str | Callable[..., Any] | CITest = "auto",
    max_r: int | None = None,
    time_budget: float | None = None,
    max_tests: int | None = None,
    stop: Stop | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool | Tick = False,
    initial: PAG | None = None,
    r0: int = 0,
    max_sets: int | None = None,
    sepset: Sepset | None = None,
    possible_dsep: DSep = "all",
    dsep_max_r: int | None = None,
    effort: float = 1.0,
    selection_bias: bool = True,
    knowledge: Knowledge | None = None,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    missing: Missing = "auto",
    transform: Transform = "none",
    singular: Singular = "auto",
    device: Device = "cpu",
    threads: int = 1,
    n_jobs: int | None = None,
    cluster: Any = None,
) -> Bootstrap:
    """Learn a PAG, and count how often resamples of the rows repeat its edges and marks.

    Args:
        data_or_test: a table, as for `learn`; an exact test; or a test that has `n_rows` and `resampled(counts)`, a
            method that returns the test of a resample in which row i occurs `counts[i]` times.
        n: how many resamples, 2 or more.
        seed: the random numbers of every resample follow from this whole number, 0 or more.
        resample: "bootstrap" (as many rows as there are, drawn with replacement) or "half" (half of the rows; resamples
            come in pairs of complementary halves). `docs/stability.md` compares the two.
        time_budget: seconds for all searches together; the run ends with the resamples done by then. Compiling in this
            process does not count. Workers on other machines use their own clocks.
        max_tests: the number of tests of all searches together; resamples that run at the same time share the tests
            that are left.
        checkpoint: a file that keeps the graphs of the resamples: a killed run can be resumed, and a finished run
            can be extended to a larger `n`.
        n_jobs: how many resamples run at the same time, through joblib; -1 for one per core, None for the number in the
            surrounding `joblib.parallel_config` (without one, 1). Results are the same to the bit for any number.
        cluster: a column, or a value for each row, that says which rows belong together (to a person, a school): whole
            clusters are drawn. The column is left out of the search.

    All other arguments are those of `learn`.

    Returns:
        `s.adjacency`, `s.arrowhead`, `s.tail`, `s.circle`, `s.causes`, `s.not_causes`: (p, p) shares of the resamples.
        For a mark, entry [i, j] is about the mark at j on i–j. `s.graphs`: the graphs of the resamples; `s.failures`:
        those without a graph; `s.result`: the result of all rows.

    >>> import anypag as ap
    >>> dag = ap.DAG.from_string("A --> C; B --> C; C --> D")
    >>> data = ap.simulate.linear_gaussian(dag, 500, seed=1)
    >>> s = ap.bootstrap(data, n=10, seed=0, method="icd")
    >>> s.names, float(s.adjacency[0, 1]), float(s.adjacency[0, 2])
    (('A', 'C', 'B', 'D'), 1.0, 0.0)
    """
    arguments = locals()
    resampling = Resampling(data_or_test, Choices.of(arguments), Plan(n, resample, seed), cluster)
    warn_of(resampling.search)
    with showing(progress) as tick:
        s = resampling.run(tick=tick)
    warn_of_contradictions(s.result)
    return s
