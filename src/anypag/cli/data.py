"""`anypag audit` checks a table, `anypag simulate` writes data with known truth, `anypag warm` compiles kernels."""

from __future__ import annotations

import io
import os
import warnings
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from anypag._kernels.patience import COMPILING
from anypag.cli.commands import ExitCode, command
from anypag.cli.options import ColumnOptions, RowOptions, Typed, spelled
from anypag.cli.outputs import Inputs, check_outputs, file_of
from anypag.cli.terminal import Terminal, panics_held
from anypag.errors import ParameterError

if TYPE_CHECKING:
    from anypag.arrays import Floats
    from anypag.data.table import Kind
    from anypag.simulate import Sample, System

MOST_COLUMNS = 50  # the most columns whose kind is listed without --json
TABLE_ENDINGS = (".csv", ".tsv", ".parquet")
RUNS: dict[str, tuple[tuple[Kind, ...], tuple[dict[str, Any], ...]]] = {
    "numbers": (("continuous",), ({}, {"method": "fci+"}, {"method": "gfci"}, {"missing": "pairwise"})),
    "levels": (("discrete",), ({}, {"method": "fci"}, {"test": "gsq"})),
    "numbers and levels": (("continuous", "discrete"), ({}, {"method": "anytime-fci"})),
    "numbers with curved effects": (("continuous",), ({"test": "additive"},)),
    "numbers, with a slow test": (("continuous",), ({"test": "gcm", "method": "icd", "max_r": 1},)),
}
"""For each table that `warm` searches: the kinds that its columns take in turn, and the choices of each search."""
KNOWN = "tiers: x0 x1 x2 | x3 x4 x5 x6 x7\nx3 !<-> x4"  # knowledge, which needs kernels of its own
NAMES, ROWS = [f"x{k}" for k in range(8)], 400  # the names of columns and the number of rows of each of these tables


@command("missing", "singular", "kinds", "max_r")
def audit(data: Path, *, typed: Typed, columns: ColumnOptions, reading: RowOptions, terminal: Terminal) -> ExitCode:
    """List the faults of a table that make a result wrong (errors) or weaker (warnings). Errors give exit code 1.

    Args:
        data DATA: The table: .csv, .tsv, .txt (or .gz of these), .parquet, .arrow, .feather, .xlsx, .dta, .sav; - is
            standard input.
    """
    from anypag.data.audit import audit as audited
    from anypag.data.files.read_table import INDEX_LEFT_OUT
    from anypag.data.sources.door import as_source
    from anypag.data.table import KINDS

    inputs = Inputs({"": file_of(data)}, columns, reading)
    with panics_held(inputs.first):
        source = as_source(*inputs.table(inputs.chosen()), typed["kinds"]).settled()
        found = audited(source, **{name: typed[name] for name in ("kinds", "missing", "singular", "max_r")})
        if inputs.leaves_index_out:
            found = found.with_findings([INDEX_LEFT_OUT])
    if terminal.as_json:
        kinds = {item.name: item.kind for item in found.kinds}
        reasons = {item.name: item.reason for item in found.kinds}
        checked = {"kinds": kinds, "reasons": reasons, "checked": list(found.checked), "notes": list(found.notes)}
        unchecked = [item._asdict() for item in found.unchecked]
        shown = [vars(one) | {"columns": list(one.columns), "remedy": str(one.remedy)} for one in found.findings]
        terminal.json({"rows": source.n, **checked, "unchecked": unchecked, "findings": shown})
    else:
        counted = {kind: source.kinds.count(kind) for kind in KINDS}
        by_kind = ", ".join(f"{n} {kind}" for kind, n in counted.items() if n or kind != "ordinal")
        terminal.line(f"{inputs.called}: {source.n:,} rows, {len(source.names):,} columns ({by_kind})", "bold")
        rows = [(finding.severity, finding.problem, finding.sentence.spelled(spelled)) for finding in found.findings]
        notes = [("note", "rows", note) for note in found.all_notes]
        terminal.columns([*rows, *notes], styles=("bold red", "cyan"))
        terminal.line()
        terminal.line("Kinds of columns:")
        terminal.columns([(f"  {item.name}", item.kind, item.reason) for item in found.kinds[:MOST_COLUMNS]])
        if len(found.kinds) > MOST_COLUMNS:
            terminal.line(f"  ... and {len(found.kinds) - MOST_COLUMNS} more; --json has them all.")
        terminal.line()
        terminal.line(found.all_clear if not found.findings else f"Checked for: {', '.join(found.checked)}.")
    return ExitCode.ERROR if found.errors else ExitCode.COMPLETE


