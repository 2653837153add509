"""A run that is stopped after some steps, and goes on from its checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anypag as ap
from anypag.results.result import Result


def stopped_and_resumed(data: Any, path: Path, stop_after: int, effort: float, method: str = "bayes") -> Result:
    """The posterior by way of a checkpoint; what the stop left was a valid graph."""
    steps = iter(range(100))
    stopped = ap.learn(
        data, method=method, effort=effort, checkpoint=path, stop=lambda state, info: next(steps) >= stop_after
    )
    assert not stopped.complete
    assert not stopped.from_scores or stopped.pag.validate()
    resumed = ap.learn(data, method=method, effort=effort, checkpoint=path, resume=True)
    assert resumed.complete
    return resumed
