"""Tables as they are met: mixed kinds, gaps, rare levels, copies, zeros; none crashes, none gets a false statement.

Each table goes through `audit`, `learn` with every method, and `effect` of a pair with numbers. In every second table
all columns are independent: an edge there is false, and "determined" is too. In the others some columns depend on
others, and some are made from others, which is remembered.
"""

from __future__ import annotations

import math
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars

import anypag as ap
from anypag.catalogue import METHODS
from attack.children import Counts

ALPHA = 0.01
MOST_OVER = 1.25
"""False edges on independent columns as a multiple of what alpha grants, for each test; chance comes on top."""
DEFAULT_TESTS = ("PermutationChiSquared", "FisherZ", "DegenerateGaussian")
BY_SCORES_ALONE = {name for name, method in METHODS.items() if method.from_scores}
"""Methods whose edges alpha does not govern: their false edges are counted, not judged."""
SHARE_DRAWN = 0.05
"""The share of results of scores whose effects are estimated: from sampled graphs that takes seconds."""
STATES_A_FUNCTION = {"determined", "duplicate", "copy", "relation", "same order", "indicators"}
LONGEST_MESSAGE = 2000

Draw = np.random.Generator
Column = list[Any]


@dataclass
class Made:
    """A table, what to read it with, and what is true of it.

    Args:
        related: pairs of columns of which one was made from the other, without noise.
    """

    columns: dict[str, Column]
    options: dict[str, Any]
    is_independent: bool
    related: set[frozenset[str]]

    @property
    def frame(self) -> polars.DataFrame:
        return polars.DataFrame(self.columns, strict=False)


def _mostly_zero(draw: Draw, rows: int) -> Column:
    share = draw.choice([0.5, 0.8, 0.95, 0.99])
    return [float(v) for v in np.where(draw.random(rows) < share, 0.0, draw.lognormal(size=rows))]


def _levels(draw: Draw, rows: int, weights: npt.NDArray[np.float64]) -> Column:
    return [f"g{k}" for k in draw.choice(len(weights), size=rows, p=weights / weights.sum())]


NUMBERS: tuple[Callable[[Draw, int], Column], ...] = (
    lambda draw, rows: draw.normal(size=rows).tolist(),
    lambda draw, rows: draw.normal(50, 12, size=rows).round(1).tolist(),
    lambda draw, rows: draw.lognormal(9, 1.5, size=rows).tolist(),
    lambda draw, rows: draw.standard_t(2, size=rows).tolist(),
    lambda draw, rows: draw.standard_cauchy(size=rows).tolist(),
    lambda draw, rows: draw.poisson(30, size=rows).tolist(),
    _mostly_zero,
)
LEVELS: tuple[Callable[[Draw, int], Column], ...] = (
    lambda draw, rows: (draw.random(rows) < 0.5).tolist(),
    lambda draw, rows: (draw.random(rows) < draw.choice([0.01, 0.03, 0.1])).astype(int).tolist(),
    lambda draw, rows: _levels(draw, rows, np.ones(3)),
    lambda draw, rows: draw.integers(1, 6, size=rows).tolist(),
    lambda draw, rows: draw.poisson(0.7, size=rows).tolist(),
    lambda draw, rows: _levels(draw, rows, 1 / np.arange(1, 9) ** 2),
    lambda draw, rows: _levels(draw, rows, np.ones(15)),
    lambda draw, rows: _levels(draw, rows, 1 / np.arange(1, 41)),
)
KINDS = (
    (NUMBERS, ("auto", "fisherz", "additive")),
    (LEVELS, ("auto", "permutation", "gsq", "chisq")),
    (NUMBERS + LEVELS, ("auto", "auto", "mixed", "additive")),
)
"""What the columns of a table are, and the tests one might ask for."""


def made(seed: int, k: int) -> Made:
    """Table k of a seed."""
    draw = np.random.default_rng([seed, k])
    rows, width = int(draw.integers(40, 301)), int(draw.integers(3, 8))
    sorts, tests = KINDS[draw.integers(3)]
    columns = {f"c{i}": sorts[draw.integers(len(sorts))](draw, rows) for i in range(width)}
    table = Made(columns, {"max_r": 2}, k % 2 == 0, set())
    if not table.is_independent:
        _relate(table, draw)
        table.options["test"] = str(draw.choice(tests))
        table.options["singular"] = str(draw.choice(["error", "keep", "keep"]))
    if draw.random() < 0.4:
        _leave_gaps(table, draw)
    return table


def _relate(table: Made, draw: Draw) -> None:
    """Make some columns from earlier ones, with noise or without."""
    names = list(table.columns)
    for at in range(1, len(names)):
        source, way = names[draw.integers(at)], draw.random()
        values = table.columns[source]
        if way < 0.4:
            table.columns[names[at]] = _noisy(values, draw)
        elif way < 0.6:
            table.columns[names[at]] = _function(values, draw)
            table.related.add(frozenset({source, names[at]}))


def _noisy(values: Column, draw: Draw) -> Column:
    if isinstance(values[0], float):
        return [float(v) for v in np.array(values) + np.std(values) * draw.normal(size=len(values))]
    others = draw.choice(len(values), size=len(values)).tolist()
    return [v if draw.random() < 0.6 else values[k] for v, k in zip(values, others, strict=True)]


