"""How the figures look, and how they are saved."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from anypag.files import write_whole
from experiments.variants import VARIANTS

COLOURS = {"fci": "#000000", "icd-paper": "#D55E00", "icd-first": "#56B4E9", "icd": "#0072B2"}
MARKERS = {"fci": "s", "icd-paper": "^", "icd-first": "v", "icd": "o"}


def panels(rows: int, columns: int) -> tuple[Figure, list[Axes]]:
    """An empty figure, and its panels row by row."""
    figure = Figure(figsize=(3.3 * columns, 2.9 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for ax in grid.flat:
        ax.grid(alpha=0.25, linewidth=0.5)
        ax.tick_params(labelsize=8)
    return figure, list(grid.flat)


def titled(ax: Axes, title: str, x: str, y: str) -> None:
    """Title and labels of a panel."""
    ax.set_title(title, fontsize=9)
    ax.set_xlabel(x, fontsize=8)
    ax.set_ylabel(y, fontsize=8)


def whole_numbers(ax: Axes) -> None:
    """Mark the horizontal axis at whole numbers only."""
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))


def legend_below(figure: Figure, ax: Axes) -> None:
    """One legend for the whole figure, from the lines of one of its panels."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8, frameon=False)


def label(variant: str) -> str:
    """The variant, for a legend."""
    return VARIANTS[variant].label


def save(figure: Figure, path: Path) -> Path:
    """Write a PNG, whole or not at all; the same figure always gives the same bytes."""
    content = BytesIO()
    figure.savefig(content, format="png", dpi=110, metadata={"Software": None})
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content.getvalue())
    return path
