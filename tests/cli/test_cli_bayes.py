"""Searches by score on the command line."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest
from commands import anypag, write_chain, write_system

import anypag as ap
from anypag import read_result
from anypag.cli.learn import NO_DRAWS
from anypag.cli.running import Interrupts, shown_on
from anypag.cli.tell import MARKED, MOST_HEADINGS, groups, headings
from anypag.cli.terminal import Terminal
from anypag.explain.sampled import WHY_UNLIKELY, certainty, hedged, probable_graphs
from anypag.explain.summary import how_far
from anypag.results.result import Result
from anypag.run.clock import Clock
from anypag.run.watcher import Watcher
from anypag.search.progress import Progress
from anypag.search.state import StepInfo


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_chain(tmp_path / "table.csv")


def test_the_end_says_how_many_errors_are_expected(table: Path) -> None:
    done = anypag("learn", table, "--method", "bayes", "--effort", "0.1")
    assert done.code == 0
    assert "graph is expected to err least" in done.out
    assert "sampling" in done.out
    assert "r = 0" not in done.out
    found = anypag("learn", table, "--method", "bayes", "--effort", "0.1", "--json").document
    assert found["result"]["meta"]["anypag"]["probabilities"]["n_samples"] > 0


def test_boss_says_what_it_assumes(table: Path) -> None:
    done = anypag("learn", table, "--method", "boss")
    assert done.code == 0
    assert "\nComplete: the graph that scores best, assuming that nothing is hidden (" in done.out


@pytest.mark.parametrize(
    ("method", "n_steps", "end"),
    [
        ("boss", 1, "The graph is the one that scores best so far, assuming that nothing is hidden ("),
        ("bayes", 1, "The graph is the one that scores best so far ("),
        ("bayes", 6, "This graph is expected to err least, given "),
    ],
)
def test_a_search_by_score_that_was_stopped_says_so_in_a_sentence(method: str, n_steps: int, end: str) -> None:
    data = ap.simulate.random_system(8, 2.0, seed=1).linear_gaussian(300, seed=1)
    seen: list[str] = []

    def is_enough(state: object, info: StepInfo) -> bool:
        seen.append(info.phase)
        return len(seen) >= n_steps and (n_steps == 1 or seen.count("sampling") > 1)

    result = ap.learn(data, method=method, stop=is_enough)
    assert how_far(result).startswith(f"Stopped early: `stop` said so. {end}")


def test_a_run_goes_on_from_a_phase(few_rows: Path, tmp_path: Path) -> None:
    run: list[str | Path] = ["learn", few_rows, "--method", "bayes", "--checkpoint", tmp_path / "run.anypag"]
    stopped = anypag(*run, "--effort", "100", "--time-budget", "1s")
    assert stopped.code == 3
    assert "withdrew" not in stopped.out
    resumed = anypag(*run, "--effort", "100", "--time-budget", "1s", "--resume").out
    assert re.search(r"which is complete up to a step of '(orders|tests|cooling|sampling)'\.", resumed)


def test_a_budget_leaves_a_graph(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "graph.json"
    done = anypag("learn", table, "--method", "bayes", "--effort", "100", "--time-budget", "1s", "--out", out)
    assert done.code == 3
    assert out.exists()
    assert "Stopped early" in done.out


def interrupted_in(phase: str, look: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Sends SIGINT at a look of a phase; gives the phases of all looks. There is no look 0."""
    seen, before_batch = list[str](), Watcher.before_batch

    def heard(watcher: Watcher, progress: Progress) -> None:
        seen.append(progress.where)
        if progress.where == phase and seen.count(phase) == look:
            signal.raise_signal(signal.SIGINT)
        before_batch(watcher, progress)

    monkeypatch.setattr(Watcher, "before_batch", heard)
    return seen


