from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import anypag, write_chain

from anypag.cli.commands import INTERNAL
from anypag.graphs.formats.registry import read_graph
from anypag.graphs.pag import PAG
from anypag.results.files import read_result
from anypag.results.result import Result
from anypag.simulate import random_system

CHAIN = PAG.from_string("a o-> c; b o-> c; c --> d", names=["a", "b", "c", "d"])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_chain(tmp_path / "data.csv")


def test_learn_prints_a_line_per_iteration_the_edges_and_how_far(data: Path) -> None:
    ended = anypag("learn", "--method", "icd", data)
    assert ended.code == 0 and not ended.err
    lines = ended.out.splitlines()
    assert lines[0] == "data.csv: 400 rows, 4 variables; test FisherZ, alpha 0.01, method icd"
    iterations = [line for line in lines if line.startswith("r = ")]
    assert re.fullmatch(r"r = 0 +\d+ edges left +\d+ removed +\d+ marks oriented +6 tests +\d+\.\d\d s", iterations[0])
    assert any(line.startswith("c --> d: c is a cause of d") for line in lines)
    start = next(k for k, line in enumerate(lines) if line.startswith("A o-> B: A may be a cause of B"))
    assert lines[start + 1 : start + 3] == ["  a o-> c", "  b o-> c"]
    assert any(line.startswith("Complete: no further iteration can change the graph (r = ") for line in lines)


@pytest.mark.parametrize("ending", ["json", "txt", "tetrad", "dagitty"])
def test_the_ending_picks_the_format(data: Path, ending: str) -> None:
    out = data.with_name(f"pag.{ending}")
    assert anypag("learn", "--method", "icd", data, "--out", out).code == 0
    assert read_graph(out, kind=PAG) == CHAIN


def test_csv_is_the_edge_table(data: Path) -> None:
    out = data.with_name("edges.csv")
    assert anypag("learn", "--method", "icd", data, "--out", out).code == 0
    header, first = out.read_text().splitlines()[:2]
    assert header.startswith("from,to,edge,mark_from,mark_to,in_words,p,n,r,given")
    assert first.startswith("a,c,o->,circle,arrow,")


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_pictures(data: Path, ending: str) -> None:
    out = data.with_name(f"pag.{ending}")
    assert anypag("learn", "--method", "icd", data, "--out", out, "--quiet") == (0, "", "")
    assert out.read_bytes()[:4] in {b"<svg", b"\x89PNG"}


def test_the_report_names_the_command(data: Path) -> None:
    out = data.with_name("report.html")
    assert anypag("learn", data, "--report", out, "--max-r", "1").code == 0
    assert out.read_text().startswith("<!doctype html>") and "--max-r 1" in out.read_text()


