"""Texts to take away: they run as they are, and give the graph of the page to the bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_session import OneStep, _home  # noqa: F401

from anypag.knowledge.knowledge import Knowledge
from anypag.results.files import load_result
from anypag.studio.settings import Settings
from anypag.studio.take_away import FORMATS, in_python, on_command_line
from studio_examples import session_on, small_table, status_of, told, write

HOSTILE = "a \"b\", 'c' $(touch x) `y` </script>"
CHANGES: dict[str, list[list[Any]]] = {
    "as it is": [["choice", "method", "icd"]],
    "mended": [
        ["choice", "method", "icd"],
        ["off", "b", True],
        ["kind", "k", "continuous"],
        ["gap", "-999"],
        ["choice", "missing", "drop"],
        ["choice", "alpha", 0.05],
        ["choice", "selection_bias", False],
        ["tiers", [["a"], ["c", HOSTILE]]],
        ["say", "not_causes", HOSTILE, "a"],
        ["say", "not_selecting", "a"],
    ],
}


def table_with_everything(path: Path) -> Path:
    random = np.random.default_rng(1)
    small_table(path)
    import polars

    frame = polars.read_csv(path)
    columns = {name: frame[name].to_numpy() for name in frame.columns}
    columns["k"] = random.integers(0, 4, size=300)
    columns[HOSTILE] = columns.pop("e")
    columns["a"] = np.where(np.arange(300) % 97 == 0, -999.0, columns["a"])
    write(path, columns)
    return path


def run_texts(texts: dict[str, str], folder: Path) -> tuple[str, str]:
    """What the program prints, and the graph that the commands write."""
    (folder / "program.py").write_text(texts["python"], encoding="utf-8")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    how: dict[str, Any] = {"cwd": folder, "env": environment, "capture_output": True, "text": True, "check": True}
    printed = subprocess.run([sys.executable, "-W", "ignore", "program.py"], **how).stdout
    subprocess.run(["bash", "-e", "-c", texts["shell"]], **how)
    return printed.strip(), str(load_result(json.loads((folder / "result.json").read_text(encoding="utf-8"))).pag)


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_both_texts_give_the_same_graph_to_the_bit(changes: list[list[Any]], tmp_path: Path) -> None:
    with session_on(table_with_everything(tmp_path / "my table.csv")) as session:
        for change in changes:
            told(session, *change)
        session.go()
        status_of(session, "done")
        result = session._result
        assert result is not None
        printed, written = run_texts(session.board.part("take"), tmp_path)
    assert printed == written == str(result.pag)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", ["a\x85b", "a\u2028b", "a\x0cb", "a\nEND\nb", "END", "it's", "-a"])
def test_names_with_strange_line_ends_stay_whole(name: str) -> None:
    names, made = [name, "c", "d"], Settings().changed("say", "causes", name, "c")
    told: dict[str, Any] = {}
    exec(in_python(made, names, "t.csv").split("result =")[0], told)
    assert told["known"] == made.of_search(names).knowledge
    written = on_command_line(made, names, "t.csv").split("<<'END'\n")[1].split("\nEND\n")[0]
    assert Knowledge.from_text(written) == told["known"]


def test_texts_of_a_stopped_search_stop_there_too(tmp_path: Path) -> None:
    with session_on(small_table(tmp_path / "table.csv"), OneStep) as session:
        session.go()
        status_of(session, "stopped")
        result, texts = session._result, session.board.part("take")
        assert result is not None and "stopped after r = 0" in texts["note"]
        printed, written = run_texts(texts, tmp_path)
    assert printed == written == str(result.pag)


def test_every_file_can_be_taken(tmp_path: Path) -> None:
    beginnings = {"report.html": b"<!doctype", "graph.svg": b"<svg", "graph.png": b"\x89PNG", "result.json": b"{"}
    with session_on(small_table(tmp_path / "table.csv")) as session:
        told(session, "choice", "method", "icd")
        session.go()
        status_of(session, "done")
        for name in FORMATS:
            assert session.take(name).startswith(beginnings.get(name, b"from,to,"))
