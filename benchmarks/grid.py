"""Errors and honesty on tables with known truth, group by group, beside the graphs of other tools on the same files.

    python benchmarks/grid.py learn DATA... --out ROWS [--workers 16] [--seconds 600] [--only GLOB]
    python benchmarks/grid.py tell ROWS [--peers PEERS.json.gz...] [--fit]

DATA are folders of NAME.csv (a table) and NAME.json: `{"truth": [[i, j, mark at i, mark at j], ...]}`, or the DAG
behind the table as `{"nodes", "edges", "hidden", "constant"}`. NAME ends with _sSEED; a group is all before it, without
the number of rows for tables from networks. `learn` writes NAME.npz for every table: the graphs of "bayes", "boss" and
"icd", their CPU seconds, and how often sampled graphs have each mark. `tell` prints tables: errors (extra edges,
missing edges and wrong marks on shared edges) beside those of PEERS, `{NAME: {tool: {"edges" or "marks": ...}}}`;
errors expected by the reported probabilities beside those made; and how many marks said with a probability were right.
`--fit` also fits the numbers of the reported probabilities (`search/by_scores/reported.py`) on half of the tables, by
their log loss, and prints them with the loss on the other half.
"""

from __future__ import annotations

import argparse
import fnmatch
import gzip
import json
import re
import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import anypag as ap
from anypag.graphs.base import transitive

MARKS = {"o": 1, ">": 2, "-": 3}
METHODS = ("bayes", "boss", "icd")
BINS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0001)
Marks = npt.NDArray[np.uint8]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    learn = commands.add_parser("learn")
    learn.add_argument("data", type=Path, nargs="+")
    learn.add_argument("--out", type=Path, required=True, help="tables whose rows are there are not learned again")
    learn.add_argument("--only", default="*")
    learn.add_argument("--workers", type=int, default=1)
    learn.add_argument("--seconds", type=float, default=1e9, help="no table is begun after this time")
    tell = commands.add_parser("tell")
    tell.add_argument("rows", type=Path)
    tell.add_argument("--peers", type=Path, nargs="*", default=[])
    tell.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    if options.command == "learn":
        learn_all(options.data, options.out, options.only, options.workers, options.seconds)
    else:
        tell_all([Learned(path) for path in sorted(options.rows.glob("*.npz"))], options.peers, fit=options.fit)


def learn_all(folders: list[Path], out: Path, only: str, workers: int, seconds: float) -> None:
    """Learn from every table that has no rows yet; seeds in turn, so that a part of them covers all groups."""
    out.mkdir(parents=True, exist_ok=True)
    paths = [path.with_suffix("") for folder in folders for path in folder.glob("*.csv")]
    left = [path for path in paths if fnmatch.fnmatch(path.name, only) and not (out / f"{path.name}.npz").exists()]
    left.sort(key=lambda path: (path.name.rsplit("_s", 1)[-1], path.name))
    one = partial(learned, out=out, until=time.time() + seconds)
    if workers == 1:
        done = sum(map(one, left))
    else:
        with ProcessPoolExecutor(workers, initializer=warm_up) as pool:
            done = sum(pool.map(one, left))
    print(f"{done} of {len(left)} tables in {out}")


def warm_up() -> None:
    """Compile what will be timed."""
    rng = np.random.default_rng(0)
    for table in (rng.normal(size=(50, 4)), rng.integers(0, 2, size=(50, 4))):
        for method in METHODS:
            ap.learn(table, method=method)


def learned(path: Path, out: Path, until: float) -> bool:
    """Learn from one table and write what was found; False if it is too late to begin."""
    if time.time() > until:
        return False
    warnings.simplefilter("ignore")
    about = json.loads(path.with_suffix(".json").read_text())
    more: dict[str, Any] = {"test": "gsq"} if about["kind"].startswith("disc") else {}
    found: dict[str, Any] = {}
    for method in METHODS:
        began = time.process_time()
        result = ap.learn(path.with_suffix(".csv"), method=method, **more)
        found[f"{method}_seconds"] = time.process_time() - began
        found[method], found[f"{method}_valid"] = result.pag.marks, bool(result.pag.validate())
        if result.posterior is not None and result.misfit is not None:
            posterior, misfit = result.posterior, result.misfit
            sampled = posterior.sample
            cold, all_of_them = (shares(sampled.pags, counts) for counts in (sampled.cold, sampled.counts))
            found |= {"cold": cold, "sampled": all_of_them, "causes": np.stack(posterior.causes())}
            found["misfit"] = np.array([misfit.rows_per_number or np.nan, misfit.share], float)
            found["n_hidden"] = len(posterior.n_levels)
    truth, ancestors = truth_of(about, result.pag.names)
    found |= {"truth": truth, "ancestors": ancestors, "n": result.n_rows, "discrete": bool(more)}
    np.savez_compressed(out / f"{path.name}.npz", **found)
    return True


