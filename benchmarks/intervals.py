"""How often the 95 % interval of an effect holds the truth, with one half of the rows searched and the other estimated.

    python benchmarks/intervals.py [draws]

The settings were written down before the first run, and all of them are printed. Each draw is another random system of
8 to 15 measured variables and up to two hidden causes (linear Gaussian, weights 0.3 to 1 of either sign), another
sample, and one pair of variables whose effect the true PAG identifies by adjustment, drawn at random. Of the draws:

- "identified": the graph of the first half identifies the effect by adjustment or by a formula, or says that it is
  zero; "zero" are those that say so, falsely;
- "set right": it gives a set that is an adjustment set in the true PAG too;
- "held, set right": the share of these intervals that hold the true effect. That is what an interval promises: it takes
  the graph as right;
- "held, all": the share of all identified effects whose interval holds the truth, with a false zero counted as missed.
  That is what a reader gets who believes every graph.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

import anypag as ap
from anypag.errors import ContradictionError
from anypag.simulate.gaussian import random_weights

ROWS = (500, 2_000, 8_000, 32_000)
DRAWS = 200


@dataclass
class Draw:
    """What came of one draw."""

    identified: bool = False
    says_zero: bool = False
    set_is_right: bool = False
    held: bool = False


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    print("  rows draws identified  zero set right held, set right     held, all")
    for rows in ROWS:
        print(line(rows, [drawn(seed, rows) for seed in range(draws)]), flush=True)


def line(rows: int, found: list[Draw]) -> str:
    """One row of the table."""
    identified = [draw for draw in found if draw.identified]
    right = [draw for draw in identified if draw.set_is_right]
    zero = sum(draw.says_zero for draw in identified)
    both = (_share(right), _share(identified))
    return f"{rows:>6,} {len(found):>5} {len(identified):>10} {zero:>5} {len(right):>9} {both[0]:>15} {both[1]:>13}"


def _share(found: list[Draw]) -> str:
    held = sum(draw.held for draw in found)
    return f"{held}/{len(found)} = {held / max(1, len(found)):.1%}"


def drawn(seed: int, rows: int) -> Draw:
    """One system, one sample, one effect."""
    system = ap.simulate.random_system(10 + seed % 8, 2.0, seed=seed)
    pag, rng = system.true_pag(), np.random.default_rng(seed)
    weights = random_weights(system.dag, low=0.3, high=1.0, seed=seed)
    pair = _identified_pair(pag, rng)
    if pair is None:
        return drawn(seed + 100_000, rows)
    data = ap.simulate.linear_gaussian(system.dag, rows, latent=system.latent, weights=weights, seed=seed)
    values = {name: np.asarray(data[name]) for name in pag.names}
    half = rows // 2
    first, second = ({name: v[part] for name, v in values.items()} for part in (slice(half), slice(half, None)))
    try:
        answer = ap.effect(ap.learn(first, method="icd", selection_bias=False), *pair, data=second)
    except ContradictionError:
        return Draw()
    if not answer.is_identified:
        return Draw()
    truth = _effect(weights, system.dag.index(pair[0]), system.dag.index(pair[1]))
    low, high = (0.0, 0.0) if answer.status == "zero" else np.array(answer.interval)  # a false zero is a miss
    is_right = answer.adjustment_set is not None and ap.is_adjustment_set(pag, *pair, answer.adjustment_set)
    return Draw(True, answer.status == "zero", is_right, bool(low < truth < high))


def _identified_pair(pag: ap.PAG, rng: np.random.Generator) -> tuple[str, str] | None:
    pairs: list[tuple[str, str]] = [(a, b) for a in pag.names for b in pag.names if a != b]
    for k in map(int, rng.permutation(len(pairs))):
        if ap.effect(pag, *pairs[k], selection_bias=False).status == "adjustment":
            return pairs[k]
    return None


def _effect(weights: np.ndarray[tuple[int, int], np.dtype[np.float64]], x: int, y: int) -> float:
    cut = weights.copy()
    cut[:, x] = 0
    return float(np.linalg.inv(np.eye(len(cut)) - cut)[x, y])


if __name__ == "__main__":
    main()
