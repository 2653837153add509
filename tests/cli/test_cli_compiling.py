"""The line that says what the first run waits for."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from commands import anypag, write_chain

from anypag._kernels import patience
from anypag._kernels.patience import COMPILING, njit, numba
from anypag.cli import data as warming
from anypag.cli import running
from anypag.cli.running import compiling_told
from anypag.cli.terminal import Terminal
from anypag.run.clock import NOTICE
from anypag.search.progress import Progress


@pytest.fixture(autouse=True)
def _nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has just begun, with all large kernels on disk."""
    numba()
    monkeypatch.setattr(COMPILING, "_done", 0.0)
    monkeypatch.setattr(COMPILING, "misses_large", False)
    monkeypatch.setattr(patience, "A_WHILE", 1e9)


def told(compiled: Any, *, quiet: bool = False) -> str:
    out, terminal = io.StringIO(), Terminal()
    terminal.quiet = quiet
    with redirect_stdout(out), compiling_told(terminal):
        compiled(1)
        compiled(1.5)
    return out.getvalue()


def test_compiling_is_told_once_and_only_when_it_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    double = njit()(lambda x: 2 * x)
    monkeypatch.setattr(COMPILING, "misses_large", True)
    assert told(double) == NOTICE + "\n"
    assert told(double) == ""


def test_a_little_compiling_is_not_told() -> None:
    assert told(njit()(lambda x: 2 * x)) == ""


def test_compiling_for_a_while_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    double = njit()(lambda x: 2 * x)
    double(True)
    monkeypatch.setattr(patience, "A_WHILE", COMPILING.seconds)
    assert told(double) == NOTICE + "\n"


def test_a_large_kernel_that_is_not_on_disk_is_told_whatever_else_is_there(tmp_path: Path) -> None:
    """Another kernel is on disk already; the second process finds the large one there too."""
    program = tmp_path / "large.py"
    program.write_text(
        "from anypag._kernels.patience import njit\n"
        "from anypag.cli.running import compiling_told\n"
        "from anypag.cli.terminal import Terminal\n"
        "@njit(cache=True)\n"
        "def small(x): return x + 1\n"
        "@njit('int64(int64)', cache=True)\n"
        "def large(x): return x + 2\n"
        "with compiling_told(Terminal()):\n"
        "    small(1), print('small')\n"
        "    large(1), print('large')\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for expected in (["small", NOTICE, "large"], ["small", "large"]):
        done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == expected


def test_long_compiling_is_told_again_with_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COMPILING, "misses_large", True)
    monkeypatch.setattr(running, "SECONDS_BETWEEN_NOTICES", 0.0)
    first, *later = told(njit()(lambda x: 4 * x)).splitlines()
    assert first == NOTICE and later
    assert all(re.fullmatch(r"Compiling: \d+ s so far\.", line) for line in later)


def test_waiting_for_another_process_is_told_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = list[bool]()

    def hear() -> None:
        heard.append(True)
        if len(heard) == 3:  # the first is the beginning of the wait, and the end of it would be the second
            process.kill()

    monkeypatch.setattr(COMPILING, "hearers", [hear])
    monkeypatch.setattr(patience, "SECONDS_TO_WAIT", 0.01)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"]) as process:
        monkeypatch.setitem(patience._ahead, "orders", process)
        patience._wait_for("anypag._kernels.orders")
    assert process.returncode == -signal.SIGKILL


def test_a_phase_that_takes_longer_than_foretold_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    foretold, out = running._Foretold(Terminal()), io.StringIO()
    with redirect_stdout(out):
        for now, left in ((0.0, 30.0), (20.0, 60.0), (31.0, 50.0), (100.0, 40.0), (122.0, 40.0), (163.0, 5.0)):
            monkeypatch.setattr(time, "monotonic", lambda now=now: now)
            foretold(Progress(-1, "sampling for effects", 1, 10, 0, seconds_left=left))
    told = [line.partition(": ")[2] for line in out.getvalue().splitlines()]
    assert told == ["about 30 seconds left.", "about 50 seconds left.", "about 40 seconds left."]


