"""How each experiment is run: `settings.toml`, read and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal, get_args

from experiments.variants import VARIANTS

SETTINGS = Path(__file__).with_name("settings.toml")
SCALES = ("full", "small", "tiny")
EXPERIMENTS = ("oracle", "samples", "large", "readings", "order")
Columns = Literal["causal", "shuffled"]
"""The order of a table's columns: causes before effects, as they are drawn, or by chance."""


@dataclass(frozen=True)
class Task:
    """One random system, and the variants to run on it."""

    nodes: int
    rows: int
    """How many rows of data; 0 for the perfect oracle."""
    seed: int
    variants: tuple[str, ...]
    cap: int
    alpha: float
    expected_neighbours: float
    columns: Columns = "causal"


@dataclass(frozen=True)
class Settings:
    """One experiment at one scale."""

    scale: str
    experiment: str
    nodes: tuple[int, ...]
    rows: tuple[int, ...]
    dags: int
    cap: int
    variants: tuple[str, ...]
    alpha: float
    expected_neighbours: float
    first_seed: int
    columns: Columns

    def tasks(self) -> Iterator[Task]:
        """One for each system; those of all sizes in turn, so that a run that is stopped has some of each."""
        for k, nodes, rows in product(range(self.dags), self.nodes, self.rows):
            seed = self.seeds(rows)[k]
            yield Task(nodes, rows, seed, self.variants, self.cap, self.alpha, self.expected_neighbours, self.columns)

    def number(self, task: Task) -> int:
        """Which of its systems this is, from 0 on."""
        return task.seed - self.seeds(task.rows).start

    def seeds(self, rows: int) -> range:
        """The seeds of the systems with so many rows."""
        first = self.first_seed + 10_000 * rows
        return range(first, first + self.dags)


def load(scale: str, path: Path = SETTINGS) -> dict[str, Settings]:
    """The settings of every experiment at a scale, by the name of the experiment.

    >>> load("full")["samples"].seeds(100)
    range(1000000, 1001000)
    """
    with path.open("rb") as file:
        content = tomllib.load(file)
    if scale not in content or scale == "paper":
        raise SystemExit(f"The scale must be one of {', '.join(SCALES)}; got {scale!r}.")
    return {name: _checked(scale, name, content) for name in EXPERIMENTS}


def _checked(scale: str, name: str, content: dict[str, dict[str, dict[str, object]]]) -> Settings:
    if name not in content[scale]:
        raise SystemExit(f"{SETTINGS.name} has no [{scale}.{name}].")
    values = {"rows": [0], "columns": "causal", **content["paper"], **content[scale][name]}
    lists = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    settings = Settings(scale=scale, experiment=name, **lists)  # type: ignore[arg-type]
    unknown = [variant for variant in settings.variants if variant not in VARIANTS]
    if unknown:
        raise SystemExit(f"[{scale}.{name}] asks for {unknown[0]!r}; the variants are {', '.join(VARIANTS)}.")
    if settings.columns not in get_args(Columns):
        raise SystemExit(f"[{scale}.{name}] asks for {settings.columns!r} columns; they are causal or shuffled.")
    if settings.columns == "shuffled" and 0 in settings.rows:
        raise SystemExit(
            f"[{scale}.{name}] asks for shuffled columns of the perfect oracle; only data can be shuffled."
        )
    if settings.dags > 10_000:
        raise SystemExit(f"[{scale}.{name}] asks for {settings.dags} DAGs; seeds are kept apart for up to 10,000.")
    return settings
