"""Child processes to be attacked: whatever becomes of them, the attack goes on and knows it."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

Counts = Counter[str]
LONGEST = 120.0
"""Seconds after which a child counts as hanging."""


def answered(function: Callable[..., Any], *arguments: Any, method: str = "fork") -> Any:
    """What a function returns in a child process of its own.

    Raises:
        AssertionError: the child crashed, raised, or hangs.
    """
    context: Any = multiprocessing.get_context(method)
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_answer, args=(there, function, *arguments))
    child.start()
    there.close()
    try:
        assert here.poll(LONGEST), f"{function.__name__}{arguments!r:.200} hangs"
        kind, value = here.recv()
    except EOFError:
        child.join()
        raise AssertionError(f"{function.__name__}{arguments!r:.200} died with {child.exitcode}") from None
    finally:
        if child.is_alive():
            child.join(2)
            child.kill()
        child.join()
    assert kind == "returned", f"{function.__name__}{arguments!r:.200} raised {value}"
    return value


def _answer(there: Connection, function: Callable[..., Any], *arguments: Any) -> None:
    _silence()
    try:
        there.send(("returned", function(*arguments)))
    except BaseException as error:
        there.send(("raised", f"{type(error).__name__}: {error}"[:2000]))


def _silence() -> None:
    """Let what compiled libraries print when they panic go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def killed_after(seconds: float, function: Callable[..., Any], *arguments: Any) -> bool:
    """Run a function in a forked child and kill the child after some seconds; was it still running?"""
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        _silence()
        try:
            function(*arguments)
            os._exit(0)
        except BaseException as error:
            os.write(there, f"{type(error).__name__}: {error}".encode()[:2000])
        finally:
            os._exit(1)
    os.close(there)
    try:
        return _was_killed(pid, seconds, here, function.__name__)
    finally:
        os.close(here)


def _was_killed(pid: int, seconds: float, said: int, name: str) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0, f"{name} ended with status {status}: {os.read(said, 2000).decode()}"
            return False
        time.sleep(min(0.002, max(0.0, deadline - time.monotonic())))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return True


def mutated(content: bytes, rng: random.Random) -> bytes:
    """The content with a few bytes changed, lost, repeated or cut off."""
    raw = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(raw)) if raw else 0
        way = rng.randrange(6)
        if way == 0:
            raw[at : at + 1] = bytes([rng.randrange(256)])
        elif way == 1 and rng.random() < 0.3:
            del raw[at:]
        elif way == 2:
            raw[at : at + 8] = rng.randbytes(8)
        elif way == 3 and raw:
            raw[at] ^= 1 << rng.randrange(8)
        elif way == 4:
            raw[at:at] = raw[at : at + rng.randint(1, 40)]
        else:
            del raw[at : at + rng.randint(1, 40)]
    return bytes(raw)


def scarred(content: bytes, rng: random.Random) -> bytes:
    """The content with a few bytes changed, as long as before."""
    raw = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at, size = rng.randrange(len(raw)), rng.choice([1, 1, 1, 4, 8])
        raw[at : at + size] = rng.choice([rng.randbytes(size), bytes(size), b"\xff" * size])[: len(raw) - at]
    return bytes(raw)


def damaged(content: bytes, rng: random.Random) -> bytes:
    """The content after one of the two."""
    return rng.choice([scarred, scarred, mutated])(content, rng)