CALLED_BACK = """
import signal
from llvmlite.binding import ExecutionEngine
from anypag._kernels.patience import njit
from anypag.cli.running import Interrupts

set_object_cache, signals = ExecutionEngine.set_object_cache, [signal.SIGINT]

def set_interrupted(engine, notify, get_buffer):
    def interrupted(*told):  # LLVM calls it after seconds without Python, so a signal mostly comes here
        while signals:
            signal.raise_signal(signals.pop())
        notify(*told)
    set_object_cache(engine, interrupted, get_buffer)

ExecutionEngine.set_object_cache = set_interrupted
inner = njit()(lambda x: x + 1)
outer = njit()(lambda x: inner(x) + 1)
with Interrupts():
    try:
        outer(1)
    except KeyboardInterrupt:
        print(len(outer.signatures))
"""


def test_a_signal_while_llvm_compiles_is_not_lost() -> None:
    done = subprocess.run([sys.executable, "-c", CALLED_BACK], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COMPILING, "misses_large", True)
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
    monkeypatch.setattr(warming, "RUNS", {"numbers": (("continuous",), ({},))})
    ended = anypag("warm")
    assert ended.code == 0
    assert ended.out.startswith("Tables of numbers: ")


AFTERWARDS = """
import numpy as np, anypag as ap
from anypag._kernels.patience import COMPILING

random = np.random.default_rng(1)
numbers = ap.simulate.random_system(60, 3.0, seed=1).linear_gaussian(1500, seed=1).__array__()
levels = (numbers[:, :20] > 0).astype(int) + (numbers[:, :20] > 1)
few, mixed = numbers[:, :8], np.where(np.arange(8) % 2, numbers[:, :8], levels[:, :8])
gaps = np.where(random.random(few.shape) < 0.02, np.nan, few)
tiers = ap.Knowledge.from_text("tiers: X0 X1 | X2 X3 X4 X5 X6 X7")
marks = ap.Knowledge.from_text("X0 ~> X1; X2 !~> X3; X4 !<-> X5".replace("; ", chr(10)))
for choices in (
    *({"method": method} for method in ("icd", "fci", "rfci", "fci+", "gfci", "boss", "bayes", "auto")),
    {"data": numbers, "method": "icd"}, {"data": levels, "test": "gsq", "method": "icd"},
    {"data": levels[:, :8]}, {"data": levels[:, :6], "method": "fci"},
    {"data": levels[:, :6], "test": "gsq", "method": "fci"},
    {"data": mixed}, {"data": mixed, "method": "icd"}, {"data": mixed, "method": "fci", "max_r": 1},
    {"data": gaps, "missing": "pairwise", "method": "icd"}, {"data": gaps, "missing": "drop"},
    {"test": "additive"}, {"test": "additive", "method": "fci", "max_r": 1}, {"transform": "normal-scores"},
    {"knowledge": tiers}, {"knowledge": marks, "selection_bias": False, "method": "bayes"},
    {"knowledge": marks, "selection_bias": False, "method": "icd"}, {"test": "gcm", "method": "icd", "max_r": 1},
    {"data": ap.Oracle(ap.simulate.random_system(12, 2.0, seed=1).dag)},
):
    before = COMPILING.seconds
    by_scores = choices.get("method", "auto") in ("auto", "bayes", "boss", "gfci")
    ap.learn(choices.pop("data", few), **choices, **({"effort": 0.05} if by_scores else {}))
    if COMPILING.seconds > before:
        print(sorted(choices.items(), key=str), round(COMPILING.seconds - before, 1))
"""


@pytest.mark.slow
def test_after_warm_no_search_waits(tmp_path: Path) -> None:
    """As in a new installation: the cache is empty before."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "ANYPAG_PATIENCE": "0"}
    for code in ("from anypag.cli.main import main; raise SystemExit(main(['warm']))", AFTERWARDS):
        run = [sys.executable, "-W", "ignore", "-c", code]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert done.stdout == ""
