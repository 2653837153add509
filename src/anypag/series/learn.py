"""`learn_series`: what causes what in time series, and how long it takes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from anypag.catalogue import METHODS
from anypag.choices import Choices
from anypag.ci.base import CITest
from anypag.data.audit.copies import copies_in
from anypag.data.columns import Transform
from anypag.errors import AnypagWarning, DataError
from anypag.graphs.marks import Mark
from anypag.graphs.pag import PAG
from anypag.knowledge.knowledge import Knowledge
from anypag.knowledge.statements import Contexts
from anypag.run.bind import with_design
from anypag.run.clock import Clock
from anypag.run.engine import Search, learned, source_of, warn_of
from anypag.run.watcher import Listeners, showing
from anypag.search.algorithm import Algorithm
from anypag.search.progress import Tick
from anypag.series import sampling
from anypag.series.checks import series_findings
from anypag.series.lagged import Lagged, lagged
from anypag.series.series_result import SeriesResult
from anypag.series.shifts import icd_over_shifts
from anypag.series.window import Window, known_of


def learn_series(
    data: Any,
    max_lag: int,
    *,
    time: str | None = None,
    unit: str | None = None,
    method: str | Algorithm = "auto",
    alpha: float = 0.01,
    test: str | Callable[..., Any] | CITest = "auto",
    max_r: int | None = None,
    time_budget: float | None = None,
    max_tests: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool | Tick = False,
    effort: float = 1.0,
    selection_bias: bool = False,
    knowledge: Knowledge | None = None,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    transform: Transform = "none",
    threads: int = 1,
) -> SeriesResult:
    """Learn what causes what in a time series or a panel, and at which lag. Hidden processes are allowed for.

    Args:
        data: any table that `learn` takes, with a row for each time (and unit); or several data sets (`anypag.pooled`).
            Windows do not cross data sets. Contexts do not change in time, so they have no lags and act at all times.
        max_lag: how many steps back causes are looked for, 1 or more. The search reads windows: the values at a
            time and at `max_lag` times before it. Windows do not cross units or gaps in time, and have no missing
            values; `result.told` counts the rows and windows left out, and says why.
        time: the column of times, numbers or dates; without it, the rows must be in the order of time.
        unit: in a panel, the column with the unit (person, country, ...) of each row.
        method: "auto" (samples graphs if a score fits the data, else "icd"), "icd" (tests a pair of nodes once for all
            its copies in time) or another method of `learn`, which searches the table of windows with the order of time
            as knowledge. In graphs that "auto" samples, all copies of a pair have the same edge, unless there are
            `knowledge`, several data sets, `selection_bias` or discrete processes.
        selection_bias: True if the processes may affect which times or units are in the table. The default is
            False, unlike in `learn`.
        knowledge: statements about nodes of the window, `x(t-1) ~> y`, which hold at all times. In a statement that
            denies something, a name without a lag means the process at every lag: `y !~> x`.
        names: the processes; by default all columns besides `time` and `unit`.
        kinds: "continuous", "discrete" or "ordinal", for processes whose kind should not be guessed.

    All other arguments are those of `learn`.

    Returns:
        The result: `result.edges` (one for each pair of processes and lag), `result.summary`, `result.pag` of the
        window, `result.effect("x", "y", lag=1)`.

    >>> import numpy as np
    >>> import anypag as ap
    >>> noise = np.random.default_rng(0).normal(size=(1000, 2))
    >>> x, y = noise.T.copy()
    >>> for t in range(1, 1000):
    ...     x[t] += 0.5 * x[t - 1]
    ...     y[t] += 0.5 * y[t - 1] + 0.6 * x[t - 1]
    >>> found = ap.learn_series({"x": x, "y": y}, max_lag=1, method="icd")
    >>> [edge.pair for edge in found.edges]
    [('x(t-1)', 'x'), ('x(t-1)', 'y'), ('y(t-1)', 'y')]
    """
    arguments = locals()
    windows = lagged(data, max_lag, time=time, unit=unit, names=names, kinds=kinds)
    choices = Choices.of({**arguments, "names": None, "kinds": None})
    clock, search = Clock(), SeriesSearch(windows, choices, source_of(data))
    warn_of(search.search)
    with showing(progress) as tick:
        result = search.run(Listeners(progress=tick, clock=clock))
    for line in result.result.misfit_told:
        warnings.warn(line, AnypagWarning, stacklevel=2)
    return result


class SeriesSearch:
    """A search over windows that is checked and ready to run. It adds the order of time to the user's `choices`."""

    def __init__(self, windows: Lagged, choices: Choices, source: str | None = None) -> None:
        self.windows = replace(windows, table=windows.table.with_findings(series_findings(windows)))
        table, window = self.windows.table, windows.window
        choices = with_design(table, choices.strict())  # the audit may not leave out a lag of a process
        choices = replace(choices, selection_bias=choices.selection_bias and not window.contexts)
        said = choices.knowledge.statements if choices.knowledge else ()
        of_sets = [one for one in said if isinstance(one, Contexts)]
        self._design = Knowledge.of(of_sets) if window.contexts else None
        self.choices = for_window(window, choices)
        for name, first in copies_in(table).items():  # else the search would keep one of the two
            raise DataError(f"{name} is the same as {first} in every window. Leave one of the two processes out.")
        self.search = Search(table, self.choices, source)
        self._chosen = self.search.problem.chosen
        over_shifts = self._over_shifts(choices)
        if over_shifts is not None:
            self.choices, self.search = over_shifts, self.search.knowing(over_shifts)

    def _over_shifts(self, choices: Choices) -> Choices | None:
        """The choices for a search in which copies of a pair have the same edge; None if "auto" uses no such search."""
        if self._chosen is None or choices.selection_bias:
            return None
        if METHODS[self._chosen.method].over_shifts:
            return for_window(self.windows.window, replace(choices, method=self._chosen.method))
        score = self.search.problem.score
        is_sampled = score is not None and score.hidden and not choices.knowledge
        return replace(self.choices, method=sampling.ALGORITHM) if is_sampled else None

    def run(self, listeners: Listeners) -> SeriesResult:
        """The result, which says what stopped the run if it was stopped."""
        found = learned(self.search, self.choices, listeners)
        if found.chosen is None and self._chosen is not None:
            found = replace(found, chosen=self._chosen)
        if found.choices.knowledge is None:
            found = replace(found, choices=replace(found.choices, knowledge=self._design))
        return SeriesResult(self.windows.window, found, self.windows.told, self.windows)


def for_window(window: Window, choices: Choices) -> Choices:
    """The user's choices for a search in a window's table, with the order of time added."""
    known = known_of(window, choices.knowledge)
    method = METHODS.get(choices.method) if isinstance(choices.method, str) else None
    if choices.selection_bias or method is None or not method.over_shifts:  # with selection, time gives no arrowhead
        return replace(choices, knowledge=known)
    facts = known.facts(window.names, selection=False)
    marks = facts.seeds(window.in_time())
    acts = facts.unconfounded & facts.not_causes & facts.design  # `[a, b]`: on an edge a–b, context b is a cause
    marks[acts] = Mark.TAIL
    marks[facts.not_joined] = Mark.NONE
    start = PAG(window.spread(marks), window.names)
    return replace(choices, method=icd_over_shifts(window, facts.joined), knowledge=None, initial=start)
