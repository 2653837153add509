"""Errors and honesty on tables with known truth, group by group, beside the graphs of other tools on the same files.

    python benchmarks/grid.py learn DATA... --out ROWS [--workers 16] [--seconds 600] [--only GLOB]
    python benchmarks/grid.py tell ROWS [--peers PEERS.json.gz...] [--write benchmarks/grid.md]
    python benchmarks/grid.py causes ROWS... [--write benchmarks/grid.md]

DATA are folders of NAME.csv (a table) and NAME.json: `{"truth": [[i, j, mark at i, mark at j], ...]}`, or the DAG
behind the table as `{"nodes", "edges", "hidden", "constant"}` (`others.py` writes such folders). NAME ends with
_sSEED; a group is all before it, without the number of rows for tables from networks. `learn` writes NAME.npz for every
table: the graphs of "bayes", "boss" and "icd", their CPU seconds, and how often sampled graphs have each mark. `tell`
prints tables: errors (extra edges, missing edges and wrong marks on shared edges) beside those of PEERS,
`{NAME: {tool: {"edges" or "marks": ...}}}`; errors expected by the reported probabilities beside those made; how many
marks said with a probability were right; and which tables were said not to fit. Mixed, ordinal and count columns are
learned from in several ways (`WAYS`), and for ROWS of these alone `tell` prints tables of their own (kinds.md).
`causes` prints how often "A is a cause of B" was right, by the share of sampled graphs that say so (`p_cause` of an
edge table). Rows of earlier versions have this share only as it is where selection is ruled out.
`--write` puts them between the two marks of a page; `grid_summary.py` then makes the tables of docs/accuracy.md.
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
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import anypag as ap
from anypag.graphs.base import transitive
from anypag.search.by_scores.calibrated import calibrated, mark_probabilities
from anypag.search.by_scores.posterior import expected_errors
from anypag.search.by_scores.sampled_graphs import state_shares, states_of

MARKS = {"o": 1, ">": 2, "-": 3}
METHODS = ("bayes", "boss", "icd")
BINS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0001)
CAUSE_BINS = (0.5, 0.8, 0.9, 0.95, 0.99, 1.0001)
BEGIN, END = "<!-- made by benchmarks/grid.py -->", "<!-- end -->"
CAUSES_BEGIN = "<!-- made by benchmarks/grid.py causes -->"
STRAIGHT = ("exp", "gauss", "gumbel", "sempler", "uniform")
PARTS = (
    *("Gaussian, 15 nodes", "Gaussian, 200 rows", "Gaussian, 35 to 100 nodes", "selection", "three levels"),
    *(
        "networks, nothing hidden",
        "networks, hidden nodes",
        "many levels",
        "simulators, straight",
        "simulators, curved",
    ),
)
CAUSE_GROUPS = (
    *("strong effects", "weak effects, up to 1,000 rows", "weak effects, 5,000 rows", "added confounders"),
    *PARTS[3:],
)
WAYS: dict[str, dict[str, dict[str, Any]]] = {
    "disc": {"": {"kinds": {"*": "discrete"}}},
    "mixed": {"": {}, "ordinal": {"kinds": {"q*": "ordinal"}}, "additive": {"test": "additive"}},
    "ordinal": {"": {}, "ordinal": {"kinds": {"q*": "ordinal"}}},
    "counts": {"": {}, "normal-scores": {"transform": "normal-scores"}, "additive": {"test": "additive"}},
    "gcastle": {"": {}},
    "dagma": {"": {}, "ordinal": {"kinds": {"x*": "ordinal"}}, "continuous": {"kinds": {"x*": "continuous"}}},
}
"""How tables of a kind are learned from: as the package chooses, and what else one would choose."""
KINDS = tuple(WAYS)[1:]
Marks = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


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
    tell.add_argument("--write", type=Path)
    causes = commands.add_parser("causes")
    causes.add_argument("rows", type=Path, nargs="+")
    causes.add_argument("--write", type=Path)
    options = parser.parse_args()
    if options.command == "learn":
        learn_all(options.data, options.out, options.only, options.workers, options.seconds)
        return
    if options.command == "tell":
        tables = [Learned(path) for path in sorted(options.rows.glob("*.npz"))]
        text, begin = "\n".join(told(tables, said_by(options.peers))), BEGIN
    else:
        tables = [Learned(path) for rows in options.rows for path in sorted(rows.glob("*.npz"))]
        text, begin = "\n".join(causes_told(tables)), CAUSES_BEGIN
    print(text) if options.write is None else write(text, options.write, begin)


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
    kind = "disc" if about["kind"].startswith("disc") else about["kind"]
    for way, more in reversed(WAYS.get(kind, {"": {}}).items()):  # "" last: its rows say that the table is done
        first, rest = path.name.split("_", 1)
        found = learned_in(path, about, more)
        np.savez_compressed(out / f"{first}{'-' * bool(way)}{way}_{rest}.npz", **found)
    return True


def learned_in(path: Path, about: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """What is found in a table in one way."""
    found: dict[str, Any] = {}
    for method in METHODS:
        began = time.process_time()
        result = ap.learn(path.with_suffix(".csv"), method=method, **more)
        found[f"{method}_seconds"] = time.process_time() - began
        found[method], found[f"{method}_valid"] = result.pag.marks, bool(result.pag.validate())
        if result.posterior is not None and result.misfit is not None:
            posterior, misfit = result.posterior, result.misfit
            sampled = posterior.sample
            states = states_of(sampled.pags)
            for name, counts in (("cold", sampled.cold), ("every", sampled.counts)):
                found[name] = state_shares(states, counts).astype(np.float32)
            found["causes"] = np.stack(posterior.causes())
            found["p_cause"] = posterior.causes(selection=True)[0]
            found["misfit"] = np.array([misfit.rows_per_number or np.nan, misfit.share], float)
            found["n_hidden"], found["discrete"] = len(posterior.n_levels), posterior.from_counts
    truth, ancestors = truth_of(about, result.pag.names)
    return found | {"truth": truth, "ancestors": ancestors, "n": result.n_rows}


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
        hidden = ", hidden nodes" if self.name.endswith("_h1") else ""
        if self.name.startswith("sim-"):
            return self.part.split(", ")[1] + hidden
        return re.sub(r"_n\d+$", "", whole).replace("_", " ") + hidden

    @property
    def part(self) -> str:
        """Which of `PARTS` it belongs to, or its kind and the way of learning from it."""
        first, is_network = self.name.split("_")[0], re.search(r"_h[01]$", self.name)
        if first.startswith("kind-"):
            return first[5:].replace("-", ", ", 1)
        if first.startswith("sim-"):
            return PARTS[8] if first[4:] in STRAIGHT else PARTS[9]
        if is_network:
            return PARTS[7] if first in {"barley", "mildew"} else PARTS[6] if self.name.endswith("_h1") else PARTS[5]
        if first in {"sel", "disc"}:
            return PARTS[3] if first == "sel" else PARTS[4]
        return PARTS[1] if "N00200" in self.name else PARTS[0] if "_n15_" in self.name else PARTS[2]

    @cached_property
    def found(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays of its file."""
        with np.load(self.path) as arrays:
            return dict(arrays)

    @cached_property
    def errors(self) -> dict[str, int]:
        """Of our methods."""
        return {method: sum(errors(self.found[method], self.found["truth"])) for method in METHODS}

    @cached_property
    def reported(self) -> Floats:
        """(4, n, n) the reported probabilities of marks."""
        return reported_marks(self.found)

    def expected(self, shares: Floats) -> float:
        """The errors that are expected by these probabilities of marks."""
        return float(expected_errors(self.found["bayes"][None], shares)[0])


