"""How often resamples say the same of a pair: counts for machines, and a line for people."""

from __future__ import annotations

from typing import Any, NamedTuple

from anypag.graphs.marks import Edge
from anypag.stability.stability import Stability


class Again(NamedTuple):
    """What the graphs of n resamples have between two variables.

    `same` counts those with the same edge (or none, where there is none), `joined` those with any. `else_mostly` is
    what most of the others have: `o->`, say, or "none"; None where there are no others. `kinds` counts each kind of
    edge, written from a to b; `causes` and `not_causes` the graphs that claim a to be (not to be) an ancestor of b, and
    b of a.
    """

    n: int
    same: int
    joined: int
    else_mostly: str | None
    kinds: dict[str, int]
    causes: tuple[int, int]
    not_causes: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {**self._asdict(), "causes": list(self.causes), "not_causes": list(self.not_causes)}


def again(stability: Stability | None, a: str, b: str, edge: Edge | None) -> Again | None:
    """What resamples say of a pair that has this edge; None where nothing was resampled."""
    if stability is None or not stability.n:
        return None
    found, i, j = stability.frequencies, stability.names.index(a), stability.names.index(b)
    kinds = found.kinds_of(i, j)
    joined = sum(kinds.values())
    here = "none" if edge is None else edge.symbol
    counts = {**kinds, "none": found.n - joined}
    others = {kind: count for kind, count in counts.items() if kind != here and count}
    mostly = max(others, key=lambda kind: others[kind]) if others else None
    causes, not_causes = found.n_causes, found.n_not_causes
    return Again(
        found.n,
        counts.get(here, 0),
        joined,
        mostly,
        kinds,
        (int(causes[i, j]), int(causes[j, i])),
        (int(not_causes[i, j]), int(not_causes[j, i])),
    )


def again_notes(seen: Again | None, a: str, b: str) -> tuple[str, ...]:
    """The same in words."""
    if seen is None:
        return ()
    other = "" if seen.else_mostly is None else f"; else mostly {_named(seen.else_mostly)}"
    lines = [f"The same in {seen.same} of {seen.n} resamples{other}. Joined in {seen.joined}."]
    for x, y, is_cause, is_none in zip((a, b), (b, a), seen.causes, seen.not_causes, strict=True):
        if is_cause:
            lines.append(f"{x} is claimed to be a cause of {y} in {is_cause} of {seen.n}, not to be one in {is_none}.")
    return tuple(lines)


def _named(kind: str) -> str:
    return "no edge" if kind == "none" else f"`{kind}`"
