"""Every experiment at tiny scale, from running it to the page; and the committed page against the committed rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from experiments.__main__ import main
from experiments.results import RESULTS, path_of, read
from experiments.settings import EXPERIMENTS, Settings, load

from experiments import figures_oracle, figures_samples, oracle, order, page, samples, stats

PNG = b"\x89PNG\r\n\x1a\n"
DOCS = Path(__file__).parents[2] / "docs"
FIGURES = ("fig1.png", "fig2.png", "fig3.png", "fig4.png", "fig5.png", "errors.png")


def collect(settings: Settings, folder: Path) -> pl.DataFrame:
    path = path_of(settings.scale, settings.experiment, folder)
    if settings.experiment == "oracle":
        oracle.collect_rows(settings, path)
        return read(path, oracle.SCHEMA)
    samples.collect_rows(settings, path)
    return read(path, samples.SCHEMA)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Mapping[str, Settings], Path]:
    """All experiments, run at tiny scale."""
    settings, folder = load("tiny"), tmp_path_factory.mktemp("results")
    for name in EXPERIMENTS:
        frame = collect(settings[name], folder)
        assert len(frame) == sum(len(task.variants) for task in settings[name].tasks())
    return settings, folder


def test_the_oracle_runs_end_with_the_true_graph_or_at_the_cap(tiny: tuple[Mapping[str, Settings], Path]) -> None:
    settings, folder = tiny
    frame = read(path_of("tiny", "oracle", folder), oracle.SCHEMA)
    assert (frame["right"] + frame["capped"] == 1).all()
    assert 1 in frame["capped"], "the tiny cap is there to be hit"
    is_at_cap = oracle.totals(frame).filter(capped=1)["total"] >= settings["oracle"].cap
    assert is_at_cap.all()


def test_runs_are_the_same_every_time(tiny: tuple[Mapping[str, Settings], Path], tmp_path: Path) -> None:
    settings, folder = tiny
    again = collect(replace(settings["samples"], rows=(100,), dags=2), tmp_path)
    before = read(path_of("tiny", "samples", folder), samples.SCHEMA)
    assert len(again) == 8
    assert len(again.join(before, on=again.columns, nulls_equal=True)) == 8


@pytest.mark.slow
def test_several_processes_give_the_same_rows(tmp_path: Path) -> None:
    settings = replace(load("tiny")["large"], rows=(100,), variants=("fci", "icd"))
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for jobs, path in enumerate(paths, start=1):
        samples.collect_rows(settings, path, jobs=jobs)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.fixture(scope="module")
def drawn(tiny: tuple[Mapping[str, Settings], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page and the figures of the tiny runs."""
    settings, folder = tiny
    docs = tmp_path_factory.mktemp("docs")
    assert page.write(settings, docs, folder) == docs / "paper.md"
    return docs


def test_from_rows_to_figures_and_page(drawn: Path) -> None:
    text = (drawn / "paper.md").read_text()
    assert "Scale:\n**tiny**" in text
    assert all((drawn / "paper" / name).read_bytes().startswith(PNG) for name in FIGURES)
    assert set(re.findall(r"\(paper/(.*?)\)", text)) == {*FIGURES, "readings.csv", "pairs.csv"}
    assert all((drawn / "paper" / name).exists() for name in ("readings.csv", "pairs.csv"))
    assert not re.search(r"\bnan\b|\binf\b|None", text)
    widths = {line.count("|") for line in text.split("\n") if line.startswith("| ") and "<br>" in line}
    assert widths == {5}


