"""The table of the page: bars add up, and every button does what its finding advises."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anypag.data.files.read_table import read_table
from anypag.data.findings import Audit, Finding
from anypag.data.sources.protocol import Source
from anypag.errors import DataError
from anypag.run.engine import Search
from anypag.studio.columns_shown import columns_shown, findings_shown
from anypag.studio.settings import Settings
from studio_examples import write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    a, b, c = random.normal(size=(3, 200))
    columns = {
        "a": a,
        "same": np.ones(200),
        "also": np.zeros(200),
        "row_id": np.arange(200),
        "coded": np.where(np.arange(200) % 11 == 0, -999.0, b),
        "gappy": [None if k % 3 else float(value) for k, value in enumerate(c)],
        "sum": a + b,
        "b": b,
        "name": [f"person {k}" for k in range(200)],
        "curve": a**2 + 0.1 * c,
    }
    write(tmp_path / "t.csv", columns)
    return tmp_path / "t.csv"


STRICT = Settings().changed("choice", "missing", "error").changed("choice", "singular", "error")
"""Nothing is left out by itself."""


def audited(path: Path, settings: Settings) -> tuple[Source, Audit]:
    source = read_table(path, **settings.reading)
    try:
        audit = Search(source, settings.of_search(source.names)).problem.audit
    except DataError as error:
        assert isinstance(error.audit, Audit)
        return source, error.audit
    assert audit is not None
    return source, audit


def pressed_once(path: Path, settings: Settings) -> list[tuple[tuple[str, str], Settings]]:
    """By the finding, the settings after each of its buttons."""
    source, audit = audited(path, settings)
    shown = findings_shown(audit, source)
    return [(said(one), settings.changed(*button["change"])) for one in shown for button in one["buttons"]]


def said(finding: dict[str, Any]) -> tuple[str, str]:
    """What gaps cost is a warning about the same values once it was chosen what to do about them."""
    return finding["severity"], finding["message"]


def test_every_button_does_what_its_finding_advises(path: Path) -> None:
    start = STRICT
    found = pressed_once(path, start)
    mended = start.changed("off", ["same", "also", "name", "gappy"], True).changed("off", ["sum"], True)
    found_later = pressed_once(path, mended)
    assert len(found) >= 6 and len(found_later) >= 2
    for settings, pressed in ((start, found), (mended, found_later)):
        for before, after in pressed:
            assert after != settings
            source, audit = audited(path, after)
            assert before not in [said(one) for one in findings_shown(audit, source)], before


def test_what_cannot_be_used_goes_by_one_button(path: Path) -> None:
    source, audit = audited(path, STRICT)
    first = findings_shown(audit, source)[0]
    assert first["buttons"][0]["label"].startswith("Switch all ")
    assert set(first["buttons"][0]["change"][1]) >= {"same", "also", "name"}


def test_two_findings_about_one_column_are_no_several_columns(path: Path) -> None:
    source, audit = audited(path, STRICT)
    twice = [Finding("error", problem, ("same",), f"It is {problem}.", "Drop it.") for problem in ("constant", "text")]
    shown = findings_shown(replace(audit, findings=tuple(twice)), source)
    assert [one["problem"] for one in shown] == ["constant", "text"]


def test_a_table_is_mended_by_buttons_alone(path: Path) -> None:
    settings = STRICT
    for _ in range(12):
        source, audit = audited(path, settings)
        errors = [one for one in findings_shown(audit, source) if one["severity"] == "error"]
        if not errors:
            break
        assert errors[0]["buttons"], errors[0]["message"]
        settings = settings.changed(*errors[0]["buttons"][0]["change"])
    assert not errors and len(settings.columns(source.names)) >= 3


def test_columns_that_are_left_out_by_themselves_are_marked(path: Path) -> None:
    source, audit = audited(path, Settings())
    marked = {one["name"] for one in columns_shown(source, Settings(), audit) if one["is_left_out"]}
    assert marked == set(audit.left_out) and {"same", "also", "row_id"} <= marked


def test_no_remedy_speaks_python(path: Path) -> None:
    source, audit = audited(path, Settings())
    for one in findings_shown(audit, source):
        assert "=" not in one["remedy"] and "_" not in one["remedy"] and "--" not in one["remedy"]


def test_bars_add_up_to_the_rows_with_a_value(path: Path) -> None:
    source = read_table(path)
    for one in columns_shown(source, Settings(), None):
        if one.get("n_levels", 0) <= 12:
            assert sum(one["bars"]) == 200 - one["gaps"], one["name"]
    assert [one["gaps"] for one in columns_shown(source, Settings(), None) if one["name"] == "gappy"] == [133]
