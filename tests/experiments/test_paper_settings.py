"""The settings: the paper's scale is the paper's, and mistakes are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiments.settings import EXPERIMENTS, SCALES, load


def test_the_full_scale_is_that_of_the_paper() -> None:
    settings = load("full")
    assert (settings["oracle"].nodes, settings["oracle"].dags) == ((15, 20, 25, 35), 25)
    assert (settings["samples"].nodes, settings["samples"].dags) == ((15,), 1000)
    assert {100, 200, 500, 1000} <= set(settings["samples"].rows)
    assert (min(settings["samples"].rows), max(settings["samples"].rows)) == (10, 1000)
    assert settings["large"].nodes == (35,)
    assert all((one.alpha, one.expected_neighbours) == (0.01, 2.0) for one in settings.values())


@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_has_every_experiment_and_seeds_never_meet(scale: str) -> None:
    settings = load(scale)
    assert tuple(settings) == EXPERIMENTS
    for one in settings.values():
        seeds = [(task.nodes, task.seed) for task in one.tasks()]
        assert len(seeds) == len(set(seeds)) == len(one.nodes) * len(one.rows) * one.dags
        assert one.variants[0] == "fci"


@pytest.mark.parametrize("scale", SCALES)
def test_shuffled_columns_are_those_of_samples_and_of_nothing_else(scale: str) -> None:
    settings = load(scale)
    causal, shuffled = settings["samples"], settings["order"]
    assert {name: one.columns for name, one in settings.items() if one.columns != "causal"} == {"order": "shuffled"}
    systems = [{(task.nodes, task.rows, task.seed) for task in one.tasks()} for one in (causal, shuffled)]
    assert systems[1] <= systems[0]
    assert (causal.variants, causal.cap) == (shuffled.variants, shuffled.cap)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('variants = ["fci", "no-such"]', r"\[tiny.oracle\] asks for 'no-such'; the variants are fci, icd-paper"),
        ('variants = ["fci"]\ndags = 20000', r"asks for 20000 DAGs; seeds are kept apart for up to 10,000"),
        ('variants = ["fci"]\ncolumns = "sorted"', r"asks for 'sorted' columns; they are causal or shuffled"),
        (
            'variants = ["fci"]\ncolumns = "shuffled"',
            "shuffled columns of the perfect oracle; only data can be shuffled",
        ),
    ],
)
def test_a_mistake_in_the_file_is_named(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    dags = "" if "dags" in line else "dags = 1"
    path.write_text(
        "[paper]\nalpha = 0.01\nexpected_neighbours = 2.0\nfirst_seed = 0\n"
        f"[tiny.oracle]\nnodes = [5]\ncap = 10\n{dags}\n{line}\n"
    )
    with pytest.raises(SystemExit, match=message):
        load("tiny", path)


def test_an_unknown_scale_is_named() -> None:
    with pytest.raises(SystemExit, match="must be one of full, small, tiny; got 'huge'"):
        load("huge")
