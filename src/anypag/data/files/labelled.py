"""Tables of Stata (.dta) and SPSS (.sav, .zsav), read by pyreadstat, which is in the extra 'stata'.

If every value of a column has a label, the labels are its levels, in the order of their codes. Codes that a file
declares missing (.a to .z in Stata, user-missing values in SPSS) are gaps, and so are empty texts, which Stata
writes for a missing text. Both kinds of file are read whole.
"""

from __future__ import annotations

from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import Any

from anypag.data.findings import Finding, warning
from anypag.data.libraries import polars
from anypag.errors import DataError, MissingExtraError, listed

LABELLED_ENDINGS = (".dta", ".sav", ".zsav")
Labels = dict[str, dict[float, str]]


def read_labelled(path: Path) -> polars.DataFrame:
    """The table, with labels as levels and empty texts as gaps."""
    frame, about = _read(path)
    labels = _labels(frame, about)
    whole = [_levels(frame[name], labels[name]) for name in labels if _is_labelled(frame[name], labels)]
    return frame.with_columns(polars.col(polars.String).replace("", None)).with_columns(whole)


def labelled_findings(path: Path) -> list[Finding]:
    """Warnings about codes that were read as gaps, and about columns with labels for only some of their values."""
    frame, about = _read(path)
    whole, labels, found = _read(path, user_missing=True)[1], _labels(frame, about), []
    gaps = list(dict.fromkeys([*whole.missing_ranges, *whole.missing_user_values]))
    if gaps:
        message = f"Codes that the file declares missing were read as gaps in {listed(gaps, 6)}."
        found.append(warning("words", gaps, message, "If one of them is a level, give it another code in the file."))
    for name in (name for name in labels if not _is_labelled(frame[name], labels)):
        shown = [f"{code:g} ({text!r})" for code, text in labels[name].items() if (frame[name] == code).any()]
        if shown:
            message = f"Column {name!r} was read as numbers, though some numbers have labels: {', '.join(shown[:4])}."
            found.append(warning("code", (name,), message, "Mark codes that are no quantities as missing in the file."))
    return found


def _labels(frame: polars.DataFrame, about: Any) -> Labels:
    """{column: {code: label}} for columns of numbers with labels, codes ascending. Codes for gaps are left out."""
    found = {}
    for name, labels in about.variable_value_labels.items():
        pairs = sorted((float(code), text) for code, text in labels.items() if isinstance(code, Real))
        if pairs and name in frame.columns and frame[name].dtype.is_numeric():
            found[name] = dict(pairs)
    return found


def _is_labelled(column: polars.Series, labels: Labels) -> bool:
    return set(column.drop_nulls().to_list()) <= labels[column.name].keys()


def _levels(column: polars.Series, labels: dict[float, str]) -> polars.Series:
    """The column with labels as levels, in the order of codes; a label of several codes gets the code appended."""
    texts = list(labels.values())
    told = {code: f"{text} ({code:g})" if texts.count(text) > 1 else text for code, text in labels.items()}
    return column.cast(polars.Float64).replace_strict(told, default=None, return_dtype=polars.Enum(list(told.values())))


def _read(path: Path, **options: Any) -> tuple[polars.DataFrame, Any]:
    try:
        pyreadstat = import_module("pyreadstat")
    except ImportError:
        raise MissingExtraError(
            f"{path.suffix.lower()} files need pyreadstat: pip install pyreadstat (it is in the extra 'stata'), or "
            "save the table as .csv."
        ) from None
    read = pyreadstat.read_dta if path.suffix.lower() == ".dta" else pyreadstat.read_sav
    try:
        frame, about = read(path, output_format="polars", **options)
        return frame, about
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, TypeError) as error:
        raise DataError(f"The file {path} cannot be read as a {path.suffix.lower()} table: {error}.") from None
