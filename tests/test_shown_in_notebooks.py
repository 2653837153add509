"""What notebooks and terminals show of the things people hold: short, whole, and safe with any name."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import anypag as ap
from anypag.search.state import State

HOSTILE = "<img src=x onerror=alert(1)>"
DATA = dict(zip([HOSTILE, "b", "c", "d"], np.random.default_rng(0).normal(size=(4, 80)), strict=True))


@pytest.fixture(scope="module")
def result() -> ap.Result:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 300))
    c = a + b + rng.normal(size=300)
    return ap.learn({HOSTILE: a, "b": b, "c": c, "d": c + rng.normal(size=300)}, method="icd")


def last_state(result: ap.Result) -> State:
    return result.state


def test_reprs_are_one_short_line(result: ap.Result) -> None:
    stability = ap.bootstrap(DATA, method="icd", n=2, seed=0)
    shown = [result, result.state, result.explain("b", "c"), result.explain("b", HOSTILE), result.audit, stability]
    large = ap.PAG(np.zeros((200, 200)))
    for thing in [*shown, large, ap.PAG(np.zeros((31, 31)))]:
        text = repr(thing)
        assert "\n" not in text and len(text) < 200, text
    assert repr(large) == "<PAG of 200 nodes and 0 edges>"
    assert repr(ap.PAG.from_string("A o-> B")) == "PAG('A o-> B')"
    assert repr(result.explain("b", "c")) == "<Explanation: b o-> c>"


def test_html_is_well_formed_and_names_stay_text(result: ap.Result) -> None:
    stability = ap.bootstrap(DATA, method="icd", n=2, seed=0)
    for thing in (result, result.explain("b", HOSTILE), result.audit, stability):
        text = thing._repr_html_()  # type: ignore[union-attr]
        assert "<img" not in text
        ET.fromstring(text)
    assert result.summary() in result._repr_html_()
    assert "<svg" in result._repr_html_()


def test_without_igraph_a_result_is_shown_as_text(result: ap.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "igraph", None)
    assert result._repr_svg_() is None
    assert "<pre>" in result._repr_html_() and "b o-&gt; c" in result._repr_html_()


def test_a_state_shows_its_graph(result: ap.Result) -> None:
    assert last_state(result)._repr_svg_() == result.state.pag._repr_svg_()


def test_an_audit_lists_its_findings_and_what_columns_are() -> None:
    found = ap.audit({"a": [1.0, 2.5, 0.1, 4.0, 1.1] * 5, "b": [7.0] * 25}, max_r=1, singular="error")
    assert repr(found).startswith("<Audit: 1 error, ")
    assert "is constant" in found._repr_html_()
    assert "numbers with fractions" in found._repr_html_()


def test_plot_gives_axes_and_takes_those_it_is_given(result: ap.Result) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    axes = result.plot()
    assert axes.figure.number in pyplot.get_fignums()
    assert [text.get_text() for text in axes.texts][1:4] == ["b", "c", "d"]
    _, given = pyplot.subplots()
    assert result.pag.plot(given) is given
    assert len(given.texts) == len(axes.texts)
    pyplot.close("all")