def reported_marks(found: dict[str, npt.NDArray[Any]]) -> Floats:
    """`Posterior.reported` from the shares of states."""
    cold, every = (found[name].astype(np.float64) for name in ("cold", "every"))
    states = calibrated(cold, every, found["bayes"], from_counts=bool(found["discrete"]))
    return mark_probabilities(states, len(found["bayes"]))


def said_by(peers: list[Path]) -> dict[str, Any]:
    """The answers of other tools, by table."""
    said: dict[str, Any] = {}
    for path in peers:
        said |= json.loads(gzip.decompress(path.read_bytes()))
    return said


def peer_errors(table: Learned, said: dict[str, Any], tool: str) -> int | None:
    """The errors of another tool on a table; None if it did not finish."""
    truth, answer = table.found["truth"], said.get(table.name, {}).get(tool, {})
    if "edges" in answer:
        return sum(errors(marks_of(answer["edges"], len(truth)), truth))
    return sum(errors(np.array(answer["marks"], np.uint8), truth)) if "marks" in answer else None


def told(tables: list[Learned], said: dict[str, Any]) -> Iterator[str]:
    """The tables, line by line."""
    if tables and all(table.name.startswith("kind-") for table in tables):
        yield from kinds_told(tables)
        return
    groups: dict[str, list[Learned]] = defaultdict(list)
    parts: dict[str, list[Learned]] = {part: [] for part in PARTS}
    for table in tables:
        groups[table.group].append(table)
        parts[table.part].append(table)
    networks = {name for name, members in groups.items() if members[0].part in PARTS[5:8]}
    simulators = {name for name, members in groups.items() if members[0].part in PARTS[8:]}
    grid = sorted(set(groups) - networks - simulators)
    yield from errors_told("cell", grid, groups, said, ["Tetrad FCIT", "Tetrad BOSS-FCI"])
    tools = ["Tetrad FCIT (BDeu, prior 10)", "Tetrad FCIT (BDeu, prior 1)", "Tetrad BOSS-FCI"]
    yield from errors_told("network", sorted(networks), groups, said, tools)
    yield from errors_told("simulator", sorted(simulators), groups, said, [])
    yield from honesty_told({part: members for part, members in parts.items() if members})


