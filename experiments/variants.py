"""The algorithms that are run, by name: the library's own, and readings of the paper."""

from __future__ import annotations

from typing import NamedTuple

from anypag.catalogue import AtTheEnd, Method, OnTheWay, Promises
from anypag.choices import Choices, Sepset
from anypag.search.algorithm import Algorithm, Step
from anypag.search.state import first_state
from experiments import steps


class Variant(NamedTuple):
    """An algorithm to run."""

    label: str
    """For figures."""
    about: str
    """For tables: what is special about it."""
    choices: Choices
    """The method, and what it is told beside alpha."""


def library(method: str, *, max_sets: int | None = None, sepset: Sepset | None = None) -> Choices:
    """A method of the library."""
    return Choices(method=method, max_sets=max_sets, sepset=sepset)


def reading(step: Step) -> Choices:
    """An algorithm that only serves to read the paper: run by the same engine."""
    promises = Promises(OnTheWay.NOTHING, AtTheEnd.SOUND)
    facts = Method("", "a reading of the paper", promises, phases=("iteration", "possible-d-sep"))
    return Choices(method=Algorithm("reading", facts, init=first_state, step=step))


VARIANTS: dict[str, Variant] = {
    "fci": Variant("FCI", "the library's: stable, Possible-D-Sep of each node", library("fci")),
    "icd-paper": Variant("ICD, the paper's text (icd-paper)", "Algorithm 1 to the letter", library("icd-paper")),
    "icd-first": Variant(
        "ICD, ours, first set (icd-first)",
        "the library's `icd` with `sepset=\"first\"`: stops at an edge's first separating set",
        library("icd", sepset="first"),
    ),
    "icd": Variant(
        "ICD, ours (icd)",
        "the library's `icd` as it comes: on data all candidates are tested, the largest p counts",
        library("icd"),
    ),
    "rfci": Variant("RFCI", "the library's: no Possible-D-Sep phase", library("rfci")),
    "anytime-fci": Variant(
        "anytime FCI",
        "the library's: one cap on all sets, 0, 1, 2, … (the paper calls FCI “anytime”)",
        library("anytime-fci"),
    ),
    "fci-original": Variant(
        "FCI, original",
        "a removed edge is gone for the next pair (adjacency phase)",
        reading(steps.fci(steps.node_pools, steps.one_by_one)),
    ),
    "fci-path": Variant(
        "FCI, path-wise",
        "Possible-D-Sep only on paths between X and Y",
        reading(steps.fci(steps.path_pools, steps.all_at_once)),
    ),
    "fci-path-original": Variant(
        "FCI, path-wise, original", "both of these", reading(steps.fci(steps.path_pools, steps.one_by_one))
    ),
    "icd-paper-closed": Variant(
        "ICD, closed sets",
        "Algorithm 1, only sets that hold a PDS-path to each member (Lemma 1)",
        reading(steps.algorithm_1(steps.radius_pools(steps.NEVER), steps.closed_sets)),
    ),
    "icd-paper-free": Variant(
        "ICD, free",
        "Algorithm 1 without “on a path between X and Y” (Definition 1, 2)",
        reading(steps.algorithm_1(steps.free_pools(steps.NEVER), steps.all_sets)),
    ),
    "icd-paper-free-closed": Variant(
        "ICD, free, closed",
        "both of these",
        reading(steps.algorithm_1(steps.free_pools(steps.NEVER), steps.closed_sets)),
    ),
    "icd-paper-ancestors": Variant(
        "ICD, ancestors",
        "Algorithm 1, only possible ancestors of X or Y in the sets",
        reading(steps.algorithm_1(steps.radius_pools(steps.ALWAYS), steps.all_sets)),
    ),
    "icd-paper-free-closed-ancestors": Variant(
        "ICD, free, closed, ancestors",
        "all three: the conditions of the authors' later paper",
        reading(steps.algorithm_1(steps.free_pools(steps.ALWAYS), steps.closed_sets)),
    ),
    "icd-first-ancestors": Variant(
        "ICD, ours, first set, ancestors always",
        'the library\'s `icd` with `sepset="first", max_sets=0`',
        library("icd", sepset="first", max_sets=0),
    ),
}
