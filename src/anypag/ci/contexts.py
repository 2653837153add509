"""Tests of tables with contexts (`anypag.pooled`): columns that say under which conditions a row was recorded.

If contexts depend on the design alone (`Pooled.is_fixed`), every question is asked given all contexts except x, y
and contexts that would determine x or y. With unlimited data this changes no answer. With finite data it reveals more
differences between data sets. Without the other contexts, the indicator of a data set would compare this set with a
mixture of all others, which may hide a difference.

If the contexts in a condition set determine a tested context, nothing of this context is left to test. Then the answer
is "dependent", so that such a set separates the context from no variable. With contexts_test="pairwise" a context is
tested in the rows in which all other contexts are as in the observed data set (the first one, without an experiment).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from anypag.arrays import Flags, Indices
from anypag.ci.base import CITest, PValues, Queries, Wrapper
from anypag.data.sources.pooled import Pooled, comparable, is_determined
from anypag.data.table import Table

ContextSet = tuple[int, ...]


class OfContexts(Wrapper):
    """A test of all rows that knows which columns are contexts. `apart` maps a context to a test of the rows in which
    all other contexts are as in the observed set; its columns are this context and all columns that are no contexts.
    """

    answers_alike = False
    always_given: Flags  # (p,) the contexts on which every question conditions (with the exceptions above)

    def __init__(self, test: CITest, table: Pooled, apart: Mapping[str, CITest]) -> None:
        super().__init__(test)
        self._is_context = np.isin(self.names, table.contexts)
        self._contexts = [int(v) for v in np.flatnonzero(self._is_context)]
        self.always_given = self._is_context & table.is_fixed
        self._apart = {self.names.index(name): found for name, found in apart.items()}
        self._design = table.design[:, [table.contexts.index(self.names[v]) for v in self._contexts]]
        self._known: dict[tuple[int, tuple[int, ...]], bool] = {}

    def pvalues(self, queries: Queries) -> PValues:
        """The p-values; 0 if the contexts in the condition set determine x or y."""
        p = np.zeros(len(queries))
        for ends, given, rows in self._kinds(queries.x, queries.y, queries.z):
            p[rows] = self._answers(ends, given, queries.take(rows))
        return p

    def contexts_given(self, x: Indices, y: Indices, z: Indices) -> Indices:
        """(k, w) the contexts that the test conditions on in each question, padded with -1; z (k, r) may be padded."""
        found = np.full((len(x), len(self._contexts)), -1, np.int32)
        for ends, given, rows in self._kinds(x, y, z):
            is_apart = len(ends) == 1 and ends[0] in self._apart  # tested in rows where no other context varies
            others = [v for v in self._contexts if v not in ends]
            more = others if is_apart else self._with_others(ends, given)
            found[rows, : len(more)] = more
        return found

    def _kinds(
        self, x: Indices, y: Indices, z: Indices
    ) -> Iterator[tuple[ContextSet, ContextSet, npt.NDArray[np.intp]]]:
        """For each group of questions: the contexts among x and y, the contexts in condition sets, and the rows."""
        own = np.array(self._contexts)
        ends, given = (x[:, None] == own) | (y[:, None] == own), (z[:, :, None] == own).any(axis=1)
        kinds, of = np.unique(np.hstack([ends, given]), axis=0, return_inverse=True)
        for k, kind in enumerate(kinds):
            at_ends, in_set = (tuple(own[flags].tolist()) for flags in np.split(kind, 2))
            yield at_ends, in_set, np.flatnonzero(of.ravel() == k)

    def _determines(self, of: int, given: ContextSet) -> bool:
        if (of, given) not in self._known:
            place, *places = (self._contexts.index(v) for v in (of, *given))
            self._known[of, given] = is_determined(self._design, place, places)
        return self._known[of, given]

    def _answers(self, ends: ContextSet, given: ContextSet, queries: Queries) -> PValues:
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

    def _with_others(self, ends: ContextSet, given: ContextSet) -> ContextSet:
        """`given` and the `always_given` contexts; a context with which the set would determine x or y is not added."""
        found = given
        for v in self._contexts:
            wider = tuple(sorted({*found, v} - set(ends)))
            if self.always_given[v] and not any(self._determines(end, wider) for end in ends):
                found = wider
        return found


def with_contexts(test: CITest, source: object, bind: Callable[[Table], CITest]) -> CITest:
    """The test, wrapped to account for contexts if its source has any. `bind` makes a test of some of the rows."""
    if not isinstance(source, Pooled) or not source.contexts:
        return test
    apart: dict[str, CITest] = {}
    if source.contexts_test == "pairwise":
        system = [name for name in test.names if name not in source.contexts]
        for name in (name for name in source.contexts if name in test.names):
            rows = comparable(source, name)
            part = None if rows.all() else bind(source.take([*system, name]).take_rows(rows))
            if part is not None and len(part.names) > len(system):  # else a column was left out: use all rows
                apart[name] = part
    return OfContexts(test, source, apart)
