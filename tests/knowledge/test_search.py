"""Searches with a perfect oracle and knowledge that is true: the definition's result, for no more tests."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
import pytest
from certify.algorithms import has_wrong_claim
from certify.knowledge import weak_orders
from certify.members import ClassesOfMags, ancestry, members

from anypag import DAG, MAG, PAG, Knowledge, Mark, Oracle, Result, catalogue, learn
from anypag.arrays import Flags
from anypag.knowledge.closure import close
from anypag.knowledge.facts import Facts
from anypag.simulate import System
from search_examples import hard_system, random_system, wrong_claims

METHODS = ("icd", "fci", "anytime-fci", "icd-paper", "rfci")


@cache
def all_of(n: int) -> ClassesOfMags:
    return members(n)


def names_of(n: int) -> list[str]:
    return [f"X{i}" for i in range(n)]


def pieces(n: int, every: int) -> list[Knowledge]:
    """Single statements on all pairs, and every so many of the weak orders as tiers."""
    names, said = names_of(n), []
    for a, b in permutations(names, 2):
        said += [Knowledge(causes=[(a, b)]), Knowledge(not_causes=[(a, b)])]
        said += [Knowledge(not_causes=[(a, b)], not_selecting=[a])]
    for tier in list(weak_orders(n))[::every]:
        if max(tier):
            said.append(Knowledge(tiers=[[names[v] for v in range(n) if tier[v] == k] for k in range(max(tier) + 1)]))
    return said


def check_class(c: int, n: int, said: list[Knowledge], method: str = "icd") -> int:
    """All pieces of knowledge that agree with one member of a class; how many there were."""
    found, checked = all_of(n), 0
    for selection in (True, False):
        rows = np.flatnonzero(selection | ~found.is_undirected[found.first[c] : found.first[c + 1]].any(axis=1))
        if not len(rows):
            continue
        mag = found.of(c)[rows[len(rows) // 2]]
        without = learn(Oracle(MAG(mag)), selection_bias=selection, method=method)
        for known in said:
            facts = known.facts(names_of(n), selection=selection)
            if facts.agree_with(mag):
                result = learn(Oracle(MAG(mag)), selection_bias=selection, method=method, knowledge=known)
                check(result, without, found, c, facts)
                checked += 1
    return checked


def check(result: Result, without: Result, found: ClassesOfMags, c: int, facts: Facts) -> None:
    truth = found.truth(c, facts)
    assert truth is not None
    assert result.conflicts == ()
    if c % 7 == 0:  # they take longer than the search
        assert all(outcome.became != "contradicted" for outcome in result.knowledge)
    assert result.n_tests <= without.n_tests
    if result.method == "rfci":
        assert not ((result.pag.marks == 0) & (truth != 0)).any()
    else:
        assert np.array_equal(result.pag.marks, truth)
    if result.method in {"icd", "fci", "rfci"}:
        left = found.agreeing(c, facts)
        rows = slice(found.first[c], found.first[c + 1])
        leads, has_arrow = found.leads[rows][left], found.has_arrow[rows][left]
        is_sure = has_arrow | facts.not_selecting
        no_arrow = np.asarray((leads & is_sure[:, :, None]).any(axis=0).T, np.bool_)
        no_tail = np.asarray((~leads & has_arrow[:, :, None]).any(axis=0).T, np.bool_)
        for item in result.history:
            assert not has_wrong_claim(item.pag.marks, truth, no_arrow, no_tail)


@pytest.mark.parametrize(
    "method", ["icd", "fci", *(pytest.param(name, marks=pytest.mark.slow) for name in METHODS[2:])]
)
def test_every_class_of_three_nodes(method: str) -> None:
    said = pieces(3, 2)
    assert sum(check_class(c, 3, said, method) for c in range(all_of(3).n_classes)) > 200


@pytest.mark.parametrize("start", [0, *(pytest.param(start, marks=pytest.mark.slow) for start in (1, 2))])
def test_some_classes_of_four_nodes(start: int) -> None:
    said = pieces(4, 11)
    assert sum(check_class(c, 4, said) for c in range(start, all_of(4).n_classes, 61)) > 50


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_class_of_four_nodes(method: str) -> None:
    said = pieces(4, 3)
    assert sum(check_class(c, 4, said, method) for c in range(all_of(4).n_classes)) > 10_000


@cache
def system_of(seed: int) -> System:
    return (hard_system if seed % 2 else random_system)(np.random.default_rng(seed), 8 + seed % 8)


def causes_in(dag: DAG) -> Flags:
    """(n, n) is the row node a cause of the column node?"""
    return np.asarray(ancestry(dag.marks[None])[0], np.bool_)


def true_knowledge(system: System, rng: np.random.Generator) -> Knowledge:
    """Tiers in which no cause is later than its effect, some causes and non-causes, who is no cause of selection."""
    names = [name for name in system.dag.names if name not in system.latent and name not in system.selection]
    causes = causes_in(system.dag)
    place = {name: system.dag.names.index(name) for name in names}
    rank = {name: int(causes[:, place[name]].sum()) for name in names}
    cuts = np.sort(rng.choice(np.arange(1, 8), 2, replace=False))
    tiers = [[name for name in names if np.searchsorted(cuts, rank[name], side="right") == k] for k in range(3)]
    pairs = [(a, b) for a, b in permutations(names, 2)]
    chosen = [pairs[k] for k in rng.choice(len(pairs), 4, replace=False)]
    selecting = {a for a in names if any(causes[place[a], system.dag.names.index(s)] for s in system.selection)}
    return Knowledge(
        tiers=tier if len(tier := [tier for tier in tiers if tier]) > 1 else (),
        causes=[(a, b) for a, b in chosen if causes[place[a], place[b]]],
        not_causes=[(a, b) for a, b in chosen if not causes[place[a], place[b]]],
        not_selecting=[name for name in names if name not in selecting and rng.random() < 0.7],
    )


def check_system(seed: int) -> None:
    system, rng = system_of(seed), np.random.default_rng(seed)
    known = true_knowledge(system, rng)
    pag = system.true_pag()
    without, result = learn(system.oracle()), learn(system.oracle(), knowledge=known)
    assert result.n_tests <= without.n_tests
    assert [claim for item in result.history for claim in wrong_claims(item.pag, system)] == []
    closure = close(pag.marks, pag.to_mag().marks, known.facts(pag.names))
    assert closure.finished
    assert np.array_equal(result.pag.marks, closure.marks)
    assert result.conflicts == ()


@pytest.mark.parametrize("seed", range(16))
def test_random_systems(seed: int) -> None:
    check_system(seed)


@pytest.mark.parametrize("seed", [102])
def test_an_end_that_cannot_be_a_tail_is_seen_at_once(seed: int) -> None:
    """A node that is known not to select is at no end of `---`: the closure used to try all circles elsewhere first."""
    system = system_of(seed)
    pag, known = system.true_pag(), true_knowledge(system, np.random.default_rng(seed))
    assert close(pag.marks, pag.to_mag().marks, known.facts(pag.names), 200).finished
    check_system(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(16, 516, 50))
def test_five_hundred_random_systems(first: int) -> None:
    for seed in range(first, first + 50):
        check_system(seed)


def test_conditioning_on_the_past_only_would_be_wrong_where_the_sample_is_selected() -> None:
    """X --> Z --> S <-- Y, tiers X, Y before Z: given S only the later Z separates X and Y, and Z has no arrowhead."""
    dag = DAG.from_string("X --> Z; Z --> S; Y --> S")
    known = Knowledge(tiers=[["X", "Y"], ["Z"]])
    for method in METHODS:
        result = learn(Oracle(dag, selection=["S"]), knowledge=known, method=method)
        assert result.sepsets["X", "Y"].given == ("Z",)
        assert result.pag.edge("X", "Z") is not None
        assert result.pag.marks[0, result.pag.index("Z")] == Mark.TAIL
        assert result.pag.marks[result.pag.index("Y"), result.pag.index("Z")] == Mark.TAIL


def test_tiers_narrow_the_sets_that_are_tested() -> None:
    system = random_system(np.random.default_rng(2), 12)
    dag = system.dag
    names = dag.names
    order = np.argsort(causes_in(dag).sum(axis=0), kind="stable")
    known = Knowledge(tiers=[[names[k] for k in order[:6]], [names[k] for k in order[6:]]])
    for method in METHODS:
        without, result = (learn(Oracle(dag), method=method, selection_bias=False, knowledge=k) for k in (None, known))
        assert result.n_tests < without.n_tests, method
        assert wrong_claims(result.pag, System(dag, (), ())) == []


def test_joined_edges_are_never_tested_and_others_taken_out() -> None:
    dag = DAG.from_string("A --> C; B --> C; C --> D")
    asked: set[frozenset[int]] = set()
    oracle = Oracle(dag)

    class Watched(Oracle):
        def pvalues(self, queries):  # type: ignore[no-untyped-def]
            asked.update(frozenset((int(x), int(y))) for x, y in zip(queries.x, queries.y, strict=True))
            return oracle.pvalues(queries)

    for method in METHODS:
        asked.clear()
        result = learn(Watched(dag), method=method, knowledge=Knowledge(joined=[("A", "C")]))
        assert result.pag == learn(oracle, method=method).pag
        if not catalogue.METHODS[method].orders_nodes:  # others ask all pairs given nothing to order the nodes
            assert frozenset((0, 1)) not in asked
        out = learn(oracle, method=method, knowledge=Knowledge(not_joined=[("C", "D"), ("A", "B")]))
        assert out.pag.edge("C", "D") is None
        contradicted = [outcome.became for outcome in out.knowledge]
        assert contradicted == ["contradicted", "implied"]
        assert "largest p" in out.knowledge[0].why


def test_initial_graphs_and_knowledge_are_combined() -> None:
    oracle = Oracle(DAG.from_string("A --> C; B --> C; C --> D"))
    start = PAG.from_string("A o-> C; B o-> C; C o-o D; A o-o D; B o-o D", ["A", "B", "C", "D"])
    result = learn(oracle, initial=start, knowledge=Knowledge.from_text("A ~> C"))
    assert str(result.pag.edge("A", "C")) == "A --> C"
    with pytest.raises(ValueError, match="The 'initial' PAG has an arrowhead at 'C'"):
        learn(oracle, initial=start, knowledge=Knowledge.from_text("C ~> A"))
    with pytest.raises(ValueError, match="known to be joined"):
        learn(oracle, initial=start, knowledge=Knowledge.from_text("A *-* B"))
