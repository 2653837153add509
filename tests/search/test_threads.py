"""Edges tested in threads: the same to the bit, and stopped as a single thread is."""

from __future__ import annotations

from threading import Lock

import numpy as np
import pytest

from anypag import Oracle, Queries, Result, learn
from anypag.ci.base import CITest, PValues
from anypag.ci.gaussian import FisherZ
from anypag.ci.passes import CorrelationPasses
from anypag.ci.wrappers import Counted
from anypag.search import orient
from anypag.search.by_tests import tested_edges
from search_examples import random_system

SYSTEM = random_system(np.random.default_rng(3), 15)
DATA = FisherZ(SYSTEM.linear_gaussian(400, seed=3))


@pytest.fixture(autouse=True)
def everything_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little there is to do."""
    monkeypatch.setattr(tested_edges, "LEAST_CHUNK_SECONDS", 1e-9)
    monkeypatch.setattr(orient, "LEAST_PAIRS", 1)
    monkeypatch.setattr(tested_edges, "LEAST_PAIRS", 1)
    monkeypatch.setattr(tested_edges, "LEAST_SINGLES", 1)
    monkeypatch.setattr(CorrelationPasses, "at_once", 64)


def told(result: Result) -> list[object]:
    """All that does not depend on the clock."""
    return [
        [(item.pag, item.info.tests, item.info.n_edges) for item in result.history],
        result.marks,
        result.conflicts,
        dict(result.sepsets),
    ]


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("test", [DATA, SYSTEM.oracle()], ids=["data", "oracle"])
@pytest.mark.parametrize("sepset", ["first", "largest-p"])
def test_threads_change_nothing(test: CITest, sepset: str, threads: int) -> None:
    assert tested_edges.FEWEST_EDGES <= 15 * 14 // 2, "else there would be no threads"
    results = [learn(Counted(test, distinct=True), method="icd", sepset=sepset, threads=k) for k in (1, threads)]  # type: ignore[arg-type]
    assert told(results[0]) == told(results[1])


def test_ctrl_c_in_a_thread() -> None:
    lock, calls = Lock(), [0]

    class Interrupted(Oracle):
        def pvalues(self, queries: Queries) -> PValues:
            with lock:
                calls[0] += 1
                if queries.r == 1:
                    raise KeyboardInterrupt
            return super().pvalues(queries)

    test = Interrupted(SYSTEM.dag, SYSTEM.latent, SYSTEM.selection)
    result = learn(Counted(test), method="icd", threads=3)
    assert (result.stopped, result.complete, [item.r for item in result.history]) == ("interrupt", False, [0])
    assert calls[0] < 3 + 3 * 8 + 8 * 3
