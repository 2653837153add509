"""`anypag warm` compiles what searches need before the first of them: for images and clusters."""

from __future__ import annotations

import os
import warnings
from itertools import cycle, islice

import numpy as np

from anypag._kernels.patience import COMPILING
from anypag.arrays import Floats
from anypag.cli.exits import ExitCode, command
from anypag.cli.terminal import Terminal
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
    terminal, values = Terminal(), _values()
    warnings.simplefilter("ignore", AnypagWarning)
    for what, (in_turn, test) in RUNS.items():
        before = COMPILING.seconds
        kinds = dict(zip(values, islice(cycle(in_turn), COLUMNS), strict=True))
        table = {
            name: np.digitize(values[name], [-1, 1]) if kinds[name] == "discrete" else values[name] for name in kinds
        }
        learn(table, kinds=kinds, test=test).effects()
        terminal.line(f"Tables of {what}: {COMPILING.seconds - before:.0f} s of compiling.")
    return ExitCode.COMPLETE


def _values() -> dict[str, Floats]:
    """Columns of numbers with hidden common causes."""
    rng = np.random.default_rng(0)
    hidden, weights = rng.normal(size=(ROWS, 3)), rng.normal(size=(3, COLUMNS))
    values = hidden @ (weights * (rng.random(weights.shape) < 0.6)) + rng.normal(size=(ROWS, COLUMNS))
    return {f"x{k}": values[:, k] for k in range(COLUMNS)}
