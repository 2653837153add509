"""More than two hundred lines that are no statements: each is refused in a sentence that names its line."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from anypag import Knowledge
from anypag.errors import KnowledgeError
from anypag.knowledge.statements import SIGNS

GOOD = ["# waves", "tiers: a b | c d", "", "a ~> c", "{a, b} !~> d   # known", "d !~> selection", "* !~> a"]
SIDES = [("a", "b"), ("{a, b}", "c"), ("*", "a"), ('"a b"', "c")]
NO_SIGNS = ["->", "-->", "<--", "<-", "<->", "---", "--", "!-->", "!->", "!<--", "-/->", "o->", "o-o", "=>", "="]
NO_SIGNS += ["~~>", "~", "!~", "<~", "!>", ">", "causes", "~>>", "~>!"]
NO_SIGNS += ["*-o", "<-->", "!<-", "!~>!~>", "~ >", "! ~>", "~>, ~>"]
BROKEN_SIDES = ["", "{}", "{", "}", "{a", "a}", "a b", "a, b", "{a, a}", "{{a}}", "* *", "{*}", "|", "a | b"]
NO_TIERS = ["", "|", "a", "a b", "| a", "a |", "a | | b", "a | a", "a a | b", "{a} | b", "a | *", "a | {b, c}"]
NO_TIERS += ["selection | a", "a | selection", '"a\\x" | b', "a || b", 'a | "b']
OTHERS = [f"selection before tier {number}" for number in ("", "two", "-1", "1.5", "1 2", "²")]
OTHERS += ["selection before", "within tiers", "within tiers: causes", "within tiers: no", "tiers a | b", "tier: a | b"]
OTHERS += ["tiers : a | b", "knowledge", "a", '"', '"a" "b"', "~>", "!~>", "a !~>selection", "selection !~> a"]
OTHERS += ["selection ~> a", "a ~> selection", "a *-* selection", "a !<-> selection"]


def bad_lines() -> list[str]:
    lines = [f"{a} {sign} {b}" for sign, (a, b) in product(NO_SIGNS, SIDES)]
    lines += [f"{side} {sign} b" for side, sign in product(BROKEN_SIDES, SIGNS.values())]
    lines += [f"b {sign} {side}" for side, sign in product(BROKEN_SIDES, SIGNS.values())]
    lines += [f"tiers: {tiers}" for tiers in NO_TIERS]
    return list(dict.fromkeys([*lines, *OTHERS]))


def test_there_are_two_hundred() -> None:
    assert len(bad_lines()) >= 200


@pytest.mark.parametrize("number", [1, 3, 8])
def test_each_is_refused_with_its_line(number: int, tmp_path: Path) -> None:
    for bad in bad_lines():
        text = "\n".join([*GOOD[: number - 1], bad, *GOOD[number - 1 :]])
        with pytest.raises(KnowledgeError) as caught:
            Knowledge.from_text(text)
        sentence = str(caught.value)
        assert f"line {number}" in sentence, bad
        assert sentence.endswith("."), bad
        assert len(sentence) > 30, bad
    (tmp_path / "known.txt").write_text(text, encoding="utf-8")
    with pytest.raises(KnowledgeError, match=r"known\.txt: In line"):
        Knowledge.read(tmp_path / "known.txt")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="cannot be read: No such file"):
        Knowledge.read(tmp_path / "none.txt")
    (tmp_path / "latin.txt").write_bytes("größe ~> b".encode("latin-1"))
    with pytest.raises(KnowledgeError, match="no UTF-8"):
        Knowledge.read(tmp_path / "latin.txt")
    for text in ("{", "[" * 100_000, "[]"):
        (tmp_path / "k.json").write_text(text, encoding="utf-8")
        with pytest.raises(KnowledgeError, match=r"k\.json: "):
            Knowledge.read(tmp_path / "k.json")
