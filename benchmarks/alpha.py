"""Can alpha be chosen from the data? Published criteria against fixed values, on tables whose truth is known.

    python benchmarks/alpha.py FOLDER [--only GLOB] [--most 10] [--out ROWS.csv]

FOLDER is as for `benchmarks/grid.py`. Of every table all alphas of a grid are tried, and each criterion picks one:

- StARS (Liu, Roeder and Wasserman 2010): the largest alpha at which pairs change between joined and not joined in
  half-samples no more than 0.05 on average (2 θ (1 - θ) over pairs, made monotone from the sparsest graph on).
- OCT (Biza, Tsamardinos and Triantafillou 2022): the alpha whose graphs, learned on nine tenths of the rows, name the
  Markov boundaries that predict the other tenth best (mutual information of regressions); OCTs takes the smallest
  boundaries that a permutation test does not find to be worse.
- BIC: the alpha whose graph has a member that scores best on all rows.

Errors are extra edges, missing edges and wrong marks. Rows that are in ROWS.csv already are not made again.
"""

from __future__ import annotations

import argparse
import csv
import fnmatch
import json
import warnings
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import anypag as ap
from anypag.ci.base import score_for
from anypag.ci.resolve import resolve_test
from anypag.data.table import Table, as_table
from anypag.graphs.marks import Mark
from anypag.graphs.validity import completed
from anypag.search.by_scores.chain import Landscape, graph_of

ALPHAS = (0.0001, 0.001, 0.003, 0.01, 0.03, 0.05, 0.1)
FIXED = (0.001, 0.01, 0.05)
INSTABILITY = 0.05
RESAMPLES, FOLDS, PERMUTATIONS = 20, 10, 500
MARKS = {"o": Mark.CIRCLE, ">": Mark.ARROW, "-": Mark.TAIL}

Values = npt.NDArray[np.float64]


class Tried(NamedTuple):
    """What was found out about one alpha on one table."""

    errors: int
    instability: float
    bic: float
    prediction: float
    boundary: float
    is_no_worse: bool
    """Does the permutation test leave it a chance against the alpha that predicts best?"""


def truth_of(path: Path) -> Any:
    """The true marks."""
    document = json.loads(path.read_text())
    n = len(document["order"])
    marks = np.zeros((n, n), np.uint8)
    for i, j, at_i, at_j in document["truth"]:
        marks[j, i], marks[i, j] = MARKS[at_i], MARKS[at_j]
    return marks


def errors(marks: Any, truth: Any) -> int:
    """Extra edges, missing edges and wrong marks of shared ones."""
    here, there = marks > 0, truth > 0
    return int(np.triu(here != there).sum() + (here & there & (marks != truth)).sum())


def boundaries(pag: ap.PAG) -> Any:
    """[i, j]: is j in the Markov boundary of i, in a MAG with these edges? All that collider paths lead to."""
    marks, _ = completed(pag.marks)
    arrow = marks == Mark.ARROW
    joined = marks > 0
    n = len(marks)
    found = np.zeros((n, n), np.bool_)
    for i in range(n):
        waiting = [(i, j) for j in np.flatnonzero(joined[i]).tolist()]
        seen = set(waiting)
        for u, v in waiting:  # grows while it is read
            found[i, v] = True
            if arrow[u, v]:
                more = [
                    (v, w) for w in np.flatnonzero(joined[v] & arrow[:, v]).tolist() if w != i and (v, w) not in seen
                ]
                seen.update(more)
                waiting += more
    np.fill_diagonal(found, False)
    return found


def columns_of(table: Table) -> list[Values]:
    """Each variable as the columns that are predicted and predict: itself, or one for each level but one."""
    return [
        (column[:, None] == np.unique(column)[1:]).astype(float) if kind == "discrete" else column[:, None]
        for column, kind in zip(table.values.T, table.kinds, strict=True)
    ]


def predicted(columns: list[Values], boundary: Any, train: Any, test: Any) -> list[Values]:
    """Each variable in the test rows, by regression on its boundary in the training rows."""
    made = []
    for i, target in enumerate(columns):
        chosen = [np.ones((len(target), 1)), *(columns[j] for j in np.flatnonzero(boundary[i]))]
        design = np.hstack(chosen)
        weights = np.linalg.lstsq(design[train], target[train], rcond=None)[0]
        made.append(design[test] @ weights)
    return made


def lost(columns: list[Values], predictions: list[Values]) -> Values:
    """(rows, variables) squared errors, in shares of the variance, summed over a variable's columns."""
    return np.column_stack(
        [
            (np.square(target - told) / np.maximum(target.var(axis=0), 1e-12)).mean(axis=1)
            for target, told in zip(columns, predictions, strict=True)
        ]
    )


def information(loss: Values) -> float:
    """Mutual information of predictions and values, as for Gaussian ones: the mean over variables."""
    return float(np.mean(-0.5 * np.log(np.clip(loss.mean(axis=0), 1e-12, 1.0))))


def no_worse(best: Values, other: Values, rng: np.random.Generator) -> bool:
    """Is the loss in information no more than swapping the two in random rows would give in 1 of 20 cases?"""
    seen = information(best) - information(other)
    more = 0
    for _ in range(PERMUTATIONS):
        swap = rng.random(len(best))[:, None] < 0.5
        one, two = np.where(swap, other, best), np.where(swap, best, other)
        more += information(one) - information(two) >= seen
    return more / PERMUTATIONS > 0.05


