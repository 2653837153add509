"""The ID algorithm (Shpitser & Pearl 2006) for one known system, on numbers: the value of P(y | do(x)), or None.

A distribution is an array with one axis for every observed node of the system, of length 1 where it does not depend on
the node. IDC gives P(y | do(x), z) in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from enumeration import System, causal_order, dag_of

from naive import ARROW, TAIL, is_separated

Values = npt.NDArray[np.float64]
Nodes = frozenset[int]


def summed(table: Values, over: Iterable[int]) -> Values:
    """The sum over these axes; an axis of length 1 stands for a variable that the table does not depend on."""
    return np.asarray(table.sum(axis=tuple(over), keepdims=True))


def ancestors_in(system: System, targets: Nodes, inside: Nodes, cut: Nodes = frozenset()) -> Nodes:
    """The targets and all that lead to them inside; arrows into `cut` are taken out."""
    arrows = [(a, b) for a, b in system.arrows if {a, b} <= inside and b not in cut]
    found = set(targets)
    while fresh := {a for a, b in arrows if b in found} - found:
        found |= fresh
    return frozenset(found)


def c_components(system: System, inside: Nodes) -> list[Nodes]:
    """The sets of nodes that hidden causes connect."""
    left, found = set(inside), []
    while left:
        component = {min(left)}
        pairs = [set(pair) for pair in system.hidden if set(pair) <= inside]
        while fresh := set().union(*(pair for pair in pairs if pair & component)) - component:
            component |= fresh
        found.append(frozenset(component))
        left -= component
    return found


def conditionals(system: System, nodes: Nodes, v: Nodes, table: Values) -> Values:
    """The product over some nodes of P(node | those before it in causal order)."""
    order = [node for node in causal_order(system) if node in v]
    result = np.ones((1,) * table.ndim)
    for k, node in enumerate(order):
        if node in nodes:
            result = result * summed(table, order[k + 1 :]) / summed(table, order[k:])
    return result


def identify(system: System, y: Nodes, x: Nodes, v: Nodes, table: Values) -> Values | None:
    """Lines 1 to 7 of the algorithm."""
    if not x:
        return summed(table, v - y)
    above = ancestors_in(system, y, v)
    if above != v:
        return identify(system, y, x & above, above, summed(table, v - above))
    more = v - x - ancestors_in(system, y, v, cut=x)
    if more:
        return identify(system, y, x | more, v, table)
    apart = c_components(system, v - x)
    if len(apart) > 1:
        result = np.ones((1,) * table.ndim)
        for part in apart:
            factor = identify(system, part, v - part, v, table)
            if factor is None:
                return None
            result = result * factor
        return summed(result, v - y - x)
    component = apart[0]
    around = next(whole for whole in c_components(system, v) if component <= whole)
    if around == v:
        return None
    if around == component:
        return summed(conditionals(system, component, v, table), component - y)
    return identify(system, y, x & around, around, conditionals(system, around, v, table))


def identify_conditional(system: System, y: Nodes, x: Nodes, z: Nodes, table: Values) -> Values | None:
    """IDC: conditions that can be set instead of seen are set first."""
    for node in sorted(z):
        if may_be_set(system, y, x, z - {node}, node):
            return identify_conditional(system, y, x | {node}, z - {node}, table)
    joint = identify(system, y | z, x, frozenset(range(system.n)), table)
    return None if joint is None else joint / summed(joint, y)


def may_be_set(system: System, y: Nodes, x: Nodes, z: Nodes, node: int) -> bool:
    """Rule 2: are y and the node separated given x and z once arrows into x and out of the node are taken out?"""
    dag, _ = dag_of(system)
    cut = [list(row) for row in dag]
    for a in range(len(dag)):
        for b in range(len(dag)):
            if dag[a][b] == ARROW and dag[b][a] == TAIL and (b in x or a == node):
                cut[a][b] = cut[b][a] = 0
    return all(is_separated(cut, node, other, tuple(x | z)) for other in y)
