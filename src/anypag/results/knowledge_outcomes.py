"""The outcome of each statement of knowledge: used, implied by the data, contradicted, not usable.

A statement is *used* if it alone gives marks, or if the others give fewer marks without it. It is *contradicted* if the
data alone give the opposite of one of its marks, or if no graph that fits the data agrees with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from anypag.arrays import Flags
from anypag.graphs.base import Marks, ancestry, arrows, shortest_path, transitive
from anypag.graphs.marks import Mark
from anypag.graphs.pag import PAG
from anypag.graphs.rules import RULES
from anypag.knowledge import statements as stated
from anypag.knowledge.bind import facts_said
from anypag.knowledge.closure import close
from anypag.knowledge.facts import Facts
from anypag.knowledge.statements import KnownMark, Outcome, PairStatement, Statement
from anypag.results.pairs import pair_p
from anypag.search.apply_knowledge import Base, Closed, base_of, closed_with, contradictions, with_edges
from anypag.search.problem import Problem
from anypag.search.state import State

COSTS = ((1.0, "not much"), (3.0, "some"), (5.0, "strong"), (math.inf, "decisive"))
"""Words for a difference in log probability below each limit. Kass and Raftery (1995) judge twice this."""


def outcomes_of(state: State, problem: Problem, *, final: bool, fits: bool) -> tuple[Outcome, ...]:
    """The outcomes, one for each statement in the user's order. `fits`: does the table fit what scores assume?"""
    knowledge = problem.choices.knowledge
    if knowledge is None or problem.facts is None:
        return ()
    by_tests = getattr(state, "rival", None) is None  # a search by scores has no edge that is taken out at the end
    judged = with_edges(state, problem) if by_tests else state
    judge = _Judge(judged, problem, problem.facts, knowledge.statements, final, fits)
    return tuple(map(judge.outcome, knowledge.statements))


