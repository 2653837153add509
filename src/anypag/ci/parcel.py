"""What every task needs (the rows, a user's test), sent to each worker once and not along with every task.

Worker processes of one machine map arrays from shared memory (joblib does that). On a Dask cluster the parcel is sent
to all workers beforehand, so that a worker that is lost takes nothing away that others do not have.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from joblib.parallel import get_active_backend

Value = TypeVar("Value")

LEAST_MAPPED = 1024
"""Bytes of an array from which on worker processes of one machine share it: no copy comes with each task."""


class Parcel(Generic[Value]):
    """A value on its way to workers."""

    def __init__(self, value: Value) -> None:
        self.value = value


def parcel(value: Value) -> Any:
    """The value as an argument of tasks for the backend of the surrounding `joblib.parallel_config`.

    Returns:
        A `Parcel`, or where the backend has a Dask client something that is one when it gets to a worker.
    """
    backend, _ = get_active_backend()
    client = getattr(backend, "client", None)
    packed = Parcel(value)
    return packed if client is None else client.scatter(packed, broadcast=True, hash=False)


def opened(sent: Any) -> Any:
    """The value of a parcel. Where a cluster is down to one worker joblib works here instead, and it must be fetched.

    >>> opened(Parcel(3))
    3
    """
    packed = sent if isinstance(sent, Parcel) else sent.result()
    return packed.value
