"""Numbers beside edges: none over another, each beside its own line."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

import anypag as ap
from anypag.plot.geometry import SHARE_GAP, Line, picture
from anypag.plot.labels import HEIGHT, WIDTH, apart


def overlaps(lines: tuple[Line, ...]) -> int:
    """How many pairs of numbers are written over each other."""
    return sum(
        abs(one.number.x - other.number.x) < WIDTH and abs(one.number.y - other.number.y) < HEIGHT
        for one, other in combinations([line for line in lines if line.has_number], 2)
    )


def crossing(seed: int) -> tuple[Line, ...]:
    return picture(ap.simulate.random_system(9, expected_neighbours=4.0, seed=seed).true_pag()).lines


@pytest.mark.parametrize("seed", range(8))
def test_no_number_is_written_over_another(seed: int) -> None:
    assert overlaps(apart(crossing(seed))) == 0


def test_without_care_some_would_be() -> None:
    assert sum(overlaps(crossing(seed)) for seed in range(8)) > 0


@pytest.mark.parametrize("seed", range(3))
def test_a_number_stays_beside_its_line(seed: int) -> None:
    for line in apart(crossing(seed)):
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
    (line,) = picture(ap.PAG.from_string("A --> B")).lines
    assert apart([line])[0].number == line.beside() == line.number


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
    before, after = (sum(covered(how(crossing(seed))) for seed in range(8)) for how in (tuple, apart))
    assert before > 10 and after == 0
    placed = [line.has_number for seed in range(8) for line in apart(crossing(seed))]
    assert sum(placed) > 0.8 * len(placed)
