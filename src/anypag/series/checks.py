"""Checks of a time series: processes that wander, seasons, unexplained memory, too few windows, uneven times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anypag.arrays import Floats
from anypag.data.findings import Finding, as_one, warning
from anypag.errors import Option, Sentence, listed
from anypag.markup import counted
from anypag.series.lagged import Lagged

MOST_LEFT = 0.2  # a window is too short if residuals of a regression on its past have a larger autocorrelation
MOST_ALIKE = 0.98  # a process wanders, or has a trend, if its neighbouring values have a larger correlation
MOST_BETWEEN = 0.5  # in a panel, units differ lastingly if they explain a larger share of a process's variance
MOST_TREND = 0.5  # a straight line in time that explains a larger share of a process's variance is a trend
LEAST_WINDOWS = 5  # there should be at least this many windows for each column of a window
MOST_IRREGULAR = 0.05  # times are irregular if a larger share of neighbouring times is not one step apart
LEAST_SEASONS = 4  # a season is looked for if the series covers it this many times
MOST_SEASON = 0.3  # a season is reported if the autocorrelation of the residuals after one season is larger than this
STAYS = 0.7  # for a season, the autocorrelation after two periods must be at least this share of that after one
SHORTEST, MOST_STEPS = 4, 400  # the shortest and the longest season that is looked for, in steps


def series_findings(windows: Lagged) -> list[Finding]:
    """The properties of a time series that weaken a result. If there are several data sets, each is centred first."""
    windows = replace(windows, table=windows.table.within_sets())
    left = _unexplained(windows)
    found = (*_unlike_units(windows), *_wandering(windows), *_left_over(windows, left), *_seasons(windows, left))
    return [*found, *_few_windows(windows), *_irregular(windows)]


def _columns(windows: Lagged) -> list[int]:
    """The indices of the continuous processes that vary."""
    table = windows.table
    return [i for i in table.of_kind("continuous") if i < windows.window.k and np.ptp(table.values[:, i]) > 0]


def _correlation(a: Floats, b: Floats) -> float:
    """The correlation of two columns; 0 if there are no rows, or one of the two does not vary."""
    spread = a.std() * b.std() if len(a) else 0.0
    return float(((a - a.mean()) * (b - b.mean())).mean() / spread) if spread > 0 else 0.0


def _within(windows: Lagged, i: int) -> Floats:
    values, n = windows.table.values[:, i], np.bincount(windows.units)
    return np.asarray(values - (np.bincount(windows.units, values) / np.maximum(n, 1))[windows.units])


def _unlike_units(windows: Lagged) -> list[Finding]:
    """A warning about processes whose level differs more between units than it changes within them."""
    table, n_units = windows.table, len(np.unique(windows.units))
    if n_units in (1, table.n):
        return []
    by_chance = (table.n - 1) / (table.n - n_units)  # means of a few windows differ by chance
    part = {table.names[i]: _within(windows, i).var() / table.values[:, i].var() for i in _columns(windows)}
    share = {name: 1 - by_chance * size for name, size in part.items()}
    large = [name for name, size in share.items() if size > MOST_BETWEEN]
    message = (
        f"Units differ lastingly in {listed(large, 5)}: most of the variance is between units. The reasons why units "
        "differ act as hidden causes at every lag."
    )
    remedy = "Subtract the mean of each unit, or take differences in time."
    return [warning("units", large, message, remedy)] if large else []


def _wandering(windows: Lagged) -> list[Finding]:
    """Warnings about processes that follow a trend, or that wander (have a unit root, or almost)."""
    table, k, found = windows.table, windows.window.k, []
    time = np.arange(table.n, dtype=np.float64)
    for i in _columns(windows):
        alike = _correlation(_within(windows, i), _within(windows, k + i))
        trend = _correlation(table.values[:, i], time) ** 2 if windows.n_units == 1 else 0.0
        if alike > MOST_ALIKE or trend > MOST_TREND:
            seen = f"follows a trend (time explains {trend:.0%} of it)" if trend > MOST_TREND else "wanders"
            message = (
                f"{table.names[i]!r} {seen}; neighbouring values have a correlation of {alike:.2f}. Two series that "
                "wander look related even if they are not."
            )
            remedy = "Take differences from one time to the next (or growth rates), or take out the trend."
            found.append(warning("trend", (table.names[i],), message, remedy))
    return as_one(found, "processes wander or follow a trend")


def _unexplained(windows: Lagged) -> dict[str, Floats]:
    """The residuals of each process after a linear regression on the window's past; {} if there are too few windows."""
    table, k = windows.table, windows.window.k
    past = table.values[:, k:]
    chosen = _columns(windows)
    if not chosen or table.n <= 2 * past.shape[1]:
        return {}
    centred = past - past.mean(axis=0)
    values = table.values[:, chosen] - table.values[:, chosen].mean(axis=0)
    left = values - centred @ np.linalg.lstsq(centred, values, rcond=None)[0]
    return {table.names[i]: rest for i, rest in zip(chosen, left.T, strict=True)}


