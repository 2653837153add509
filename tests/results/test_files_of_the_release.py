"""Files of another format: results and checkpoints say which version wrote them.

`release/` was written by commit 95f826b (0.1.0.dev0): a search by each way, with knowledge, gaps and resamples.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import anypag as ap
from anypag.errors import CheckpointError, FormatError
from anypag.results.files import load_result, save_result

FILES = sorted((Path(__file__).parent / "release").glob("*.json"))


def test_a_checkpoint_of_another_format_says_which_version_wrote_it(tmp_path: Path) -> None:
    path = tmp_path / "fci.anypag"
    shutil.copyfile(FILES[0].parent / "fci.anypag", path)
    with pytest.raises(CheckpointError, match=r"has format 3, written by anypag 0\.1\.0\.dev0; .* format 5"):
        ap.learn(ap.Oracle(ap.DAG.from_string("A --> B")), checkpoint=path, resume=True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_result_of_another_format_says_which_version_wrote_it(path: Path) -> None:
    with pytest.raises(FormatError, match=r"reads format 4; the file has format 1 \(.* by anypag 0\.1\.0\.dev0\)"):
        ap.read_result(path)


def test_a_file_of_a_later_format_says_which_version_wrote_it() -> None:
    document = save_result(ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; B --> C"))))
    document["meta"]["anypag"] |= {"format": 99, "version": "7.0"}
    with pytest.raises(FormatError, match=r"reads format 4; the file has format 99 \(.* by anypag 7\.0\)"):
        load_result(document)