def shares(pags: Marks, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    often = np.stack([np.tensordot(counts, pags == mark, axes=1) for mark in range(4)])
    return np.asarray(often / counts.sum(), np.float32)


def truth_of(about: dict[str, Any], names: Sequence[str]) -> tuple[Marks, npt.NDArray[np.bool_]]:
    """The true PAG over the columns, and which column is an ancestor of which."""
    if "truth" in about:
        order = about["order"]
        size = 1 + max([*order, *(node for edge in about["dag"] for node in edge)])
        arrows = np.zeros((size, size), np.bool_)
        for parent, child in about["dag"]:
            arrows[parent, child] = True
        return marks_of(about["truth"], len(names)), transitive(arrows)[np.ix_(order, order)]
    nodes = about["nodes"]
    arrows = np.zeros((len(nodes), len(nodes)), np.bool_)
    for parent, child in about["edges"]:
        arrows[nodes.index(parent), nodes.index(child)] = True
    pag = ap.true_pag(ap.DAG(arrows.astype(np.uint8), nodes), latent=[*about["hidden"], *about["constant"]])
    seen, kept = [pag.names.index(name) for name in names], [nodes.index(name) for name in names]
    return pag.marks[np.ix_(seen, seen)], transitive(arrows)[np.ix_(kept, kept)]


def marks_of(edges: list[list[Any]], n: int) -> Marks:
    marks = np.zeros((n, n), np.uint8)
    for i, j, at_i, at_j in edges:
        marks[i, j], marks[j, i] = MARKS[at_j], MARKS[at_i]
    return marks


def errors(learned: Marks, truth: Marks) -> tuple[int, int, int]:
    has, should = learned != 0, truth != 0
    wrong = int((has & should & (learned != truth)).sum())
    return int((has & ~should).sum()) // 2, int((should & ~has).sum()) // 2, wrong


@dataclass(frozen=True)
class Learned:
    """What was found in one table."""

    path: Path

    @property
    def name(self) -> str:
        """That of the table."""
        return self.path.stem

    @property
    def group(self) -> str:
        """What its line in the tables stands for: all that its tables share."""
        whole = self.name.rsplit("_s", 1)[0]
        return re.sub(r"_n\d+$", "", whole) + ("_h1" if self.name.endswith("_h1") else "")

    @cached_property
    def found(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays of its file."""
        with np.load(self.path) as arrays:
            return dict(arrays)

    def errors(self, method: str) -> int:
        """Of one of our methods."""
        return sum(errors(self.found[method], self.found["truth"]))


def peer_errors(table: Learned, said: dict[str, Any]) -> dict[str, int]:
    """The errors of other tools on a table, by their names."""
    truth, made = table.found["truth"], {}
    for tool, answer in said.get(table.name, {}).items():
        if "edges" in answer:
            made[tool] = sum(errors(marks_of(answer["edges"], len(truth)), truth))
        elif "marks" in answer:
            made[tool] = sum(errors(np.array(answer["marks"], np.uint8), truth))
    return made


def tell_all(tables: list[Learned], peers: list[Path], *, fit: bool) -> None:
    """Print the tables."""
    said: dict[str, Any] = {}
    for path in peers:
        said |= json.loads(gzip.decompress(path.read_bytes()))
    groups: dict[str, list[Learned]] = defaultdict(list)
    for table in tables:
        groups[table.group].append(table)
    print("| group | tables | bayes | boss | icd |\n|---|---|---|---|---|")
    for group, members in sorted(groups.items()):
        means = [np.mean([table.errors(method) for table in members]) for method in METHODS]
        print(f"| {group} | {len(members)} | {' | '.join(f'{mean:.1f}' for mean in means)} |")


if __name__ == "__main__":
    main()
