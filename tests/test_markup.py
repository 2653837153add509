"""HTML for notebooks and aligned rows, by one example each."""

from __future__ import annotations

from anypag.catalogue import method_named
from anypag.markup import aligned, paragraphs, table


def test_texts_are_escaped_and_indented() -> None:
    assert paragraphs(["A & B"]) == '<p style="margin:.2em 0 .2em 0em">A &amp; B</p>'
    assert paragraphs(["  <b>"]) == '<p style="margin:.2em 0 .2em 1em">&lt;b&gt;</p>'
    assert table(["a"], [["<"]]).count("&lt;") == 1


def test_columns_are_aligned() -> None:
    assert aligned([("a", "bc"), ("abc", "d")]) == ["a    bc", "abc  d"]


def test_methods_that_are_not_listed_have_facts_too() -> None:
    assert method_named("boss").hides_nothing and not method_named("mine").from_scores
