"""A signal during the entry of compiled code becomes the cause of a SystemError; the run is still only stopped."""

from __future__ import annotations

import numpy as np
import pytest

import anypag as ap
from anypag.ci.base import PValues, Queries
from anypag.run.clock import Stopped
from anypag.search.progress import Progress


class Disturbed:
    """An oracle that is disturbed when sets of one are asked for."""

    exact, batch = True, 4096

    def __init__(self, cause: BaseException | None) -> None:
        self._oracle = ap.Oracle(ap.DAG.from_string("A --> B; B --> C; C --> D"))
        self.names = self._oracle.names
        self._cause = cause

    def pvalues(self, queries: Queries) -> PValues:
        if queries.r == 1:
            raise SystemError("returned a result with an exception set") from self._cause
        return np.asarray(self._oracle.pvalues(queries))


@pytest.mark.parametrize(("cause", "reason"), [(KeyboardInterrupt(), "interrupt"), (Stopped("time"), "time")])
def test_the_last_finished_iteration_is_kept(cause: BaseException, reason: str) -> None:
    result = ap.learn(Disturbed(cause), method="icd")
    assert (result.stopped, result.complete, result.r) == (reason, False, 0)


def test_between_batches_too() -> None:
    def tick(progress: Progress) -> None:
        if progress.r == 1:
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    result = ap.learn(ap.Oracle(ap.DAG.from_string("A --> B; B --> C")), progress=tick)
    assert (result.stopped, result.r) == ("interrupt", 0)


def test_any_other_system_error_comes_out() -> None:
    with pytest.raises(SystemError, match="exception set"):
        ap.learn(Disturbed(None), method="icd")
    with pytest.raises(GeneratorExit):
        ap.learn(Disturbed(GeneratorExit()), method="icd")
