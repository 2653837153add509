"""One effect in several graphs: how many identify it, and the range of its estimates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from anypag.data.table import as_table
from anypag.effects.estimate.estimates import Model
from anypag.effects.estimate.fitting import Sampling

NO_INTERVAL = Sampling(resamples=0)

if TYPE_CHECKING:
    from anypag.effects.answer import Effect


@dataclass(frozen=True)
class EffectOver:
    """What several graphs say about one effect.

    Args:
        n: how many graphs.
        statuses: how many of them say "zero", "adjustment", "formula" or "unidentified"; "refused" counts those that
            contradict themselves or imply selection.
        values: with data, for each line of an estimate (a linear model of one cause and one outcome has one) its values
            in the graphs that identify the effect, in order, including zeros.
        what: a word for the graphs.
    """

    n: int
    statuses: dict[str, int]
    values: dict[str, tuple[float, ...]] = field(default_factory=dict)
    what: str = "graphs"
    _answers: tuple[Effect, ...] = field(default=(), repr=False, compare=False, kw_only=True)

    @classmethod
    def of(cls, answers: Iterable[Effect | None], what: str) -> Self:
        """The answers of several graphs together; None for a graph that was refused."""
        found = tuple(answers)
        statuses = Counter("refused" if answer is None else answer.status for answer in found)
        identified = tuple(answer for answer in found if answer is not None and answer.is_identified)
        return cls(len(found), dict(statuses), {}, what, _answers=identified)

    def estimated(self, data: Any, model: Model | None = None) -> Self:
        """The answers with the estimate in every graph that identifies the effect, all from the same rows."""
        table, values = as_table(data), dict[str, list[float]]()
        for answer in self._answers:
            numbers = answer.valued(answer.of_kinds_searched(table), model, NO_INTERVAL)
            for entry in numbers.entries:
                values.setdefault(entry.label, []).append(entry.value)
        return replace(self, values={label: tuple(found) for label, found in values.items()})

    @property
    def n_identified(self) -> int:
        """In how many graphs the effect is identified."""
        return sum(self.statuses.get(status, 0) for status in ("zero", "adjustment", "formula"))

    def lines(self) -> list[str]:
        """In words: how many graphs identify the effect, and the median and range of each line of the estimate."""
        spreads = [(label, spread_of(values)) for label, values in self.values.items() if not self._are_all_zero]
        ranges = [f"  {label}: median {m:.4g}, from {low:.4g} to {high:.4g}" for label, (low, m, high) in spreads]
        return [f"{self._counted()}.", *ranges]

    @property
    def _are_all_zero(self) -> bool:
        """Does every graph that identifies the effect say that there is none?"""
        return 0 < self.n_identified == self.statuses.get("zero", 0)

    def _counted(self) -> str:
        zero, refused = self.statuses.get("zero", 0), self.statuses.get("refused", 0)
        if self._are_all_zero:
            told = f"{zero} of {self.n} {self.what} {_verb(zero, 'say')} that there is no effect"
            rest = self.statuses.get("unidentified", 0)
            told += f"; in {rest} it is not identified" if rest else ""
        else:
            told = f"Identified in {self.n_identified} of {self.n} {self.what}"
            told += f", {zero} of which {_verb(zero, 'say')} that there is no effect" if zero else ""
        if not refused:
            return told
        return f"{told}; {refused} contradict{'s itself' if refused == 1 else ' themselves'}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain data."""
        spreads = {label: dict(zip(_SPREAD, spread_of(found), strict=True)) for label, found in self.values.items()}
        return {"n": self.n, "identified": self.n_identified, "statuses": dict(self.statuses), "values": spreads}


def _verb(n: int, verb: str) -> str:
    return f"{verb}s" if n == 1 else verb


_SPREAD = ("smallest", "median", "largest")


def spread_of(values: tuple[float, ...]) -> tuple[float, float, float]:
    """The smallest value, the median and the largest value; NaN without values.

    >>> spread_of((3.0, float("nan"), 1.0, 2.5))
    (1.0, 2.5, 3.0)
    """
    known = [value for value in values if not np.isnan(value)]
    if not known:
        return (np.nan,) * 3
    low, middle, high = np.quantile(known, [0, 0.5, 1])
    return float(low), float(middle), float(high)
