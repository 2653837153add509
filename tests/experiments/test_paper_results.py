"""Result files: rows get in together or not at all, and what is there is not run again."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from experiments.results import Row, append, collect, pending, read
from experiments.settings import Task

SCHEMA = {"nodes": pl.Int64, "rows": pl.Int64, "seed": pl.Int64, "variant": pl.String, "value": pl.Int64}


def task(seed: int, *variants: str) -> Task:
    return Task(5, 0, seed, variants, cap=10, alpha=0.01, expected_neighbours=2.0)


def rows_of(one: Task) -> list[Row]:
    return [
        {"nodes": one.nodes, "rows": one.rows, "seed": one.seed, "variant": name, "value": 10 * one.seed}
        for name in one.variants
    ]


def test_rows_come_back_sorted_whatever_order_they_came_in(tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    for seed in (2, 0, 1):
        append(first, rows_of(task(seed, "b", "a")), SCHEMA)
    append(second, [row for seed in (0, 1, 2) for row in rows_of(task(seed, "a", "b"))], SCHEMA)
    assert first.read_bytes() == second.read_bytes()
    assert read(first, SCHEMA)["seed"].to_list() == [0, 0, 1, 1, 2, 2]


def test_only_what_is_missing_is_pending(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    append(path, rows_of(task(0, "a", "b")) + rows_of(task(1, "a")), SCHEMA)
    tasks = [task(0, "a", "b"), task(1, "a", "b"), task(2, "a")]
    assert list(pending(tasks, read(path, SCHEMA))) == [task(1, "b"), task(2, "a")]


def test_a_second_run_runs_nothing(tmp_path: Path) -> None:
    path, tasks = tmp_path / "rows.csv", [task(seed, "a") for seed in range(4)]
    assert collect(tasks, rows_of, path, SCHEMA) == 4
    before = path.read_bytes()

    def fails(one: Task) -> list[Row]:
        raise AssertionError(f"{one} was run again")

    assert collect(tasks, fails, path, SCHEMA) == 0
    assert path.read_bytes() == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_run_that_breaks_off_keeps_its_rows_and_goes_on(error: type[BaseException], tmp_path: Path) -> None:
    path, tasks = tmp_path / "rows.csv", [task(seed, "a", "b") for seed in range(4)]

    def breaks(one: Task) -> list[Row]:
        if one.seed == 2:
            raise error
        return rows_of(one)

    with pytest.raises(error):
        collect(tasks, breaks, path, SCHEMA)
    assert read(path, SCHEMA)["seed"].to_list() == [0, 0, 1, 1]
    assert collect(tasks, rows_of, path, SCHEMA) == 2
    assert len(read(path, SCHEMA)) == 8


def test_rows_are_written_while_the_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"

    def looks(one: Task) -> list[Row]:
        assert len(read(path, SCHEMA)) == one.seed
        return rows_of(one)

    collect([task(seed, "a") for seed in range(3)], looks, path, SCHEMA, flush_seconds=0.0)


def test_an_append_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.csv"
    append(path, rows_of(task(0, "a")), SCHEMA)
    before = path.read_bytes()

    def full_disk(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="no space left"):
        append(path, rows_of(task(1, "a")), SCHEMA)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("nodes,seed\n5,0\n")
    with pytest.raises(SystemExit, match=r"rows.csv was wanted with the columns nodes,rows,seed.*; it has nodes,seed"):
        read(path, SCHEMA)
