"""Formulas as text and as LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from anypag.effects.identify.expressions import Expression, P, Product, Quotient, Sum, n_written
from anypag.graphs.node_sets import NodeSet, members
from anypag.graphs.text import quote

_SPECIAL = {letter: f"\\{letter}" for letter in "{}$&#_%"} | {
    letter: rf"\text{name}{{}}" for letter, name in {"\\": "backslash", "~": "asciitilde", "^": "asciicircum"}.items()
}

LONGEST = 500  # a formula with more conditional probabilities is not written out


class Style(NamedTuple):
    """The notation of formulas: a function that writes names, and a text or a `%` pattern for every other part."""

    name: Callable[[str], str]
    bar: str
    do: str
    total: str
    ratio: str
    bracket: str
    remark: str


def _latex_name(name: str) -> str:
    return rf"\text{{{''.join(_SPECIAL.get(letter, letter) for letter in name)}}}"


TEXT = Style(quote, " | ", "do(%s)", "Σ_{%s} ", "[%s] / [%s]", "(%s)", "%s")
LATEX = Style(
    _latex_name, r" \mid ", r"\operatorname{do}(%s)", r"\sum_{%s} ", r"\frac{%s}{%s}", r"\left(%s\right)", r"\text{%s}"
)


def written(expression: Expression, names: Sequence[str], style: Style) -> str:
    """A formula as text. A summed variable gets a prime if the same variable also occurs outside the sum.

    >>> written(Sum(0b10, Product((P(1, 0b110), P(0b10)))), ["Y", "Z", "X"], TEXT)
    'Σ_{Z} P(Y | Z, X) P(Z)'
    """
    length = n_written(expression)
    if length > LONGEST:
        return style.remark % f"a formula of {length:,} conditional probabilities, too long to write"
    labels = {node: style.name(names[node]) for node in members(expression.free)}
    return _Writer(tuple(names), style).formula(expression, labels)


def effect_written(names: Sequence[str], x: NodeSet, y: NodeSet, given: NodeSet, style: Style) -> str:
    """The left side of the equation as text: P(y | do(x), given)."""
    labels = [style.name(name) for name in names]
    outcome, cause, rest = (", ".join(labels[node] for node in members(part)) for part in (y, x, given))
    return f"P({outcome}{style.bar}{style.do % cause}{', ' + rest if rest else ''})"


@dataclass(frozen=True)
class _Writer:
    names: tuple[str, ...]
    style: Style

    def formula(self, expression: Expression, labels: dict[int, str]) -> str:
        if isinstance(expression, P):
            of, given = (", ".join(labels[v] for v in members(part)) for part in (expression.of, expression.given))
            return f"P({of}{self.style.bar}{given})" if given else f"P({of})"
        if isinstance(expression, Quotient):
            return self.style.ratio % (self.formula(expression.top, labels), self.formula(expression.bottom, labels))
        if isinstance(expression, Sum):
            inner = dict(labels)
            for node in members(expression.over):
                inner[node] = self._fresh(node, inner)
            over = ", ".join(inner[node] for node in members(expression.over))
            return self.style.total % over + self.formula(expression.body, inner)
        return self._product(expression, labels)

    def _product(self, expression: Product, labels: dict[int, str]) -> str:
        plain = [self.formula(factor, labels) for factor in expression.factors if not isinstance(factor, Sum)]
        sums = [self.formula(factor, labels) for factor in expression.factors if isinstance(factor, Sum)]
        return " ".join([*plain, *(self.style.bracket % one for one in sums[:-1]), *sums[-1:]]) or "1"

    def _fresh(self, node: int, labels: dict[int, str]) -> str:
        label = self.style.name(self.names[node])
        taken = {*labels.values(), *(self.style.name(name) for k, name in enumerate(self.names) if k != node)}
        while label in taken:
            label += "'"
        return label
