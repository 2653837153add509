"""A picture of an effect from sampled graphs: the density of its draws, their share at zero, and shares of graphs."""

from __future__ import annotations

import numpy as np

from anypag.arrays import Floats
from anypag.effects.sampled_effect import SampledEffect

WIDTH, HEIGHT, BASE = 300, 120, 72  # the picture's size, and the distance of the density's axis from the top; in pixels
N_BINS = 28
EDGE = 12  # the margin left and right, in pixels
COLOURS = {"no effect": "#9aa5b1", "identified": "#2a6f97", "open": "#d9a441"}


def effect_svg(found: SampledEffect) -> str:
    """SVG of an effect: its draws if it is a single number, and the shares of graphs."""
    draws = found.lines[0].draws if len(found.lines) == 1 else None
    return draws_svg(draws, (found.p_zero, found.p_identified, found.p_open))


def draws_svg(draws: Floats | None, shares: tuple[float, float, float]) -> str:
    """SVG of the draws (m,) of one effect, zeros included, above a bar with three shares of graphs: of those that say
    that there is no effect, that identify the effect, and that leave it open. Without draws it shows the bar alone.

    >>> draws_svg(None, (0.2, 0.5, 0.3)).count("<rect")
    3
    """
    known = np.zeros(0) if draws is None else draws[np.isfinite(draws)]
    top = 0 if len(known) else BASE
    parts = [*(_density(known) if len(known) else []), *_bar(shares)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top} {WIDTH} {HEIGHT - top}" width="{WIDTH}" '
        f'height="{HEIGHT - top}" font-family="sans-serif" font-size="10" fill="currentColor">{"".join(parts)}</svg>'
    )


def _density(known: Floats) -> list[str]:
    """Bars of the draws that are not 0, a line with a dot for those that are 0, and the median with its interval."""
    low, middle, high = np.quantile(known, (0.025, 0.5, 0.975))
    first, last = min(float(np.quantile(known, 0.005)), 0.0), max(float(np.quantile(known, 0.995)), 0.0)
    width = (last - first) or 1.0

    def at(value: float) -> float:
        return EDGE + (WIDTH - 2 * EDGE) * float(np.clip((value - first) / width, 0, 1))

    counts, _ = np.histogram(np.clip(known[known != 0], first, first + width), N_BINS, (first, first + width))
    tallest, step = max(int(counts.max()), 1), (WIDTH - 2 * EDGE) / N_BINS
    bars = [
        f'<rect x="{EDGE + k * step:.1f}" y="{BASE - 50 * n / tallest:.1f}" width="{step - 0.6:.1f}" '
        f'height="{50 * n / tallest:.1f}" fill="{COLOURS["identified"]}" opacity=".75"/>'
        for k, n in enumerate(counts.tolist())
        if n
    ]
    none = float((known == 0).mean())
    spike = [
        f'<path d="M{at(0):.1f} {BASE}V{BASE - 50 * none:.1f}" stroke="{COLOURS["no effect"]}" stroke-width="3"/>',
        f'<circle cx="{at(0):.1f}" cy="{BASE - 50 * none:.1f}" r="3.5" fill="{COLOURS["no effect"]}"/>',
        _text(at(0), BASE - 50 * none - 6, f"{none:.0%} at 0"),
    ]
    axis = [
        f'<path d="M{EDGE} {BASE}H{WIDTH - EDGE}" stroke="currentColor" stroke-width=".7"/>',
        f'<path d="M{at(low):.1f} {BASE + 4}H{at(high):.1f}" stroke="currentColor" stroke-width="2"/>',
        f'<circle cx="{at(middle):.1f}" cy="{BASE + 4}" r="3"/>',
        _text(WIDTH / 2, BASE + 17, f"median {middle:.3g}, 95 %: {low:.3g} to {high:.3g}"),
    ]
    return [*bars, *(spike if none else []), *axis]


def _bar(shares: tuple[float, float, float]) -> list[str]:
    """The three shares side by side, each with its words if they fit; its tooltip always has them."""
    found, left = list[str](), float(EDGE)
    for (word, colour), share in zip(COLOURS.items(), shares, strict=True):
        width = (WIDTH - 2 * EDGE) * share
        told = f"{word} {share:.0%}"
        found.append(
            f'<rect x="{left:.1f}" y="{BASE + 24}" width="{width:.1f}" height="14" fill="{colour}">'
            f"<title>{told}</title></rect>"
        )
        found += [_text(left + width / 2, BASE + 34, told, "#fff")] if width > 6 * len(told) else []
        left += width
    return found


def _text(x: float, y: float, told: str, colour: str = "currentColor") -> str:
    anchor = "start" if x < WIDTH / 5 else "end" if x > WIDTH * 4 / 5 else "middle"
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{told}</text>'
