"""Binds a test to data by its name, and adapts tests of causal-learn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, Literal

import numpy as np

from anypag.catalogue import TESTS
from anypag.choices import DECLARED, Choices, OwnTest, is_default, require
from anypag.ci.base import CITest, as_test, from_callable, is_test
from anypag.ci.contexts import with_contexts
from anypag.ci.data_test import DataTest
from anypag.data.audit.left_out import leaving_out
from anypag.data.columns import checked_column_names
from anypag.data.findings import Audit, Singular
from anypag.data.levels import common_kind
from anypag.data.sources.counted import weights_of
from anypag.data.sources.door import as_source
from anypag.data.sources.file import FileTable
from anypag.data.sources.protocol import Source
from anypag.data.table import Missing, spelled_out
from anypag.errors import CITestError, DataError, Option, ParameterError, listed


def resolve_test(data: Any, choices: Choices | None = None) -> CITest:
    """A test bound to data. `data` is any table (see `anypag.data.as_table`), or a test, which is used as it is.

    The choice `test` says which: "auto" (Fisher's z if no column is discrete; if all are, the permutation test or, with
    weights, Pearson's χ²; else the test for mixed data), a name in `anypag.catalogue`, the class of a test,
    a function f(x, y, z) -> p of column indices, or a test. The other choices about data say how the test is bound.

    >>> import numpy as np
    >>> resolve_test(np.random.default_rng(0).integers(0, 3, size=(100, 4)))
    PermutationChiSquared(4 columns, 100 rows)
    """
    choices = Choices() if choices is None else choices
    if is_test(data):
        return _the_test_itself(data, choices)
    if is_causal_learn_test(data):
        return _the_test_itself(from_causal_learn(data, choices.names), replace(choices, names=None))
    test = choices.test
    if not isinstance(test, str) and not (isinstance(test, type) and issubclass(test, DataTest)):
        return _users_own(data, test, choices)
    source = as_source(data, choices.names, choices.kinds)
    if test == "auto":
        source = source.settled()
        if isinstance(source, FileTable):
            source.refuse_levels()
        return _in_contexts(None, source, choices)
    test = class_of_test(test) if isinstance(test, str) else test
    if choices.kinds and test.takes != "any":
        raise ParameterError(
            f"{test.__name__} takes every column as {test.takes}; {Option('kinds')} need {Option('test', 'auto')}, "
            f"{Option('test', 'mixed')} or {Option('test', 'additive')} (or one of the slow tests, kci and gcm)."
        )
    return _in_contexts(test, source, choices)


def _in_contexts(given: type[DataTest] | None, source: Source, choices: Choices) -> CITest:
    """The test of a source (by default the one that fits its columns), wrapped by `ci.contexts` if it has contexts."""
    test = given or _fitting(source)
    return with_contexts(_bound(given, source, choices), source, lambda part: _bound(test, part, choices))


def _bound(given: type[DataTest] | None, source: Source, choices: Choices) -> DataTest:
    """The test (by default the one that fits) of the transformed source, without columns that no search can use."""
    test = given or _fitting(source)
    fits = choices.device == "cpu" or test.takes == "continuous"
    require(fits, "device", f"left out: {test.__name__} computes on the CPU", choices.device)
    if choices.transform != "none":
        source = source if test.takes == "any" else source.with_kinds(dict.fromkeys(source.names, test.takes))
        require("continuous" in source.kinds, "transform", "left out: no column is continuous", "normal-scores")
        source = source.normal_scores()
    told = partial(replace, choices, transform="none", names=None, kinds=None)

    def read(rest: Source, missing: Missing, singular: Singular) -> tuple[DataTest, Audit]:
        return _without_copies(given or _fitting(rest), rest, told(missing=missing, singular=singular))

    spoken_of = choices.knowledge.spoken_of if choices.knowledge else ()  # named in statements other than tiers
    needed = {*spelled_out(choices.kinds or {}, source.names), *spoken_of}  # columns that must not be left out
    bound, left_out = leaving_out(source, choices.missing, choices.singular, needed, read)
    return bound.with_findings(left_out)


def _without_copies(test: type[DataTest], source: Source, choices: Choices) -> tuple[DataTest, Audit]:
    """The test of a source, and the audit of the test. Of columns that are copies of each other, one stands for all."""
    try:
        bound = test.bind(source, choices)
        return bound, bound.audit
    except DataError as error:
        seen = error.audit.with_stand_ins() if isinstance(error.audit, Audit) else Audit(())
        if not seen.copies:
            raise
    rest = source.take([name for name in source.names if name not in seen.copies])
    bound = test.bind(rest, choices).with_findings(seen.stand_ins)
    return bound, bound.audit


def _fitting(source: Source) -> type[DataTest]:
    """The default test for the kinds of the columns."""
    of_levels = "permutation" if weights_of(source) is None else "chisq"
    names = {"continuous": "fisherz", "any": "mixed", "discrete": of_levels}
    return class_of_test(names[common_kind(source.kinds)])


def class_of_test(name: str) -> type[DataTest]:
    found: type[DataTest] = getattr(import_module(TESTS[name].module), TESTS[name].declared_as)
    return found


def name_of(test: CITest) -> Any:
    """The name of a test in the catalogue; a test of the user's own is named after its class."""
    home = (type(test).__module__, type(test).__name__)
    return next((name for name, found in TESTS.items() if found[:2] == home), OwnTest.named(test))


_NAMES = {found.declared_as: name for name, found in TESTS.items()}


def fits_of(class_name: str) -> str:
    """The assumptions about data under which the test of this class is right, in a few words."""
    return (class_of_test(_NAMES[class_name]) if class_name in _NAMES else DataTest).fits


def takes_of(class_name: str | None) -> Literal["continuous", "discrete", "any"]:
    """The kind that the test of this class assumes for all columns."""
    return class_of_test(_NAMES[class_name]).takes if class_name in _NAMES else "any"


def _the_test_itself(test: Any, choices: Choices) -> CITest:
    about_data = [name for name, choice in DECLARED.items() if choice.part == "data"]
    _require_left_out(about_data, choices, "a test was given in place of data")
    return as_test(test)


def _users_own(data: Any, test: Any, choices: Choices) -> CITest:
    """The user's test or function, which holds its own data; the table only names the variables."""
    _require_left_out(("kinds", "missing", "singular", "device"), choices, "the given test decides it")
    _require_left_out(["transform"], choices, "a test of your own sees the data as you give them")
    names = as_source(data, choices.names).names
    if is_causal_learn_test(test):
        return from_causal_learn(test, names)
    if not hasattr(test, "pvalues"):
        return from_callable(test, names)
    found = as_test(test)
    if found.names != names:
        raise ParameterError(
            f"The test is about {listed(found.names)}, the data about {listed(names)}. Give the test in "
            "place of the data, or make a test of the data's columns."
        )
    return found


def _require_left_out(names: Iterable[str], choices: Choices, why: str) -> None:
    for name in names:
        value = getattr(choices, name)
        require(is_default(name, value), name, f"left out: {why}", value)


def is_causal_learn_test(thing: Any) -> bool:
    """Is it a test object of causal-learn, bound to its data?"""
    data = getattr(thing, "data", None) if callable(thing) else None
    return isinstance(data, np.ndarray) and data.ndim == 2


def from_causal_learn(cit: Any, names: Sequence[str] | None = None) -> CITest:
    """The test made of a test object of causal-learn (the result of `causallearn.utils.cit.CIT(data, method)`).

    `learn(cit)` and `learn(table, test=cit)` call this. Graphs of causal-learn are accepted like other graphs
    (`compare`, pictures, files); `anypag.as_graph` converts one.

    Args:
        cit: a test object of causal-learn, bound to its data.
        names: the names of the columns of its data; X0, X1, ... if not given.

    Raises:
        CITestError: `cit` is not such an object. The test raises it too, if `cit` fails or answers no p-value.
    """
    if not is_causal_learn_test(cit):
        raise CITestError(
            f"A test object of causal-learn was wanted, such as CIT(data, 'kci'); got {type(cit).__name__}."
        )
    checked = checked_column_names(names, cit.data.shape[1])

    def pvalue(x: int, y: int, z: tuple[int, ...]) -> float:
        asked = f"{checked[x]} and {checked[y]} given {', '.join(checked[i] for i in z) or 'nothing'}"
        try:
            p = float(cit(x, y, list(z)))
        except (ValueError, AssertionError, ArithmeticError, np.linalg.LinAlgError) as error:
            raise CITestError(f"causal-learn's test of {asked} failed: {error}") from error
        if not 0.0 <= p <= 1.0:
            raise CITestError(f"causal-learn's test of {asked} answered {p}, which is no p-value.")
        return p

    return from_callable(pvalue, checked)
