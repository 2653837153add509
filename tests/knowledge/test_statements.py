"""What can be said, in Python, in text and in JSON; and what cannot, with a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anypag import Knowledge
from anypag.errors import KnowledgeError
from anypag.knowledge.statements import (
    SIGNS,
    Contexts,
    NoCausesWithinTiers,
    NotSelecting,
    PairStatement,
    SelectionBefore,
    Statement,
    Tiers,
)
from strategies import awkward_names

sides = st.none() | st.lists(awkward_names, min_size=1, max_size=3, unique=True).map(tuple)


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    kind = draw(st.sampled_from(["tiers", "within", "before", "selection", "contexts", *SIGNS]))
    if kind == "tiers":
        names = draw(st.lists(awkward_names, min_size=2, max_size=5, unique=True))
        cut = draw(st.integers(1, len(names) - 1))
        return Tiers((tuple(names[:cut]), tuple(names[cut:])))
    if kind == "within":
        return NoCausesWithinTiers()
    if kind == "before":
        return SelectionBefore(draw(st.integers(0, 99)))
    if kind == "contexts":
        names = draw(st.lists(awkward_names, min_size=1, max_size=4, unique=True))
        return Contexts(tuple(names), draw(st.sampled_from(["1", "12", "123"])))
    if kind == "selection":
        return NotSelecting(draw(sides))
    return PairStatement(kind, draw(sides), draw(sides))  # type: ignore[arg-type]


@given(st.lists(statements(), max_size=4))
def test_knowledge_is_read_back_from_its_text_and_from_json(said: list[Statement]) -> None:
    known = Knowledge.of(said)
    assert Knowledge.from_text(str(known)) == known
    assert Knowledge.from_dict(json.loads(json.dumps(known.to_dict()))) == known
    assert eval(repr(known), {"Knowledge": Knowledge}) == known


def test_the_public_names() -> None:
    known = Knowledge(
        tiers=[["a", "b"], ["c", "d"]],
        causes=[("a", "c")],
        not_causes=[("b", "d"), (["a", "b"], "*")],
        joined=[("a", "b")],
        not_joined=[("a", "d")],
        unconfounded=[("c", "d")],
        not_selecting=["d"],
        no_causes_within_tiers=True,
        selection_before_tier=2,
    )
    assert str(known).splitlines() == [
        "tiers: a b | c d",
        "within tiers: no causes",
        "selection before tier 2",
        "a ~> c",
        "b !~> d",
        "{a, b} !~> *",
        "a *-* b",
        "a !*-* d",
        "c !<-> d",
        "d !~> selection",
    ]
    assert len(known) == 10
    assert not Knowledge()
    both = Knowledge(causes=[("a", "b")]) + Knowledge(not_selecting="b")
    assert both == Knowledge.from_text("a ~> b\nb !~> selection")


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"tiers": "ab"}, "lists of names"),
        ({"tiers": [["a"]]}, "at least two tiers"),
        ({"tiers": [["a"], []]}, "none of them empty"),
        ({"tiers": [["a"], ["a"]]}, "'a' is in several"),
        ({"tiers": [["a"], [1]]}, "got 1"),
        ({"causes": ["ab"]}, r"causes\[0\] must be a pair"),
        ({"causes": [("a", "b", "c")]}, r"causes\[0\] must be a pair"),
        ({"not_causes": [("a", "b"), ("a", [])]}, r"not_causes\[1\] has an empty side"),
        ({"causes": [("a", 3)]}, "names"),
        ({"selection_before_tier": "2"}, "number of a tier"),
        ({"selection_before_tier": True}, "number of a tier"),
    ],
)
def test_what_cannot_be_said_in_python(said: dict[str, Any], sentence: str) -> None:
    with pytest.raises((KnowledgeError, TypeError), match=sentence if "3" not in str(said) else None):
        Knowledge(**said)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("a --> b", "`a ~> b` if a is a cause of b"),
        ("a -> b", "no direct effect"),
        ("a <-- b", "`b ~> a`"),
        ("a !--> b", "`a !~> b` if a is no cause of b at all"),
        ("a -/-> b", "`a !~> b`"),
        ("a <-> b", "neither is a cause of the other"),
        ("a --- b", "joined"),
        ("a => b", "no statement"),
        ("a ~> b ~> c", "one sign such as ~> is needed; got 2"),
        ("a b", "one sign such as ~> is needed; got none"),
        ("a ~>", "one side is empty"),
        ("~> a", "one side is empty"),
        ("a b ~> c", "in braces"),
        ("{a b ~> c", "in braces"),
        ("{} ~> c", "one side is empty"),
        ("{a, a} ~> c", "'a' is there twice"),
        ("tiers: a b", "at least two"),
        ("tiers: a | | b", "none empty"),
        ("tiers:", "at least two"),
        ("tiers: a | a", "'a' is there twice"),
        ("tiers: a | {b}", "double quotes"),
        ('tiers: a | "b', "does not end"),
        ('"a\\q" ~> b', "escape"),
        ("a ~> selection", "does not affect it"),
        ("selection ~> a", "a name was wanted"),
        ("selection before tier two", "with a number"),
        ("selection before tier", "with a number"),
        ("* ~> {*}", "a name was wanted"),
        ("within tiers: causes", "no statement"),
    ],
)
def test_a_line_that_is_no_statement_is_refused_with_its_number(line: str, sentence: str) -> None:
    with pytest.raises(KnowledgeError) as caught:
        Knowledge.from_text(f"# what we know\n\na ~> b   # surely\n{line}")
    assert "line 4" in str(caught.value)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a ~> x", "`a ~> x` (line 1): There is no column 'x'"),
        ("tiers: a | blod", "There is no column 'blod'; did you mean 'blood'?"),
        ("a ~> a", "two different variables"),
        ("tiers: a | b\ntiers: b | c", "given twice, by `tiers: a | b` (line 1) and `tiers: b | c` (line 2)"),
        ("within tiers: no causes", "there are none"),
        ("tiers: a | b\nselection before tier 3", "numbered 1 to 2"),
        ("tiers: a | b\nselection before tier 0", "numbered 1 to 2"),
    ],
)
def test_what_does_not_fit_the_columns_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(KnowledgeError) as caught:
        Knowledge.from_text(text).facts(["a", "b", "c", "blood"])
    assert sentence in str(caught.value)


def test_a_column_called_selection() -> None:
    names = ["a", "selection"]
    assert Knowledge.from_text('a ~> "selection"').facts(names).causes[0, 1]
    with pytest.raises(KnowledgeError, match="there is a column named 'selection'"):
        Knowledge.from_text("a !~> selection").facts(names)


def test_tiers_with_ties_and_columns_left_out() -> None:
    known = Knowledge.from_text("tiers: a b | c\nwithin tiers: no causes\nselection before tier 2").facts(list("abcd"))
    assert np.argwhere(known.not_causes).tolist() == [[0, 1], [1, 0], [2, 0], [2, 1]]
    assert known.not_selecting.tolist() == [False, False, True, False]


def test_stars() -> None:
    names = list("abc")
    assert Knowledge.from_text("a !~> *").facts(names).not_causes[0].tolist() == [False, True, True]
    assert Knowledge.from_text("* !~> {a, b}").facts(names).not_causes.sum() == 4
    assert Knowledge(not_causes=[("*", "a")]) == Knowledge.from_text("* !~> a")
    assert Knowledge.from_text("* !~> selection").facts(names).not_selecting.all()


def test_files(tmp_path: Path) -> None:
    known = Knowledge.from_text("tiers: a | b\na ~> b")
    for name, text in (("k.txt", str(known)), ("k.json", json.dumps(known.to_dict()))):
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert Knowledge.read(tmp_path / name) == known


@pytest.mark.parametrize(
    "plain",
    [
        [],
        {"statements": 3},
        {"statements": [3]},
        {"statements": [{"kind": "cause"}]},
        {"statements": [{"kind": "causes", "left": ["a"]}]},
        {"statements": [{"kind": "causes", "left": [], "right": ["a"]}]},
        {"statements": [{"kind": "causes", "left": [1], "right": ["a"]}]},
        {"statements": [{"kind": "tiers", "tiers": [["a"]]}]},
        {"statements": [{"kind": "tiers", "tiers": [["a"], ["a"]]}]},
        {"statements": [{"kind": "tiers", "tiers": "ab"}]},
        {"statements": [{"kind": "selection_before_tier", "tier": "2"}]},
        {"statements": [{"kind": "not_selecting"}]},
    ],
)
def test_broken_json(plain: Any) -> None:
    with pytest.raises(KnowledgeError):
        Knowledge.from_dict(plain)
