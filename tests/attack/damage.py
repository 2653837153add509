"""Damaged and forged checkpoints, and journals in the wrong place."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from anypag.checkpoint.store import Store, _array_row, _fact_row
from anypag.errors import CheckpointError
from attack.children import Counts, answered, damaged
from attack.runs import learned, stopped_halfway, truth

HOT = """
import os, sys
from pathlib import Path
from anypag.checkpoint.store import Store
store = Store(Path(sys.argv[1]))
store._connection.execute("PRAGMA cache_size = 5")
store._connection.execute("BEGIN IMMEDIATE")
store._connection.execute("UPDATE arrays SET content = randomblob(length(content) + 50000)")
os.kill(os.getpid(), 9)
"""


def damaged_files(seed: int, count: int, folder: Path) -> Counts:
    """Scars, cuts and insertions: refused, or harmless to the bit."""
    whole = stopped_halfway(folder / "whole.anypag").read_bytes()
    return answered(_resume_all, seed, count, folder, whole, answered(truth))  # type: ignore[no-any-return]


def _resume_all(seed: int, count: int, folder: Path, whole: bytes, expected: Any) -> Counts:
    counts, path = Counts(), folder / "run.anypag"
    for k in range(count):
        path.write_bytes(damaged(whole, random.Random(f"{seed}/{k}")))
        path.with_name("run.anypag-journal").unlink(missing_ok=True)
        try:
            assert learned(path) == expected, f"seed {seed}, round {k}: a wrong result"
            counts["harmless"] += 1
        except CheckpointError:
            counts["refused"] += 1
    return counts


def forged_files(seed: int, count: int, folder: Path) -> Counts:
    """Rows that no run has written, with right checksums: refused or gone through, but no crash and no traceback."""
    whole = stopped_halfway(folder / "whole.anypag")
    counts: Counts = Counts()
    for k in range(0, count, 50):  # a crash takes a child along, not the attack
        counts.update(answered(_forge_all, seed, range(k, min(k + 50, count)), folder, whole))
    return counts


def _forge_all(seed: int, rounds: range, folder: Path, whole: Path) -> Counts:
    counts, path = Counts(), folder / "run.anypag"
    for k in rounds:
        shutil.copyfile(whole, path)
        _forge(path, random.Random(f"{seed}/{k}"))
        try:
            learned(path)
            counts["gone through"] += 1
        except CheckpointError:
            counts["refused"] += 1
    return counts


def _forge(path: Path, rng: random.Random) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    names = [name for (name,) in connection.execute("SELECT name FROM arrays")]
    facts = [name for (name,) in connection.execute("SELECT name FROM facts")]
    way = rng.randrange(6)
    if way == 0:
        statement = rng.choice(
            [
                "CREATE VIEW v AS SELECT 1",
                "CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM arrays; END",
                "CREATE TABLE more (x)",
                "PRAGMA user_version = 99",
                "PRAGMA application_id = 7",
                "PRAGMA journal_mode = WAL",
                "DROP TABLE arrays",
            ]
        )
        connection.execute(statement)
    elif way == 1:
        connection.execute("DELETE FROM arrays WHERE name = ?", (rng.choice(names),))
    elif way == 2:
        strange = ["answers/x/0/p", "answers/1/2/p", "answers/00000000/-1/p", "answers/", "\0", "history/99"]
        row = _array_row((rng.choice(strange), _some_array(rng)))
        connection.execute("REPLACE INTO arrays VALUES (?, ?, ?, ?, ?)", row)
    elif way == 3:
        row = _array_row((rng.choice(names), _some_array(rng)))
        connection.execute("REPLACE INTO arrays VALUES (?, ?, ?, ?, ?)", row)
    elif way == 4:
        values: list[Any] = [None, -1, 2**70, 1e308, "x", [], {}, [[1]], True]
        fact = _fact_row((rng.choice([name for name in facts if name != "run"]), rng.choice(values)))
        connection.execute("REPLACE INTO facts VALUES (?, ?, ?)", fact)
    else:
        column = rng.choice(["dtype", "shape", "content", "checksum"])
        contents: list[Any] = [b"", b"x" * 8, "[9999999999, 9999999999]", "<f8", "O", 3, "[-1]"]
        update = f"UPDATE arrays SET {column} = ? WHERE name = ?"
        connection.execute(update, (rng.choice(contents), rng.choice(names)))
    connection.close()


def _some_array(rng: random.Random) -> Any:
    shape = rng.choice([(), (0,), (1,), (7,), (8,), (8, 8), (9, 9), (3, 6), (2, 2, 2), (1024, 2)])
    dtype = rng.choice([np.uint8, np.int32, np.int64, np.uint64, np.float64, np.float32])
    draw = np.random.default_rng(rng.randrange(2**32))
    return draw.integers(0, rng.choice([1, 4, 8, 100]), size=shape).astype(dtype)


def hot_journals(seed: int, count: int, folder: Path) -> Counts:
    """Killed in the middle of a write: undone by the next run; with its file gone, no new run begins beside it."""
    counts, whole = Counts(), stopped_halfway(folder / "whole.anypag")
    expected = answered(truth)
    for k in range(count):
        path = folder / f"run{k}.anypag"
        shutil.copyfile(whole, path)
        killed = subprocess.run([sys.executable, "-c", HOT, str(path)], check=False, stderr=subprocess.DEVNULL)
        journal = path.with_name(f"{path.name}-journal")
        assert killed.returncode == -9 and journal.stat().st_size, f"seed {seed}, round {k}: no hot journal"
        kept = journal.read_bytes()
        assert answered(learned, path) == expected, f"seed {seed}, round {k}: a wrong result"
        counts["undone"] += 1
        path.unlink()
        journal.write_bytes(kept)
        try:
            Store.create(path, {"run": "another"})
        except CheckpointError as error:
            assert str(journal) in str(error)
            counts["no beginning beside it"] += 1
        assert not path.exists(), f"seed {seed}, round {k}: a run began beside a hot journal"
    return counts