def _left_over(windows: Lagged, left: dict[str, Floats]) -> list[Finding]:
    """A warning about processes whose memory is longer than the window."""
    is_next = np.diff(windows.runs) == 0
    found = {name: _correlation(rest[1:][is_next], rest[:-1][is_next]) for name, rest in left.items()}
    large = {name: size for name, size in found.items() if abs(size) > MOST_LEFT}
    if not large:
        return []
    worst = max(large.values(), key=abs)
    lag = windows.window.max_lag
    message = (
        f"After a regression on {counted(lag, 'lag')} the residuals of {listed(list(large), 5)} are autocorrelated (up "
        f"to {worst:.2f}): the memory of these processes is longer than the window, so there may be too many edges."
    )
    return [warning("memory", large, message, Sentence("Raise ", Option("max_lag"), "."))]


def _seasons(windows: Lagged, left: dict[str, Floats]) -> list[Finding]:
    """Warnings about processes that repeat themselves at a period longer than the window."""
    longest = min(int(windows.places.max(initial=0)) // LEAST_SEASONS, MOST_STEPS)
    limit, found = max(MOST_SEASON, 4 / np.sqrt(windows.table.n)), []
    for name, sizes in _autocorrelations(windows, left, 2 * longest + 1).items():
        periods = np.arange(max(windows.window.max_lag + 1, SHORTEST), longest + 1)
        periods = periods[(sizes[periods] > limit) & (sizes[2 * periods] > STAYS * sizes[periods])]
        if len(periods):
            period = int(periods[np.argmax(sizes[periods] > 0.9 * sizes[periods].max())])
            message = (
                f"{name!r} repeats itself every {period} steps (autocorrelation {sizes[period]:.2f}), as seasons do; "
                "the window does not reach that far back."
            )
            remedy = "Subtract from each value the mean at its place in the season, or the value one season before."
            found.append(warning("season", (name,), message, remedy))
    return as_one(found, "processes repeat themselves after more steps than the window has")


def _autocorrelations(windows: Lagged, left: dict[str, Floats], most: int) -> dict[str, Floats]:
    """By process, [k] the autocorrelation of residuals after k steps; 0 if k < `SHORTEST` or if rows are few."""
    rest = np.array([values - values.mean() for values in left.values()])
    found = np.zeros((len(left), most))
    for steps in range(SHORTEST, min(most, windows.table.n) if len(left) else 0):
        same = windows.runs[steps:] == windows.runs[:-steps]
        if same.sum() > 3:
            found[:, steps] = (rest[:, steps:] * rest[:, :-steps])[:, same].mean(axis=1)
    found /= np.maximum(rest.var(axis=1, keepdims=True), np.finfo(np.float64).tiny) if len(left) else 1.0
    return dict(zip(left, found, strict=True))


def _few_windows(windows: Lagged) -> list[Finding]:
    n, columns = windows.table.n, len(windows.window)
    message = f"There are {n:,} windows of {columns} columns: few edges can be found."
    remedy = Sentence("Choose a smaller ", Option("max_lag"), ", fewer processes, or a longer series.")
    return [warning("windows", (), message, remedy)] if n < LEAST_WINDOWS * columns else []


def _irregular(windows: Lagged) -> list[Finding]:
    message = (
        f"{windows.irregular:.0%} of neighbouring times are not one step apart. No window crosses these gaps "
        f"({windows.n_breaks:,}), so effects across them are not seen."
    )
    remedy = "Bring the series to even steps first, by daily means for example."
    return [warning("times", (), message, remedy)] if windows.irregular > MOST_IRREGULAR else []
