"""The line that says what the first run waits for."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from commands import anypag, write_chain

from anypag._kernels.patience import COMPILING, njit
from anypag.cli import data as warming
from anypag.cli.running import compiling_told
from anypag.cli.terminal import Terminal
from anypag.run.clock import NOTICE


def told(compiled: Any, *, quiet: bool = False) -> str:
    out, terminal = io.StringIO(), Terminal()
    terminal.quiet = quiet
    with redirect_stdout(out), compiling_told(terminal):
        compiled(1)
        compiled(1.5)
    return out.getvalue()


def test_compiling_is_told_once_and_only_when_it_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    double = njit()(lambda x: 2 * x)
    double(True)  # the compiler is there, and has looked
    monkeypatch.setattr(COMPILING, "is_first", True)
    assert told(double) == NOTICE + "\n"
    assert told(double) == ""


def test_it_is_not_told_again_for_each_kind_of_run(monkeypatch: pytest.MonkeyPatch) -> None:
    double = njit()(lambda x: 2 * x)
    double(True)
    monkeypatch.setattr(COMPILING, "is_first", False)
    assert told(double) == ""


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COMPILING, "is_first", True)
    assert told(njit()(lambda x: 3 * x), quiet=True) == ""


@pytest.mark.parametrize("threads", ["1", "2", "0"])
def test_threads_from_the_command_line(tmp_path: Path, threads: str) -> None:
    data = write_chain(tmp_path / "chain.csv")
    one, many = (
        anypag("learn", "--method", "icd", data, "--json"),
        anypag("learn", "--method", "icd", data, "--json", "--threads", threads),
    )
    assert many.code == 0
    assert many.document["result"]["graph"] == one.document["result"]["graph"]


def test_threads_where_there_are_none(tmp_path: Path) -> None:
    ended = anypag("learn", write_chain(tmp_path / "chain.csv"), "--threads", "2", "--method", "icd-paper")
    assert ended.code != 0
    assert "The option --threads must be left out: method 'icd-paper' does not use it" in ended.err


@pytest.mark.slow
def test_warm_compiles_and_tells_for_what(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYPAG_PATIENCE", "0")
    monkeypatch.setattr(warming, "RUNS", {"numbers": (("continuous",), "auto")})
    ended = anypag("warm")
    assert ended.code == 0
    assert ended.out.startswith("Tables of numbers: ")
