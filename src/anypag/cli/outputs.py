"""The files a command is to write: checked before the work, written whole or not at all, pictures and reports last."""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from anypag.files import target_of
from anypag.saving import PICTURES

if TYPE_CHECKING:
    from anypag.cli.running import Interrupts
    from anypag.run.clock import Clock

LEAST_FREE = 1_000_000
"""Bytes that must be free on a disk that something is to be written to."""


def check_outputs(paths: Iterable[Path], inputs: Iterable[Path] = ()) -> None:
    """Refuse, before any work is done, what could not be written after it.

    Raises:
        ParameterError: a folder is not there or cannot be written to, a path is no file or named twice.
    """
    from anypag.errors import ParameterError

    taken = {_place(path): f"{path} is to be read" for path in inputs}
    for path in paths:
        place = _place(path)
        if place in taken:
            raise ParameterError(f"{path} cannot be written: {taken[place]}.")
        taken[place] = "it is to be written twice"
        problem = _problem(path)
        if problem:
            raise ParameterError(f"{path} cannot be written: {problem}.")


def _place(path: Path) -> Path:
    """Where a path leads to; the path itself if its links lead in a circle."""
    try:
        return target_of(path)
    except OSError:
        return path


def _problem(path: Path) -> str | None:
    try:
        folder = target_of(path).parent
    except OSError as error:
        return str(error.strerror)
    if not folder.is_dir():
        return f"there is no folder {folder}"
    if path.exists() and not path.is_file():
        return "it is no file" if not path.is_dir() else "it is a folder"
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return f"nothing can be written to {folder} ({error.strerror})"
    if shutil.disk_usage(folder).free < LEAST_FREE:
        return f"the disk of {folder} is full"
    return None


SECONDS_FOR_DRAWING = 2.0
"""How long a command may go on drawing when its time budget is spent."""

_REASONS = {"interrupt": "interrupted while it was drawn", "time": "the time budget is spent"}


class DrawingStopped(BaseException):
    """Raised inside what draws, to give it up."""

    def __init__(self, reason: str) -> None:
        super().__init__(_REASONS[reason])


def is_drawn(path: Path) -> bool:
    """Is it a picture or a report? Drawing takes longer than writing what is known."""
    return path.suffix.lower() in {*PICTURES, ".html"}


class Drawing:
    """Drawing under way.

    Args:
        interrupts: a signal gives up what is being drawn, and what is left to draw.
        clock: of the command.
        time_budget: seconds on that clock after which little time is left; None for no limit.
    """

    def __init__(self, interrupts: Interrupts, clock: Clock, time_budget: float | None) -> None:
        self._interrupts = interrupts
        self._clock = clock
        self._deadline = None if time_budget is None else time_budget + SECONDS_FOR_DRAWING
        self._is_given_up = False

    @contextmanager
    def limited(self) -> Iterator[None]:
        """What is drawn here ends with `DrawingStopped` when it must."""
        if self._is_given_up:
            raise DrawingStopped("interrupt")
        with self._interrupts.raising(DrawingStopped), self._timed():
            try:
                yield
            except DrawingStopped as stopped:
                self._is_given_up = str(stopped) == _REASONS["interrupt"]
                raise

    @contextmanager
    def _timed(self) -> Iterator[None]:
        is_main = threading.current_thread() is threading.main_thread()
        if self._deadline is None or not is_main or not hasattr(signal, "setitimer"):
            yield
            return
        left = self._deadline - self._clock.seconds
        if left <= 0:
            raise DrawingStopped("time")
        before = signal.signal(signal.SIGALRM, _time_is_over)
        signal.setitimer(signal.ITIMER_REAL, left)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def _time_is_over(number: int, frame: FrameType | None) -> None:
    raise DrawingStopped("time")
