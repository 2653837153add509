"""Sizes of all named tests on sparse tables of levels and on odd numbers: zeros, heavy tails, ties, few rows.

    OMP_NUM_THREADS=1 python benchmarks/odd_columns.py [--draws 300] [--slow 30]

x and y are independent given z in every draw, so a share of rejections above alpha is a share of false edges. Slow
tests get fewer draws. Writes its tables into docs/tests.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import anypag as ap
from anypag.ci.imputed import ImputedFisherZ, filled_in

Array = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator], tuple[Array, tuple[int, ...]]]
"""x, y and z as columns, and which of them are discrete."""
PAGE = Path(__file__).parents[1] / "docs" / "tests.md"
MARK = "<!-- made by benchmarks/odd_columns.py -->\n"
END = "<!-- end of odd columns -->\n"
SLOW = ("gcm", "weighted-gcm", "rcot", "kci")
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
    "imputed": ImputedFisherZ,
    "gcm": ap.GCM,
    "weighted-gcm": ap.WeightedGCM,
    "rcot": ap.RCoT,
    "kci": ap.KCI,
}


def answered(name: str, values: Array, discrete: Sequence[int], rng: np.random.Generator) -> float:
    """The p-value of a test; for "imputed" a fifth of the values is missing first."""
    kind, names = KINDS[name], [f"X{i}" for i in range(values.shape[1])]
    question = ap.Queries.one(0, 1, range(2, len(names)))
    if (np.ptp(values, axis=0) == 0).any():  # a column that never changes shows no dependence
        return 1.0
    if name == "imputed":
        gaps = np.where(rng.random(values.shape) < 0.2, np.nan, values)
        return float(kind(filled_in(gaps), singular="keep").pvalues(question)[0])
    kinds = {name: "discrete" if i in discrete else "continuous" for i, name in enumerate(names)}
    given = {"kinds": kinds} if kind.takes == "any" else {}
    return float(kind(values, singular="keep", max_r=len(names) - 2, **given).pvalues(question)[0])


def size(name: str, draw: Draw, draws: tuple[int, int]) -> str:
    """Shares rejected at 0.01 and 0.05, and how often a test failed; empty where it does not take such columns."""
    values, discrete = draw(np.random.default_rng(0))
    takes = KINDS[name].takes
    fits = takes == "any" or (takes == "discrete") == (len(discrete) == values.shape[1])
    if not fits or (takes == "continuous" and discrete) or len(values) > MOST_ROWS.get(name, 10**6):
        return ""
    p, failed = [], 0
    for seed in range(draws[name in (*SLOW, "imputed")]):
        rng = np.random.default_rng([seed, len(values)])
        try:
            p.append(answered(name, *draw(rng), rng))
        except Exception:  # a failure is a result
            failed += 1
    return f"{np.mean(np.array(p) < 0.01):.3f} / {np.mean(np.array(p) < 0.05):.3f}" + f" ({failed} failed)" * (
        failed > 0
    )


def table(settings: dict[str, Draw], names: Sequence[str], draws: tuple[int, int]) -> str:
    """A line for every setting, a column for every test."""
    lines = [f"| columns | {' | '.join(f'`{name}`' for name in names)} |", f"|---|{'---|' * len(names)}"]
    for setting, draw in settings.items():
        lines.append(f"| {setting} | {' | '.join(size(name, draw, draws) for name in names)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--slow", type=int, default=30, help="draws for slow tests")
    options = parser.parse_args()
    draws = options.draws, options.slow
    setattr(import_module("anypag.data.audit.checklist"), "CHECKS", ())  # noqa: B010  # changes no answer
    warnings.simplefilter("ignore")
    made = [
        f"Size at 0.01 / at 0.05: {draws[0]} draws, {draws[1]} for `imputed` (a fifth of the values is missing), "
        f"{', '.join(f'`{name}`' for name in SLOW)}. Empty: the test "
        "does not take such columns, or would take too long.\n",
        table(
            OF_LEVELS, ("permutation", "gsq", "chisq", "mixed", "additive", "gcm", "weighted-gcm", "rcot", "kci"), draws
        ),
        "",
        table(OF_NUMBERS, ("fisherz", "mixed", "additive", "imputed", "gcm", "weighted-gcm", "rcot", "kci"), draws),
    ]
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(MARK)[0], text.partition(END)[2]
    PAGE.write_text(before + MARK + "\n".join(made) + "\n" + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