def errors_told(
    what: str, names: list[str], groups: dict[str, list[Learned]], said: dict[str, Any], tools: list[str]
) -> Iterator[str]:
    """Errors in the mean, group by group. A tool's are of the tables that it finished; ours on these are in brackets,
    if it did not finish all.
    """
    columns = [tool.removeprefix("Tetrad ").replace(" (BDeu, prior", ", prior").rstrip(")") for tool in tools]
    heads = [what, "tables", "bayes", *columns, "boss", "icd", "seconds"]
    yield f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}"
    ratios = []
    for name in names:
        mine = groups[name]
        row = [name, str(len(mine)), mean(table.errors["bayes"] for table in mine)]
        for tool in tools:
            theirs = [(table.errors["bayes"], peer_errors(table, said, tool)) for table in mine]
            both = [(ours, made) for ours, made in theirs if made is not None]
            some = f" ({mean(a for a, _ in both)} of {len(both)})" if len(both) < len(mine) and both else ""
            row.append(f"{mean(b for _, b in both)}{some}" if both else "–")
            if tool == tools[0] and both:
                ratios.append(sum(a for a, _ in both) / max(sum(b for _, b in both), 1))
        row += [mean(table.errors[method] for table in mine) for method in ("boss", "icd")]
        row.append(f"{np.median([table.found['bayes_seconds'] for table in mine]):.1f}")
        yield f"| {' | '.join(row)} |"
    if ratios:
        below = f"below 1 in {sum(ratio < 1 for ratio in ratios)} of {len(ratios)}"
        yield f"\nMean of the ratios to {columns[0]}: {np.mean(ratios):.2f}; {below}."
    yield ""


def mean(numbers: Any) -> str:
    return f"{np.mean(list(numbers)):.1f}"


def kinds_told(tables: list[Learned]) -> Iterator[str]:
    """Errors and honesty of columns of several kinds, of all seeds: nothing was fitted on such tables."""
    parts: dict[str, list[Learned]] = defaultdict(list)
    for table in tables:
        parts[table.part].append(table)
    parts = dict(sorted(parts.items(), key=lambda item: (KINDS.index(item[0].split(",")[0]), len(item[0]))))
    heads = ["kind, way", "rows", "tables", "made", "expected", "boss", "icd", "said not to fit"]
    heads += ["made/expected where not said", "valid", "seconds"]
    yield f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}"
    for part, every in parts.items():
        for rows in sorted({int(table.found["n"]) for table in every}):
            yield f"| {part} | {rows:,} | {' | '.join(cells_of([one for one in every if one.found['n'] == rows]))} |"
    yield from ["", *calibration_told(parts)]


def cells_of(tables: list[Learned]) -> Iterator[str]:
    """The cells of a line about columns of a kind; the last two are of `METHODS` in turn."""
    is_checked = all(np.isfinite(table.found["misfit"][1]) for table in tables)
    silent = [table for table in tables if not is_unfit(table)]
    yield str(len(tables))
    yield mean(table.errors["bayes"] for table in tables)
    yield mean(table.expected(table.reported) for table in tables)
    yield from (mean(table.errors[method] for table in tables) for method in METHODS[1:])
    yield str(len(tables) - len(silent)) if is_checked else "–"
    made, expected = (table.errors["bayes"] for table in silent), (table.expected(table.reported) for table in silent)
    yield f"{mean(made)}/{mean(expected)}" if silent else "–"
    yield "/".join(f"{np.mean([table.found[f'{method}_valid'] for table in tables]):.2f}" for method in METHODS)
    yield "/".join(f"{np.median([table.found[f'{method}_seconds'] for table in tables]):.2f}" for method in METHODS)


