"""Formulas over one distribution: conditional probabilities ("conditionals"), products, quotients and sums.

Sets of variables are sets of nodes (`graphs.node_sets`). The functions `product`, `quotient` and `summed` build
formulas and apply identities that hold for every distribution: P(a | b, c) P(b | c) = P(a, b | c), the sum of P(a | b)
over a is 1, and factors in which a does not occur are moved out of the sum. So formulas stay short.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import permutations
from operator import or_
from typing import TypeVar

from anypag.graphs.node_sets import NodeSet

Folded = TypeVar("Folded")


class _Formula:
    """A formula that caches the variables it depends on, because parts are shared by many formulas."""

    @cached_property
    def free(self) -> NodeSet:
        """The variables that the value of the formula depends on."""
        if isinstance(self, P):
            return self.of | self.given
        inside: NodeSet = reduce(or_, (part.free for part in parts(self)), 0)  # type: ignore[arg-type]
        return inside & ~self.over if isinstance(self, Sum) else inside


@dataclass(frozen=True)
class P(_Formula):
    """P(of | given)."""

    of: NodeSet
    given: NodeSet = 0


@dataclass(frozen=True)
class Product(_Formula):
    """The product of its factors; 1 if there are none."""

    factors: tuple[Expression, ...]


@dataclass(frozen=True)
class Quotient(_Formula):
    """top / bottom."""

    top: Expression
    bottom: Expression


@dataclass(frozen=True)
class Sum(_Formula):
    """The sum of the body over all values of some variables, which are bound inside the sum."""

    over: NodeSet
    body: Expression


Expression = P | Product | Quotient | Sum

ONE = Product(())


def leaves(expression: Expression) -> list[P]:
    """The conditionals in the formula."""
    found = list[P]()
    folded(expression, lambda part, _: found.append(part) if isinstance(part, P) else None)
    return found


def mentioned(expression: Expression) -> NodeSet:
    """All variables in the formula, summed over or not."""
    return reduce(or_, (leaf.of | leaf.given for leaf in leaves(expression)), 0)


def n_written(expression: Expression) -> int:
    """The number of conditionals in the formula, repetitions counted."""
    return folded(expression, lambda part, inner: 1 if isinstance(part, P) else sum(inner))


def folded(expression: Expression, value: Callable[[Expression, tuple[Folded, ...]], Folded]) -> Folded:
    """The value of a formula. `value` takes a part and the values of its parts; a part that recurs is computed once."""
    known = dict[int, Folded]()

    def of(part: Expression) -> Folded:
        if id(part) not in known:
            known[id(part)] = value(part, tuple(of(inner) for inner in parts(part)))
        return known[id(part)]

    return of(expression)


def parts(expression: Expression) -> tuple[Expression, ...]:
    if isinstance(expression, P):
        return ()
    if isinstance(expression, Product):
        return expression.factors
    return (expression.top, expression.bottom) if isinstance(expression, Quotient) else (expression.body,)


def product(*factors: Expression) -> Expression:
    """The product, with conditionals joined by `_chained`, and all quotients merged into one."""
    flat = [inner for factor in factors for inner in _factors(factor)]
    tops = [factor.top if isinstance(factor, Quotient) else factor for factor in flat]
    bottoms = [factor.bottom for factor in flat if isinstance(factor, Quotient)]
    if bottoms:
        return quotient(product(*tops), product(*bottoms))
    return _as_product(_chained(tops))


def quotient(top: Expression, bottom: Expression) -> Expression:
    """top / bottom, with common factors cancelled."""
    if isinstance(bottom, Quotient):
        return quotient(product(top, bottom.bottom), bottom.top)
    if isinstance(top, Quotient):
        return quotient(top.top, product(top.bottom, bottom))
    tops, left = list(_factors(top)), []
    for below in _factors(bottom):
        found = ((k, ratio) for k, above in enumerate(tops) if (ratio := _ratio(above, below)) is not None)
        place, ratio = next(found, (None, below))
        if place is None:
            left.append(below)
        else:
            tops = [*tops[:place], *tops[place + 1 :], *_factors(ratio)]
    reduced = _as_product(_chained(tops))
    return Quotient(reduced, _as_product(left)) if left else reduced


def summed(over: NodeSet, body: Expression) -> Expression:
    """The sum of the body over the variables `over`. The body must depend on all of them."""
    assert not over & ~body.free, "a sum is over variables that its body depends on"
    if not over:
        return body
    if isinstance(body, Sum):
        return summed(over | body.over, body.body)
    if isinstance(body, Quotient):  # variables that the denominator does not contain are summed in the numerator
        outside = over & ~body.bottom.free
        inner = quotient(summed(outside, body.top), body.bottom)
        inside = over & ~outside
        if inside & ~inner.free:
            return Sum(over, body)
        return Sum(inside, inner) if inside else inner
    return _summed_product(over, list(_factors(body)))


def simplified(expression: Expression, leaf: Callable[[P], P]) -> Expression:
    """The formula with every conditional `p` replaced by `leaf(p)`."""

    def shorter(part: Expression, inner: tuple[Expression, ...]) -> Expression:
        if isinstance(part, P):
            return leaf(part)
        if isinstance(part, Product):
            return product(*inner)
        return quotient(*inner) if isinstance(part, Quotient) else summed(part.over, *inner)

    return folded(expression, shorter)


def _factors(expression: Expression) -> tuple[Expression, ...]:
    return expression.factors if isinstance(expression, Product) else (expression,)


def _as_product(factors: Sequence[Expression]) -> Expression:
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _chained(factors: list[Expression]) -> list[Expression]:
    """The factors, after P(a | b, c) P(b | c) = P(a, b | c) was applied as often as possible."""
    chained = list(factors)
    while True:
        pairs = ((a, b) for a, b in permutations(chained, 2) if isinstance(a, P) and isinstance(b, P))
        joined = next(((a, b) for a, b in pairs if a.given == b.of | b.given), None)
        if joined is None:
            return chained
        first, second = joined
        chained[chained.index(first)] = P(first.of | second.of, second.given)
        chained.remove(second)


def _ratio(top: Expression, bottom: Expression) -> Expression | None:
    """top / bottom, if that is a conditional or 1; else None."""
    if top == bottom:
        return ONE
    if not isinstance(top, P) or not isinstance(bottom, P):
        return None
    if top.given == bottom.given and bottom.of & ~top.of == 0:
        return P(top.of & ~bottom.of, bottom.of | bottom.given)
    before = bottom.given & ~top.given
    if top.given & ~bottom.given == 0 and top.of == bottom.of | before and not bottom.of & top.given:
        return P(before, top.given)
    return None


def _summed_product(over: NodeSet, factors: list[Expression]) -> Expression:
    """The sum of a product. Factors without a summed variable are taken out; conditionals that sum to 1 are dropped."""
    left, factors_left = _without_sinks(over, factors)
    inner = [factor for factor in factors_left if factor.free & left]
    outer = [factor for factor in factors_left if not factor.free & left]
    if left & ~_as_product(inner).free:
        return Sum(over, _as_product(factors))
    return product(*outer, *(Sum(part, _as_product(group)) for part, group in _apart(left, inner)))


def _without_sinks(over: NodeSet, factors: list[Expression]) -> tuple[NodeSet, list[Expression]]:
    """The variables and factors that are left. If v occurs only in P(v, w | ...), the sum over v gives P(w | ...)."""
    while True:
        for place, factor in enumerate(factors):
            others = _as_product(factors[:place] + factors[place + 1 :]).free
            if isinstance(factor, P) and (sinks := factor.of & over & ~others):
                left = P(factor.of & ~sinks, factor.given)
                factors = _chained(factors[:place] + ([left] if left.of else []) + factors[place + 1 :])
                over &= ~sinks
                break
        else:
            return over, factors


def _apart(over: NodeSet, factors: list[Expression]) -> list[tuple[NodeSet, list[Expression]]]:
    """The summed variables and the factors of each group; groups share no summed variable, so each is summed alone."""
    groups: list[tuple[NodeSet, list[Expression]]] = []
    for factor in factors:
        own = factor.free & over
        met = [group for group in groups if group[0] & own]
        groups = [group for group in groups if group not in met]
        scope = reduce(or_, (scope for scope, _ in met), own)
        groups.append((scope, [*(item for _, inner in met for item in inner), factor]))
    return groups
