"""All pairs of a result as one table: a dict of columns, which any dataframe library takes, or CSV."""

from __future__ import annotations

import csv
import io
import os
from itertools import combinations
from pathlib import Path
from typing import Any

from anypag.explain.pair import End, Explanation, facts_of, told
from anypag.explain.words import MARK_NAMES
from anypag.graphs.formats.files import write_whole
from anypag.graphs.pag import PAG
from anypag.graphs.text import quote
from anypag.run.result import Learned

COLUMNS = (
    "from",
    "to",
    "edge",
    "mark_from",
    "mark_to",
    "in_words",
    "p",
    "n",
    "r",
    "given",
    "rule_from",
    "rule_to",
    "conflict",
)
"""The columns of an edge table.

`edge` is the edge as text (`o->`), empty where there is none; marks are `circle`, `arrow`, `tail` or `none`. `p` is the
largest p-value among the tests that kept an edge, or the p-value of the separation; `n` the rows it rests on; `given`
and `r` the separating set and the iteration that found it. `rule_from` and `rule_to` are `R0` to `R10`. `conflict` says
whether some rule wanted another mark.
"""


def edge_table(result: Learned | PAG, *, non_edges: bool = True) -> dict[str, list[Any]]:
    """A row for every pair of variables: the edges first, in the order of the variables, then the pairs without one.

    Args:
        result: what a search learned, or a bare PAG (then reasons are None).
        non_edges: whether to list the pairs without an edge too.

    Returns:
        The columns of `COLUMNS`; `None` where nothing is known. `pandas.DataFrame(...)` and `polars.DataFrame(...)`
        take it as it is.

    >>> import anypag as ap
    >>> result = ap.learn(ap.Oracle(ap.DAG.from_string("storm --> fire; arson --> fire")))
    >>> table = edge_table(result)
    >>> list(zip(table["from"], table["edge"], table["to"], table["given"]))
    [('storm', 'o->', 'fire', None), ('fire', '<-o', 'arson', None), ('storm', '', 'arson', [])]
    """
    facts = facts_of(result)
    pag = facts.pag
    pairs = [pair for pair in combinations(pag.names, 2) if non_edges or pag.is_adjacent(*pair)]
    rows = [_row(told(facts, a, b)) for a, b in sorted(pairs, key=lambda pair: not pag.is_adjacent(*pair))]
    return {column: [row[column] for row in rows] for column in COLUMNS}


def edge_csv(result: Learned | PAG, *, non_edges: bool = True) -> str:
    """The edge table as CSV; a separating set stands as its names with `; ` between them."""
    table = edge_table(result, non_edges=non_edges)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(value) for value in row] for row in zip(*table.values(), strict=True))
    return text.getvalue()


def write_edge_table(result: Learned | PAG, path: str | os.PathLike[str], *, non_edges: bool = True) -> None:
    """Write the edge table to a CSV file, whole or not at all."""
    write_whole(Path(path), edge_csv(result, non_edges=non_edges).encode())


def _row(told: Explanation) -> dict[str, Any]:
    start, end = told.ends or (None, None)
    found = told.separation
    return {
        "from": told.a,
        "to": told.b,
        "edge": told.edge.symbol if told.edge else "",
        "mark_from": MARK_NAMES[start.mark] if start else "none",
        "mark_to": MARK_NAMES[end.mark] if end else "none",
        "in_words": told.summary,
        "p": found.p if found else told.kept_p,
        "n": found.n if found else told.n_rows,
        "r": found.r if found else None,
        "given": list(found.given) if found else None,
        "rule_from": _rule(start),
        "rule_to": _rule(end),
        "conflict": any(side.conflicts for side in told.ends),
    }


def _rule(end: End | None) -> str | None:
    return None if end is None or end.rule is None else f"R{end.rule}"


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return "; ".join(quote(name) for name in value)
    return str(value).lower() if isinstance(value, bool) else value
