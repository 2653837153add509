"""kill -9 at any moment: the run goes on as if nothing had been."""

from __future__ import annotations

import random
import time
from pathlib import Path

from attack.children import Counts, answered, killed_after
from attack.runs import learned, truth

SECONDS_PER_TEST = 0.001


def attack(seed: int, count: int, folder: Path) -> Counts:
    """So many kills: a run is killed up to three times, goes on to its end, and is compared with the truth."""
    rng, counts, path = random.Random(seed), Counts(), folder / "run.anypag"
    expected = answered(truth)
    whole = _seconds_of_a_run(path)
    while counts["killed"] < count:
        for _ in range(rng.randint(1, 3)):
            if killed_after(rng.uniform(0.0, whole), learned, path, SECONDS_PER_TEST):
                counts["killed"] += 1
                counts["with a hot journal"] += _is_hot(path.with_name(f"{path.name}-journal"))
                counts["before the file was there"] += not path.exists()
        assert answered(learned, path) == expected, f"seed {seed}: another result after {counts['killed']} kills"
        counts["results compared"] += 1
        path.unlink()
    left = [name.name for name in folder.iterdir()]
    assert not left, f"seed {seed}: {left} were left behind"
    return counts


def _seconds_of_a_run(path: Path) -> float:
    began = time.monotonic()
    answered(learned, path, SECONDS_PER_TEST)
    path.unlink()
    return time.monotonic() - began


def _is_hot(journal: Path) -> bool:
    """Would SQLite undo what is in it? When a write is over, its beginning is wiped."""
    return journal.exists() and journal.read_bytes()[:8] == bytes.fromhex("d9d505f920a163d7")
