"""Whether a table fits what the probabilities of a posterior assume, and what to say if it does not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from anypag.arrays import Flags, Floats
    from anypag.search.problem import Problem
    from anypag.search.state import State

LEAST_ROWS_PER_NUMBER = 1.0
"""With fewer rows for each number that the best graph must learn, probabilities of tables with levels are wrong."""
MOST_OFF = 0.05  # with a larger share of pairs unlike those of tables drawn from the best graph, the model does not fit
LEAST_PAIRS = 2  # one pair of several may be unlike by chance
MOST_PAIRS = 3  # how many of the worst pairs are named
LESS_THAN_HALF = 0.5  # functions of the causes explain a misfit if they leave less than this part of it


@dataclass(frozen=True)
class Misfit:
    """How well a table fits what the probabilities assume.

    A table that is not said to misfit may still mislead: hidden causes that leave no trace are not seen.
    `rows_per_number`: the rows for each number that the best graph must learn from a table with levels; None for other
    tables. `share`: of pairs in which tables drawn from the best graph are unlike this one; None without rows. `worst`:
    the pairs that are most unlike. `curved`: the audit found a curve, or functions of the causes explain most of it.
    """

    rows_per_number: float | None
    share: float | None
    worst: tuple[tuple[str, str], ...] = ()
    curved: bool = False

    def lines(self, how_to_pool: str = "ap.pooled") -> tuple[str, ...]:
        """The warning, or nothing. `how_to_pool`: how to say that there are several data sets; "" where it was said."""
        found = [*self._few_rows(), *self._unlike(how_to_pool)]
        if not found:
            return ()
        why, what_to_do = zip(*found, strict=True)
        return (
            f"This table does not fit what the probabilities assume: {'; '.join(why)}. Do not rely on them. "
            f"{' '.join(what_to_do)}".rstrip(),
        )

    def _few_rows(self) -> list[tuple[str, str]]:
        if self.rows_per_number is None or self.rows_per_number >= LEAST_ROWS_PER_NUMBER:
            return []
        few = f"there are {self.rows_per_number:.2f} rows for each number that the graph must learn"
        return [(few, "Merge levels, or leave out columns with many levels.")]

    def _unlike(self, how_to_pool: str) -> list[tuple[str, str]]:
        if self.share is None or self.share <= MOST_OFF or (len(self.worst) < LEAST_PAIRS and self.share < 1):
            return []
        pairs = ", ".join(f"{a} and {b}" for a, b in self.worst)
        unlike = f"{self.share:.0%} of the pairs are unlike those of tables drawn from the best graph (worst: {pairs})"
        if self.curved:
            return [(unlike, 'Effects seem to be curved: choose the test "additive".')]
        told = f"If the rows come from several experiments, places or times, say so ({how_to_pool})."
        return [(unlike, told if how_to_pool else "")]


def misfit_of(state: State, problem: Problem) -> Misfit:
    """Checks a finished search by its best DAG, in a fraction of a second."""
    from anypag.scores.discrete import DiscreteScore
    from anypag.search.by_scores import predictive
    from anypag.search.by_scores.orders import found

    score = problem.score_in_order
    parents = found(state.orders, score)[0].parents == 1  # type: ignore[attr-defined]  # the state has orders
    names, known = score.names, problem.choices.knowledge
    is_design = np.isin(names, known.contexts if known else ())  # nothing is assumed of the distribution of contexts
    if isinstance(score, DiscreteScore):
        per_number = predictive.rows_per_number(score.n, score.n_levels, parents)
        return _told(predictive.off_in_levels(score.levels, parents), names, is_design, per_number)
    test, order = problem.bound_test, problem.nodes.order
    rows = getattr(test, "some_rows", None)
    rows = None if rows is None else rows[~np.isnan(rows).any(axis=1)][:, order]
    if rows is None or len(rows) < 2 * len(names):
        return Misfit(None, None)
    is_discrete = np.array([kind == "discrete" for kind in getattr(test, "kinds", ["continuous"] * len(names))])[order]
    has_functions = problem.test_name == "Additive"
    off = predictive.off_in_columns(rows, is_discrete, parents, is_design, functions=has_functions)
    told = _told(off, names, is_design)
    if has_functions or not told.lines():
        return told
    bent = (
        _told(predictive.off_in_columns(rows, is_discrete, parents, is_design, functions=True), names, is_design).share
        or 0.0
    )
    is_curved = any(finding.problem == "curve" for finding in problem.audit.findings)
    return replace(told, curved=is_curved or bent < LESS_THAN_HALF * (told.share or 0.0))


def _told(off: Floats, names: tuple[str, ...], is_design: Flags, per_number: float | None = None) -> Misfit:
    from anypag.search.by_scores.predictive import FAR, share_off

    kept = np.flatnonzero(~is_design)
    off, names = off[np.ix_(kept, kept)], tuple(names[k] for k in kept)
    i, j = np.triu_indices(len(off), 1)
    worst = [k for k in np.argsort(-off[i, j], kind="stable")[:MOST_PAIRS] if off[i[k], j[k]] > FAR]
    return Misfit(per_number, share_off(off), tuple((names[i[k]], names[j[k]]) for k in worst))
