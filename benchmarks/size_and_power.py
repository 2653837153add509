"""Size and power of every test on many kinds of data, beside causal-learn's kernel tests: writes docs/tests.md.

    python benchmarks/size_and_power.py [--draws 200]          (causal-learn comes with the extra [bench])

Size is how often a test rejects x ⟂ y | z where it holds, power how often where it does not. Slow tests get
a part of the draws. Every test sees the same draws.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

import anypag as ap
from anypag.data import prepare

Array = npt.NDArray[np.float64]
PAGE = Path(__file__).parents[1] / "docs" / "tests.md"
SHAPES = ((100, 2), (1000, 0), (1000, 2), (1000, 5), (5000, 2))
"""Rows, and members of z."""


class Drawn(NamedTuple):
    """x and y in the first two columns, z in the others."""

    values: Array
    discrete: tuple[int, ...] = ()


def linear(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    """Straight lines, normal noise; the effect is a straight line too."""
    z, e = rng.normal(size=(n, k)), rng.normal(size=(n, 2))
    mean = 0.7 * z.sum(axis=1)
    return _joined(mean + e[:, 0], mean + e[:, 1] + 0.5 * effect * e[:, 0], z)


def additive(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    """Sums of curves of z (line, square, sine, tanh, absolute value); the effect is a square."""
    z, e = rng.normal(size=(n, k)), rng.normal(size=(n, 2))
    curves: list[Callable[[Array], Array]] = [np.tanh, lambda v: v * v / 2, lambda v: np.sin(2 * v), np.abs, np.array]
    x = e[:, 0] + sum((curves[j % 5](z[:, j]) for j in range(k)), np.zeros(n))
    y = e[:, 1] + sum((curves[(j + 1) % 5](z[:, j]) for j in range(k)), np.zeros(n))
    return _joined(x, y + 0.5 * effect * e[:, 0] ** 2, z)


def interaction(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    """Products of two members of z in both means; the effect is a straight line."""
    z, e = rng.normal(size=(n, k)), rng.normal(size=(n, 2))
    mean = z[:, 0] * z[:, 1] if k > 1 else 0.7 * z.sum(axis=1)
    return _joined(mean + e[:, 0], mean + e[:, 1] + 0.5 * effect * e[:, 0], z)


def spread(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    """The spread of both grows with z (heteroscedastic); the effect is a straight line."""
    z, e = rng.normal(size=(n, k)), rng.normal(size=(n, 2))
    scale = np.exp(0.5 * z[:, 0]) if k else np.ones(n)
    x, y = scale * e[:, 0], scale * e[:, 1] + 0.5 * effect * scale * e[:, 0]
    return _joined(0.7 * z.sum(axis=1) + x, 0.7 * z.sum(axis=1) + y, z)


def heavy(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    """Straight lines with heavy tails: noise and z by Student's t with 3 degrees of freedom."""
    z, e = rng.standard_t(3, size=(n, k)), rng.standard_t(3, size=(n, 2))
    mean = 0.4 * z.sum(axis=1)
    return _joined(mean + e[:, 0], mean + e[:, 1] + 0.5 * effect * e[:, 0], z)


