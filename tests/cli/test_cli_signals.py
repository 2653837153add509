"""Signals and kill -9, on a run in a process of its own with slow tests."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from commands import write_system

from anypag.cli.commands import ExitCode
from anypag.cli.main import COMMANDS
from anypag.graphs.formats.registry import read_graph

SLOW_RUN = Path(__file__).with_name("slow_run.py")
SECONDS_PER_TEST = 0.004
FOREVER = 600.0
TESTS_AT_0 = 10 * 9 // 2  # ten of the eleven variables are observed


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_system(tmp_path / "data.csv", 11, 2.5, seed=7)


def start(
    data: Path, *options: str | Path, seconds: float = SECONDS_PER_TEST, at_0: float = SECONDS_PER_TEST
) -> subprocess.Popen[str]:
    program = [
        sys.executable,
        SLOW_RUN,
        str(seconds),
        str(at_0),
        data.with_name("log"),
        "learn",
        "--method",
        "icd",
        data,
        *options,
    ]
    return subprocess.Popen(
        [str(part) for part in program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=data.parent
    )


def read_until(run: subprocess.Popen[str], beginning: str) -> None:
    assert run.stdout is not None
    for line in run.stdout:
        if line.startswith(beginning):
            return
    raise AssertionError(f"no line begins with {beginning!r}: {run.stderr.read() if run.stderr else ''}")


def wait_for_tests(run: subprocess.Popen[str], data: Path, count: int) -> None:
    """Until so many tests have begun."""
    log, give_up = data.with_name("log"), time.monotonic() + 120
    while not log.exists() or log.stat().st_size < count:
        assert run.poll() is None and time.monotonic() < give_up, "the tests did not begin"
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_with_the_last_graph_in_every_output(data: Path, number: signal.Signals) -> None:
    outs = [data.with_name("pag.json"), data.with_name("pag.txt")]
    run = start(data, "--out", outs[0], "--out", outs[1], seconds=FOREVER)
    wait_for_tests(run, data, TESTS_AT_0 + 1)
    run.send_signal(number)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 3, err
    assert "Stopped early: interrupted. The graph is complete up to r = 0" in out
    assert "A next iteration would test" in out and not err
    assert read_graph(outs[0]) == read_graph(outs[1])


def test_a_signal_reaches_a_test_that_takes_long(data: Path) -> None:
    run = start(data, seconds=FOREVER)
    read_until(run, "r = 0  ")  # the line of the finished step, not one that says how long it will take
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=FOREVER / 10)
    assert run.returncode == 3


def test_an_interrupt_before_any_result(data: Path) -> None:
    out = data.with_name("pag.json")
    run = start(data, "--out", out, at_0=FOREVER)
    wait_for_tests(run, data, 1)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130
    assert err == "anypag: Interrupted before there was any result.\n" and not out.exists()


def test_a_second_interrupt_within_a_second_stops_at_once(data: Path, tmp_path: Path) -> None:
    program = tmp_path / "twice.py"
    program.write_text(
        "import signal, sys\n"
        "import anypag.cli.ending as ending\n"
        "from anypag.cli.main import main\n"
        "def slow_write(*arguments, **options):\n"
        "    for _ in range(2):\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "    print('went on')\n"
        "ending.save = slow_write\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    arguments = [sys.executable, program, "learn", "--method", "icd", data, "--out", data.with_name("pag.json")]
    ended = subprocess.run([str(part) for part in arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 130
    assert ended.stderr == "anypag: Stopped at once; nothing more was written.\n" and "went on" not in ended.stdout


INTERRUPTED = """
import runpy, signal, sys

class Interrupting:
    def find_spec(self, name, *_):
        if name == module:
            signal.raise_signal(int(number))

module, number, *sys.argv[1:] = sys.argv[1:]
sys.meta_path.insert(0, Interrupting())
runpy.run_module("anypag", run_name="__main__")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_signal_while_the_program_loads_ends_it_quietly(command: str, number: signal.Signals) -> None:
    for module in {"anypag.cli.main", "click", f"anypag.cli.{COMMANDS[command]}"}:
        program = [sys.executable, "-c", INTERRUPTED, module, str(int(number)), command, "none.csv"]
        ended = subprocess.run(program, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr) == (ExitCode.INTERRUPTED, "", ""), module


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["learn", "audit"])
def test_a_signal_while_a_command_loads_ends_it_with_one_line(data: Path, command: str, number: signal.Signals) -> None:
    program = [sys.executable, "-c", INTERRUPTED, "anypag.data.files.read_table", str(int(number)), command, data]
    ended = subprocess.run(list(map(str, program)), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (ExitCode.INTERRUPTED, "")
    assert ended.stderr == "anypag: Interrupted before there was any result.\n"


@pytest.fixture
def unbroken(data: Path) -> Any:
    """What the run gives when nothing happens to it, and how many tests that takes."""
    out = data.with_name("unbroken.json")
    run = start(data, "--out", out, seconds=0.0, at_0=0.0)
    run.communicate(timeout=120)
    assert run.returncode == 0
    n_tests = data.with_name("log").stat().st_size
    data.with_name("log").unlink()
    return without_seconds(out), n_tests


def check_killed(data: Path, unbroken: Any, moments: int, seed: int) -> None:
    """Kill a run at random moments until it has been killed so often, then let it end."""
    expected, _ = unbroken
    chosen, killed = random.Random(seed), 0
    kept, out = data.with_name("run.anypag"), data.with_name("pag.json")
    while killed < moments:
        run = start(data, "--checkpoint", kept, "--resume", "--out", out)
        read_until(run, "data.csv")
        time.sleep(chosen.uniform(0.0, 0.8))
        run.kill()
        run.communicate(timeout=60)
        killed += run.returncode == -signal.SIGKILL
        if run.returncode == 0:  # ended before it could be killed: begin again
            assert without_seconds(out) == expected
            kept.unlink()
    run = start(data, "--checkpoint", kept, "--resume", "--out", out)
    _, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    assert without_seconds(out) == expected


def test_kill_and_resume_gives_the_identical_result(data: Path, unbroken: Any) -> None:
    check_killed(data, unbroken, 2, seed=1)


@pytest.mark.slow
def test_kill_at_thirty_moments(data: Path, unbroken: Any) -> None:
    check_killed(data, unbroken, 30, seed=0)


def test_a_killed_run_repeats_no_more_than_the_last_seconds(data: Path, unbroken: Any) -> None:
    _, n_tests = unbroken
    kept, log = data.with_name("run.anypag"), data.with_name("log")
    run = start(data, "--checkpoint", kept)
    wait_for_tests(run, data, n_tests // 2)
    run.kill()
    run.communicate(timeout=60)
    run = start(data, "--checkpoint", kept, "--resume")
    run.communicate(timeout=120)
    assert run.returncode == 0
    repeated = log.stat().st_size - n_tests
    assert repeated <= 0.2 / SECONDS_PER_TEST + 5  # slow_run.py writes every 0.2 seconds


def without_seconds(path: Path) -> object:
    document = json.loads(path.read_text())
    for item in document["meta"]["anypag"]["history"]:
        del item["seconds"]
    return document
