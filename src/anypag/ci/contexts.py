"""Tests of tables with contexts (`anypag.pooled`).

Where nothing acts on contexts, not even something hidden, all of them are given in every question (that about a context
itself is asked given all others). The answer is the same in the limit, and it cannot be hidden by what other data sets
do: an indicator alone compares its set with a mixture of all others.

A set of contexts that determines another one, as in a full design, leaves nothing of it to test: such a set separates
nothing, and the answer is "dependent". With contexts_test="pairwise" a context is tested in the rows in which all other
contexts are as in the observed set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from anypag.arrays import Flags
from anypag.ci.base import CITest, PValues, Queries, Wrapper
from anypag.data.sources.pooled import Pooled, comparable, is_determined
from anypag.data.table import Table


class OfContexts(Wrapper):
    """A test that knows which columns are contexts.

    Args:
        test: of all rows.
        table: the rows, with the columns of the test.
        apart: for some contexts, the test of the rows that are compared for it, over the other columns and itself.
    """

    answers_alike = False
    always_given: Flags
    """(p,) the contexts that are given in every question."""

    def __init__(self, test: CITest, table: Pooled, apart: Mapping[str, CITest]) -> None:
        super().__init__(test)
        self._is_context = np.isin(self.names, table.contexts)
        self._contexts = [int(v) for v in np.flatnonzero(self._is_context)]
        self.always_given = self._is_context & table.is_fixed
        self._apart = {self.names.index(name): found for name, found in apart.items()}
        design = table.design[:, [table.contexts.index(self.names[v]) for v in self._contexts]]
        place = {v: k for k, v in enumerate(self._contexts)}
        self._determines = cache(lambda of, given: is_determined(design, place[of], [place[v] for v in given]))

    def pvalues(self, queries: Queries) -> PValues:
        """The p-values; 0 for a context that others in the condition set determine."""
        p = np.zeros(len(queries))
        numbers = np.append(np.cumsum(self._is_context) * self._is_context, 0)  # 1, 2, ... for contexts, else 0
        bits = np.where(numbers > 0, 1 << np.maximum(numbers - 1, 0), 0)
        codes = np.stack([bits[queries.x] | bits[queries.y], bits[queries.z].sum(axis=1)], axis=1)
        kinds, of = np.unique(codes, axis=0, return_inverse=True)
        for k, (ends, given) in enumerate(kinds.tolist()):
            rows = np.flatnonzero(of.ravel() == k)
            p[rows] = self._answers(self._members(ends), self._members(given), queries.take(rows))
        return p

    def _members(self, bits: int) -> tuple[int, ...]:
        return tuple(v for k, v in enumerate(self._contexts) if bits >> k & 1)

    def _answers(self, ends: tuple[int, ...], given: tuple[int, ...], queries: Queries) -> PValues:
        """The p-values of questions with the same contexts among x and y, and the same in the condition set."""
        if any(self._determines(end, given) for end in ends):
            return np.zeros(len(queries))
        others = queries.z[~self._is_context[queries.z]].reshape(len(queries), -1)
        test = self._apart.get(ends[0]) if len(ends) == 1 else None
        if test is not None:  # other contexts do not vary in these rows
            place = np.array([test.names.index(name) if name in test.names else -1 for name in self.names])
            return test.pvalues(Queries(place[queries.x], place[queries.y], place[others]))
        more = np.tile(np.array(self._with_others(ends, given), np.int32), (len(queries), 1))
        return self.test.pvalues(Queries(queries.x, queries.y, np.hstack([others, more]).astype(np.int32)))

    def _with_others(self, ends: tuple[int, ...], given: tuple[int, ...]) -> tuple[int, ...]:
        """The contexts to condition on: those given, and all others that leave something of x and y to test."""
        found = given
        for v in self._contexts:
            wider = tuple(sorted({*found, v} - set(ends)))
            if self.always_given[v] and not any(self._determines(end, wider) for end in ends):
                found = wider
        return found


def with_contexts(test: CITest, source: object, bind: Callable[[Table], CITest]) -> CITest:
    """The test, or if its source has contexts, the test that knows of them.

    Args:
        test: bound to the source.
        source: the rows.
        bind: binds the same test to other rows.
    """
    if not isinstance(source, Pooled) or not source.contexts:
        return test
    apart: dict[str, CITest] = {}
    if source.contexts_test == "pairwise":
        system = [name for name in test.names if name not in source.contexts]
        for name in (name for name in source.contexts if name in test.names):
            apart[name] = bind(source.take([*system, name]).take_rows(comparable(source, name)))
    return OfContexts(test, source, apart)
