"""From data and the name of a test to a test bound to the data: the one place where the names are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anypag.ci.base import CITest, as_test, from_callable
from anypag.ci.bound import DataTest
from anypag.ci.discrete import ChiSquared, GSquared
from anypag.ci.gaussian import FisherZ
from anypag.ci.mixed import DegenerateGaussian
from anypag.data.audit import Singular
from anypag.data.files import glance
from anypag.data.table import Kind, Missing, Table, as_table
from anypag.errors import DataError, ParameterError

TESTS: dict[str, type[FisherZ | GSquared | ChiSquared | DegenerateGaussian]] = {
    "fisherz": FisherZ,
    "gsq": GSquared,
    "chisq": ChiSquared,
    "mixed": DegenerateGaussian,
}
"""The tests that go by a name."""

LARGE_FILE = 500_000_000
"""Bytes above which a file is not read whole to see what its columns are."""


def resolve_test(
    data: Any,
    test: str | type[DataTest] | Callable[..., float] | CITest = "auto",
    *,
    names: Sequence[str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    missing: Missing = "error",
    singular: Singular = "error",
    max_r: int | None = None,
    threads: int = 1,
) -> CITest:
    """A test bound to data.

    Args:
        data: any table (see `anypag.data.as_table`), or a test, which is then used as it is.
        test: "auto" (Fisher's z if all columns are continuous, G² if all are discrete, else the test for
            mixed data), "fisherz", "gsq", "chisq", "mixed", the class of one of these, a function
            f(x, y, z) -> p of column indices, or a test.
        names: see `as_table`.
        kinds: "continuous" or "discrete" for columns whose kind is not to be inferred; for "auto" and
            "mixed".
        missing: "error", "drop" or "pairwise".
        singular: "error" or "keep".
        max_r: the largest condition set that will be asked for, if known; only for the warning about too few
            rows.
        threads: how many threads compute a correlation matrix.

    >>> import numpy as np
    >>> resolve_test(np.random.default_rng(0).normal(size=(100, 3)))
    FisherZ(3 columns, 100 rows)
    >>> resolve_test(np.random.default_rng(0).integers(0, 3, size=(100, 4)))
    GSquared(4 columns, 100 rows)
    """
    if hasattr(data, "pvalues"):
        return _the_test_itself(data, test)
    test = next((name for name, known in TESTS.items() if test is known), test)
    if not isinstance(test, str):
        return _users_own(data, test, names)
    if test == "auto":
        return _by_kind(data, names, kinds, missing, singular, max_r, threads)
    if test not in TESTS:
        known = ", ".join(repr(name) for name in ("auto", *TESTS))
        raise ParameterError(f"test must be {known}, a function f(x, y, z) -> p or a test; got {test!r}.")
    if test == "mixed":
        return DegenerateGaussian(data, names, kinds=kinds, missing=missing, singular=singular, max_r=max_r)
    if kinds:
        taken = "continuous" if test == "fisherz" else "discrete"
        raise ParameterError(f'test="{test}" takes every column as {taken}; kinds go with "auto" or "mixed".')
    if test == "fisherz":
        return FisherZ(data, names, missing=missing, singular=singular, max_r=max_r, threads=threads)
    return TESTS[test](data, names, missing=missing, singular=singular, max_r=max_r)


def _the_test_itself(data: Any, test: object) -> CITest:
    if test != "auto":
        raise ParameterError(f"The data are a test already ({data!r}); do not give another one, {test!r}.")
    return as_test(data)


def _users_own(data: Any, test: Any, names: Sequence[str] | None) -> CITest:
    if hasattr(test, "pvalues"):
        return as_test(test)
    if not callable(test):
        raise ParameterError(f"test must be a name, a function f(x, y, z) -> p or a test; got {test!r}.")
    return from_callable(test, as_table(data, names).names)


def _by_kind(
    data: Any,
    names: Sequence[str] | None,
    kinds: Mapping[str, Kind] | None,
    missing: Missing,
    singular: Singular,
    max_r: int | None,
    threads: int,
) -> CITest:
    is_large = isinstance(data, str | Path) and Path(data).is_file() and Path(data).stat().st_size > LARGE_FILE
    table = as_table(glance(Path(data)) if is_large else data, names, kinds=kinds)
    if is_large:
        _require_continuous(Path(data), table)
        return FisherZ(data, names, missing=missing, singular=singular, max_r=max_r)
    if "discrete" not in table.kinds:
        return FisherZ(table, missing=missing, singular=singular, max_r=max_r, threads=threads)
    if "continuous" not in table.kinds:
        return GSquared(table, missing=missing, singular=singular, max_r=max_r)
    return DegenerateGaussian(table, missing=missing, singular=singular, max_r=max_r)


def _require_continuous(path: Path, table: Table) -> None:
    discrete = [name for name, kind in zip(table.names, table.kinds, strict=True) if kind == "discrete"]
    if discrete:
        raise DataError(
            f"The file {path} is larger than {LARGE_FILE // 10**6} MB and has discrete columns ({discrete[0]!r}, "
            "...), whose test needs all rows in memory. Take a sample of the rows, declare the columns "
            'continuous, or choose test="gsq" or "mixed" to read it whole.'
        )
