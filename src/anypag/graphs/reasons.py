"""Why a pair has no edge and why a mark stands where it does, in the names of the variables."""

from __future__ import annotations

from typing import NamedTuple

from anypag.graphs.marks import Mark


class Separation(NamedTuple):
    """Why two variables have no edge: the set that separates them, its p-value, the iteration it was found in.

    `n` is the number of rows the p-value rests on; None where the test has no rows (an oracle).
    """

    given: tuple[str, ...]
    p: float
    r: int
    n: int | None = None


class MarkReason(NamedTuple):
    """A mark that a rule set or wanted: `mark` at `at` on the edge between `at` and `other`.

    `rule` is the number of the rule (see `anypag.graphs.rules`). `because` names the nodes that made the rule apply:
    for R0 and R4 the two nodes whose separating set decided, else those the rule's pattern goes through.
    """

    at: str
    other: str
    mark: Mark
    rule: int
    because: tuple[str, ...]


def listed(names: tuple[str, ...]) -> str:
    """Names in a sentence: `A`, `A and B`, `A, B and C`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
