"""Compiled loops: arrays in, arrays out.

A file here imports numpy and numba and nothing of the package, not even its neighbours: numba's on-disk cache follows
only the file a function stands in, so a kernel that called one in another file would keep the old version after an
edit. Input has been checked by the caller; every kernel has a slow, obvious twin in `tests/naive.py`.
"""
