"""How often intervals of an effect hold the truth: straight lines, splines (partially linear) and AIPW.

    python benchmarks/effects_learners.py [--draws 200] [--rows 500,1000,2000]

The adjustment set is known: four columns. A cause that is a number and one with two levels, each in these cells:

- straight: the columns act on cause and outcome along lines, and the effect is the same for all;
- curved: they act along a sine and a square;
- heterogeneous: curved, and the effect grows along a column (its mean is what is asked for);
- poor overlap: curved, and the level of the cause is nearly certain for many rows (two levels only).

"told" is the share of draws in which splines are said to differ from straight lines; for AIPW, the share of draws with
an interval, and how often these hold the truth beside all of them.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from anypag.arrays import Flags
from anypag.effects.estimate.fitted_adjustment import FAR
from anypag.effects.estimate.learners import (
    LEAST_ROWS,
    MOST_CLIPPED,
    AdjustedRows,
    Scores,
    doubly_robust,
    partially_linear,
    straight,
)

CELLS = ("straight", "curved", "heterogeneous", "poor overlap")
LEVEL = 0.95


class Draw(NamedTuple):
    """Is the truth inside, by straight lines, splines and AIPW; are lines and splines apart; has AIPW an interval?"""

    line: bool
    splines: bool
    is_told: bool
    robust: bool = False
    is_shown: bool = False


def drawn(cell: str, rows: int, seed: int, *, is_two: bool) -> Draw:
    """One table, and what each estimate says of it."""
    rng = np.random.default_rng([CELLS.index(cell), rows, seed, is_two])
    z = rng.standard_normal((rows, 4))
    if cell == "straight":
        pull, push = 0.6 * z[:, 0] + 0.4 * z[:, 1], z[:, 0] + 0.5 * z[:, 1] + 0.5 * z[:, 2]
    else:
        pull = 0.8 * np.sin(2 * z[:, 0]) + 0.5 * (z[:, 1] ** 2 - 1)
        push = np.sin(2 * z[:, 0]) + 0.5 * z[:, 1] ** 2 + np.tanh(z[:, 2])
    x = pull + rng.standard_normal(rows)
    if is_two:
        strength = 4.0 if cell == "poor overlap" else 1.0
        x = (rng.random(rows) < 1 / (1 + np.exp(-strength * pull))).astype(np.float64)
    size = np.full(rows, 0.5) + (0.5 * z[:, 0] if cell == "heterogeneous" else 0.0)
    found = AdjustedRows(size * x + push + rng.standard_normal(rows), x, z)
    line, splines = straight(found), partially_linear(found)
    one, other = line.number(), splines.number()
    is_told = abs(one.value - other.value) > FAR * other.error
    draw = Draw(_holds(line), _holds(splines), is_told)
    if not is_two:
        return draw
    robust = doubly_robust(found)
    return draw._replace(robust=_holds(robust), is_shown=rows >= LEAST_ROWS and robust.clipped <= MOST_CLIPPED)


def _holds(scores: Scores) -> bool:
    low, high = scores.number().interval(LEVEL)
    return low <= 0.5 <= high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--rows", default="500,1000,2000")
    options = parser.parse_args()
    cells = [
        (cell, int(rows), is_two)
        for is_two in (False, True)
        for cell in CELLS
        for rows in options.rows.split(",")
        if is_two or cell != "poor overlap"
    ]
    made = Parallel(n_jobs=-1)(
        delayed(drawn)(cell, rows, seed, is_two=is_two) for cell, rows, is_two in cells for seed in range(options.draws)
    )
    print("| cause | cell | rows | straight lines | splines | told | AIPW, all draws | AIPW: interval shown, held |")
    print("|---|---|---|---|---|---|---|---|")
    for k, (cell, rows, is_two) in enumerate(cells):
        own = made[k * options.draws : (k + 1) * options.draws]
        print(f"| {'two levels' if is_two else 'a number'} | {cell} | {rows:,} | {_told(own, is_two=is_two)} |")


def _told(draws: list[Draw], *, is_two: bool) -> str:
    lines, splines, told, robust, shown = (np.array(column, np.bool_) for column in zip(*draws, strict=True))
    shares = " | ".join(_share(column) for column in (lines, splines, told))
    if not is_two:
        return f"{shares} | – | –"
    return f"{shares} | {_share(robust)} | {_share(shown)}, {_share(robust[shown]) if shown.any() else '–'}"


def _share(flags: Flags) -> str:
    return f"{np.mean(flags):.3f}"


if __name__ == "__main__":
    main()
