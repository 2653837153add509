"""kill -9 at any moment: the run goes on as if nothing had been."""

from __future__ import annotations

import random
from pathlib import Path

from attack.children import Counts, answered, killed_after
from attack.runs import learned, truth

SECONDS_PER_TEST = 0.001


def attack(seed: int, count: int, folder: Path) -> Counts:
    """So many kills; a run that got to its end is compared with the truth, and a new one begins."""
    rng, counts, path = random.Random(seed), Counts(), folder / "run.anypag"
    expected = answered(truth)
    while counts["killed"] < count:
        if killed_after(rng.expovariate(1 / 0.15), learned, path, SECONDS_PER_TEST):
            counts["killed"] += 1
            counts["with a hot journal"] += _is_hot(path.with_name(f"{path.name}-journal"))
            counts["before the file was there"] += not path.exists()
        else:
            _compare(path, expected, counts, seed)
    _compare(path, expected, counts, seed)
    left = [name.name for name in folder.iterdir()]
    assert not left, f"seed {seed}: {left} were left behind"
    return counts


def _is_hot(journal: Path) -> bool:
    """Would SQLite undo what is in it? When a write is over, its beginning is wiped."""
    return journal.exists() and journal.read_bytes()[:8] == bytes.fromhex("d9d505f920a163d7")


def _compare(path: Path, expected: object, counts: Counts, seed: int) -> None:
    assert answered(learned, path) == expected, f"seed {seed}: another result after {counts['killed']} kills"
    counts["results compared"] += 1
    path.unlink()
