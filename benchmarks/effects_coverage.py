"""Do the intervals of effects hold the truth? Draws over sampled graphs beside answers that take one graph as right.

    python benchmarks/effects_coverage.py --systems 200 --out results.json
    python benchmarks/effects_coverage.py --systems 200 --prices      # what an edge should cost while sampling

Random linear systems with 15 measured variables, in cells: "rand" (17 variables, average degree 2, two of them hidden)
and "conf" (15 measured and 6 hidden common causes of random pairs), strong weights (0.3 to 1) and weak ones (0.1 to
0.5), 500, 2,000 and 8,000 rows; "mixed" (as "rand", variables without causes have the levels 0 and 1) and "discrete"
(10 variables with two levels, random tables, hidden ones among them) with 500 and 2,000 rows. Asked are all effects
that the true PAG identifies by adjustment, and for "no effect" as many pairs without an effect. The settings stood
before the run; seeds are 2000, 2001, ..., which no choice was made on.

Compared: `interval` (all draws, zeros included), `if_causal`, the single graph of "bayes", the graph of ICD, the graphs
of ICD in 20 resamples (the middle 95 % of their estimates), adjusting for all other columns, and the true adjustment
set. A false "no effect" counts as a miss, with a width of 0.

`--prices` compares prices of an edge in the graphs that effects are drawn from, on other systems (seeds 5000, 5001,
...) with 500 and 2,000 rows. The rule stood before the run: of the prices that cover at least 0.92 with 500 rows, 0.94
with 2,000 and 0.86 of the weak effects with 500, the one with the least CRPS over all pairs; if none does, the one
whose largest shortfall is least.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

import anypag as ap
from anypag.data.table import as_table
from anypag.effects.estimate.draws import LinearColumns, drawn_effects
from anypag.effects.identify.adjustment import between, canonical
from anypag.effects.identify.causal_graph import CausalGraph, causal_graph_of
from anypag.effects.identify.verdict import verdict
from anypag.effects.sampled import AllDraws
from anypag.graphs.base import Marks
from anypag.graphs.dag import DAG
from anypag.scores.gaussian import GaussianScore
from anypag.search.by_scores.bayes import BayesState, exchanged
from anypag.search.by_scores.chain import Landscape, Walker, advance, marks_of
from anypag.simulate.gaussian import random_weights

Floats = npt.NDArray[np.float64]

FIRST_SEED = 2000
FIRST_SEED_OF_PRICES = 5000
KINDS = ("rand", "conf")
WEIGHTS = {"strong": (0.3, 1.0), "weak": (0.1, 0.5)}
ROWS = (500, 2_000, 8_000)
CELLS = (*product(KINDS, WEIGHTS, ROWS), *product(("mixed", "discrete"), ("strong",), ROWS[:2]))
RESAMPLES = 20


class Asked(NamedTuple):
    """A pair with its true effect, and the true adjustment set where there is one."""

    cause: str
    outcome: str
    truth: float
    z: tuple[str, ...] | None


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
    """All effects that the true PAG identifies by adjustment; as many pairs without an effect."""
    pag = ap.true_pag(dag, hidden)
    causal = causal_graph_of(pag)
    identified, none = list[Asked](), list[Asked]()
    for cause, outcome in permutations(pag.names, 2):
        way = between(causal, 1 << pag.index(cause), 1 << pag.index(outcome))
        truth = float(effects[dag.index(cause), dag.index(outcome)])
        z = canonical(causal, way, causal.everyone) if way.first else None
        if z is not None:
            identified.append(Asked(cause, outcome, truth, causal.names(z)))
        elif truth == 0:
            none.append(Asked(cause, outcome, 0.0, None))
    chosen = np.random.default_rng(seed).permutation(len(none))[: len(identified)]
    yield from identified
    yield from (none[k] for k in chosen)


def crps(draws: Floats, truth: float) -> float:
    """The continuous ranked probability score of draws: smaller is better."""
    ordered, n = np.sort(draws), len(draws)
    return float(np.abs(ordered - truth).mean() - (2 * np.arange(1, n + 1) - n - 1) @ ordered / n**2)


def regression(rows: dict[str, Floats], pair: Asked, z: tuple[str, ...]) -> tuple[float, float]:
    """The 95 % interval of the slope of the cause, given z."""
    design = np.column_stack([rows[pair.cause], np.ones(len(rows[pair.cause])), *(rows[name] for name in z)])
    slopes, *_ = np.linalg.lstsq(design, rows[pair.outcome], rcond=None)
    residual = rows[pair.outcome] - design @ slopes
    variance = residual @ residual / (len(design) - design.shape[1])
    error = float(np.sqrt(variance * np.linalg.inv(design.T @ design)[0, 0]))
    return float(slopes[0]) - 1.96 * error, float(slopes[0]) + 1.96 * error


def by_graph(pag: ap.PAG, rows: dict[str, Floats], pair: Asked) -> tuple[float, float] | None:
    """The interval of one graph; (0, 0) where it says that there is no effect, None where it does not identify it."""
    try:
        found = ap.effect(pag, pair.cause, pair.outcome, selection_bias=False)
    except ap.AnypagError:
        return None
    if found.status == "zero":
        return 0.0, 0.0
    return None if found.adjustment_set is None else regression(rows, pair, found.adjustment_set)


def over_resamples(graphs: list[CausalGraph], rows: dict[str, Floats], pair: Asked) -> tuple[float, float] | None:
    """The middle 95 % of the estimates of several graphs, zeros included; None where none identifies the effect."""
    values, slopes = list[float](), dict[tuple[str, ...], float]()
    for causal in graphs:
        x, y = (1 << causal.pag.index(name) for name in (pair.cause, pair.outcome))
        found = verdict(causal, x, y, 0, causal.everyone)
        if found.status == "zero":
            values.append(0.0)
        elif found.z is not None:
            z = causal.names(found.z)
            slopes[z] = slopes[z] if z in slopes else float(np.mean(regression(rows, pair, z)))
            values.append(slopes[z])
    return tuple(np.quantile(values, (0.025, 0.975)).tolist()) if values else None


def one_system(kind: str, weights_of: str, n: int, seed: int) -> list[dict[str, Any]]:
    """What every method says of the effects of one system."""
    warnings.simplefilter("ignore")
    dag, hidden, effects, rows = simulated(kind, weights_of, n, seed)
    sampled = ap.learn(rows, method="bayes", selection_bias=False)
    icd = ap.bootstrap(rows, RESAMPLES, method="icd", selection_bias=False)
    assert icd.result.stability is not None
    graphs = [causal_graph_of(pag) for pag in icd.result.stability.graphs if pag.validate()]
    lines, of_all = list[dict[str, Any]](), None
    for pair in asked_of(dag, hidden, effects, seed):
        answer = sampled.effect(pair.cause, pair.outcome)
        table, _ = answer.rows_of_draws(rows)
        assert answer.sampled is not None
        if of_all is None and kind != "discrete":
            of_all = AllDraws.of(answer.sampled.question.classes, table)
        found = answer.sampled.drawn(table, of_all)
        (line,) = found.lines
        everything = tuple(name for name in rows if name not in (pair.cause, pair.outcome))
        intervals = {
            "draws": found.interval,
            "if_causal": None if line.if_causal is None else line.if_causal[1:],
            "bayes graph": by_graph(sampled.pag, rows, pair),
            "icd graph": by_graph(icd.result.pag, rows, pair),
            "icd resamples": over_resamples(graphs, rows, pair),
            "all columns": regression(rows, pair, everything),
            "true set": None if pair.z is None else regression(rows, pair, pair.z),
        }
        lines.append(
            {
                "cell": f"{kind}, {weights_of}, {n:,}",
                "identified": pair.z is not None,
                "truth": pair.truth,
                "p_zero": found.p_zero,
                "status": found.status,
                "crps": crps(line.draws[np.isfinite(line.draws)], pair.truth),
                "intervals": intervals,
            }
        )
    return lines


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
    score, table = GaussianScore.of(rows), as_table(rows)
    graphs = {key: met for gamma in (0.5, 0.25, 0.0) for key, met in sampled_at(state, score, gamma).items()}
    columns, everyone = LinearColumns.of(table), np.arange(len(rows))
    effects = {
        key: drawn_effects(met, np.arange(ROUNDS) + 1000 * k, columns, everyone, everyone)
        for k, (key, met) in enumerate(graphs.items())
    }
    lines = []
    for pair in asked_of(dag, hidden, true_effects, seed):
        i, j = table.names.index(pair.cause), table.names.index(pair.outcome)
        for price, chains in PRICES.items():
            draws = np.concatenate([effects[key][:, i, j] for key in chains])
            draws = draws[np.isfinite(draws)]
            ends = np.quantile(draws, (0.025, 0.975)).tolist()
            line = {"cell": f"{kind}, {weights_of}, {n:,}", "price": price, "identified": pair.z is not None}
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


def table(lines: list[dict[str, Any]]) -> str:
    """One row for each cell and method: answered, covered, median width; and how often "zero" is right."""
    told = ["cell | method | effects | answered | covered | median width", "---|---|---|---|---|---"]
    for cell, joined in parts_of(lines).items():
        of_cell = [line for line in lines if line["cell"] in joined]
        identified = [line for line in of_cell if line["identified"]]
        for method in identified[0]["intervals"] if identified else ():
            found = [(line["truth"], line["intervals"][method]) for line in identified]
            answered = [(truth, ends) for truth, ends in found if ends is not None]
            covered = np.mean([low - 1e-12 <= truth <= high + 1e-12 for truth, (low, high) in answered])
            width = np.median([high - low for _, (low, high) in answered])
            told.append(f"{cell} | {method} | {len(found)} | {len(answered)} | {covered:.3f} | {width:.2f}")
        zero = [line["truth"] == 0 for line in of_cell if line["status"] == "zero"]
        score = np.mean([line["crps"] for line in identified])
        told.append(f'{cell} | "zero" is right | {len(of_cell)} | {len(zero)} | {np.mean(zero):.3f} | CRPS {score:.3f}')
    return "\n".join(told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=200, help="systems in each cell")
    parser.add_argument("--out", type=Path, help="a file for all answers, as JSON")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--rows", type=int, help="cells with that many rows only")
    parser.add_argument("--prices", action="store_true", help="compare prices of an edge while sampling")
    chosen = parser.parse_args()
    first, of_one, cells, told = FIRST_SEED, one_system, CELLS, table
    if chosen.prices:
        first, of_one, cells, told = (
            FIRST_SEED_OF_PRICES,
            prices_of_system,
            tuple(product(KINDS, WEIGHTS, ROWS[:2])),
            table_of_prices,
        )
    cells = tuple(cell for cell in cells if chosen.rows in (None, cell[2]))
    found = Parallel(n_jobs=chosen.jobs)(
        delayed(of_one)(*cell, seed) for seed, cell in product(range(first, first + chosen.systems), cells)
    )
    lines = [line for part in found for line in part]
    print(f"{chosen.systems} systems in each cell\n{told(lines)}")
    if chosen.out is not None:
        chosen.out.write_text(json.dumps(lines))


if __name__ == "__main__":
    main()
