"""The graphs that a chain sampled, one by one: what effects are drawn from."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass, replace
from math import isqrt
from typing import Self

import numpy as np
import numpy.typing as npt

from anypag.errors import FormatError
from anypag.graphs.base import Marks
from anypag.search.by_scores.posterior_changes import STATES, Codes, states_of

MOST_NODES = 200
"""Larger graphs are not kept one by one: 400 of them would take more than 8 MB."""


@dataclass(frozen=True, eq=False)
class Diagrams:
    """Sampled path diagrams, in the order in which they were sampled.

    Args:
        names: of the variables.
        states: (m, p) how each pair of nodes i < j is joined, row by row of the upper triangle; see `STATES`.
        n_levels: of each hidden cause of discrete columns; hidden causes are the last nodes.

    >>> found = Diagrams.of(np.array([[[0, 2], [3, 0]]], np.uint8), ("A", "B"))
    >>> Diagrams.from_text(found.to_text(), ("A", "B")).marks.tolist()
    [[[0, 2], [3, 0]]]
    """

    names: tuple[str, ...]
    states: Codes
    n_levels: tuple[int, ...] = ()

    @classmethod
    def of(cls, marks: Marks, names: tuple[str, ...], n_levels: tuple[int, ...] = ()) -> Self:
        """The graphs with these (m, nodes, nodes) marks."""
        return cls(names, states_of(marks), n_levels)

    def __len__(self) -> int:
        return len(self.states)

    @property
    def marks(self) -> Marks:
        """(m, nodes, nodes) the marks of every graph."""
        return marks_of_states(self.states)

    def arranged(self, places: npt.NDArray[np.intp]) -> Self:
        """The variables in another order: the one at `places[i]` comes to place i."""
        hidden = np.arange(len(self.names), len(self.names) + len(self.n_levels))
        order = np.concatenate([places, hidden]).astype(np.intp)
        names = tuple(self.names[place] for place in places)
        return replace(self, names=names, states=states_of(self.marks[:, order][:, :, order]))

    def to_text(self) -> str:
        """All graphs in a line, compressed."""
        header = np.array([len(self.states), len(self.n_levels), *self.n_levels], "<i4").tobytes()
        return base64.b64encode(zlib.compress(header + self.states.tobytes(), 9)).decode("ascii")

    @classmethod
    def from_text(cls, text: str, names: tuple[str, ...]) -> Self:
        """The inverse of `to_text`.

        Raises:
            FormatError: the text is no such line.
        """
        try:
            content = _decompressed(base64.b64decode(text, validate=True))
            size, n_hidden = np.frombuffer(content, "<i4", 2).tolist()
            n_levels = tuple(np.frombuffer(content, "<i4", n_hidden, 8).tolist())
            nodes = len(names) + n_hidden
            states = np.frombuffer(content, np.uint8, offset=8 + 4 * n_hidden).reshape(size, nodes * (nodes - 1) // 2)
        except (ValueError, zlib.error):
            raise FormatError('"diagrams" must hold the sampled graphs as this package writes them.') from None
        if not np.isin(states, list(STATES)).all() or any(level < 2 for level in n_levels):
            raise FormatError('"diagrams" holds a pair that is joined in no known way.')
        return cls(names, states.copy(), n_levels)


MOST_BYTES = 1 << 28
"""A text that unpacks to more is refused."""


def _decompressed(packed: bytes) -> bytes:
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(packed, MOST_BYTES)
    if not unpacking.eof:
        raise ValueError("too long, or cut off")
    return content


def marks_of_states(states: Codes) -> Marks:
    """The inverse of `states_of`."""
    n = (1 + isqrt(1 + 8 * states.shape[1])) // 2
    i, j = np.triu_indices(n, 1)
    marks = np.zeros((len(states), n, n), np.uint8)
    marks[:, j, i], marks[:, i, j] = states // 4, states % 4
    return marks
