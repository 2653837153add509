"""The command line with tests that take their time, as a program of its own, to be killed and interrupted.

`python slow_run.py SECONDS SECONDS_AT_0 LOG ARGUMENTS...`: how long a test takes, and one given the empty set; every
test that begins adds a byte to the file LOG.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from anypag import CITest, Queries, from_callable
from anypag.checkpoint import checkpoint
from anypag.ci import resolve
from anypag.cli.main import main


def slowed(quick: Callable[..., CITest], seconds: float, seconds_at_0: float, log: int) -> Callable[..., CITest]:
    """A `resolve_test` whose tests take their time, one question after the other."""

    def slow(*arguments: Any, **options: Any) -> CITest:
        test = quick(*arguments, **options)

        def pvalue(x: int, y: int, z: tuple[int, ...]) -> float:
            os.write(log, b".")
            time.sleep(seconds if z else seconds_at_0)
            return float(test.pvalues(Queries.one(x, y, z))[0])

        return from_callable(pvalue, test.names)

    return slow


if __name__ == "__main__":
    log = os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    resolve.resolve_test = slowed(resolve.resolve_test, float(sys.argv[1]), float(sys.argv[2]), log)
    checkpoint.SECONDS_BETWEEN_WRITES = 0.2
    sys.exit(main(sys.argv[4:]))
