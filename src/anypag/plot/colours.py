"""The colours of pictures, light and dark."""

from __future__ import annotations

from typing import NamedTuple


class Colours(NamedTuple):
    """The colours of paper, text (`ink`; `soft` is less important), boxes and their rims, and the kinds of edges."""

    paper: str
    ink: str
    soft: str
    box: str
    rim: str
    open: str
    cause: str
    confounded: str
    selected: str


LIGHT = Colours("#ffffff", "#1d2733", "#5b6775", "#f3f6fa", "#8493a5", "#6b7785", "#1259a8", "#b3470e", "#7a3aa0")
DARK = Colours("#14191f", "#e8edf3", "#a5b1bf", "#222b35", "#6d7c8e", "#9aa7b5", "#6cb2ff", "#ffa06b", "#d09cf5")
KINDS = ("open", "cause", "confounded", "selected")  # the kinds of edges; each has a colour of that name


def variables(colours: Colours) -> str:
    """The colours as CSS variables."""
    return ";".join(f"--{name}:{colour}" for name, colour in colours._asdict().items())
