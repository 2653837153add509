"""Where things stand: boxes apart, lines from border to border, the same picture every time."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anypag as ap
from anypag.graphs.pag import PAG
from anypag.plot.geometry import LONGEST_LABEL, Box, Line, Picture, Point, picture, shortened, text_width
from anypag.plot.layout import boxes_on


@st.composite
def pags(draw: st.DrawFn) -> PAG:
    n = draw(st.integers(1, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    marks = np.triu(rng.integers(1, 4, (n, n)) * (rng.random((n, n)) < draw(st.floats(0, 0.4))), 1)
    back = np.triu(rng.integers(1, 4, (n, n)), 1) * (marks > 0)
    names = [f"{'x' * int(rng.integers(1, 30))}{i}" for i in range(n)]
    return PAG((marks + back.T).astype(np.uint8), names)


def overlap(one: Box, other: Box) -> bool:
    across, down = abs(one.centre.x - other.centre.x), abs(one.centre.y - other.centre.y)
    return across < (one.width + other.width) / 2 and down < (one.height + other.height) / 2


def outside_by(box: Box, point: Point) -> float:
    across = abs(point.x - box.centre.x) - box.width / 2
    down = abs(point.y - box.centre.y) - box.height / 2
    return math.hypot(max(across, 0), max(down, 0)) if max(across, down) > 0 else max(across, down)


def on_paper(drawn: Picture, point: Point) -> bool:
    return 0 <= point.x <= drawn.width and 0 <= point.y <= drawn.height


def _middle(line: Line) -> Point:
    return Point(
        (line.start.x + 2 * line.control.x + line.end.x) / 4, (line.start.y + 2 * line.control.y + line.end.y) / 4
    )


@settings(deadline=None, max_examples=40)
@given(pags())
def test_boxes_never_overlap_and_lines_end_at_their_borders(pag: PAG) -> None:
    drawn = picture(pag)
    assert [box.name for box in drawn.boxes] == list(pag.names)
    boxes = {box.name: box for box in drawn.boxes}
    assert not any(overlap(one, other) for i, one in enumerate(drawn.boxes) for other in drawn.boxes[:i])
    assert [line.edge for line in drawn.lines] == list(pag.edges())
    for line in drawn.lines:
        for name, tip in ((line.edge.a, line.tip_a), (line.edge.b, line.tip_b)):
            assert 0 < outside_by(boxes[name], tip.at) < 8
    middles = [_middle(line) for line in drawn.lines]
    assert all(on_paper(drawn, point) for point in [*(box.centre for box in drawn.boxes), *middles])


@settings(deadline=None, max_examples=15)
@given(pags())
def test_the_same_graph_gives_the_same_picture(pag: PAG) -> None:
    assert picture(pag) == picture(pag)


@pytest.mark.parametrize("n", [15, 40, 60])
def test_sparse_graphs_come_out_clear(n: int) -> None:
    drawn = picture(ap.simulate.random_system(n, 2.0, seed=n).true_pag())
    assert not any(overlap(one, other) for i, one in enumerate(drawn.boxes) for other in drawn.boxes[:i])
    assert drawn.width * drawn.height < len(drawn.boxes) * 45_000  # paper is not wasted either


def test_arrows_tend_to_point_down() -> None:
    drawn = picture(ap.PAG.from_string("A --> B; B --> C; A --> D; D --> C; C --> E"))
    height = {box.name: box.centre.y for box in drawn.boxes}
    assert height["A"] < height["C"] < height["E"]


def test_lines_over_boxes_as_slowly_counted() -> None:
    rng = np.random.default_rng(3)
    points, sizes = rng.uniform(0, 500, (12, 2)), rng.uniform(10, 90, (12, 2))
    starts, ends = rng.uniform(0, 500, (40, 2)), rng.uniform(0, 500, (40, 2))
    along = np.linspace(0, 1, 4001)[:, None]
    for start, end, found in zip(starts, ends, boxes_on(starts, ends, points, sizes, margin=0.0), strict=True):
        walk = start + along * (end - start)
        inside = [
            bool((np.abs(walk - point) < size / 2).all(axis=1).any()) for point, size in zip(points, sizes, strict=True)
        ]
        assert found.tolist() == inside


def test_long_names_are_cut_in_the_middle() -> None:
    name = "average systolic blood pressure, second visit"
    assert len(shortened(name)) == LONGEST_LABEL
    assert shortened(name).startswith("average systoli")
    assert shortened(name).endswith("d visit")
    assert shortened("two\nlines") == "two lines"


def test_wide_letters_take_more_room() -> None:
    assert text_width("iiii") < text_width("aaaa") < text_width("WWWW") < text_width("漢字漢字")
    assert text_width("é") == text_width("é")
