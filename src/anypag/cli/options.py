"""The arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="The table: .csv, .tsv, .txt, .parquet, .arrow or .feather.")
]
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Use only these columns: names with commas between; may be given again."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Leave these columns out: names with commas between; may be given again."),
]
