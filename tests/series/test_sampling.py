"""The posterior over shifts: what its chains change, how their graphs are read, and runs that go on from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.choices import Choices
from anypag.graphs.marks import Mark
from anypag.search.by_scores.chain import Walker, advance, marks_of
from anypag.search.problem import Problem
from anypag.search.progress import Progress
from anypag.series.lagged import lagged
from anypag.series.learn import SeriesSearch
from anypag.series.sampling import ShiftedState
from naive_series import spread_by_hand


def three_processes(n: int = 300, seed: int = 0) -> dict[str, Any]:
    """c is a cause of a two steps later, a of b at the same time."""
    a, b, c = np.random.default_rng(seed).normal(size=(3, n))
    for t in range(2, n):
        c[t] += 0.6 * c[t - 1]
        a[t] += 0.3 * a[t - 1] + 0.6 * c[t - 2]
        b[t] += 0.3 * b[t - 1] + 0.6 * a[t]
    return {"a": a, "b": b, "c": c}


def search_of(data: Any, max_lag: int = 2, **chosen: Any) -> SeriesSearch:
    return SeriesSearch(lagged(data, max_lag), Choices(**{"selection_bias": False, **chosen}))


@pytest.fixture(scope="module")
def cooling() -> tuple[ShiftedState, Problem]:
    """A state whose chains stand at their start."""
    search = search_of(three_processes()).search
    for state, _ in search.steps():
        if isinstance(state, ShiftedState) and state.phase == "cooling":
            return state, search.problem
    raise AssertionError("no chain was cooled")


def in_order_of_window(state: ShiftedState, marks: Any) -> Any:
    place = np.argsort(state.nodes.order)
    return marks[np.ix_(place, place)]


def test_a_chain_changes_latest_copies_alone(cooling: tuple[ShiftedState, Problem]) -> None:
    state, problem = cooling
    landscape = state.landscape(problem)
    first = Walker.at(state.starts[0], landscape, 1)
    walked = advance(first, landscape, 5 * landscape.round, 3.0)
    before, after = (in_order_of_window(state, marks_of(walker.graph)) for walker in (first, walked))
    latest = state.window.is_latest
    assert walked.taken and (before != after)[latest].any() and not (before != after)[~latest].any()
    past = ~latest & ~np.eye(len(before), dtype=np.bool_)
    assert (after[past] != Mark.NONE).all()
    assert walked.score == landscape.score_of(walked.graph)


def test_an_edge_is_priced_once(cooling: tuple[ShiftedState, Problem]) -> None:
    """The prior of a graph is that of its latest copies: the edges of the past cost nothing."""
    state, problem = cooling
    empty = marks_of(state.start_at(np.zeros((state.n, state.n), np.uint8)))
    n_fixed = int((empty == Mark.ARROW).sum())
    terms, plain = state.landscape(problem).terms, ShiftedState.__base__.landscape(state, problem).terms  # type: ignore[union-attr]
    assert n_fixed == 6 * 5 // 2  # three processes at two lags
    for k in range(4):
        assert terms[:2, n_fixed + k].tolist() == plain[:2, k].tolist()
        assert terms[2:, k].tolist() == plain[2:, k].tolist()


def test_a_graph_is_read_at_all_its_copies(cooling: tuple[ShiftedState, Problem]) -> None:
    state, problem = cooling
    landscape = state.landscape(problem)
    graph = advance(Walker.at(state.starts[0], landscape, 1), landscape, 500, 2.0).graph
    own = in_order_of_window(state, marks_of(graph))
    read = in_order_of_window(state, state.diagram_of(graph))
    assert read.tolist() == spread_by_hand(3, 2, own.tolist(), 0)
    for_effects = in_order_of_window(state, state.diagram_for_effects(state.diagram_of(graph)))
    assert np.array_equal(for_effects[state.window.is_latest], read[state.window.is_latest])
    assert np.array_equal(for_effects[read != 0], read[read != 0])
    lags = state.window.lags
    apart = (lags[:, None] != lags[None, :]) & ~state.window.is_latest
    assert (for_effects[apart] != Mark.NONE).all()


def test_tables_that_shifts_do_not_fit_are_searched_as_windows() -> None:
    data = three_processes()
    assert search_of(data).search.algorithm.state is ShiftedState
    levels = {name: (values > 0).astype(int) for name, values in data.items()}
    for other in (
        search_of(data, selection_bias=True),
        search_of(data, knowledge=ap.Knowledge.from_text("b !~> a")),
        search_of(levels, 1),
        search_of(data, method="bayes"),
    ):
        assert other.search.algorithm.state is not ShiftedState


@pytest.mark.parametrize(("method", "stop_at"), [("auto", 2), ("auto", 20), ("icd", 2)])
def test_a_series_goes_on_from_its_checkpoint(method: str, stop_at: int, tmp_path: Path) -> None:
    """Stopped after some steps, in the tests and among the samples; the end is the same to the bit."""
    data, file = three_processes(), tmp_path / "run.ckpt"
    less: Any = {"effort": 0.3} if method == "auto" else {}
    whole = ap.learn_series(data, 2, method=method, **less)
    n_steps, last = 0, ("", -1)

    def stop(progress: Progress) -> None:
        nonlocal n_steps, last
        now = (progress.phase, progress.r)
        n_steps, last = n_steps + (now != last or method == "auto"), now
        if n_steps > stop_at:
            raise KeyboardInterrupt

    part = ap.learn_series(data, 2, method=method, **less, checkpoint=file, progress=stop)
    assert part.result.stopped == "interrupt"
    again = ap.learn_series(data, 2, method=method, **less, checkpoint=file, resume=True)
    assert again.complete and again.edges == whole.edges and len(again.result.history) == len(whole.result.history)