def bic(table: Table, pag: ap.PAG) -> float:
    """The score of a member, or of what comes closest to one; of discrete tables that of a DAG cannot be had."""
    score = score_for(resolve_test(table))
    marks, cycle = completed(pag.marks)
    arrow = marks == Mark.ARROW
    if cycle or (not score.hidden and bool((arrow & arrow.T).any())):
        return float("nan")
    try:
        landscape = Landscape.of(score, ancestral=False)
        return replace(landscape, terms=np.zeros_like(landscape.terms)).score_of(graph_of(marks))
    except Exception:  # a cyclic completion has no score
        return float("nan")


def tried(path: Path) -> dict[float, Tried]:
    """All alphas on one table."""
    table = as_table(path)
    truth, columns = truth_of(path.with_suffix(".json")), columns_of(table)
    rng = np.random.default_rng(0)
    fold = rng.permutation(table.n) % FOLDS
    found, losses = {}, {}
    for alpha in ALPHAS:
        s = ap.bootstrap(table, method="icd", n=RESAMPLES, resample="half", alpha=alpha)
        share = s.adjacency[np.triu_indices(len(s.names), 1)]
        loss = np.empty((table.n, len(columns)))
        size = []
        for k in range(FOLDS):
            boundary = boundaries(ap.learn(table.take_rows(np.flatnonzero(fold != k)), method="icd", alpha=alpha).pag)
            told = predicted(columns, boundary, fold != k, fold == k)
            loss[fold == k] = lost([column[fold == k] for column in columns], told)
            size.append(boundary.sum(axis=1).mean())
        losses[alpha] = loss
        pag = s.result.pag
        found[alpha] = Tried(
            errors(pag.marks, truth),
            float((2 * share * (1 - share)).mean()),
            bic(table, pag),
            information(loss),
            float(np.mean(size)),
            True,
        )
    best = max(ALPHAS, key=lambda alpha: found[alpha].prediction)
    return {a: t._replace(is_no_worse=a == best or no_worse(losses[best], losses[a], rng)) for a, t in found.items()}


def choices(found: dict[float, Tried]) -> dict[str, float]:
    """The alpha that each criterion picks."""
    steady = ALPHAS[0]
    for alpha in ALPHAS:
        if found[alpha].instability > INSTABILITY:
            break
        steady = alpha
    scored = [alpha for alpha in ALPHAS if np.isfinite(found[alpha].bic)]
    return {
        **{f"{alpha:g}": alpha for alpha in FIXED},
        "StARS": steady,
        "OCT": max(ALPHAS, key=lambda alpha: found[alpha].prediction),
        "OCTs": min((a for a in ALPHAS if found[a].is_no_worse), key=lambda alpha: found[alpha].boundary),
        "BIC": max(scored, key=lambda alpha: found[alpha].bic) if scored else 0.01,
        "best": min(ALPHAS, key=lambda alpha: found[alpha].errors),
    }


def tell(rows: dict[str, dict[float, Tried]]) -> None:
    """Print a table: mean errors of every cell by what chose alpha, and differences to 0.01 over all."""
    cells = defaultdict(list)
    for name, found in rows.items():
        cells[name.rsplit("_s", 1)[0]].append({who: found[alpha].errors for who, alpha in choices(found).items()})
    heads = list(next(iter(cells.values()))[0])
    print(f"| | tables | {' | '.join(heads)} |\n|---|---|{'---|' * len(heads)}")
    for cell, items in sorted(cells.items()):
        means = [np.mean([item[who] for item in items]) for who in heads]
        print(f"| {cell} | {len(items)} | {' | '.join(f'{mean:.1f}' for mean in means)} |")
    everything = [item for items in cells.values() for item in items]
    means = [np.mean([item[who] for item in everything]) for who in heads]
    print(f"| all | {len(everything)} | {' | '.join(f'{mean:.2f}' for mean in means)} |")
    told = []
    for who in heads:
        gain = np.array([item[who] - item["0.01"] for item in everything])
        told.append(f"{gain.mean():+.2f} ± {gain.std(ddof=1) / np.sqrt(len(gain)):.2f}")
    print(f"| less 0.01 | | {' | '.join(told)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="*")
    parser.add_argument("--most", type=int, default=10, help="tables of a cell")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = read(options.out)
    taken: dict[str, int] = defaultdict(int)
    wanted = []
    for path in sorted(options.folder.glob("*.csv")):
        cell = path.stem.rsplit("_s", 1)[0]
        if fnmatch.fnmatch(path.stem, options.only) and taken[cell] < options.most:
            taken[cell] += 1
            wanted.append(path)
    wanted.sort(key=lambda path: path.stem.rsplit("_s", 1)[1])  # all cells a little, then more of each
    for path in wanted:
        if path.stem not in rows:
            rows[path.stem] = tried(path)
            keep(options.out, path.stem, rows[path.stem])
    tell({path.stem: rows[path.stem] for path in wanted})


def read(path: Path | None) -> dict[str, dict[float, Tried]]:
    """The rows that are there."""
    rows: dict[str, dict[float, Tried]] = defaultdict(dict)
    if path is not None and path.exists():
        for name, alpha, *rest in csv.reader(path.open()):
            wrong, instability, bic, prediction, boundary, flag = rest
            numbers = float(instability), float(bic), float(prediction), float(boundary)
            rows[name][float(alpha)] = Tried(int(wrong), *numbers, is_no_worse=flag == "True")
    return dict(rows)


def keep(path: Path | None, name: str, found: dict[float, Tried]) -> None:
    """Add the rows of one table."""
    if path is not None:
        with path.open("a", newline="") as file:
            csv.writer(file).writerows([name, alpha, *item] for alpha, item in found.items())


if __name__ == "__main__":
    main()
