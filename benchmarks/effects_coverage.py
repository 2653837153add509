"""Do the intervals of effects hold the truth? Draws over sampled graphs beside answers that take one graph as right.

    python benchmarks/effects_coverage.py --jobs 16           # makes the table of docs/effects.md anew
    python benchmarks/effects_coverage.py --brief             # the draws and "zero" only, in half of the time
    python benchmarks/effects_coverage.py --prices            # what an edge should cost while sampling

Random linear systems with 15 measured variables, in cells: "rand" (17 variables, average degree 2, two of them hidden)
and "conf" (15 measured and 6 hidden common causes of random pairs), strong weights (0.3 to 1) and weak ones (0.1 to
0.5), 500, 2,000 and 8,000 rows; "mixed" (as "rand", variables without causes have the levels 0 and 1) and "discrete"
(10 variables with two levels, random tables, hidden ones among them) with 500 and 2,000 rows. Asked are all effects
that the true PAG identifies, and for "no effect" as many pairs without an effect. The settings stood before the run;
seeds are 9100, 9101, ..., which no choice was made on.

Compared: `interval` (all draws, zeros included), `if_causal`, the single graph of "bayes", the graph of ICD, the graphs
of ICD in 20 resamples (the middle 95 % of their estimates), adjusting for all other columns, and the true adjustment
set. A false "no effect" counts as a miss, with a width of 0. CRPS is that of the draws, or of the normal distribution
that an interval stands for.

`--prices` compares prices of an edge in the graphs that effects are drawn from, on other systems (seeds 5000, 5001,
...) with 500 and 2,000 rows. The rule stood before the run: of the prices that cover at least 0.92 with 500 rows, 0.94
with 2,000 and 0.86 of the weak effects with 500, the one with the least CRPS over all pairs; if none does, the one
whose largest shortfall is least.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from scipy.stats import norm

import anypag as ap
from anypag.data.table import as_table
from anypag.effects.estimate.draws import LinearColumns
from anypag.effects.identify.causal_graph import CausalGraph, causal_graph_of
from anypag.effects.identify.sampled_classes import SampledClasses, classes_of
from anypag.effects.identify.verdict import verdict
from anypag.effects.sampled_effect import SURE_OF_NONE
from anypag.effects.sampled_question import AllDraws
from anypag.graphs.base import Marks, possible_steps
from anypag.graphs.pag import DAG
from anypag.scores.gaussian import GaussianScore
from anypag.search.by_scores.bayes import BayesState, exchanged
from anypag.search.by_scores.chain import Landscape, Walker, advance, marks_of
from anypag.simulate.gaussian import random_weights

Floats = npt.NDArray[np.float64]
OneSystem = Callable[[str, str, int, int], list[dict[str, Any]]]

FIRST_SEED = 9100
FIRST_SEED_OF_PRICES = 5000
KINDS = ("rand", "conf")
WEIGHTS = {"strong": (0.3, 1.0), "weak": (0.1, 0.5)}
ROWS = (500, 2_000, 8_000)
SYSTEMS = (
    (product(KINDS, ("weak",), ROWS[:1]), 60),
    (product(KINDS, ("strong",), ROWS[:2]), 40),
    (product(KINDS, ("weak",), ROWS[1:2]), 40),
    (product(("mixed", "discrete"), ("strong",), ROWS[:2]), 40),
    (product(KINDS, WEIGHTS, ROWS[2:]), 16),
)
CELLS = {cell: systems for cells, systems in SYSTEMS for cell in cells}
"""How many systems each has; those that something is asked of come first."""
RESAMPLES = 20


PAGE = Path(__file__).parent.parent / "docs" / "effects.md"
WHOLE = Path(__file__).with_name("effects_compared.md")
MARK = "<!-- made by benchmarks/effects_coverage.py -->\n"
END = "<!-- end of the coverage of effects -->\n"
ASKED = (("all linear, 500", 0.92), ("all linear, 2,000", 0.94), ("weak, 500", 0.86))
ASKED_OF_ZERO = 0.93


class Asked(NamedTuple):
    """A pair with its true effect, whether the true PAG identifies one, and the true adjustment set, if any."""

    cause: str
    outcome: str
    truth: float
    identified: bool
    z: tuple[str, ...] | None = None


class Interval(NamedTuple):
    """A 95 % interval, and its continuous ranked probability score: smaller is better."""

    low: float
    high: float
    crps: float


def system(kind: str, seed: int) -> tuple[DAG, tuple[str, ...]]:
    """A DAG, and who is hidden."""
    if kind == "rand":
        found = ap.simulate.random_system(17, 2.0, seed=seed)
        return found.dag, tuple(found.latent)
    rng, base = np.random.default_rng(seed), ap.simulate.random_dag(15, 2.0, seed=seed)
    causes = np.zeros((21, 21), np.uint8)
    causes[:15, :15] = base.adjacency
    for k in range(15, 21):
        causes[k, rng.choice(15, 2, replace=False)] = 1
    hidden = tuple(f"L{k}" for k in range(6))
    return DAG(causes, (*base.names, *hidden)), hidden


class System(NamedTuple):
    """A system with its rows, and (n, n) the effects between all of its variables."""

    dag: DAG
    hidden: tuple[str, ...]
    effects: Floats
    rows: dict[str, Floats]


def simulated(kind: str, weights_of: str, n: int, seed: int) -> System:
    """A system of a cell, and n rows of it."""
    if kind == "discrete":
        found = ap.simulate.random_system(10, 2.0, seed=seed)
        tables = ap.simulate.random_tables(found.dag, 2, seed=seed)
        sample = ap.simulate.discrete(found.dag, n, latent=found.latent, tables=tables, seed=seed + 7)
        rows = {name: np.asarray(sample[name]) for name in sample}
        return System(found.dag, tuple(found.latent), risk_differences(found.dag, tables), rows)
    dag, hidden = system("rand" if kind == "mixed" else kind, seed)
    low, high = WEIGHTS[weights_of]
    weights = np.asarray(random_weights(dag, low=low, high=high, seed=seed))
    effects = np.asarray(np.linalg.inv(np.eye(len(dag)) - weights), np.float64)
    if kind == "mixed":
        return System(dag, hidden, effects, rows_with_two_levels(dag, hidden, weights, n, seed + 7))
    sample = ap.simulate.linear_gaussian(dag, n, latent=hidden, weights=weights, seed=seed + 7)
    return System(dag, hidden, effects, {name: np.asarray(sample[name]) for name in sample})


def rows_with_two_levels(dag: DAG, hidden: tuple[str, ...], weights: Floats, n: int, seed: int) -> dict[str, Floats]:
    """Rows of a linear system in which measured variables without causes are 0 or 1."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(n, len(dag)))
    has_levels = np.array([name not in hidden and not dag.parents(name) for name in dag.names])
    values[:, has_levels] = values[:, has_levels] > 0
    for node in (dag.index(name) for name in dag.topological_order()):
        values[:, node] += values @ weights[:, node]
    return {name: values[:, k] for k, name in enumerate(dag.names) if name not in hidden}


