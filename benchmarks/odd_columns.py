"""Sizes of all named tests on sparse tables of levels and on odd numbers: zeros, heavy tails, ties, few rows.

    OMP_NUM_THREADS=1 python benchmarks/odd_columns.py [--draws 1000] [--slow 100] [--workers 16]

x and y are independent given z in every draw, so a share of rejections above alpha is a share of false edges. Slow
tests get fewer draws. Beside them: false edges of whole searches (8 columns of 15 levels; real-looking tables of
`tests/attack`), and power of `additive` with and without its rule for columns that are mostly one value. Writes its
tables to benchmarks/odd_columns.md.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt

import anypag as ap

Array = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator], tuple[Array, tuple[int, ...]]]
"""x, y and z as columns, and which of them are discrete."""
PAGE = Path(__file__).with_suffix(".md")
SLOW = ("gcm", "kci")
MOST_ROWS = {"kci": 300}


def levels(rows: int, count: int, strata: int, margin: str = "even") -> Draw:
    """x and y with so many levels, z with so many strata (none if 1)."""
    chances = {
        "even": np.ones(count),
        "rare": np.append(1 - 0.01 * (count - 1), np.full(count - 1, 0.01)),
        "zipf": 1 / np.arange(1, count + 1),
    }[margin]

    def draw(rng: np.random.Generator) -> tuple[Array, tuple[int, ...]]:
        columns = [rng.choice(count, rows, p=chances / chances.sum()) for _ in range(2)]
        columns += [rng.integers(0, strata, rows)] if strata > 1 else []
        return np.column_stack(columns).astype(float), tuple(range(len(columns)))

    return draw


def numbers(rows: int, *makes: Callable[[np.random.Generator, int], Array]) -> Draw:
    """Independent columns, each made in its own way."""
    return lambda rng: (np.column_stack([make(rng, rows) for make in makes]), ())


def zeros(share: float) -> Callable[[np.random.Generator, int], Array]:
    """All but a share of the values are zero."""
    return lambda rng, n: rng.exponential(size=n) * (rng.random(n) < share)


def normal(rng: np.random.Generator, n: int) -> Array:
    """A plain column."""
    return rng.normal(size=n)


def cauchy(rng: np.random.Generator, n: int) -> Array:
    """A column with tails so heavy that it has no mean."""
    return rng.standard_cauchy(n)


def counts(rng: np.random.Generator, n: int) -> Array:
    """Small whole numbers, with many ties."""
    return rng.poisson(0.5, n).astype(float)


def rare_and_zeros(rng: np.random.Generator) -> tuple[Array, tuple[int, ...]]:
    """A level of 2 % beside numbers of which 10 % are not zero, given a plain column."""
    x, y, z = (rng.random(500) < 0.02).astype(float), zeros(0.1)(rng, 500), rng.normal(size=500)
    return np.column_stack([x, y, z]), (0,)


OF_LEVELS: dict[str, Draw] = {
    "15 levels, 500 rows": levels(500, 15, 1),
    "10 levels, 4 strata, 1,000 rows": levels(1000, 10, 4),
    "15 levels, 3 strata, 1,000 rows": levels(1000, 15, 3),
    "3 levels, 200 strata, 1,000 rows": levels(1000, 3, 200),
    "5 levels, four of 1 %, 16 strata, 1,000 rows": levels(1000, 5, 16, "rare"),
    "10 levels by Zipf, 500 rows": levels(500, 10, 1, "zipf"),
    "3 levels, 4 strata, 40 rows": levels(40, 3, 4),
}
OF_NUMBERS: dict[str, Draw] = {
    "1 % not zero, 1,000 rows": numbers(1000, zeros(0.01), zeros(0.01)),
    "3 % not zero, z two such, 500 rows": numbers(500, *[zeros(0.03)] * 4),
    "10 % beside 1 % not zero, 1,000 rows": numbers(1000, zeros(0.1), zeros(0.01)),
    "Cauchy, z one, 300 rows": numbers(300, cauchy, cauchy, cauchy),
    "ties (Poisson), z one, 300 rows": numbers(300, counts, counts, counts),
    "normal, z two, 25 rows": numbers(25, normal, normal, normal, normal),
    "rare level, zeros, z normal, 500 rows": rare_and_zeros,
}
KINDS: dict[str, Any] = {
    "permutation": ap.PermutationChiSquared,
    "gsq": ap.GSquared,
    "chisq": ap.ChiSquared,
    "fisherz": ap.FisherZ,
    "mixed": ap.DegenerateGaussian,
    "additive": ap.Additive,
    "gcm": ap.GCM,
    "kci": ap.KCI,
}


def answered(name: str, values: Array, discrete: Sequence[int]) -> float:
    """The p-value of a test."""
    kind, names = KINDS[name], [f"X{i}" for i in range(values.shape[1])]
    question = ap.Queries.one(0, 1, range(2, len(names)))
    if (np.ptp(values, axis=0) == 0).any():  # a column that never changes shows no dependence
        return 1.0
    kinds = {name: "discrete" if i in discrete else "continuous" for i, name in enumerate(names)}
    given = {"kinds": kinds} if kind.takes == "any" else {}
    return float(kind(values, singular="keep", max_r=len(names) - 2, **given).pvalues(question)[0])


def fits(name: str, draw: Draw) -> bool:
    """Does the test take such columns, and in bearable time?"""
    values, discrete = draw(np.random.default_rng(0))
    takes = KINDS[name].takes
    of_kind = takes == "any" or (takes == "discrete") == (len(discrete) == values.shape[1])
    return of_kind and not (takes == "continuous" and discrete) and len(values) <= MOST_ROWS.get(name, 10**6)


def quiet() -> None:
    """Leave the audit out, which changes no answer; no warnings."""
    setattr(import_module("anypag.data.audit.checklist"), "CHECKS", ())  # noqa: B010
    warnings.simplefilter("ignore")


def some_pvalues(name: str, setting: str, seeds: range) -> list[float]:
    """p-values of some draws of a setting; NaN where the test failed."""
    quiet()
    draw, found = {**OF_LEVELS, **OF_NUMBERS}[setting], []
    for seed in seeds:
        rng = np.random.default_rng([seed, 1])
        try:
            found.append(answered(name, *draw(rng)))
        except Exception:  # a failure is a result
            found.append(np.nan)
    return found


def shares(p: Array) -> str:
    """Shares rejected at 0.01 and 0.05, and how often a test failed."""
    failed, known = int(np.isnan(p).sum()), p[~np.isnan(p)]
    told = f"{np.mean(known < 0.01):.3f}/{np.mean(known < 0.05):.3f}" if len(known) else "–"
    return told + f" ({failed} failed)" * (failed > 0)


def table(settings: dict[str, Draw], names: Sequence[str], draws: tuple[int, int], workers: int) -> str:
    """A line for every setting, a column for every test; parts of 25 draws are shared out."""
    jobs = [
        (name, setting, range(first, min(first + 25, most)))
        for setting, draw in settings.items()
        for name in names
        if fits(name, draw)
        for most in [draws[name in SLOW]]
        for first in range(0, most, 25)
    ]
    jobs.sort(key=lambda job: job[0] not in SLOW)  # the long ones first
    made = joblib.Parallel(workers)(joblib.delayed(some_pvalues)(*job) for job in jobs)
    of: dict[tuple[str, str], list[float]] = {}
    for (name, setting, _), found in zip(jobs, made, strict=True):
        of.setdefault((setting, name), []).extend(found)
    lines = [f"| columns | {' | '.join(f'`{name}`' for name in names)} |", f"|---|{'---|' * len(names)}"]
    for setting in settings:
        cells = [shares(np.array(of[setting, name])) if (setting, name) in of else "" for name in names]
        lines.append(f"| {setting} | {' | '.join(cells)} |")
    print("\n".join(lines), flush=True)
    return "\n".join(lines)


def edges_of_levels(seed: int, test: str) -> int:
    """False edges among 8 independent columns of 15 levels, 500 rows."""
    quiet()
    values = np.random.default_rng(seed).integers(0, 15, (500, 8))
    return len(ap.learn(values, method="icd", test=test).pag.edges())


def power_of_additive(seed: int, mostly: float) -> tuple[bool, bool]:
    """Does `additive` see, at 0.01, a line and a step of a column of which 5 % are not zero? 500 rows, one column in z.

    Args:
        mostly: the share of one value above which only the straight part is tested.
    """
    quiet()
    setattr(import_module("anypag.ci.additive"), "MOSTLY", mostly)  # noqa: B010
    rng = np.random.default_rng(seed)
    x, z, noise = zeros(0.05)(rng, 500), rng.normal(size=500), rng.normal(size=500)
    pair = (x, noise + 0.5 * x), (x, noise + 0.7 * (x > 0))
    p = [ap.Additive(np.column_stack([*xy, z]), max_r=1).pvalues(ap.Queries.one(0, 1, [2]))[0] for xy in pair]
    return bool(p[0] < 0.01), bool(p[1] < 0.01)


def false_edges(seed: int) -> tuple[str, int, int]:
    """The default test, the pairs and the false edges of one real-looking table of independent columns, by "rfci"."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    made = import_module("attack.real_looking").made(seed, 0)
    warnings.simplefilter("ignore")
    try:
        result = ap.learn(made.frame, method="rfci", alpha=0.01, **made.options)
    except ap.AnypagError:  # a column without variation, say
        return "refused", 0, 0
    width = len(result.pag.names)
    return str(result.test_name), width * (width - 1) // 2, len(result.pag.edges())


