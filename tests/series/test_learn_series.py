from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.errors import DataError, FormatError, ParameterError
from anypag.graphs.marks import EDGE_SYMBOLS, Edge, Mark
from anypag.series import series_result
from anypag.series.edges import allows
from anypag.series.series_result import SeriesResult
from anypag.series.window import Window

Columns = dict[str, Any]


def two_processes(n: int = 600, seed: int = 0) -> Columns:
    """x is a cause of y one step later; both remember."""
    x, y = np.random.default_rng(seed).normal(size=(2, n))
    for t in range(1, n):
        x[t] += 0.5 * x[t - 1]
        y[t] += 0.4 * y[t - 1] + 0.7 * x[t - 1]
    return {"x": x, "y": y}


@pytest.fixture(scope="module")
def sampled() -> SeriesResult:
    return ap.learn_series(two_processes(), 1, effort=0.3)


def pairs_of(result: SeriesResult) -> set[tuple[str, str]]:
    return {edge.pair for edge in result.edges}


TRUE = {("x(t-1)", "x"), ("x(t-1)", "y"), ("y(t-1)", "y")}


@pytest.mark.parametrize("method", ["auto", "icd", "bayes", "fci"])
def test_the_edges_are_found_by_all_methods(method: str) -> None:
    result = ap.learn_series(two_processes(), 1, method=method)
    assert pairs_of(result) == TRUE and result.complete
    assert all(edge.mark_effect == Mark.ARROW for edge in result.edges)
    assert not result.choices.selection_bias and "selection_bias=True" in str(result)


def test_the_order_of_rows_and_columns_does_not_matter() -> None:
    table = {"t": np.arange(600), **two_processes()}
    order = np.random.default_rng(1).permutation(600)
    mixed = {name: table[name][order] for name in ("y", "t", "x")}
    for method in ("icd", "auto", "bayes"):
        first = ap.learn_series(table, 1, time="t", method=method)
        second = ap.learn_series(mixed, 1, time="t", method=method)
        assert {str(edge) for edge in first.edges} == {str(edge) for edge in second.edges}


def test_the_window_has_every_edge_at_all_times_and_the_summary_has_lags() -> None:
    result = ap.learn_series(two_processes(), 2, method="icd")
    assert result.pag.edge("x(t-2)", "y(t-1)") is not None and result.pag.edge("x(t-2)", "y") is None
    told = {(one.a, one.b): dict(one.lags) for one in result.summary}
    assert told["x", "y"] == {("x", "y"): (1,)} and told["x", "x"] == {("x", "x"): (1,)}


def test_a_panel_and_discrete_series_are_learned() -> None:
    random = np.random.default_rng(3)
    rows = []
    for person in range(40):
        a, b = random.integers(0, 2, 2)
        for _ in range(25):
            a, b = int(random.random() < 0.2 + 0.6 * a), int(random.random() < 0.15 + 0.7 * a)
            rows.append((person, a, b))
    table = dict(zip(("person", "a", "b"), map(list, zip(*rows, strict=True)), strict=True))
    result = ap.learn_series(table, 1, unit="person", method="icd", kinds={"a": "discrete", "b": "discrete"})
    assert result.windows is not None and result.windows.n_units == 40 and result.windows.table.n == 40 * 24
    assert ("a(t-1)", "a") in pairs_of(result) and result.result.test_name != "FisherZ"
    again = result.bootstrap(4)
    assert all(edge.again is not None for edge in again.edges)


def test_blocks_are_drawn_of_one_series() -> None:
    result = ap.learn_series(two_processes(), 1, method="icd")
    assert result.windows is not None
    blocks = result.windows.clusters()
    assert len(blocks) == 599 and (np.diff(blocks) >= 0).all() and np.bincount(blocks).max() == 8
    found = result.bootstrap(6, seed=1)
    assert [edge.again for edge in found.edges if edge.pair == ("x(t-1)", "y")] == [1.0]
    with pytest.raises(ParameterError, match="block"):
        result.bootstrap(6, block=0)


def test_selection_can_be_switched_on() -> None:
    result = ap.learn_series(two_processes(), 1, method="icd", selection_bias=True)
    assert result.choices.selection_bias and pairs_of(result) == TRUE
    assert "may affect which times" in str(result)


def test_effects_and_their_path_come_from_sampled_graphs(sampled: SeriesResult) -> None:
    effect = sampled.effect("x", "y", lag=1)
    assert effect.cause == ("x(t-1)",) and effect.outcome == ("y",)
    path = sampled.response("x", "y")
    assert list(path.spans) == [0, 1] and path.table()["lag"] == [0, 1]
    span = path.spans[1]
    assert span is not None and span.low <= 0.75 and span.high >= 0.65
    assert list(sampled.response("y", "y").spans) == [1]
    with pytest.raises(ParameterError, match="bayes"):
        ap.learn_series(two_processes(), 1, method="icd").effect("x", "y", lag=1)
    with pytest.raises(ParameterError, match="0 to 1"):
        sampled.effect("x", "y", lag=2)


def test_marks_that_are_not_sure_are_circles(sampled: SeriesResult, monkeypatch: pytest.MonkeyPatch) -> None:
    known = replace(sampled, result=ap.learn_series(two_processes(), 2, method="bayes", effort=0.3).result)
    known = replace(known, window=Window(("x", "y"), 2))
    said = {edge.pair: edge.mark_cause for edge in known.edges}
    assert Mark.TAIL in said.values()
    monkeypatch.setattr(series_result, "SURE", 1.01)
    unsure = replace(known)
    assert {edge.pair: edge.mark_effect for edge in unsure.edges} == dict.fromkeys(said, Mark.ARROW)  # by time
    assert {edge.mark_cause for edge in unsure.edges} == {Mark.CIRCLE}
    assert "At x(t-1) a circle" in str(unsure.explain("x", "y", 1))
    assert all(edge.probability is not None and edge.probability > 0.5 for edge in unsure.edges)


