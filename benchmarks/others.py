"""Tables with known truth that others made: for `grid.py learn`, which measures errors and honesty.

    pip install -e '.[bench]'
    python benchmarks/others.py OUT [--seeds 20 21] [--only GLOB]

- Public Bayesian networks that pgmpy ships, 1,000 and 5,000 rows, nothing or an eighth of the nodes hidden.
- Linear and curved systems of gcastle and of sempler: 20 nodes, 1,000 rows, nothing or two nodes hidden.

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
STRAIGHT = ("gauss", "exp", "gumbel", "uniform")
CURVED = ("mlp", "quadratic", "mim")


class System(NamedTuple):
    """Rows of a DAG; `values` (rows, nodes) has a column for every node."""

    name: str
    kind: str
    nodes: list[str]
    edges: list[list[str]]
    values: Array


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


def write(system: System, hide: bool, out: Path) -> None:
    """The table and its truth."""
    name, kind, nodes, edges, values = system
    several = sorted(node for node in nodes if sum(edge[0] == node for edge in edges) >= 2)
    wanted = 2 if name.startswith("sim-") else max(1, round(len(nodes) / 8))
    rng = np.random.default_rng(900 + int(name.rsplit("_s", 1)[1]))
    hidden = sorted(rng.choice(several, min(wanted, len(several)), replace=False).tolist()) if hide else []
    constant = [node for node, column in zip(nodes, values.T, strict=True) if len(np.unique(column)) < 2]
    keep = [node for node in nodes if node not in hidden and node not in constant]
    stem, columns = out / f"{name}_h{int(hide)}", [nodes.index(node) for node in keep]
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[20, 21])
    parser.add_argument("--only", default="*", help="names of networks and simulators, sim-KIND")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    options.out.mkdir(parents=True, exist_ok=True)
    for system in systems(options.seeds, options.only):
        for hide in (False, True):
            write(system, hide, options.out)


if __name__ == "__main__":
    main()
