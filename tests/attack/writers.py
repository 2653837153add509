"""Several runs at once on one new checkpoint: one runs, the others are refused, and the file is that of the one."""

from __future__ import annotations

import os
import time
from pathlib import Path

from anypag.errors import CheckpointError
from attack.children import Counts, answered
from attack.runs import learned, truth

WRITERS = 3


def attack(seed: int, count: int, folder: Path) -> Counts:
    """So many rounds of a few runs that begin at the same moment."""
    counts, expected = Counts(), answered(truth)
    for k in range(count):
        path, begin = folder / f"run{k}.anypag", time.monotonic() + 0.05
        codes = [_begun(path, begin) for _ in range(WRITERS)]
        ended = sorted(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in codes)
        assert set(ended) <= {0, 7} and 0 in ended, f"seed {seed}, round {k}: {ended}"
        counts["ran"] += ended.count(0)
        counts["refused"] += ended.count(7)
        assert answered(learned, path) == expected, f"seed {seed}, round {k}: a wrong result"
    return counts


def _begun(path: Path, begin: float) -> int:
    """A forked child that runs from a given moment on; it ends with 7 if it is refused."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        while time.monotonic() < begin:
            pass
        learned(path, 0.002)
        code = 0
    except CheckpointError as error:
        code = 7 if "in use by another run" in str(error) else 8
    finally:
        os._exit(code)