def risk_differences(dag: DAG, tables: dict[str, Floats]) -> Floats:
    """(n, n) what setting a variable to 1 in place of 0 does to the probability that another is 1, by summing out."""
    n, letters = len(dag), [chr(ord("a") + k) for k in range(len(dag))]
    found = np.zeros((n, n))
    axes = ["".join(letters[dag.index(p)] for p in dag.parents(name)) + letters[k] for k, name in enumerate(dag.names)]
    for x, y in permutations(range(n), 2):
        risks = []
        for level in (0, 1):
            set_to = [np.eye(2)[level] if k == x else tables[name] for k, name in enumerate(dag.names)]
            terms = [letters[k] if k == x else axes[k] for k in range(n)]
            risks.append(np.einsum(f"{','.join(terms)}->{letters[y]}", *set_to, optimize=True)[1])
        found[x, y] = risks[1] - risks[0] if dag.names[x] in dag.ancestors(dag.names[y]) else 0.0
    return found


def asked_of(dag: DAG, hidden: tuple[str, ...], effects: Floats, seed: int) -> Iterator[Asked]:
    """All effects that the true PAG identifies; as many pairs without an effect."""
    pag = ap.true_pag(dag, hidden)
    causal = causal_graph_of(pag)
    identified, none = list[Asked](), list[Asked]()
    for cause, outcome in permutations(pag.names, 2):
        found = verdict(causal, 1 << pag.index(cause), 1 << pag.index(outcome), 0, causal.everyone)
        truth = float(effects[dag.index(cause), dag.index(outcome)])
        if found.status in ("adjustment", "formula"):
            z = None if found.z is None else causal.names(found.z)
            identified.append(Asked(cause, outcome, truth, True, z))
        elif truth == 0:
            none.append(Asked(cause, outcome, 0.0, False))
    chosen = np.random.default_rng(seed).permutation(len(none))[: len(identified)]
    yield from identified
    yield from (none[k] for k in chosen)


