"""`anypag warm` compiles what searches need before the first of them: for images and clusters."""

from __future__ import annotations

import os
import warnings
from itertools import cycle, islice
from typing import TYPE_CHECKING

from anypag._kernels.patience import COMPILING
from anypag.cli.exits import ExitCode, command
from anypag.cli.terminal import Terminal

if TYPE_CHECKING:
    from anypag.arrays import Floats
    from anypag.data.table import Kind

RUNS: dict[str, tuple[tuple[Kind, ...], str]] = {
    "numbers": (("continuous",), "auto"),
    "levels": (("discrete",), "auto"),
    "numbers and levels": (("continuous", "discrete"), "auto"),
    "numbers with curved effects": (("continuous",), "additive"),
}
"""What is compiled for: the kinds of the columns in turn, and the test."""
COLUMNS, ROWS = 8, 400


@command
def warm() -> ExitCode:
    """Compile what searches need, so that no later run waits for it.

    It is kept where NUMBA_CACHE_DIR says, else beside the package, for this kind of processor.
    """
    from anypag.errors import AnypagWarning
    from anypag.run.engine import learn

    os.environ["ANYPAG_PATIENCE"] = "0"
    warnings.simplefilter("ignore", AnypagWarning)
    terminal = Terminal()
    for what, (in_turn, test) in RUNS.items():
        before = COMPILING.seconds
        kinds = {f"x{k}": kind for k, kind in enumerate(islice(cycle(in_turn), COLUMNS))}
        learn(_table(kinds), kinds=kinds, test=test).effects()
        terminal.line(f"Tables of {what}: {COMPILING.seconds - before:.0f} s of compiling.")
    return ExitCode.COMPLETE


def _table(kinds: dict[str, Kind]) -> dict[str, Floats]:
    """Columns with hidden common causes."""
    import numpy as np

    rng = np.random.default_rng(0)
    weights = rng.normal(size=(3, COLUMNS)) * (rng.random((3, COLUMNS)) < 0.6)
    values = (rng.normal(size=(ROWS, 3)) @ weights + rng.normal(size=(ROWS, COLUMNS))).T
    columns = zip(kinds.items(), values, strict=True)
    return {name: np.clip(column.round(), -1, 1) if kind == "discrete" else column for (name, kind), column in columns}
