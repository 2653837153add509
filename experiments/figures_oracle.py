"""Figures 1–3 from the rows of `oracle`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from experiments import stats
from experiments.style import COLOURS, MARKERS, label, legend_below, panels, save, titled, whole_numbers


def draw(frame: pl.DataFrame, folder: Path) -> list[Path]:
    """Draw all of them; the files."""
    return [
        figure_1(frame, folder / "fig1.png"),
        figure_2(frame, folder / "fig2.png"),
        figure_3(frame, folder / "fig3.png"),
    ]


def figure_1(frame: pl.DataFrame, path: Path) -> Path:
    """Tests against the size of the graph, DAG by DAG, and the ratio of run times."""
    figure, (left, middle, right) = panels(1, 3)
    _means(left, stats.growth(frame))
    for icd in _icds(frame):
        both = stats.side_by_side(frame, icd)
        _scatter(middle, both, icd)
        ratio = both.group_by("nodes").agg((pl.col("seconds") / pl.col("seconds_icd")).mean()).sort("nodes")
        right.plot(ratio["nodes"], ratio["seconds"], color=COLOURS[icd], marker=MARKERS[icd], label=label(icd))
    right.axhline(1, color="grey", linewidth=0.8)
    right.set_yscale("log")
    titled(left, "(a) mean number of tests", "nodes", "distinct CI tests")
    titled(middle, "(b) each DAG", "distinct CI tests of FCI", "distinct CI tests of ICD")
    titled(right, "(c) mean ratio of run times", "nodes", "seconds of FCI / seconds of ICD")
    legend_below(figure, left)
    return save(figure, path)


def figure_2(frame: pl.DataFrame, path: Path) -> Path:
    """Mean number of tests for each size of the condition set, over the DAGs that no variant was capped on."""
    finished = stats.finished(frame)
    means, dags = stats.mean_per_size(finished), _dags(frame)
    figure, axes = panels(1, len(dags))
    for ax, (n, title) in zip(axes, dags.items(), strict=True):
        for variant in ("fci", *_icds(frame)):
            line = means.filter(nodes=n, variant=variant).filter(pl.col("count") > 0)
            ax.plot(line["size"], line["count"], color=COLOURS[variant], marker=".", label=label(variant))
        ax.set_yscale("log")
        whole_numbers(ax)
        titled(ax, title, "size of the condition set", "mean number of tests")
    legend_below(figure, axes[0])
    return save(figure, path)


def figure_3(frame: pl.DataFrame, path: Path) -> Path:
    """FCI / ICD for each size and DAG, bars laid over each other, for the DAGs that no variant was capped on."""
    finished, dags, icds = stats.finished(frame), _dags(frame), _icds(frame)
    figure, axes = panels(len(icds), len(dags))
    places = [(icd, n) for icd in icds for n in dags]
    for ax, (icd, n) in zip(axes, places, strict=True):
        ratios = stats.ratios_per_size(finished, icd).filter(nodes=n)
        shade = min(0.5, 3.0 / max(1, ratios["seed"].n_unique()))
        ax.bar(ratios["size"], ratios["ratio"] - 1, bottom=1, width=0.9, color=COLOURS[icd], alpha=shade, linewidth=0)
        ax.axhline(1, color="grey", linewidth=0.8)
        ax.set_yscale("log")
        whole_numbers(ax)
        titled(ax, f"{icd}, {dags[n]}", "size of the condition set", "tests of FCI / tests of ICD")
    return save(figure, path)


def _dags(frame: pl.DataFrame) -> dict[int, str]:
    """The sizes of the graphs, and a title for each that says how many DAGs count."""
    titles = {}
    for n in sorted(frame["nodes"].unique()):
        drawn, left = (part.filter(nodes=n)["seed"].n_unique() for part in (frame, stats.finished(frame)))
        titles[n] = f"{n} nodes" if left == drawn else f"{n} nodes, {left} of {drawn} DAGs"
    return titles


def _icds(frame: pl.DataFrame) -> list[str]:
    """The variants beside FCI, as they are listed everywhere."""
    return [name for name in COLOURS if name != "fci" and name in frame["variant"].unique()]


def _means(ax: Axes, growth: pl.DataFrame) -> None:
    for variant in COLOURS:
        line = growth.filter(variant=variant)
        if line.is_empty():
            continue
        ax.plot(line["nodes"], line["total"], color=COLOURS[variant], marker=MARKERS[variant], label=label(variant))
        bound = line.filter(pl.col("capped") > 0)
        ax.scatter(bound["nodes"], bound["total"], marker=MARKERS[variant], s=50, facecolors="white",
                   edgecolors=COLOURS[variant], zorder=3)  # fmt: skip
    ax.set_yscale("log")


def _scatter(ax: Axes, both: pl.DataFrame, icd: str) -> None:
    is_capped = (pl.col("capped") + pl.col("capped_icd")) > 0
    for part, face in ((both.filter(~is_capped), COLOURS[icd]), (both.filter(is_capped), "none")):
        ax.scatter(
            part["total"], part["total_icd"], s=14, marker=MARKERS[icd], facecolors=face, edgecolors=COLOURS[icd],
            linewidths=0.7, alpha=0.8,
        )  # fmt: skip
    ends = [float(np.min(both["total_icd"].to_numpy())), float(np.max(both["total"].to_numpy()))]
    ax.plot(ends, ends, color="grey", linewidth=0.8)
    ax.set_xscale("log")
    ax.set_yscale("log")
