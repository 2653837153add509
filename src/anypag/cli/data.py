"""`anypag audit` checks a table; `anypag warm` compiles what searches of all kinds of tables need."""

from __future__ import annotations

import os
import warnings
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING

from anypag._kernels.patience import COMPILING
from anypag.cli.commands import ExitCode, command
from anypag.cli.options import ColumnOptions, RowOptions, Typed, spelled
from anypag.cli.outputs import chosen_columns, file_of, leaves_index_out, table_of
from anypag.cli.terminal import Terminal

if TYPE_CHECKING:
    from anypag.arrays import Floats
    from anypag.data.table import Kind

MOST_COLUMNS = 50  # the most columns whose kind is listed on a terminal


@command("missing", "singular", "kinds", "max_r")
def audit(data: Path, *, typed: Typed, columns: ColumnOptions, reading: RowOptions, as_json: bool = False) -> ExitCode:
    """List what in a table would make a result wrong (errors) or weaker (warnings). Exit code 1 if there are errors.

    Args:
        data DATA: The table: .csv, .tsv, .txt (or .gz of these), .parquet, .arrow, .feather, .xlsx, .dta, .sav; - is
            standard input.
        as_json: Print one JSON document instead of text.
    """
    from anypag.data import as_table
    from anypag.data.audit import audit as audited
    from anypag.data.files.read_table import INDEX_LEFT_OUT
    from anypag.data.table import KINDS

    terminal = Terminal(as_json=as_json)
    data = file_of(data)
    how = reading.reading()
    (names,) = chosen_columns({"": data}, columns, how).values()
    table = as_table(*table_of(data, how, names), kinds=typed["kinds"])
    if leaves_index_out(data, columns, how):
        table = table.with_findings([INDEX_LEFT_OUT])
    found = audited(table, missing=typed["missing"], singular=typed["singular"], max_r=typed["max_r"])
    if as_json:
        findings = [
            vars(finding) | {"columns": list(finding.columns), "remedy": str(finding.remedy)}
            for finding in found.findings
        ]
        kinds_found = {item.name: item.kind for item in found.kinds}
        reasons = {item.name: item.reason for item in found.kinds}
        checked = {"kinds": kinds_found, "reasons": reasons, "checked": list(found.checked), "notes": list(found.notes)}
        terminal.json({"rows": table.n, **checked, "findings": findings})
    else:
        counted = {kind: table.kinds.count(kind) for kind in KINDS}
        by_kind = ", ".join(f"{n} {kind}" for kind, n in counted.items() if n or kind != "ordinal")
        terminal.line(f"{data.name}: {table.n:,} rows, {len(table.names):,} columns ({by_kind})", "bold")
        rows = [(finding.severity, finding.problem, finding.sentence.spelled(spelled)) for finding in found.findings]
        notes = [("note", "rows", note) for note in found.notes]
        terminal.columns([*rows, *notes])
        terminal.line()
        terminal.line("Columns are taken for:")
        terminal.columns([(f"  {item.name}", item.kind, item.reason) for item in found.kinds[:MOST_COLUMNS]])
        if len(found.kinds) > MOST_COLUMNS:
            terminal.line(f"  ... and {len(found.kinds) - MOST_COLUMNS} more; --json has them all.")
        terminal.line()
        terminal.line(found.all_clear if not found.findings else f"Checked for: {', '.join(found.checked)}.")
    return ExitCode.ERROR if found.errors else ExitCode.COMPLETE


RUNS: dict[str, tuple[tuple[Kind, ...], str]] = {
    "numbers": (("continuous",), "auto"),
    "levels": (("discrete",), "auto"),
    "numbers and levels": (("continuous", "discrete"), "auto"),
    "numbers with curved effects": (("continuous",), "additive"),
}
"""What is compiled for: the kinds of the columns in turn, and the test."""
COLUMNS, ROWS = 8, 400


@command()
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
