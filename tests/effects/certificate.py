"""The certificate of effects: every check by enumeration, one line each. `make certify` runs it.

python tests/effects/certificate.py 4        every class on four nodes
python tests/effects/certificate.py 5 60     sixty of the 24,259 on five
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "effects")]

import checks  # noqa: E402
from enumeration import Class, classes, sample  # noqa: E402

HEAD = f"{'nodes':>5} {'classes':>7}  {'what is said':<62} {'yes':>9} {'no':>9} {'wrong':>6} {'seconds':>8}"


def lines(found: tuple[Class, ...]) -> Iterator[Callable[[], checks.Tally]]:
    """The checks, to be run one after the other."""
    yield lambda: checks.visibility(found)
    yield lambda: checks.adjustment(found)
    yield lambda: checks.sets_within(found)
    yield lambda: checks.sets_given(found)
    for formula in (checks.derived, checks.shown):
        for given in (False, True):
            yield lambda formula=formula, given=given: checks.identification(found, formula, 2, given)  # type: ignore[misc]
    yield lambda: checks.adjusted_and_derived(found)
    yield lambda: checks.members(found)


def main(n: int, size: int | None) -> int:
    found = classes(n) if size is None else sample(n, size)
    sys.stdout.write(HEAD + "\n")
    wrong = 0
    for check in lines(found):
        start = time.perf_counter()
        tally = check()
        wrong += not tally.is_right
        sys.stdout.write(f"{n:>5} {len(found):>7}  {tally} {time.perf_counter() - start:>8.1f}\n")
        sys.stdout.flush()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None))
