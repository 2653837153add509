"""The design of several data sets: the contexts of each, and which of them others determine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from anypag.arrays import Floats
from anypag.data.findings import Finding, warning
from anypag.data.table import Kind, Table, as_table
from anypag.errors import DataError, ParameterError, listed


def design_of(contexts: Any, sets: tuple[str, ...], order: Sequence[int], *, continuous: bool) -> Table:
    """The contexts, a row for each data set; row i is row `order[i]` of a given table. If all other columns are
    continuous, contexts with numbers or two levels are continuous too, so that the linear score can be used, which
    allows for hidden causes.
    """
    if isinstance(contexts, str) and contexts == "indicator":
        table = Table(sets[1:], np.eye(len(sets))[:, 1:], (None,) * (len(sets) - 1), (None,) * (len(sets) - 1))
    elif isinstance(contexts, str) and contexts == "one":
        table = Table(("context",), np.arange(len(sets), dtype=np.float64)[:, None], (sets,), ("discrete",))
    elif isinstance(contexts, str):
        raise ParameterError(f"'contexts' must be 'indicator', 'one' or a table of the design; got {contexts!r}.")
    else:
        table = as_table(contexts)
        if table.n != len(sets):
            raise DataError(f"The design has a row for each of the {len(sets)} data sets; got {table.n} rows.")
        table = _observed_levels_first(table.take_rows(np.array(order)))

    def kind(i: int) -> Kind:
        is_number = table.labels[i] is None or len(table.labels[i] or ()) == 2
        return "continuous" if continuous and is_number else "discrete"

    kinds = tuple(kind(i) for i in range(len(table.names)))
    labels = tuple(None if k == "continuous" else own for k, own in zip(kinds, table.labels, strict=True))
    return replace(table, given_kinds=kinds, labels=labels)


def _observed_levels_first(design: Table) -> Table:
    """The design with levels numbered as they come, so that estimates compare with the level of the observed set."""
    values, labels = np.array(design.values), list(design.labels)
    for i, own in enumerate(design.labels):
        if own:
            codes = list(dict.fromkeys(values[:, i].tolist()))
            values[:, i], labels[i] = list(map(codes.index, values[:, i])), tuple(own[int(code)] for code in codes)
    return replace(design, values=np.asfortranarray(values), labels=tuple(labels))


def untold(design: Table) -> list[Finding]:
    """Contexts that others determine: which of them acts on something cannot be told."""
    places = range(len(design.names))
    values = design.values
    told = [design.names[k] for k in places if is_determined(values, k, [other for other in places if other != k])]
    message = f"Other contexts determine {listed(told)}: which of them acts on a variable cannot be told."
    return [warning("contexts", told, message, "Vary them apart, or leave one of them out.")] if told else []


def is_determined(design: Floats, context: int, given: Sequence[int]) -> bool:
    """Do some contexts determine another one, by the rows of the design?

    >>> dose_and_drug = np.array([[0, 0], [2, 1], [3, 1]])
    >>> is_determined(dose_and_drug, 1, [0]), is_determined(dose_and_drug, 0, [1])
    (True, False)
    """
    known = design[:, list(given)]
    return len(np.unique(known, axis=0)) == len(np.unique(np.column_stack([known, design[:, context]]), axis=0))
