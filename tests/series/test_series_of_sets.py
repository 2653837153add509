"""Time series of several data sets: contexts without lags, what experiments act on, and ICD over shifts with them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from certify.series import System, random_systems, systems, tally_of, window_of, with_contexts

import anypag as ap
from anypag.data.sources.pooled import Pooled
from anypag.errors import ParameterError
from anypag.series.series_result import SeriesResult


def process(n: int, seed: int, shift: float = 0.0) -> dict[str, Any]:
    """x is a cause of y one step later; `shift` moves x at all times."""
    x, y = np.random.default_rng(seed).normal(size=(2, n))
    x += shift
    for t in range(1, n):
        x[t] += 0.5 * x[t - 1]
        y[t] += 0.4 * y[t - 1] + 0.7 * x[t - 1]
    return {"x": x, "y": y}


def pool(**more: Any) -> Pooled:
    sets = {"observed": process(300, 0), "drug": process(300, 1, 1.0), "heat": process(200, 2, -1.0)}
    return ap.pooled(sets, **more)


TRUE = {("x(t-1)", "x"), ("x(t-1)", "y"), ("y(t-1)", "y"), ("drug", "x"), ("heat", "x")}


@pytest.fixture(scope="module")
def by_tests() -> SeriesResult:
    return ap.learn_series(pool(), 2, method="icd")


@pytest.fixture(scope="module")
def sampled() -> SeriesResult:
    return ap.learn_series(pool(), 1, method="bayes", effort=0.3)


@pytest.mark.parametrize("found", ["by_tests", "sampled"])
def test_experiments_have_one_edge_without_a_lag(found: str, request: pytest.FixtureRequest) -> None:
    result: SeriesResult = request.getfixturevalue(found)
    assert {edge.pair for edge in result.edges} == TRUE
    assert {"drug --> x", "heat --> x"} <= {str(edge) for edge in result.edges}
    assert result.pag.edge("drug", "x(t-1)") == result.pag.edge("drug", "x")._replace(b="x(t-1)")  # type: ignore[union-attr]
    told = str(result)
    assert "drug acts directly on x" in told and "drug <-> heat" not in told and "selection_bias=True" not in told
    table = result.targets()
    assert table["variable"] == ["x", "y"] * 2 and table["directly"] == [True, False] * 2
    assert [(one.a, one.b) for one in result.summary[:2]] == [("drug", "x"), ("heat", "x")]
    assert "drug" in str(result.explain("drug", "x"))


def test_the_tails_of_the_past_follow_from_experiments(by_tests: SeriesResult) -> None:
    """Without them x(t-1) o-> y stays open in a window of one lag."""
    found = ap.learn_series(pool(), 1, method="icd")
    alone = ap.learn_series(process(300, 0), 1, method="icd")
    assert "x(t-1) --> y" in str(found) and "x(t-1) o-> y" in str(alone)


def test_files_pictures_and_resamples_keep_contexts(by_tests: SeriesResult, tmp_path: Path) -> None:
    for ending in (".json", ".html", ".svg", ".csv"):
        by_tests.save(tmp_path / f"found{ending}")
    read = ap.read_series(tmp_path / "found.json")
    assert str(read) == str(by_tests) and read.edges == by_tests.edges and read.targets() == by_tests.targets()
    assert read.window.contexts == ("drug", "heat")
    page = (tmp_path / "found.html").read_text()
    assert "drug acts directly on x" in page and "at all times of its data set" in page
    assert by_tests.svg().count('class="node"') == 4 and by_tests.svg("window").count('class="node"') == 8
    assert by_tests.svg().count('rx="0"') == 2 == by_tests.svg("window").count('rx="0"')
    again = by_tests.bootstrap(3)
    assert all(edge.again is not None for edge in again.edges) and "drug acts directly on x (1.00)" in str(again)


def test_effects_of_experiments_compare_their_sets(sampled: SeriesResult) -> None:
    effect = sampled.effect("drug", "x")
    assert "'observed', 'drug'" in str(effect)
    with pytest.raises(ParameterError, match="no lags"):
        sampled.effect("drug", "x", lag=1)
    with pytest.raises(ParameterError, match="acts at all times"):
        sampled.response("drug", "x")


def test_known_targets_and_one_column_of_contexts() -> None:
    known = ap.learn_series(pool(targets={"drug": ["y"]}), 1, method="icd")
    assert "drug --> y" in {str(edge) for edge in known.edges}
    one = ap.learn_series(pool(contexts="one"), 1, method="icd")
    assert "context --> x" in {str(edge) for edge in one.edges}
    first = ap.learn_series(pool(assumptions="1"), 1, method="icd")
    assert "drug o-> x" in {str(edge) for edge in first.edges}


@pytest.mark.parametrize(("max_lag", "contexts"), [(1, 1), (2, 1), (1, 2)])
def test_small_systems_with_contexts_are_learned_without_an_error(max_lag: int, contexts: int) -> None:
    some = with_contexts(islice(systems(2, 1), 0, None, 37), contexts)
    tally = tally_of("some", window_of(2, max_lag, contexts), some)
    assert tally.is_right and tally.systems == 42 and tally.settled > 30


def test_three_processes_with_contexts_are_learned_without_an_error() -> None:
    some = with_contexts(random_systems(3, 1, 2, 8, seed=5), 1)
    assert tally_of("some", window_of(3, 2, 1), some).is_right


def test_an_edge_of_a_context_at_the_border_of_the_window_is_not_told() -> None:
    """z --> a --> b one step later: at the earliest time of the window nothing separates z from b."""
    from certify.series import searched, seen_in

    window, system = window_of(2, 1, 1), System(2, 0, ((0, 1, 1), (0, 0, 1), (1, 1, 1)), 1, ((0, 0),))
    mag = seen_in(system, window).mag
    assert mag.edge("z", "b(t-1)") is not None and mag.edge("z", "b") is None
    found = searched(window, mag).pag
    assert str(found.edge("z", "a")) == "z --> a" and found.edge("z", "b") is None is found.edge("z", "b(t-1)")


def test_experiments_that_move_a_process_are_no_misfit(sampled: SeriesResult) -> None:
    """Contexts are given, not drawn: rows of two experiments at a time do not exist."""
    assert sampled.result.misfit is not None and sampled.result.misfit.share == 0
