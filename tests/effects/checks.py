"""Everything that effects rest on, against the truth by enumeration: no check looks at a path.

The truth about a class is what holds in all systems of all its members (`enumeration.systems`): for adjustment in
linear-Gaussian models with random weights, for formulas in binary models with random tables, both exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from enumeration import (
    Binary,
    Class,
    System,
    Values,
    binary_model,
    distribution,
    invisible_edges,
    linear_effect,
    linear_model,
    marks_of,
    regression,
    systems,
)
from exact_tables import value
from id_algorithm import identify_conditional

from anypag import MAG, PAG
from anypag.effects.estimate.ranges import members_of
from anypag.effects.identify.adjustment import between, canonical, is_adjustment, minimal_sets, smallest
from anypag.effects.identify.causal_graph import CausalGraph, causal_graph_of
from anypag.effects.identify.expressions import Expression, P, Product, Quotient, Sum
from anypag.effects.identify.idp import identified_given
from anypag.effects.identify.verdict import adjustment_formula, verdict
from anypag.graphs.node_sets import node_set, visible_edges
from naive import ARROW, TAIL, Frozen, subsets

CLOSE = 1e-9
Query = tuple[list[int], list[int], list[int]]
"""Causes, outcomes, and the other nodes."""


@dataclass
class Tally:
    """What came of one check: cases, and the disagreements among them."""

    what: str
    yes: int = 0
    no: int = 0
    wrong_yes: int = 0
    wrong_no: int = 0

    def add(self, mine: bool, truth: bool) -> None:
        """One more case: what the package said, and what is so."""
        self.yes += mine
        self.no += not mine
        self.wrong_yes += mine and not truth
        self.wrong_no += truth and not mine

    @property
    def is_right(self) -> bool:
        return not self.wrong_yes and not self.wrong_no

    def __str__(self) -> str:
        return f"{self.what:<62} {self.yes:>9,} {self.no:>9,} {self.wrong_yes + self.wrong_no:>6}"


def queries(n: int, most: int = 2) -> Iterator[Query]:
    """All pairs of disjoint sets of up to `most` causes and outcomes."""
    for x in chosen(range(n), most):
        rest = [v for v in range(n) if v not in x]
        for y in chosen(rest, most):
            yield x, y, [v for v in rest if v not in y]


def chosen(nodes: Sequence[int], most: int) -> Iterator[list[int]]:
    for size in range(1, most + 1):
        yield from map(list, combinations(nodes, size))


def pag_of(pag: Frozen) -> PAG:
    return PAG(marks_of(pag))


# --- visibility ----------------------------------------------------------------------------------------------------


def visibility(found: Iterable[Class]) -> Tally:
    """Visible in a PAG: in every member an added common cause changes the MAG."""
    tally = Tally("an edge is visible: a common cause would show")
    for pag, members in found:
        n = len(pag)
        mine = visible_edges(marks_of(pag))
        shared = [
            {(a, b) for a in range(n) for b in range(n) if mag[a][b] == ARROW and mag[b][a] == TAIL}
            - set(invisible_edges(mag))
            for mag in members
        ]
        for a, b in combinations(range(n), 2):
            for edge in ((a, b), (b, a)):
                if pag[a][b]:
                    tally.add(bool(mine[edge]), edge in set.intersection(*shared))
    return tally


# --- adjustment ----------------------------------------------------------------------------------------------------


def adjustment(found: Iterable[Class], most: int = 2, seed: int = 0) -> Tally:
    """Valid: in every system the coefficient of X given Z is the total effect."""
    rng = np.random.default_rng(seed)
    tally = Tally("Z is an adjustment set: the coefficient is the effect")
    for pag, members in found:
        causal = causal_graph_of(pag_of(pag))
        models = [linear_model(system, rng) for mag in members for system in systems(mag)]
        for x, y, others in queries(len(pag), most):
            way = between(causal, node_set(x), node_set(y))
            effects = [linear_effect(model, x, y) for model in models]
            for z in map(list, subsets(others)):
                truth = all(
                    np.abs(regression(model, x, y, z) - effect).max() < CLOSE
                    for model, effect in zip(models, effects, strict=True)
                )
                tally.add(is_adjustment(causal, way, node_set(z)), truth)
    return tally


def adjustment_in_members(mags: Iterable[Frozen], seed: int = 0) -> Tally:
    """The same of single MAGs."""
    rng = np.random.default_rng(seed)
    tally = Tally("the same in one member")
    for mag in mags:
        causal = causal_graph_of(MAG(marks_of(mag)))
        models = [linear_model(system, rng) for system in systems(mag)]
        for x, y, others in queries(len(mag), 1):
            way = between(causal, node_set(x), node_set(y))
            for z in map(list, subsets(others)):
                gaps = [np.abs(regression(model, x, y, z) - linear_effect(model, x, y)).max() for model in models]
                tally.add(is_adjustment(causal, way, node_set(z)), max(gaps) < CLOSE)
    return tally


def adjusted_and_derived(found: Iterable[Class], most: int = 2) -> Tally:
    """Where an adjustment set exists, IDP finds a formula as well."""
    tally = Tally("an adjustment set exists: IDP has a formula too")
    for pag, _ in found:
        causal = causal_graph_of(pag_of(pag))
        for x, y, _ in queries(len(pag), most):
            way = between(causal, node_set(x), node_set(y))
            has_set = canonical(causal, way, causal.everyone) is not None
            tally.add(has_set, has_set and derived(causal, x, y, []) is not None)
    return tally


def sets_within(found: Iterable[Class], most: int = 2) -> Tally:
    """The canonical set, the minimal sets and the smallest, among all sets that only some columns may enter."""
    tally = Tally("canonical, minimal and smallest sets within columns")
    for pag, _ in found:
        causal = causal_graph_of(pag_of(pag))
        for x, y, others in queries(len(pag), most):
            way = between(causal, node_set(x), node_set(y))
            for columns in subsets(others):
                within = node_set(columns)
                valid = {z for z in map(node_set, subsets(columns)) if is_adjustment(causal, way, z)}
                least = {z for z in valid if not any(other & ~z == 0 for other in valid - {z})}
                mine, few = list(minimal_sets(causal, way, within)), smallest(causal, way, within)
                whole = canonical(causal, way, within)
                agrees = sorted(mine) == sorted(least) and (whole in valid if valid else whole is None)
                sizes = {z.bit_count() for z in least}
                agrees &= few in least and few is not None and few.bit_count() == min(sizes) if least else few is None
                tally.add(bool(valid), bool(valid) == agrees)
    return tally


def sets_given(found: Iterable[Class], seed: int = 0) -> Tally:
    """Adjustment sets of a conditional effect: each gives the effect in every system, and these are offered."""
    rng = np.random.default_rng(seed)
    tally = Tally("Z with the conditions is an adjustment set: right, and offered")
    for pag, members in found:
        causal = causal_graph_of(pag_of(pag))
        truths = [Truth(binary_model(system, rng)) for mag in members for system in systems(mag)]
        for x, y, others in queries(len(pag), 1):
            for given in map(list, combinations(others, 1)):
                way = between(causal, node_set(x), node_set(y), node_set(given))
                sets = [z for z in map(node_set, subsets(others)) if not z & way.given]
                valid = {z for z in sets if is_adjustment(causal, way, z)}
                least = {z for z in valid if not any(other & ~z == 0 for other in valid - {z})}
                agrees = sorted(minimal_sets(causal, way, causal.everyone)) == sorted(least)
                agrees &= (canonical(causal, way, causal.everyone) in valid) == bool(valid)
                agrees &= (smallest(causal, way, causal.everyone) in least) == bool(least)
                formulas = [adjustment_formula(way, z) for z in valid]
                is_right = all(_is_value(formula, truth, x, y, given) for formula in formulas for truth in truths)
                tally.add(bool(valid), bool(valid) == (agrees and is_right))
    return tally


# --- formulas ------------------------------------------------------------------------------------------------------


class Truth:
    """Exact distributions of one random binary model, with and without do."""

    def __init__(self, model: Binary) -> None:
        self.model = model
        self.joint = distribution(model)
        self.after: dict[tuple[int, ...], Values] = {}

    def effect(self, x: list[int], y: list[int], z: list[int]) -> Values:
        """P(y | do(x), z), with all axes."""
        if tuple(x) not in self.after:
            self.after[tuple(x)] = distribution(self.model, tuple(x))
        others = tuple(v for v in range(self.joint.ndim) if v not in x + y + z)
        both = self.after[tuple(x)].sum(axis=others, keepdims=True)
        return np.asarray(both / both.sum(axis=tuple(y), keepdims=True)) if z else np.asarray(both)


Formula = Callable[[CausalGraph, list[int], list[int], list[int]], Expression | None]


def derived(causal: CausalGraph, x: list[int], y: list[int], z: list[int]) -> Expression | None:
    """The formula of IDP or CIDP as derived."""
    found = identified_given(causal, *map(node_set, (x, y, z)))
    return found if isinstance(found, P | Product | Quotient | Sum) else None


def shown(causal: CausalGraph, x: list[int], y: list[int], z: list[int]) -> Expression | None:
    """The formula that users get."""
    found = verdict(causal, node_set(x), node_set(y), node_set(z), causal.everyone)
    if found.formula is not None:
        assert not found.formula.free & ~node_set(x + y + z)
    return found.formula


def identification(found: Iterable[Class], formula: Formula, most: int, given: bool, seed: int = 0) -> Tally:
    """A formula has the value of the effect in every system; where there is none, ID fails in a member, or the
    members' formulas disagree on one distribution.
    """
    rng = np.random.default_rng(seed)
    tally = Tally(f"{formula.__name__}: P(y | do(x){', z' if given else ''}) has a formula, and it is right")
    for pag, members in found:
        causal = causal_graph_of(pag_of(pag))
        behind = [system for mag in members for system in systems(mag)]
        truths = [Truth(binary_model(system, rng)) for system in behind]
        for x, y, others in queries(len(pag), most):
            for z in map(list, subsets(others)):
                if bool(z) != given:
                    continue
                mine = formula(causal, x, y, z)
                if mine is None:
                    tally.add(False, not is_open(behind, x, y, z, truths[0].joint))
                else:
                    tally.add(True, all(_is_value(mine, truth, x, y, z) for truth in truths))
    return tally


def _is_value(formula: Expression, truth: Truth, x: list[int], y: list[int], z: list[int]) -> bool:
    return bool(np.abs(value(formula, truth.joint) - truth.effect(x, y, z)).max() < CLOSE)


def is_open(behind: list[System], x: list[int], y: list[int], z: list[int], joint: Values) -> bool:
    """Does ID fail in a system, or do two systems disagree on one distribution?"""
    first: Values | None = None
    for system in behind:
        answer = identify_conditional(system, frozenset(y), frozenset(x), frozenset(z), joint)
        if answer is None:
            return True
        if first is not None and np.abs(answer - first).max() > CLOSE:
            return True
        first = answer if first is None else first
    return False


# --- members -------------------------------------------------------------------------------------------------------


def members(found: Iterable[Class]) -> Tally:
    """The members that a range is taken over are those of the class."""
    tally = Tally("the members of the class are found")
    for pag, truth in found:
        mine = members_of(pag_of(pag), 5000)
        got = [tuple(map(tuple, mag.marks.tolist())) for mag in mine.mags]
        tally.add(True, mine.exact and sorted(got) == sorted(truth))
    return tally
