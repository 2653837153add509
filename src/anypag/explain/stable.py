"""How often resamples say the same of a pair, in words."""

from __future__ import annotations

from anypag.stability.again import Again


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
