"""Repeats a search: in one part of the rows, to estimate in the other; in resamples; or under an assumption."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from anypag.arrays import Counts, Flags
from anypag.choices import Choices
from anypag.data.audit.seen import LEAST_ROWS
from anypag.data.files.read_table import rows_from
from anypag.data.table import Table, clusters_in
from anypag.effects.answer import HEADINGS, Effect
from anypag.errors import DataError, Option, ParameterError
from anypag.graphs.base import MixedGraph
from anypag.graphs.marks import listed
from anypag.graphs.text import quote
from anypag.knowledge.knowledge import Knowledge
from anypag.results.result import Result
from anypag.stability.stability import Plan

MOST_EDGES = 3
"""How many edges that differ are named."""

SAME = "The graph of all rows gives an answer of the same kind."
WHICH = (
    "An answer that changes with the rows is settled by neither graph. As a rule that of more rows errs less; the "
    "graphs of resamples of all rows (bootstrap) tell how often each answer comes."
)


def searched_apart(
    result: object, data: Any, share: float, cluster: Any = None, seed: int = 0
) -> tuple[Result, Table, Counts | None]:
    """A result searched in a random share of the rows with the choices of the given one, the other rows, and their
    clusters if there are any; clusters are never split.

    An interval from rows that also chose the graph is too narrow: a search keeps an edge because it looks strong in
    these rows, and the estimate then sees the same luck again.
    """
    searched = _searchable(result, data, "split")
    require_share(share)
    from anypag.run.engine import Search

    table, clusters = _rows(searched, data), _clusters(searched, data, cluster)
    is_searched = _drawn(table.n, share, seed, clusters)
    found = Search(table.take_rows(is_searched), _choices_of(searched)).run()
    return found, table.take_rows(~is_searched), None if clusters is None else clusters[~is_searched]


def require_share(share: float) -> None:
    """Raise an error if it is not a share of the rows."""
    if not isinstance(share, float | int) or not 0 < share < 1:
        raise ParameterError("The option ", Option("split"), f" is the share of rows to search in; got {share!r}.")


def _drawn(n: int, share: float, seed: int, clusters: Counts | None) -> Flags:
    """(n,) which rows are searched. Raises an error if either part has too few rows."""
    if clusters is not None:
        return _drawn(int(clusters.max()) + 1, share, seed, None)[clusters]
    n_searched = round(share * n)
    if min(n_searched, n - n_searched) < LEAST_ROWS:
        raise DataError(
            f"Of {n:,} rows a share of {share:g} (",
            Option("split"),
            f") leaves {n_searched:,} to search in and {n - n_searched:,} to estimate from; at least {LEAST_ROWS} are "
            "needed for either. Take a share nearer to 0.5, or more rows.",
        )
    is_searched = np.zeros(n, np.bool_)
    is_searched[np.random.default_rng(seed).permutation(n)[:n_searched]] = True
    return is_searched


def searched_in_resamples(result: object, data: Any, n: int, cluster: Any = None, seed: int = 0) -> Result:
    """A result of all rows, with the graphs of n bootstrap resamples, searched for as the given one was."""
    searched = _searchable(result, data, "bootstrap")
    from anypag.run.bootstrap import Resampling

    table = _rows(searched, data)
    plan = Plan(n, seed=seed, clusters=_clusters(searched, data, cluster))
    return Resampling(table, _choices_of(searched), plan).run().result


def searched_under(result: object, data: Any, assumed: Knowledge, selection_bias: bool | None) -> Result:
    """A result searched for under an added assumption; its sampled graphs keep to it."""
    searched = _searchable(result, data, "assume")
    if searched.probabilities is None:
        raise ParameterError(
            "With ",
            Option("assume"),
            " graphs are sampled that keep to it: search with ",
            Option("method", "bayes"),
            ".",
        )
    from anypag.run.engine import Search

    choices = _choices_of(searched)
    known = assumed if choices.knowledge is None else choices.knowledge + assumed
    selection = choices.selection_bias if selection_bias is None else selection_bias
    return Search(_rows(searched, data), replace(choices, knowledge=known, selection_bias=selection)).run()


def _searchable(result: object, data: Any, option: str) -> Result:
    """A result whose search can be repeated. Raises an error for anything else."""
    if not isinstance(result, Result):
        raise ParameterError("With ", Option(option), " the search is made anew, so what a search learned is needed.")
    if data is None:
        raise ParameterError("With ", Option(option), " rows are needed to search in: give ", Option("data"), ".")
    if not isinstance(result.choices.test, str):
        raise ParameterError("With ", Option(option), " the search must make its test from the data, by a name.")
    return result


def _rows(result: Result, data: Any) -> Table:
    names = result.pag.names
    return rows_from(data, result.reading, names).take(names)


def _clusters(result: Result, data: Any, cluster: Any) -> Counts | None:
    needed = (*result.pag.names, cluster) if isinstance(cluster, str) else result.pag.names
    return None if cluster is None else clusters_in(cluster, rows_from(data, result.reading, needed))


def _choices_of(result: Result) -> Choices:
    """The choices of the search, without those about a single run."""
    choices = replace(result.choices, method=result.method, names=None, initial=None, stop=None, checkpoint=None)
    return replace(choices, resume=False, progress=False)


def compared(found: Effect, part: MixedGraph, whole: Effect | None, of_all: MixedGraph) -> tuple[str, ...]:
    """How the answer from a part of the rows compares with that from all; `whole` is None if that was refused."""
    if whole is not None and (whole.status, whole.adjustment_set) == (found.status, found.adjustment_set):
        return (SAME,)
    says = "contradicts itself, so it gives none" if whole is None else f"says otherwise: {_in_short(whole)}"
    resamples = () if whole is None or whole.over is None else (f"Of all rows: {whole.over.lines()[0]}",)
    return (f"The graph of all rows {says}. {_differences(part, of_all)}", *resamples, WHICH)


def _in_short(effect: Effect) -> str:
    if effect.status != "adjustment":
        return HEADINGS[effect.status]
    chosen = listed(tuple(map(quote, effect.adjustment_set or ())))
    return f"{HEADINGS['adjustment']} for {chosen or 'nothing'}"


def _differences(part: MixedGraph, of_all: MixedGraph) -> str:
    """The edges in which the graph of all rows differs from the other one."""
    pairs = [(a, b) for k, b in enumerate(of_all.names) for a in of_all.names[:k]]
    differing = [pair for pair in pairs if part.edge(*pair) != of_all.edge(*pair)]
    shown = [f"{of_all.edge(*pair) or 'no edge'} there, {part.edge(*pair) or 'no edge'} here" for pair in differing]
    more = f"; and {len(shown) - MOST_EDGES} more" if len(shown) > MOST_EDGES else ""
    return f"The two graphs differ in {len(shown)} of {len(pairs)} pairs: {'; '.join(shown[:MOST_EDGES])}{more}."
