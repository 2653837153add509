"""A kernel test with a checkpoint, killed in the middle and resumed: answers are kept, the graph is the same."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import anypag as ap
from anypag.graphs.formats.registry import read_graph

KERNEL_RUN = Path(__file__).with_name("kernel_run.py")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Six columns, one curve after the other."""
    rng = np.random.default_rng(3)
    columns = [rng.normal(size=250)]
    for k in range(5):
        columns.append(np.tanh(columns[k // 2]) + 0.5 * columns[k] ** 2 + rng.normal(size=250))
    path = tmp_path / "data.csv"
    np.savetxt(path, np.column_stack(columns), delimiter=",", header="a,b,c,d,e,f", comments="")
    return path


def start(data: Path, *options: str | Path) -> subprocess.Popen[str]:
    program = [
        sys.executable,
        KERNEL_RUN,
        data.with_name("log"),
        "learn",
        "--method",
        "icd",
        data,
        "--test",
        "kci",
        *options,
    ]
    return subprocess.Popen([str(part) for part in program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_killed_kernel_test_goes_on_where_it_was(data: Path) -> None:
    log, kept, out = data.with_name("log"), data.with_name("run.anypag"), data.with_name("pag.json")
    expected = ap.learn(data, method="icd", test="kci")
    run, give_up = start(data, "--checkpoint", kept), time.monotonic() + 120
    while not (kept.exists() and log.exists() and log.stat().st_size > expected.n_tests // 2):
        assert run.poll() is None and time.monotonic() < give_up, "the run ended before it could be killed"
        time.sleep(0.005)
    run.kill()
    run.communicate(timeout=60)
    assert run.returncode == -signal.SIGKILL
    before = log.stat().st_size
    run = start(data, "--checkpoint", kept, "--resume", "--out", out)
    _, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    assert read_graph(out) == expected.pag
    asked_again = log.stat().st_size - expected.n_tests
    assert 0 <= asked_again < before  # not all anew: those since the file was last written
