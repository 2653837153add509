"""Threads for work that lets go of Python's lock: compiled loops and linear algebra.

They are made once and then wait for work: making them anew would cost more than a small step of a search takes.
Whoever splits work splits it the same way whatever the number of threads, or so that it makes no difference, and puts
the pieces together in order: results are the same to the bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")
Made = TypeVar("Made")


@cache
def workers(threads: int) -> ThreadPoolExecutor:
    """This many threads, the same ones every time."""
    return ThreadPoolExecutor(threads, thread_name_prefix="anypag")


if hasattr(os, "register_at_fork"):  # not everywhere
    os.register_at_fork(after_in_child=workers.cache_clear)  # a child has none of its parent's threads


def each(function: Callable[[Item], Made], items: Sequence[Item], threads: int) -> list[Made]:
    """What the function makes of every item, in order."""
    if threads == 1 or len(items) < 2:
        return [function(item) for item in items]
    return list(workers(threads).map(function, items))


def runs(n: int, most: int = 65536) -> list[slice]:
    """0 to n, cut into runs of about the same length, at most so long."""
    bounds = np.linspace(0, n, -(-n // most) + 1).astype(int).tolist()
    return [slice(*ends) for ends in pairwise(bounds)]
