"""A Dask cluster of two worker processes: the user's `joblib.parallel_config(backend="dask")` is all it takes."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import pytest
from slow_tests import Killing, Noting, OneAtATime, Raising, rows
from test_workers import assert_same

import anypag as ap
from anypag.errors import CITestError

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.xdist_group("dask"),
    pytest.mark.filterwarnings("ignore"),  # those of the cluster are its own
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers that keep what they were sent: Dask's memory manager would drop a copy that no task waits for."""
    here = str(Path(__file__).parent)
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [here, before]))  # workers load the tests' tests
    try:
        with (
            dask.config.set({"distributed.scheduler.active-memory-manager.start": False}),
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
    two = ap.learn(OneAtATime(values, names, str(tmp_path)), method="icd")
    with joblib.parallel_config(backend="sequential"):
        one = ap.learn(OneAtATime(values, names), method="icd")
    assert_same(one, two)
    pids = {str(pid) for pid in on_dask.run(os.getpid).values()}
    assert {file.name for file in tmp_path.iterdir()} <= pids


@pytest.mark.parametrize(("run", "times"), [("learn", 1), ("bootstrap", 2)])
def test_the_data_go_to_each_worker_once(run: str, times: int, tmp_path: Path, on_dask: Any) -> None:
    """Every arrival is noted where it arrives: one a search and one for all resamples, not one a task.

    With Dask's active memory manager, which looks every two seconds, there can be more: it drops a copy that no task
    waits for, and the worker gets it again from the other one when a task comes. Nothing is sent from here twice.
    """
    values, names = rows(5)
    test = Noting(values, names, str(tmp_path))
    if run == "bootstrap":
        assert ap.bootstrap(test, method="icd", n=12, seed=1).n == 12
    else:
        assert ap.learn(test, method="icd").complete
    arrivals = {file.name: len(file.read_text()) for file in tmp_path.glob("arrived-*")}
    assert list(arrivals.values()) == [times, times]


def test_the_bytes_that_are_sent(on_dask: Any) -> None:
    """What leaves this process for 40 resamples is one copy of the rows, not one a task."""
    values, names = rows(5, n=20_000)
    sent: list[int] = []
    before = on_dask.scatter

    def counted(packed: Any, **options: Any) -> Any:
        sent.append(len(pickle.dumps(packed)))
        return before(packed, **options)

    on_dask.scatter = counted
    try:
        ap.bootstrap(values, n=40, seed=1, names=names, max_r=0)
    finally:
        del on_dask.scatter
    assert len(sent) == 1 and values.nbytes < sent[0] < 1.2 * values.nbytes


def test_resamples_on_the_cluster_are_those_of_one_process(on_dask: Any) -> None:
    values, names = rows(5)
    s = ap.bootstrap(values, method="icd", n=6, seed=1, names=names)
    with joblib.parallel_config(backend="sequential"):
        assert ap.bootstrap(values, method="icd", n=6, seed=1, names=names).graphs == s.graphs


def test_a_test_that_raises_on_the_cluster_says_what_and_where(on_dask: Any) -> None:
    values, names = rows(5)
    with pytest.raises(CITestError, match=r"the kernel is singular \(asked for V\d ⟂ V\d \| \{V2\}\)"):
        ap.learn(Raising(values, names), method="icd")


def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path: Path, on_dask: Any) -> None:
    values, names = rows(5)
    killed = ap.learn(Killing(values, names, str(tmp_path)), method="icd")
    assert (tmp_path / "killed").exists()
    with joblib.parallel_config(backend="sequential"):
        assert_same(ap.learn(OneAtATime(values, names), method="icd"), killed)
