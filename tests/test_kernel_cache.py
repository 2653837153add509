"""A package that cannot be written to, in the hands of a user who cannot write anywhere else, still works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import anypag

PROGRAM = """
import anypag
from anypag._kernels.pairs import all_in_range
import numpy as np

one = np.zeros(1, np.int32)
assert all_in_range(one, one, np.zeros((1, 0), np.int32), 1)
print(anypag.__file__, all_in_range.compiled._cache.cache_path, sep="\\n")
"""


def test_kernels_compile_where_nothing_can_be_kept(tmp_path: Path) -> None:
    """Files stand where the folders of caches should be: nobody, not even root, can write into them."""
    package, temporary, home = tmp_path / "anypag", tmp_path / "temporary", tmp_path / "home"
    shutil.copytree(Path(anypag.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "_kernels" / "__pycache__").touch()
    temporary.mkdir()
    home.touch()
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"TMPDIR": str(temporary), "HOME": str(home), "PYTHONPATH": str(tmp_path)}
    environment |= {"XDG_CACHE_HOME": str(home / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"ANYPAG_PATIENCE": "0"}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    file, folder = map(Path, run.stdout.split())
    assert file.parent == package and folder.is_relative_to(temporary)
    assert list(temporary.iterdir()) == [], "it is cleared away at the end"


TWICE = """
import sys
import numpy as np
from anypag._kernels.gaussian_score import undirected_deviance
from anypag._kernels.pairs import all_in_range

near = np.array([[0, 3], [3, 0]], np.uint8)
print(undirected_deviance(np.array([[1, 0.6], [0.6, 1]]), near, 1e-9), "scipy.linalg" in sys.modules)
one = np.zeros(1, np.int32)
assert all_in_range(one, one, np.zeros((1, 0), np.int32), 1)
print(len(all_in_range.signatures), "scipy.linalg" in sys.modules)
"""


def test_a_kernel_on_disk_is_loaded_without_what_compiling_needs(tmp_path: Path) -> None:
    """Afterwards another kernel is compiled all the same."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "ANYPAG_PATIENCE": "0"}
    said = []
    for _ in range(2):
        words = [sys.executable, "-c", TWICE]
        run = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        said.append(run.stdout.split())
        for file in tmp_path.rglob("*all_in_range*"):
            file.unlink()
    assert said[0][1:] == ["True", "1", "True"] and said[1][1:] == ["False", "1", "True"]
    assert said[0][0] == said[1][0]
