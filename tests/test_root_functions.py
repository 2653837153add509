"""Small functions of the root of the package, by one example each."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import anypag
from anypag.arrays import in_units, scaled_down
from anypag.errors import Option, Sentence, absent, matching, shortened
from anypag.markup import aligned, duration, paragraphs, plain, shown_share, table
from anypag.stored import ListOf, Maybe, Whole, form_of
from anypag.threads import in_turns, threads_for


def test_options_in_sentences() -> None:
    shown = [str(Option(*said)) for said in (("max_r",), ("missing", "drop"), ("selection_bias", False))]
    assert shown == ["'max_r'", 'missing="drop"', "selection_bias=False"]
    assert str(Option("gaps", ("-999", "NA"))) == 'gaps=["-999", "NA"]'
    choose = Sentence(f"Choose {Option('missing', 'drop')}.")
    assert str(choose) == 'Choose missing="drop".'
    assert Sentence("Or: ", choose).parts == ("Or: ", *choose.parts)


def test_names_in_messages() -> None:
    assert shortened("a very long text", 9) == "a ve…text"
    assert matching(["age", "trend_*"], ["age", "trend_1", "sex", "trend_2"]) == ["age", "trend_1", "trend_2"]
    assert absent("node", ["smokin"], ["smoking", "tar"]) == "There is no node 'smokin'; did you mean 'smoking'?"


def test_numbers_in_messages() -> None:
    assert [shown_share(share) for share in (0.475, 0.001, 0.999, 1)] == ["0.48", "<0.01", ">0.99", "1.00"]
    told = ["40 seconds", "2 minutes", "2 hours", "31,710 years"]
    assert [duration(seconds) for seconds in (43, 90, 7200, 1e12)] == told
    assert plain({"range": (1.0, float("nan"))}) == {"range": [1.0, None]}


def test_texts_are_escaped_and_indented() -> None:
    assert paragraphs(["A & B"]) == '<p style="margin:.2em 0 .2em 0em">A &amp; B</p>'
    assert paragraphs(["  <b>"]) == '<p style="margin:.2em 0 .2em 1em">&lt;b&gt;</p>'
    assert table(["a"], [["<"]]).count("&lt;") == 1


def test_columns_are_aligned() -> None:
    assert aligned([("a", "bc"), ("abc", "d")]) == ["a    bc", "abc  d"]


def test_forms_of_types() -> None:
    assert form_of(tuple[int, ...] | None) == Maybe(ListOf(Whole()))


def test_columns_are_scaled_without_rounding() -> None:
    scaled, exponent = in_units(np.array([[1e300, 3.0], [-1e299, 0.5]]))
    assert (np.abs(scaled) < 1).all() and np.ldexp(scaled, exponent)[0].tolist() == [1e300, 3.0]
    assert in_units(np.array([5e-324, -1e-323]))[0].tolist() == [0.25, -0.5]
    values = np.array([1e308, -3.0])
    assert scaled_down(values, np.array([1024], np.int32), out=values) is values and values[1] == -3 * 2.0**-1024


def test_arrays_are_scaled_by_one_rule_in_one_place() -> None:
    """Engines and cards scale by expressions of their own, and kernels call nothing outside their file."""
    root = Path(anypag.__file__).parent
    files = {str(path.relative_to(root)) for path in root.rglob("*.py") if "ldexp(1.0" in path.read_text()}
    assert files == {"arrays.py", "data/sources/engine_queries.py", "_kernels/gaussian.py", "ci/gpu.py"}


def test_work_is_shared_out_and_cut_into_turns() -> None:
    assert [threads_for(work, 16) for work in (500_000, 3_500_000)] == [1, 3]

    def count_down(left: np.ndarray, room: np.ndarray) -> bool:
        while left[0] and room[0] >= 0:
            left[0] -= 1
            room[0] -= 10_000_000
        return bool(left[0] == 0)

    left, looks = np.array([10]), list[int]()
    in_turns(count_down, left, look=lambda: looks.append(int(left[0])))
    assert looks == [6, 2]
