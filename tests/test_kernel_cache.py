"""A package that cannot be written to, in the hands of a user who cannot write anywhere else, still works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
from numba.core import caching

caching._CacheImpl._locator_classes = [caching._UserProvidedCacheLocator]  # no other folder can be written
from anypag._kernels.queries import all_in_range
import numpy as np

one = np.zeros(1, np.int32)
assert all_in_range(one, one, np.zeros((1, 0), np.int32), 1)
print(all_in_range._cache.cache_path)
"""


def test_kernels_compile_where_nothing_can_be_kept(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**environment, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(str(tmp_path / "anypag-kernels-"))
    assert list(tmp_path.iterdir()) == []
