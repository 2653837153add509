"""Smallest sets of edges and separations that cannot all be true: rightly said, and none can be left out."""

from __future__ import annotations

from functools import cache
from itertools import chain, combinations

import pytest
from certify.algorithms import classes
from hypothesis import given
from hypothesis import strategies as st

import anypag as ap
from anypag.graphs.marks import Separation
from anypag.graphs.pag import MAG
from anypag.graphs.reasoning.claims import PairClaim, _Conclusions, _smallest, contradicting_claims
from anypag.graphs.separation import is_separated

NAMES = "ABCD"
PAIRS = list(combinations(NAMES, 2))
Table = dict[tuple[str, str, tuple[str, ...]], bool]


@cache
def tables(*, selection: bool) -> list[Table]:
    """What is separated by what, in every class of MAGs over four variables that there can be."""
    found = []
    every = classes(4)
    for marks, truth in zip(every.member, every.truth, strict=True):
        mag, needs_selection = MAG(marks, list(NAMES)), {"---", "--o", "o--"}
        if selection or not needs_selection & {edge.symbol for edge in ap.PAG(truth).edges()}:
            sets = {pair: [name for name in NAMES if name not in pair] for pair in PAIRS}
            found.append(
                {
                    (*pair, z): mag.edge(*pair) is None and is_separated(mag, *pair, z)
                    for pair, others in sets.items()
                    for z in chain.from_iterable(combinations(others, k) for k in range(3))
                }
            )
    return found


def holds(table: Table, claim: PairClaim) -> bool:
    """Is the claim true there?"""
    a, b, given, _ = claim
    if given is None:
        return not any(is_apart for (x, y, _), is_apart in table.items() if (x, y) == (a, b))
    fewer = [tuple(name for name in given if name != left_out) for left_out in given]
    return table[a, b, given] and not any(table[a, b, rest] for rest in fewer)


def can_be_true(claims: list[PairClaim], *, selection: bool) -> bool:
    """Does any MAG have them all?"""
    return any(all(holds(table, claim) for claim in claims) for table in tables(selection=selection))


@st.composite
def some_claims(draw: st.DrawFn) -> list[PairClaim]:
    """Something or nothing about each pair."""
    found = []
    for a, b in PAIRS:
        others = [name for name in NAMES if name not in (a, b)]
        kind = draw(st.sampled_from(["joined", "separated", "separated", "unknown"]))
        if kind == "joined":
            found.append(PairClaim(a, b, None))
        elif kind == "separated":
            found.append(PairClaim(a, b, tuple(sorted(draw(st.sets(st.sampled_from(others)))))))
    return found


@given(claims=some_claims(), selection=st.booleans())
def test_what_is_said_to_contradict_itself_does(claims: list[PairClaim], selection: bool) -> None:
    found = _Conclusions(claims, selection).refuted()
    if found is None:
        return
    assert not can_be_true([claims[k] for k in found.why], selection=selection)
    kept, _ = _smallest([claims[k] for k in sorted(found.why)], found, selection)
    assert not can_be_true(list(kept), selection=selection)
    for claim in kept:
        assert _Conclusions([other for other in kept if other != claim], selection).refuted() is None


def test_graphs_that_no_system_has_are_told_by_claims() -> None:
    """On data: every graph without contradicting marks that is not valid has its smallest set of claims."""
    told = 0
    for seed in range(60):
        sample = ap.simulate.random_system(10, 2.5, seed=seed).linear_gaussian(400, seed=seed)
        for found in ap.learn(sample, method="icd", alpha=0.05).contradictions:
            assert len(found.statements) >= 2
            told += isinstance(found.statements[0], PairClaim)
    assert told >= 3


@pytest.mark.parametrize("seed", range(12))
def test_perfect_tests_never_contradict_themselves(seed: int) -> None:
    result = ap.learn(ap.simulate.random_system(9, 2.5, n_selection=seed % 2, seed=seed).oracle())
    assert contradicting_claims(result.pag, result.sepsets, result.pag.names[:2]) is None


def test_a_contradiction_is_told_where_the_graph_is_wrong() -> None:
    pag = ap.PAG.from_string("A <-> B; B <-> C; B o-o D; E o-o F")
    sets = {
        ("A", "C"): Separation((), 0.5, 0),
        ("A", "D"): Separation(("B",), 0.5, 1),
        ("C", "D"): Separation((), 0.5, 0),
    }
    found = contradicting_claims(pag, sets, ["A", "B"])
    assert found is not None and found.is_about("A", "B") and found.is_about("C", "D") and not found.is_about("E", "F")
    assert str(found) == (
        "No system of variables, hidden ones included, has exactly this graph; see A <-> B. A and B are joined, "
        "A and C are independent, A and D are independent given B (a minimal set), B and C are joined, "
        "B and D are joined, and C and D are independent: these cannot all be true, or B would be a cause "
        "of D and also not be one."
    )
    assert contradicting_claims(pag, {}, ["A", "B"]) is None


def test_no_clock_decides_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which hours pass between two looks at the clock finds the same contradictions."""
    sample = ap.simulate.random_system(10, 2.5, seed=4).linear_gaussian(400, seed=4)
    results = [ap.learn(sample, method="icd", alpha=0.05) for _ in range(2)]
    before = results[0].contradictions, results[0].valid
    hours = iter(range(0, 10**9, 3600))
    for name in ("monotonic", "perf_counter", "process_time", "time"):
        monkeypatch.setattr(f"time.{name}", lambda: float(next(hours)))
    assert (results[1].contradictions, results[1].valid) == before


def test_the_search_gives_up_after_a_number_of_conclusions() -> None:
    pag = ap.PAG.from_string("A <-> B; B <-> C; B o-o D; E o-o F")
    sets = {
        ("A", "C"): Separation((), 0.5, 0),
        ("A", "D"): Separation(("B",), 0.5, 1),
        ("C", "D"): Separation((), 0.5, 0),
    }
    assert contradicting_claims(pag, sets, ["A", "B"], most_conclusions=0) is None
