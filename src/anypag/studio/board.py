"""The content that pages show: parts ("table", "known", "run", "take"), each with the version of its last change, and
the graphs of the run (scenes), which a thread lays out. A page that connects late gets all parts and the latest graphs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anypag.graphs.pag import PAG
from anypag.plot.geometry import Picture
from anypag.results.result import Iteration, Result
from anypag.studio.page_parts import laid_out, scene, steps_shown

MOST_SCENES = 40  # a page that connects late gets at most this many graphs of the run
REST = 9.0  # the pause after drawing a step is this many times as long as the drawing
Event = tuple[str, Any]  # a name, and content that JSON can hold


@dataclass
class Shown:
    """What was last sent to a page: the version of the board, the run, the last graph, and the version of each part."""

    version: int = -1
    run: int = -1
    scene: int = 0
    parts: dict[str, int] = field(default_factory=dict)


class Board:
    """The content that threads publish for all pages. The lock of `changed` also guards the fields of a `Session`."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.is_closed = False
        self.run = 0  # the number of the current run; graphs of earlier runs are not shown
        self._version = 0
        self._parts: dict[str, tuple[int, Any]] = {}
        self._scenes: list[dict[str, Any]] = []

    def publish(self, part: str, content: Any) -> None:
        with self.changed:
            self._version += 1
            self._parts[part] = (self._version, content)
            self.changed.notify_all()

    def start(self) -> None:
        """Begin a run, and drop the graphs of the run before."""
        with self.changed:
            self.run += 1
            self._version += 1
            self._scenes = []
            self.changed.notify_all()

    def add_scene(self, run: int, scene: dict[str, Any]) -> None:
        """Show one more graph of a run, unless another run has begun."""
        with self.changed:
            if run == self.run:
                self._scenes = [*self._scenes[1 - MOST_SCENES :], scene]
                self._version += 1
                self.changed.notify_all()

    def part(self, name: str) -> Any:
        """The content of a part; None before it is published."""
        return self._parts.get(name, (0, None))[1]

    def close(self) -> None:
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()

    def news(self, shown: Shown, seconds: float, may_wait: Callable[[], bool]) -> list[Event]:
        """The events not yet sent to a page. If there are none, waits up to this many seconds for a change."""
        with self.changed:
            if self._version == shown.version and not self.is_closed and may_wait():
                self.changed.wait(seconds)
            events = list[Event]()
            if self.run != shown.run:
                shown.run, shown.scene = self.run, 0
                events.append(("start", self.run))
            for name, (version, content) in self._parts.items():
                if version > shown.parts.get(name, 0):
                    shown.parts[name] = version
                    events.append((name, content))
            fresh = [one for one in self._scenes if one["k"] > shown.scene]
            shown.version, shown.scene = self._version, fresh[-1]["k"] if fresh else shown.scene
            return [*events, *(("scene", one) for one in fresh)]


class Painter:
    """Draws the steps of a run in their order. A search by scores takes many steps; only some of them are drawn, so
    that drawing takes about a tenth of the time. If drawing fails, `failed` is called with the error.
    """

    def __init__(self, board: Board, failed: Callable[[Exception], None]) -> None:
        self._board, self._failed = board, failed
        self._waiting: list[tuple[int, Iteration, Result, bool]] = []
        self._layout: tuple[PAG, Picture] | None = None
        self._rests_until, self._drawn = 0.0, (0, 0)
        threading.Thread(target=self._work, daemon=True).start()

    def add(self, result: Result, *, ended: bool = False) -> None:
        """Draw the latest step of a run. Steps by scores (without r) may be skipped, unless the run has ended."""
        self._add(result.history[-1:], result, must=ended or result.history[-1].info.has_r)

    def add_all(self, result: Result) -> None:
        """Draw an earlier run: the graph after each step that has an r, and the last graph."""
        last = result.history[-1]
        self._add([item for item in result.history if item.info.has_r or item is last], result, must=True)

    def picture_of(self, pag: PAG) -> Picture:
        """The layout of a graph; the latest is kept."""
        kept = self._layout
        if kept is None or kept[0].names != pag.names or not np.array_equal(kept[0].marks, pag.marks):
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
