"""Time series with hidden processes: `learn_series` beside LPCMCI (tigramite, extra `bench`), on LPCMCI's own ranges.

    python -m benchmarks.series [--systems 30] [--cells third] [--methods auto icd ...] [--keep FILE] [--minutes 8]
    python -m benchmarks.series --golden tests/series/lpcmci_oracle.json
    python -m benchmarks.series --large 50 5 2000

The whole protocol (`--cells all`): 4 and 6 processes, 0 and 2 of them hidden, true lags up to 1, 3 and 5, windows as
long as these or one step shorter, 200, 500 and 1,000 rows, autocorrelations of 0.3 to 0.95; and a cell of two levels.
`--cells third` has every combination of processes, hidden ones, lags and windows once, each with one of the three
numbers of rows, so that each level meets each level of every other factor. `--cells part` is 4 processes (0 and 2 more
hidden), lags 1 and 3, 500 rows, and two levels once.

`--keep FILE` writes a line a system; a run with the same file leaves out what is there, and tells all of it.
`--minutes` ends a run after so many.

The truth is the projection of the system, unrolled six times its longest lag beyond the window. Told are adjacencies of
latest copies (precision, recall); marks beyond those that time gives: how many are said, which share of them is right
about who is a cause of whom in the system, and which share of the marks is found that a perfect test would give; tests,
and seconds of CPU time.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from certify.series import Link, Seen, System, random_systems, seen_in, window_of

import anypag as ap
from anypag.choices import Choices
from anypag.graphs.marks import EDGE_SYMBOLS, Mark
from anypag.run.engine import Search
from anypag.series.learn import for_window
from anypag.series.series_result import SURE
from anypag.series.shifts import icd_over_shifts
from anypag.series.window import Window

Floats = npt.NDArray[np.float64]
Marks = dict[tuple[int, int], tuple[int, int]]
"""By the two nodes of a latest copy, the later one second: the mark at the first and the mark at the second."""

METHODS = ("lpcmci-1", "lpcmci-4", "auto", "bayes", "icd")
MARKDOWN = "| method | precision / recall of edges | marks said | right | of the perfect test's | CPU seconds |"
THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.72, 0.75, 0.77, 0.8, 0.85, 0.9)
ALPHA = 0.01


class Cell(NamedTuple):
    """One kind of systems and data."""

    k: int
    hidden: int
    lags: int
    max_lag: int
    rows: int
    levels: int = 0

    def __str__(self) -> str:
        kind = f", {self.levels} levels" if self.levels else ""
        return f"{self.k}+{self.hidden} processes, lags {self.lags}, window {self.max_lag}, T {self.rows:,}{kind}"


SHAPES = tuple(
    (k, hidden, lags, max_lag)
    for k, hidden, lags in product((4, 6), (0, 2), (1, 3, 5))
    for max_lag in sorted({max(1, lags - 1), lags})
)
ROWS = (200, 500, 1000)
LEVELS = Cell(4, 2, 1, 1, 1000, 2)
CELLS = {
    "all": (*(Cell(k - h, h, lags, p, rows) for k, h, lags, p in SHAPES for rows in ROWS), LEVELS),
    "third": (
        *(Cell(k - h, h, lags, p, ROWS[(k // 2 + h + lags // 2 + lags - p) % 3]) for k, h, lags, p in SHAPES),
        LEVELS,
    ),
    "part": (*(Cell(4, hidden, lags, lags, 500) for lags, hidden in product((1, 3), (0, 2))), LEVELS),
}


# --- systems and data -------------------------------------------------------------------------------------------------


def random_system(cell: Cell, random: np.random.Generator) -> tuple[System, dict[Link, float]]:
    """A stationary system with as many links as processes, and its coefficients."""
    m = cell.k + cell.hidden
    while True:
        order, links = random.permutation(m), dict[Link, float]()
        for v in range(m):
            links[v, v, 1] = random.uniform(0.3, 0.95)
        for _ in range(m):
            a, b = map(int, random.choice(m, 2, replace=False))
            lag = int(random.integers(0, cell.lags + 1)) if random.random() < 0.7 else 0
            a, b = (b, a) if lag == 0 and order[a] > order[b] else (a, b)
            links[a, b, lag] = float(random.choice([-1, 1]) * random.uniform(0.2, 0.8))
        shared = all(len({b for a, b, _ in links if a == h and b < cell.k}) >= 2 for h in range(cell.k, m))
        if shared and _is_stationary(links, m, cell.lags):
            return System(cell.k, cell.hidden, tuple(links)), links


def _matrices(links: dict[Link, float], m: int, lags: int) -> Floats:
    found = np.zeros((lags + 1, m, m))
    for (a, b, lag), weight in links.items():
        found[lag, b, a] = weight
    return found


def _is_stationary(links: dict[Link, float], m: int, lags: int) -> bool:
    matrices = _matrices(links, m, lags)
    now = np.linalg.inv(np.eye(m) - matrices[0])
    companion = np.zeros((m * lags, m * lags))
    companion[:m] = np.hstack([now @ matrix for matrix in matrices[1:]])
    companion[m:, :-m] = np.eye(m * (lags - 1))
    return bool(np.abs(np.linalg.eigvals(companion)).max() < 0.98)


def simulated(cell: Cell, links: dict[Link, float], random: np.random.Generator) -> Floats:
    """(rows, k) a stretch of the observed processes."""
    m, burn = cell.k + cell.hidden, 300
    matrices = _matrices(links, m, cell.lags)
    values = random.normal(size=(cell.rows + burn, m))
    now = np.linalg.inv(np.eye(m) - matrices[0])
    if cell.levels:
        return _levels(cell, matrices, random, burn)
    for t in range(cell.lags, len(values)):
        past = sum(matrices[lag] @ values[t - lag] for lag in range(1, cell.lags + 1))
        values[t] = now @ (values[t] + past)
    return values[burn:, : cell.k]


def _levels(cell: Cell, matrices: Floats, random: np.random.Generator, burn: int) -> Floats:
    """Two levels: each process is 1 with a probability that its causes move, in an order of causes within a time."""
    m = cell.k + cell.hidden
    depth = np.linalg.matrix_power(np.eye(m) + (matrices[0] != 0), m).sum(axis=1)
    values = random.integers(0, 2, (cell.rows + burn, m)).astype(np.float64)
    for t in range(cell.lags, len(values)):
        for v in np.argsort(depth):
            pull = sum(matrices[lag, v] @ (2 * values[t - lag] - 1) for lag in range(cell.lags + 1))
            values[t, v] = random.random() < 1 / (1 + np.exp(-2 * pull))
    return values[burn:, : cell.k]


# --- methods ----------------------------------------------------------------------------------------------------------


@dataclass
class Found:
    """What a method says about one system."""

    marks: Marks
    tests: int
    seconds: float
    sure: dict[tuple[int, int], tuple[float, float]] = field(default_factory=dict)
    """Where it is known, the probabilities of the two marks."""


def by_anypag(values: Floats, cell: Cell, window: Window, method: str) -> Found:
    """What `learn_series` finds."""
    table = {name: values[:, i] for i, name in enumerate(window.processes)}
    kinds = {"kinds": dict.fromkeys(window.processes, "discrete")} if cell.levels else {}
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ap.learn_series(table, cell.max_lag, method=method, alpha=ALPHA, **kinds)  # type: ignore[arg-type]
        assert result.edges is not None  # they count for the time
    seconds = time.process_time() - began
    pag, said, sure = result.result.pag, result.result.probabilities, {}
    marks = latest_marks(pag, window)
    for x, y in marks if said is not None else ():
        edge = pag.edge(window.names[x], window.names[y])
        assert said is not None and edge is not None
        sure[x, y] = result.sureness(edge), result.sureness(edge.reversed())
    return Found(marks, result.result.n_tests, seconds, sure)


def latest_marks(pag: ap.PAG, window: Window) -> Marks:
    """The latest copies of a graph of the window."""
    order = [pag.index(name) for name in window.names]
    marks = pag.marks[np.ix_(order, order)]
    pairs = zip(*(ends.tolist() for ends in window.latest), strict=True)
    return {(x, y): (int(marks[y, x]), int(marks[x, y])) for x, y in pairs if marks[x, y]}


def by_oracle(window: Window, mag: ap.MAG) -> Marks:
    """What ICD over shifts finds with a perfect test. Pairs that are joined need none: they would be asked all sets."""
    joined = window.spread((mag.marks != Mark.NONE).astype(np.uint8)) > 0
    choices = for_window(window, Choices(method="icd", selection_bias=False))
    search = Search(ap.Oracle(mag), replace(choices, method=icd_over_shifts(window, joined)))
    return latest_marks(search.run().pag, window)


def by_lpcmci(values: Floats, cell: Cell, window: Window, preliminary: int) -> Found:
    """What LPCMCI finds."""
    from tigramite import data_processing
    from tigramite.independence_tests.gsquared import Gsquared
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.lpcmci import LPCMCI

    asked, base = set[Any](), Gsquared if cell.levels else ParCorr

    class Counting(base):  # type: ignore[misc, valid-type]
        def run_test(self, X: Any, Y: Any, Z: Any = None, **more: Any) -> Any:  # noqa: N803
            asked.add((str(X), str(Y), str(sorted(map(tuple, Z or ())))))
            return super().run_test(X, Y, Z, **more)

    frame = data_processing.DataFrame(values.astype(int) if cell.levels else values)
    began = time.process_time()
    search = LPCMCI(frame, Counting(), verbosity=0)
    graph = search.run_lpcmci(tau_max=cell.max_lag, pc_alpha=ALPHA, n_preliminary_iterations=preliminary)["graph"]
    return Found(marks_of(graph, window), len(asked), time.process_time() - began)


def marks_of(graph: Any, window: Window) -> Marks:
    """The latest copies of a graph of tigramite: `graph[i, j, lag]` is the edge from i, so many steps before, to j."""
    found = {}
    for i, j, lag in product(range(window.k), range(window.k), range(window.max_lag + 1)):
        symbol = graph[i, j, lag].replace("x", "o")
        if symbol and (lag or i < j):
            left, right = EDGE_SYMBOLS[symbol]
            found[lag * window.k + i, j] = int(left), int(right)
    return found


def found_by(method: str, values: Floats, cell: Cell, window: Window) -> Found:
    if method.startswith("lpcmci"):
        return by_lpcmci(values, cell, window, int(method.removeprefix("lpcmci-")))
    return by_anypag(values, cell, window, method)


# --- scores -----------------------------------------------------------------------------------------------------------


@dataclass
class Score:
    """Sums over systems."""

    systems: int = 0
    right_edges: int = 0
    said_edges: int = 0
    true_edges: int = 0
    said: int = 0
    right: int = 0
    of_oracle: int = 0
    found_of_oracle: int = 0
    tests: int = 0
    seconds: float = 0.0

    def add(self, found: Found, seen: Seen, oracle: Marks, window: Window, least: float = 0.0) -> None:
        """Take in one system; marks with a smaller probability than `least` count as circles."""
        self.systems += 1
        self.tests += found.tests
        self.seconds += found.seconds
        x, y = window.latest
        for pair in zip(x.tolist(), y.tolist(), strict=True):
            is_true, is_said = bool(seen.mag.marks[pair]), pair in found.marks
            self.right_edges += is_true and is_said
            self.said_edges += is_said
            self.true_edges += is_true
            for end in (0, 1):
                if end == 1 and pair[0] >= window.k:
                    continue  # time gives it
                mark = self._mark(found, pair, end, least)
                is_cause = bool(seen.causes[pair[end], pair[1 - end]])
                self.said += mark > Mark.CIRCLE
                self.right += mark == (Mark.TAIL if is_cause else Mark.ARROW)
                wanted = oracle[pair][end] if pair in oracle else 0
                self.of_oracle += wanted > Mark.CIRCLE
                self.found_of_oracle += wanted > Mark.CIRCLE and mark == wanted

    def _mark(self, found: Found, pair: tuple[int, int], end: int, least: float) -> int:
        if pair not in found.marks:
            return 0
        is_unsure = pair in found.sure and found.sure[pair][end] < least
        return int(Mark.CIRCLE) if is_unsure else found.marks[pair][end]

    def __add__(self, other: Score) -> Score:
        return Score(**{name: value + getattr(other, name) for name, value in vars(self).items()})

    def told(self) -> dict[str, float]:
        """The shares; that of the oracle's marks is NaN where it gives none."""
        n = max(1, self.systems)
        return {
            "precision": self.right_edges / max(1, self.said_edges),
            "recall": self.right_edges / max(1, self.true_edges),
            "said": self.said / n,
            "right": self.right / max(1, self.said),
            "oracle": self.found_of_oracle / self.of_oracle if self.of_oracle else float("nan"),
            "tests": self.tests / n,
            "seconds": self.seconds / n,
        }


