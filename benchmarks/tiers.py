"""What true tiers are worth on data: errors and tests with 0, 2, 3 and 4 tiers that are true of the causal graph.

    python benchmarks/tiers.py FOLDER [GLOB]

FOLDER holds data sets `NAME.csv`, each with `NAME.json`: its true MAG (`"mag": [[i, j, mark at i, mark at j], ...]`
over the columns, marks `-` and `>`), its causal graph (`"dag"`, pairs of a parent and a child, which are nodes), the
node of each column (`"order"`) and the selection nodes (`"selection"`). The tiers cut one order of the columns in which
no cause comes after its effect into equal parts.

Errors are told against the true MAG, so that runs with and without tiers can be compared: edges too many, edges
missing, and on the edges that are right the marks that are false. Marks that are right count besides: with knowledge
more can be told.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anypag import Knowledge, Mark, learn

MARKS = {"-": Mark.TAIL, ">": Mark.ARROW}


@dataclass
class Score:
    """Sums over data sets."""

    n: int = 0
    extra: int = 0
    missing: int = 0
    false_marks: int = 0
    true_marks: int = 0
    tests: int = 0

    def add(self, found: npt.NDArray[np.uint8], mag: npt.NDArray[np.uint8], n_tests: int) -> None:
        both, told = (found > 0) & (mag > 0), found > Mark.CIRCLE
        self.n += 1
        self.extra += int(((found > 0) & (mag == 0)).sum()) // 2
        self.missing += int(((found == 0) & (mag > 0)).sum()) // 2
        self.false_marks += int((both & told & (found != mag)).sum())
        self.true_marks += int((both & told & (found == mag)).sum())
        self.tests += n_tests

    def __str__(self) -> str:
        means = [getattr(self, item.name) / max(1, self.n) for item in fields(self) if item.name != "n"]
        return f"{means[0]:6.2f} {means[1]:8.2f} {means[2]:12.2f} {means[3]:11.2f} {means[4]:9.0f}"


def main(folder: Path, pattern: str) -> None:
    """Print one table for each kind of data."""
    groups: dict[str, list[Path]] = {}
    for path in sorted(folder.glob(f"{pattern}.csv")):
        groups.setdefault(path.stem.rpartition("_s")[0], []).append(path)
    print(f"{'data':<22} {'known':<34} {'extra':>6} {'missing':>8} {'false marks':>12} {'true marks':>11} {'tests':>9}")
    for kind, paths in groups.items():
        scores: dict[str, Score] = {}
        for path in paths:
            truth = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            for name, known, selection in knowledge_for(truth):
                result = learn(path, method="icd", knowledge=known, selection_bias=selection)
                scores.setdefault(name, Score()).add(_in_order(result.pag), mag_of(truth), result.n_tests)
        for name, score in scores.items():
            print(f"{kind:<22} {name:<34} {score}")


def _in_order(pag: Any) -> npt.NDArray[np.uint8]:
    return np.asarray(pag.marks, np.uint8)


def knowledge_for(truth: dict[str, Any]) -> Iterator[tuple[str, Knowledge | None, bool]]:
    """What is told in each run, and whether the sample may be selected."""
    names, causes = columns_of(truth), causes_in(truth)
    order = np.argsort(causes.sum(axis=0), kind="stable")[: len(causes)]
    columns = [k for k in order if k < len(names)]
    is_selected = bool(truth["selection"])
    yield "nothing", None, is_selected
    for k in (2, 3, 4):
        parts = [part.tolist() for part in np.array_split(columns, k)]
        tiers = [[names[c] for c in part] for part in parts]
        yield f"{k} tiers", Knowledge(tiers=tiers), is_selected
        if is_selected:
            outside = [names[c] for c in range(len(names)) if not causes[c, len(names) :].any()]
            yield f"{k} tiers, who does not select", Knowledge(tiers=tiers, not_selecting=outside), True


def columns_of(truth: dict[str, Any]) -> list[str]:
    """The names of the columns, as the files have them."""
    return list(truth["names"]) if "names" in truth else [f"X{k}" for k in range(len(truth["order"]))]


def causes_in(truth: dict[str, Any]) -> npt.NDArray[np.bool_]:
    """Who is a cause of whom: the columns first, in their order, then the selection nodes."""
    nodes = [*truth["order"], *_as_list(truth["selection"])]
    n = 1 + max(max(pair) for pair in truth["dag"])
    reach = np.zeros((n, n), np.bool_)
    for parent, child in truth["dag"]:
        reach[parent, child] = True
    for _ in range(n.bit_length()):
        reach |= reach.astype(np.float32) @ reach.astype(np.float32) > 0
    return reach[np.ix_(nodes, nodes)]


def _as_list(value: Any) -> list[int]:
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def mag_of(truth: dict[str, Any]) -> npt.NDArray[np.uint8]:
    """The marks of the true MAG."""
    n = len(truth["order"])
    marks = np.zeros((n, n), np.uint8)
    for i, j, at_i, at_j in truth["mag"]:
        marks[j, i], marks[i, j] = MARKS[at_i], MARKS[at_j]
    return marks


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "*")
