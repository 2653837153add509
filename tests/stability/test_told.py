"""What resamples say, in files, tables, words, pictures, reports and on the command line."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.errors import FormatError
from anypag.explain.words import resample_notes
from anypag.graphs.pag import PAG
from anypag.markup import shown_share
from anypag.plot import figure, svg
from anypag.report import report_html
from anypag.results.files import load_result, save_result
from anypag.results.stability import ADVICE, Failure, Stability, pair_counts, resample_lines

sys.path.append(str(Path(__file__).parents[1] / "cli"))
from commands import anypag, write_chain

NAMES = ("A", "B", "C")
GRAPHS = (
    *(PAG.from_string("A o-> B; C o-> B", names=NAMES),) * 6,
    *(PAG.from_string("A --> B; B --> C", names=NAMES),) * 3,
    PAG.from_string("A; B; C", names=NAMES),
)
STABILITY = Stability(NAMES, GRAPHS, 12, "half", 7, (Failure(3, "no."), Failure(5, "no.")), "time")
RESULT = ap.bootstrap(
    ap.simulate.linear_gaussian(ap.DAG.from_string("A --> B; C --> B; B --> D"), 100, seed=1),
    method="icd",
    n=20,
    seed=1,
).result


def test_counts_of_a_pair_and_their_words() -> None:
    edge = PAG.from_string("A o-> B", names=NAMES).edge("A", "B")
    seen = pair_counts(STABILITY, "A", "B", edge)
    assert seen is not None
    assert (seen.n, seen.same, seen.joined, seen.else_mostly) == (10, 6, 9, "-->")
    assert seen.kinds == {"o->": 6, "-->": 3} and seen.causes == (3, 0) and seen.not_causes == (1, 10)
    assert resample_notes(seen, "A", "B") == (
        "The same in 6 of 10 resamples; else mostly `-->`. Joined in 9.",
        "A is claimed to be a cause of B in 3 of 10, and not to be a cause in 1.",
    )
    assert pair_counts(STABILITY, "B", "A", edge.reversed() if edge else None) == seen._replace(
        kinds={"<-o": 6, "<--": 3}, else_mostly="<--", causes=(0, 3), not_causes=(10, 1)
    )
    apart = pair_counts(STABILITY, "A", "C", None)
    assert apart is not None and (apart.same, apart.joined, apart.else_mostly) == (10, 0, None)
    assert resample_notes(apart, "A", "C")[0] == "The same in 10 of 10 resamples. Joined in 0."
    assert pair_counts(None, "A", "B", edge) is None and resample_notes(None, "A", "B") == ()


def test_the_table_for_people_lists_edges_and_pairs_that_are_mostly_joined() -> None:
    whole = PAG.from_string("A o-> B; C", names=NAMES)
    assert resample_lines(STABILITY, whole) == [
        "10 of 12 half-samples, seed 7, 2 failed, stopped (time). In how many of 10 resamples each edge is found:",
        "  6  joined 9  A o-> B  else mostly A --> B",
        "Without an edge here, but joined in more than half of them:",
        "  1  joined 9  B   C  else mostly B <-o C",
        ADVICE,
    ]
    assert "No resample gave a graph." in resample_lines(replace(STABILITY, graphs=()), whole)[0]


def test_print_in_python_shows_what_the_command_line_shows(tmp_path: Path) -> None:
    data = write_chain(tmp_path / "data.csv")
    found = ap.bootstrap(data, method="icd", n=6, seed=2)
    lines = resample_lines(found.stability, found.result.pag)
    shown = anypag("learn", "--method", "icd", data, "--bootstrap", "6", "--seed", "2").out
    assert len(lines) > 2 and all(line in str(found) and line in shown for line in lines)
    assert "joined" in found._repr_html_() and all(row.split("  ")[-1] in found._repr_html_() for row in lines[1:-1])


def test_explanations_say_how_often() -> None:
    for a, b in [("A", "B"), ("A", "C")]:
        said = RESULT.explain(a, b)
        assert said.again is not None and f"The same in {said.again.same} of 20 resamples" in str(said)
        assert json.loads(json.dumps(said.to_dict()))["again"]["n"] == 20


def test_the_edge_table_has_shares() -> None:
    table, stability = RESULT.edge_table(), RESULT.stability
    assert stability is not None
    for a, b, symbol, n, same, joined in zip(
        *(table[name] for name in ("from", "to", "edge", "resamples", "same", "joined")), strict=True
    ):
        i, j = stability.names.index(a), stability.names.index(b)
        assert n == 20 and joined == pytest.approx(stability.adjacency[i, j])
        assert same == pytest.approx(stability.kinds_of(i, j).get(symbol, 0) / n if symbol else 1 - joined)
    assert set(ap.learn(ap.Oracle(ap.DAG.from_string("A --> B"))).edge_table()["same"]) == {None}


def test_a_file_gives_back_every_frequency() -> None:
    back, was = load_result(json.loads(json.dumps(save_result(RESULT)))).stability, RESULT.stability
    assert back is not None and was is not None
    for name in ("adjacency", "arrowhead", "tail", "circle", "causes", "not_causes"):
        np.testing.assert_array_equal(getattr(back, name), getattr(was, name))
    assert back.summary() == was.summary() and back.graphs == was.graphs
    assert load_result(save_result(RESULT)).explain("A", "B") == RESULT.explain("A", "B")


def test_a_file_from_before_graphs_were_kept_says_which_version_wrote_it() -> None:
    with pytest.raises(FormatError, match=r'"stability", "graphs": a list was wanted; .* written by anypag 0\.1'):
        load_result(broken(graphs=None))


def broken(**changes: Any) -> Any:
    document = json.loads(json.dumps(save_result(RESULT)))
    document["meta"]["anypag"]["stability"].update(changes)
    return document


@pytest.mark.parametrize(
    "changes",
    [
        {"n": -1},
        {"n": "20"},
        {"resample": "third"},
        {"stopped": 3},
        {"edges": [[0, 1, "o-o"]]},
        {"edges": [[1, 0, "o-o", 2]]},
        {"edges": [[0, 1, "o=o", 2]]},
        {"edges": [[0, 1, ["o-o"], 2]]},
        {"edges": [[0, 1, "o-o", 21]]},
        {"causes": [[0, 9, 1]]},
        {"causes": [[0, 0, 1]]},
        {"not_causes": 4},
        {"failures": [["k", "why"]]},
        {"graphs": 3},
        {"graphs": [[0]]},
        {"graphs": [[999]] * 20},
        {"graphs": [["o-o"]] * 20},
        {"graphs": [[0, 0]] * 20},
    ],
)
def test_a_broken_file_is_refused_by_a_sentence(changes: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match="stability"):
        load_result(broken(**changes))


def test_pictures_have_numbers_and_faint_edges() -> None:
    text = svg(RESULT)
    assert text.count('class="share"') == len(RESULT.pag.edges()) > 0 and ' opacity="' in text
    assert 'class="share"' not in svg(RESULT.pag)
    shown = {words.get_text() for axes in figure(RESULT).axes for words in axes.texts}
    stability = RESULT.stability
    assert stability is not None
    assert {shown_share(stability.share(edge)) for edge in RESULT.pag.edges()} <= shown


def test_the_report_has_the_counts() -> None:
    text = report_html(RESULT)
    content = json.loads(text.split('id="content">')[1].split("</script>")[0])
    assert content["resamples"] == {"n": 20, "summary": "20 of 20 resamples with replacement, seed 1."}
    assert all(edge["again"]["n"] == 20 for edge in content["edges"])
    assert 'id="threshold"' in text


def test_the_command_line_resamples(tmp_path: Path) -> None:
    data = write_chain(tmp_path / "data.csv")
    out, table = tmp_path / "pag.json", tmp_path / "edges.csv"
    ended = anypag("learn", "--method", "icd", data, "--bootstrap", "6", "--seed", "2", "--out", out, "--out", table)
    assert ended.code == 0 and not ended.err
    assert "6 of 6 resamples with replacement, seed 2. In how many of 6 resamples each edge is found:" in ended.out
    assert "of 6 resamples" in anypag("explain", out, "a", "c").out
    assert anypag("explain", out, "a", "c", "--json").document["again"]["n"] == 6
    assert "6 of 6 resamples with replacement" in anypag("show", out).out
    assert {row["resamples"] for row in csv.DictReader(table.read_text().splitlines())} == {"6"}
    wanted = ap.bootstrap(data, method="icd", n=6, seed=2)
    document = anypag("learn", "--method", "icd", data, "--bootstrap", "6", "--seed", "2", "--json").document
    assert (
        document["result"]["meta"]["anypag"]["stability"] == save_result(wanted.result)["meta"]["anypag"]["stability"]
    )


def test_the_command_line_resumes_and_stops(tmp_path: Path) -> None:
    data, kept = write_chain(tmp_path / "data.csv"), tmp_path / "run"
    stopped = anypag(
        "learn", "--method", "icd", data, "--bootstrap", "5000", "--time-budget", "0.3s", "--checkpoint", kept
    )
    assert stopped.code == 3 and "stopped (time)" in stopped.out
    again_ = anypag("learn", "--method", "icd", data, "--bootstrap", "4", "--checkpoint", kept, "--resume")
    assert again_.code == 0 and "4 of 4 resamples with replacement" in again_.out


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (["--resample", "half"], "--resample goes with --bootstrap N."),
        (["--seed", "1"], "--seed goes with --bootstrap N."),
        (["--n-jobs", "2"], "--n-jobs must be left out"),
        (["--bootstrap", "3", "--n-jobs", "0"], "--n-jobs must be None or a whole number that is not 0"),
        (["--bootstrap", "1"], "--bootstrap"),
    ],
)
def test_what_is_typed_wrong_is_a_usage_error(tmp_path: Path, typed: list[str], sentence: str) -> None:
    ended = anypag("learn", "--method", "icd", write_chain(tmp_path / "data.csv"), *typed)
    assert ended.code == 2 and sentence in ended.err