def discrete(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    """All columns have two levels, x three; the chances are logistic in z."""
    z = rng.integers(0, 2, size=(n, k)).astype(float)
    lean = 0.8 * (z.sum(axis=1) - k / 2)
    x = (_coin(rng, lean) + _coin(rng, lean)).astype(float)
    y = _coin(rng, lean + 0.8 * effect * (x - 1)).astype(float)
    return _joined(x, y, z, tuple(range(k + 2)))


def mixed(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    """x has two levels with logistic chances in continuous z, y is continuous and linear in z."""
    z = rng.normal(size=(n, k))
    lean = 1.5 * z.sum(axis=1)
    x = _coin(rng, lean).astype(float)
    return _joined(x, lean + rng.normal(size=n) + 0.5 * effect * x, z, (0,))


def ties(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    """Straight lines, all values rounded to whole numbers and taken as continuous."""
    made = linear(rng, n, k, effect)
    return Drawn(np.round(made.values))


def _coin(rng: np.random.Generator, lean: Array) -> npt.NDArray[np.bool_]:
    return np.asarray(rng.random(len(lean)) < 1 / (1 + np.exp(-lean)))


def _joined(x: Array, y: Array, z: Array, are_discrete: tuple[int, ...] = ()) -> Drawn:
    return Drawn(np.column_stack([x, y, z]), are_discrete)


SETTINGS: dict[str, Callable[[np.random.Generator, int, int, float], Drawn]] = {
    "linear": linear,
    "additive": additive,
    "interaction": interaction,
    "heteroscedastic": spread,
    "heavy tails": heavy,
    "discrete": discrete,
    "mixed": mixed,
    "ties": ties,
}


class Entry(NamedTuple):
    """A test of the table: how it answers, what share of the draws it gets, and how many rows at most."""

    answer: Callable[[Drawn], float]
    share: float
    most_rows: int
    fits: Callable[[Drawn], bool]


def _ours(kind: Any, **more: Any) -> Callable[[Drawn], float]:
    takes_kinds = kind.takes == "any"

    def answer(drawn: Drawn) -> float:
        names = [f"X{i}" for i in range(drawn.values.shape[1])]
        kinds = {name: "discrete" if i in drawn.discrete else "continuous" for i, name in enumerate(names)}
        given = {"kinds": kinds} if takes_kinds else {}
        test = kind(drawn.values, singular="keep", max_r=drawn.values.shape[1] - 2, **given, **more)
        return float(test.pvalues(ap.Queries.one(0, 1, range(2, drawn.values.shape[1])))[0])

    return answer


def _theirs(method: str) -> Callable[[Drawn], float]:
    def answer(drawn: Drawn) -> float:
        from causallearn.utils.cit import CIT

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = CIT(drawn.values, method)(0, 1, list(range(2, drawn.values.shape[1])))
        return float(np.squeeze(found))

    return answer


def entries() -> dict[str, Entry]:
    """All tests, ours and causal-learn's where it is installed."""
    numbers = {"all": lambda drawn: True, "plain": lambda drawn: not drawn.discrete}
    levels: Callable[[Drawn], bool] = lambda drawn: len(drawn.discrete) == drawn.values.shape[1]  # noqa: E731
    found = {
        "fisherz": Entry(_ours(ap.FisherZ), 1.0, 10**6, numbers["plain"]),
        "mixed": Entry(_ours(ap.DegenerateGaussian), 1.0, 10**6, numbers["all"]),
        "gsq": Entry(_ours(ap.GSquared), 1.0, 10**6, levels),
        "chisq": Entry(_ours(ap.ChiSquared), 1.0, 10**6, levels),
        "additive": Entry(_ours(ap.Additive), 1.0, 10**6, numbers["all"]),
        "gcm": Entry(_ours(ap.GCM), 0.25, 10**6, numbers["all"]),
        "weighted-gcm": Entry(_ours(ap.WeightedGCM), 0.25, 10**6, numbers["all"]),
        "rcot": Entry(_ours(ap.RCoT), 0.25, 10**6, numbers["all"]),
        "kci": Entry(_ours(ap.KCI), 0.2, 100, numbers["all"]),
    }
    try:
        import causallearn  # noqa: F401
    except ImportError:
        return found
    for method, share in (("kci", 0.2), ("rcit", 0.2), ("fastkci", 0.05)):
        found[f"causal-learn {method}"] = Entry(_theirs(method), share, 100, numbers["all"])
    return found


class Cell(NamedTuple):
    """What came of the draws of one setting, shape and effect."""

    p: Array
    failures: int
    seconds: float


def measured(entry: Entry, draw: Callable[..., Drawn], n: int, k: int, effect: float, draws: int) -> Cell:
    """The p-values of a test, each draw from a seed of its own."""
    p, failures, began = [], 0, time.process_time()
    count = max(5, round(draws * entry.share))
    for seed in range(count):
        drawn = draw(np.random.default_rng([seed, n, k, int(effect)]), n, k, effect)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                p.append(entry.answer(drawn))
        except Exception:  # somebody else's test may fail in any way: it is counted
            failures += 1
    return Cell(np.array(p), failures, (time.process_time() - began) / count)


def _shown(null: Cell, real: Cell) -> str:
    size = " / ".join(f"{np.mean(null.p < alpha):.2f}" if len(null.p) else "–" for alpha in (0.01, 0.05))
    power = f"{np.mean(real.p < 0.05):.2f}" if len(real.p) else "–"
    failed = null.failures + real.failures
    return f"{size}, {power}" + (f" ({failed} failed)" if failed else "")


def table_of(name: str, draws: int) -> list[str]:
    """The table of one setting."""
    setattr(prepare, "SUSPICIONS", ())  # noqa: B010  # looks at every table, and changes no answer
    draw = SETTINGS[name]
    head = " | ".join(f"{n:,} rows, {k} in z" for n, k in SHAPES)
    made = [f"\n### {name.capitalize()}\n\n{(draw.__doc__ or '').strip()}\n"]
    made.append(f"| test | {head} |\n|---|{'---|' * len(SHAPES)}")
    for test, entry in entries().items():
        if not entry.fits(draw(np.random.default_rng(0), 50, 2, 0.0)):
            continue
        cells = []
        for n, k in SHAPES:
            if n > entry.most_rows:
                cells.append("")
                continue
            null, real = (measured(entry, draw, n, k, effect, draws) for effect in (0.0, 1.0))
            cells.append(_shown(null, real))
        made.append(f"| `{test}` | " + " | ".join(cells) + " |")
    return made


def costs() -> Iterator[str]:
    """Milliseconds per test at 1,000 rows and two members of z, the table at hand (bound) or not."""
    drawn = linear(np.random.default_rng(0), 1000, 2, 0.0)
    yield "\n| test | ms a test, 1,000 rows, 2 in z, binding included |\n|---|---|"
    for test, entry in entries().items():
        small = drawn if entry.most_rows >= 1000 else linear(np.random.default_rng(0), 100, 2, 0.0)
        if not entry.fits(drawn):
            continue
        entry.answer(small)
        began = time.process_time()
        for _ in range(3):
            entry.answer(small)
        note = "" if small is drawn else " (100 rows)"
        yield f"| `{test}` | {(time.process_time() - began) / 3 * 1e3:.1f}{note} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    draws = options.draws
    text = PAGE.read_text(encoding="utf-8")
    mark = "<!-- made by benchmarks/size_and_power.py; text above is written by hand -->\n"
    made = [f"{draws} draws a cell for fast tests, a quarter of them for `gcm`, `weighted-gcm` and `rcot`, a fifth"]
    made.append("for `kci`, causal-learn's KCI and RCIT, a twentieth for FastKCI.")
    made.append("A cell: size at 0.01 / at 0.05, power at 0.05.")
    tables = Parallel(n_jobs=options.jobs)(delayed(table_of)(name, draws) for name in SETTINGS)
    made += [line for table in tables for line in table]
    made += list(costs())
    PAGE.write_text(text.partition(mark)[0] + mark + "\n".join(made) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
