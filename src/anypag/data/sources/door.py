"""`as_source`: the data that a user gives, as a `Source`, from which checks and tests read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anypag.data.columns import name_sequence
from anypag.data.files.scan import READ_WHOLE, TEXT_ENDINGS, ending_of, made_from_file
from anypag.data.libraries import polars
from anypag.data.sources.counted import CountedTable
from anypag.data.sources.engine import EngineTable
from anypag.data.sources.engine_queries import is_in_engine
from anypag.data.sources.file import FileTable
from anypag.data.sources.protocol import MOST_LOOKED_AT, Source
from anypag.data.table import Table, as_table, declared, spelled_out
from anypag.errors import is_pattern, matching

BYTES_A_NUMBER = 4  # assumed for a number and its separator in a text file that is not compressed


def as_source(data: Any, names: Sequence[str] | None = None, kinds: Mapping[str, str] | None = None) -> Source:
    """The data as a source: any table that `as_table` takes; a file, which is read in parts if it is large; a table
    in an engine (DuckDB, Dask, Spark, ...). `names` and `kinds`: see `as_table`; a name such as "price*" stands for
    all columns that match it. DataError if the data are not a table.
    """
    is_named = not isinstance(data, np.ndarray | list | tuple)  # for an array, `names` are new names, not patterns
    if names is not None and not isinstance(names, str) and any(map(is_pattern, names)) and is_named:
        names = matching(names, as_source(data).names)
    if isinstance(data, str | Path) and not _is_small(Path(data)):
        source: Source = FileTable.of(data, None if names is None else name_sequence(names))
    elif isinstance(data, CountedTable | FileTable | EngineTable | Table):
        source = data if names is None else data.take(name_sequence(names))
    elif is_in_engine(data):
        source = EngineTable.of(data, None if names is None else name_sequence(names))
    else:
        source = as_table(data, names)
    if not kinds:
        return source
    told = spelled_out(kinds, source.names)
    if isinstance(source, Table) or any(kind == "ordinal" or "<" in str(kind) for kind in dict(told).values()):
        return declared(source.rows(), told)
    return source.with_kinds(told)  # type: ignore[arg-type]


def _is_small(path: Path) -> bool:
    """Is a file small enough to be read whole? True if it is unreadable: reading it reports the error."""
    if not path.is_file() or ending_of(path) in READ_WHOLE:
        return True
    if ending_of(path) in TEXT_ENDINGS:
        return path.stat().st_size <= MOST_LOOKED_AT * (1 if path.suffix.lower() == ".gz" else BYTES_A_NUMBER)

    def numbers(frame: polars.LazyFrame) -> int:
        return int(frame.select(polars.len()).collect().item()) * len(frame.collect_schema())

    return made_from_file(path, numbers) <= MOST_LOOKED_AT
