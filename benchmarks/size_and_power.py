"""Size and power of every test on many kinds of data, beside causal-learn's kernel tests.

Writes all of it to benchmarks/size_and_power.md, and a summary into docs/tests.md.

    OMP_NUM_THREADS=1 python benchmarks/size_and_power.py [--draws 300]   (causal-learn comes with the extra [bench])
    OMP_NUM_THREADS=1 python benchmarks/size_and_power.py --anew additive kci    (these again, the others as they are)

Size is how often a test rejects x ⟂ y | z where it holds, power how often where it does not. Slow tests get
a part of the draws. Every test sees the same draws. What is measured is kept in a file as it comes, so that a
run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import anypag as ap

Array = npt.NDArray[np.float64]
PAGE = Path(__file__).parents[1] / "docs" / "tests.md"
WHOLE = Path(__file__).with_suffix(".md")
KEPT = Path(__file__).parents[1] / ".cache" / "size_and_power.jsonl"
MARK = "<!-- made by benchmarks/size_and_power.py -->\n"
END = "<!-- end of size and power -->\n"
SHAPES = ((100, 2), (500, 2), (1000, 0), (1000, 2), (1000, 5), (5000, 2), (5000, 5))
"""Rows, and members of z."""
SHOWN = ((100, 2), (1000, 2), (1000, 5), (5000, 5))
"""Those in the tables."""
ON_PAGE = ("mixed", "additive", "gcm")
"""The tests of the summary."""
POWER = 1 / 3
"""The share of the draws in which there is an effect."""


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
    """Sums of curves of z (square, sine, tanh, absolute value, line), the same in x and y; the effect is a square."""
    z, e = rng.normal(size=(n, k)), rng.normal(size=(n, 2))
    curves: list[Callable[[Array], Array]] = [lambda v: v * v / 2, lambda v: np.sin(2 * v), np.tanh, np.abs, np.array]
    mean = sum((curves[j % 5](z[:, j]) for j in range(k)), np.zeros(n))
    return _joined(mean + e[:, 0], mean + e[:, 1] + 0.5 * effect * e[:, 0] ** 2, z)


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


def logistic(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    """x and y have two levels with logistic chances in continuous z."""
    z = rng.normal(size=(n, k))
    lean = 1.5 * z.sum(axis=1)
    x = _coin(rng, lean - 1).astype(float)
    return _joined(x, _coin(rng, lean - 1 + effect * (x - 0.5)).astype(float), z, (0, 1))


def ties(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    """Straight lines of whole numbers z, x and y rounded too; all taken as continuous."""
    z, e = np.round(rng.normal(size=(n, k))), rng.normal(size=(n, 2))
    mean = 0.7 * z.sum(axis=1)
    return _joined(np.round(mean + e[:, 0]), np.round(mean + e[:, 1] + 0.5 * effect * e[:, 0]), z)


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
    "levels by numbers": logistic,
    "ties": ties,
}


COMPARED = ("linear", "additive", "interaction", "heteroscedastic")
"""Where causal-learn's tests are measured too."""


class Entry(NamedTuple):
    """A test of the table: how it answers, what share of the draws it gets, how many rows at most, and where."""

    answer: Callable[[Drawn], float]
    share: float
    most_rows: int
    fits: Callable[[Drawn], bool]
    settings: Collection[str]


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
        "fisherz": Entry(_ours(ap.FisherZ), 1.0, 10**6, numbers["plain"], SETTINGS),
        "mixed": Entry(_ours(ap.DegenerateGaussian), 1.0, 10**6, numbers["all"], SETTINGS),
        "gsq": Entry(_ours(ap.GSquared), 1.0, 10**6, levels, SETTINGS),
        "chisq": Entry(_ours(ap.ChiSquared), 1.0, 10**6, levels, SETTINGS),
        "additive": Entry(_ours(ap.Additive), 1.0, 10**6, numbers["all"], SETTINGS),
        "gcm": Entry(_ours(ap.GCM), 0.5, 10**6, numbers["all"], SETTINGS),
        "kci": Entry(_ours(ap.KCI), 0.34, 500, numbers["all"], SETTINGS),
    }
    try:
        import causallearn  # noqa: F401
    except ImportError:
        return found
    for method, share, most_rows in (("kci", 0.34, 500), ("rcit", 0.34, 1000)):
        found[f"causal-learn {method}"] = Entry(_theirs(method), share, most_rows, numbers["all"], COMPARED)
    found["causal-learn fastkci"] = Entry(_theirs("fastkci"), 0.1, 500, numbers["all"], ("linear",))
    return found


class Cell(NamedTuple):
    """The p-values of one test in one setting, shape and effect; how often it failed; seconds for a draw."""

    p: list[float]
    failures: int
    seconds: float


Place = tuple[str, str, int, int, float]
"""Test, setting, rows, members of z, effect."""


def measured(entry: Entry, place: Place, draws: int) -> Cell:
    """The p-values of a test, each draw from a seed of its own."""
    _, setting, n, k, effect = place
    p, failures, began = [], 0, time.process_time()
    for seed in range(draws):
        drawn = SETTINGS[setting](np.random.default_rng([seed, n, k, int(effect)]), n, k, effect)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                p.append(entry.answer(drawn))
        except Exception:  # somebody else's test may fail in any way: it is counted
            failures += 1
    return Cell(p, failures, (time.process_time() - began) / draws)


def places(tests: dict[str, Entry]) -> Iterator[Place]:
    """All cells of all tables, setting by setting."""
    for setting, draw in SETTINGS.items():
        for test, entry in tests.items():
            if setting in entry.settings and entry.fits(draw(np.random.default_rng(0), 50, 2, 0.0)):
                for n, k in SHAPES:
                    if n <= entry.most_rows:
                        yield from ((test, setting, n, k, effect) for effect in (0.0, 1.0))


