"""Sampled classes that say the same of an effect, in groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from anypag.arrays import Floats
from anypag.effects.estimate.estimates import number
from anypag.effects.identify.sampled_classes import SampledClasses
from anypag.effects.identify.verdict import Verdict
from anypag.graphs.marks import listed
from anypag.graphs.text import quote

MOST_GROUPS = 3
"""How many groups of classes are listed."""


class ClassGroup(NamedTuple):
    """Sampled classes that say the same of an effect.

    Args:
        share: of all sampled graphs.
        verdict: "zero", "adjustment", "formula" or "unidentified".
        adjustment_set: the set, where there is one.
        mean: of the draws of these graphs, without those that are missing; None without data.
    """

    share: float
    verdict: str
    adjustment_set: tuple[str, ...] | None
    mean: float | None = None

    def __str__(self) -> str:
        said = {"zero": "no effect", "formula": "identified, by a formula", "unidentified": "left open"}
        if self.adjustment_set is None:
            words = said[self.verdict]
        else:
            words = f"identified, adjusting for {listed(tuple(map(quote, self.adjustment_set))) or 'nothing'}"
        mean = "" if self.mean is None or self.verdict == "zero" else f", mean {number(self.mean)}"
        return f"{share(self.share)} of the graphs: {words}{mean}"


def groups_of(
    classes: SampledClasses, verdicts: list[Verdict], draws: Floats | None, same: Collection[str] = ()
) -> tuple[ClassGroup, ...]:
    """The largest groups of classes that say the same; sets leave out columns that are the `same` in all rows."""
    keys = [_key(classes, k, verdict, same) for k, verdict in enumerate(verdicts)]
    counted = Counter(keys[k] for k in classes.of[classes.counts].tolist())
    found = []
    for key, count in counted.most_common(MOST_GROUPS):
        within = np.array([other == key for other in keys])[classes.of]
        known = None if draws is None else draws[within & np.isfinite(draws)]
        mean = None if known is None or not len(known) else float(known.mean())
        found.append(ClassGroup(count / counted.total(), key[0], key[1], mean))
    return tuple(found)


def _key(
    classes: SampledClasses, k: int, verdict: Verdict, same: Collection[str]
) -> tuple[str, tuple[str, ...] | None]:
    if verdict.z is None:
        return verdict.status, None
    return verdict.status, tuple(name for name in classes.classes[k].causal.names(verdict.z) if name not in same)


def share(of_graphs: float) -> str:
    """A share in per cent; one that is not 0 or 1 is not rounded to it.

    >>> share(0.0), share(0.005), share(0.14), share(0.998)
    ('0%', '<1%', '14%', '>99%')
    """
    rounded = f"{of_graphs:.0%}"
    return {"0%": "<1%", "100%": ">99%"}.get(rounded, rounded) if 0 < of_graphs < 1 else rounded
