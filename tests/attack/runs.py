"""A run to be attacked: small, with a test that takes one question at a time, and the truth about it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import anypag as ap
from anypag.checkpoint import checkpoint
from anypag.results.files import save_result
from anypag.search.by_scores import boss
from anypag.search.by_tests import fci_plus

SMALL_STEPS = (1, 10)
"""One sweep, ten tests of a look at links."""

SYSTEM = ap.simulate.random_system(8, 2.5, seed=11)
SAMPLE = SYSTEM.linear_gaussian(300, seed=11)


def costly_test(seconds: float = 0.0) -> ap.CITest:
    """A test that costs: one question at a time, each taking some seconds."""
    quick = ap.FisherZ(SAMPLE)

    def pvalue(x: int, y: int, z: tuple[int, ...]) -> float:
        if seconds_per_test[0]:
            time.sleep(seconds_per_test[0])
        return float(quick.pvalues(ap.Queries.one(x, y, z))[0])

    seconds_per_test = [seconds]
    return ap.from_callable(pvalue, quick.names)


def told(result: Any) -> Any:
    """All that a result tells, but for how long it took."""
    document = save_result(result)
    for item in document["meta"]["anypag"]["history"]:
        del item["seconds"]
    return document


def learned(path: Path, seconds: float = 0.0, alpha: float = 0.01) -> Any:
    """What the run comes to, from a checkpoint if it is there."""
    checkpoint.SECONDS_BETWEEN_WRITES = 0.002
    return told(ap.learn(costly_test(seconds), method="icd", alpha=alpha, checkpoint=path, resume=True))


def truth() -> Any:
    """What it comes to when nothing happens to it."""
    return told(ap.learn(costly_test(), method="icd"))


def learned_in_steps(path: Path, method: str, seconds: float = 0.0) -> Any:
    """What a method comes to on quick tests, from a checkpoint if it is there; each tick takes some seconds.

    Steps are made small, so that kills come inside what is one step on a table of this size.
    """
    boss.SWEEPS_TIMES_PAIRS, fci_plus.TESTS_A_STEP = SMALL_STEPS
    return told(
        ap.learn(
            ap.FisherZ(SAMPLE), method=method, checkpoint=path, resume=True, progress=lambda _: time.sleep(seconds)
        )
    )


def truth_of(method: str) -> Any:
    """What the method comes to when nothing happens to it."""
    boss.SWEEPS_TIMES_PAIRS, fci_plus.TESTS_A_STEP = SMALL_STEPS
    return told(ap.learn(ap.FisherZ(SAMPLE), method=method))


def stopped_halfway(path: Path) -> Path:
    """A checkpoint with some iterations and some answers in it."""
    ap.learn(costly_test(), method="icd", checkpoint=path, max_tests=120)
    return path