def honesty_told(parts: dict[str, list[Learned]]) -> Iterator[str]:
    """Made and expected errors, marks by what they are said with, and which tables are said not to fit, of tables with
    odd seeds: the numbers for correlations were fitted on the others.
    """
    parts = {part: [table for table in members if seed_of(table) % 2] for part, members in parts.items()}
    yield "| odd seeds | tables | made | expected | said not to fit |\n|---|---|---|---|---|"
    for part, members in parts.items():
        numbers = [
            mean(table.errors["bayes"] for table in members),
            mean(table.expected(table.reported) for table in members),
            str(sum(is_unfit(table) for table in members)),
        ]
        yield f"| {part} | {len(members)} | {' | '.join(numbers)} |"
    yield from ["", *calibration_told(parts)]


def calibration_told(parts: dict[str, list[Learned]]) -> Iterator[str]:
    """Marks by what they are said with."""
    yield f"| said with: right/of how many | {' | '.join(parts)} |\n|{'---|' * (len(parts) + 1)}"
    for low, high in pairwise(BINS):
        cells = [right_of(members, low, high) for members in parts.values()]
        if any(cell != "–" for cell in cells):
            yield f"| {low:.2f}–{min(high, 1):.2f} | {' | '.join(cells)} |"


def causes_told(tables: list[Learned]) -> Iterator[str]:
    """Pairs by the share of sampled graphs in which one is a cause of the other in every member of the class."""
    found: dict[str, list[Learned]] = defaultdict(list)
    for table in tables:
        found[cause_group(table)].append(table)
    groups = {name: found[name] for name in CAUSE_GROUPS if name in found}
    yield f"| a cause with: right/of how many | {' | '.join(groups)} |\n|{'---|' * (len(groups) + 1)}"
    yield f"| tables | {' | '.join(str(len(members)) for members in groups.values())} |"
    for low, high in pairwise(CAUSE_BINS):
        cells = [causes_right(members, low, high) for members in groups.values()]
        yield f"| {low:.2f}–{min(high, 1):.2f} | {' | '.join(cells)} |"
    valid = (f"{method} {np.mean([table.found[f'{method}_valid'] for table in tables]):.2f}" for method in METHODS)
    yield f"\nShare of graphs that are valid PAGs: {', '.join(valid)} ({len(tables)} tables)."


def cause_group(table: Learned) -> str:
    """Its part; Gaussian tables by the strength of effects, weak ones also by the number of rows."""
    kind = table.name.split("_")[0]
    if kind == "weak":
        return CAUSE_GROUPS[1] if table.found["n"] <= 1000 else CAUSE_GROUPS[2]
    return {"strong": CAUSE_GROUPS[0], "conf": CAUSE_GROUPS[3]}.get(kind, table.part)


def causes_right(tables: list[Learned], low: float, high: float) -> str:
    """How many causes that are said with a share between the two are causes."""
    right = []
    for table in tables:
        shares = table.found["p_cause"] if "p_cause" in table.found else table.found["causes"][0]
        right.append(table.found["ancestors"][(shares >= low) & (shares < high)])
    made = np.concatenate(right)
    return f"{made.mean():.2f}/{len(made):,}" if len(made) else "–"


def seed_of(table: Learned) -> int:
    found = re.search(r"_s(\d+)", table.name)
    assert found is not None
    return int(found[1])


def is_unfit(table: Learned) -> bool:
    """Was the table said not to fit?"""
    n, (per_number, share) = len(table.found["truth"]), table.found["misfit"]
    return bool(per_number < 1 or (share > 0.05 and share * n * (n - 1) / 2 > 1.5))


def right_of(tables: list[Learned], low: float, high: float) -> str:
    """How many marks of answers, said with a probability between the two, are right."""
    right = []
    for table in tables:
        marks = table.found["bayes"]
        said = np.take_along_axis(table.reported, marks[None].astype(np.intp), axis=0)[0]
        which = (marks != 0) & (said >= low) & (said < high)
        right.append((marks == table.found["truth"])[which])
    made = np.concatenate(right)
    return f"{made.mean():.2f}/{len(made):,}" if len(made) else "–"


def write(text: str, page: Path, begin: str = BEGIN) -> None:
    """Put the tables between the two marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    page.write_text(f"{before}{begin}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
