"""Checkpoints of "bayes" that no run has written, with right checksums: refused in a sentence, never a crash."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anypag as ap
from anypag.checkpoint.store import Store
from anypag.errors import CheckpointError

DATA = ap.simulate.linear_gaussian(ap.DAG.from_string("A --> C; B --> C; C --> D"), 200, seed=1)


def learned(path: Path, **more: Any) -> Any:
    return ap.learn(DATA, method="bayes", effort=0.02, checkpoint=path, **more)


@pytest.fixture(scope="module")
def sampling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was stopped while it sampled graphs."""
    path = tmp_path_factory.mktemp("bayes") / "run.anypag"
    learned(path, stop=lambda state, info: state.phase == "sampling" and state.sample.size > 0)
    return path


def permuted(array: Any) -> Any:
    return np.ascontiguousarray(np.moveaxis(array, 0, -1))


FORGED: dict[str, Callable[[Any], Any]] = {
    "state/walkers/scores": lambda array: array[:-1],
    "state/walkers/graph": lambda array: np.ones_like(array),
    "state/walkers/best": lambda array: array[:, :, :-1],
    "state/walkers/taken": lambda array: np.append(array, 0),
    "state/walkers/random": lambda array: array[:0],
    "state/sample/pags": permuted,
    "state/sample/counts": lambda array: array[:-1],
    "state/starts": lambda array: array + np.uint64(1),
    "state/best": lambda array: np.concatenate([array, array], axis=1),
    "state/orders/order": np.zeros_like,
    "state/orders/settled": lambda array: array[:-1],
    "state/hidden": lambda array: np.zeros((3, 5), np.uint8),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_array_is_refused(sampling: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "run.anypag"
    shutil.copyfile(sampling, path)
    with Store(path) as store:
        array = store.array(name)
        assert array is not None
        store.write({}, {name: FORGED[name](array)})
    with pytest.raises(CheckpointError, match="is damaged"):
        learned(path, resume=True)


def test_all_chains_but_one_are_refused(sampling: Path, tmp_path: Path) -> None:
    """Each array is right in itself; the search has more temperatures than there are chains."""
    path = tmp_path / "run.anypag"
    shutil.copyfile(sampling, path)
    with Store(path) as store:
        names = store.names("state/walkers/")
        store.write({}, {name: array[:-1] for name in names if (array := store.array(name)) is not None})
    with pytest.raises(CheckpointError, match="'bayes' cannot continue from the state"):
        learned(path, resume=True)


def test_what_is_not_forged_goes_on(sampling: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.anypag"
    shutil.copyfile(sampling, path)
    assert learned(path, resume=True).complete
