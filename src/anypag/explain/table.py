"""All pairs of a result as one table: a dict of columns, which any dataframe library takes, or CSV."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from anypag.explain.facts import facts_of
from anypag.explain.pair import Explanation, explain_pair, no_edge_summary
from anypag.explain.sampled import hedged
from anypag.files import write_whole
from anypag.graphs.contradictions import doubted_pairs
from anypag.graphs.formats.tables import as_text, csv_text
from anypag.graphs.marks import Edge, Mark, Separation
from anypag.graphs.pag import PAG
from anypag.graphs.rules import RULES
from anypag.graphs.text import quote
from anypag.results.probabilities import Probabilities
from anypag.results.result import Result
from anypag.results.stability import PairCounts, pair_counts

Row = tuple[Any, ...]  # the values in all columns of `COLUMNS` except the last

COLUMNS = (
    *("from", "to", "edge", "mark_from", "mark_to", "in_words", "p", "n", "r", "given", "rule_from", "rule_to"),
    *("conflict", "probability", "p_cause", "p_no_cause", "p_open", "contradiction", "resamples", "same"),
    *("joined", "else_mostly", "fits"),
)
"""The columns of an edge table.

`edge` is the edge as text (`o->`), empty where there is none; marks are `circle`, `arrow`, `tail` or `none`. `p` is the
largest p-value among the tests that kept an edge, or the p-value of the separation; `n` is the number of rows behind
it. `given` is the separating set, and `r` the iteration that found it. `rule_from` and `rule_to` are `R0` to `R12`, or
`K0` to `K7` for marks from knowledge. `conflict`: did some rule want another mark? `probability` is that of this edge,
or of no edge, by sampled graphs (if any). `p_cause` is the share of sampled graphs in whose equivalence class `from` is
a cause of `to` in every member, `p_no_cause` the share in whose class it is one in no member; `p_open` is the rest.
These shares are not corrected, and are often too sure (`docs/accuracy.md`). `contradiction` names claims that cannot be
true together with this one. If rows were resampled, `resamples` counts the resamples that gave a graph. `same` is the
share of these resamples that agree with the graph about the pair (the same edge, or none in both), `joined` the share
with any edge, `else_mostly` the most frequent other edge (`none` for no edge). `fits`, the same in every row, says
whether the table fits what the probabilities assume: `yes`, `no` or `not checked`.

With `method="auto"`, tests and rules are those of the graph by tests (`Result.by_tests`). So `p`, `r` and `given` are
empty if this graph joins the pair and the answer does not, or the reverse. `rule_from` is empty if the two graphs have
different marks at `from`, and `rule_to` if they have different marks at `to`.
"""


def edge_table(result: Result | PAG, *, non_edges: bool = True) -> dict[str, list[Any]]:
    """A row for every pair of variables: the edges first, then the pairs without one.

    Edges are written in the usual direction: `-->` and `o->`, never `<--` and `<-o`.

    Args:
        result: the result of a search, or a bare PAG (then reasons are None).
        non_edges: list the pairs without an edge too.

    Returns:
        The columns of `COLUMNS`; `None` for unknown values. `pandas.DataFrame(...)` and `polars.DataFrame(...)`
        accept this dict.

    >>> import anypag as ap
    >>> result = ap.learn(ap.Oracle(ap.DAG.from_string("storm --> fire; arson --> fire")))
    >>> table = edge_table(result)
    >>> list(zip(table["from"], table["edge"], table["to"], table["given"]))
    [('storm', 'o->', 'fire', None), ('arson', 'o->', 'fire', None), ('storm', '', 'arson', [])]
    """
    facts = facts_of(result)
    doubted = doubted_pairs(facts.contradictions)
    contradicted = {pair: " ".join(facts.contradictions_of(*pair)) for pair in doubted}
    stability = None if facts.learned is None else facts.learned.stability
    said = facts.probabilities
    rows = [_row(explain_pair(facts, edge.a, edge.b), said) for edge in map(Edge.forward, facts.pag.edges())]
    if non_edges:
        separations = dict((facts.tested or facts).sepsets.items())
        for i, j in np.argwhere(np.triu(facts.pag.marks == Mark.NONE, 1)).tolist():
            a, b = facts.pag.names[i], facts.pag.names[j]
            found = separations.get((a, b)) or separations.get((b, a))
            probability = said.of_edge(a, b, "") if said else None
            doubts = contradicted.get(frozenset((a, b)), "")
            last = _causes(said, a, b, doubts, pair_counts(stability, a, b, None))
            words = hedged(no_edge_summary(a, b, None if facts.tested else found), probability)
            rows.append((*_gap(a, b, words, found, facts.n_rows), probability, *last))
    fit = None if facts.learned is None or facts.learned.misfit is None else facts.learned.misfit.fits
    return {column: [row[k] for row in rows] for k, column in enumerate(COLUMNS[:-1])} | {"fits": [fit] * len(rows)}


def edge_csv(result: Result | PAG, *, non_edges: bool = True) -> str:
    """The edge table as CSV; the names of a separating set are joined by `; `. A text that begins with `=`, `+`, `-` or
    `@` gets an apostrophe in front, because a spreadsheet would compute it as a formula.
    """
    table = edge_table(result, non_edges=non_edges)
    table["given"] = ["; ".join(map(quote, given or ())) for given in table["given"]]
    for column in ("from", "to", "in_words", "given", "contradiction"):
        table[column] = [as_text(value) for value in table[column]]
    table["conflict"] = [str(value).lower() for value in table["conflict"]]
    return csv_text([COLUMNS, *zip(*table.values(), strict=True)])


def write_edge_table(result: Result | PAG, path: str | os.PathLike[str], *, non_edges: bool = True) -> None:
    """Write the edge table to a CSV file, whole or not at all."""
    write_whole(Path(path), edge_csv(result, non_edges=non_edges).encode())


def _row(pair: Explanation, said: Probabilities | None) -> Row:
    assert pair.edge is not None
    start, end = pair.ends
    tests = pair.by_tests or pair
    both = zip(pair.ends, tests.ends or pair.ends, strict=True)
    rules = [None if by.rule is None or by.mark != end.mark else RULES[by.rule].name for end, by in both]
    return (
        *(pair.a, pair.b, pair.edge.symbol, start.mark.name.lower(), end.mark.name.lower(), pair.summary),
        *(tests.kept_p, pair.n_rows, None, None, *rules, bool(start.conflicts or end.conflicts)),
        *(pair.probability, *_causes(said, pair.a, pair.b, " ".join(pair.contradictions), pair.again)),
    )


def _gap(a: str, b: str, words: str, found: Separation | None, n_rows: int | None) -> Row:
    """The first columns of the row of a pair without an edge. Fast, because a table may have 100,000s of such rows."""
    why = (None, n_rows, None, None) if found is None else (found.p, found.n, found.r, list(found.given))
    return a, b, "", "none", "none", words, *why, None, None, False


def _causes(said: Probabilities | None, a: str, b: str, contradiction: str, seen: PairCounts | None) -> Row:
    """The last columns: causes by sampled graphs, contradictions of the pair, and counts over resamples."""
    causes = (said.is_cause(a, b) if said else None) or (None,) * 3
    again = (None,) * 4 if seen is None else (seen.n, seen.same / seen.n, seen.joined / seen.n, seen.else_mostly)
    return *causes, contradiction, *again
