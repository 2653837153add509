"""The fingerprint of a run: the facts that must agree before a run may resume from a checkpoint."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from anypag.checkpoint.content import content_hash
from anypag.choices import DECLARED
from anypag.ci.base import Queries, innermost, is_test, with_its_answers
from anypag.ci.data_test import DataTest
from anypag.data.sources.counted import CountedTable
from anypag.data.sources.engine_queries import is_in_engine
from anypag.data.table import as_table
from anypag.errors import shortened
from anypag.results.schema import recorded
from anypag.search.algorithm import Algorithm
from anypag.search.problem import Problem

Fingerprint = dict[str, Any]
TITLES = {  # the names of facts in messages; other choices appear under their own names
    "anypag": "the version of anypag",
    "variables": "the variables",
    "rows": "the number of rows",
    "test": "the test",
    "data": "the data",
    "algorithm": "the algorithm",
    "kinds": "the kinds of the columns",
    "missing": "the choice for missing values",
    "initial": "the initial graph",
    "knowledge": "what is known beforehand",
    "sets": "the data sets of the rows",
    "r0": "the size of the first condition sets",
}


def fingerprint(algorithm: Algorithm, problem: Problem, data_or_test: Any) -> Fingerprint:
    """The facts that determine the course of a run. A user's algorithm is identified by its code, others by name."""
    from anypag import __version__

    choices, kept = problem.choices, recorded(problem.choices)
    return {
        "anypag": __version__,
        "variables": list(problem.nodes.names),
        "rows": problem.n_rows,
        "test": problem.test_name,
        "data": _data_hash(data_or_test, problem),
        "method": algorithm.name,
        "algorithm": None if isinstance(choices.method, str) else content_hash(algorithm),
        **{
            name: kept[name] if name in kept else content_hash(getattr(choices, name))
            for name, choice in DECLARED.items()
            if choice.part != "run" and name not in {"method", "test", "names"}  # these are recorded above
        },
    }


def _data_hash(data: Any, problem: Problem) -> str:
    choices = problem.choices
    if is_test(data):
        return content_hash(with_its_answers(data), declared=getattr(innermost(data), "version", None) is not None)
    test = problem.bound_test
    if is_in_engine(data) and isinstance(test, DataTest) and test.batch > 1:
        # the strength of each pair, rounded to six decimals, because the sums of an engine vary in the last digits
        x, y = np.triu_indices(len(test.names), 1)
        strengths = test.strength(Queries(x, y, np.empty((len(x), 0))))
        return content_hash([round(float(value), 6) for value in strengths])
    if isinstance(data, CountedTable):
        chosen = data if choices.names is None else data.take(choices.names)
        return content_hash((chosen.names, chosen.table.values, chosen.table.labels, chosen.kinds, chosen.counts))
    of_test = "" if isinstance(choices.test, str) else content_hash(choices.test)
    if isinstance(data, str | Path):
        with Path(data).open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest() + of_test
    table = as_table(data, choices.names)
    apart = getattr(data, "contexts_test", "all")  # set by `anypag.pooled`
    rows = content_hash((table.names, table.values, table.labels, table.kinds, table.weights))
    return rows + of_test + ("" if apart == "all" else apart)


def differences(then: object, now: Fingerprint) -> list[str]:
    """One clause for each fact in which two runs differ. If the fact is a hash, the clause says no more than that."""
    if not isinstance(then, dict):
        return ["no run is recorded in it"]
    pairs = {name: (then.get(name), now.get(name)) for name in {**now, **then}}
    return [_difference(name, *pair) for name, pair in pairs.items() if pair[0] != pair[1]]


def _difference(name: str, then: Any, now: Any) -> str:
    title = TITLES.get(name, name)
    if name in {"data", "initial", "knowledge", "algorithm"}:
        return f"{title} {'are' if name == 'data' else 'is'} not the same"
    return f"{title}: {_shown(then)} then, {_shown(now)} now"


def _shown(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return shortened(text, 60)