HEAD = f"{'':<12} precision recall  marks said  right  of the oracle's   tests  seconds"


def line_of(name: str, told: dict[str, float]) -> str:
    return (
        f"{name:<12} {told['precision']:9.2f} {told['recall']:6.2f} {told['said']:11.1f} {told['right']:6.2f} "
        f"{told['oracle']:16.2f} {told['tests']:7.0f} {told['seconds']:8.2f}"
    )


def scores_of(cell: Cell, number: int, seed: int, methods: Iterable[str]) -> dict[str, Score]:
    """The scores of methods on one system; those of "auto" for other thresholds than `SURE` too, to choose it by."""
    window, random = window_of(cell.k, cell.max_lag), np.random.default_rng([seed + number, *cell])
    system, links = random_system(cell, random)
    values = simulated(cell, links, random)
    if cell.levels and min(np.ptp(values, axis=0)) == 0:
        return {name: Score() for name in methods}
    seen = seen_in(system, window)
    oracle, scores = by_oracle(window, seen.mag), dict[str, Score]()
    for method in methods:
        found = found_by(method, values, cell, window)
        thresholds = {method: SURE} | ({f"auto {least:g}": least for least in THRESHOLDS} if method == "auto" else {})
        for name, least in thresholds.items():
            scores[name] = Score()
            scores[name].add(found, seen, oracle, window, least)
    return scores