def kept(anew: list[str]) -> dict[Place, Cell]:
    """What earlier runs measured, less the tests to be measured anew."""
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
    found = {tuple(place): Cell(*cell) for place, cell in map(json.loads, lines)}
    return {place: cell for place, cell in found.items() if place[0] not in anew}


def measure_all(tests: dict[str, Entry], cells: dict[Place, Cell], draws: int) -> None:
    """Measures what is not there yet, and writes each cell to the file at once."""
    KEPT.parent.mkdir(exist_ok=True)
    with KEPT.open("w", encoding="utf-8") as file:
        for place, cell in cells.items():
            file.write(json.dumps([place, cell]) + "\n")
        for place in places(tests):
            if place not in cells:
                count = round(draws * tests[place[0]].share * (POWER if place[4] else 1.0))
                cells[place] = measured(tests[place[0]], place, max(5, count))
                file.write(json.dumps([place, cells[place]]) + "\n")
                file.flush()


def _shown(null: Cell, real: Cell) -> str:
    size = "/".join(f"{np.mean(np.array(null.p) < alpha):.2f}" if null.p else "–" for alpha in (0.01, 0.05))
    power = f"{np.mean(np.array(real.p) < 0.05):.2f}" if real.p else "–"
    failed = null.failures + real.failures
    return f"{size}/{power}" + (f" ({failed} failed)" if failed else "")


def table_of(setting: str, tests: dict[str, Entry], cells: dict[Place, Cell]) -> Iterator[str]:
    """The table of one setting; tests with the same numbers share a row."""
    head = " | ".join(f"{n:,} rows, {k} in z" for n, k in SHOWN)
    yield f"\n## {setting.capitalize()}\n\n{(SETTINGS[setting].__doc__ or '').strip()}\n"
    yield f"| test | {head} |\n|---|{'---|' * len(SHOWN)}"
    told: dict[str, list[str]] = {}
    for test in tests:
        both = [[cells.get((test, setting, n, k, effect)) for effect in (0.0, 1.0)] for n, k in SHOWN]
        if any(null for null, _ in both):
            shown = [_shown(null, real) if null and real else "" for null, real in both]
            told.setdefault(" | ".join(shown), []).append(f"`{test}`")
    yield from (f"| {', '.join(names)} | {shown} |" for shown, names in told.items())


def costs(tests: dict[str, Entry], cells: dict[Place, Cell]) -> Iterator[str]:
    """Milliseconds for a draw, a table and one question of it, with two members of z."""
    sizes = (100, 1000, 5000)
    yield "\n## Time\n\nMilliseconds of CPU time for one question of a new table of four columns (linear), with"
    yield "drawing and binding it. In a search `fisherz`, `mixed` and `additive` share nearly all of this"
    yield "(`benchmarks/ci_tests.py`). FastKCI's own workers are not counted.\n"
    yield "| test | " + " | ".join(f"{n:,} rows" for n in sizes) + f" |\n|---|{'---|' * len(sizes)}"
    for test in tests:
        found = [cells.get((test, "linear", n, 2, 0.0)) for n in sizes]
        if any(found):
            yield f"| `{test}` | " + " | ".join(f"{cell.seconds * 1e3:.1f}" if cell else "" for cell in found) + " |"


def summary(cells: dict[Place, Cell]) -> str:
    """A line for each setting: sizes at 0.05 but for the first shape, and the power with 1,000 rows and five in z."""
    lines = [f"| relations | {' | '.join(f'`{test}`' for test in ON_PAGE)} |", f"|---|{'---|' * len(ON_PAGE)}"]
    for setting in SETTINGS:
        told = []
        for test in ON_PAGE:
            sizes = [np.mean(np.array(cells[test, setting, n, k, 0.0].p) < 0.05) for n, k in SHOWN[1:]]
            power = np.mean(np.array(cells[test, setting, 1000, 5, 1.0].p) < 0.05)
            told.append(f"{'/'.join(f'{size:.2f}' for size in sizes)}, {power:.2f}")
        lines.append(f"| {setting} | {' | '.join(told)} |")
    return "\n".join(lines) + "\n"


def whole(tests: dict[str, Entry], cells: dict[Place, Cell], draws: int) -> str:
    """All tables."""
    parts: dict[int, list[str]] = {}
    for test, entry in tests.items():
        parts.setdefault(max(5, round(draws * entry.share)), []).append(f"`{test}`")
    counts = "; ".join(f"{count} for {', '.join(names)}" for count, names in parts.items())
    made = ["# Size and power\n"]
    made += ["Written by `python benchmarks/size_and_power.py`; `docs/tests.md` says what it means.\n"]
    made += [f"Draws for each size: {counts}. A third of them for power."]
    made.append("A cell: size at 0.01/size at 0.05/power at 0.05. Empty: not measured, it would take too long.")
    for setting in SETTINGS:
        made += table_of(setting, tests, cells)
    return "\n".join([*made, *costs(tests, cells)]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--anew", nargs="*", default=[], metavar="TEST")
    options = parser.parse_args()
    setattr(import_module("anypag.data.audit.checklist"), "CHECKS", ())  # noqa: B010  # looks at every table, and changes no answer
    tests, cells = entries(), kept(options.anew)
    measure_all(tests, cells, options.draws)
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(MARK)[0], text.partition(END)[2]
    PAGE.write_text(before + MARK + summary(cells) + END + after, encoding="utf-8")
    WHOLE.write_text(whole(tests, cells, options.draws), encoding="utf-8")


if __name__ == "__main__":
    main()