def test_after_an_interrupt_no_graphs_for_effects_are_drawn(
    few_rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "graph.json"
    whole = interrupted_in("sampling", 0, monkeypatch)
    anypag("learn", few_rows, "--effort", "0.1", "--out", out)
    looks = interrupted_in("sampling", whole.count("sampling") - 1, monkeypatch)
    done = anypag("learn", few_rows, "--effort", "0.1", "--out", out)
    assert done.code == 3 and "Stopped early: interrupted. This graph is expected" in done.out and NO_DRAWS in done.out
    assert "sampling for effects" in whole and "sampling for effects" not in looks
    result = read_result(out)
    assert isinstance(result, Result) and not result.complete and result.posterior is not None
    assert result.posterior.sample.for_effects is None


def test_an_interrupt_while_graphs_for_effects_are_drawn_is_told(
    few_rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "graph.json"
    interrupted_in("sampling for effects", 4, monkeypatch)
    done = anypag("learn", few_rows, "--effort", "0.1", "--out", out)
    told = re.search(r"Stopped early: interrupted\. The graph is complete; (\d+) of (\d+) graphs for effects", done.out)
    assert done.code == 3 and told is not None and int(told[1]) < int(told[2]) and "Complete: " not in done.out
    assert told[0] in anypag("show", out).out
    names = ap.read_graph(out).names
    effect = anypag("effect", out, names[0], names[1])
    assert effect.code == 0
    assert f"ended early: {told[1]} of {told[2]} graphs" in effect.out


def test_edges_are_told_with_their_probabilities_and_in_words_that_follow_them(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "graph.json"
    learned = anypag("learn", table, "--method", "bayes", "--effort", "0.1", "--out", out)
    assert "If the scores are right:" in learned.out
    result = read_result(out)
    assert isinstance(result, Result)
    said = result.probabilities
    assert said is not None
    shown, listed = anypag("show", out), anypag("show", out, "--json").document["edges"]
    for edge, row in zip((edge.forward() for edge in result.pag.edges()), listed, strict=True):
        probability = said.of_edge(edge.a, edge.b, edge.symbol)
        assert row["probability"] == probability
        for text in (learned.out, shown.out, str(result)):
            assert re.search(rf"^ *{re.escape(f'{edge}   {certainty(said, edge)}')}(: .*)?$", text, re.MULTILINE)
        heading = next(line for line in learned.out.split("\n") if f" {edge.symbol} " in line and ": " in line)
        assert heading.split(": ", 1)[1].startswith(hedged("", probability))


@pytest.fixture
def few_rows(tmp_path: Path) -> Path:
    """A table that leaves much open."""
    return write_system(tmp_path / "few.csv", 9, 3.0, rows=150)


@pytest.mark.parametrize("seed", range(4))
def test_headings_are_few_and_stand_in_the_order_of_their_surest_edges(seed: int) -> None:
    data = ap.simulate.random_system(9, 2.0, seed=seed).linear_gaussian(300, seed=seed)
    result = ap.learn(data, method="bayes", effort=0.1)
    assert result.probabilities is not None
    of_edge = result.probabilities.of_edge
    told = [group for group in groups(result) if not group.sentence.startswith(MARKED)]
    surest = [max(of_edge(edge.a, edge.b, edge.symbol) for edge in group.edges) for group in told]
    assert surest == sorted(surest, reverse=True)
    assert len(list(headings(result))) <= MOST_HEADINGS


def test_why_an_unlikely_edge_stands_there_is_said_once(few_rows: Path, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "graph.json"
    learned = anypag("learn", few_rows, "--method", "bayes", "--effort", "0.1", "--out", out).out
    for text in (learned, anypag("show", out).out):
        assert "(joined " in text
        assert text.count(WHY_UNLIKELY) == 1
    assert "joined" not in anypag("learn", table, "--method", "bayes", "--effort", "0.1").out
    assert "joined" not in anypag("learn", "--method", "icd", few_rows).out


def test_every_phase_has_one_line(few_rows: Path) -> None:
    learned = anypag("learn", few_rows, "--method", "bayes", "--effort", "0.1").out
    lines = [line.split("  ")[0] for line in learned.split("\n\n")[0].split("\n") if "marks oriented" in line]
    assert lines == ["orders", "tests", "cooling", "sampling"]
    by_tests = [line for line in anypag("learn", few_rows, "--method", "gfci").out.split("\n") if "oriented" in line]
    assert by_tests[0].startswith("orders ")
    assert len(by_tests) > 1
    assert all(line.startswith("r = ") for line in by_tests[1:])


def test_a_phase_that_an_error_ends_has_its_line_too(capsys: pytest.CaptureFixture[str]) -> None:
    data = ap.simulate.random_system(5, 2.0, seed=1).linear_gaussian(100, seed=1)
    result = ap.learn(data, method="boss")
    with pytest.raises(RuntimeError), shown_on(Terminal(), result.choices, Interrupts(), Clock()) as listeners:
        listeners.on_step(result)
        raise RuntimeError
    assert capsys.readouterr().out.startswith("orders ")


@pytest.mark.parametrize("method", [["icd"], ["bayes", "--effort", "0.1"]])
def test_the_end_says_that_what_is_known_rules_arrows_out(table: Path, method: list[str]) -> None:
    run: list[str | Path] = ["learn", table, "--method", *method]
    assert (
        "(--tiers, --knowledge), can decide ends marked with a circle, and exclude impossible arrows.\n"
        in anypag(*run).out
    )
    known = anypag(*run, "--tiers", "a b | c | d")
    assert "arrows that cannot be" not in known.out
    assert "arrows that cannot be" not in anypag(*run, "--json").out


def test_show_lists_the_most_probable_graphs(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "graph.json"
    anypag("learn", table, "--method", "bayes", "--effort", "0.1", "--out", out)
    result = read_result(out)
    assert isinstance(result, Result)
    shown = anypag("show", out).out
    assert "graphs were sampled" in shown
    for graph in probable_graphs(result):
        assert f"  {graph.share:.2f}  {'; '.join(graph.lines()) or 'the answer'}\n" in shown
    assert "sampled" not in anypag("show", _bare(out, tmp_path)).out


def _bare(out: Path, folder: Path) -> Path:
    anypag("convert", out, folder / "graph.txt")
    return folder / "graph.txt"
