"""Files that the release before wrote: results are read, a checkpoint says which version wrote it.

`release/` was written by commit 95f826b (0.1.0.dev0): a search by each way, with knowledge, gaps and resamples.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import anypag as ap
from anypag.errors import CheckpointError

FILES = sorted((Path(__file__).parent / "release").glob("*.json"))


def test_a_checkpoint_of_another_format_says_which_version_wrote_it(tmp_path: Path) -> None:
    path = tmp_path / "fci.anypag"
    shutil.copyfile(FILES[0].parent / "fci.anypag", path)
    with pytest.raises(CheckpointError, match=r"has format 3, written by anypag 0\.1\.0\.dev0; .* format 4"):
        ap.learn(ap.Oracle(ap.DAG.from_string("A --> B")), checkpoint=path, resume=True)
