"""The world around a command: full disks, small limits, closed streams, forks. A sentence, and a code of the manual."""

from __future__ import annotations

import random
import resource
import subprocess
import sys
from pathlib import Path

import anypag as ap
from anypag.data import as_table
from anypag.errors import AnypagError, DataError
from attack.children import Counts, answered
from attack.runs import SAMPLE

CODES = {0, 1, 2, 3, 130}
REDIRECTIONS = (
    *(">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full", ">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-"),
    *("| true", "2>&1 | true", ">/dev/null", "2>&1 >/dev/full"),
)
COMMANDS = (
    "learn data.csv",
    "learn data.csv --json",
    "learn data.csv --quiet",
    "learn data.csv --out o.json --out o.svg --checkpoint c.anypag --resume",
    "learn data.csv --out /dev/full",
    "learn missing.csv --json",
    "learn data.csv --no-such-option",
    "audit data.csv",
    "audit data.csv --json",
    "show graph.json",
    "show graph.json --json",
    "explain graph.json X0 X1",
    "convert graph.json o.txt",
    "simulate s.csv --variables 5 --truth t.json",
    "--help",
    "learn --help",
    "--version",
)


def prepared(folder: Path) -> Path:
    """A folder with data and a graph in it."""
    columns = {name: column.tolist() for name, column in SAMPLE.items()}
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    ap.learn(folder / "data.csv", method="icd").save(folder / "graph.json")
    return folder


def streams(seed: int, count: int, folder: Path) -> Counts:
    """Commands whose standard streams are full, closed or read by nobody."""
    rng, counts = random.Random(seed), Counts()
    answered(prepared, folder, method="spawn")
    for _ in range(count):
        command, where = rng.choice(COMMANDS), rng.choice(REDIRECTIONS)
        line = f"set -o pipefail; '{sys.executable}' -m anypag {command} {where}"
        ended = subprocess.run(
            ["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
        said = ended.stdout + ended.stderr
        assert "Traceback" not in said and "Exception ignored" not in said, f"seed {seed}, {command} {where}: {said}"
        assert ended.returncode in CODES, f"seed {seed}, {command} {where}: exit code {ended.returncode}"
        counts[f"exit code {ended.returncode}"] += 1
    return counts


def small_disks(seed: int, count: int, folder: Path) -> Counts:
    """A limit on how large files may become: what cannot be written whole is not written, what was there stays."""
    rng, counts = random.Random(seed), Counts()
    answered(prepared, folder, method="spawn")
    for k in range(count):
        limit = int(10 ** rng.uniform(0, 5.3))
        counts[answered(_write_all, folder, k, limit)] += 1
    return counts


def _write_all(folder: Path, k: int, limit: int) -> str:
    """Every output, the checkpoint included, under a limit; was everything written?"""
    outs = [folder / f"o{ending}" for ending in (".json", ".csv", ".txt", ".html")]
    for out in outs:
        out.write_text("old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    failed = 0
    try:
        result = ap.learn(SAMPLE, method="icd", checkpoint=folder / f"c{k}.anypag")
    except AnypagError as error:
        failed += 1
        assert "cannot be written" in str(error)
        result = error.result or ap.learn(SAMPLE, method="icd")
    for out in outs:
        try:
            result.save(out)
            assert out.read_text() != "old"
        except OSError:
            failed += 1
            assert out.read_text() == "old", f"{out} is half written"
    parts = [name.name for name in folder.iterdir() if name.name.endswith(".part")]
    assert not parts, f"{parts} were left behind"
    return "all written" if not failed else "some refused"


def forks(seed: int, count: int, folder: Path) -> Counts:
    """Children forked from a process that has read files: told so, not left hanging."""
    return answered(_fork_all, count, folder, method="spawn")  # type: ignore[no-any-return]


def _fork_all(count: int, folder: Path) -> Counts:
    prepared(folder)
    as_table(folder / "data.csv")
    counts: Counts = Counts()
    for _ in range(count):
        counts[answered(_read, folder / "data.csv")] += 1
    return counts


def _read(path: Path) -> str:
    from anypag.data.files import scan as module

    module.SECONDS_TO_ANSWER = 0.5
    try:
        as_table(path)
    except DataError as error:
        assert "forked from one that had read files" in str(error)
        return "told"
    return "read"
