"""Searches by score on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import anypag, write_chain


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_chain(tmp_path / "table.csv")


def test_the_end_says_how_many_errors_are_expected(table: Path) -> None:
    done = anypag("learn", table, "--method", "bayes", "--effort", "0.1")
    assert done.code == 0
    assert "has the fewest expected errors" in done.out
    assert "sampling" in done.out
    assert "r = 0" not in done.out
    found = anypag("learn", table, "--method", "bayes", "--effort", "0.1", "--json").document
    assert found["result"]["meta"]["anypag"]["probabilities"]["samples"] > 0


def test_boss_says_what_it_assumes(table: Path) -> None:
    done = anypag("learn", table, "--method", "boss")
    assert done.code == 0
    assert "assuming that nothing is hidden" in done.out


def test_a_budget_leaves_a_graph(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "graph.json"
    done = anypag("learn", table, "--method", "bayes", "--effort", "100", "--time-budget", "1s", "--out", out)
    assert done.code == 3
    assert out.exists()
    assert "Stopped early" in done.out