def _function(values: Column, draw: Draw) -> Column:
    """A copy, other labels, fewer levels, another unit."""
    way = draw.integers(3)
    if isinstance(values[0], float) and way:
        return [2.54 * v + 3 for v in values] if way == 1 else [math.copysign(math.sqrt(abs(v)), v) for v in values]
    if way == 0:
        return list(values)
    labels = {v: f"L{i if way == 1 else i // 2}" for i, v in enumerate(dict.fromkeys(values))}
    return [labels[v] for v in values]


def _leave_gaps(table: Made, draw: Draw) -> None:
    for name in draw.choice(list(table.columns), size=draw.integers(1, 3), replace=False).tolist():
        gaps = draw.random(len(table.columns[name])) < draw.choice([0.03, 0.1, 0.3])
        table.columns[name] = [None if gap else v for v, gap in zip(table.columns[name], gaps, strict=True)]
    table.options["missing"] = str(draw.choice(["error", "drop", "drop", "drop", "pairwise", "pairwise"]))


class Trial:
    """What came of one table after another: counts, and what must not have happened."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.wrong: list[str] = []

    def tried(self, what: str, name: str, action: Callable[[], Any]) -> Any:
        """What an action returns; None where it was refused by a sentence, or crashed, which is noted."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", "First-class function type feature")  # as the package does
            try:
                answer = action()
                self.counts[f"{what} done"] += 1
            except ap.AnypagError as error:
                answer = None
                self.counts[f"{what} refused"] += 1
                if not 0 < len(str(error)) < LONGEST_MESSAGE:
                    self.wrong.append(f"{name}: a message of {len(str(error))} characters")
            except Exception as error:
                answer = None
                at = traceback.extract_tb(error.__traceback__)[-1]
                self.wrong.append(f"{name}: {type(error).__name__}: {error} ({at.filename}:{at.lineno})")
        others = [w for w in heard if not issubclass(w.category, ap.AnypagWarning)]
        self.wrong += sorted({f"{name} warns: {w.message} ({w.filename}:{w.lineno})" for w in others})
        return answer

    def table(self, table: Made, name: str, draw: Draw) -> None:
        """One table through everything."""
        self.counts["tables"] += 1
        frame = table.frame
        reading = {key: table.options[key] for key in ("missing", "singular", "max_r") if key in table.options}
        found = self.tried("audit", f"{name}, audit", lambda: ap.audit(frame, **reading))
        if found is not None:
            self.judge_statements(table, found, name)
        for method in METHODS:
            self.method(table, frame, method, f"{name}, {method}", draw)

    def method(self, table: Made, frame: polars.DataFrame, method: str, name: str, draw: Draw) -> None:
        """A method on a table, and an effect in what it learned, with numbers and without."""
        options = table.options | ({"effort": 0.1} if "effort" in METHODS[method].uses else {})
        result = self.tried("learn", name, lambda: ap.learn(frame, method=method, alpha=ALPHA, **options))
        if result is None:
            return
        if table.is_independent:
            width = len(result.pag.names)
            self.counts[f"{method}, {result.test_name}: independent pairs"] += width * (width - 1) // 2
            self.counts[f"{method}, {result.test_name}: false edges"] += len(result.pag.edges())
        cause, outcome = draw.choice(result.pag.names, size=2, replace=False).tolist()
        about = f"{name}, effect of {cause} on {outcome}"
        self.tried("effect", about, lambda: str(ap.effect(result, cause, outcome, selection_bias=False)))
        if method in BY_SCORES_ALONE and draw.random() > SHARE_DRAWN:
            return
        self.tried("estimate", about, lambda: str(ap.effect(result, cause, outcome, selection_bias=False, data=frame)))

    def judge_statements(self, table: Made, found: Any, name: str) -> None:
        """Note the functions stated of columns that were not made from each other."""
        for finding in found.findings:
            are_constant = all(len(set(table.columns[c]) - {None}) == 1 for c in finding.columns)
            if finding.problem in STATES_A_FUNCTION and not are_constant:
                self.counts["functions stated"] += 1
                if not _are_related(set(finding.columns), table.related):
                    self.wrong.append(f"{name}: {finding.message}")

    def judge_edges(self) -> None:
        """Note the methods with more false edges than a test is granted, and four deviations."""
        for method, test in product(METHODS.keys() - BY_SCORES_ALONE, DEFAULT_TESTS):
            due = ALPHA * self.counts[f"{method}, {test}: independent pairs"]
            edges = self.counts[f"{method}, {test}: false edges"]
            if edges > MOST_OVER * due + 4 * math.sqrt(due) + 1:
                self.wrong.append(f"{method}, {test}: {edges} false edges where {due:.1f} are due")


def _are_related(columns: set[str], related: set[frozenset[str]]) -> bool:
    """Are two of the columns made from each other, or from a third?"""
    for name in columns:
        reached = {name}
        for _ in related:
            reached |= {v for pair in related if pair & reached for v in pair}
        if reached & columns != {name}:
            return True
    return False


def attack(seed: int, count: int, _: Path) -> Counts:
    """So many tables."""
    trial = Trial()
    for k in range(count):
        trial.table(made(seed, k), f"table {k}", np.random.default_rng([seed, k, 1]))
    trial.judge_edges()
    assert not trial.wrong, f"seed {seed}: {len(trial.wrong)} things went wrong:\n" + "\n".join(trial.wrong[:20])
    return trial.counts
