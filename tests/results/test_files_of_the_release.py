"""Files that the release before wrote: results are read, a checkpoint says which version wrote it.

`release/` was written by commit 95f826b (0.1.0.dev0): a search by each way, with knowledge, gaps and resamples.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import anypag as ap
from anypag.errors import CheckpointError, FormatError
from anypag.results.files import load_result, save_result
from anypag.results.result import Result

FILES = sorted((Path(__file__).parent / "release").glob("*.json"))


def test_a_checkpoint_of_another_format_says_which_version_wrote_it(tmp_path: Path) -> None:
    path = tmp_path / "fci.anypag"
    shutil.copyfile(FILES[0].parent / "fci.anypag", path)
    with pytest.raises(CheckpointError, match=r"has format 3, written by anypag 0\.1\.0\.dev0; .* format 4"):
        ap.learn(ap.Oracle(ap.DAG.from_string("A --> B")), checkpoint=path, resume=True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_result_of_the_release_tells_all_that_its_file_holds(path: Path) -> None:
    read = ap.read_result(path)
    assert isinstance(read, Result)
    old = json.loads(path.read_text(encoding="utf-8"))["meta"]["anypag"]
    new = save_result(read)["meta"]["anypag"]
    gone = {"version", "audit", "checked", "kinds", "choices", "probabilities", "stability"}
    stayed = [name for name in old if name not in gone]
    assert {name: new[name] for name in stayed} == {name: old[name] for name in stayed}
    assert {name: new["choices"][name] for name in old["choices"]} == old["choices"]
    if old["audit"] is not None:
        assert [row[:5] for row in new["audit"]["findings"]] == old["audit"]
        assert (new["audit"]["checked"], new["audit"]["kinds"]) == (old["checked"], old["kinds"])
    if old["probabilities"] is not None:
        renamed = {"samples": "n_samples", "classes": "n_classes"}
        said = {renamed.get(name, name): value for name, value in old["probabilities"].items() if name != "ancestors"}
        assert {**said, "causes": None} == new["probabilities"]  # shares of members are not read: they are prior
    if "stability" in old:
        assert read.stability is not None
        assert {name: new["stability"][name] for name in new["stability"]} == {
            name: old["stability"][name] for name in new["stability"]
        }
        counts = read.stability.n_causes
        assert [[a, b, int(counts[a, b])] for a, b in np.argwhere(counts).tolist()] == old["stability"]["causes"]


def test_a_file_of_a_later_format_says_which_version_wrote_it() -> None:
    document = save_result(ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; B --> C"))))
    document["meta"]["anypag"] |= {"format": 99, "version": "7.0"}
    with pytest.raises(FormatError, match=r"reads formats 1 to 2; the file has format 99 \(.* by anypag 7\.0\)"):
        load_result(document)