# --- many systems -----------------------------------------------------------------------------------------------------

Kept = dict[tuple[str, int], dict[str, Score]]
"""By cell and number of the system, the scores by name of the method."""


def kept_in(file: Path | None, seed: int) -> Kept:
    """The scores in a file, of systems from this seed on."""
    found: Kept = {}
    for line in file.read_text().splitlines() if file is not None and file.exists() else ():
        row = json.loads(line)
        if row["seed"] == seed:
            scores = {name: Score(**sums) for name, sums in row["scores"].items()}
            found.setdefault((row["cell"], row["system"]), {}).update(scores)
    return found


def run(cells: tuple[Cell, ...], options: argparse.Namespace) -> Kept:
    """The scores of all systems, system by system, so that a run that ends early has some of every cell."""
    for cell in {cell.levels: cell for cell in cells}.values():
        scores_of(cell, 0, 0, options.methods)  # compiling does not count
    began, kept = time.monotonic(), kept_in(options.keep, options.seed)
    for number, cell in product(range(options.systems), cells):
        there = kept.setdefault((str(cell), number), {})
        missing = [method for method in options.methods if method not in there]
        if not missing or time.monotonic() - began > 60 * options.minutes:
            continue
        scores = scores_of(cell, number, options.seed, missing)
        there.update(scores)
        if options.keep is not None:
            row = {"seed": options.seed, "cell": str(cell), "system": number}
            with options.keep.open("a") as file:
                file.write(json.dumps({**row, "scores": {name: vars(score) for name, score in scores.items()}}) + "\n")
    return kept


