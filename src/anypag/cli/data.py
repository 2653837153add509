"""`anypag audit` checks a table; `anypag simulate` writes data with known truth."""

from __future__ import annotations

import io
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from anypag.cli import options
from anypag.cli.exits import ExitCode, command
from anypag.cli.options import Typed, spelled, with_choices
from anypag.cli.outputs import check_outputs, chosen_columns, file_of, leaves_index_out, reading_of, table_of
from anypag.cli.parameters import argument, option
from anypag.cli.terminal import Terminal, panics_held

if TYPE_CHECKING:
    from anypag.simulate import Sample, System

MOST_COLUMNS = 50  # the most columns whose kind is listed on a terminal

TABLE_ENDINGS = (".csv", ".tsv", ".parquet")


class VariablesChoice(StrEnum):
    """What kind of variables to draw."""

    GAUSSIAN = "gaussian"
    DISCRETE = "discrete"


@command
@with_choices("missing", "singular", "kinds", "max_r")
def audit(
    data: options.Data,
    typed: Typed,
    columns: options.Columns = None,
    drop: options.Drop = None,
    counts: options.CountsColumn = None,
    weights: options.WeightsColumn = None,
    encoding: options.Encoding = None,
    gaps: options.Gaps = None,
    no_header: options.NoHeader = False,
    sheet: options.Sheet = None,
    as_json: options.Json = False,
) -> ExitCode:
    """List what in a table would make a result wrong (errors) or weaker (warnings). Exit code 1 if there are errors."""
    from anypag.data import as_table
    from anypag.data.audit import audit as audited
    from anypag.data.files.read_table import INDEX_LEFT_OUT
    from anypag.data.table import KINDS

    terminal = Terminal(as_json=as_json)
    data = file_of(data)
    with panics_held(data):
        reading = reading_of(encoding, gaps, no_header, sheet, counts, weights)
        (names,) = chosen_columns({"": data}, columns, drop, reading).values()
        table = as_table(*table_of(data, reading, names), kinds=typed["kinds"])
        if leaves_index_out(data, columns, drop, reading):
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
        terminal.columns([*rows, *notes], styles=("bold red", "cyan"))
        terminal.line()
        terminal.line("Columns are taken for:")
        terminal.columns([(f"  {item.name}", item.kind, item.reason) for item in found.kinds[:MOST_COLUMNS]])
        if len(found.kinds) > MOST_COLUMNS:
            terminal.line(f"  ... and {len(found.kinds) - MOST_COLUMNS} more; --json has them all.")
        terminal.line()
        terminal.line(found.all_clear if not found.findings else f"Checked for: {', '.join(found.checked)}.")
    return ExitCode.ERROR if found.errors else ExitCode.COMPLETE


@command
def simulate(
    data: Annotated[Path, argument(metavar="DATA", help="The table to write: .csv, .tsv or .parquet.")],
    truth: Annotated[
        Path | None, option(metavar="FILE", help="Write the true PAG over the observed variables: .json, .txt, ...")
    ] = None,
    dag: Annotated[
        Path | None, option(metavar="FILE", help="Write the DAG with its latent and selection variables.")
    ] = None,
    variables: Annotated[int, option(type=click.IntRange(2, 2000), help="How many, latent ones included.")] = 15,
    neighbours: Annotated[
        float, option(type=click.FloatRange(0), help="How many neighbours a variable has on average.")
    ] = 2.0,
    selection: Annotated[
        int, option(type=click.IntRange(0, 100), help="How many variables decide who gets into the sample.")
    ] = 0,
    rows: Annotated[int, option(type=click.IntRange(1, 100_000_000), help="The size of the sample.")] = 1000,
    kind: Annotated[VariablesChoice, option(help="Linear Gaussian or discrete variables.")] = VariablesChoice.GAUSSIAN,
    levels: Annotated[int, option(type=click.IntRange(2, 100), help="The levels of discrete variables.")] = 2,
    seed: Annotated[int, option(type=click.IntRange(0), help="The same number gives the same data.")] = 0,
    as_json: options.Json = False,
) -> ExitCode:
    """Draw a random system with hidden causes, write a sample of it and what can be learned from it."""
    from anypag.errors import ParameterError
    from anypag.graphs.formats.registry import format_of, write_graph
    from anypag.simulate import random_system

    terminal = Terminal(as_json=as_json)
    if data.suffix.lower() not in TABLE_ENDINGS:
        raise ParameterError(f"The table is written as {', '.join(TABLE_ENDINGS)}; got {data.name!r}.")
    graphs = [path for path in (truth, dag) if path is not None]
    for path in graphs:
        format_of(path.suffix)  # refuses an unknown one before the work
    check_outputs([data, *graphs])
    system = random_system(variables, neighbours, n_selection=selection, seed=seed)
    is_gaussian = kind is VariablesChoice.GAUSSIAN
    sample = system.linear_gaussian(rows, seed=seed) if is_gaussian else system.discrete(rows, levels=levels, seed=seed)
    true_pag = system.true_pag() if truth else None
    _write_table(sample, data)
    if truth and true_pag:
        write_graph(true_pag, truth)
    if dag:
        write_graph(system.dag, dag)
    _tell(terminal, system, sample, [data, *graphs])
    return ExitCode.COMPLETE


def _write_table(sample: Sample, path: Path) -> None:
    import polars

    from anypag.files import write_whole

    frame, content = polars.DataFrame(dict(sample)), io.BytesIO()
    if path.suffix.lower() == ".parquet":
        frame.write_parquet(content)
    else:
        frame.write_csv(content, separator="," if path.suffix.lower() == ".csv" else "\t")
    write_whole(path, content.getvalue())


def _tell(terminal: Terminal, system: System, sample: Sample, written: list[Path]) -> None:
    if terminal.as_json:
        terminal.json(
            {
                "rows": sample.n_rows,
                "observed": list(system.observed),
                "latent": list(system.latent),
                "selection": list(system.selection),
                "written": [str(path) for path in written],
            }
        )
        return
    hidden = f"{len(system.latent)} latent" + (f", {len(system.selection)} for selection" if system.selection else "")
    terminal.line(f"{sample.n_rows:,} rows of {len(system.observed)} observed variables ({hidden}).", "bold")
    for path in written:
        terminal.line(f"Wrote {path}")
