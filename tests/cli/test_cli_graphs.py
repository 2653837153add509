from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import anypag, write_chain

import anypag as ap
from anypag.graphs.formats.registry import read_graph


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.txt"
    path.write_text("a o-> b; b --> c; d\n")
    return path


def test_show(graph: Path) -> None:
    ended = anypag("show", graph)
    assert ended == (0, "PAG with 4 nodes and 2 edges: 1 -->, 1 o->\n\na o-> b\nb --> c\nd\n", "")
    document = anypag("show", graph, "--json").document
    assert document["counts"] == {"-->": 1, "o->": 1} and document["nodes"] == ["a", "b", "c", "d"]


def test_show_says_how_a_result_was_learned(tmp_path: Path) -> None:
    anypag("learn", "--method", "icd", write_chain(tmp_path / "data.csv"), "--out", tmp_path / "pag.json")
    assert "Learned by icd. Complete" in anypag("show", tmp_path / "pag.json").out


def test_show_of_data_says_to_learn_first(tmp_path: Path) -> None:
    ended = anypag("show", write_chain(tmp_path / "data.csv"))
    assert ended.code == 1 and "data.csv looks like data, not a graph" in ended.err


@pytest.mark.parametrize("ending", ["json", "tetrad", "dagitty", "csv"])
def test_convert_and_back(graph: Path, ending: str) -> None:
    there, back = graph.with_suffix(f".{ending}"), graph.with_name("back.txt")
    assert anypag("convert", graph, there).code == 0
    assert anypag("convert", there, back).code == 0
    assert read_graph(back) == read_graph(graph)


def test_convert_by_the_name_of_a_format(graph: Path) -> None:
    there, back = graph.with_name("matrix.dat"), graph.with_name("back.txt")
    assert anypag("convert", graph, there, "--to", "pcalg", "--json").document["nodes"] == 4
    assert anypag("convert", there, back, "--from", "pcalg").code == 0
    assert read_graph(back) == read_graph(graph)
    ended = anypag("convert", graph, there, "--to", "morse")
    assert ended.code == 2 and "Formats are 'text', 'json'" in ended.err


def test_convert_draws(graph: Path) -> None:
    assert anypag("convert", graph, graph.with_suffix(".svg")).code == 0
    assert graph.with_suffix(".svg").read_text().startswith("<svg")


def test_a_graph_does_not_take_the_place_of_a_table(graph: Path) -> None:
    table, edges = write_chain(graph.with_name("data.csv")), graph.with_name("edges.csv")
    before = table.read_bytes()
    for command in (("convert", graph, table), ("learn", write_chain(graph.with_name("b.csv")), "--out", table)):
        ended = anypag(*command)
        assert ended.code == 2 and "it exists, and anypag did not write it" in ended.err
    assert table.read_bytes() == before
    for _ in range(2):
        assert anypag("convert", graph, edges).code == 0
    for _ in range(2):
        assert anypag("convert", graph, edges, "--to", "pcalg").code == 0


def test_convert_makes_no_file_named_for_standard_output(graph: Path) -> None:
    ended = anypag("convert", graph, "-", "--to", "dagitty")
    assert ended.code == 2 and "name a file, not standard output" in ended.err and not Path("-").exists()


def test_convert_does_not_write_over_its_input(graph: Path) -> None:
    ended = anypag("convert", graph, graph)
    assert ended.code == 2 and "it is an input" in ended.err


def test_a_report_needs_a_result(graph: Path) -> None:
    ended = anypag("convert", graph, graph.with_suffix(".html"))
    assert ended.code == 2 and "graph.txt holds only a graph" in ended.err


def test_compare(graph: Path) -> None:
    other = graph.with_name("other.txt")
    other.write_text("a o-o b; b --> c; c o-o d")
    ended = anypag("compare", other, graph)
    assert ended.code == 0 and "extra edges            1" in ended.out
    assert "c o-o d, not joined in the true one" in ended.out
    found = anypag("compare", other, graph, "--json").document
    assert found["wrong_marks"] == 1
    assert {"a": "c", "b": "d", "first": "o-o", "second": ""} in found["differences"]
    other.write_text("a --> z")
    ended = anypag("compare", other, graph)
    assert ended.code == 1 and "Graphs are compared over the same names" in ended.err


def test_two_learned_graphs_are_compared_and_neither_is_the_truth(tmp_path: Path) -> None:
    system = ap.simulate.random_system(7, seed=3)
    for name, rows in (("one", 400), ("two", 60)):
        ap.learn(system.linear_gaussian(rows, seed=1), method="icd").save(tmp_path / f"{name}.json")
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    ended = anypag("compare", one, two)
    differing = ap.metrics.differences(*(ap.read_graph(path) for path in (one, two)))
    assert differing and ended.code == 0
    assert ended.out.startswith(f"{len(differing)} of ")
    assert "true" not in ended.out and "precision" not in ended.out
    assert all(f"{item.a}" in ended.out for item in differing)
    assert len(anypag("compare", one, two, "--json").document["differences"]) == len(differing)
    assert anypag("compare", one, one).out.startswith("0 of ")


def test_explain_a_bare_graph(graph: Path) -> None:
    assert "a may be a cause of b" in anypag("explain", graph, "a", "b").out
    assert anypag("explain", graph, "a", "b", "--json").document["edge"] == "o->"
    ended = anypag("explain", graph, "a", "z")
    assert ended.code == 1 and "There is no node 'z'" in ended.err


def test_what_is_not_there_or_no_graph(tmp_path: Path) -> None:
    ended = anypag("show", tmp_path / "none.json")
    assert ended.code == 1 and ended.err == f"anypag: There is no file {tmp_path / 'none.json'}.\n"
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    assert anypag("show", broken).code == 1
    assert anypag("show", broken, "--json").document["exit_code"] == 1
    assert anypag("show", tmp_path).code == 1


def test_a_broken_result_is_refused_by_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "pag.json"
    anypag("learn", "--method", "icd", write_chain(tmp_path / "data.csv"), "--out", path)
    document = json.loads(path.read_text())
    document["meta"]["anypag"]["separations"][0][0] = 99
    path.write_text(json.dumps(document))
    ended = anypag("explain", path, "a", "b")
    assert ended.code == 1
    wanted = 'under "meta", "anypag", "separations", row 0: a whole number from 0 to below 4 was wanted; got 99'
    assert ended.err == f"anypag: pag.json: {wanted} (the file was written by anypag {ap.__version__}).\n"
