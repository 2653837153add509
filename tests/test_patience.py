"""Little work is done before anything is compiled for it, with the same results."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anypag._kernels import determined, patience
from anypag._kernels.patience import Kernel, njit, patient

FEW, MANY = np.arange(5), np.arange(50)


def doubled(values: Any) -> Any:
    return 2 * values.sum()


def _fail(values: Any) -> Any:
    raise ValueError("no")


def kernel(table: int = 100, lists: int = 10) -> Any:
    return patient(table, lists)(doubled)


@pytest.fixture(autouse=True)
def _patience_of_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYPAG_PATIENCE", "3600")


def test_little_work_compiles_nothing() -> None:
    twice = kernel()
    assert (twice(FEW), twice.signatures) == (20, [])


def test_much_work_is_compiled_for() -> None:
    twice = kernel()
    assert (twice(MANY), len(twice.signatures)) == (2450, 1)
    assert (twice(FEW), len(twice.signatures)) == (20, 1), "what is there is used for little work too"


def test_tables_and_lists_have_limits_of_their_own() -> None:
    twice = kernel()
    assert (twice(np.ones((10, 10))), twice.signatures) == (200, [])
    assert (twice(np.ones((10, 11))), len(twice.signatures)) == (220, 1)


def test_a_kernel_waits_whatever_kernels_it_is_given() -> None:
    first, other, compiled = kernel(), patient()(lambda act, values: act(values) + 1), njit()(doubled)
    assert (other(first, FEW), first.signatures, other.signatures) == (21, [], [])
    assert (other(compiled, FEW), len(compiled.signatures), other.signatures) == (21, 1, [])


def test_arrays_within_tuples_count() -> None:
    twice = kernel()
    assert twice.are_small((1, "a", (FEW, (FEW,))))
    assert not twice.are_small((1, (FEW, (MANY,))))


def test_who_waits_no_longer_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYPAG_PATIENCE", "0")
    twice = kernel()
    assert (twice(FEW), len(twice.signatures)) == (20, 1)


def test_patience_ends_with_the_time_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYPAG_PATIENCE", "1e-9")
    twice = kernel()
    assert (twice(FEW), twice.signatures) == (20, [])
    assert (twice(FEW), len(twice.signatures)) == (20, 1)


def test_errors_come_out_and_count() -> None:
    fail = patient()(_fail)
    with pytest.raises(ValueError, match="no"):
        fail(FEW)
    assert fail.spent > 0


def test_without_a_compiler_there_is_nothing_to_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert patient()(doubled) is doubled


patiently_doubled = patient(100, 10)(doubled)


@njit()
def thrice(values: Any) -> Any:
    return patiently_doubled(values) + values.sum()


def test_a_compiled_kernel_calls_a_patient_one() -> None:
    assert thrice(FEW) == 30
    assert patiently_doubled(FEW) == 20


def test_numba_is_left_as_it_is() -> None:
    """Nothing of a kernel is replaced from outside: its members are those that numba gives it."""
    untouched = patience.numba().njit(doubled)
    assert vars(kernel().compiled).keys() == vars(untouched).keys()


def test_what_runs_as_python_calls_the_python_of_its_neighbours() -> None:
    from anypag._kernels import rules

    plain = patience.plain(rules.triples)
    assert not [name for name, value in plain.__globals__.items() if isinstance(value, Kernel)]
    assert plain.__code__ is rules.triples.py_func.__code__


PROGRAM = """
import hashlib, sys, warnings
import numpy as np
import anypag as ap

