"""Searching in one part of the rows and estimating in the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from anypag.data.table import Table, as_table
from anypag.errors import Option, ParameterError
from anypag.results.base import BaseResult


def searched_apart(result: object, data: Any, share: float, seed: int = 0) -> tuple[BaseResult, Table]:
    """The same search on a random share of the rows, and the other rows.

    An interval from rows that also chose the graph is too narrow: a search keeps an edge because it looks strong in
    these rows, and the estimate then sees the same luck again.
    """
    if not isinstance(result, BaseResult):
        raise ParameterError("With ", Option("split"), " the search is made anew, so what a search learned is needed.")
    if data is None:
        raise ParameterError("With ", Option("split"), " rows are needed to search in: give ", Option("data"), ".")
    if not isinstance(share, float | int) or not 0 < share < 1:
        raise ParameterError("The option ", Option("split"), f" is the share of rows to search in; got {share!r}.")
    if not isinstance(result.choices.test, str):
        raise ParameterError("With ", Option("split"), " the search must make its test from the data, by a name.")
    from anypag.run.engine import Search

    table = as_table(data).take_columns(result.pag.names)
    is_searched = np.zeros(table.n, bool)
    is_searched[np.random.default_rng(seed).permutation(table.n)[: round(share * table.n)]] = True
    choices = replace(result.choices, method=result.method, names=None, initial=None, stop=None, checkpoint=None)
    found = Search(table.take_rows(is_searched), replace(choices, resume=False, progress=False)).run()
    return found, table.take_rows(~is_searched)
