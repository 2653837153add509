"""Do the intervals of effects hold the truth? Draws over sampled graphs beside answers that take one graph as right.

    python benchmarks/effects_coverage.py --systems 200 --out results.json

Random linear systems with 15 measured variables, in cells: "rand" (17 variables, average degree 2, two of them hidden)
and "conf" (15 measured and 6 hidden common causes of random pairs), strong weights (0.3 to 1) and weak ones (0.1 to
0.5), 500, 2,000 and 8,000 rows. Asked are all effects that the true PAG identifies by adjustment, and for "no effect"
as many pairs without an effect. The settings stood before the first run; seeds are 1000, 1001, ...

Compared: `interval` (all draws, zeros included), `if_causal`, the single graph of "bayes", the graph of ICD, adjusting
for all other columns, and the true adjustment set. A false "no effect" counts as a miss, with a width of 0.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import permutations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

import anypag as ap
from anypag.effects.identify.adjustment import between, canonical
from anypag.effects.identify.causal_graph import causal_graph_of
from anypag.graphs.dag import DAG
from anypag.simulate.gaussian import random_weights

Floats = npt.NDArray[np.float64]

FIRST_SEED = 1000
KINDS = ("rand", "conf")
WEIGHTS = {"strong": (0.3, 1.0), "weak": (0.1, 0.5)}
ROWS = (500, 2_000, 8_000)


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


def asked_of(dag: DAG, hidden: tuple[str, ...], weights: Floats, seed: int) -> Iterator[Asked]:
    """All effects that the true PAG identifies by adjustment; as many pairs without an effect."""
    pag = ap.true_pag(dag, hidden)
    causal, effects = causal_graph_of(pag), np.linalg.inv(np.eye(len(dag)) - weights)
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


def one_system(kind: str, weights_of: str, n: int, seed: int) -> list[dict[str, Any]]:
    """What every method says of the effects of one system."""
    dag, hidden = system(kind, seed)
    low, high = WEIGHTS[weights_of]
    weights = random_weights(dag, low=low, high=high, seed=seed)
    sample = ap.simulate.linear_gaussian(dag, n, latent=hidden, weights=weights, seed=seed + 7)
    rows = {name: np.asarray(sample[name]) for name in sample}
    sampled = ap.learn(rows, method="bayes", selection_bias=False)
    icd = ap.learn(rows, method="icd", selection_bias=False)
    lines = []
    for pair in asked_of(dag, hidden, np.asarray(weights), seed):
        found = sampled.effect(pair.cause, pair.outcome, data=rows)
        assert found.draws is not None
        everything = tuple(name for name in rows if name not in (pair.cause, pair.outcome))
        intervals = {
            "draws": found.interval,
            "if_causal": None if found.if_causal is None else found.if_causal[1:],
            "bayes graph": by_graph(sampled.pag, rows, pair),
            "icd graph": by_graph(icd.pag, rows, pair),
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
                "crps": crps(found.draws[np.isfinite(found.draws)], pair.truth),
                "intervals": intervals,
            }
        )
    return lines


def table(lines: list[dict[str, Any]]) -> str:
    """One row for each cell and method: answered, covered, median width; and how often "zero" is right."""
    told = ["cell | method | effects | answered | covered | median width", "---|---|---|---|---|---"]
    for cell in dict.fromkeys(line["cell"] for line in lines):
        of_cell = [line for line in lines if line["cell"] == cell]
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
    chosen = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + chosen.systems)
    cells = product(seeds, KINDS, WEIGHTS, ROWS)
    found = Parallel(n_jobs=chosen.jobs)(
        delayed(one_system)(kind, weights, n, seed) for seed, kind, weights, n in cells
    )
    lines = [line for part in found for line in part]
    print(f"{chosen.systems} systems in each cell\n{table(lines)}")
    if chosen.out is not None:
        chosen.out.write_text(json.dumps(lines))


if __name__ == "__main__":
    main()
