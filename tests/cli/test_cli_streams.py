"""Where a command writes to may be full, closed or a circle: one sentence, and the exit code that the manual says."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import anypag, write_chain

from anypag.cli import outputs as drawing
from anypag.cli.terminal import printable
from anypag.plot import layout

FULL = Path("/dev/full")


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of shell, `anypag` being the command line."""
    command = line.replace("anypag", f"'{sys.executable}' -m anypag", 1)
    return subprocess.run(command, shell=True, cwd=folder, text=True, capture_output=True, timeout=300, check=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_chain(tmp_path / "data.csv")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "line", ["anypag learn data.csv --json --out g.json >/dev/full", "anypag learn data.csv --out g.json >/dev/full"]
)
def test_a_full_disk_behind_standard_output(data: Path, line: str) -> None:
    ended = shell(line, data.parent)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == "anypag: Standard output could not be written: No space left on device."
    assert "Traceback" not in ended.stderr and "Exception" not in ended.stderr
    assert (data.parent / "g.json").is_file()


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(data: Path, closed: str) -> None:
    ended = shell(f"anypag learn data.csv --method icd --out g.json --checkpoint c.anypag {closed}", data.parent)
    assert ended.returncode == (0 if closed == "2>&-" else 1)
    assert "Traceback" not in ended.stderr + ended.stdout
    if closed == ">&-":
        assert ended.stderr == "anypag: Standard output could not be written: it is closed.\n"
    assert (data.parent / "g.json").is_file()
    assert anypag("learn", "--method", "icd", data, "--checkpoint", data.parent / "c.anypag", "--resume").code == 0


def test_a_closed_stream_that_nothing_is_written_to_is_no_error(data: Path) -> None:
    assert shell("anypag learn data.csv --quiet --out g.json >&-", data.parent).returncode == 0


@pytest.mark.parametrize("more", ["", " --json"])
def test_an_error_that_nobody_reads_keeps_its_exit_code(data: Path, more: str) -> None:
    """It was 1, and now and then Python's 120: what was left to write when the reader had gone."""
    command = f"'{sys.executable}' -m anypag learn data.csv --out no-such-ending.zip{more} 2>&1"
    line = f"set -o pipefail; {command} | true"
    ended = subprocess.run(["bash", "-c", line], cwd=data.parent, capture_output=True, timeout=300, check=False)
    assert ended.returncode == 2


def test_outputs_on_a_circle_of_links(data: Path) -> None:
    (data.parent / "a.json").symlink_to(data.parent / "b.json")
    (data.parent / "b.json").symlink_to(data.parent / "a.json")
    for option in ("--out", "--checkpoint"):
        ended = anypag("learn", "--method", "icd", data, option, data.parent / "a.json")
        assert ended.code == 2 and "the links lead in a circle" in ended.err
    assert anypag("learn", "--method", "icd", data.parent / "a.json").code == 1


@pytest.mark.parametrize("name", ["x\nWrote y", "x\r\nanypag: fake", "a\u2028b", "\x1b[2J"])
def test_a_name_cannot_fake_a_line(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300))
    c = a + b + rng.normal(size=300)
    rows = "\n".join(f"{x},{y},{z}" for x, y, z in zip(a, b, c, strict=True))
    quoted = name.replace('"', '""')
    (tmp_path / "t.csv").write_text(f'"{quoted}",b,c\n{rows}\n', newline="")
    out = tmp_path / "g.json"
    learned = anypag("learn", "--method", "icd", tmp_path / "t.csv", "--out", out)
    assert learned.code == 0
    said = [
        learned,
        anypag("show", out),
        anypag("explain", out, name, "c"),
        anypag("explain", out, "b", "no such"),
        anypag("learn", "--method", "icd", tmp_path / "t.csv", "--columns", "nothing"),
        anypag("audit", tmp_path / "t.csv", "--max-r", "1"),
    ]
    lines = [line for ended in said for line in (ended.out + ended.err).splitlines()]
    assert not [line for line in lines if line.lstrip().startswith(("Wrote y", "anypag: fake", "b,", "\x1b"))]
    assert "\n" not in printable(name) and "\r" not in printable(name)


def dense(path: Path, columns: int = 25) -> Path:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(400, columns)) + 2 * rng.normal(size=(400, 1))
    rows = [",".join(f"c{k}" for k in range(columns)), *(",".join(f"{x:.5f}" for x in row) for row in values)]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_data_files_come_first_and_a_spent_budget_leaves_drawings_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def slow(*_: object, **__: object) -> None:
        order.extend(sorted(path.name for path in tmp_path.iterdir()))
        time.sleep(30)

    monkeypatch.setattr(layout, "_component", slow)
    monkeypatch.setattr(drawing, "SECONDS_FOR_DRAWING", -0.5)
    data = dense(tmp_path / "t.csv")
    outs = [tmp_path / name for name in ("g.svg", "g.json", "r.html", "g.csv")]
    options = [part for out in outs for part in ("--out", out)]
    began = time.monotonic()
    ended = anypag("learn", data, "--max-r", "0", "--time-budget", "3s", *options)
    assert time.monotonic() - began < 20
    assert ended.code == 3, ended
    assert {"g.json", "g.csv"} <= set(order)
    assert f"{outs[0]} was left out: the time budget is spent." in ended.out
    assert f"{outs[2]} was left out: the time budget is spent." in ended.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.csv", "g.json", "t.csv"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_drawing_and_the_rest_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    def signalled(*_: object, **__: object) -> None:
        os.kill(os.getpid(), number)
        time.sleep(30)

    monkeypatch.setattr(layout, "_component", signalled)
    data = dense(tmp_path / "t.csv", columns=6)
    ended = anypag(
        "learn",
        "--method",
        "icd",
        data,
        "--out",
        tmp_path / "g.svg",
        "--out",
        tmp_path / "g.json",
        "--report",
        tmp_path / "r.html",
        "--json",
    )
    assert ended.code == 3
    assert [Path(path).name for path in ended.document["written"]] == ["g.json"]
    assert all("interrupted while it was drawn" in sentence for sentence in ended.document["left_out"])
    assert len(ended.document["left_out"]) == 2


def test_a_dense_early_graph_ends_with_a_sentence_and_a_report(tmp_path: Path) -> None:
    data = dense(tmp_path / "t.csv", columns=90)
    out = [tmp_path / name for name in ("w.svg", "w.json", "w.html")]
    ended = anypag("learn", data, "--max-r", "0", *(part for path in out for part in ("--out", path)))
    assert ended.code == 1
    assert (
        "w.svg was not written: A graph of 90 variables and" in ended.err and "is too large for a picture" in ended.err
    )
    assert out[1].is_file() and out[2].is_file() and not out[0].exists()


@pytest.mark.parametrize("command", ["learn", "audit"])
def test_a_reader_that_panics_says_one_sentence(tmp_path: Path, command: str) -> None:
    """Found by fuzzing: polars panics over this file, and says so on standard error before it raises."""
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40), "c": rng.normal(size=40)})
    (tmp_path / "t.arrow").write_bytes(panicking(table))
    ended = shell(f"anypag {command} t.arrow", tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.startswith("anypag: The file t.arrow cannot be read as a .arrow table")
    assert len(ended.stderr.splitlines()) == 1


def panicking(table: pl.DataFrame) -> bytes:
    """An Arrow file that is cut off in its body, with its footer in place."""
    file = io.BytesIO()
    table.write_ipc(file, compression="uncompressed")
    whole = file.getvalue()
    return whole[:300] + whole[1000:]
