"""p-values of pairs, and when they were separated: noted as they come, looked up by readers only.

A search never reads its notes, so a step only adds a page; the tables are made when somebody asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from anypag._kernels import pairs as kernel

Indices = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

MOST_PAGES = 64
"""More than this, and they are entered in tables."""


class Tables(NamedTuple):
    """What is known of every pair, (n, n) and the same from both sides."""

    p: Floats
    """Without an edge: the p-value of the separation; with one: the largest p-value that kept it; NaN: untested."""
    found_at: npt.NDArray[np.int16]
    """The iteration r in which a pair was separated; -1 where it was not."""


class Page(NamedTuple):
    """Pairs, their p-values, and the iteration in which they were separated: None if these tests kept their edges."""

    x: Indices
    y: Indices
    p: Floats
    r: int | None


@dataclass(frozen=True, eq=False)
class Notes:
    """Tables, and pages that are not entered in them yet."""

    n: int
    entered: Tables | None = None
    pages: tuple[Page, ...] = ()

    def adding(self, page: Page) -> Self:
        """With one more page."""
        if "tables" in self.__dict__ or len(self.pages) == MOST_PAGES:
            return type(self)(self.n, self.tables, (page,))
        return type(self)(self.n, self.entered, (*self.pages, page))

    @cached_property
    def tables(self) -> Tables:
        """All that has been noted."""
        if self.entered is None:
            tables = Tables(np.full((self.n, self.n), np.nan), np.full((self.n, self.n), -1, np.int16))
        else:
            tables = Tables(*map(np.array, self.entered))
        for page in self.pages:
            if page.r is None:
                kernel.keep_largest(tables.p, page.x, page.y, page.p)
            else:
                kernel.note_separations(*tables, page.x, page.y, page.p, page.r)
        return tables
