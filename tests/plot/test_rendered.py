"""The SVG as programs draw it that know no style sheets: a PNG of it has the colours and shapes it should have."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.plot import svg
from anypag.plot.colours import LIGHT
from anypag.plot.geometry import Point, kind_of, picture

GRAPH = ap.PAG.from_string("smoking o-> tar; tar --> cancer; cough <-> asthma; tar --> cough; sick --- seen")


def by_cairosvg(text: str) -> bytes:
    cairosvg = pytest.importorskip("cairosvg", reason="cairosvg is not installed")
    png: bytes = cairosvg.svg2png(bytestring=text.encode())
    return png


def by_rsvg(text: str) -> bytes:
    program = shutil.which("rsvg-convert")
    if program is None:
        pytest.skip("no rsvg-convert here: Debian's librsvg2-bin has it")
    return subprocess.run([program], input=text.encode(), capture_output=True, check=True).stdout


def pixels(png: bytes) -> Any:
    """(height, width, 3) colours from 0 to 255, on white."""
    from matplotlib.image import imread

    read = np.asarray(imread(io.BytesIO(png)), np.float64)
    alpha = read[..., 3:] if read.shape[2] == 4 else 1.0
    return np.rint(255 * (read[..., :3] * alpha + 1 - alpha)).astype(int)


def is_near(shot: Any, place: Point, colour: str, reach: int = 2, most: int = 60) -> bool:
    """Is a pixel around a place of nearly this colour?"""
    wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
    x, y = round(place.x), round(place.y)
    around = shot[max(0, y - reach) : y + reach + 1, max(0, x - reach) : x + reach + 1]
    return bool((np.abs(around - wanted).sum(axis=2) <= most).any())


@pytest.mark.parametrize("render", [by_cairosvg, by_rsvg])
def test_lines_boxes_and_paper_have_their_colours(render: Callable[[str], bytes]) -> None:
    shot, drawn = pixels(render(svg(GRAPH, legend=False))), picture(GRAPH)
    assert shot.shape[:2] == (round(drawn.height), round(drawn.width))
    for line in drawn.lines:
        colour = getattr(LIGHT, kind_of(line.edge.mark_a, line.edge.mark_b))
        assert is_near(shot, line.at(0.5), colour), line.edge
    for box in drawn.boxes:
        left = Point(box.centre.x - box.width / 2 + 5, box.centre.y)
        assert is_near(shot, left, LIGHT.box, reach=0, most=12), box.name
    assert is_near(shot, Point(2, 2), LIGHT.paper, reach=0, most=0)
    assert (shot.sum(axis=2) < 3 * 90).mean() < 0.05, "black shapes: a style was not understood"


@pytest.mark.parametrize("render", [by_cairosvg, by_rsvg])
def test_the_names_are_written(render: Callable[[str], bytes]) -> None:
    text = svg(GRAPH, legend=False)
    without = re.sub(r"(<text[^>]*>)[^<]*", r"\1", text)
    dark = [int((pixels(render(shown)).sum(axis=2) < 3 * 110).sum()) for shown in (text, without)]
    assert dark[0] > dark[1] + 200


def test_colours_stand_in_attributes_and_no_style_is_needed() -> None:
    text = svg(GRAPH)
    assert "var(" not in text and "currentColor" not in text
    outside = re.sub("<style>.*?</style>", "", text, flags=re.S)
    assert {LIGHT.cause, LIGHT.confounded, LIGHT.selected, LIGHT.open} <= set(re.findall("#[0-9a-f]{6}", outside))
    style = re.findall("<style>(.*?)</style>", text, flags=re.S)[0]
    assert style.startswith("@media screen{")
