"""What pages see: parts ("table", "known", "run", "take"), each with the number of its last change, and the graphs of
the current run. A page that comes late, or again, gets what it lacks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MOST_SCENES = 40
"""How many graphs of one run a page that comes late is shown."""
Event = tuple[str, Any]
"""A name and its content, as JSON holds it."""


@dataclass
class Shown:
    """What one page was sent."""

    version: int = -1
    run: int = -1
    scene: int = 0
    parts: dict[str, int] = field(default_factory=dict)


class Board:
    """Where threads put what pages are sent. `changed` guards it, and all that a session holds."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.is_closed = False
        self.run = 0
        """Counts the runs: graphs of an earlier one are not shown any more."""
        self._version = 0
        self._parts: dict[str, tuple[int, Any]] = {}
        self._scenes: list[dict[str, Any]] = []

    def publish(self, part: str, content: Any) -> None:
        """Show a part anew."""
        with self.changed:
            self._version += 1
            self._parts[part] = (self._version, content)
            self.changed.notify_all()

    def start(self) -> None:
        """Begin a run: its graphs are shown from the first on."""
        with self.changed:
            self.run += 1
            self._version += 1
            self._scenes = []
            self.changed.notify_all()

    def add_scene(self, run: int, scene: dict[str, Any]) -> None:
        """Show one more graph of a run, unless that is over."""
        with self.changed:
            if run == self.run:
                self._scenes = [*self._scenes[1 - MOST_SCENES :], scene]
                self._version += 1
                self.changed.notify_all()

    def part(self, name: str) -> Any:
        """The content of a part; None before it is shown."""
        return self._parts.get(name, (0, None))[1]

    def close(self) -> None:
        """Nothing more is shown."""
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()

    def news(self, shown: Shown, seconds: float, may_wait: Callable[[], bool]) -> list[Event]:
        """What a page was not sent yet; waits so many seconds for it if there is nothing."""
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
