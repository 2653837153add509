"""What several data sets are worth if it is said where rows come from: targets found, marks right and wrong.

    python benchmarks/contexts.py [--systems 40] [--rows 500 2000] [--methods icd bayes] [--workers 16] [--json FILE]

Random linear systems of 8 measured variables with 2 hidden causes; an observed set and three experiments, each of which
shifts the mean of one or two variables by 0.5 to 1.5 of their noise. Each set has as many rows as told. Ways:

- `pooled`: `ap.pooled`, all assumptions, targets unknown; `pairwise`: the same with contexts_test="pairwise";
- `observed`: the observed set alone;
- `no word`: all rows in one table without a word about where they come from;
- `cd-nod`: causal-learn's CD-NOD with Fisher's z and the number of the set as its surrogate, where it is installed. It
  takes it that nothing is hidden, and has one node for all experiments.

Targets: of the pairs of an experiment and a variable that it shifts, the share that is joined; and of the pairs that
are joined, the share that has no edge in the true MAG over experiments and variables. Marks: arrowheads and tails among
the 8 variables, per system; right if the true MAG has the edge and the mark, else wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

import anypag as ap

Array = npt.NDArray[np.float64]
SYSTEM = tuple("ABCDEFGH")
EXPERIMENTS = ("drug", "heat", "diet")
CIRCLE = 1


@dataclass
class Outcome:
    """What one way found in one system."""

    way: str
    rows: int
    targets: int = 0
    found: int = 0
    claimed: int = 0
    false: int = 0
    right: int = 0
    wrong: int = 0
    told: int = 0
    """Marks of the true MAG."""
    seconds: float = 0.0


@dataclass
class Truth:
    """A system: its DAG with hidden nodes and experiments, weights, and how far experiments shift their targets."""

    dag: ap.DAG
    weights: Array
    shift: dict[str, dict[str, float]]
    mag: ap.MAG


def truth(seed: int) -> Truth:
    """A random system."""
    rng = np.random.default_rng(seed)
    while True:
        drawn = ap.simulate.random_dag(10, 3.0, seed=int(rng.integers(2**31)))
        forks = [name for name, n in zip(drawn.names, drawn.adjacency.sum(axis=1), strict=True) if n > 1]
        if len(forks) > 1:
            hidden = rng.choice(forks, 2, replace=False).tolist()
            break
    measured = [name for name in drawn.names if name not in hidden]
    names = {**dict(zip(rng.permutation(measured), SYSTEM, strict=True)), hidden[0]: "hidden 1", hidden[1]: "hidden 2"}
    inner = [names[name] for name in drawn.names]
    shift = {
        one: {
            str(name): float(rng.uniform(0.5, 1.5) * rng.choice([-1, 1]))
            for name in rng.choice(SYSTEM, rng.integers(1, 3), replace=False)
        }
        for one in EXPERIMENTS
    }
    behind = [f"{a} and {b}" for a, b in combinations(EXPERIMENTS, 2)]
    every = [*inner, *EXPERIMENTS, *behind]
    adjacency = np.zeros((len(every), len(every)), np.uint8)
    adjacency[: len(inner), : len(inner)] = drawn.adjacency
    for one, targets in shift.items():
        for name in targets:
            adjacency[every.index(one), every.index(name)] = 1
    for name, pair in zip(behind, combinations(EXPERIMENTS, 2), strict=True):
        for one in pair:
            adjacency[every.index(name), every.index(one)] = 1
    dag = ap.DAG(adjacency, every)
    mag = ap.latent_projection(dag, ["hidden 1", "hidden 2", *behind])
    size = rng.uniform(0.4, 1.0, drawn.adjacency.shape) * rng.choice([-1, 1], drawn.adjacency.shape)
    return Truth(ap.DAG(drawn.adjacency, inner), size * drawn.adjacency, shift, mag)


def sample(system: Truth, n: int, shift: dict[str, float], rng: np.random.Generator) -> dict[str, Array]:
    """Rows of a system whose variables are shifted."""
    names = list(system.dag.names)
    values: dict[str, Array] = {}
    for name in system.dag.topological_order():
        parents = [p for p in names if system.weights[names.index(p), names.index(name)]]
        made = sum((system.weights[names.index(p), names.index(name)] * values[p] for p in parents), np.zeros(n))
        values[name] = made + rng.normal(size=n) + shift.get(name, 0.0)
    return {name: values[name] for name in SYSTEM}


def outcomes(seed: int, rows: int, methods: Sequence[str]) -> list[Outcome]:
    """What all ways find in one system."""
    warnings.simplefilter("ignore")
    system, rng = truth(seed), np.random.default_rng([seed, rows])
    sets = {"observed": sample(system, rows, {}, rng)}
    sets |= {one: sample(system, rows, system.shift[one], rng) for one in EXPERIMENTS}
    return [judged(system, pag, Outcome(way, rows, seconds=seconds)) for way, pag, seconds in _answers(sets, methods)]


def _answers(sets: dict[str, dict[str, Array]], methods: Sequence[str]) -> Iterator[tuple[str, ap.PAG, float]]:
    together = {name: np.concatenate([one[name] for one in sets.values()]) for name in SYSTEM}
    for method in methods:
        tables = {
            "pooled": ap.pooled(sets),
            "pairwise": ap.pooled(sets, contexts_test="pairwise"),
            "observed": sets["observed"],
            "no word": together,
        }
        for way, table in tables.items():
            if way == "pairwise" and method == "bayes":  # its scores know of no pairs
                continue
            began = time.process_time()
            pag = ap.learn(table, method=method, selection_bias=False).pag
            yield f"{way}, {method}", pag, time.process_time() - began
    yield from _cd_nod(together, np.repeat(np.arange(len(sets)), [len(one["A"]) for one in sets.values()]))


def _cd_nod(together: dict[str, Array], of_set: npt.NDArray[np.int64]) -> Iterator[tuple[str, ap.PAG, float]]:
    """The graph of CD-NOD, with circles at undirected edges and without its node for the sets."""
    try:
        from causallearn.search.ConstraintBased.CDNOD import cdnod
    except ImportError:
        return
    began = time.process_time()
    data = np.column_stack([together[name] for name in SYSTEM])
    found = cdnod(data, of_set[:, None].astype(float), 0.01, "fisherz", show_progress=False).G.graph[:8, :8]
    marks = np.zeros((8, 8), np.uint8)
    for i, j in combinations(range(8), 2):
        if found[i, j] or found[j, i]:  # found[i, j]: the mark at i, -1 for a tail and 1 for an arrowhead
            is_open = found[i, j] == found[j, i] == -1
            marks[j, i], marks[i, j] = (1, 1) if is_open else (_MARK[found[i, j]], _MARK[found[j, i]])
    yield "cd-nod", ap.PAG(marks, SYSTEM), time.process_time() - began


_MARK = {-1: 3, 1: 2}


def judged(system: Truth, pag: ap.PAG, out: Outcome) -> Outcome:
    """The outcome with what was found counted."""
    mag = system.mag
    mine, true = pag.subgraph(SYSTEM).marks, mag.subgraph(SYSTEM).marks
    told = mine > CIRCLE
    out.right, out.wrong = int((told & (mine == true)).sum()), int((told & (mine != true)).sum())
    out.told = int((true > 0).sum())
    for one in (one for one in EXPERIMENTS if one in pag.names):
        joined = {name for name in SYSTEM if pag.edge(one, name) is not None}
        there = {name for name in SYSTEM if mag.edge(one, name) is not None}
        out.targets += len(system.shift[one])
        out.found += len(joined & set(system.shift[one]))
        out.claimed, out.false = out.claimed + len(joined), out.false + len(joined - there)
    return out


def main() -> None:
    """Print a table for each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=40)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--methods", nargs="+", default=["icd", "bayes"])
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, help="write every outcome to this file")
    options = parser.parse_args()
    jobs = [(seed, rows) for rows in options.rows for seed in range(options.systems)]
    parts = Parallel(options.workers)(delayed(outcomes)(seed, rows, options.methods) for seed, rows in jobs)
    found = [one for part in parts for one in part]
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in found]))
    for rows in options.rows:
        print(f"\n{rows:,} rows a set, {options.systems} systems")
        print("way               targets found  false of joined  marks right  wrong  of true ones  CPU s")
        for way in dict.fromkeys(one.way for one in found):
            mine = [one for one in found if one.way == way and one.rows == rows]
            print(f"{way:<17} {_line(mine)}", flush=True)


def _line(mine: Sequence[Outcome]) -> str:
    def mean(name: str) -> float:
        return float(np.mean([getattr(one, name) for one in mine]))

    def share(part: str, whole: str) -> str:
        n = sum(getattr(one, whole) for one in mine)
        return f"{sum(getattr(one, part) for one in mine) / n:.3f} of {n}" if n else "-"

    numbers = f"{mean('right'):>11.2f} {mean('wrong'):>6.2f} {mean('told'):>13.2f} {mean('seconds'):>6.1f}"
    return f"{share('found', 'targets'):>13}  {share('false', 'claimed'):>15} {numbers}"


if __name__ == "__main__":
    main()