def test_what_a_picture_needs_is_asked_for_before_the_run(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anypag.saving.find_spec", lambda name: None)
    ended = anypag("learn", "--method", "icd", data, "--out", data.with_name("pag.png"))
    assert ended.code == 2 and "install igraph and matplotlib: pip install igraph matplotlib" in ended.err


def test_several_outputs_at_once_and_json_on_standard_output(data: Path) -> None:
    outs = [data.with_name(name) for name in ("a.json", "b.txt")]
    ended = anypag("learn", "--method", "icd", data, "--out", outs[0], "--out", outs[1], "--json")
    assert ended.document["complete"] is True and ended.document["exit_code"] == 0
    assert ended.document["written"] == [str(out) for out in outs]
    assert ended.document["result"]["graph"] == json.loads(outs[0].read_text())["graph"]
    assert "r = 0" in ended.err  # progress does not disturb the document


def test_the_json_file_is_enough_to_explain(data: Path) -> None:
    out = data.with_name("pag.json")
    anypag("learn", "--method", "icd", data, "--out", out)
    saved = read_result(out)
    assert not isinstance(saved, PAG)
    data.unlink()
    assert "independent given c" in anypag("explain", out, "a", "d").out
    assert anypag("explain", out, "a", "d", "--json").document["separation"]["given"] == ["c"]


def test_max_r_is_complete_as_far_as_the_user_wanted(data: Path) -> None:
    ended = anypag("learn", data, "--max-r", "0")
    assert ended.code == 0
    assert "Done up to r = 0, as --max-r says" in ended.out
    assert "A next iteration would test" in ended.out


def test_a_test_budget_stops_early_with_a_valid_result(data: Path) -> None:
    out = data.with_name("pag.json")
    ended = anypag("learn", "--method", "icd", data, "--max-tests", "6", "--out", out)
    assert ended.code == 3
    assert "Stopped early: the test budget is spent. The graph is complete up to r = 0" in ended.out
    assert read_graph(out).names == ("a", "b", "c", "d")


@pytest.mark.parametrize("method", ["icd", "bayes", "boss", "gfci"])
def test_a_time_budget_spent_before_the_first_iteration_still_writes(data: Path, method: str) -> None:
    out = data.with_name("pag.txt")
    ended = anypag("learn", data, "--time-budget", "0.000001ms", "--out", out, "--method", method)
    assert ended.code == 3
    step = "iteration" if method == "icd" else "step"
    assert f"before the first {step} was finished; nothing is known yet" in ended.out
    assert "What you know for sure" not in ended.out, "circles were not left open by the data"
    assert len(read_graph(out).edges()) == 6


def test_columns_drop_kinds_missing(data: Path) -> None:
    assert anypag("learn", "--method", "icd", data, "--columns", "a,c", "--columns", "d").out.startswith(
        "data.csv: 400 rows, 3 variables"
    )
    assert anypag("learn", "--method", "icd", data, "--drop", '"a"').out.startswith("data.csv: 400 rows, 3 variables")
    data.write_text(data.read_text() + ",1,1,1\n")
    assert "400 rows of 401 (1 has gaps)" in anypag("learn", "--method", "icd", data).out
    ended = anypag("learn", "--method", "icd", data, "--missing", "error")
    assert ended.code == 1 and "Values are missing" in ended.err
    assert anypag("learn", "--method", "icd", data, "--missing", "drop").code == 0
    assert anypag("learn", data, "--missing", "pairwise", "--method", "fci").code == 0


USAGE = {
    "--alpha 7": "--alpha must be a number between 0 and 1",
    "--alpha x": "--alpha",
    "--test kendall": "--test",
    "--method pc": "--method",
    "--max-r -1": "--max-r",
    "--max-tests 0": "--max-tests",
    "--time-budget soon": "A duration is written 30s, 5m, 2h or 1h30m; got 'soon'",
    "--time-budget 0s": "must be above 0",
    "--columns nobody": "There is no column 'nobody'",
    "--drop a,b,c,d": "No column is left",
    "--kinds a:discrete": "Write NAME=continuous, NAME=discrete, NAME=ordinal",
    "--kinds a=ranked": "Write NAME=continuous, NAME=discrete, NAME=ordinal",
    "--out pag.xyz": "is no known format",
    "--out pag": "is no known format",
    "--out nowhere/pag.json": "there is no folder",
    "--out pag.json --out ./pag.json": "it is to be written twice",
    "--out data.csv": "it is an input",
    "--out folder.json": "it is a folder",
    "--report report.txt": "A report is an .html file; got 'report.txt'.",
    "--resume": "--resume needs --checkpoint FILE",
    "--checkpoint data.csv": "it is an input",
    "--knowledge known.txt --out known.txt": "known.txt cannot be written: it is an input",
    "--knowledge known.txt --checkpoint ./known.txt": "it is an input",
    "--nonsense": "No such option",
}


@pytest.mark.parametrize("options", USAGE)
def test_usage_errors_come_before_the_run(data: Path, options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data.parent)
    Path("folder.json").mkdir()
    Path("known.txt").write_text("a ~> b")
    before = data.read_bytes()
    ended = anypag("learn", "--method", "icd", "data.csv", *shlex.split(options, posix=False))
    assert ended.code == 2
    assert "r = 0" not in ended.out and INTERNAL not in ended.err
    assert USAGE[options] in " ".join(ended.err.replace("│", " ").split())
    assert data.read_bytes() == before and Path("known.txt").read_text() == "a ~> b"


def test_a_special_file_is_never_replaced(data: Path) -> None:
    pipe = data.with_name("pipe.txt")
    os.mkfifo(pipe)
    ended = anypag("learn", "--method", "icd", data, "--out", pipe)
    assert ended.code == 2 and "it is no file" in ended.err and pipe.is_fifo()


def test_an_unwritable_folder_is_reported_before_the_run(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    ended = anypag("learn", "--method", "icd", data, "--out", data.with_name("pag.json"))
    assert ended.code == 2 and "nothing can be written to" in ended.err and "r = 0" not in ended.out


def test_a_disk_that_fills_up_leaves_the_older_result_and_the_other_outputs(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, other = data.with_name("older.json"), data.with_name("other.txt")
    older.write_text("an older result")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("anypag.results.files.write_pieces", full)
    ended = anypag("learn", "--method", "icd", data, "--out", older, "--out", other)
    assert ended.code == 1
    assert "older.json was not written: No space left on device" in ended.err
    assert older.read_text() == "an older result"
    assert read_graph(other, kind=PAG) == CHAIN


def test_a_test_that_fails_in_the_middle_leaves_what_was_learned(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from anypag.ci.gaussian import FisherZ

    def broken(self: FisherZ, queries: object) -> object:
        if queries.r > 0:  # type: ignore[attr-defined]
            raise ArithmeticError("no such correlation")
        return original(self, queries)  # type: ignore[arg-type]

    original = FisherZ.pvalues
    monkeypatch.setattr(FisherZ, "pvalues", broken)
    monkeypatch.setattr(FisherZ, "passes", None)  # passes over all correlations ask for no p-values
    out = data.with_name("pag.json")
    ended = anypag("learn", "--method", "icd", data, "--out", out)
    assert ended.code == 1
    assert "no such correlation" in ended.err
    assert "an error ended the run. The graph is complete up to r = 0" in ended.out
    assert read_graph(out).names == ("a", "b", "c", "d")


def test_resuming_a_finished_run_repeats_nothing(data: Path) -> None:
    kept, out = data.with_name("run.anypag"), data.with_name("pag.json")
    assert anypag("learn", "--method", "icd", data, "--checkpoint", kept, "--out", out).code == 0
    first = json.loads(out.read_text())
    again = anypag("learn", "--method", "icd", data, "--checkpoint", kept)
    assert again.code == 2 and "already exists. Add --resume to continue from it" in again.err
    resumed = anypag("learn", "--method", "icd", data, "--checkpoint", kept, "--resume", "--out", out)
    assert resumed.code == 0 and "which is complete up to r = " in resumed.out and "r = 0 " not in resumed.out
    assert json.loads(out.read_text()) == first


def test_resuming_a_stopped_run_ends_where_an_unbroken_one_does(data: Path) -> None:
    kept, out, whole = (data.with_name(name) for name in ("run.anypag", "pag.json", "whole.json"))
    stopped = anypag("learn", "--method", "icd", data, "--checkpoint", kept, "--max-tests", "6", "--out", out)
    assert stopped.code == 3
    assert anypag("learn", "--method", "icd", data, "--checkpoint", kept, "--resume", "--out", out).code == 0
    anypag("learn", "--method", "icd", data, "--out", whole)
    assert without_seconds(out) == without_seconds(whole)


def without_seconds(path: Path) -> object:
    document = json.loads(path.read_text())
    for item in document["meta"]["anypag"]["history"]:
        del item["seconds"]
    return document


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        (["--alpha", "0.05"], "alpha: 0.01 then, 0.05 now"),
        (["--method", "fci"], "method: icd then, fci now"),
        (["--max-r", "1"], "max_r: None then, 1 now"),
        (["--drop", "a"], "the variables: a, b, c, d then, b, c, d now"),
        (["--no-selection-bias"], "selection_bias: True then, False now"),
        (["--test", "mixed"], "the test: FisherZ then, DegenerateGaussian now"),
        (["--missing", "drop"], "the choice for missing values: auto then, drop now"),
    ],
)
def test_a_checkpoint_of_other_choices_is_refused_by_naming_them(
    data: Path, options: list[str], difference: str
) -> None:
    kept = data.with_name("run.anypag")
    anypag("learn", "--method", "icd", data, "--checkpoint", kept)
    ended = anypag("learn", "--method", "icd", data, "--checkpoint", kept, "--resume", *options)
    assert ended.code == 1
    assert "belongs to another run: " in ended.err and difference in ended.err


def test_a_checkpoint_of_other_data_is_refused(data: Path) -> None:
    kept = data.with_name("run.anypag")
    anypag("learn", "--method", "icd", data, "--checkpoint", kept)
    write_chain(data, seed=1)
    ended = anypag("learn", "--method", "icd", data, "--checkpoint", kept, "--resume")
    assert ended.code == 1 and "belongs to another run: the data are not the same." in ended.err


def test_help_answers_without_loading_what_is_slow() -> None:
    program = "import sys; from anypag.cli.main import main; main(['learn', '--help']); print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"numpy", "numba", "polars", "scipy", "matplotlib"} & set(ended.stdout.split())


def test_names_cannot_steer_the_terminal(tmp_path: Path) -> None:
    data = write_chain(tmp_path / "data.csv")
    data.write_text(data.read_text().replace("a,b,c,d", "a\x1b[31m,b,c,d", 1))
    ended = anypag("learn", "--method", "icd", data)
    assert ended.code == 0 and "\x1b" not in ended.out and "\\u001b[31m" in ended.out


def test_variables_without_an_edge_are_named_in_one_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    columns = {"a": a, "b": a + rng.normal(size=300), "alone": rng.normal(size=300), "away": rng.normal(size=300)}
    path = tmp_path / "table.csv"
    pl.DataFrame(columns).write_csv(path)
    assert "\nWithout an edge: alone, away.\n" in anypag("learn", "--method", "icd", path).out


def test_of_many_edges_a_hundred_are_printed_if_a_file_has_all(tmp_path: Path) -> None:
    rows = random_system(120, 3.0, seed=0).linear_gaussian(2000, seed=0)
    path, kept = tmp_path / "table.csv", tmp_path / "all.csv"
    pl.DataFrame(dict(rows)).write_csv(path)
    found = ("learn", "--method", "icd", path)
    printed, every = anypag(*found, "--out", kept).out, anypag(*found).out
    assert len(read_edges(printed)) == 100 < len(read_edges(every)) and "more; " not in every
    more = re.findall(rf"\.\.\. and ([\d,]+) more; {re.escape(str(kept))} has them all", printed)
    assert sum(map(int, more)) == len(read_edges(every)) - 100
    whole = json.loads(anypag(*found, "--out", tmp_path / "all.json", "--json").out)["result"]
    assert whole == json.loads((tmp_path / "all.json").read_text())
    learned = read_result(tmp_path / "all.json")
    assert isinstance(learned, Result) and len(learned.pag.edges()) == len(read_edges(every))


def read_edges(printed: str) -> list[str]:
    """The printed lines that are edges."""
    return re.findall(r"^ *(X\d+ [<o-]-[>o-] X\d+)", printed, re.MULTILINE)


@pytest.fixture
def two_sets(tmp_path: Path) -> list[str]:
    """Two data sets; E is in the first alone."""
    rng = np.random.default_rng(0)
    for name, columns in (("a", "ABCDE"), ("b", "ABCD")):
        pl.DataFrame(dict(zip(columns, rng.normal(size=(5, 60)), strict=False))).write_csv(tmp_path / f"{name}.csv")
    return [f"observed={tmp_path / 'a.csv'}", f"drug={tmp_path / 'b.csv'}", "--method", "icd"]


@pytest.mark.parametrize("dropped", ["D", "E"])
def test_a_column_is_dropped_from_the_data_sets_that_have_it(two_sets: list[str], dropped: str) -> None:
    ended = anypag("learn", *two_sets, "--drop", dropped)
    assert ended.code == 0 and f"{5 if dropped == 'E' else 4} variables" in ended.out
    ended = anypag("learn", *two_sets, "--drop", "Z")
    assert ended.code == 2 and "no column 'Z'" in ended.err


def test_nothing_is_said_of_targets_before_a_test(two_sets: list[str]) -> None:
    ended = anypag("learn", *two_sets, "--max-tests", "1")
    assert "nothing is known yet" in ended.out and "acts on" not in ended.out


def test_a_test_of_contexts_needs_several_data_sets(data: Path) -> None:
    ended = anypag("learn", data, "--contexts-test", "pairwise")
    assert ended.code == 2 and "--contexts-test goes with several data sets" in ended.err


def test_why_it_goes_by_tests_alone_is_said_with_options_as_they_are_typed(data: Path) -> None:
    assert "note: by tests alone, as --max-r was chosen, which" in anypag("learn", data, "--max-r", "1").out