def crps(draws: Floats, truth: float) -> float:
    """The score of draws."""
    ordered, n = np.sort(draws), len(draws)
    return float(np.abs(ordered - truth).mean() - (2 * np.arange(1, n + 1) - n - 1) @ ordered / n**2)


def of_draws(draws: Floats, truth: float) -> Interval | None:
    """The middle 95 % of the draws; None without draws."""
    known = draws[np.isfinite(draws)]
    if not len(known):
        return None
    low, high = np.quantile(known, (0.025, 0.975)).tolist()
    return Interval(low, high, crps(known, truth))


def regression(rows: dict[str, Floats], pair: Asked, z: tuple[str, ...]) -> Interval:
    """The interval of the slope of the cause, given z; its score is that of a normal distribution."""
    design = np.column_stack([rows[pair.cause], np.ones(len(rows[pair.cause])), *(rows[name] for name in z)])
    slopes, *_ = np.linalg.lstsq(design, rows[pair.outcome], rcond=None)
    residual = rows[pair.outcome] - design @ slopes
    variance = residual @ residual / (len(design) - design.shape[1])
    error, slope = float(np.sqrt(variance * np.linalg.inv(design.T @ design)[0, 0])), float(slopes[0])
    away = (pair.truth - slope) / error
    score = error * (away * (2 * norm.cdf(away) - 1) + 2 * norm.pdf(away) - 1 / np.sqrt(np.pi))
    return Interval(slope - 1.96 * error, slope + 1.96 * error, float(score))


def by_graph(pag: ap.PAG, rows: dict[str, Floats], pair: Asked) -> Interval | None:
    """The interval of one graph; 0 to 0 where it says that there is no effect, None where it does not identify it."""
    try:
        found = ap.effect(pag, pair.cause, pair.outcome, selection_bias=False)
    except ap.AnypagError:
        return None
    if found.status == "zero":
        return Interval(0.0, 0.0, abs(pair.truth))
    return None if found.adjustment_set is None else regression(rows, pair, found.adjustment_set)


def over_resamples(graphs: list[CausalGraph], rows: dict[str, Floats], pair: Asked) -> Interval | None:
    """The middle 95 % of the estimates of several graphs, zeros included; None where none identifies the effect."""
    values, slopes = list[float](), dict[tuple[str, ...], float]()
    for causal in graphs:
        x, y = (1 << causal.pag.index(name) for name in (pair.cause, pair.outcome))
        found = verdict(causal, x, y, 0, causal.everyone)
        if found.status == "zero":
            values.append(0.0)
        elif found.z is not None:
            z = causal.names(found.z)
            slopes[z] = slopes[z] if z in slopes else float(np.mean(regression(rows, pair, z)[:2]))
            values.append(slopes[z])
    return of_draws(np.array(values), pair.truth)


def told_of_system(of_one: OneSystem, kind: str, weights_of: str, n: int, seed: int) -> list[dict[str, Any]]:
    """What is said of one system; why it was left out where it gives no answers (a constant column, say)."""
    warnings.simplefilter("ignore")
    try:
        return of_one(kind, weights_of, n, seed)
    except Exception as error:  # one system must not end the others
        return [{"cell": name_of((kind, weights_of, n)), "seed": seed, "left_out": f"{type(error).__name__}: {error}"}]


