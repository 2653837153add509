"""`anypag learn --knowledge FILE --tiers "a b | c d"`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from commands import anypag, write_chain


def test_knowledge_and_tiers(tmp_path: Path) -> None:
    data, known = write_chain(tmp_path / "d.csv"), tmp_path / "known.txt"
    known.write_text("a ~> d  # surely\n", encoding="utf-8")
    ended = anypag(
        "learn", "--method", "icd", data, "--no-selection-bias", "--knowledge", known, "--tiers", "a b | c d", "--json"
    )
    assert ended.code == 0
    outcomes = ended.document["result"]["meta"]["anypag"]["knowledge"]
    assert [(one["statement"], one["place"], one["became"]) for one in outcomes] == [
        ("tiers: a b | c d", "--tiers", "implied"),
        ("a ~> d", "line 1", "used"),
    ]
    text = anypag("learn", "--method", "icd", data, "--no-selection-bias", "--knowledge", known).out
    assert "known: a ~> d (line 1): used: a tail at a towards c" in text


def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path) -> None:
    data, known = write_chain(tmp_path / "d.csv"), tmp_path / "known.txt"
    for text, sentence in (
        ("a ~> b\nb => c", "known.txt: In line 2"),
        ("a ~> b\nb ~> a", "contradicts itself"),
        ("a ~> x", "There is no column 'x'"),
    ):
        known.write_text(text, encoding="utf-8")
        ended = anypag("learn", "--method", "icd", data, "--knowledge", known)
        assert ended.code == 1
        assert sentence in ended.err
        assert "Traceback" not in ended.err
    ended = anypag("learn", "--method", "icd", data, "--tiers", "a b")
    assert ended.code == 1
    assert "In --tiers: tiers are written" in ended.err
    assert anypag("learn", "--method", "icd", data, "--knowledge", tmp_path / "none.txt").code == 1


def test_a_tail_against_the_order_of_time_speaks_of_the_sample(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    early, late = random.normal(size=(2, 6000))
    chosen = early + late + 0.5 * random.normal(size=6000) > 0.5  # both decide who is in the table
    c, d = early + random.normal(size=6000), late + random.normal(size=6000)
    rows = [f"{w},{x},{y},{z}" for w, x, y, z in np.column_stack([early, late, c, d])[chosen].tolist()]
    data = tmp_path / "selected.csv"
    data.write_text("\n".join(["early,late,early c,late d", *rows]) + "\n")
    tiers = 'early "early c" | late "late d"'
    plain, told = (
        anypag("learn", "--method", "icd", data).out,
        anypag("learn", "--method", "icd", data, "--tiers", tiers).out,
    )
    assert "an order in time (--tiers, --knowledge), can decide ends marked with a circle" in plain
    assert "early o-o late: early may be a cause of late, or they share" in told
    assert "may still decide who is in the sample; then all marks at it are tails." in told
    assert "are tails." not in anypag("learn", "--method", "icd", data, "--tiers", tiers, "--no-selection-bias").out


def test_names_with_blanks_stand_in_quotes_and_the_error_says_so(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text(write_chain(data).read_text().replace("a,b,c,d", "a,b,bmi (kg/m²),d"))
    refused = anypag("learn", "--method", "icd", data, "--tiers", "a b | bmi (kg/m²) | d")
    assert refused.code != 0
    assert 'A name with blanks must be in double quotes: "bmi (kg/m²)".' in refused.err
    assert anypag("learn", "--method", "icd", data, "--tiers", 'a b | "bmi (kg/m²)" | d').code == 0
    assert "double quotes" not in anypag("learn", "--method", "icd", data, "--tiers", "a b | x | d").err
