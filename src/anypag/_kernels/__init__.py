"""Compiled loops: arrays in, arrays out.

A file here imports numpy and numba and nothing of the package, not even its neighbours: numba's on-disk cache watches
only the file that defines a function, so a kernel that called one in another file would keep the old version after an
edit. (`patience` is not a kernel: it decides when one is compiled.) Input has been checked by the caller; every kernel
has a slow, obvious twin in `tests/naive.py`.

Compiled code is kept beside the package or, if that folder cannot be written, in the user's cache folder (or the folder
that `NUMBA_CACHE_DIR` names). If neither can be written, it lasts until the program ends.
"""
