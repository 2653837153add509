"""Kernels: functions that numba compiles. Arrays in, arrays out.

A file of kernels imports nothing of the package except `patience`, which decides when a kernel is compiled. The reason:
numba's cache on disk watches only the file that defines a kernel. A kernel that called a function of another file would
keep its old version after an edit. Callers check the input. Each kernel has a slow twin in `tests/naive*`.

Compiled code is kept in the folder that `NUMBA_CACHE_DIR` names. If the variable is not set, it is kept beside the
package, or in the user's cache folder if the package's folder is read-only. If both are, every process compiles anew.
"""
