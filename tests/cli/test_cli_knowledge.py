"""`anypag learn --knowledge FILE --tiers "a b | c d"`."""

from __future__ import annotations

from pathlib import Path

from commands import anypag, write_chain


def test_knowledge_and_tiers(tmp_path: Path) -> None:
    data, known = write_chain(tmp_path / "d.csv"), tmp_path / "known.txt"
    known.write_text("a ~> d  # surely\n", encoding="utf-8")
    ended = anypag("learn", data, "--no-selection-bias", "--knowledge", known, "--tiers", "a b | c d", "--json")
    assert ended.code == 0
    outcomes = ended.document["result"]["meta"]["anypag"]["knowledge"]
    assert [(one["statement"], one["place"], one["became"]) for one in outcomes] == [
        ("tiers: a b | c d", "--tiers", "implied"),
        ("a ~> d", "line 1", "used"),
    ]
    text = anypag("learn", data, "--no-selection-bias", "--knowledge", known).out
    assert "known: a ~> d (line 1): used: a tail at a towards c" in text


def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path) -> None:
    data, known = write_chain(tmp_path / "d.csv"), tmp_path / "known.txt"
    for text, sentence in (
        ("a ~> b\nb => c", "known.txt: In line 2"),
        ("a ~> b\nb ~> a", "contradicts itself"),
        ("a ~> x", "There is no column 'x'"),
    ):
        known.write_text(text, encoding="utf-8")
        ended = anypag("learn", data, "--knowledge", known)
        assert ended.code == 1
        assert sentence in ended.err
        assert "Traceback" not in ended.err
    ended = anypag("learn", data, "--tiers", "a b")
    assert ended.code == 1
    assert "In --tiers: tiers are written" in ended.err
    assert anypag("learn", data, "--knowledge", tmp_path / "none.txt").code == 1


def test_certify_knowledge() -> None:
    ended = anypag("certify", "--nodes", "2", "--knowledge", "--json")
    assert ended.code == 0
    kinds = ended.document["kinds"]
    assert all(kind["right"] for kind in kinds)
    assert all(kind["missed_by_rules"] == 0 for kind in kinds if "tiers" in kind["kind"])
    assert "tiers, no selection" in anypag("certify", "--nodes", "2", "--knowledge").out
