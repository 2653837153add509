"""The command line inside the test process: what it prints, and how it ends."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars

import anypag as ap
from anypag.cli.main import main


class Ended(NamedTuple):
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


def anypag(*arguments: str | Path) -> Ended:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return Ended(code, out.getvalue(), err.getvalue())


def write_chain(path: Path, *, rows: int = 400, seed: int = 0) -> Path:
    """Columns a --> c <-- b, c --> d: a graph that any search finds."""
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, rows))
    c = a + b + random.normal(size=rows)
    d = c + random.normal(size=rows)
    lines = ["a,b,c,d", *(",".join(f"{value:.6f}" for value in row) for row in zip(a, b, c, d, strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_system(path: Path, variables: int, neighbours: float, *, rows: int = 1000, seed: int = 0) -> Path:
    """A sample of a random system with hidden causes."""
    system = ap.simulate.random_system(variables, neighbours, n_selection=0, seed=seed)
    polars.DataFrame(dict(system.linear_gaussian(rows, seed=seed))).write_csv(path)
    return path