warnings.simplefilter("ignore", ap.AnypagWarning)
warnings.simplefilter("error", RuntimeWarning)
said = []
for seed in range(33):
    if seed == 30:  # the score of levels is compiled
        has_numba = int("numba" in sys.modules)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 11))
    hidden, weights = rng.normal(size=(200, n // 2 + 1)), rng.normal(size=(n // 2 + 1, n))
    values = hidden @ (weights * (rng.random(weights.shape) < 0.6)) + rng.normal(size=(200, n))
    is_level = [seed % 3 == 1 or seed > 29 or (seed % 3 == 2 and i % 2 == 1) for i in range(n)]  # or levels, or mixed
    words = np.array(["low", "middle", "high"])[np.digitize(values, [-1, 1])]
    table = {f"v{i}": (words if is_level[i] else values)[:, i] for i in range(n)}
    test = ("permutation", "gsq", "chisq")[seed // 3 % 3] if all(is_level) else "auto"
    method = ("icd", "fci", "rfci", "icd-paper", "icd" if any(is_level) else "boss")[seed % 5]
    result = ap.learn(table, test=test, method="boss" if seed > 29 else method)
    sets = [(pair, result.sepsets[pair]) for pair in sorted(result.sepsets)]
    said += [str(result.pag), repr(sets), repr(result.edge_table()), repr(result.tests), repr(result.valid)]
print(has_numba, hashlib.md5("".join(said).encode()).hexdigest())
"""


def in_a_new_process(cache: str, patience: str) -> tuple[bool, str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "ANYPAG_PATIENCE": patience}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    has_numba, digest = done.stdout.split()
    return has_numba == "1", digest


def test_small_tables_need_no_compiler_and_give_the_same_bits(tmp_path: Path) -> None:
    """With an empty cache; the compiled run may use what other tests have compiled."""
    has_numba, plain = in_a_new_process(str(tmp_path), "3600")
    assert not has_numba
    kept = os.environ.get("NUMBA_CACHE_DIR", str(tmp_path / "compiled"))
    assert in_a_new_process(kept, "0") == (True, plain)


@pytest.mark.parametrize("n_rows", [30, 400, 4000])
def test_checks_of_levels_are_the_same_to_the_bit_when_compiled(n_rows: int) -> None:
    """With gaps, near copies and determined columns; of 4,000 rows by chance alone the probability underflows to 0."""
    rng = np.random.default_rng(n_rows)
    codes = rng.integers(0, 12, (5, n_rows))
    codes[1] = np.where(rng.random(n_rows) < 0.98, codes[0], codes[1])
    codes[2], codes[3], codes[4] = codes[0] % 3, rng.random(n_rows) < 0.3, (codes[0] + codes[3]) % 11
    codes[rng.random(codes.shape) < 0.01] = -1
    levels, calls = codes.max(axis=1) + 1, []
    for run in (patience.plain, lambda kernel: kernel.compiled):
        found = [run(determined.is_determined)(codes, levels, *c) for c in itertools.product(range(5), repeat=3)]
        by_two = [run(determined.determined_by_two)(codes, levels, c, 1, 10_000, 20, -7.0) for c in range(5)]
        calls.append((found, by_two, run(determined.tell_each_other)(codes, levels, 0.95, 20)))
    assert calls[0] == calls[1]
    assert (0, 0) in calls[0][1] and calls[0][2]
    assert any(np.isneginf(chance) for *_, chance in calls[0][0]) == (n_rows == 4000)


AHEAD = """
import sys
from anypag._kernels import patience
from anypag._kernels.orders import parents_in

patience.compile_ahead("orders")
assert patience._ahead["orders"] is not None
print(len(parents_in.compiled.stats.cache_hits), len(parents_in.compiled.stats.cache_misses))
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="with one core nothing is compiled ahead")
def test_another_process_compiles_ahead(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = subprocess.run([sys.executable, "-c", AHEAD], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["1", "0"], "one was loaded, none compiled here"


PARENT = """
import sys
from types import SimpleNamespace
from anypag._kernels import patience

sys.path.insert(0, sys.argv[1])
patience.numba = lambda: SimpleNamespace(config=SimpleNamespace(CACHE_DIR=""))
assert patience._process_that_compiles("orders") is not None
sys.stdin.readline()
"""

ENDLESS_NUMBA = """
import time
told = open({!r}, "w")
time.sleep(20)
told.write("it outlived its parent")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes there")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_process_that_compiles_ends_with_its_parent(tmp_path: Path, number: signal.Signals) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "numba.py").write_text(ENDLESS_NUMBA.format(str(pipe)))
    program = [sys.executable, "-c", PARENT, str(tmp_path)]
    with subprocess.Popen(program, stdin=subprocess.PIPE) as parent, pipe.open() as told:  # opened by the child too
        parent.send_signal(number)
        assert told.read() == ""
    assert parent.returncode == -number


TWO_THREADS = """
import threading, time
from anypag._kernels import pairs, patience

compiler, has_begun = patience.numba().core.compiler_lock.global_compiler_lock, threading.Event()

def compiles():
    with compiler:
        has_begun.set()
        time.sleep(0.2)
        pairs.arranged.compiled  # a kernel that the compiled one calls

thread = threading.Thread(target=compiles, daemon=True)
thread.start()
has_begun.wait()
pairs.set_both.compiled
thread.join()
"""


def test_two_threads_that_compile_do_not_wait_for_each_other() -> None:
    subprocess.run([sys.executable, "-c", TWO_THREADS], timeout=60, check=True)
