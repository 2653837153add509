"""The thread that lays graphs out while the search goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable

from anypag.graphs.pag import PAG
from anypag.plot.geometry import Picture
from anypag.results.result import Iteration, Result
from anypag.studio.board import Board
from anypag.studio.scene import laid_out, scene, steps_shown


class Painter:
    """Draws the steps of a run in their order. A step of a search by scores is left out if a later one waits.

    Args:
        board: where the graphs are shown.
        failed: called with what went wrong.
    """

    def __init__(self, board: Board, failed: Callable[[Exception], None]) -> None:
        self._board, self._failed = board, failed
        self._waiting: list[tuple[int, Iteration, Result]] = []
        self._layout: tuple[PAG, Picture] | None = None
        threading.Thread(target=self._work, daemon=True).start()

    def add(self, result: Result) -> None:
        """Draw the latest step of a run."""
        self._add([result.history[-1]], result)

    def add_all(self, result: Result) -> None:
        """Draw an earlier run: its graph for each r, and the last."""
        last = result.history[-1]
        self._add([item for item in result.history if item.info.has_r or item is last], result)

    def picture_of(self, pag: PAG) -> Picture:
        """The layout of a graph; the latest is kept."""
        kept = self._layout
        if kept is None or not _same(kept[0], pag):
            self._layout = kept = (pag, laid_out(pag))
        return kept[1]

    def _add(self, items: list[Iteration], result: Result) -> None:
        with self._board.changed:
            self._waiting += [(self._board.run, item, result) for item in items]
            self._board.changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._board.changed:
                self._board.changed.wait_for(lambda: self._board.is_closed or bool(self._waiting))
                if self._board.is_closed:
                    return
                run, item, result = self._waiting.pop(0)
                is_overtaken = run != self._board.run or (not item.info.has_r and bool(self._waiting))
            if not is_overtaken:
                try:
                    self._draw(run, item, result)
                except Exception as error:
                    self._failed(error)

    def _draw(self, run: int, item: Iteration, result: Result) -> None:
        k = next(k for k, one in enumerate(result.history, 1) if one is item)
        made = scene(item.pag, self.picture_of(item.pag), result if k == len(result.history) else None)
        (step,) = steps_shown([item])
        self._board.add_scene(run, {**made, "step": step, "k": k})


def _same(one: PAG, other: PAG) -> bool:
    return one is other or (one.names == other.names and bool((one.marks == other.marks).all()))
