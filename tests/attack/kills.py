"""kill -9 at any moment: the run goes on as if nothing had been.

A kill counts where it left something to go on from: a finished step, or answers of a test.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anypag.checkpoint.store import Store
from attack.children import Counts, answered, killed_after
from attack.runs import learned, learned_in_steps, truth, truth_of

SECONDS_PER_TEST = 0.001
SECONDS_PER_TICK = 0.004


def attack(seed: int, count: int, folder: Path) -> Counts:
    """So many kills of a run with a costly test: after up to three it goes on to its end, and must tell the truth."""
    return _kills(seed, count, folder / "run.anypag", learned, (SECONDS_PER_TEST,), answered(truth))


def attack_steps(seed: int, count: int, folder: Path) -> Counts:
    """So many kills of runs with quick tests, by methods that do more than iterate: what they keep are steps."""
    counts = Counts()
    for method in ("fci+", "gfci"):
        arguments, expected = (method, SECONDS_PER_TICK), answered(truth_of, method)
        counts += _kills(seed, -(-count // 2), folder / "run.anypag", learned_in_steps, arguments, expected)
    return counts


def _kills(
    seed: int, count: int, path: Path, run: Callable[..., Any], arguments: tuple[Any, ...], expected: Any
) -> Counts:
    rng, counts = random.Random(seed), Counts()
    whole = _seconds_of_a_run(path, run, arguments)
    while counts["killed"] < count:
        for _ in range(rng.randint(1, 3)):
            if killed_after(rng.uniform(0.0, whole), run, path, *arguments):
                counts["with a hot journal"] += _is_hot(path.with_name(f"{path.name}-journal"))
                counts["before the file was there"] += not path.exists()
                can_go_on = _has_something(path)
                counts["killed"] += can_go_on
                counts["killed before anything was kept"] += not can_go_on
        result = answered(run, path, *arguments[:-1])
        assert result == expected, f"seed {seed}: another result after {counts['killed']} kills"
        counts["results compared"] += 1
        path.unlink()
    left = [name.name for name in path.parent.iterdir()]
    assert not left, f"seed {seed}: {left} were left behind"
    return counts


def _seconds_of_a_run(path: Path, run: Callable[..., Any], arguments: tuple[Any, ...]) -> float:
    began = time.monotonic()
    answered(run, path, *arguments)
    path.unlink()
    return time.monotonic() - began


def _has_something(path: Path) -> bool:
    """Does the file keep a finished step, or answers? A copy is asked: opening a file undoes what a kill left half."""
    if not path.exists():
        return False
    with tempfile.TemporaryDirectory() as folder:
        for name in (path.name, f"{path.name}-journal"):
            if path.with_name(name).exists():
                shutil.copy(path.with_name(name), folder)
        with Store(Path(folder) / path.name) as store:
            return bool(store.fact("steps") > 0 or store.names("answers"))


def _is_hot(journal: Path) -> bool:
    """Would SQLite undo what is in it? When a write is over, its beginning is wiped."""
    return journal.exists() and journal.read_bytes()[:8] == bytes.fromhex("d9d505f920a163d7")