def test_a_circle_stands_for_any_mark() -> None:
    open_edge, sure = (Edge("a", "b", mark, Mark.ARROW) for mark in (Mark.CIRCLE, Mark.TAIL))
    allowed = [symbol for symbol in ("", *EDGE_SYMBOLS) if allows(open_edge, symbol)]
    assert sorted(allowed) == ["-->", "<->", "o->"]
    assert [symbol for symbol in ("", *EDGE_SYMBOLS) if allows(sure, symbol)] == ["-->"]


def test_an_edge_is_explained(sampled: SeriesResult) -> None:
    assert "x(t-1)" in str(sampled.explain("x", "y", 1))
    for lag in (-1, 1.0, True, 2):
        with pytest.raises(ParameterError, match="'lag' must be a whole number from 0 to 1"):
            sampled.explain("x", "y", lag)  # type: ignore[arg-type]


def test_a_result_is_saved_and_read(sampled: SeriesResult, tmp_path: Path) -> None:
    for ending in (".json", ".csv", ".html", ".svg", ".txt"):
        sampled.save(tmp_path / f"found{ending}")
    read = ap.read_series(tmp_path / "found.json")
    assert str(read) == str(sampled) and read.edges == sampled.edges
    assert str(read.explain("x", "y", 1)) == str(sampled.explain("x", "y", 1))
    assert (tmp_path / "found.csv").read_text().count("\n") == len(sampled.edges) + 1
    page = (tmp_path / "found.html").read_text()
    assert (page.count("<svg") == 2 and "x(t-1) --&gt; y" in page) or "x(t-1) o-&gt; y" in page
    assert isinstance(ap.read_result(tmp_path / "found.json"), ap.Result)
    with pytest.raises(ParameterError, match="holds no data"):
        read.effect("x", "y", lag=1)
    assert str(read.effect("x", "y", lag=1, data=sampled.windows)) == str(sampled.effect("x", "y", lag=1))
    (tmp_path / "odd.json").write_text('{"meta": []}')
    with pytest.raises(FormatError, match="no result of a time series"):
        ap.read_series(tmp_path / "odd.json")
    ap.learn(two_processes(), method="icd").save(tmp_path / "plain.json")
    with pytest.raises(FormatError, match="no result of a time series"):
        ap.read_series(tmp_path / "plain.json")


def test_what_a_file_says_of_the_window_is_declared(sampled: SeriesResult, tmp_path: Path) -> None:
    sampled.save(tmp_path / "found.json")
    document = json.loads((tmp_path / "found.json").read_text())
    header = {"processes": ["x", "y"], "max_lag": 1, "contexts": [], "told": sampled.told}
    assert document["meta"]["series"] == header and [*document["meta"]["series"]] == [*header]

    def read(**changed: object) -> SeriesResult:
        document["meta"]["series"] = {key: value for key, value in (header | changed).items() if value is not None}
        (tmp_path / "changed.json").write_text(json.dumps(document))
        return ap.read_series(tmp_path / "changed.json")

    assert read(contexts=None).window == sampled.window  # as files from before there were contexts have it
    for key, wrong in {"processes": "xy", "max_lag": "1", "told": 3, "contexts": [1], "lags": 2}.items():
        with pytest.raises(FormatError, match=f"changed.json: .*{key}"):
            read(**{key: wrong})
    with pytest.raises(FormatError, match='"told" is missing'):
        read(told=None)
    with pytest.raises(FormatError, match="are not those of its graph"):
        read(max_lag=2)


def test_pictures_name_lags_and_processes(sampled: SeriesResult) -> None:
    assert sampled.svg("summary").count('class="node"') == 2 and sampled.svg("window").count('class="node"') == 4
    assert ">1</text>" in sampled.svg("summary")
    with pytest.raises(ParameterError, match="window"):
        sampled.svg("both")


def test_a_finding_about_processes_comes_once() -> None:
    x = np.random.default_rng(0).normal(size=400)
    y = np.append(0.0, x[:-1] ** 2) + 0.1 * np.random.default_rng(1).normal(size=400)
    audit = ap.learn_series({"x": x, "y": y}, 2, method="icd").audit
    assert audit is not None
    curves = [finding.columns for finding in audit.findings if finding.problem == "curve"]
    assert len(curves) == 1 and not any(finding.problem == "order" for finding in audit.findings)


def test_a_process_that_is_another_one_later_is_refused() -> None:
    x = two_processes()["x"]
    with pytest.raises(DataError, match="same as"):
        ap.learn_series({"x": x[1:], "later": x[:-1]}, 1, method="icd")


def test_no_tail_is_said_between_levels_at_one_time() -> None:
    """Their sampled graphs seldom have hidden causes, and time does not tell which of the two is the cause."""
    random = np.random.default_rng(3)
    hidden, noise = random.integers(0, 2, 1000), random.random((2, 1000))
    x, y = (np.where(part < 0.2, 1 - hidden, hidden) for part in noise)
    for t in range(1, 1000):
        for column in (x, y):
            column[t] = column[t - 1] if random.random() < 0.3 else column[t]
    result = ap.learn_series({"x": x, "y": y}, 1, kinds={"x": "discrete", "y": "discrete"})
    at_once = next(edge for edge in result.edges if edge.lag == 0)
    assert Mark.TAIL not in {at_once.mark_cause, at_once.mark_effect}
    assert (
        result.sureness(Edge("x", "y", Mark.TAIL, Mark.ARROW))
        == 0
        < result.sureness(Edge("x(t-1)", "x", Mark.TAIL, Mark.ARROW))
    )
