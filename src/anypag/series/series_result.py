"""`SeriesResult`: what a search learned from time series. Its edges have lags, and hold at all times."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from anypag.choices import Choices, is_whole, require
from anypag.data.findings import Audit
from anypag.errors import ParameterError
from anypag.graphs.base import Marks
from anypag.graphs.marks import Edge, Mark
from anypag.graphs.pag import PAG
from anypag.markup import block, heading, paragraphs, preformatted
from anypag.results.grounds import Searched
from anypag.results.result import Result
from anypag.run.bootstrap import Resampling
from anypag.run.replicates import Plan
from anypag.series.edges import Response, SeriesEdge, SummaryEdge, edge_line, probability_of, share_of
from anypag.series.lagged import Lagged
from anypag.series.window import Window, named

if TYPE_CHECKING:
    from anypag.effects.answer import Effect
    from anypag.explain import Explanation

NOT_SELECTED = (
    "It is assumed that the processes do not affect which times were recorded (selection_bias=True drops this)."
)
MAY_BE_SELECTED = "The processes may affect which times were recorded."
IN_SETS = "It is assumed that the processes do not affect which times and data sets were recorded."
SURE = 0.75
"""A mark with a smaller probability by sampled graphs is shown as a circle. On the systems of
`benchmarks/series.py` that are used for development (seeds from 5000), 93 % of the marks shown are right, and 71 % of
the marks that a perfect test gives are shown.
"""


@dataclass(frozen=True, eq=False, repr=False)
class SeriesResult:
    """What a search learned from time series. An edge holds at all times, and `edges` lists it once."""

    window: Window
    """The processes and the lags."""
    result: Result = field(repr=False)
    """The result of the search in the table of windows. A variable of this table is one process at one lag."""
    told: str
    """A sentence: how many windows there are, and why other rows or windows were left out."""
    windows: Lagged | None = field(default=None, repr=False)
    """The table that was searched; None for a result from a file."""

    @property
    def choices(self) -> Choices:
        """The choices of the search."""
        return self.result.choices

    @property
    def audit(self) -> Audit | None:
        """The audit of the series."""
        return self.result.audit

    @property
    def complete(self) -> bool:
        """Did the search end by itself?"""
        return self.result.complete

    @cached_property
    def edges(self) -> tuple[SeriesEdge, ...]:
        """The edges, by later process, then by lag. Edges between contexts, which are there by design, are left out."""
        from anypag.explain.summary import by_design

        names, (x, y), design = self.window.names, self.window.latest, set(by_design(self.result))
        pairs = sorted((int(b), int(a)) for a, b in zip(x, y, strict=True) if self._marks[a, b])
        return tuple(self._series_edge(a, b) for b, a in pairs if not {names[a], names[b]} <= design)

    def _series_edge(self, a: int, b: int) -> SeriesEdge:
        edge, said, again = self._edge(a, b), self.result.probabilities, self.result.stability
        cause, lag = self.window.place(edge.a)
        probability = None if said is None else probability_of(said, edge)
        share = share_of(again, edge) if again is not None and again.n else None
        return SeriesEdge(cause, edge.b, lag, edge.mark_a, edge.mark_b, probability, share)

    def _edge(self, a: int, b: int, marks: Marks | None = None) -> Edge:
        marks, names = self._marks if marks is None else marks, self.window.names
        return Edge(names[a], names[b], Mark(marks[b, a]), Mark(marks[a, b]))

    @cached_property
    def _marks(self) -> Marks:
        """(n, n) marks between the window's nodes; on latest copies, a mark less probable than `SURE` is a circle."""
        order = [self.result.pag.index(name) for name in self.window.names]
        marks, lags = np.array(self.result.pag.marks[np.ix_(order, order)], np.uint8), self.window.lags
        ends = np.argwhere((marks > Mark.CIRCLE) & self.window.is_latest & (lags[:, None] <= lags[None, :]))
        for i, j in ends.tolist() if self.result.probabilities is not None else ():
            if self.sureness(self._edge(j, i, marks)) < SURE:
                marks[i, j] = Mark.CIRCLE
        return marks

    @cached_property
    def shown(self) -> Result:
        """The window's result with circles in place of marks that are not sure; explanations use this result."""
        names, grounds, said = self.result.pag.names, self.result.grounds, self.result.probabilities
        if said is None:
            return self.result
        order = [self.window.names.index(name) for name in names]
        pag = PAG.trusted(self._marks[np.ix_(order, order)], names)
        if isinstance(grounds, Searched):
            last = None if grounds.last is None else (pag, grounds.last[1])
            return replace(self.result, grounds=replace(grounds, last=last))
        before = {(edge.a, edge.b): edge.symbol for edge in self.result.pag.edges() if pag.edge(edge.a, edge.b) != edge}
        said = replace(said, as_sampled={**said.as_sampled, **before})
        return replace(self.result, grounds=replace(grounds, pag=pag, probabilities=said))

    def sureness(self, edge: Edge) -> float:
        """The probability, by sampled graphs, of the mark at the first node of an edge. It is 0 for a tail
        between two discrete processes at one time: if these have a hidden cause, sampled graphs seldom show it.
        """
        said = self.result.probabilities
        assert said is not None, "graphs were sampled"
        at_once = {edge.a, edge.b} <= set(self.window.processes)
        if self._is_from_counts and at_once and edge.mark_a == Mark.TAIL:
            return 0.0
        return said.of_mark(edge.a, edge.b, edge.symbol)

    @cached_property
    def _is_from_counts(self) -> bool:
        from anypag.scores.discrete import DiscreteScore

        grounds = self.result.grounds
        if isinstance(grounds, Searched):  # reading `grounds.posterior` would sample graphs for effects first
            return isinstance(grounds.problem.score, DiscreteScore)
        return grounds.posterior is not None and grounds.posterior.from_counts

    @cached_property
    def expected_errors(self) -> float | None:
        """The expected number of wrong edges and marks, counted once for all times; None if no graphs were sampled."""
        said, expected = self.result.probabilities, list[float]()
        if said is None:
            return None
        for i, j in zip(*(ends.tolist() for ends in self.window.latest), strict=True):
            edge = self._edge(i, j)
            joined = said.of_any_edge(edge.a, edge.b)
            expected.append(1 - joined if edge.mark_a else joined)
            sure = (end for end in (edge, edge.reversed()) if end.mark_a > Mark.CIRCLE)
            expected += [joined - said.of_mark(end.a, end.b, end.symbol) for end in sure]
        return fsum(expected)

    def progress(self) -> str:
        """A line with the method, how far it has come, and the expected number of errors."""
        return self.result.summary(self.expected_errors)

    @cached_property
    def pag(self) -> PAG:
        """The graph of the window. It repeats every edge as often as the edge fits into the window."""
        return PAG.trusted(self.window.spread(self._marks), self.window.names)

    @cached_property
    def summary(self) -> tuple[SummaryEdge, ...]:
        """The edges by pairs of processes; a context comes first in its pairs."""
        place = {name: i for i, name in enumerate((*self.window.contexts, *self.window.processes))}
        of_pair: dict[tuple[str, str], list[SeriesEdge]] = {}
        for edge in self.edges:
            a, b = sorted((edge.cause, edge.effect), key=place.__getitem__)
            of_pair.setdefault((a, b), []).append(edge)
        ordered = sorted(of_pair.items(), key=lambda item: [place[name] for name in item[0]])
        return tuple(SummaryEdge(a, b, tuple(edges)) for (a, b), edges in ordered)

    def targets(self) -> dict[str, list[Any]]:
        """What each experiment of pooled data sets (`anypag.pooled`) changed, as columns for any dataframe library:
        `context`, `variable` (a process at all times), `directly` (does the context act on the process directly? None:
        unknown), `probability` (that the two are joined).
        """
        from anypag.explain.summary import targets_table

        return targets_table(self.result, self.window.processes)

    def explain(self, cause: str, effect: str, lag: int = 0) -> Explanation:
        """What the result says about a process and another one `lag` steps later, and why."""
        return self.shown.explain(*self._nodes(cause, effect, lag))

    def effect(self, cause: str, outcome: str, lag: int = 0, *, data: Lagged | None = None) -> Effect:
        """The effect, by sampled graphs, that setting a process at one time has on a process `lag` steps later.

        Args:
            cause: the process that is set at one time (its later values may change as a consequence), or a context,
                which acts at all times.
            outcome: the process whose change is asked for.
            lag: how many steps later.
            data: the windows, needed for a result from a file (`anypag.series.lagged.lagged` makes them).

        Raises:
            ParameterError: no graphs were sampled, or there is no data.
        """
        if self.result.posterior is None:
            why = f"Effects are drawn from sampled graphs, and {self.result.method} samples none"
            raise ParameterError(f"{why}. Learn with method='bayes'.")
        windows = self.windows if data is None else data
        if not isinstance(windows, Lagged):
            got = "" if windows is None else f"; got {type(windows).__name__}"
            wanted = f"Give its windows, data=anypag.series.lagged.lagged(table, max_lag){got}."
            raise ParameterError(f"A result from a file holds no data. {wanted}")
        return self.result.effect(*self._nodes(cause, outcome, lag), data=windows.table, cluster=windows.clusters())

    def response(self, cause: str, outcome: str) -> Response:
        """The path of an outcome after a process is set one unit higher at one time: effects at lags 0 to max_lag."""
        if cause in self.window.contexts:
            raise ParameterError(f"{cause!r} acts at all times: ask for its effect, `effect({cause!r}, {outcome!r})`.")
        lags = range(1 if cause == outcome else 0, self.window.max_lag + 1)
        return Response(cause, outcome, tuple((lag, self.effect(cause, outcome, lag)) for lag in lags))

    def _nodes(self, cause: str, effect: str, lag: int) -> tuple[str, str]:
        most, pair = self.window.max_lag, (named(cause, lag), effect)
        require(is_whole(lag) and lag <= most, "lag", f"a whole number from 0 to {most}", lag)
        for name in pair:
            self.window.place(name)
        return pair

    def bootstrap(self, n: int = 100, *, seed: int = 0, block: int | None = None, n_jobs: int | None = None) -> Self:
        """The result with counts of the resamples that repeat its edges. A panel is resampled by whole units, a single
        series by blocks of neighbouring windows.

        Args:
            n: how many resamples.
            seed: the seed of all random numbers.
            block: how many neighbouring windows a block has; by default the cube root of the number of windows, at
                least twice the length of a window. If it is given, a panel is resampled by blocks too.
            n_jobs: how many resamples are worked on at a time, through joblib.

        Raises:
            ParameterError: the result is from a file, which holds no data.
        """
        if self.windows is None:
            raise ParameterError("A result from a file holds no data to resample. Learn again.")
        clusters = self.windows.clusters(block)
        choices = replace(self.choices, n_jobs=n_jobs)
        found = Resampling(self.windows.table, choices, Plan(n, seed=seed), clusters).run().result
        return replace(self, result=replace(self.result, stability=found.stability))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file, whole or not at all: .json (for `anypag.read_series`), .csv (the edges), .html (a
        report), .svg, .png or .pdf (the summary), or a format of bare graphs (the window).
        """
        from anypag.series.files import save

        save(self, path)

    def plot(self, ax: Any = None, *, what: str = "summary") -> Any:
        """A picture by matplotlib: the "summary" of processes, or the "window" with a column for each lag."""
        from anypag.plot.with_matplotlib import axes_of
        from anypag.series.files import drawn

        return axes_of(*drawn(self, what), ax)

    def svg(self, what: str = "summary") -> str:
        """The picture of `plot` as SVG."""
        from anypag.plot.svg import svg_text
        from anypag.series.files import drawn

        return svg_text(*drawn(self, what))

    def lines(self) -> list[str]:
        """The sentences that a report has besides the edges, one in each item."""
        chosen = [] if self.result.chosen is None else [f"{self.result.chosen}."]
        return [
            self.progress(),
            self.told,
            self.assumed,
            *chosen,
            *self.result.remarks,
            *self.contexts_told,
            *self.unlikely_told,
        ]

    @property
    def unlikely_told(self) -> list[str]:
        """A sentence on why some edges are unlikely; empty if all are likely."""
        least = min((edge.probability for edge in self.edges if edge.probability is not None), default=1.0)
        return ["The graph is chosen as a whole, so an edge may be less probable than 0.50."] if least < 0.495 else []

    @property
    def assumed(self) -> str:
        """A sentence: the assumption about which times were recorded."""
        return IN_SETS if self.window.contexts else MAY_BE_SELECTED if self.choices.selection_bias else NOT_SELECTED

    @property
    def contexts_told(self) -> list[str]:
        """Sentences about the processes that each experiment acts on; empty if there is only one data set."""
        from anypag.explain.summary import contexts_told

        return contexts_told(self.result, self.window.processes)

    def __str__(self) -> str:
        return "\n".join([*self.lines(), *self.result.misfit_told, *(edge_line(edge) for edge in self.edges)])

    def __repr__(self) -> str:
        size = f"{self.window.k:,} processes, lags 0 to {self.window.max_lag}, {len(self.edges):,} edges"
        return f"<SeriesResult: {size}; {self.progress()}>"

    def _repr_html_(self) -> str:
        first, *rest = self.lines()
        edges = "\n".join(edge_line(edge) for edge in self.edges)
        return block(heading(first), paragraphs([*rest, *self.result.misfit_told]), self.svg(), preformatted(edges))
