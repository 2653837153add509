"""Numbers beside edges: none over another, each beside its own line."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

import anypag as ap
from anypag.plot.geometry import SHARE_GAP, Line, Picture, picture
from anypag.plot.labels import HEIGHT, WIDTH, apart


def overlaps(lines: tuple[Line, ...]) -> int:
    """How many pairs of numbers are written over each other."""
    return sum(
        abs(one.number.x - other.number.x) < WIDTH and abs(one.number.y - other.number.y) < HEIGHT
        for one, other in combinations([line for line in lines if line.has_number], 2)
    )


def crossing(seed: int) -> Picture:
    return picture(ap.simulate.random_system(9, expected_neighbours=4.0, seed=seed).true_pag())


def placed(seed: int) -> tuple[Line, ...]:
    drawn = crossing(seed)
    return apart(drawn.lines, drawn.boxes)


@pytest.mark.parametrize("seed", range(8))
def test_no_number_is_written_over_another(seed: int) -> None:
    assert overlaps(placed(seed)) == 0


def test_without_care_some_would_be() -> None:
    assert sum(overlaps(crossing(seed).lines) for seed in range(8)) > 0


@pytest.mark.parametrize("seed", range(3))
def test_a_number_stays_beside_its_line(seed: int) -> None:
    for line in placed(seed):
        steps = [t / 50 for t in range(51)]
        curve = [
            [
                (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end
                for start, control, end in zip(line.start, line.control, line.end, strict=True)
            ]
            for t in steps
        ]
        assert min(math.dist(point, line.number) for point in curve) <= SHARE_GAP + 0.5


def test_a_line_by_itself_has_its_number_at_its_middle() -> None:
    drawn = picture(ap.PAG.from_string("A --> B"))
    (line,) = drawn.lines
    assert apart([line], drawn.boxes)[0].number == line.beside() == line.number


def covered(lines: tuple[Line, ...]) -> int:
    """How many numbers stand on a line that is not their own."""
    points = [[line.at(t / 100) for t in range(101)] for line in lines]
    return sum(
        any(abs(x - line.number.x) < WIDTH / 2 and abs(y - line.number.y) < HEIGHT / 2 for x, y in other)
        for k, line in enumerate(lines)
        for other in points[:k] + points[k + 1 :]
        if line.has_number
    )


def test_no_number_stands_on_another_line_and_most_lines_have_one() -> None:
    before, after = (
        sum(map(covered, how)) for how in zip(*((crossing(k).lines, placed(k)) for k in range(8)), strict=True)
    )
    assert before > 10 and after == 0
    shown = [line.has_number for seed in range(8) for line in placed(seed)]
    assert sum(shown) > 0.8 * len(shown)


@pytest.mark.parametrize("seed", range(8))
def test_no_number_is_hidden_by_a_variable(seed: int) -> None:
    for box in crossing(seed).boxes:
        for line in placed(seed):
            at, wide, high = line.number, (box.width + WIDTH) / 2, (box.height + HEIGHT) / 2
            assert not line.has_number or abs(at.x - box.centre.x) >= wide or abs(at.y - box.centre.y) >= high
