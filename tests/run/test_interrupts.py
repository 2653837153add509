"""Ctrl-C waits while a compiled function is entered or left, and only then."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from anypag.run.watcher import interruptible
from anypag.search.progress import Progress

pytestmark = pytest.mark.usefixtures("ctrl_c")

PROGRESS = Progress(0, "candidates", 0, 1, 0)


def called_from(module: str, function: Callable[[], None]) -> None:
    """Call a function from one that belongs to a module of this name."""
    inside = {"__name__": module, "function": function}
    exec("def call():\n    function()", inside)
    call = inside["call"]
    assert callable(call)
    call()


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_between_python_and_compiled_code_it_waits_for_the_next_tick() -> None:
    ticks: list[Progress] = []
    with interruptible(ticks.append) as tick:
        tick(PROGRESS)
        called_from("numba.core.serialize", press)
        with pytest.raises(KeyboardInterrupt):
            tick(PROGRESS)
    assert ticks == [PROGRESS]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_one_does_not_wait() -> None:
    with interruptible(lambda progress: None):
        called_from("numba.core.serialize", press)
        with pytest.raises(KeyboardInterrupt):
            called_from("numba.core.serialize", press)


@pytest.mark.parametrize("module", ["somebody.elses.test", "numba.core.compiler", "numba.core.compiler_machinery"])
def test_elsewhere_it_is_heard_at_once(module: str) -> None:
    with interruptible(lambda progress: None), pytest.raises(KeyboardInterrupt):
        called_from(module, press)


def test_the_handler_of_whoever_calls_is_left_alone() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with interruptible(lambda progress: None):
            press()
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]