@dataclass
class _Judge:
    """The judge of statements: compares the marks without and with each statement."""

    state: State
    problem: Problem
    facts: Facts
    statements: tuple[Statement, ...]
    final: bool
    fits: bool

    @cached_property
    def _base(self) -> Base:
        return base_of(self.state, self.problem, final=self.final)

    @cached_property
    def _all(self) -> Closed:
        return closed_with(self.facts, self._base, self.state, self.problem, final=self.final)

    def outcome(self, statement: Statement) -> Outcome:
        """The outcome of a statement, with its cost if scores prefer graphs without it."""
        found, cost = self._became(statement), self._cost(statement)
        if not cost or found.became == "contradicted":
            return found
        why = cost if found.became == "not usable" or not found.why else f"{found.why}; {cost}"
        return replace(found, became="used", why=why)

    def _became(self, statement: Statement) -> Outcome:
        together = self._against_with_others(statement)
        if together:
            return _told(statement, "contradicted", why=together)
        match statement:
            case PairStatement("joined"):
                return _told(statement, "used", why="not tested")
            case PairStatement("not_joined"):
                by_tests = getattr(self.state, "rival", None) is None  # else scores never rated a graph with this edge
                return self._not_joined(statement) if by_tests else _told(statement, "used", why="not tried")
        alone, closed = self._alone(statement), self._closed_alone(statement)
        against = self._against(alone, closed)
        if against:
            return _told(statement, "contradicted", why=against)
        marks = self._marks_of(statement, closed)
        if marks:
            return _told(statement, "used", marks, self._unfinished(closed))
        if self._is_shown(alone):
            return _told(statement, "implied")
        narrowing = alone.not_causes & self.facts.not_selecting[:, None]
        if bool(narrowing.any()) and not isinstance(statement, stated.NotSelecting | stated.SelectionBefore):
            return _told(statement, "used", why="fewer sets were tested, but no mark follows from the statement")
        return _told(statement, "not usable", why=self._unfinished(closed) or self._why_idle(statement, alone))

    def _cost(self, statement: Statement) -> str:
        """A clause on how much better a graph that violates the statement fits; empty if none fits clearly better."""
        rival = getattr(self.state, "rival", None)  # only searches by scores have this graph
        if rival is None or rival.pag is None:
            return ""
        free, alone = rival.pag, self._alone(statement)
        edges_agree = not ((alone.joined & (free == 0)) | (alone.not_joined & (free != 0))).any()
        if edges_agree and close(free, PAG(free).to_mag().marks, alone).agrees is not False:
            return ""
        gain = float(rival.gain[0])
        how_much = next(words for most, words in COSTS if gain < most)
        doubt = "" if self.fits else " if the score is right, but the table does not fit what it assumes"
        return f"the data prefer graphs without it by {gain:.1f} log units ({how_much} evidence{doubt})"

    def _closed(self, facts: Facts) -> Closed:
        """The marks that follow from facts. With n statements, the exact closure gets 1/n of its usual trials."""
        share = len(self.statements)
        return closed_with(facts, self._base, self.state, self.problem, final=self.final, share=share)

    def _facts_of(self, statements: list[Statement]) -> Facts:
        said = facts_said(statements, self.problem.nodes.names, selection=self.facts.selection)
        return said.closed().reordered(self.problem.nodes.order)

    @cached_property
    def _alone(self) -> Callable[[Statement], Facts]:
        tiers = {one: [other for other in self.statements if _needs(one, other)] for one in self.statements}
        return cache(lambda statement: self._facts_of([*tiers[statement], statement]))

    @cached_property
    def _closed_alone(self) -> Callable[[Statement], Closed]:
        return cache(lambda statement: self._closed(self._alone(statement)))

    def _against(self, alone: Facts, closed: Closed) -> str:
        rows = contradictions(self._base.orientation, alone.seeds(self._base.orientation.marks))
        if len(rows):
            return self._in_words(rows[0])
        is_refuted = closed.closure is not None and closed.closure.agrees is False
        located = self._broken(alone) or self._without_a_way(alone)
        return located or ("no graph that fits the data agrees with it" if is_refuted else "")

    def _without_a_way(self, alone: Facts) -> str:
        """A clause that names a stated cause without a possible path to its effect; empty if there is none.

        Missing edges and marks come from the data alone, so the clause is true even if the graph has too many edges.
        Variables that may cause selection are not checked, as they may act on a path that the sample does not show.
        """
        marks, selection = self._base.orientation.marks, self.facts.selection
        is_seen = (marks == Mark.ARROW).any(axis=0) | self.facts.not_selecting | (not selection)
        missing = alone.causes & ~_may_lead(marks, selection=selection) & is_seen[:, None]
        if not missing.any():
            return ""
        a, b = (self.problem.nodes.numbered[k] for k in self._first(missing))
        return f"the graph that the data give has no path left by which {a} could cause {b}"

    def _broken(self, alone: Facts) -> str:
        """A clause about a cause that the data show and the statement denies, and its test; empty if there is none."""
        marks = self._base.orientation.marks
        leads = _surely_lead(marks, alone.not_selecting if self.facts.selection else np.ones(len(marks), np.bool_))
        broken = alone.not_causes & leads
        if not broken.any():
            return ""
        joined = broken & (marks != Mark.NONE)
        i, j = self._first(joined if joined.any() else broken)
        way = shortest_path(arrows(marks), i, j)
        log = self._base.orientation.log
        rows = log[(log[:, 1] == way[1]) & (log[:, 2] == i) & (log[:, 3] == Mark.TAIL)]
        path = " --> ".join(self.problem.nodes.numbered[k] for k in way)
        return f"the data say {path}" + (f": {self._in_words(rows[0])}" if len(rows) else "")

    def _first(self, pairs: Flags) -> tuple[int, int]:
        """The first of some pairs, in the order of the columns."""
        order = self.problem.nodes.order
        i, j = min(np.argwhere(pairs).tolist(), key=lambda pair: (int(order[pair[0]]), int(order[pair[1]])))
        return i, j

    def _against_with_others(self, statement: Statement) -> str:
        """A clause if the data contradict this statement together with others, but none of them alone; else empty."""
        if not any(one is statement for one in self._at_odds):
            return ""
        others = [str(one) for one in self._at_odds if one is not statement]
        return f"no graph that fits the data agrees with {' and '.join(['it', *others])}{' at once' if others else ''}"

    @cached_property
    def _at_odds(self) -> list[Statement]:
        """A minimal set (one of several, perhaps) of statements that agree with the data singly, but not together."""
        if _agree(self.facts, self._all):
            return []
        left = [one for one in self.statements if not self._against(self._alone(one), self._closed_alone(one))]
        if self._agree_at_once(left):
            return []
        for one in tuple(left):
            rest = self._others(one, left)
            left = left if self._agree_at_once(rest) else rest
        return left

    def _agree_at_once(self, statements: list[Statement]) -> bool:
        facts = self._facts_of(statements)
        return _agree(facts, self._closed(facts))

    @staticmethod
    def _others(statement: Statement, among: Iterable[Statement]) -> list[Statement]:
        """All other statements, except those that need this one."""
        return [one for one in among if one is not statement and not _needs(one, statement)]

    @property
    def _rows(self) -> str:
        return "" if self.problem.n_rows is None else f", n = {self.problem.n_rows}"

    def _in_words(self, row: np.ndarray[tuple[int], np.dtype[np.int32]]) -> str:
        rule, i, j, mark, *because = (int(k) for k in row)
        names = self.problem.nodes.numbered
        wanted = KnownMark(names[j], names[i], Mark(mark))
        a, c = (*because, -1)[:2]
        c = i if c < 0 else c  # R1 and similar rules use one node that is separated from the other end of the edge
        sepsets = self.state.sepsets.including(self.problem.always_given, self.problem.contexts_given)
        separating = sepsets.get(a, c) if a >= 0 and a != c else None
        if separating is None:
            return f"{RULES[rule].name} wants {wanted}"
        p = pair_p(self.state, self.problem.bound_test, a, c)
        a, c = sorted((a, c), key=lambda k: int(self.problem.nodes.order[k]))
        given = f" given {', '.join(names[k] for k in separating)}" if separating else ""
        test = f"{names[a]} and {names[c]} are independent{given} (p = {p:.3g}{self._rows})"
        return f"{RULES[rule].name} wants {wanted}, because {test}"

    def _marks_of(self, statement: Statement, closed: Closed) -> tuple[KnownMark, ...]:
        """The marks that the statement gives alone, and the marks of all statements that are lost without it."""
        others = self._others(statement, self.statements)
        lost = self._all.orientation.marks > Mark.CIRCLE
        if others:
            rest = self._closed(self._facts_of(others))
            lost &= rest.orientation.marks <= Mark.CIRCLE
        base = self._base.orientation.marks
        given = (closed.orientation.marks > Mark.CIRCLE) & (self._all.orientation.marks == closed.orientation.marks)
        places, marks = np.argwhere((lost | given) & (base == Mark.CIRCLE)), self._all.orientation.marks
        order = self.problem.nodes.order
        at = sorted((int(order[j]), int(order[i]), int(marks[i, j])) for i, j in places)
        names, place = self.problem.nodes.names, np.argsort(order)
        is_gone = self.state.marks[np.ix_(place, place)] == Mark.NONE
        return tuple(KnownMark(names[j], names[i], Mark(mark)) for j, i, mark in at if not is_gone[j, i])

    def _is_shown(self, alone: Facts) -> bool:
        """Do the data alone show everything the statement says?"""
        marks = self._base.orientation.marks
        is_sure = (marks == Mark.ARROW).any(axis=0) | (not self.facts.selection)
        leads = _surely_lead(marks, is_sure)
        may_lead = _may_lead(marks, selection=False)
        says = bool(alone.causes.any() or alone.not_causes.any() or (alone.not_selecting.any() and alone.selection))
        shown = (~alone.causes | leads).all() and (~alone.not_causes | (~may_lead & is_sure[:, None])).all()
        return says and bool(shown and (~alone.not_selecting | is_sure).all() and not alone.unconfounded.any())

    def _unfinished(self, closed: Closed) -> str:
        is_all = all(one.closure is None or one.closure.finished for one in (closed, self._all))
        return "" if is_all else "not all graphs that fit could be checked, so more marks may follow"

    def _why_idle(self, statement: Statement, alone: Facts) -> str:
        if alone.unconfounded.any() and self.facts.selection:
            return (
                "two hidden causes of being in the sample look like one common cause among selected cases; "
                "say selection_bias=False if the sample is not selected"
            )
        if alone.unconfounded.any():
            return "no mark follows from it here" if self.final else "it can be used only after a complete search"
        marks = self._base.orientation.marks
        waiting = alone.not_causes & (marks.T == Mark.CIRCLE) & ~self.facts.not_selecting[:, None]
        if waiting.any():
            return (
                "a variable that is no cause by this statement may still affect who is in the sample, so it may have "
                "tails; if you know that it does not, say `a !~> selection`, `selection before tier k` or "
                "selection_bias=False"
            )
        is_joined = bool(((alone.causes | alone.not_causes) & (marks != Mark.NONE)).any())
        if is_joined or not isinstance(statement, PairStatement):
            return "no mark follows from it here"
        reason = f" ({self._base.reason})" if self._base.reason else ""
        return f"the variables are not joined, and no mark follows from it{reason}"

    def _not_joined(self, statement: Statement) -> Outcome:
        said = self._facts_of([statement]).not_joined
        kept = np.argwhere(np.triu(said & (self._base.orientation.marks != Mark.NONE)))
        if not len(kept):
            return _told(statement, "implied", why="the tests separated them")
        names = self.problem.nodes.numbered
        i, j = sorted(kept[0].tolist(), key=lambda k: int(self.problem.nodes.order[k]))
        p = pair_p(self.state, self.problem.bound_test, i, j)
        tested = "no test was made" if math.isnan(p) else f"every test kept their edge, the largest p = {p:.3g}"
        told = f"{names[i]} and {names[j]}: {tested}{self._rows}"
        why = f"{told}; the edge was removed, and no mark follows from that"
        return _told(statement, "contradicted", why=why)