def tell(cells: tuple[Cell, ...], kept: Kept) -> None:
    """The shares of every cell and their means, over systems that all methods have."""
    by_cell = shares_of(cells, kept)
    for title, told in by_cell.items():
        _print_table(title, told)
    _print_table(f"mean over {len(by_cell)} cells", mean_of(by_cell))


def tell_markdown(cells: tuple[Cell, ...], kept: Kept) -> None:
    """The tables of `benchmarks/series.md`: means, and every cell."""
    by_cell = shares_of(cells, kept)
    for head, tables in ("mean over", {f"{len(by_cell)} cells": mean_of(by_cell)}), ("system", by_cell):
        print(f"| {head} {MARKDOWN}\n{'| --- ' * 7}|")
        for title, told in tables.items():
            rows = [_row(name, shares) for name, shares in told.items() if name in METHODS]
            print("\n".join(f"| {'' if k else title} | {row} |" for k, row in enumerate(rows)))
        print()


def _row(name: str, told: dict[str, float]) -> str:
    named = name.replace("lpcmci-", "LPCMCI, ") if name.startswith("lpcmci") else f"`{name}`"
    oracle = "none there" if np.isnan(told["oracle"]) else f"{told['oracle']:.2f}"
    edges = f"{told['precision']:.2f} / {told['recall']:.2f}"
    return f"{named} | {edges} | {told['said']:.1f} | {told['right']:.2f} | {oracle} | {told['seconds']:.2f}"


def shares_of(cells: tuple[Cell, ...], kept: Kept) -> dict[str, dict[str, dict[str, float]]]:
    """By cell (with its number of systems) and method, the shares."""
    found = {}
    for cell in map(str, cells):
        systems = [scores for (of_cell, _), scores in kept.items() if of_cell == cell and scores]
        names = list(dict.fromkeys(name for scores in systems for name in scores))
        whole = [scores for scores in systems if len(scores) == len(names)]
        if whole:
            told = {name: sum((scores[name] for scores in whole), Score()).told() for name in names}
            found[f"{cell}, {len(whole)} systems"] = told
    return found