def one_system(kind: str, weights_of: str, n: int, seed: int) -> list[dict[str, Any]]:
    """What every method says of the effects of one system."""
    dag, hidden, effects, rows = simulated(kind, weights_of, n, seed)
    sampled = ap.learn(rows, method="bayes", selection_bias=False)
    icd = ap.bootstrap(rows, RESAMPLES, method="icd", selection_bias=False)
    assert icd.result.stability is not None
    graphs = [causal_graph_of(pag) for pag in icd.result.stability.graphs if pag.validate()]
    lines, of_all = list[dict[str, Any]](), None
    for pair in asked_of(dag, hidden, effects, seed):
        answer = sampled.effect(pair.cause, pair.outcome)
        table, _ = answer.basis.all_columns(rows)
        assert answer.sampled is not None
        if of_all is None and kind != "discrete":
            of_all = AllDraws.of(answer.sampled.question.classes, table)
        found = answer.sampled.drawn(table, of_all)
        (line,) = found.lines
        everything = tuple(name for name in rows if name not in (pair.cause, pair.outcome))
        said = {
            "draws": of_draws(line.draws, pair.truth),
            "if_causal": of_draws(line.if_causal_draws, pair.truth),
            "bayes graph": by_graph(sampled.pag, rows, pair),
            "icd graph": by_graph(icd.result.pag, rows, pair),
            "icd resamples": over_resamples(graphs, rows, pair),
            "all columns": regression(rows, pair, everything),
            "true set": None if pair.z is None else regression(rows, pair, pair.z),
        }
        lines.append(line_of((kind, weights_of, n), seed, pair, found.status, said))
    return lines


def line_of(
    cell: tuple[str, str, int], seed: int, pair: Asked, status: str, said: dict[str, Interval | None]
) -> dict[str, Any]:
    """What is kept of one question."""
    rounded = {name: interval and [round(end, 6) for end in interval] for name, interval in said.items()}
    about = {"cell": name_of(cell), "seed": seed, "identified": pair.identified, "truth": pair.truth}
    return {**about, "status": status, "said": rounded}


def brief_system(kind: str, weights_of: str, n: int, seed: int) -> list[dict[str, Any]]:
    """What the draws say of the effects of one system, and whether the answer is "zero". It is what `one_system` has,
    without asking each class for a formula: that takes longest, and matters to `if_causal` only.
    """
    dag, hidden, effects, rows = simulated(kind, weights_of, n, seed)
    result = ap.learn(rows, method="bayes", selection_bias=False)
    assert result.posterior is not None and result.posterior.diagrams is not None
    classes = classes_of(result.posterior.diagrams, None, selection=False)
    no_cause = ~np.stack([closed(possible_steps(found.causal.pag.marks)) for found in classes.classes])[classes.of]
    shares = [no_cause[part].mean(axis=0) for part in (classes.counts, ~classes.counts)]
    draws = drawn_between_all(classes, rows)
    lines = []
    for pair in asked_of(dag, hidden, effects, seed):
        i, j = (classes.names.index(name) for name in (pair.cause, pair.outcome))
        status = "zero" if min(part[i, j] for part in shares) >= SURE_OF_NONE else "not zero"
        said = {"draws": of_draws(draws[:, i, j], pair.truth)}
        lines.append(line_of((kind, weights_of, n), seed, pair, status, said))
    return lines