@command()
def simulate(
    data: Path,
    *,
    truth: Path | None = None,
    dag: Path | None = None,
    variables: Annotated[int, click.IntRange(2, 2000)] = 15,
    neighbours: Annotated[float, click.FloatRange(0)] = 2.0,
    selection: Annotated[int, click.IntRange(0, 100)] = 0,
    rows: Annotated[int, click.IntRange(1, 100_000_000)] = 1000,
    kind: Literal["gaussian", "discrete"] = "gaussian",
    levels: Annotated[int, click.IntRange(2, 100)] = 2,
    seed: Annotated[int, click.IntRange(0)] = 0,
    terminal: Terminal,
) -> ExitCode:
    """Draw a random causal system with hidden causes. Write a sample of it and, if asked for, the true graphs.

    Args:
        data DATA: The table to write: .csv, .tsv or .parquet.
        truth FILE: Write the true PAG over the observed variables: .json, .txt, ...
        dag FILE: Write the DAG with its latent and selection variables.
        variables: The number of variables, latent ones included.
        neighbours: The average number of neighbours of a variable.
        selection: The number of variables that decide who gets into the sample.
        rows: The size of the sample.
        kind: Linear Gaussian or discrete variables.
        levels: The number of levels of each discrete variable.
        seed: The seed of the random numbers; the same seed gives the same data.
    """
    from anypag.graphs.formats.registry import format_of, write_graph
    from anypag.simulate import random_system

    if data.suffix.lower() not in TABLE_ENDINGS:
        raise ParameterError(f"The table is written as {', '.join(TABLE_ENDINGS)}; got {data.name!r}.")
    graphs = [path for path in (truth, dag) if path is not None]
    for path in graphs:
        format_of(path.suffix)  # raises an error for an unknown ending before the work begins
    check_outputs([data, *graphs])
    system = random_system(variables, neighbours, n_selection=selection, seed=seed)
    is_gaussian = kind == "gaussian"
    sample = system.linear_gaussian(rows, seed=seed) if is_gaussian else system.discrete(rows, levels=levels, seed=seed)
    true_pag = system.true_pag() if truth else None
    _write_table(sample, data)
    for graph, file in ((true_pag, truth), (system.dag, dag)):
        if graph and file:
            write_graph(graph, file)
    _tell(terminal, system, sample, [data, *graphs])
    return ExitCode.COMPLETE


def _write_table(sample: Sample, path: Path) -> None:
    import polars

    from anypag.files import write_whole

    frame, content, ending = polars.DataFrame(dict(sample)), io.BytesIO(), path.suffix.lower()
    if ending == ".parquet":
        frame.write_parquet(content)
    else:
        frame.write_csv(content, separator="," if ending == ".csv" else "\t")
    write_whole(path, content.getvalue())


def _tell(terminal: Terminal, system: System, sample: Sample, written: list[Path]) -> None:
    if terminal.as_json:
        groups = {name: list(getattr(system, name)) for name in ("observed", "latent", "selection")}
        terminal.json({"rows": sample.n_rows, **groups, "written": list(map(str, written))})
        return
    hidden = f"{len(system.latent)} latent" + (f", {len(system.selection)} for selection" if system.selection else "")
    terminal.line(f"{sample.n_rows:,} rows of {len(system.observed)} observed variables ({hidden}).", "bold")
    terminal.lines(f"Wrote {path}" for path in written)


@command()
def warm() -> ExitCode:
    """Compile the code that searches need, so that no later run waits for it.

    The code is compiled for this kind of processor, and kept in the folder NUMBA_CACHE_DIR or beside the package.
    """
    from anypag.ci.base import Oracle, Queries
    from anypag.ci.discrete import GSquared, PermutationChiSquared
    from anypag.errors import AnypagWarning
    from anypag.knowledge.knowledge import Knowledge
    from anypag.run.engine import learn
    from anypag.simulate import random_system

    os.environ["ANYPAG_PATIENCE"] = "0"
    warnings.simplefilter("ignore", AnypagWarning)
    terminal = Terminal()
    for what, (in_turn, searches) in RUNS.items():
        before = COMPILING.seconds
        kinds = dict(zip(NAMES, cycle(in_turn), strict=False))
        for choices in searches:
            result = learn(_table(kinds, gaps=0.05 * ("missing" in choices)), **choices)
            if result.posterior is not None:
                result.effects()
        terminal.line(f"Tables of {what}: {COMPILING.seconds - before:.0f} s of compiling.")
    for test in (GSquared, PermutationChiSquared):  # with so many conditions these tests use a further kernel
        test(_table(dict.fromkeys(NAMES, "discrete"))).pvalues(Queries([0], [1], [range(2, len(NAMES))]))
    learn(Oracle(random_system(len(NAMES), 2.0, seed=0).dag))
    learn(_table(dict.fromkeys(NAMES, "continuous")), knowledge=Knowledge.from_text(KNOWN), selection_bias=False)
    return ExitCode.COMPLETE


def _table(kinds: dict[str, Kind], gaps: float = 0.0) -> dict[str, Floats]:
    import numpy as np

    rng = np.random.default_rng(0)
    weights = rng.normal(size=(3, len(kinds))) * (rng.random((3, len(kinds))) < 0.6)
    values = (rng.normal(size=(ROWS, 3)) @ weights + rng.normal(size=(ROWS, len(kinds)))).T
    values[rng.random(values.shape) < gaps] = np.nan
    columns = zip(kinds.items(), values, strict=True)
    return {name: np.clip(column.round(), -1, 1) if kind == "discrete" else column for (name, kind), column in columns}
