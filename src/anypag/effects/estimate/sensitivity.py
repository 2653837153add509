"""How much a hidden common cause could change an estimate: robustness value, E-value, and draws with hidden causes."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from anypag.arrays import Flags, Floats
from anypag.graphs.marks import listed
from anypag.graphs.text import quote

RATIO_OF_DIFFERENCE = 0.91
"""A standardised mean difference d is about a risk ratio of exp(0.91 d) (VanderWeele and Ding 2017)."""


@dataclass(frozen=True)
class Robustness:
    """How strong a hidden cause of both cause and outcome must be to explain an estimate away.

    Args:
        partial_r2: of the variance of the outcome that the columns adjusted for leave, the share that the cause
            explains.
        value: the robustness value (Cinelli and Hazlett 2020): a hidden cause that explains this share of what is left
            of the cause and of the outcome makes the estimate 0; none that explains less of both can.
        value_of_interval: the share from which on the interval would hold 0.
        e_value: the risk ratio that a hidden cause must have with the cause and with the outcome to explain the
            estimate away (VanderWeele and Ding 2017). For numbers it comes from the standardised mean difference, of a
            cause without two levels for one standard deviation of it.
        e_value_of_interval: the risk ratio from which on the interval would hold no effect; 1 if it does already.
        adjusting_for: of sampled graphs: these numbers are for the set of the largest class that allows an effect.

    The first three are None in tables of levels.
    """

    partial_r2: float | None
    value: float | None
    value_of_interval: float | None
    e_value: float
    e_value_of_interval: float
    adjusting_for: tuple[str, ...] | None = None

    def __str__(self) -> str:
        told = f"E-value {self.e_value:.2f} ({self.e_value_of_interval:.2f} for the interval)"
        if self.value is None or self.value_of_interval is None:
            needed = f"what a hidden cause would need to explain this away: {told}."
        else:
            needed = (
                f"to explain this away a hidden cause must account for {self.value:.1%} of what is left of both cause "
                f"and outcome ({self.value_of_interval:.1%} for the interval to hold 0); {told}."
            )
        return f"{self._whose}{needed}" if self._whose else needed[0].upper() + needed[1:]

    @property
    def _whose(self) -> str:
        """Which of the sampled classes it is for."""
        if self.adjusting_for is None:
            return ""
        z = listed(tuple(map(quote, self.adjusting_for))) or "nothing"
        return f"In the largest class that allows an effect, adjusting for {z}: "


def robustness_value(partial_r2: float, freedom: float, level: float | None = None) -> float:
    """The share of what is left of both that a hidden cause must explain to make an estimate 0.

    Args:
        partial_r2: of the cause with the outcome.
        freedom: the residual degrees of freedom of the regression.
        level: where given, to make an interval of this level hold 0.

    The example of Cinelli and Hazlett (2020), Darfur: t = 4.18 with 783 degrees of freedom.

    >>> r2 = 4.184**2 / (4.184**2 + 783)
    >>> round(r2, 3), round(robustness_value(r2, 783), 3), round(robustness_value(r2, 783, 0.95), 3)
    (0.022, 0.139, 0.076)
    """
    from scipy.stats import t

    if partial_r2 >= 1:
        return 1.0
    whole = sqrt(partial_r2 / (1 - partial_r2))
    spent = 0.0 if level is None else float(t.ppf((1 + level) / 2, max(freedom - 1, 1))) / sqrt(max(freedom - 1, 1))
    left = whole - spent
    if left <= 0:
        return 0.0
    if spent > 0 and whole > 1 / spent:
        return (whole**2 - spent**2) / (1 + whole**2)
    return (sqrt(left**4 + 4 * left**2) - left**2) / 2


def e_value(ratio: float) -> float:
    """The E-value of a risk ratio.

    >>> round(e_value(3.9), 2), round(e_value(1 / 3.9), 2), e_value(1.0)
    (7.26, 7.26, 1.0)
    """
    larger = max(ratio, 1 / ratio) if ratio > 0 else float("inf")
    return larger + sqrt(larger * (larger - 1))


def e_values(ratio: float, low: float, high: float) -> tuple[float, float]:
    """The E-values of a risk ratio and of the end of its interval that is nearer to 1.

    >>> e_values(3.9, 1.8, 8.7)[1], e_values(0.8, 0.6, 1.1)[1]
    (3.0, 1.0)
    """
    nearer = 1.0 if low <= 1 <= high else low if low > 1 else high
    return e_value(ratio), e_value(nearer)


def ratio_of_difference(difference: float) -> float:
    """The risk ratio that a standardised mean difference comes to."""
    return exp(RATIO_OF_DIFFERENCE * difference)


def with_hidden_causes(
    arrow: Flags, weights: Floats, noise: Floats, open_arrows: Flags, strength: float, random: np.random.Generator
) -> Floats:
    """Weights of another linear system with the same distribution of what is measured, in which arrows hide common
    causes of their ends.

    An arrow a → b can if a has no spouse and all parents of a are parents of b: with e the noise of a, adding d · e to
    the noise of b and taking d off the weight of a changes nothing that can be seen. The correlation between the two
    noises is drawn between -strength and strength, for every such arrow that may hide a cause (`open_arrows`).
    `weights` holds at [j, i] the weight of i in the equation of j; `noise` is a covariance.
    """
    found, is_alone = weights.copy(), (noise != 0).sum(axis=1) == 1
    for a, b in np.argwhere(arrow & open_arrows):
        correlation = random.uniform(-strength, strength)
        if not is_alone[a] or (arrow[:, a] & ~arrow[:, b]).any():
            continue
        d = correlation / sqrt(1 - correlation**2) * sqrt(noise[b, b] / noise[a, a])
        found[b, a] -= d
        found[b] += d * np.where(arrow[:, a], weights[a], 0.0)
    return found
