"""Figures 4 and 5 from the rows of `samples`, and the structural errors from those of `samples` and `large`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from experiments import stats
from experiments.style import COLOURS, MARKERS, label, legend_below, panels, save, titled

SHOWN = (100, 200, 500, 1000)
"""The sample sizes of Figure 4."""
ICDS = ("icd-paper", "icd-first", "icd")


def draw(samples: pl.DataFrame, large: pl.DataFrame, folder: Path) -> list[Path]:
    """Draw all of them; the files."""
    return [
        figure_4(samples, folder / "fig4.png"),
        figure_5(samples, folder / "fig5.png"),
        figure_errors(pl.concat([samples, large]), folder / "errors.png"),
    ]


def figure_4(frame: pl.DataFrame, path: Path) -> Path:
    """The distribution of the number of tests, with the lines at 90 %."""
    sizes = [rows for rows in SHOWN if rows in frame["rows"].unique()]
    figure, axes = panels(1, len(sizes))
    for ax, rows in zip(axes, sizes, strict=True):
        for variant in ("fci", *ICDS):
            tests = np.sort(stats.counts(frame, variant, rows))
            reached = np.arange(1, len(tests) + 1) / len(tests)
            ax.step(tests, reached, where="post", color=COLOURS[variant], linewidth=1.1, label=label(variant))
            ax.axvline(stats.t_prime(tests), color=COLOURS[variant], linewidth=0.7, linestyle=":")
        ax.axhline(0.9, color="grey", linewidth=0.8, linestyle="--")
        ax.set_xscale("log")
        titled(ax, f"ℓ = {rows}", "number of tests t", "F(t)")
    legend_below(figure, axes[0])
    return save(figure, path)


def figure_5(frame: pl.DataFrame, path: Path) -> Path:
    """Kolmogorov–Smirnov, mean number of tests, ratio of errors, each against the sample size."""
    figure, axes = panels(1, 4)
    statistic, p_value, tests, errors = axes
    sizes = sorted(frame["rows"].unique())
    for icd in ICDS:
        answers = [stats.kolmogorov_smirnov(frame, icd, rows) for rows in sizes]
        style: dict[str, Any] = {"color": COLOURS[icd], "marker": MARKERS[icd], "markersize": 4, "label": label(icd)}
        statistic.plot(sizes, [answer[0] for answer in answers], **style)
        p_value.plot(sizes, [max(answer[1], 1e-12) for answer in answers], **style)
        beside = stats.errors_beside_fci(frame, icd)
        errors.plot(beside["rows"], beside["total"] / beside["total_icd"], **style)
    for variant in ("fci", *ICDS):
        means = [stats.counts(frame, variant, rows).mean() for rows in sizes]
        tests.plot(sizes, means, color=COLOURS[variant], marker=MARKERS[variant], markersize=4, label=label(variant))
    p_value.axhline(0.05, color="grey", linewidth=0.8, linestyle="--")
    errors.axhline(1, color="grey", linewidth=0.8)
    for ax in axes:
        ax.set_xscale("log")
    p_value.set_yscale("log")
    tests.set_yscale("log")
    titled(statistic, "(a) Kolmogorov–Smirnov statistic", "ℓ (rows)", "statistic")
    titled(p_value, "(b) its p-value (cut at 1e-12)", "ℓ (rows)", "p")
    titled(tests, "(c) mean number of tests", "ℓ (rows)", "distinct CI tests")
    titled(errors, "(d) ratio of structural errors", "ℓ (rows)", "errors of FCI / errors of ICD")
    legend_below(figure, tests)
    return save(figure, path)


def figure_errors(frame: pl.DataFrame, path: Path) -> Path:
    """Extra edges, missing edges and wrong marks, for each size of graph."""
    means = stats.mean_errors(frame)
    nodes = sorted(means["nodes"].unique())
    kinds = {"extra": "extra edges", "missing": "missing edges", "marks": "wrong edge marks"}
    figure, axes = panels(len(nodes), len(kinds))
    places = [(n, kind) for n in nodes for kind in kinds]
    for ax, (n, kind) in zip(axes, places, strict=True):
        for variant in ("fci", *ICDS):
            line = means.filter(nodes=n, variant=variant)
            ax.plot(
                line["rows"], line[kind], color=COLOURS[variant], marker=MARKERS[variant], markersize=4,
                label=label(variant),
            )  # fmt: skip
        ax.set_xscale("log")
        ax.set_ylim(bottom=0)
        titled(ax, f"{kinds[kind]}, {n} nodes", "ℓ (rows)", "mean per graph")
    legend_below(figure, axes[0])
    return save(figure, path)
