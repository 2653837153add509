"""A Dask cluster of two worker processes: the user's `joblib.parallel_config(backend="dask")` is all it takes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from slow_tests import Killing, OneAtATime, Raising, rows
from test_workers import assert_same

import anypag as ap
from anypag.errors import CITestError

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.xdist_group("dask"),
    pytest.mark.filterwarnings("ignore"),  # those of the cluster are its own
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    here = str(Path(__file__).parent)
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [here, before]))  # workers load the tests' tests
    try:
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
            ) as made,
            distributed.Client(made) as client,
        ):
            yield client
    finally:
        os.environ["PYTHONPATH"] = before


@pytest.fixture
def on_dask(cluster: Any) -> Iterator[Any]:
    with joblib.parallel_config(backend="dask"):
        yield cluster


def test_questions_are_answered_by_the_cluster(tmp_path: Path, on_dask: Any) -> None:
    values, names = rows(5)
    two = ap.learn(OneAtATime(values, names, str(tmp_path)))
    with joblib.parallel_config(backend="sequential"):
        one = ap.learn(OneAtATime(values, names))
    assert_same(one, two)
    pids = {str(pid) for pid in on_dask.run(os.getpid).values()}
    assert {file.name for file in tmp_path.iterdir()} <= pids


def test_resamples_are_worked_on_by_the_cluster_and_the_data_go_there_once(on_dask: Any) -> None:
    random = np.random.default_rng(0)
    data = random.normal(size=(4000, 6)) + random.normal(size=(4000, 1))
    size = data.nbytes
    before = sum(_received(on_dask))
    s = ap.bootstrap(data, n=12, seed=1)
    after = sum(_received(on_dask))
    with joblib.parallel_config(backend="sequential"):
        assert ap.bootstrap(data, n=12, seed=1).graphs == s.graphs
    assert size < after - before < 4 * size, "twice at most to each of two workers, not once with each of 12 tasks"


def _received(client: Any) -> list[int]:
    """The bytes that each worker process has read from its connections."""
    return list(client.run(_bytes_in).values())


def _bytes_in(dask_worker: Any = None) -> int:
    from distributed.comm.core import Comm  # noqa: F401

    return _read_bytes()


def _read_bytes() -> int:
    return int(Path("/proc/self/io").read_text().split("rchar: ")[1].split()[0])


def test_a_test_that_raises_on_the_cluster_says_what_and_where(on_dask: Any) -> None:
    values, names = rows(5)
    with pytest.raises(CITestError, match=r"the kernel is singular \(asked for V\d ⟂ V\d \| \{V2\}\)"):
        ap.learn(Raising(values, names))


def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path: Path, on_dask: Any) -> None:
    values, names = rows(5)
    killed = ap.learn(Killing(values, names, str(tmp_path)))
    assert (tmp_path / "killed").exists()
    with joblib.parallel_config(backend="sequential"):
        assert_same(ap.learn(OneAtATime(values, names)), killed)
