"""Orientation rules got slightly wrong, as they are elsewhere: each slip is put in and must change what is learned.

That shows two things: the graphs below see such a slip, and the true rules get them right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import naive_search as naive
from anypag import MAG, Oracle, learn
from anypag.graphs import rules
from anypag.graphs.rules import RULES, Rule
from naive_search import Graph, Proposal

Slip = Callable[[pytest.MonkeyPatch], None]


def slipped(number: int, rule: naive.Rule) -> Slip:
    """Put this rule, over dicts, in place of the right one."""

    def propose(graph: Any, colliders: Any) -> int:
        count = 0
        for i, j, symbol in rule(naive.graph_of(graph.marks), len(graph.marks)):
            mark = naive.SYMBOLS.index(symbol)
            if graph.marks[i, j] != mark and not graph.wanted[i, j] & (1 << mark):
                graph.wanted[i, j] |= 1 << mark
                graph.rows[count] = (i, j, mark, -1, -1)
                count += 1
        return count

    return lambda monkeypatch: monkeypatch.setitem(RULES, number, RULES[number]._replace(propose=propose))


def ways(g: Graph, x: int, y: int, *, uncovered: bool = True, directed: bool = True) -> Iterator[tuple[int, ...]]:
    """Paths that are uncovered and possibly directed, or only one of the two."""
    for path in naive.simple_paths(g, x, y):
        is_uncovered = all((path[k], path[k + 2]) not in g for k in range(len(path) - 2))
        is_directed = all(g[v, u] != ">" and g[u, v] != "-" for u, v in pairwise(path))
        if (is_uncovered or not uncovered) and (is_directed or not directed):
            yield path


def nothing(g: Graph, n: int) -> Iterator[Proposal]:
    yield from ()


def rule_5_with(g: Graph, *, near_b: bool, near_a: bool) -> Iterator[Proposal]:
    for (a, b), mark in g.items():
        if mark == "o" and g[b, a] == "o":
            for path in naive.uncovered_paths(g, a, b, circles_only=True):
                if len(path) >= 4 and (near_b or (b, path[1]) not in g) and (near_a or (a, path[-2]) not in g):
                    for u, v in (*pairwise(path), (a, b)):
                        yield from ((u, v, "-"), (v, u, "-"))


def rule_5_without_c_b(g: Graph, n: int) -> Iterator[Proposal]:
    return rule_5_with(g, near_b=True, near_a=False)


def rule_5_without_d_a(g: Graph, n: int) -> Iterator[Proposal]:
    return rule_5_with(g, near_b=False, near_a=True)


def rule_9_with(g: Graph, *, uncovered: bool = True, directed: bool = True) -> Iterator[Proposal]:
    for a, c in naive.circle_arrows(g):
        for path in ways(g, a, c, uncovered=uncovered, directed=directed):
            if len(path) >= 4 and (path[1], c) not in g:
                yield c, a, "-"


def rule_9_on_covered_paths(g: Graph, n: int) -> Iterator[Proposal]:
    return rule_9_with(g, uncovered=False)


def rule_9_without_b_c(g: Graph, n: int) -> Iterator[Proposal]:
    for a, c in naive.circle_arrows(g):
        for path in ways(g, a, c, uncovered=False):
            is_uncovered_after_a = all((path[k], path[k + 2]) not in g for k in range(1, len(path) - 2))
            if len(path) >= 4 and is_uncovered_after_a and (a, path[2]) not in g:
                yield c, a, "-"


def rule_9_on_any_path(g: Graph, n: int) -> Iterator[Proposal]:
    return rule_9_with(g, directed=False)


def rule_10_with(g: Graph, n: int, *, directed: bool = True, near: bool = False) -> Iterator[Proposal]:
    for a, c in naive.circle_arrows(g):
        parents = [b for b in range(n) if b != a and naive.is_arrow(g, b, c)]
        firsts = {b: [p[1] for p in ways(g, a, b, directed=directed) if c not in p] for b in parents}
        for b in parents:
            for d in parents:
                if b < d and any(m != w and (near or (m, w) not in g) for m in firsts[b] for w in firsts[d]):
                    yield c, a, "-"


def rule_10_on_any_path(g: Graph, n: int) -> Iterator[Proposal]:
    return rule_10_with(g, n, directed=False)


def rule_10_without_m_w(g: Graph, n: int) -> Iterator[Proposal]:
    return rule_10_with(g, n, near=True)


def no_rule_4(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "discriminating_paths", lambda graph: np.empty((0, 4), np.int32))


def only_short_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    right = rules.discriminating_paths

    def short(graph: Any) -> Any:
        paths = right(graph)
        return paths[(paths >= 0).sum(axis=1) == 4]

    monkeypatch.setattr(rules, "discriminating_paths", short)


def rule_4_only_after_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """R4 runs only if R1–R3 have changed something since it last had its turn."""
    has_changed = {"anything": False}

    def slipping(rule: Rule) -> Rule:
        def propose(graph: Any, colliders: Any) -> int:
            if rule.number == 4 and not has_changed["anything"]:
                return 0
            count = rule.propose(graph, colliders)
            has_changed["anything"] = rule.number != 4 and (has_changed["anything"] or (rule.number < 4 and count > 0))
            return count

        return rule._replace(propose=propose)

    for number in range(1, 11):
        monkeypatch.setitem(RULES, number, slipping(RULES[number]))


R5_GRAPH = "X0 --- X2; X0 --> X3; X0 --- X4; X1 --- X2; X1 --- X4; X3 <-- X4"

SLIPS: dict[str, tuple[Slip, str]] = {
    "R4 left out": (no_rule_4, "X0 --> X2; X0 --> X4; X1 <-- X3; X1 <-- X4; X2 <-- X4; X3 --> X4"),
    "R4 with paths of four nodes only": (
        only_short_paths,
        "X0 <-> X1; X0 <-> X2; X0 --> X4; X1 --> X2; X1 <-- X3; X1 --> X4; X2 <-> X4",
    ),
    "R4 only when R1-R3 changed something": (
        rule_4_only_after_others,
        "X0 <-- X1; X0 <-- X3; X0 <-- X4; X1 <-- X3; X1 <-> X4; X2 <-- X3; X2 <-> X4",
    ),
    "R5 without the gap between C and B": (slipped(5, rule_5_without_c_b), R5_GRAPH),
    "R5 without the gap between D and A": (slipped(5, rule_5_without_d_a), R5_GRAPH),
    "R8 left out": (  # no graph of six nodes or fewer sees it, one in a thousand of eight or nine does
        slipped(8, nothing),
        "X0 --> X1; X0 <-- X3; X0 <-- X5; X0 <-- X6; X1 <-- X2; X1 <-- X4; X1 <-- X5; X1 <-- X6; X2 --> X4; X2 --> X7; "
        "X3 --> X7; X4 --> X5; X4 <-- X6; X5 <-- X6; X6 --> X7",
    ),
    "R9 on covered paths": (
        slipped(9, rule_9_on_covered_paths),
        "X0 <-- X2; X0 <-> X3; X0 <-- X4; X1 --> X2; X1 --> X3; X1 --> X4; X2 --> X3; X2 --> X4",
    ),
    "R9 without the gap between B and C": (
        slipped(9, rule_9_without_b_c),
        "X0 --> X3; X0 <-- X4; X1 --> X2; X1 --> X3; X2 --> X4; X3 <-- X4",
    ),
    "R9 on paths that are not possibly directed": (
        slipped(9, rule_9_on_any_path),
        "X0 --> X1; X0 --> X3; X1 <-- X2; X2 --> X3; X2 --> X4; X3 <-- X4",
    ),
    "R10 on paths that are not possibly directed": (
        slipped(10, rule_10_on_any_path),
        "X0 --> X1; X0 <-> X2; X0 <-- X4; X1 <-- X3; X1 <-- X4; X2 <-- X3; X3 --> X4",
    ),
    "R10 without the gap between the two first steps": (  # no graph of five nodes sees it
        slipped(10, rule_10_without_m_w),
        "X0 <-- X1; X0 <-- X4; X0 --> X5; X1 --> X2; X1 --> X3; X1 <-- X4; X2 <-> X3; X2 <-- X4; X2 <-- X5; X3 <-- X4; "
        "X4 --> X5",
    ),
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slip, text = SLIPS[name]
    mag = MAG.from_string(text)
    truth = mag.to_pag()
    assert learn(Oracle(mag)).pag == truth
    slip(monkeypatch)
    assert learn(Oracle(mag)).pag != truth


@pytest.mark.parametrize("number", sorted(naive.RULES))
def test_the_slips_are_the_only_difference(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The right rule, put in the same way, changes nothing on any of the graphs."""
    truths = {text: MAG.from_string(text).to_pag() for _, text in SLIPS.values()}
    slipped(number, naive.RULES[number])(monkeypatch)
    for text, truth in truths.items():
        assert learn(Oracle(MAG.from_string(text))).pag == truth