def extras(workers: int, draws: int) -> str:
    """What is measured beside the sizes, as lines of text."""
    share, lines = joblib.Parallel(workers), []
    for test in ("gsq", "permutation"):
        found = np.mean(share(joblib.delayed(edges_of_levels)(seed, test) for seed in range(40)))
        lines.append(f"8 independent columns of 15 levels, 500 rows, 40 tables, `{test}`: {found:.2f} false edges")
    for what, mostly in (("all three functions", 2.0), ("the straight part only, as now", 0.8)):
        line, step = np.mean(share(joblib.delayed(power_of_additive)(k, mostly) for k in range(draws)), axis=0)
        lines.append(f"`additive`, 5 % not zero, 500 rows, {what}: power {line:.2f} (a line), {step:.2f} (a step)")
    edges = share(joblib.delayed(false_edges)(seed) for seed in range(100 * draws))
    for test in ("PermutationChiSquared", "FisherZ", "DegenerateGaussian"):
        pairs, false = np.sum([item[1:] for item in edges if item[0] == test], axis=0)
        lines.append(
            f"real-looking tables of independent columns, {test}: {100 * false / pairs:.2f} % of {pairs:,} pairs"
        )
    told = "\n".join(f"- {line}." for line in lines)
    print(told, flush=True)
    return "At 0.01:\n\n" + told


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--slow", type=int, default=100, help="draws for slow tests")
    parser.add_argument("--workers", type=int, default=-1, help="processes; one per core if left out")
    options = parser.parse_args()
    draws, workers = (options.draws, options.slow), options.workers
    made = [
        "# Odd columns\n",
        "Written by `python benchmarks/odd_columns.py`; `docs/tests.md` says what it means.\n",
        f"Size at 0.01/at 0.05: {draws[0]} draws, {draws[1]} for {', '.join(f'`{name}`' for name in SLOW)}. "
        "Empty: the test does not take such columns, or would take too long.\n",
        table(OF_LEVELS, ("permutation", "gsq", "chisq", "mixed", "additive", *SLOW), draws, workers),
        "",
        table(OF_NUMBERS, ("fisherz", "mixed", "additive", *SLOW), draws, workers),
        "",
        extras(workers, min(draws[0], 200)),
    ]
    PAGE.write_text("\n".join(made) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
