"""Large graphs: drawn plainly, or refused by a sentence; the report shows them all the same, one variable at a time."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.errors import GraphError
from anypag.graphs.pag import PAG
from anypag.plot import layout, svg, svg_if_possible, write_picture
from anypag.plot.geometry import picture, ring
from anypag.plot.layout import CAREFUL_EDGES, MOST_EDGES
from anypag.report import content, report_html
from anypag.results.result import Result


def dense(n: int, edges: int, seed: int = 0) -> PAG:
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(np.ones((n, n)), 1))
    marks = np.zeros((n, n), np.uint8)
    for i, j in pairs[rng.choice(len(pairs), edges, replace=False)]:
        marks[i, j], marks[j, i] = rng.integers(1, 4, size=2)
    return PAG(marks, [f"v{i}" for i in range(n)])


def content_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', page, re.S)
    assert found is not None
    parsed: dict[str, Any] = json.loads(found[1])
    return parsed


def early(n: int, max_r: int = 0, seed: int = 0) -> Result:
    """A result of which next to no edge has gone."""
    rng = np.random.default_rng(seed)
    return ap.learn(rng.normal(size=(300, n)) + 3 * rng.normal(size=(300, 1)), max_r=max_r)


def test_many_edges_are_laid_out_without_counting_crossings(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_time(*_: object) -> int:
        raise AssertionError("this takes time with the square of the edges")

    monkeypatch.setattr(layout, "_crossings", no_time)
    monkeypatch.setattr(layout, "cleared", no_time)
    drawn = picture(dense(60, CAREFUL_EDGES + 1))
    assert len(drawn.lines) == CAREFUL_EDGES + 1
    assert picture(dense(60, CAREFUL_EDGES + 1)) == drawn
    with pytest.raises(AssertionError):
        picture(dense(20, 40))


@pytest.mark.slow
def test_too_many_edges_are_refused_by_a_sentence(tmp_path: Path) -> None:
    pag = dense(100, MOST_EDGES + 1)
    with pytest.raises(GraphError, match=r"100 variables and 3,001 edges is too large for a picture.*report"):
        svg(pag)
    with pytest.raises(GraphError):
        write_picture(pag, tmp_path / "g.png")
    assert svg_if_possible(pag) is None
    assert list(tmp_path.iterdir()) == []
    assert svg(dense(100, MOST_EDGES)).count('class="edge') >= MOST_EDGES


def test_on_a_ring_no_box_lies_over_another_nor_over_a_line() -> None:
    boxes = ring(dense(90, 10)).boxes
    for one, other in pairwise((*boxes, boxes[0])):
        across, down = abs(one.centre.x - other.centre.x), abs(one.centre.y - other.centre.y)
        assert across >= (one.width + other.width) / 2 or down >= (one.height + other.height) / 2


def test_the_report_of_a_large_graph_says_what_it_leaves_out() -> None:
    result = early(80)
    assert len(result.pag.edges()) > MOST_EDGES
    shown = content_of(report_html(result))
    assert not shown["is_whole"] and "choose a variable" in shown["left_out"][0]
    assert len(shown["edges"]) == len(shown["frames"][-1]["edges"]) == len(result.pag.edges())
    assert shown["edges"][0]["why"] != ["", ""] or shown["edges"][0]["p"] is not None


def test_above_its_limits_a_report_has_counts_instead_of_edges_and_no_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    result = ap.learn(ap.simulate.random_system(12, 2.5, seed=5).linear_gaussian(500, seed=5), method="icd")
    whole = content_of(report_html(result))
    assert whole["is_whole"] and whole["left_out"] == []
    monkeypatch.setattr(content, "MOST_EDGES_OF_A_STEP", len(result.pag.edges()))
    monkeypatch.setattr(content, "MOST_REASONS", 3)
    shown = content_of(report_html(result))
    assert len(shown["left_out"]) == 2
    assert shown["frames"][0]["edges"] is None and shown["frames"][0]["count"] == result.history[0].info.n_edges
    assert len(shown["frames"][-1]["edges"]) == len(whole["frames"][-1]["edges"]) == len(result.pag.edges())
    assert [edge["summary"] for edge in shown["edges"]] == [edge["summary"] for edge in whole["edges"]]
    assert all(edge["why"] == ["", ""] for edge in shown["edges"])


@pytest.mark.slow
def test_a_large_picture_has_no_more_pixels_than_fit(tmp_path: Path) -> None:
    from matplotlib.image import imread

    write_picture(dense(250, 500), tmp_path / "g.png")
    height, width, _ = imread(tmp_path / "g.png").shape
    assert 15e6 < height * width < 21e6
