"""Adjustment and "no effect" where the sample may be selected: checked in systems that do select."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import permutations

import numpy as np
import pytest
from certify.members import members
from exact_tables import value
from linear_truth import Floats, System, slope_and_effect, systems

import anypag as ap
from anypag.effects.identify.causal_graph import CausalGraph
from anypag.effects.identify.verdict import holds_if_selected, verdict
from anypag.graphs.marks import Mark
from anypag.graphs.node_sets import Neighbours
from anypag.graphs.node_sets import members as nodes_in
from anypag.graphs.pag import MAG
from anypag.graphs.projection import marks_of_class

N = 4


def test_claims_hold_in_every_system_that_selects() -> None:
    """All classes on four nodes whose PAG has no `---` and `--o`; every member, with systems that select behind it."""
    found, rng = members(N), np.random.default_rng(0)
    adjusted = zero = selecting = checked = 0
    for c in range(found.n_classes):
        mags, marks = found.of(c), marks_of_class(found.of(c)[0])
        if ((marks == Mark.TAIL) & (marks.T != Mark.ARROW)).any():
            continue
        pag = ap.PAG(marks, [f"X{i}" for i in range(N)])
        plain = next(mag for mag in mags if not ((mag == Mark.TAIL) & (mag.T == Mark.TAIL)).any())
        causal = CausalGraph(pag, Neighbours.of(pag.marks), MAG(plain, pag.names))
        behind = [system for mag in mags for system in systems(mag, rng, selection=True, tries=3)]
        selecting += sum(bool(system.selecting) for system in behind)
        for x, y in permutations(range(N), 2):
            claim = verdict(causal, 1 << x, 1 << y, 0, causal.everyone)
            if not holds_if_selected(claim):
                continue
            is_zero = claim.z is None
            assert is_zero or (marks[:, x] == Mark.ARROW).any()  # an amenable cause selects nobody
            zero, adjusted = zero + is_zero, adjusted + (not is_zero)
            for system in behind:
                slope, effect = slope_and_effect(system, x, y, tuple(nodes_in(claim.z or 0)), rng)
                assert abs(effect - (0 if is_zero else slope)) < 1e-6
            checked += len(behind)
    assert zero > 1000 and adjusted > 50 and selecting > 2000 and checked > 20_000


def tables_of(system: System, rng: np.random.Generator) -> list[Floats]:
    """P(node = 1 | its causes) for every node, at random."""
    return [rng.uniform(0.1, 0.9, (2,) * int(system.causes[:, v].sum())) for v in range(len(system.causes))]


def joint_of(system: System, tables: list[Floats], do: int | None = None) -> Floats:
    """The joint table of those in the sample, with an axis for each node; where a node is set, for either value."""
    size = len(system.causes)
    joint = np.ones((1,) * size)
    for v in range(size):
        if v != do:
            shape = [2 if system.causes[u, v] else 1 for u in range(size)]
            risk = tables[v].reshape(shape)
            joint = joint * np.concatenate([1 - risk, risk], axis=v)
    if do is not None:
        joint = joint * np.ones([2 if u == do else 1 for u in range(size)])
    for s in system.selecting:
        joint = np.take(joint, [1], axis=s)
    return joint


def wrong_in_tables(n: int, chosen: Iterable[int], tries: int) -> tuple[Counter[str], Counter[str]]:
    """How many claims were checked in systems of two levels that select, by their kind, and how many are wrong."""
    found, rng, checked, wrong = members(n), np.random.default_rng(0), Counter[str](), Counter[str]()
    for c in chosen:
        mags, marks = found.of(c), marks_of_class(found.of(c)[0])
        if ((marks == Mark.TAIL) & (marks.T != Mark.ARROW)).any():
            continue
        pag = ap.PAG(marks, [f"X{i}" for i in range(n)])
        plain = next(mag for mag in mags if not ((mag == Mark.TAIL) & (mag.T == Mark.TAIL)).any())
        causal = CausalGraph(pag, Neighbours.of(pag.marks), MAG(plain, pag.names))
        asked = [(x, y, verdict(causal, 1 << x, 1 << y, 0, causal.everyone)) for x, y in permutations(range(n), 2)]
        claims = [claim for claim in asked if claim[2].status in {"adjustment", "formula"}]
        behind = (s for mag in mags for s in systems(mag, rng, selection=True, tries=tries)) if claims else ()
        for system in behind:
            if not system.selecting or len(system.causes) > 14:
                continue
            tables = tables_of(system, rng)
            joint = joint_of(system, tables)
            seen = joint.sum(axis=tuple(range(n, joint.ndim))) / joint.sum()
            for x, y, claim in claims:
                assert claim.formula is not None
                after = joint_of(system, tables, x)
                risks = after.sum(axis=tuple(v for v in range(after.ndim) if v not in (x, y)), keepdims=True)
                truth = (risks / risks.sum(axis=y, keepdims=True)).reshape(risks.shape[:n])
                checked[claim.status] += 1
                wrong[claim.status] += bool(np.abs(value(claim.formula, seen) - truth).max() > 1e-9)
    return checked, wrong


def test_adjustment_holds_in_tables_that_select() -> None:
    """The claim needs no straight lines: P(y | do(x)) among those in the sample, in random tables of two levels."""
    checked, wrong = wrong_in_tables(N, range(members(N).n_classes), tries=6)
    assert checked["adjustment"] > 200 and not wrong["adjustment"]


@pytest.mark.slow
def test_adjustment_holds_in_tables_that_select_on_five_nodes() -> None:
    chosen = np.random.default_rng(1).permutation(members(5).n_classes)[:400].tolist()
    checked, wrong = wrong_in_tables(5, chosen, tries=3)
    assert checked["adjustment"] > 1000 and not wrong["adjustment"]
