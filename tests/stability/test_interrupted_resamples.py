"""Ctrl-C while resamples are made: here and in worker processes. What is done by then is kept, and nothing hangs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed

import anypag as ap
from anypag.results.result import Result
from anypag.run.replicates import Replicates
from conftest import Clock

PROGRAM = """
import sys
import anypag as ap

def tick(progress):
    if progress.phase == "resamples":
        with open(sys.argv[1] + ".log", "a") as log:
            log.write(".")

if __name__ == "__main__":
    path, jobs = sys.argv[1], int(sys.argv[2])
    s = ap.bootstrap(path, method="icd", n=1_000_000, n_jobs=jobs, checkpoint=path + ".run", progress=tick)
    s.save(sys.argv[1] + ".json")
    print(s.n, s.asked, s.stopped)
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    sample = ap.simulate.random_system(8, 2.0, seed=1).linear_gaussian(200, seed=1)
    rows = [",".join(sample.names), *(",".join(map(repr, row)) for row in sample.rows.tolist())]
    path.write_text("\n".join(rows))
    return path


def wait_for(path: Path, size: int, run: subprocess.Popen[str]) -> None:
    give_up = time.monotonic() + 120
    while not path.exists() or path.stat().st_size < size:
        assert run.poll() is None and time.monotonic() < give_up, "the resamples did not begin"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("n_jobs", "to_all"),
    [pytest.param(1, False, marks=pytest.mark.slow), pytest.param(2, False, marks=pytest.mark.slow), (2, True)],
)
def test_an_interrupt_ends_with_the_resamples_done_by_then(data: Path, n_jobs: int, to_all: bool) -> None:
    """A terminal sends Ctrl-C to all processes of a job, `kill -INT` to one."""
    program = data.with_name("program.py")
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), str(data), str(n_jobs)]
    own = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    run = subprocess.Popen(command, **own)  # type: ignore[call-overload]
    wait_for(Path(f"{data}.log"), 6, run)
    (os.killpg if to_all else os.kill)(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 0, err
    n, asked, stopped = out.split()[-3:]
    assert int(n) >= 5 and (asked, stopped) == ("1000000", "interrupt")
    result = ap.read_result(f"{data}.json")
    assert isinstance(result, Result)
    kept = result.stability
    assert kept is not None and kept.n == int(n)
    again = ap.bootstrap(str(data), method="icd", n=int(n), checkpoint=f"{data}.run", resume=True)
    assert again.n == int(n)
    assert not _alive(run.pid), "a worker goes on"


def _alive(group: int) -> bool:
    """Is any process of a group left? Those that end on their own are waited for."""
    give_up = time.monotonic() + 30
    while time.monotonic() < give_up:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    return True


class Poison:
    """Unpickling it, in a worker, is interrupted."""

    def __reduce__(self) -> Any:
        return eval, ("(_ for _ in ()).throw(KeyboardInterrupt)",)


@pytest.mark.parametrize("is_interrupt", [True, False])
def test_a_worker_that_is_interrupted_while_it_imports(
    data: Path, monkeypatch: pytest.MonkeyPatch, is_interrupt: bool
) -> None:
    """A worker that dies in another way is an error."""

    def made(*_: Any) -> Iterator[Any]:
        if not is_interrupt:
            raise BrokenProcessPool("a worker ran out of memory")
        yield from Parallel(n_jobs=2)(delayed(id)(Poison()) for _ in range(2))

    monkeypatch.setattr("anypag.run.bootstrap.made_through_joblib", made)
    if is_interrupt:
        assert ap.bootstrap(str(data), method="icd", n=4, n_jobs=2).stopped == "interrupt"
    else:
        with pytest.raises(BrokenProcessPool, match="memory"):
            ap.bootstrap(str(data), method="icd", n=4, n_jobs=2)


@pytest.mark.slow
def test_the_command_line_ends_with_the_resamples_done_by_then(data: Path) -> None:
    out, kept = data.with_name("pag.json"), data.with_name("run")
    command = [
        "learn",
        "--method",
        "icd",
        data,
        "--bootstrap",
        "1000000",
        "--n-jobs",
        "2",
        "--checkpoint",
        kept,
        "--out",
        out,
    ]
    run = subprocess.Popen(
        [sys.executable, "-m", "anypag", *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(kept, 1, run)
    wait_for(kept, kept.stat().st_size + 1, run)  # it grows by resamples
    os.killpg(run.pid, signal.SIGINT)
    told, err = run.communicate(timeout=60)
    assert run.returncode == 3, err
    assert "stopped (interrupt)" in told
    stability = json.loads(out.read_text())["meta"]["anypag"]["stability"]
    assert stability["stopped"] == "interrupt"
    assert not _alive(run.pid), "a worker goes on"


@pytest.mark.parametrize(("seconds", "n_writes"), [(0.001, 0), (3600.0, 8)])
def test_slow_resamples_that_end_together_are_all_written(
    seconds: float, n_writes: int, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of eight that end in the same second after an hour none waits for the next one, which may end an hour later."""
    writes, write = list[int](), Replicates.write

    def counted(self: Replicates) -> None:
        writes.append(len(self.graphs))
        write(self)

    monkeypatch.setattr(Replicates, "write", counted)
    replicates = Replicates(("A", "B"))
    clock.ahead += 8 * seconds
    for k in range(8):
        replicates.add(k, ap.PAG(np.zeros((2, 2), np.uint8), ["A", "B"]))
    assert writes == list(range(1, n_writes + 1))