def test_the_command_goes_on_where_it_stopped_and_prints_the_seeds(
    tiny: tuple[Mapping[str, Settings], Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, folder = tiny
    monkeypatch.setattr("experiments.page.figures_oracle.draw", lambda *_: [])
    monkeypatch.setattr("experiments.page.figures_samples.draw", lambda *_: [])
    before = {path.name: path.read_bytes() for path in (folder / "tiny").iterdir()}
    main(["--scale", "tiny", "--results", str(folder), "--docs", str(tmp_path)])
    assert {path.name: path.read_bytes() for path in (folder / "tiny").iterdir()} == before
    printed = capsys.readouterr().out
    assert "oracle: 3 DAGs each of 7, 9 nodes, seeds 0–2\n" in printed
    assert "large: 2 DAGs each of 9 nodes, seeds 1000000–1000001, 10000000–10000001\n" in printed
    assert printed.endswith(f"Written: {tmp_path / 'paper.md'}\n")


def test_figures_can_be_drawn_again_without_a_run(
    tiny: tuple[Mapping[str, Settings], Path], drawn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder = tiny
    exact = read(path_of("tiny", "oracle", folder), oracle.SCHEMA)
    small, large = (read(path_of("tiny", name, folder), samples.SCHEMA) for name in ("samples", "large"))
    monkeypatch.delattr("anypag.iterate")
    again = [*figures_oracle.draw(exact, tmp_path), *figures_samples.draw(small, large, tmp_path)]
    assert {path.name for path in again} == set(FIGURES)
    assert all(path.read_bytes() == (drawn / "paper" / path.name).read_bytes() for path in again)


def test_a_page_from_part_of_the_runs_says_so(tiny: tuple[Mapping[str, Settings], Path]) -> None:
    settings, folder = tiny
    more = {**settings, "large": replace(settings["large"], dags=3)}
    frames = page.load_frames(more, folder)
    assert len(frames["large"]) == 16
    assert "| large | 9 | 100, 1000 | 2 of 3 |" in page.text(more, frames)


def test_a_dag_that_was_not_run_in_every_way_does_not_count(
    tiny: tuple[Mapping[str, Settings], Path], tmp_path: Path
) -> None:
    settings, _ = tiny
    one = replace(settings["samples"], rows=(100, 200), variants=("fci", "icd"))
    collect(replace(one, rows=(100,), dags=2), tmp_path)
    with pytest.raises(SystemExit, match="'samples' has no DAG yet that was run in every way; run python -m"):
        page._whole_dags(one, tmp_path)
    collect(replace(one, rows=(200,), dags=1), tmp_path)
    assert page._whole_dags(one, tmp_path).select("rows", "seed", "variant").rows() == [
        (100, 1_000_000, "fci"),
        (100, 1_000_000, "icd"),
        (200, 2_000_000, "fci"),
        (200, 2_000_000, "icd"),
    ]


def check_icd_ignores_the_order(frames: Mapping[str, pl.DataFrame]) -> None:
    orders = order.both_orders(frames["samples"], frames["order"])
    unmoved = order.unmoved(orders)
    for icd in ("icd", "icd-first"):
        assert unmoved[icd][0] == unmoved[icd][1] > 0
    assert unmoved["fci"][0] < unmoved["fci"][1]


def test_icd_does_not_depend_on_the_order_of_the_columns(tiny: tuple[Mapping[str, Settings], Path]) -> None:
    check_icd_ignores_the_order(page.load_frames(*tiny))


def check_ratios(frame: pl.DataFrame, *icds: str) -> None:
    for rows in (100, 200, 500, 1000):
        for icd in icds:
            assert stats.ratio_at_90(frame, "fci", icd, rows, n_bootstrap=1).value >= 1, (icd, rows)


@pytest.mark.slow
def test_icd_needs_no_more_tests_than_fci_in_nine_of_ten_graphs(tmp_path: Path) -> None:
    """Stopping at the first separating set, as FCI does; `icd` as it comes tests all candidates of an edge."""
    settings = load("small")["samples"]
    settings = replace(settings, rows=(100, 200, 500, 1000), dags=40, variants=("fci", "icd-first"))
    check_ratios(collect(settings, tmp_path), "icd-first")


@pytest.mark.slow
def test_icd_needs_no_more_tests_than_fci_at_small_scale(tmp_path: Path) -> None:
    settings = replace(load("small")["samples"], rows=(100, 200, 500, 1000))
    check_ratios(collect(settings, tmp_path), "icd-paper", "icd-first")


def test_the_committed_page_is_what_the_committed_rows_say() -> None:
    settings = load("full")
    frames = page.load_frames(settings, RESULTS)
    check_ratios(frames["samples"], "icd-paper", "icd-first", "icd")
    check_icd_ignores_the_order(frames)
    assert page.text(settings, frames) == (DOCS / "paper.md").read_text()
    assert all((DOCS / "paper" / name).read_bytes().startswith(PNG) for name in FIGURES)
