"""`bootstrap`: the search on the whole data, then on resamples of their rows."""

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

from anypag.checkpoint.checkpoint import KeptReplicates
from anypag.checkpoint.fingerprint import fingerprint
from anypag.choices import Choices, Device, DSep, Sepset, Stop
from anypag.ci.base import CITest, is_test, with_its_answers
from anypag.ci.resample import resamples_of, rows_to_resample
from anypag.data.columns import Transform
from anypag.data.findings import Singular
from anypag.data.sources.counted import CountedTable
from anypag.data.sources.pooled import Pooled
from anypag.data.table import Kind, Missing, Table, as_table, clusters_in
from anypag.errors import DataError, Option
from anypag.graphs.pag import PAG
from anypag.knowledge.knowledge import Knowledge
from anypag.results.result import Result
from anypag.run.bind import with_design
from anypag.run.engine import Search, learned, source_of, warn_of, warn_of_contradictions
from anypag.run.replicates import Budget, Made, made_through_joblib
from anypag.run.watcher import Listeners, Stopped, showing
from anypag.search.algorithm import Algorithm
from anypag.search.progress import Progress, Tick, no_tick
from anypag.stability.stability import DEFAULT, Failure, Plan, Resample, Stability


class Bootstrap:
    """The outcome of `bootstrap`: the result of the whole data with the frequencies over resamples. It has all that
    `Stability` has (`s.adjacency`, `s.causes`, `s.graphs`, ...) and all else that `Result` has (`s.explain`,
    `s.effect`, `s.save`, ...).

    Args:
        result: of the whole data; its explanations, tables, files and pictures show the frequencies.
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
        """The graph of the whole data, and how often resamples repeat its edges."""
        return f"{self.result}\n{self.stability}"

    def __repr__(self) -> str:
        """What was resampled, in a line."""
        return f"<Bootstrap: {self.stability.summary()}>"

    def _repr_html_(self) -> str:
        """How notebooks show it."""
        return self.stability._repr_html_()


class Resampling:
    """A bootstrap set up and ready to run: everything checked, nothing tested yet. Budgets and checkpoint are for all
    searches together. `cluster`: a column, or a value for each row, that says which rows are drawn together; it is not
    searched over.
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
        self.of_search = _of_search(choices, rows)
        self._source = data_or_test if rows is None else rows
        self.search = Search(self._source, self.of_search, source_of(data_or_test))
        test = self.search.problem.bound_test
        if rows is not None and test.names != rows.names:  # one of several equal columns stands for all
            rows = rows.take(test.names)
        is_alone = with_its_answers(self.search.problem.test) is test
        self._rows = resamples_of(test, rows, self.of_search, by_sums=is_alone)
        if self._rows.n:
            _require_rows(plan, self._rows.n, self.search.problem.n)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.search.problem.nodes.names

    def run(
        self,
        whole: Callable[[], Result] | None = None,
        tick: Tick = no_tick,
        listening: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> Bootstrap:
        """Search the whole data (by `whole`, if given), then the resamples. When a budget is spent or on Ctrl-C, the
        finished ones are returned. In `listening`, a context for the time of the resamples, signals may raise
        `Stopped`.
        """
        with self._checkpoint() as kept:
            budget = Budget(self.search.problem.choices, self.choices.n_jobs)
            listeners = Listeners(progress=tick)
            result = learned(self.search, self.of_search, listeners) if whole is None else whole()
            budget.n_tests += result.n_tests
            done = _Done(self.plan, self.names, kept)
            stopped = result.stopped if result.stopped in {"time", "tests", "interrupt"} else None
            if stopped is None:
                stopped = self._resample(done, budget, partial(_tell, tick, result.r, self.plan.n), listening)
            told = replace(result.choices, kinds=self.choices.kinds)  # already applied to the table
            return done.bootstrap(replace(result, choices=told), stopped)

    def _checkpoint(self) -> AbstractContextManager[KeptReplicates | None]:
        path = self.choices.checkpoint
        if path is None:
            return nullcontext()
        plan = {"resample": self.plan.resample, "seed": self.plan.seed, **self.plan.about_rows}
        facts = fingerprint(self.search.algorithm, self.search.problem, self._source) | plan
        return KeptReplicates(Path(path), facts, self.names, resume=self.choices.resume)

    def _resample(
        self,
        done: _Done,
        budget: Budget,
        tell: Callable[[int, int], None],
        listening: Callable[[], AbstractContextManager[None]],
    ) -> str | None:
        """Make the missing replicates. Returns what ended this early, or None."""
        made = made_through_joblib(self._rows, self.plan, done.missing(), self.choices, budget.left)
        try:
            with listening():
                for item in made:
                    budget.took(item)
                    if item.stopped is not None:
                        return item.stopped
                    done.add(item)
                    tell(done.n, budget.n_tests)
                    if done.n < self.plan.n and (spent := budget.spent):
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


def _tell(tick: Tick, r: int, total: int, done: int, n_tests: int) -> None:
    tick(Progress(r, "resamples", done, total, n_tests))


class _Done:
    """The replicates done so far."""

    def __init__(self, plan: Plan, names: tuple[str, ...], kept: KeptReplicates | None) -> None:
        self._plan, self._names, self._kept = plan, names, kept
        self._graphs: dict[int, PAG] = {} if kept is None else {k: g for k, g in kept.graphs.items() if k < plan.n}
        self._failures = {} if kept is None else {k: f for k, f in kept.failures.items() if k < plan.n}

    @property
    def n(self) -> int:
        return len(self._graphs) + len(self._failures)

    def missing(self) -> list[int]:
        return [k for k in range(self._plan.n) if k not in self._graphs and k not in self._failures]

    def add(self, made: Made) -> None:
        if made.marks is None:
            self._failures[made.k] = Failure(made.k, made.why or "")
            if self._kept is not None:
                self._kept.add_failure(self._failures[made.k])
        else:
            self._graphs[made.k] = PAG.trusted(made.marks, self._names)
            if self._kept is not None:
                self._kept.add(made.k, self._graphs[made.k])

    def bootstrap(self, result: Result, stopped: str | None) -> Bootstrap:
        graphs = tuple(self._graphs[k] for k in sorted(self._graphs))
        plan = self._plan
        failures = tuple(self._failures[k] for k in sorted(self._failures))
        about = (self._names, graphs, plan.n, plan.resample, plan.seed, failures, stopped)
        return Bootstrap(replace(result, stability=Stability(*about, result.pag)))


def _of_search(choices: Choices, rows: Table | CountedTable | None) -> Choices:
    """The choices of the search on the whole data, without names and kinds, which are already applied."""
    told = replace(choices, checkpoint=None, resume=False, progress=False, n_jobs=None)
    return told if rows is None else replace(told, names=None, kinds=None)


def _require_whole_clusters(plan: Plan) -> None:
    """Clusters are drawn within data sets, each of which keeps its size."""
    if plan.clusters is None or plan.strata is None:
        return
    both = np.unique(np.column_stack([plan.clusters, plan.strata]), axis=0)
    if len(both) > len(np.unique(plan.clusters)):
        raise DataError(
            "The rows of a cluster must be in one data set; some clusters have rows in several. Split them."
        )


def _require_rows(plan: Plan, n_rows: int, n_variables: int) -> None:
    if plan.distinct_rows(n_rows) <= n_variables:
        raise DataError(
            f"A resample must have more rows than there are variables; of {n_rows} rows about "
            f"{plan.distinct_rows(n_rows)} different ones are in each ({Option('resample', plan.resample)}), and there "
            f"are {n_variables} variables. Collect more rows or use fewer columns."
        )


def bootstrap(
    data_or_test: Any,
    n: int = 100,
    *,
    seed: int = 0,
    resample: Resample = DEFAULT,
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
    kinds: Mapping[str, Kind] | None = None,
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
        data_or_test: a table, as for `learn`; or a test that is exact, or has `n_rows` and `resampled(counts)`, which
            gives the test of a resample that has row i `counts[i]` times.
        n: how many resamples, 2 or more.
        seed: the random numbers of every resample follow from this whole number, 0 or more.
        resample: "bootstrap" (as many rows as there are, with replacement) or "half" (half of the rows, in
            complementary pairs). `docs/stability.md` compares the two.
        time_budget: seconds for all searches together; ends with the resamples done by then. Compiling
            in this process does not count. Workers on other machines go by their own clocks.
        max_tests: the number of tests of all searches together; replicates that run at the same time share what is
            left.
        checkpoint: a file that keeps the graphs of the resamples: a killed run can be resumed, and a finished run
            extended to a larger `n`.
        n_jobs: how many resamples are worked on at a time, through joblib; -1 for one per core, None for what the
            surrounding `joblib.parallel_config` says, else one. The results are the same to the bit.
        cluster: a column, or a value for each row, that says which rows belong together (a person's, a school's): whole
            clusters are drawn. The column is not searched over.

    All other arguments are those of `learn`.

    Returns:
        `s.adjacency`, `s.arrowhead`, `s.tail`, `s.circle`, `s.causes`, `s.not_causes`: (p, p) shares of the resamples,
        a mark's entry [i, j] being at j on i–j; `s.graphs`, `s.failures`, and `s.result`, the result of the whole data.

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