def closed(steps: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which nodes steps lead to, one after the other."""
    for _ in range(len(steps).bit_length()):
        steps = steps | (steps @ steps)
    return steps


def drawn_between_all(classes: SampledClasses, rows: dict[str, Floats]) -> Floats:
    """(m, p, p) draws of the effects between all variables, in the order of their names."""
    everyone = np.arange(len(rows))
    columns = LinearColumns.of(as_table({name: rows[name] for name in classes.names}))
    return columns.drawn(classes.diagrams, classes.place, everyone, everyone)


WARMER = 1.6
ROUNDS = 200
PRICES = {
    "EBIC 1/2, both (today)": ((0.5, 1.0), (0.5, WARMER)),
    "EBIC 1/2, T = 1": ((0.5, 1.0),),
    "EBIC 1/4, both": ((0.25, 1.0), (0.25, WARMER)),
    "EBIC 1/4, T = 1": ((0.25, 1.0),),
    "BIC, both": ((0.0, 1.0), (0.0, WARMER)),
    "BIC, T = 1": ((0.0, 1.0),),
    "today and BIC, T = 1": ((0.5, 1.0), (0.5, WARMER), (0.0, 1.0)),
    "today and BIC, both": ((0.5, 1.0), (0.5, WARMER), (0.0, 1.0), (0.0, WARMER)),
}
"""Pools of chains: gamma of EBIC and temperature of each."""


def sampled_at(state: BayesState, score: GaussianScore, gamma: float) -> dict[tuple[float, float], Marks]:
    """The graphs of two chains at this price that exchange places, from the best graph; columns in their own order."""
    order = state.nodes.order
    landscape = Landscape.of(
        replace(score, gamma=gamma).taken(order), near=state.near, selection=False, ancestral=False
    )
    walkers = [Walker.at(state.best, landscape, seed) for seed in (1000, 1001)]
    graphs: dict[float, list[Marks]] = {1.0: [], WARMER: []}
    for turn in range(ROUNDS):
        walkers = [advance(w, landscape, len(order) ** 2, t) for w, t in zip(walkers, graphs, strict=True)]
        for walker, met in zip(walkers, graphs.values(), strict=True):
            met.append(marks_of(walker.graph))
        walkers = exchanged(walkers, tuple(graphs), turn)
    places = np.argsort(order)
    return {(gamma, t): np.stack(met)[:, places][:, :, places] for t, met in graphs.items()}


def prices_of_system(kind: str, weights_of: str, n: int, seed: int) -> list[dict[str, Any]]:
    """What the draws at each price say of the effects of one system."""
    dag, hidden, true_effects, rows = simulated(kind, weights_of, n, seed)
    *_, (state, _) = ap.iterate(rows, method="bayes", selection_bias=False)
    assert isinstance(state, BayesState)
    score, table = ap.FisherZ(rows).score(), as_table(rows)
    graphs = {key: met for gamma in (0.5, 0.25, 0.0) for key, met in sampled_at(state, score, gamma).items()}
    columns, everyone = LinearColumns.of(table), np.arange(len(rows))
    effects = {
        key: columns.drawn(met, np.arange(ROUNDS) + 1000 * k, everyone, everyone)
        for k, (key, met) in enumerate(graphs.items())
    }
    lines = []
    for pair in asked_of(dag, hidden, true_effects, seed):
        i, j = table.names.index(pair.cause), table.names.index(pair.outcome)
        for price, chains in PRICES.items():
            draws = np.concatenate([effects[key][:, i, j] for key in chains])
            draws = draws[np.isfinite(draws)]
            ends = np.quantile(draws, (0.025, 0.975)).tolist()
            line = {"cell": name_of((kind, weights_of, n)), "price": price, "identified": pair.identified}
            lines.append(line | {"truth": pair.truth, "crps": crps(draws, pair.truth), "ends": ends})
    return lines


def parts_of(lines: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The cells, and those of linear systems with as many rows together."""
    cells = list(dict.fromkeys(line["cell"] for line in lines))
    linear, parts = [cell for cell in cells if cell.startswith(KINDS)], {cell: [cell] for cell in cells}
    for rows in ("500", "2,000", "8,000"):
        parts[f"all linear, {rows}"] = [cell for cell in linear if cell.endswith(f", {rows}")]
    parts["weak, 500"] = [cell for cell in linear if cell.endswith("weak, 500")]
    return {name: joined for name, joined in parts.items() if joined}


def lines_of(lines: list[dict[str, Any]], joined: list[str]) -> list[dict[str, Any]]:
    """The lines of these cells, from the systems that all of them have: else cells with more would count more."""
    systems, first = {name_of(cell): n for cell, n in CELLS.items()}, min(line["seed"] for line in lines)
    end = first + min(systems[name] for name in joined)
    return [line for line in lines if line["cell"] in joined and line["seed"] < end]


def table_of_prices(lines: list[dict[str, Any]]) -> str:
    """One row for each cell and price: covered, median width and CRPS of effects; CRPS and width of pairs without."""
    told = [
        "cell | price | effects | covered | median width | CRPS | without an effect: width, CRPS",
        "---|" * 6 + "---",
    ]
    for name, joined in parts_of(lines).items():
        for price in PRICES:
            found = [line for line in lines if line["cell"] in joined and line["price"] == price]
            some, none = ([line for line in found if line["identified"] == wanted] for wanted in (True, False))
            held = np.mean(
                [low - 1e-12 <= line["truth"] <= high + 1e-12 for line in some for low, high in [line["ends"]]]
            )
            width, wide = (np.median([np.ptp(line["ends"]) for line in part]) for part in (some, none))
            score, of_none = (np.mean([line["crps"] for line in part]) for part in (some, none))
            told.append(
                f"{name} | {price} | {len(some)} | {held:.3f} | {width:.2f} | {score:.4f} | {wide:.2f}, {of_none:.4f}"
            )
    return "\n".join(told)


METHODS = {
    "draws": "all draws",
    "if_causal": "`if_causal`",
    "bayes graph": "one bayes graph",
    "icd graph": "one ICD graph",
    "icd resamples": f"ICD, {RESAMPLES} resamples",
    "all columns": "all columns adjusted",
    "true set": "true set",
}
"""What is compared, and its heading."""


def table(lines: list[dict[str, Any]]) -> str:
    """One row for each cell: of each method covered, median width and CRPS, and how often "zero" is right."""
    methods = {key: told for key, told in METHODS.items() if any(key in line["said"] for line in lines)}
    told = [
        f'| cell, rows | effects | {" | ".join(methods.values())} | "zero" said, right |',
        "|---" * (len(methods) + 3) + "|",
    ]
    for name, joined in parts_of(lines).items():
        of_cell = lines_of(lines, joined)
        identified = [line for line in of_cell if line["identified"]]
        cells = [cell_of(identified, method) for method in methods]
        zero = [line["truth"] == 0 for line in of_cell if line["status"] == "zero"]
        right = f"{np.mean(zero):.3f}" if zero else "–"
        told.append(f"| {name} | {len(identified)} | {' | '.join(cells)} | {len(zero)}, {right} |")
    return "\n".join(told)


def cell_of(identified: list[dict[str, Any]], method: str) -> str:
    """Covered, median width and CRPS of a method; before them how many it answered, where it did not answer all."""
    said = [(line["truth"], line["said"][method]) for line in identified if line["said"].get(method) is not None]
    if not said:
        return "–"
    covered = np.mean([low - 1e-6 <= truth <= high + 1e-6 for truth, (low, high, _) in said])
    width, score = np.median([high - low for _, (low, high, _) in said]), np.mean([score for _, (*_, score) in said])
    answered = "" if len(said) == len(identified) else f"{len(said)}: "
    share = f"**{covered:.3f}**" if method == "draws" else f"{covered:.3f}"
    return f"{answered}{share}/{width:.2f}/{score:.3f}"


def reached(lines: list[dict[str, Any]]) -> str:
    """What was asked for, and what came out, with standard errors by system."""
    told = ["| asked | at least | found (standard error) | |", "|---|---|---|---|"]
    parts = parts_of(lines)
    for name, least in ASKED:
        of_part = lines_of(lines, parts[name]) if name in parts else []
        hits = [(line["seed"], is_held(line)) for line in of_part if line["identified"]]
        told += [f"| covered, {name} rows{so_far(name, parts)} | {least} | {told_share(hits, least)} |"] if hits else []
    zeros = [(line["seed"], line["truth"] == 0) for line in lines if line["status"] == "zero"]
    told += [f'| "zero" is right, all cells | {ASKED_OF_ZERO} | {told_share(zeros, ASKED_OF_ZERO)} |'] if zeros else []
    return "\n".join(told)


def so_far(name: str, parts: dict[str, list[str]]) -> str:
    """Of how many cells a share is, where some of them were not run."""
    wanted = len(parts_of([{"cell": name_of(cell)} for cell in CELLS])[name])
    return "" if len(parts[name]) == wanted else f" ({len(parts[name])} of {wanted} cells: {'; '.join(parts[name])})"


def is_held(line: dict[str, Any]) -> bool:
    low, high, _ = line["said"]["draws"] or (np.nan,) * 3
    return bool(low - 1e-6 <= line["truth"] <= high + 1e-6)


def told_share(hits: list[tuple[int, bool]], least: float) -> str:
    """A share, its standard error with systems as clusters, and whether it reaches what was asked."""
    share = float(np.mean([hit for _, hit in hits]))
    by_system: dict[int, float] = {}
    for seed, hit in hits:
        by_system[seed] = by_system.get(seed, 0.0) + hit - share
    error = float(np.sqrt(sum(moved**2 for moved in by_system.values()))) / len(hits)
    return f"{share:.3f} ({error:.3f}) | {'reached' if share >= least else '**missed**'}"


def page(found: list[dict[str, Any]]) -> str:
    """The part of `docs/effects.md` that this script makes."""
    lines = [line for line in found if "left_out" not in line]
    first = min(line["seed"] for line in found)
    told = (
        f"Systems in a cell: {max(CELLS.values())} where weak effects have 500 rows, {min(CELLS.values())} with 8,000 "
        f"rows, else {CELLS['rand', 'strong', 500]}; seeds from {first} on.{left_out_told(found)}"
    )
    return f"{MARK}{told}\n\n{reached(lines)}\n{END}"


def left_out_told(found: list[dict[str, Any]]) -> str:
    """Which systems gave no answers, and which cells were not run."""
    out = [f"seed {line['seed']} of {line['cell']} ({line['left_out']})" for line in found if "left_out" in line]
    run = {line["cell"] for line in found}
    missing = [name for name in map(name_of, CELLS) if name not in run]
    told = f" Left out: {'; '.join(out)}" if out else ""
    return told + (f" Not run: {'; '.join(missing)}." if missing else "")


def name_of(cell: tuple[str, str, int]) -> str:
    return f"{cell[0]}, {cell[1]}, {cell[2]:,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, help="systems in each cell, if not those of the page")
    parser.add_argument("--first", type=int, help="the first seed, for a look at systems that are not reported")
    parser.add_argument("--out", type=Path, help="a file for all answers, as JSON")
    parser.add_argument("--made", type=Path, help="such a file in place of a run")
    parser.add_argument("--write", action="store_true", help="put the tables into their pages")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--cells", default="", help="cells whose name has this in it, such as 'weak, 500'")
    parser.add_argument("--seconds", type=float, default=np.inf, help="begin no cell that would end later than this")
    parser.add_argument("--brief", action="store_true", help='the draws and "zero" only')
    parser.add_argument("--prices", action="store_true", help="compare prices of an edge while sampling")
    chosen = parser.parse_args()
    lines = answers(chosen) if chosen.made is None else json.loads(chosen.made.read_text())
    if chosen.prices:
        print(table_of_prices(lines))
        return
    cells = f"{MARK}{table([line for line in lines if 'left_out' not in line])}\n{END}"
    for made, path in ((page(lines), PAGE), (cells, WHOLE)):
        print(made)
        if chosen.write:
            text = path.read_text(encoding="utf-8")
            before, after = text.partition(MARK)[0], text.partition(END)[2]
            path.write_text(before + made + after, encoding="utf-8")


def answers(chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """What every method says, cell by cell; what is known so far is written after every cell."""
    cells = tuple(product(KINDS, WEIGHTS, ROWS[:2])) if chosen.prices else tuple(CELLS)
    of_one, first = (brief_system if chosen.brief else one_system), FIRST_SEED
    of_one, first = (prices_of_system, FIRST_SEED_OF_PRICES) if chosen.prices else (of_one, first)
    first = first if chosen.first is None else chosen.first
    began, longest, lines = time.perf_counter(), 0.0, list[dict[str, Any]]()
    for cell in (cell for cell in cells if chosen.cells in name_of(cell)):
        start = time.perf_counter()
        if start - began + longest > chosen.seconds:
            break
        seeds = range(first, first + (chosen.systems or CELLS[cell]))
        found = Parallel(n_jobs=chosen.jobs)(delayed(told_of_system)(of_one, *cell, seed) for seed in seeds)
        lines += [line for part in found for line in part]
        longest = max(longest, time.perf_counter() - start)
        print(f"{name_of(cell)}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
        if chosen.out is not None:
            chosen.out.write_text(json.dumps(lines))
    return lines


if __name__ == "__main__":
    main()
