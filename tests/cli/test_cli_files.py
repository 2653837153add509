"""The command line with files as people have them, and with what it wrote itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import anypag, write_chain

import anypag as ap
from anypag.errors import GraphError


def test_options_about_the_file_reach_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"größe": rng.normal(size=80), "b": rng.normal(size=80), "wann": "2020-01-01"})
    frame.to_csv(path, encoding="latin-1")
    ended = anypag("learn", "--method", "icd", path, "--drop", "wann")
    assert ended.code == 1 and "--encoding latin-1" in ended.err
    ended = anypag("learn", "--method", "icd", path, "--encoding", "latin-1", "--drop", "wann")
    assert ended.code == 0 and "80 rows, 2 variables" in ended.out
    ended = anypag("audit", path, "--encoding", "latin-1", "--columns", "b,größe", "--json")
    assert list(ended.document["kinds"]) == ["b", "größe"]
    frame[["größe", "b"]].to_csv(path, index=False, header=False)
    assert list(anypag("audit", path, "--no-header", "--json").document["kinds"]) == ["X0", "X1"]


def test_a_table_comes_by_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_chain(path)
    done = subprocess.run(
        [sys.executable, "-m", "anypag", "learn", "--method", "icd", "-"],
        input=path.read_bytes(),
        capture_output=True,
        env={**os.environ, "COLUMNS": "200"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "standard-input.csv: " in done.stdout.decode()  # after what a first run says of compiling


def test_what_learn_writes_as_csv_is_read_back_everywhere(tmp_path: Path) -> None:
    path, table, back = tmp_path / "t.csv", tmp_path / "pag.csv", tmp_path / "again.csv"
    write_chain(path)
    assert anypag("learn", "--method", "icd", path, "--out", table, "--out", tmp_path / "pag.json").code == 0
    graph = ap.read_graph(tmp_path / "pag.json")
    assert ap.read_graph(table) == graph
    assert anypag("convert", table, back).code == 0
    assert back.read_text().startswith("from,to,edge\n")
    assert ap.read_graph(back) == graph
    assert anypag("convert", table, back, "--to", "pcalg").code == 0
    assert ap.read_graph(back) == graph, "a matrix in a .csv is still read"


@pytest.mark.parametrize("name", ["=1+1", "'=x", "-a", "@b", "plain", "with,comma", "'quoted"])
def test_names_that_look_like_formulas_come_back(tmp_path: Path, name: str) -> None:
    graph = ap.PAG.from_edges([ap.Edge(name, "B", ap.Mark.CIRCLE, ap.Mark.ARROW)], [name, "B", "alone"])
    ap.write_graph(graph, tmp_path / "g.csv")
    assert not (tmp_path / "g.csv").read_text().splitlines()[1].startswith(("=", "-", "@"))
    assert ap.read_graph(tmp_path / "g.csv") == graph


def test_a_broken_edge_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="A line of an edge table is A,B,edge \\(edge"):
        ap.loads("from,to,edge\nA,B,=>\n", "edges")


def test_a_misspelt_name_among_separations_gets_a_suggestion(tmp_path: Path) -> None:
    result = ap.learn(ap.Oracle(ap.DAG.from_string("storm --> fire; fire --> smoke")))
    result.save(tmp_path / "r.json")
    for sepsets in (result.sepsets, ap.read_result(tmp_path / "r.json").sepsets):  # type: ignore[union-attr]
        with pytest.raises(GraphError, match="There is no variable 'smok'; did you mean 'smoke'"):
            sepsets["storm", "smok"]
        with pytest.raises(KeyError):
            sepsets["storm", "fire"]
        assert sepsets.get(("storm", "smok")) is None
        assert sepsets["smoke", "storm"].given == ("fire",)
