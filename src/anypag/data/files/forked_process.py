"""Reading in a process that was forked from another.

polars reads with threads. A fork takes none of them along, but leaves behind what they were holding: in the child, what
is handed to them waits for ever. So a child asks once, with a limit, whether they answer.
"""

from __future__ import annotations

import os
from threading import Thread

from anypag.errors import DataError

SECONDS_TO_ANSWER = 5.0

_process = os.getpid()


def require_threads() -> None:
    """Refuse to read with threads that a fork has left behind.

    Raises:
        DataError: this process was forked from one that had read a file or used polars before.
    """
    global _process
    if os.getpid() == _process:
        return
    asked = Thread(target=_ask, daemon=True)
    asked.start()
    asked.join(SECONDS_TO_ANSWER)
    if asked.is_alive():
        raise DataError(
            "This process was forked from one that had read files already, and reading would wait for ever for "
            "threads that a fork does not take along. Start it another way (multiprocessing's 'spawn' or "
            "'forkserver'), or read the file before the fork and pass the table."
        )
    _process = os.getpid()


def _ask() -> None:
    """Something that the threads of polars have to do."""
    import polars

    polars.LazyFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]}).sort("a").collect()