def _needs(one: Statement, other: Statement) -> bool:
    return isinstance(other, stated.Tiers) and isinstance(one, stated.AboutTiers)


def _agree(facts: Facts, closed: Closed) -> bool:
    """Does a graph that fits agree with the facts, and does no directed path contradict them?"""
    if closed.closure is not None and closed.closure.agrees is False:
        return False
    return not bool((facts.not_causes & _surely_lead(closed.orientation.marks, facts.not_selecting)).any())


def _surely_lead(marks: Marks, not_selecting: Flags) -> Flags:
    """(n, n) True if i is surely a cause of j: a directed path leads from i to j, and i does not cause selection."""
    is_sure = (marks == Mark.ARROW).any(axis=0) | not_selecting
    return np.asarray(ancestry(marks) & is_sure[:, None], np.bool_)


def _may_lead(marks: Marks, *, selection: bool) -> Flags:
    """(n, n) True if i can be a cause of j: the marks of some path from i to j allow it."""
    is_open = (marks != Mark.NONE) & (marks.T != Mark.ARROW)
    return np.asarray(transitive(is_open if selection else is_open & (marks != Mark.TAIL)), np.bool_)


def _told(statement: Statement, became: str, marks: tuple[KnownMark, ...] = (), why: str = "") -> Outcome:
    return Outcome(str(statement), statement.place, became, marks, why)  # type: ignore[arg-type]
