"""The arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="The table: .csv, .tsv, .txt (or .gz of these), .parquet, .arrow, .feather, .xlsx; - is standard input.",
    ),
]
Encoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="How a text file is written that is not UTF-8: latin-1, cp1252, ...")
]
Gaps = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORDS",
        help="Words or numbers (--gaps=-999,NA) that stand for a missing value, with commas between; by default, in "
        "text files, NA, N/A, NaN, nan, null, NULL and None, among numbers also in other spellings (n/a, na, ...). An "
        "empty place always does.",
    ),
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The text file begins with data, not with names: they are X0, X1, ...")
]
Sheet = Annotated[str | None, typer.Option(metavar="NAME", help="The sheet of an .xlsx file; the first by default.")]
CountsColumn = Annotated[
    str | None,
    typer.Option(
        "--counts",
        metavar="COLUMN",
        help="Each row stands for as many rows as this column says: whole numbers, as a GROUP BY counts them.",
    ),
]
Covariance = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="DATA is the covariance or correlation matrix of N rows: a column and a row for each variable, whose "
        "names may stand in a first column; one triangle may be empty.",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Use only these columns: names with commas between; may be given again."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Leave these columns out: names with commas between; may be given again."),
]
