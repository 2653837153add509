"""Formulas keep their value whatever is done to shorten them, and are written so that they can be read again."""

from __future__ import annotations

import re

import numpy as np
from enumeration import Values
from exact_tables import value
from hypothesis import given
from hypothesis import strategies as st

from anypag.effects.estimate.linear import slopes
from anypag.effects.estimate.tables import tables_of
from anypag.effects.identify.adjustment import Between
from anypag.effects.identify.expressions import (
    ONE,
    Expression,
    P,
    Product,
    Quotient,
    Sum,
    leaves,
    mentioned,
    n_written,
    product,
    quotient,
    simplified,
    summed,
)
from anypag.effects.identify.formula_text import LATEX, TEXT, effect_written, written

N = 4


@st.composite
def conditionals(draw: st.DrawFn) -> P:
    of = draw(st.integers(1, 2**N - 1))
    return P(of, draw(st.integers(0, 2**N - 1)) & ~of)


@st.composite
def built(draw: st.DrawFn, depth: int = 3) -> tuple[Expression, Expression]:
    """The same formula twice: put together as it comes, and by the functions that shorten."""
    kind = draw(st.sampled_from(["P", "product", "quotient", "sum"])) if depth else "P"
    if kind == "P":
        leaf = draw(conditionals())
        return leaf, leaf
    first = draw(built(depth - 1))
    if kind == "sum":
        over = draw(st.integers(0, 2**N - 1)) & first[0].free & first[1].free
        return (Sum(over, first[0]) if over else first[0]), summed(over, first[1])
    second = draw(built(depth - 1))
    if kind == "product":
        return Product((first[0], second[0])), product(first[1], second[1])
    return Quotient(first[0], second[0]), quotient(first[1], second[1])


def tables(seed: int) -> Values:
    joint = np.random.default_rng(seed).uniform(0.1, 1, (2, 3, 2, 2))
    return np.asarray(joint / joint.sum())


@given(built(), st.integers(0, 100))
def test_shortening_keeps_the_value(formulas: tuple[Expression, Expression], seed: int) -> None:
    plain, short = formulas
    gap = value(plain, tables(seed)) / value(short, tables(seed)) - 1
    np.testing.assert_allclose(gap, 0, atol=1e-9)


@given(built(), st.integers(0, 100))
def test_building_anew_keeps_the_value(formulas: tuple[Expression, Expression], seed: int) -> None:
    short = formulas[1]
    again = simplified(short, lambda leaf: leaf)
    np.testing.assert_allclose(value(again, tables(seed)) - value(short, tables(seed)), 0, atol=1e-9)
    assert again.free & ~short.free == 0


@given(built())
def test_free_variables_are_mentioned(formulas: tuple[Expression, Expression]) -> None:
    for formula in formulas:
        assert formula.free & ~mentioned(formula) == 0
        shape = value(formula, tables(0)).shape
        assert all(size == 1 or formula.free >> v & 1 for v, size in enumerate(shape))


@given(built())
def test_a_shared_part_is_valued_once(formulas: tuple[Expression, Expression]) -> None:
    body, over = formulas[1], 1 if formulas[1].free & 1 else 0
    shared = Quotient(Product((body, P(8), body)), Sum(over, body))
    seen = list[int]()
    simplified(shared, lambda leaf: (seen.append(id(leaf)), leaf)[1])  # type: ignore[func-returns-value]
    assert len(seen) == len(set(seen)) == len(leaves(shared))
    assert n_written(shared) == 3 * n_written(body) + 1


def doubled(times: int) -> Expression:
    """A formula that mentions its first conditional 2^times times."""
    formula: Expression = P(1, 2)
    for _ in range(times):
        formula = Quotient(formula, Sum(1, formula))
    return formula


def test_a_formula_too_long_to_read_is_not_written_and_has_a_value() -> None:
    text = "a formula of 1,125,899,906,842,624 conditional probabilities, too long to write"
    assert written(doubled(50), ["a", "b"], TEXT) == text
    assert written(doubled(50), ["a", "b"], LATEX) == rf"\text{{{text}}}"
    assert mentioned(doubled(50)) == 3
    found = tables_of(np.array([[0, 0], [1, 0], [1, 1]]), (2, 2), (0, 1)).values(doubled(50), Between(2, 1, 0, 0, ()))
    np.testing.assert_allclose(found, [0.5, 0.5, 0, 1])
    line = slopes(doubled(50), Between(2, 1, 0, 0, ()), np.array([[1.0, 0.5], [0.5, 1.0]]), [0, 1])
    np.testing.assert_allclose(line, [[0.5]])


def test_identities() -> None:
    a, b, c = 1, 2, 4
    assert product(P(a, b | c), P(b, c)) == P(a | b, c)
    assert quotient(P(a | b, c), P(b, c)) == P(a, b | c)
    assert quotient(P(a | b, c), P(a, b | c)) == P(b, c)
    assert quotient(P(a), P(a)) == ONE
    assert summed(a, P(a, b)) == ONE
    assert summed(a, product(P(a | b), P(c))) == product(P(b), P(c))
    assert summed(a, P(b, a)) == Sum(a, P(b, a))
    assert quotient(P(a, c), P(a, b)) == Quotient(P(a, c), P(a, b))


def test_formulas_as_text() -> None:
    front_door = summed(4, product(P(4, 1), summed(1, product(P(2, 1 | 4), P(1)))))
    assert written(front_door, ["x", "y", "m"], TEXT) == "Σ_{m} P(m | x) Σ_{x'} P(y | x', m) P(x')"
    assert written(ONE, [], TEXT) == "1"
    assert written(Quotient(P(1), P(2)), ["a b", "c"], TEXT) == '[P("a b")] / [P(c)]'
    assert effect_written(["x", "y", "z"], 1, 2, 4, TEXT) == "P(y | do(x), z)"


def test_formulas_as_latex() -> None:
    formula = summed(4, product(P(2, 1 | 4), P(4)))
    text = written(formula, ["x_1", "50%", "a\\b{}"], LATEX)
    assert text == (
        r"\sum_{\text{a\textbackslash{}b\{\}}} P(\text{50\%} \mid \text{x\_1}, \text{a\textbackslash{}b\{\}}) "
        r"P(\text{a\textbackslash{}b\{\}})"
    )


@given(built())
def test_every_formula_can_be_written(formulas: tuple[Expression, Expression]) -> None:
    """A label stands for one variable: those in sight at once differ, also where a name looks like a primed one."""
    names = ["x", "x'", "y", "x''"]
    for style in (TEXT, LATEX):
        for formula in formulas:
            text = written(formula, names, style)
            assert text.count("(") == text.count(")")
            assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    for over in re.findall(r"Σ_\{(.*?)\} ", written(formulas[0], names, TEXT)):
        labels = over.split(", ")
        assert len(set(labels)) == len(labels)
