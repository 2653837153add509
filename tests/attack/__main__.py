"""`python -m attack [NAME ...]`: all rounds of all attacks, or of some, with seeds drawn afresh and printed."""

from __future__ import annotations

import secrets
import sys
import tempfile
import time
from pathlib import Path

from attack.catalogue import ATTACKS


def main(names: list[str]) -> None:
    for name in names or ATTACKS:
        seed, began = secrets.randbelow(2**32), time.monotonic()
        print(f"{name}: {ATTACKS[name].many} rounds, seed {seed}", flush=True)  # noqa: T201
        with tempfile.TemporaryDirectory() as folder:
            counts = ATTACKS[name].run(seed, ATTACKS[name].many, Path(folder))
        shown = ", ".join(f"{what} {count:,}" for what, count in sorted(counts.items()))
        print(f"  {shown} ({time.monotonic() - began:.0f} s)", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
