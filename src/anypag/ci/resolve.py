"""From data and the name of a test to a test bound to the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from anypag.catalogue import TESTS
from anypag.choices import DECLARED, Choices, is_default, require
from anypag.ci.adapters import from_causal_learn, is_causal_learn_test
from anypag.ci.base import CITest, as_test, from_callable, is_test
from anypag.ci.data_test import DataTest
from anypag.data.files.scan import glance
from anypag.data.sources.counted import CountedTable
from anypag.data.sources.engine import Engine, is_in_engine
from anypag.data.sources.engine_kinds import engine_kinds
from anypag.data.table import Kind, Table, as_table
from anypag.errors import DataError, Option, ParameterError, listed

LARGE_FILE = 500_000_000
"""Bytes above which a file is not read whole to see what its columns are."""


def resolve_test(data: Any, choices: Choices | None = None) -> CITest:
    """A test bound to data.

    Args:
        data: any table (see `anypag.data.as_table`), or a test, which is then used as it is.
        choices: `test` says which: "auto" (Fisher's z if all columns are continuous, χ² by its permutations if all are
            discrete, else the test for mixed data), a name in `anypag.catalogue`, the class of a test, a function
            f(x, y, z) -> p of column indices, or a test; the others about data say how it is bound.

    >>> import numpy as np
    >>> resolve_test(np.random.default_rng(0).normal(size=(100, 3)))
    FisherZ(3 columns, 100 rows)
    >>> resolve_test(np.random.default_rng(0).integers(0, 3, size=(100, 4)))
    PermutationChiSquared(4 columns, 100 rows)
    """
    choices = Choices() if choices is None else choices
    if is_test(data):
        return _the_test_itself(data, choices)
    if is_causal_learn_test(data):
        return _the_test_itself(from_causal_learn(data, choices.names), replace(choices, names=None))
    test = choices.test
    if choices.transform != "none" and _is_summed(data, choices):
        return _with_normal_scores(data, choices)
    if choices.transform != "none":
        return resolve_test(_transformed(data, choices), replace(choices, transform="none", names=None, kinds=None))
    if test == "auto":
        return _by_kind(data, choices)
    if isinstance(test, str):
        return _bound(class_of_test(test), data, choices)
    if isinstance(test, type) and issubclass(test, DataTest):
        return _bound(test, data, choices)
    return _users_own(data, test, choices)


def class_of_test(name: str) -> type[DataTest]:
    """The class of the test of that name."""
    module, attribute = TESTS[name]
    found: type[DataTest] = getattr(import_module(module), attribute)
    return found


def fits_of(class_name: str) -> str:
    """What must be true of data for the test of this class to be right, in a few words."""
    names = {attribute: name for name, (_, attribute) in TESTS.items()}
    return (class_of_test(names[class_name]) if class_name in names else DataTest).fits


def takes_of(class_name: str | None) -> Literal["continuous", "discrete", "any"]:
    """The kind of columns that the test of this class takes all columns for."""
    names = {attribute: name for name, (_, attribute) in TESTS.items()}
    return class_of_test(names[class_name]).takes if class_name in names else "any"


def _the_test_itself(test: Any, choices: Choices) -> CITest:
    about_data = [name for name, choice in DECLARED.items() if choice.part == "data"]
    _require_left_out(about_data, choices, "what came in place of data is a test")
    return as_test(test)


def _users_own(data: Any, test: Any, choices: Choices) -> CITest:
    """A test or a function that knows its data itself; the table names the variables."""
    _require_left_out(("kinds", "missing", "singular", "device"), choices, "the test that came decides it")
    names = as_table(data, choices.names).names
    if is_causal_learn_test(test):
        return from_causal_learn(test, names)
    if not hasattr(test, "pvalues"):
        return from_callable(test, names)
    found = as_test(test)
    if found.names != names:
        raise ParameterError(
            f"The test that came is about {listed(found.names)}, the data about {listed(names)}. Give the test in "
            "place of the data, or make it for these columns."
        )
    return found


def _require_left_out(names: Iterable[str], choices: Choices, why: str) -> None:
    for name in names:
        value = getattr(choices, name)
        require(is_default(name, value), name, f"left out: {why}", value)


def _require_device(test: type[DataTest], choices: Choices) -> None:
    """Only the test of continuous columns has a use for a card."""
    fits = choices.device == "cpu" or test.takes == "continuous"
    require(fits, "device", f"left out: {test.__name__} computes on the CPU", choices.device)


def _bound(test: type[DataTest], data: Any, choices: Choices) -> DataTest:
    _require_device(test, choices)
    if choices.kinds and test.takes != "any":
        raise ParameterError(
            f"{test.__name__} takes every column as {test.takes}; ",
            Option("kinds"),
            " go with ",
            Option("test", "auto"),
            ", ",
            Option("test", "mixed"),
            " or ",
            Option("test", "additive"),
            ".",
        )
    return test.bind(data, choices)


def _transformed(data: Any, choices: Choices) -> Table:
    """The table with its continuous columns transformed, as the test will take them."""
    test = choices.test
    kind: Any = class_of_test(test).takes if isinstance(test, str) and test != "auto" else getattr(test, "takes", "any")
    is_own = not isinstance(test, str) and not isinstance(test, type)
    require(not is_own, "transform", "left out: a test of your own sees the data as you give them", choices.transform)
    table = as_table(data, choices.names, kinds=choices.kinds)
    table = table if kind == "any" else table.all_of_kind(kind)
    require("continuous" in table.kinds, "transform", "left out: no column is continuous", choices.transform)
    return table.normal_scores()


def _is_summed(data: Any, choices: Choices) -> bool:
    """Is it a table in an engine, of whose scores sums can be made there?"""
    return choices.test in ("auto", "fisherz", "mixed") and choices.missing != "pairwise" and is_in_engine(data)


def _with_normal_scores(data: Any, choices: Choices) -> CITest:
    """The test of a table in an engine whose continuous columns are normal scores of approximate ranks."""
    from anypag.data.sources.engine_ranks import with_normal_scores

    engine = Engine.of(data, choices.names)
    as_numbers: dict[str, Kind] = dict.fromkeys(engine.names, "continuous")
    kinds = engine_kinds(engine, as_numbers if choices.test == "fisherz" else choices.kinds)
    require("continuous" in kinds, "transform", "left out: no column is continuous", choices.transform)
    scored, finding = with_normal_scores(engine, kinds)
    told = None if choices.test == "fisherz" else dict(zip(engine.names, kinds, strict=True))
    test: Any = resolve_test(scored, replace(choices, transform="none", kinds=told))
    test.audit = replace(test.audit, findings=(*test.audit.findings, finding))
    return as_test(test)


def _by_kind(data: Any, choices: Choices) -> DataTest:
    if is_in_engine(data):
        engine = Engine.of(data, choices.names)
        kinds = engine_kinds(engine, choices.kinds)
        return _fitting(kinds, data, replace(choices, kinds=dict(zip(engine.names, kinds, strict=True))))
    if isinstance(data, CountedTable):
        counted = (data if choices.names is None else data.take(choices.names)).with_kinds(choices.kinds or {})
        return _fitting(counted.kinds, counted, replace(choices, names=None))
    is_large = isinstance(data, str | Path) and Path(data).is_file() and Path(data).stat().st_size > LARGE_FILE
    table = as_table(glance(Path(data)) if is_large else data, choices.names, kinds=choices.kinds)
    if is_large:
        _require_continuous(Path(data), table)
        return class_of_test("fisherz").bind(data, replace(choices, kinds=None))
    return _fitting(table.kinds, table, replace(choices, names=None, kinds=None))


def _fitting(kinds: Sequence[Kind], data: Any, choices: Choices) -> DataTest:
    """The test that columns of these kinds call for."""
    name = "fisherz" if "discrete" not in kinds else "mixed" if "continuous" in kinds else "permutation"
    return _bound(class_of_test(name), data, choices if name == "mixed" else replace(choices, kinds=None))


def _require_continuous(path: Path, table: Table) -> None:
    discrete = [name for name, kind in zip(table.names, table.kinds, strict=True) if kind == "discrete"]
    if discrete:
        raise DataError(
            f"The file {path} is larger than {LARGE_FILE // 10**6} MB and has discrete columns ({discrete[0]!r}, "
            "...), whose test needs all rows in memory. Take a sample of the rows, declare the columns continuous (",
            Option("kinds"),
            "), or choose ",
            Option("test", "permutation"),
            " or ",
            Option("test", "mixed"),
            " to read it whole.",
        )
