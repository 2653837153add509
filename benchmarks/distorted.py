"""How often the audit calls numbers distorted, and the errors with and without normal scores.

    OMP_NUM_THREADS=1 python benchmarks/distorted.py --learn 16 --audit 60

Systems of 15 nodes (two neighbours, half of the possible confounders hidden), 1,000 rows. Linear systems have weights
of ±U(0.5, 2) or, if weak, ±U(0.2, 0.8), and noise of one kind; functions act on the standardised columns at the end.
Counts are those of `others.py`, bent effects those of `curves.py`. Errors are those of the default, in the mean.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

import anypag as ap
from anypag.data.audit import audit
from curves import SHAPES, table_of
from others import _poisson

Array = npt.NDArray[np.float64]
Made = tuple[ap.PAG | None, dict[str, Array]]
ROWS, NODES, FIRST = 1000, 15, 3000
NOISES: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "Gaussian": lambda rng, shape: rng.normal(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "uniform": lambda rng, shape: rng.uniform(size=shape) * np.sqrt(12),
}
FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "exp(1.5 x)": lambda x: np.exp(1.5 * x),
    "cube": lambda x: x**3,
    "root": lambda x: np.sign(x) * np.abs(x) ** 0.4,
    "exp of every other column": lambda x: np.where(np.arange(x.shape[1]) % 2, np.exp(x), x),
}


def linear(seed: int, noise: str = "Gaussian", *, weak: bool = False, then: str | None = None) -> Made:
    system, rng = ap.simulate.random_system(NODES, 2.0, seed=seed), np.random.default_rng([seed, 1])
    dag, values = system.dag, NOISES[noise](rng, (NODES, ROWS))
    for j in (dag.index(name) for name in dag.topological_order()):
        for i in np.flatnonzero(dag.adjacency[:, j]):
            values[j] += rng.uniform(*((0.2, 0.8) if weak else (0.5, 2.0))) * rng.choice((-1, 1)) * values[i]
    values = values[[dag.index(name) for name in system.observed]].T
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    values = values if then is None else FUNCTIONS[then](values)
    return system.true_pag(), dict(zip(system.observed, values.T, strict=True))


def counts(seed: int) -> Made:
    system = ap.simulate.random_system(NODES, 2.0, seed=seed)
    values = _poisson(system.dag.adjacency, np.random.default_rng([seed, 1]))[:ROWS]
    table = {name: values[:, system.dag.index(name)] for name in system.observed}
    kept = {name: column for name, column in table.items() if len(np.unique(column)) > 1}
    return ap.true_pag(system.dag, latent=[name for name in system.dag.names if name not in kept]), kept


def bent(seed: int, shape: str) -> Made:
    system = ap.simulate.random_system(NODES, 2.0, seed=seed)
    return system.true_pag(), table_of(system, SHAPES[shape], ROWS, seed)


KINDS: dict[str, Callable[[int], Made]] = {
    **{f"{noise} noise": partial(linear, noise=noise) for noise in NOISES},
    **{f"{noise} noise, weak": partial(linear, noise=noise, weak=True) for noise in NOISES},
    **{then: partial(linear, then=then) for then in FUNCTIONS},
    "exp, weak": partial(linear, weak=True, then="exp"),
    "counts": counts,
    **{f"effects {shape}": partial(bent, shape=shape) for shape in list(SHAPES)[1:]},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learn", type=int, default=16)
    parser.add_argument("--audit", type=int, default=60)
    choices = parser.parse_args()
    warnings.simplefilter("ignore", ap.AnypagWarning)
    print(
        "| kind | called distorted, even / odd seeds | errors, even / odd seeds | with normal scores |",
        "|---|---|---|---|",
        sep="\n",
    )
    for kind, make in KINDS.items():
        said: tuple[list[bool], ...] = ([], [])
        errors: tuple[list[list[int]], ...] = ([], [])
        for seed in range(FIRST, FIRST + max(choices.audit, choices.learn)):
            truth, table = make(seed)
            if seed < FIRST + choices.audit:
                said[seed % 2].append(any(one.problem == "distorted" for one in audit(table).findings))
            if seed < FIRST + choices.learn:
                graphs = (ap.learn(table), ap.learn(table, transform="normal-scores"))
                errors[seed % 2].append([ap.metrics.compare(graph.pag, truth).errors for graph in graphs])
        told = " / ".join(f"{sum(part)} of {len(part)}" for part in said)
        even, odd = (np.mean(part, axis=0) for part in errors)
        print(f"| {kind} | {told} | {even[0]:.1f} / {odd[0]:.1f} | {even[1]:.1f} / {odd[1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
