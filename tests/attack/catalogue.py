"""All attacks, with how many rounds of each `make test` and `make test-all` run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from attack import damage, kills, real_looking, surroundings, tables, writers
from attack.children import Counts


class Attack(NamedTuple):
    """An attack: from a seed, a number of rounds and an empty folder to counts of what came of them."""

    run: Callable[[int, int, Path], Counts]
    few: int
    many: int


ATTACKS = {
    "kills": Attack(kills.attack, 6, 100),
    "kills inside steps": Attack(kills.attack_steps, 2, 60),
    "damaged checkpoints": Attack(damage.damaged_files, 60, 500),
    "forged checkpoints": Attack(damage.forged_files, 60, 500),
    "hot journals": Attack(damage.hot_journals, 2, 20),
    "writers at once": Attack(writers.attack, 3, 30),
    "fuzzed tables of each format": Attack(tables.attack, 8, 500),
    "real-looking tables": Attack(real_looking.attack, 3, 500),
    "forks": Attack(surroundings.forks, 1, 10),
    "full disks": Attack(surroundings.small_disks, 6, 100),
    "streams": Attack(surroundings.streams, 2, 100),
}
