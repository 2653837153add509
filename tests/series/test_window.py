from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anypag.errors import DataError, KnowledgeError, ParameterError
from anypag.graphs.marks import Mark
from anypag.knowledge.knowledge import Knowledge
from anypag.series.shifts import same_at_copies
from anypag.series.window import Window, known_of
from naive_series import copies_by_hand, same_by_hand, spread_by_hand

Size = tuple[int, int, int]
SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 2))


def window_of(k: int, max_lag: int, contexts: int = 0) -> Window:
    return Window(tuple("abc"[:k]), max_lag, tuple("zy"[:contexts]))


@given(SIZES, st.data())
def test_copies_are_all_pairs_with_the_same_distance(size: Size, data: st.DataObject) -> None:
    k, max_lag, contexts = size
    window = window_of(*size)
    a, b = data.draw(st.lists(st.integers(0, len(window) - 1), min_size=2, max_size=2, unique=True))
    found = {(window.names.index(x), window.names.index(y)) for x, y in window.copies(window.names[a], window.names[b])}
    assert found == copies_by_hand(k, max_lag, a, b, contexts)


def random_marks(window: Window, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Marks on a skeleton that is the same at all copies."""
    random = np.random.default_rng(seed)
    n = len(window)
    half = np.triu(random.integers(0, 2, (n, n)), 1)
    there = window.spread((half + half.T).astype(np.uint8))
    return np.where(there > 0, random.integers(1, 4, (n, n)), 0).astype(np.uint8)


@given(SIZES, st.integers(0, 10_000))
def test_marks_are_spread_as_by_hand(size: Size, seed: int) -> None:
    window = window_of(*size)
    marks = random_marks(window, seed)
    assert window.spread(marks).tolist() == spread_by_hand(*size[:2], marks.tolist(), size[2])
    assert np.array_equal(window.spread(window.spread(marks)), window.spread(marks))


@given(SIZES, st.integers(0, 10_000))
def test_marks_of_copies_are_joined_as_by_hand(size: Size, seed: int) -> None:
    window = window_of(*size)
    marks = random_marks(window, seed)
    found, disputed = same_at_copies(window, marks)
    by_hand, against = same_by_hand(*size[:2], marks.tolist(), size[2])
    assert found.tolist() == by_hand
    assert {(int(i), int(j)) for i, j in np.argwhere(disputed)} == against


def test_time_gives_an_arrowhead_at_the_later_node() -> None:
    window = window_of(2, 1)
    marks = window.in_time()
    assert marks[2, 1] == Mark.ARROW and marks[1, 2] == Mark.CIRCLE and marks[0, 1] == Mark.CIRCLE and not marks[0, 0]


def test_the_latest_copies_are_each_pair_once() -> None:
    window = window_of(2, 2)
    x, y = window.latest
    assert len(x) == 2 * 2 * 2 + 1 and (y < window.k).all()
    assert len({frozenset(pair) for pair in zip(x.tolist(), y.tolist(), strict=True)}) == len(x)
    x, y = window_of(2, 2, 2).latest
    assert len(x) == 2 * 2 * 2 + 1 + 2 * 2 + 1 and (6, 7) in zip(x.tolist(), y.tolist(), strict=True)


def test_a_node_is_found_by_its_name() -> None:
    window = Window(("x (t)", "y"), 3)
    assert [window.place(name) for name in window.names] == [
        (name, lag) for lag in range(4) for name in window.processes
    ]
    with pytest.raises(ParameterError, match="no process 'z'"):
        window.place("z")
    with pytest.raises(ParameterError, match="0 to 3"):
        window.place("y(t-4)")
    assert Window(("x",), 1, ("drug",)).place("drug") == ("drug", 0)
    with pytest.raises(ParameterError, match="has no lags"):
        Window(("x",), 1, ("drug",)).place("drug(t-1)")
    with pytest.raises(DataError, match="Rename"):
        Window(("x", "x(t-1)"), 1)


def lines_of(text: str, max_lag: int = 1) -> list[str]:
    return str(known_of(Window(("x", "y"), max_lag), Knowledge.from_text(text))).splitlines()[1:]


def test_knowledge_with_lags_holds_at_all_times() -> None:
    assert lines_of("x(t-1) ~> y", 2) == ["x(t-1) ~> y", "x(t-2) ~> y(t-1)"]
    assert lines_of("y !*-* x(t-1)") == ["y !*-* x(t-1)"]


def test_bare_names_deny_at_every_lag() -> None:
    assert lines_of("y !~> x") == ["y !~> x", "y(t-1) !~> x", "y(t-1) !~> x(t-1)"]
    assert lines_of("tiers: x | y") == lines_of("y !~> x")
    assert lines_of("x !~> selection") == ["{x, x(t-1)} !~> selection"]
    assert lines_of("x !~> x", 2) == ["x(t-1) !~> x", "x(t-2) !~> x", "x(t-2) !~> x(t-1)"]
    assert lines_of("* !~> y") == lines_of("x !~> y")


def test_names_in_what_is_not_selected_are_looked_up() -> None:
    assert lines_of("x(t-1) !~> selection", 2) == ["{x, x(t-1), x(t-2)} !~> selection"]
    with pytest.raises(ParameterError, match="no process 'z'"):
        lines_of("z !~> selection")


def test_what_is_known_of_contexts_holds_at_all_times() -> None:
    window = Window(("x", "y"), 1, ("drug",))
    said = str(known_of(window, Knowledge.from_text("contexts 12: drug\ndrug ~> x\ndrug !*-* y"))).splitlines()
    assert said[0] == "tiers: drug | x(t-1) y(t-1) | x y" and said[1:] == [
        *("contexts 12: drug", "drug ~> x", "drug ~> x(t-1)", "drug !*-* y", "drug !*-* y(t-1)")
    ]
    with pytest.raises(KnowledgeError, match="cannot be said of a time series"):
        known_of(window, Knowledge(contexts=["dose"]))


def test_bare_names_must_say_how_long_a_cause_takes() -> None:
    with pytest.raises(KnowledgeError, match=r"x\(t-1\)"):
        lines_of("x ~> y")
    with pytest.raises(KnowledgeError, match="each time is a tier"):
        lines_of("tiers: x | y\nwithin tiers: no causes")
