"""The command line with KCI that counts itself, as a program of its own, to be killed.

`python kernel_run.py LOG ARGUMENTS...`: every question that KCI works on adds a byte to the file LOG.
"""

from __future__ import annotations

import os
import sys

import numpy as np

from anypag.arrays import Floats
from anypag.checkpoint import checkpoint
from anypag.ci.slow import KCI
from anypag.cli.main import main

if __name__ == "__main__":
    log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    plain = KCI.one

    def counted(self: KCI, x: Floats, y: Floats, z: Floats, random: np.random.Generator) -> float:
        """The same, counted."""
        os.write(log, b".")
        return plain(self, x, y, z, random)

    KCI.one = counted  # type: ignore[method-assign]
    checkpoint.SECONDS_BETWEEN_WRITES = 0.1
    sys.exit(main(sys.argv[2:]))
