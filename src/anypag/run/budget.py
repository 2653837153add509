"""Budgets: how long a run may take, and how it is told to end."""

from __future__ import annotations

import time
from dataclasses import dataclass

from anypag.ci.base import Counted
from anypag.errors import ParameterError
from anypag.search.state import Progress, Tick


class Stopped(BaseException):
    """Raised inside a step to abandon it; the run ends with the state before. Not an error, so not an `Exception`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Budget:
    """What a run may spend; None for as much as it takes."""

    seconds: float | None = None
    tests: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("time_budget", self.seconds), ("max_tests", self.tests)):
            is_number = hasattr(value, "__float__") and not isinstance(value, (bool, str))
            if value is not None and not (is_number and float(value) > 0):
                raise ParameterError(f"The option {name!r} must be None or a number above 0; got {value!r}.")

    def started(self, test: Counted, tick: Tick) -> Tick:
        """A tick that also watches this budget, from now on: the clock, and what has been asked of the test."""
        began, asked_before = time.monotonic(), sum(test.asked.values())

        def watch(progress: Progress) -> None:
            if self.tests is not None and sum(test.asked.values()) - asked_before >= self.tests:
                raise Stopped("tests")
            if self.seconds is not None and time.monotonic() - began >= self.seconds:
                raise Stopped("time")
            tick(progress)

        return watch
