"""Adjustment and "no effect" where the sample may be selected: checked in systems that do select."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from certify.members import members
from linear_truth import slope_and_effect, systems

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
