"""Knowledge of other tools, which speaks of direct edges, in terms of causes.

A required edge A --> B says that A is a direct cause of B. Then A is a cause of B, and the two are joined in the PAG:
both can be said. A forbidden edge says that A is no *direct* cause of B. Nothing follows from that in a PAG, where A
may be a cause through variables that were not measured. Most who forbid an edge mean that A is no cause of B at all;
but that is for them to say.
"""

from __future__ import annotations

from typing import Literal

from anypag.errors import KnowledgeError, ParameterError
from anypag.knowledge.statements import Pairs, Statement

Forbidden = Literal["refuse", "no cause"]
"""What a forbidden edge stands for."""


def required(a: str, b: str, place: str) -> list[Statement]:
    """A required edge a --> b."""
    return [Pairs("causes", (a,), (b,), place), Pairs("joined", (a,), (b,), place)]


def forbidden(a: str, b: str, place: str, reading: Forbidden) -> Statement:
    """A forbidden edge a --> b, if it is to be read as "no cause"; else it is refused."""
    statement = Pairs("not_causes", (a,), (b,), place)
    if reading == "no cause":
        return statement
    raise KnowledgeError(
        f"{place}: a forbidden edge {a} --> {b} says that {a} is no direct cause of {b}, and nothing follows from that "
        f"in a PAG. If {a} is no cause of {b} at all, not even through others, say `{statement}`; if that is meant by "
        "all forbidden edges here, read them in Python with forbidden='no cause'."
    )


def check_reading(reading: str) -> None:
    """Refuse other words."""
    if reading not in {"refuse", "no cause"}:
        raise ParameterError(f"'forbidden' must be 'refuse' or 'no cause'; got {reading!r}.")
