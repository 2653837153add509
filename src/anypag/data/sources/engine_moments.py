"""Moments of a table that lives in an engine, computed there; only sums are pulled.

Two passes: counts, extremes and means of the columns; then sums of products about the means, over the rows without
gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anypag.data.audit.columns import constant_findings, header_findings
from anypag.data.audit.copies import near_copies
from anypag.data.audit.relations import relation_findings
from anypag.data.audit.rows import (
    dropped_findings,
    few_rows_findings,
    infinity_findings,
    large_set_findings,
    largest_set,
    missing_findings,
)
from anypag.data.findings import Audit, Finding, Singular, require_choice
from anypag.data.moments import Moments
from anypag.data.sources.engine import Engine
from anypag.data.table import Missing
from anypag.errors import DataError, listed

CHECKED_IN_ENGINES = (
    "text among numbers",
    "infinite and missing values",
    "too few rows",
    "constant columns",
    "exact linear relations",
    "a missing line of names",
    "near copies",
)


def engine_moments(
    data: Any,
    names: Sequence[str] | None = None,
    *,
    missing: Missing = "error",
    singular: Singular = "error",
    max_r: int | None = None,
) -> tuple[Moments, Audit]:
    """The moments of a table in an engine, and the warnings about it.

    Args:
        data: a relation of DuckDB, a data frame of Dask or Spark, or any other lazy table that narwhals takes.
        names: which columns to use, in this order; all if not given.
        missing: "error" or "drop"; "pairwise" would need the rows again for every test.
        singular: see `anypag.data.audit`.
        max_r: see `anypag.data.audit`.

    Raises:
        DataError: something in the table would make the result wrong.
    """
    require_choice("missing", missing, ("error", "drop"))
    require_choice("singular", singular, ("error", "keep"))
    engine = Engine.of(data, names)
    _require_numbers(engine)
    complete, n_rows, findings = complete_rows(engine, missing)
    summary = complete.summary()
    findings += [*dropped_findings(n_rows, summary.n), *few_rows_findings(summary.n)]
    findings += large_set_findings(summary.n, largest_set(len(engine.names), max_r)) if summary.n else []
    findings += constant_findings(engine.names, np.equal(summary.low, summary.high))
    Audit.of(findings).require_usable()
    moments = complete.moments(summary)
    suspicious = [*header_findings(engine.names), *near_copies(moments)]
    audit = Audit.of([*findings, *relation_findings(moments, singular), *suspicious], CHECKED_IN_ENGINES)
    audit.require_usable()
    return moments, audit


def complete_rows(engine: Engine, missing: Missing) -> tuple[Engine, int, list[Finding]]:
    """The rows without gaps, how many rows there are with them, and what was found of gaps and infinite values.

    Raises:
        DataError: there are some that make the result wrong.
    """
    n_rows = engine.n_rows()
    gaps, infinite = engine.gaps()
    found = [*infinity_findings(engine.names, infinite), *missing_findings(engine.names, gaps, n_rows, missing)]
    Audit.of(found).require_usable()
    return engine.without_gaps() if gaps.any() else engine, n_rows, found


def _require_numbers(engine: Engine) -> None:
    odd = [name for name, text in zip(engine.names, engine.is_text, strict=True) if text]
    if odd:
        raise DataError(f"Fisher's z needs numbers; {listed(odd)} hold something else. Leave them out (names).")
