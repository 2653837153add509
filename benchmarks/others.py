"""Tables with known truth, made by others or with columns of several kinds: for `grid.py learn`, which measures errors
and honesty.

    pip install -e '.[bench]'
    python benchmarks/others.py OUT [--seeds 20 21] [--only GLOB]
    python benchmarks/others.py OUT --seeds 0 1 2 3 --only '*kind-*'

- Public Bayesian networks that pgmpy ships, 1,000 and 5,000 rows, nothing or an eighth of the nodes hidden.
- Linear and curved systems of gcastle and of sempler: 20 nodes, 1,000 rows, nothing or two nodes hidden.
- Kinds of columns, 1,000 and 5,000 rows. Of `anypag.simulate` (15 nodes, half of the possible confounders hidden):
  kind-mixed (linear Gaussian, every other column cut into 2 to 4 levels), kind-ordinal (all cut into 3 to 7) and
  kind-counts (Poisson, the log of the mean linear in the standardised log(1 + cause)). Cut columns are called q...;
  their causes and effects are the numbers before the cut. Of others (20 nodes, nothing or two hidden): kind-gcastle
  (every other column 0 or 1 by a logistic line, the others linear Gaussian) and kind-dagma (Poisson with small means;
  needs `pip install --no-deps dagma igraph`).

Writes NAME.csv and NAME.json with the DAG, the hidden nodes, and the columns of one value, which count as hidden.
Nodes are hidden that have at least two children. Seeds 10 and 11 of the networks served choices.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

NETWORKS = ("alarm", "mildew", "hailfinder", "survey", "child", "insurance", "water", "barley", "hepar2", "win95pts")
ROWS = (1000, 5000)
NODES, EDGES = 20, 40
LEVELS = {"mixed": (2, 4), "ordinal": (3, 7)}
STRAIGHT = ("gauss", "exp", "gumbel", "uniform")
CURVED = ("mlp", "quadratic", "mim")


class System(NamedTuple):
    """Rows of a DAG; `values` (rows, nodes) has a column for every node."""

    name: str
    kind: str
    nodes: list[str]
    edges: list[list[str]]
    values: Array
    hidden: list[str] | None = None
    """The hidden nodes, if the system says which."""


def networks(name: str, seed: int) -> Iterator[System]:
    """The tables of one network; smaller ones are the first rows of the largest."""
    from pgmpy.utils import get_example_model

    model = get_example_model(name)
    nodes = [str(node) for node in model.nodes()]
    drawn = model.simulate(max(ROWS), seed=5000 + seed, show_progress=False)[nodes]
    codes = np.column_stack([drawn[node].astype("category").cat.codes.to_numpy() for node in nodes])
    edges = [[str(a), str(b)] for a, b in model.edges()]
    for rows in ROWS:
        yield System(f"{name}_n{rows}_s{seed}", "discrete", nodes, edges, codes[:rows])


def of_gcastle(kind: str, seed: int) -> System:
    """A system of gcastle; noise of one kind where effects are straight, effects of one kind where they are not."""
    from castle.datasets import DAG, IIDSimulation

    weights = DAG.erdos_renyi(NODES, EDGES, weight_range=(0.5, 2.0), seed=seed)
    np.random.seed(seed)  # noqa: NPY002 - the simulator draws from the global state
    method = "linear" if kind in STRAIGHT else "nonlinear"
    return _named(f"sim-{kind}_s{seed}", weights, IIDSimulation(weights, 1000, method=method, sem_type=kind).X)


def of_sempler(seed: int) -> System:
    """A linear Gaussian system of sempler, whose variances differ from node to node."""
    import sempler
    import sempler.generators

    weights = sempler.generators.dag_avg_deg(NODES, 2 * EDGES / NODES, 0.5, 2.0, random_state=seed)
    model = sempler.LGANM(weights, (0, 0), (0.5, 2), random_state=seed)
    return _named(f"sim-sempler_s{seed}", weights, model.sample(1000, random_state=seed))


def _named(name: str, weights: Array, values: Array) -> System:
    nodes = [f"x{i}" for i in range(len(weights))]
    edges = [[nodes[i], nodes[j]] for i, j in np.argwhere(weights != 0).tolist()]
    return System(name, "continuous", nodes, edges, values)


def of_anypag(kind: str, seed: int) -> Iterator[System]:
    """A system with columns of some kind; smaller tables are the first rows of the largest."""
    import anypag as ap

    system, random = ap.simulate.random_system(15, 2.0, seed=seed), np.random.default_rng([seed, 7])
    dag = system.dag
    names = [name if kind == "counts" or (kind == "mixed" and i % 2) else f"q{i}" for i, name in enumerate(dag.names)]
    if kind == "counts":
        values = _poisson(dag.adjacency, random)
    else:
        values = np.array(ap.simulate.linear_gaussian(dag, max(ROWS), seed=seed).rows)
        for i, name in enumerate(names):
            if name[0] == "q":
                values[:, i] = _cut(values[:, i], int(random.integers(*LEVELS[kind], endpoint=True)), random)
    edges = [[names[i], names[j]] for i, j in np.argwhere(dag.adjacency).tolist()]
    hidden = [names[dag.index(name)] for name in system.latent]
    for rows in ROWS:
        yield System(f"kind-{kind}_n{rows}_s{seed}", kind, names, edges, values[:rows], hidden)


def _cut(column: Array, levels: int, random: np.random.Generator) -> Array:
    """The column as levels 0, 1, ... with random shares, none of them below 0.05."""
    shares = 0.05 + (1 - 0.05 * levels) * random.dirichlet(np.full(levels, 3.0))
    return np.digitize(column, np.quantile(column, np.cumsum(shares)[:-1]))


def _poisson(arrows: Array, random: np.random.Generator) -> Array:
    """Counts with means of about 1 to 12; a cause changes the log of the mean by ±U(0.3, 0.8) a standard deviation."""
    values = np.zeros((max(ROWS), len(arrows)))
    for j in range(len(arrows)):  # in causal order
        log_mean = np.full(len(values), random.uniform(0.0, 2.5))
        for i in np.flatnonzero(arrows[:, j]):
            cause = np.log1p(values[:, i])
            log_mean += random.uniform(0.3, 0.8) * random.choice((-1, 1)) * (cause - cause.mean()) / cause.std()
        values[:, j] = random.poisson(np.exp(np.minimum(log_mean, 7.0)))
    return values


def of_others(kind: str, seed: int) -> Iterator[System]:
    """Columns of several kinds from simulators of others; smaller tables are the first rows of the largest."""
    from castle.datasets import DAG, IIDSimulation

    spread = (0.5, 2.0 if kind == "gcastle" else 1.0)
    weights = DAG.erdos_renyi(NODES, EDGES, weight_range=spread, seed=seed)
    np.random.seed(seed)  # noqa: NPY002 - the simulators draw from the global state
    if kind == "gcastle":
        values = IIDSimulation(weights, max(ROWS), sem_type=["gauss", "logistic"] * (NODES // 2)).X
    else:  # effects that raise a mean are weaker, or counts explode
        from dagma.utils import simulate_linear_sem

        values = simulate_linear_sem(np.where(weights > 0, weights / 4, weights), max(ROWS), "poisson")
    for rows in ROWS:
        yield _named(f"kind-{kind}_n{rows}_s{seed}", weights, values[:rows])._replace(kind=kind)


def write(system: System, hide: bool, out: Path) -> None:
    """The table and its truth."""
    name, kind, nodes, edges, values, given = system
    several = sorted(node for node in nodes if sum(edge[0] == node for edge in edges) >= 2)
    wanted = 2 if name.startswith(("sim-", "kind-")) else max(1, round(len(nodes) / 8))
    rng = np.random.default_rng(900 + int(name.rsplit("_s", 1)[1]))
    hidden = sorted(rng.choice(several, min(wanted, len(several)), replace=False).tolist()) if hide else []
    hidden = hidden if given is None else given
    constant = [node for node, column in zip(nodes, values.T, strict=True) if len(np.unique(column)) < 2]
    keep = [node for node in nodes if node not in hidden and node not in constant]
    stem = out / (f"{name}_h{int(hide)}" if given is None else name)
    columns = [nodes.index(node) for node in keep]
    fmt = "%d" if kind == "discrete" else "%.12g"
    np.savetxt(stem.with_suffix(".csv"), values[:, columns], fmt, delimiter=",", header=",".join(keep), comments="")
    about = {"kind": kind, "nodes": nodes, "edges": edges, "hidden": hidden, "constant": constant}
    stem.with_suffix(".json").write_text(json.dumps(about), encoding="utf-8")


def systems(seeds: list[int], only: str) -> Iterator[System]:
    """All systems whose name fits the pattern."""
    for seed in seeds:
        for name in NETWORKS:
            if fnmatch.fnmatch(name, only):
                yield from networks(name, seed)
        for kind in (*STRAIGHT, *CURVED):
            if fnmatch.fnmatch(f"sim-{kind}", only):
                yield of_gcastle(kind, seed)
        if fnmatch.fnmatch("sim-sempler", only):
            yield of_sempler(seed)
        for kind in ("mixed", "ordinal", "counts", "gcastle", "dagma"):
            if fnmatch.fnmatch(f"kind-{kind}", only):
                yield from of_others(kind, seed) if kind in ("gcastle", "dagma") else of_anypag(kind, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[20, 21])
    parser.add_argument("--only", default="*", help="names of networks and simulators, sim-KIND, kind-KIND")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    options.out.mkdir(parents=True, exist_ok=True)
    for system in systems(options.seeds, options.only):
        for hide in (False, True) if system.hidden is None else (True,):
            write(system, hide, options.out)


if __name__ == "__main__":
    main()
