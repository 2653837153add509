"""Compares what searches find on two commits: where only the shape of the code changed, no line may differ.

    python benchmarks/same.py                      all cases, one line each (2 minutes of one core, compiled)
    python benchmarks/same.py --quick              a part of them, well under a minute
    python benchmarks/same.py --workers 8          any of these on several cores
    python benchmarks/same.py --quick --against REV    runs here and in a temporary worktree of REV, and compares
    python benchmarks/same.py --quick --compare FILE   runs here, and compares with lines written before

The cases cover every pair of two settings: method, test, source of the data (also several data sets, and weighted
rows), missing values, transform, knowledge, order of columns, and whether the run is whole, resumed or resampled. Forty
more tables are for "bayes". Only public names are used, so that the file runs on any commit; `--against` runs this very
file on the code of the other one.

A line holds the case, a few counts to read, and a digest for each part of what the result says:

    graph    edges, separating sets, the rule behind each mark, conflicts; of resamples the graphs too
    numbers  p-values to the bit, tests per step, probabilities, frequencies
    claims   validity, contradictions, marks taken back, what became of the knowledge
    json     the file of the result (without times)
    audit    what was found in the data, in words
    texts    the result printed, two explanations, warnings
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars

import anypag as ap

ROOT = Path(__file__).resolve().parents[1]
SEARCHES, BAYES_TABLES = 300, 40
QUICK_SEARCHES, QUICK_BAYES_TABLES = 72, 6
PARTS = ("graph", "numbers", "claims", "json", "audit", "texts")

SLOW = ("additive", "kci", "gcm")
"""Tests that take so long that their tables are small."""
WITHOUT_DATA = ("oracle", "function")
BY_TESTS = ("icd", "icd-paper", "fci", "anytime-fci", "rfci", "fci+")
NEEDS_SCORE = ("bayes", "boss", "gfci")
DISCRETE = ("gsq", "chisq", "permutation")
WEIGHING = ("auto", "fisherz", "mixed", "gsq", "chisq")
"""Tests that can weight rows."""
GAUSSIAN = ("fisherz",)

SETTINGS: dict[str, tuple[str, ...]] = {
    "method": ("auto", *BY_TESTS, *NEEDS_SCORE),
    "test": ("auto", *GAUSSIAN, *DISCRETE, "mixed", *SLOW, *WITHOUT_DATA),
    "source": ("memory", "csv", "parquet", "counted", "duckdb", "covariance", "contexts", "weighted"),
    "missing": ("whole", "drop", "pairwise"),
    "transform": ("none", "normal-scores"),
    "knowledge": ("nothing", "tiers", "pairs"),
    "columns": ("in order", "permuted"),
    "run": ("once", "resumed", "resampled"),
}
"""By the name of a setting, its values."""


class Case(NamedTuple):
    """One search: a value for every setting, and the seed of its table."""

    method: str
    test: str
    source: str
    missing: str
    transform: str
    knowledge: str
    columns: str
    run: str
    seed: int = 0

    def __str__(self) -> str:
        return " ".join((f"{self.seed:03}", *(value.replace(" ", "-") for value in self[:-1])))

    @property
    def is_possible(self) -> bool:
        """Can it be searched at all, as far as the documentation says?"""
        if self.test in WITHOUT_DATA:
            plain = (self.source, self.missing, self.transform, self.run) == ("memory", "whole", "none", self.run)
            return plain and self.run != "resampled" and self.method not in NEEDS_SCORE
        if self.method in NEEDS_SCORE and self.test in SLOW[1:]:
            return False
        if self.method in {*NEEDS_SCORE} - {"gfci"} and self.missing == "pairwise":  # refused; "gfci" shows how
            return False
        if self.transform != "none" and (self.test in DISCRETE or self.has_levels_only):
            return False
        if self.source == "covariance":
            return self.test in {"auto", "fisherz"} and (self.missing, self.transform) == ("whole", "none")
        if self.source == "counted":
            return self.test in {"auto", "mixed", *DISCRETE} and self.transform == "none"
        if self.source == "weighted":
            by_score = self.method in NEEDS_SCORE and self.has_levels_only  # that score counts whole rows
            return self.test in WEIGHING and self.missing != "pairwise" and not by_score
        return not (self.source == "duckdb" and self.test in SLOW[1:])

    @property
    def has_levels_only(self) -> bool:
        """Are all columns of its table discrete?"""
        by_chance = self.test == "auto" and self.source != "covariance" and self.seed % 3 == 1
        return self.source == "counted" or self.test in DISCRETE or by_chance

    @property
    def pairs(self) -> Iterator[tuple[int, str, int, str]]:
        """Every two settings that it has together."""
        for (i, a), (j, b) in itertools.combinations(enumerate(self[:-1]), 2):
            yield i, a, j, b


def cases(count: int, tried: int = 200) -> Iterator[Case]:
    """Cases that cover the pairs of settings: each is, of `tried` random ones, the one with most pairs not yet seen."""
    draw, seen = random.Random(26), dict[tuple[int, str, int, str], int]()
    for seed in range(count):
        some = (_drawn(draw, seed) for _ in range(tried))
        best = max((case for case in some if case.is_possible), key=lambda case: _worth(case, seen))
        for pair in best.pairs:
            seen[pair] = seen.get(pair, 0) + 1
        yield best


def _drawn(draw: random.Random, seed: int) -> Case:
    chosen: dict[str, Any] = {name: draw.choice(values) for name, values in SETTINGS.items()}
    return Case(**chosen, seed=seed)


def _worth(case: Case, seen: Mapping[tuple[int, str, int, str], int]) -> float:
    return sum(0.5 ** seen.get(pair, 0) for pair in case.pairs)


# Tables


Columns = dict[str, np.ndarray]


def table_of(case: Case) -> Columns:
    """The columns of a case, with gaps where it is about them."""
    rows = (120 if case.test == "kci" else 150) if case.test in SLOW else (150, 400, 1000)[case.seed % 3]
    system = system_of(case)
    if case.has_levels_only:
        columns = dict(system.discrete(rows, levels=2 + case.seed % 2, seed=case.seed))
    else:
        columns = dict(system.linear_gaussian(rows, seed=case.seed))
        if case.test not in GAUSSIAN and case.source != "covariance":
            columns = _with_other_kinds(columns, case.seed)
    if case.missing != "whole":
        columns = _with_gaps(columns, case.seed)
    return _ordered(columns, case)


def system_of(case: Case) -> ap.simulate.System:
    """The system behind the table of a case: 6 to 12 variables, 4 or 5 for slow tests."""
    size = 4 + case.seed % 2 if case.test in SLOW else 6 + case.seed % 7
    return ap.simulate.random_system(size, 2.0 + case.seed % 2, n_selection=case.seed % 2, seed=case.seed)


def _with_other_kinds(columns: Columns, seed: int) -> Columns:
    """Every third column in three levels, every third one bent."""
    found: Columns = {}
    for k, (name, values) in enumerate(columns.items()):
        if (k + seed) % 3 == 0:
            found[name] = np.digitize(values, np.quantile(values, [0.3, 0.7]))
        elif (k + seed) % 3 == 1:
            found[name] = values + 0.3 * values**2
        else:
            found[name] = values
    return found


def _with_gaps(columns: Columns, seed: int) -> Columns:
    """Some one in thirty values of every second column is missing."""
    draw = np.random.default_rng(seed)
    found = {}
    for k, (name, values) in enumerate(columns.items()):
        is_gap = draw.random(len(values)) < 0.03
        found[name] = np.where(is_gap, np.nan, values.astype(float)) if k % 2 else values
    return found


def _ordered(columns: Columns, case: Case) -> Columns:
    names = list(columns)
    if case.columns == "permuted":
        random.Random(case.seed).shuffle(names)
    return {name: columns[name] for name in names}


def knowledge_of(case: Case) -> ap.Knowledge | None:
    """What is known beforehand: true of the system, so that searches agree with it."""
    if case.knowledge == "nothing":
        return None
    system = system_of(case)
    order = [name for name in system.dag.topological_order() if name in system.observed]
    half = len(order) // 2
    if case.knowledge == "tiers":
        return ap.Knowledge(tiers=[order[:half], order[half:]])
    return ap.Knowledge(not_causes=[(order[-1], order[0])], not_selecting=[order[1]])


def source_of(case: Case, folder: Path) -> Any:
    """What is handed to `learn`."""
    if case.test == "oracle":
        return system_of(case).oracle()
    columns = table_of(case)
    if case.test == "function":
        test = ap.FisherZ(columns)
        return ap.from_callable(lambda x, y, z: float(test.pvalues(ap.Queries.one(x, y, z))[0]), test.names)
    return SOURCES[case.source](columns, folder)


def _frame(columns: Columns) -> polars.DataFrame:
    return polars.DataFrame(columns, nan_to_null=True)


def _in_memory(columns: Columns, _: Path) -> Any:
    return columns


def _in_csv(columns: Columns, folder: Path) -> Any:
    _frame(columns).write_csv(folder / "rows.csv")
    return folder / "rows.csv"


def _in_parquet(columns: Columns, folder: Path) -> Any:
    _frame(columns).write_parquet(folder / "rows.parquet")
    return folder / "rows.parquet"


def _counted(columns: Columns, _: Path) -> Any:
    frame = _frame(columns)
    return ap.counted(frame.group_by(frame.columns, maintain_order=True).len("times"), "times")


def _in_duckdb(columns: Columns, folder: Path) -> Any:
    import duckdb

    path = _in_parquet(columns, folder)
    return duckdb.connect(config={"threads": "1"}).read_parquet(str(path))


def _covariance(columns: Columns, _: Path) -> Any:
    values = np.column_stack(list(columns.values()))
    return ap.FisherZ.from_covariance(np.cov(values, rowvar=False), len(values), list(columns))


def _in_contexts(columns: Columns, _: Path) -> Any:
    """Two or three data sets; in all but the first, a column has its least value in every second row."""
    parts = 2 + len(columns) % 2
    sets = {f"set {k}": {name: values[k::parts] for name, values in columns.items()} for k in range(parts)}
    for k, name in zip(range(1, parts), columns, strict=False):
        own = sets[f"set {k}"][name]
        sets[f"set {k}"][name] = np.where(np.arange(len(own)) % 2, own, np.nanmin(own))
    return ap.pooled(sets, contexts_test=("all", "pairwise")[len(columns) % 2])


def _weighted(columns: Columns, _: Path) -> Any:
    n = len(next(iter(columns.values())))
    return ap.weighted({**columns, "weight": 1.0 + np.arange(n) % 3}, "weight")


SOURCES: dict[str, Callable[[Columns, Path], Any]] = {
    "memory": _in_memory,
    "csv": _in_csv,
    "parquet": _in_parquet,
    "counted": _counted,
    "duckdb": _in_duckdb,
    "covariance": _covariance,
    "contexts": _in_contexts,
    "weighted": _weighted,
}


# Searches


def options_of(case: Case) -> dict[str, Any]:
    """The choices of a case; those about data only where data come."""
    chosen: dict[str, Any] = {
        "method": case.method,
        "alpha": (0.01, 0.05)[case.seed % 2],
        "max_r": None if case.method == "auto" or (case.method in {"icd", "rfci", "bayes"} and case.seed % 2) else 3,
        "knowledge": knowledge_of(case),
        "selection_bias": case.knowledge != "tiers" or case.seed % 4 > 0,
    }
    if case.method == "auto":
        chosen["effort"] = 0.3
    if case.method in {"icd", "fci"} and case.seed % 3 == 0:
        chosen["threads"] = 2
    if case.test in WITHOUT_DATA or case.source == "covariance":
        return chosen
    missing = "error" if case.missing == "whole" else case.missing
    return {**chosen, "test": case.test, "transform": case.transform, "missing": missing}


def found_by(case: Case, folder: Path) -> ap.Result:
    """The result of a case: of one run, of one that was stopped and resumed, or with resamples."""
    source, options = source_of(case, folder), options_of(case)
    if case.run == "resampled":
        return ap.bootstrap(source, 3, seed=case.seed, **options).result
    if case.run == "once":
        return ap.learn(source, **options)
    kept = folder / "kept.checkpoint"
    ap.learn(source, **options, checkpoint=kept, stop=lambda state, info: True)
    return ap.learn(source, **options, checkpoint=kept, resume=True)


def line_of(case: Case) -> str:
    """A line on what a case finds; of a case that is refused, the kind of the error and a digest of its sentence."""
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            result = found_by(case, Path(name))
            told = [str(item.message) for item in heard if issubclass(item.category, ap.AnypagWarning)]
            return f"{case} | {counts_of(result)} | {digests_of(result, told, Path(name))}"
        except ap.AnypagError as error:
            return f"{case} | refused {type(error).__name__} | texts={_digest(_without(str(error), Path(name)))}"


def counts_of(result: ap.Result) -> str:
    """A few counts to read."""
    edges, steps, conflicts = len(result.pag.edges()), len(result.history), len(result.conflicts)
    return f"{edges} edges {result.n_tests} tests {steps} steps {conflicts} conflicts"


def digests_of(result: ap.Result, told: Iterable[str], folder: Path) -> str:
    """A digest for each part of what a result says."""
    found = (
        graph_of(result),
        numbers_of(result),
        claims_of(result),
        json_of(result, folder),
        "" if result.audit is None else (str(result.audit), result.audit.kinds, result.audit.checked),
        texts_of(result, told),
    )
    return " ".join(f"{part}={_digest(_without(repr(item), folder))}" for part, item in zip(PARTS, found, strict=True))


def graph_of(result: ap.Result) -> Any:
    """The edges and why they are as they are, without numbers."""
    return (
        str(result.pag),
        [(pair, why.given, why.r) for pair, why in sorted(result.sepsets.items())],
        [tuple(map(str, reason)) for reason in (*result.marks, *result.conflicts)],
        [str(item.pag) for item in result.history],
        [] if result.stability is None else [*map(str, result.stability.graphs)],
    )


def numbers_of(result: ap.Result) -> Any:
    """Every number a result has, to the bit."""
    return (
        [(edge.a, edge.b, result.kept_p(edge.a, edge.b).hex()) for edge in result.pag.edges()],
        [(pair, why.p.hex(), why.n) for pair, why in sorted(result.sepsets.items())],
        [(item.r, sorted(item.info.tests.items()), item.info.n_edges, item.info.n_open) for item in result.history],
        _probabilities(result.probabilities),
        None if result.stability is None else [a.tolist() for a in (result.stability.adjacency, result.stability.tail)],
        (result.n_rows, result.complete, result.stopped, sorted(result.strengths.items())),
    )


def _probabilities(said: Any) -> Any:
    if said is None:
        return None
    numbers = (said.n_samples, said.expected_errors.hex(), said.best_score.hex(), said.hidden, said.n_classes)
    return (*numbers, sorted(said.pairs.items()), said.graphs)


def claims_of(result: ap.Result) -> Any:
    """What cannot all be true, what was taken back, and what became of the knowledge."""
    known = [tuple(map(str, item)) if isinstance(item, tuple) else str(item) for item in result.knowledge]
    return (
        result.valid,
        [(item.sentence, item.pairs) for item in result.contradictions],
        [str(item) for item in result.withdrawn],
        known,
    )


def json_of(result: ap.Result, folder: Path) -> str:
    """The file of a result, in the order of its keys, without times and versions."""
    result.save(folder / "result.json")
    return json.dumps(_timeless(json.loads((folder / "result.json").read_text())), sort_keys=True)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if key not in {"seconds", "version"}}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def texts_of(result: ap.Result, told: Iterable[str]) -> Any:
    """The result printed, what it says of the first pairs, and the warnings."""
    names = result.pag.names
    explained = [str(result.explain(a, b)) for a, b in (names[:2], names[-2:])] if len(names) > 2 else []
    return (str(result), explained, result.cautions, str(result.stability or ""), list(told))


def _without(text: str, folder: Path) -> str:
    return text.replace(str(folder), "")


def _digest(value: str | Any) -> str:
    return hashlib.blake2b(str(value).encode(), digest_size=4).hexdigest()


def bayes_cases(count: int) -> Iterator[Case]:
    """Tables for "bayes": continuous, discrete and mixed in turn, with more to find than the other cases."""
    for seed in range(count):
        test = ("fisherz", "gsq", "mixed", "additive", "fisherz")[seed % 5]
        source = "memory" if seed % 4 else "csv"
        yield Case("bayes", test, source, "whole", "none", "nothing", "in order", "once", 1000 + seed)


# Comparing


def lines(searches: int, bayes_tables: int, large: Iterable[int] = (), workers: int = 1) -> Iterator[str]:
    """A line for each case, and for each large system, in the order of the cases."""
    every = (*cases(searches), *bayes_cases(bayes_tables))
    if workers == 1:
        yield from map(line_of, every)
    else:
        with get_context("spawn").Pool(workers) as pool:
            yield from pool.imap(line_of, every)
    yield from map(large_line, large)


def large_line(n: int) -> str:
    """A line on what "icd" finds in a system of n nodes."""
    sample = ap.simulate.random_system(n, 2.0, seed=n).linear_gaussian(1000, seed=n)
    result = ap.learn(sample, method="icd", threads=0)
    found = f"graph={_digest(graph_of(result))} numbers={_digest(numbers_of(result))}"
    return f"{n} nodes | {counts_of(result)} | {found}"


def differing(old: Iterable[str], new: Iterable[str]) -> Iterator[str]:
    """What differs between lines of the same cases: for each, the parts that changed and the counts."""
    before, after = ({line.split(" | ")[0]: line for line in side} for side in (old, new))
    for case in before | after:
        a, b = before.get(case), after.get(case)
        if a is None or b is None:
            yield f"{case}: only {'new' if a is None else 'old'}"
        elif a != b:
            yield f"{case}: {_what_differs(a, b)}"


def _what_differs(a: str, b: str) -> str:
    parts = [dict(re.findall(r"(\w+)=(\w+)", line)) for line in (a, b)]
    changed = [part for part in PARTS if parts[0].get(part) != parts[1].get(part)]
    counts = [line.split(" | ")[1] for line in (a, b)]
    said = counts[0] if counts[0] == counts[1] else f"{counts[0]} -> {counts[1]}"
    return f"{', '.join(changed) or 'counts'} ({said})"


def lines_at(revision: str, arguments: list[str], workers: int) -> list[str]:
    """The lines of another commit: from a temporary worktree of it, or kept from the time before."""
    commit = _git("rev-parse", "--short=12", f"{revision}^{{commit}}")
    kept = ROOT / ".cache" / "same" / f"{commit}-{_digest(Path(__file__).read_text())}{'-'.join(['', *arguments])}.txt"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(_run_at(commit, [*arguments, "--workers", str(workers)]))
    return kept.read_text().splitlines()


def _run_at(commit: str, arguments: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        _git("worktree", "add", "--detach", "--force", str(tree), commit)
        try:
            place = {"PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(tree / ".cache")}
            command = [sys.executable, str(Path(__file__).resolve()), *arguments]
            return subprocess.run(
                command, env=os.environ | place, cwd=tree, check=True, capture_output=True, text=True
            ).stdout
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def _cases_as(options: argparse.Namespace) -> list[str]:
    """The arguments that choose the same cases."""
    large = ["--large", *map(str, options.large)] if options.large else []
    return [*(["--quick"] if options.quick else []), *large]


def main() -> int:
    """Prints one line a case, or, where it compares, one line for each case that differs; 1 if any does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer cases, well under a minute")
    parser.add_argument("--against", metavar="REV", help="compare with this commit")
    parser.add_argument("--compare", metavar="FILE", type=Path, help="compare with lines written before")
    parser.add_argument("--workers", metavar="N", type=int, default=1, help="processes that share the cases")
    parser.add_argument("--large", metavar="N", type=int, nargs="*", default=[], help="also systems of N nodes")
    options = parser.parse_args()
    count = (QUICK_SEARCHES, QUICK_BAYES_TABLES) if options.quick else (SEARCHES, BAYES_TABLES)
    here = lines(*count, options.large, options.workers)
    if options.against is None and options.compare is None:
        for line in here:
            print(line, flush=True)
        return 0
    if options.compare:
        old = options.compare.read_text().splitlines()
    else:
        print(f"The lines of {options.against} come first; compiling its kernels takes two minutes.", file=sys.stderr)
        old = lines_at(options.against, _cases_as(options), options.workers)
    found = list(differing(old, here))
    parts = ", ".join(f"{part} {sum(part in line.split(': ')[1].split(' (')[0] for line in found)}" for part in PARTS)
    print("\n".join([*found, f"{len(found)} of {len(old)} cases differ: {parts}"]))
    return bool(found)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
