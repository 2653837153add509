"""Seconds of CPU that orders take to settle, from the reverse order, and the longest turn within.

    python benchmarks/sweeps.py [VARIABLES ...]

Every variable has 8 neighbours. Seconds differ between machines; compare the ratios of one run.
"""

from __future__ import annotations

import itertools
import sys
import time
from functools import partial

import anypag as ap
from anypag.search.by_scores.orders import Orders, first_orders, swept
from anypag.simulate import linear_gaussian, random_dag

ROWS = 1000


def settled(n: int) -> tuple[int, float, float]:
    """How many sweeps the reverse order of n variables takes, their seconds, and those of the longest turn."""
    score = ap.FisherZ(linear_gaussian(random_dag(n, 8, seed=1), ROWS, seed=1)).score()
    first = first_orders(n, 2)
    orders = Orders(first.order[1:], first.settled[1:], first.tier)
    turns, sweeps = [time.process_time()], 0
    look = partial(lambda times: times.append(time.process_time()), turns)
    while not orders.all_settled:
        orders, sweeps = swept(orders, score, look), sweeps + 1
        look()
    return sweeps, turns[-1] - turns[0], max(b - a for a, b in itertools.pairwise(turns))


def main(sizes: list[int]) -> None:
    settled(10)  # compiled
    base = None
    print("variables  sweeps  seconds of one  ratio  longest turn")
    for n in sizes:
        sweeps, seconds, longest = settled(n)
        base = base or seconds / sweeps
        print(f"{n:9}  {sweeps:6}  {seconds / sweeps:14.3f}  {seconds / sweeps / base:5.1f}  {longest:12.3f}")


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [30, 60, 100])
