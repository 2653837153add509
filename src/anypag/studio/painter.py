"""The thread that lays graphs out while the search goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from anypag.graphs.pag import PAG
from anypag.plot.geometry import Picture
from anypag.results.result import Iteration, Result
from anypag.studio.board import Board
from anypag.studio.scene import laid_out, scene, steps_shown

REST = 9.0
"""How much longer than drawing a step takes the pause after it is."""


class Painter:
    """Draws the steps of a run in their order. Of a search by scores, which takes many, so few are drawn that drawing
    takes about a tenth of the time.

    Args:
        board: where the graphs are shown.
        failed: called with what went wrong.
    """

    def __init__(self, board: Board, failed: Callable[[Exception], None]) -> None:
        self._board, self._failed = board, failed
        self._waiting: list[tuple[int, Iteration, Result, bool]] = []
        self._layout: tuple[PAG, Picture] | None = None
        self._rests_until, self._drawn = 0.0, (0, 0)
        threading.Thread(target=self._work, daemon=True).start()

    def add(self, result: Result) -> None:
        """Draw the latest step of a run that goes on."""
        self._add(result.history[-1:], result, must=result.history[-1].info.has_r)

    def add_last(self, result: Result) -> None:
        """Draw the graph of a run that ended, if it is not drawn yet."""
        self._add(result.history[-1:], result, must=True)

    def add_all(self, result: Result) -> None:
        """Draw an earlier run: its graph for each r, and the last."""
        last = result.history[-1]
        self._add([item for item in result.history if item.info.has_r or item is last], result, must=True)

    def picture_of(self, pag: PAG) -> Picture:
        """The layout of a graph; the latest is kept."""
        kept = self._layout
        if kept is None or not _same(kept[0], pag):
            self._layout = kept = (pag, laid_out(pag))
        return kept[1]

    def _add(self, items: Sequence[Iteration], result: Result, *, must: bool) -> None:
        with self._board.changed:
            self._waiting += [(self._board.run, item, result, must) for item in items]
            self._board.changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._board.changed:
                self._board.changed.wait_for(lambda: self._board.is_closed or bool(self._waiting))
                if self._board.is_closed:
                    return
                run, item, result, must = self._waiting.pop(0)
                is_early = bool(self._waiting) or time.monotonic() < self._rests_until
            if run == self._board.run and (must or not is_early):
                began = time.monotonic()
                try:
                    self._draw(run, item, result)
                except Exception as error:
                    self._failed(error)
                self._rests_until = time.monotonic() + REST * (time.monotonic() - began)

    def _draw(self, run: int, item: Iteration, result: Result) -> None:
        k = next(k for k, one in enumerate(result.history, 1) if one is item)
        if self._drawn == (run, k):
            return
        self._drawn = (run, k)
        made = scene(item.pag, self.picture_of(item.pag), result if k == len(result.history) else None)
        (step,) = steps_shown([item])
        self._board.add_scene(run, {**made, "step": step, "k": k})


def _same(one: PAG, other: PAG) -> bool:
    return one is other or (one.names == other.names and bool((one.marks == other.marks).all()))