def mean_of(by_cell: dict[str, dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """By method, the means over cells, of those that every cell has."""
    told = list(by_cell.values())
    names = [name for name in (told[0] if told else ()) if all(name in shares for shares in told)]
    return {name: _mean([shares[name] for shares in told]) for name in names}


def _mean(rows: list[dict[str, float]]) -> dict[str, float]:
    """The means; of the oracle's marks over cells where it gives any."""
    return {key: float(np.nanmean([row[key] for row in rows])) for key in rows[0]}


def _print_table(title: str, told: dict[str, dict[str, float]]) -> None:
    print(f"\n{title}\n{HEAD}")
    for name, shares in told.items():
        print(line_of(name, shares), flush=True)


# --- golden graphs ----------------------------------------------------------------------------------------------------


def golden(path: Path) -> None:
    """Write what LPCMCI finds with its own oracle on 20 systems."""
    rows = []
    kinds = ((3, 1, 1, 8), (3, 1, 2, 8), (4, 2, 1, 4))
    for k, hidden, max_lag, n in kinds:
        for system in random_systems(k, hidden, max_lag, n, seed=31):
            rows.append(
                {"k": k, "hidden": hidden, "max_lag": max_lag, "links": system.links, "marks": _oracle(system, max_lag)}
            )
            print(len(rows), flush=True)
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def _oracle(system: System, max_lag: int) -> list[list[int]]:
    from tigramite import data_processing
    from tigramite.independence_tests.oracle_conditional_independence import OracleCI
    from tigramite.lpcmci import LPCMCI

    m = system.k + system.hidden
    links = {b: [((a, -lag), 1.0, None) for a, to, lag in system.links if to == b] for b in range(m)}
    oracle = OracleCI(links=links, observed_vars=list(range(system.k)))
    frame = data_processing.DataFrame(np.random.default_rng(0).normal(size=(50, system.k)))
    graph = LPCMCI(frame, oracle, verbosity=0).run_lpcmci(tau_max=max_lag, pc_alpha=ALPHA, n_preliminary_iterations=1)
    return [[*pair, *marks] for pair, marks in marks_of(graph["graph"], window_of(system.k, max_lag)).items()]


# --- many processes ---------------------------------------------------------------------------------------------------


def large(k: int, lags: int, rows: int) -> None:
    """Seconds of CPU time, memory and edges of one search among many processes, of which none is hidden."""
    random = np.random.default_rng(0)
    weights = np.zeros((lags, k, k))
    weights[0][np.diag_indices(k)] = random.uniform(0.3, 0.7, k)
    for _ in range(k):
        a, b = random.choice(k, 2, replace=False)
        weights[random.integers(lags), b, a] += random.choice([-1, 1]) * random.uniform(0.2, 0.4)
    values = random.normal(size=(rows + 300, k))
    for t in range(lags, len(values)):
        values[t] += sum(weights[lag] @ values[t - lag - 1] for lag in range(lags))
    table = {f"v{i}": values[300:, i] for i in range(k)}
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ap.learn_series(table, lags, method="auto" if k * (lags + 1) > 155 else "icd")
    seconds, megabytes = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    true = {(f"v{a}", f"v{b}", int(lag) + 1) for lag, b, a in zip(*np.nonzero(weights), strict=True)}
    found = {(edge.cause, edge.effect, edge.lag) for edge in result.edges}
    print(f"{result!r}\n{seconds:.1f} s, {megabytes} MB; {len(true & found)} of {len(true)} links, {len(found)} edges")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--cells", choices=CELLS, default="part")
    parser.add_argument("--only", type=int, nargs="*", help="these cells alone, by their numbers from 0")
    parser.add_argument("--methods", nargs="*", default=METHODS, choices=METHODS)
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep what is done, and go on from it")
    parser.add_argument("--markdown", action="store_true", help="print the tables of benchmarks/series.md")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--golden", type=Path)
    parser.add_argument("--large", type=int, nargs=3, metavar=("PROCESSES", "LAGS", "ROWS"))
    options = parser.parse_args()
    if options.large:
        large(*options.large)
        return
    if options.golden:
        golden(options.golden)
        return
    cells = CELLS[options.cells]
    cells = cells if options.only is None else tuple(cells[i] for i in options.only)
    (tell_markdown if options.markdown else tell)(cells, run(cells, options))


if __name__ == "__main__":
    main()
