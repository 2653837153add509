"""Facts about each method and each test, and the module that defines it. Importing this file loads no method."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import NamedTuple


class OnTheWay(StrEnum):
    """The guarantee for the graph of a run that is stopped early, if the test is perfect."""

    CLAIMS = "every claim is right"
    MISSING_EDGES = "missing edges are right; marks come at the end"
    NOTHING = "claims can be wrong"


class AtTheEnd(StrEnum):
    """The guarantee for the graph of a finished run, if the test is perfect."""

    COMPLETE = "the whole graph is right"
    SOUND = "every claim is right; some edges may stay that FCI removes"
    NOTHING_HIDDEN = "right in the limit of many rows if nothing is hidden"
    COMPLETE_IN_THE_LIMIT = "the whole graph is right in the limit of many rows"


@dataclass(frozen=True)
class Promises:
    """The guarantees of a method: for a run that is stopped early, and for a finished run."""

    on_the_way: OnTheWay
    at_the_end: AtTheEnd


@dataclass(frozen=True)
class Method:
    """The facts about a method, available without loading it."""

    module: str  # the module that declares it, under the name `declared_as`; empty for an algorithm outside the package
    about: str  # a description in a few words
    promises: Promises
    uses: frozenset[str] = frozenset()  # the method-specific choices (`by_method`) that it reads
    phases: tuple[str, ...] = ("iteration",)  # the values of `state.phase`
    orders_nodes: bool = False  # nodes are numbered by strength of dependence: the order of columns does not matter
    needs_score: bool = False  # it works on `problem.score`
    from_scores: bool = False  # its edges and marks come from scores, not from tests and rules
    tests_by: str = ""  # the test-based method that is its first phase; if no score fits the data, that runs alone
    of_tests: tuple[str, ...] = ()  # that method also runs alone if one of these choices was made
    over_shifts: bool = False  # in a time series the same pair at different times is searched as one pair (`series/`)
    takes_knowledge: bool = True  # it reads the choice `knowledge`; else it knows only the marks of `initial`
    declared_as: str = "ALGORITHM"

    @property
    def hides_nothing(self) -> bool:
        """Does it assume that nothing is hidden: no unmeasured common causes, no selection?"""
        return self.promises.at_the_end is AtTheEnd.NOTHING_HIDDEN


_by_scores = partial(Method, orders_nodes=True, needs_score=True, from_scores=True)
_OF_SETS = frozenset({"sepset", "threads", "n_jobs"})  # the choices that searches for separating sets read
_OF_ICD = _OF_SETS | {"initial", "r0", "max_sets"}

METHODS = {
    "auto": _by_scores(
        "anypag.search.by_scores.auto",
        "icd first, then the posterior of bayes if a score fits the table",
        Promises(OnTheWay.NOTHING, AtTheEnd.COMPLETE_IN_THE_LIMIT),
        uses=_OF_ICD | {"effort"},
        phases=("iteration", "orders", "cooling", "hidden causes", "sampling"),
        tests_by="icd",
        of_tests=("max_r", "initial", "r0"),
    ),
    "icd": Method(
        "anypag.search.by_tests.icd",
        "iterative causal discovery, repaired so that every stop leaves a correct graph",
        Promises(OnTheWay.CLAIMS, AtTheEnd.COMPLETE),
        uses=_OF_ICD,
        orders_nodes=True,
        over_shifts=True,
    ),
    "icd-paper": Method(
        "anypag.search.by_tests.icd",
        "Algorithm 1 of the paper exactly as published, for reproduction",
        Promises(OnTheWay.NOTHING, AtTheEnd.COMPLETE),
        uses=frozenset({"initial", "r0"}),
        declared_as="PAPER",
    ),
    "fci": Method(
        "anypag.search.by_tests.fci",
        "FCI with a stable adjacency phase and the Possible-D-Sep phase",
        Promises(OnTheWay.MISSING_EDGES, AtTheEnd.COMPLETE),
        uses=_OF_SETS | {"possible_dsep", "dsep_max_r"},
        phases=("iteration", "possible-d-sep"),
    ),
    "anytime-fci": Method(
        "anypag.search.by_tests.fci",
        "FCI with a limit on the size of all condition sets; the limit grows step by step",
        Promises(OnTheWay.NOTHING, AtTheEnd.COMPLETE),
        uses=_OF_SETS,
        declared_as="ANYTIME_FCI",
    ),
    "rfci": Method(
        "anypag.search.by_tests.fci",
        "the adjacency phase of FCI, then checked orientation",
        Promises(OnTheWay.MISSING_EDGES, AtTheEnd.SOUND),
        uses=_OF_SETS,
        declared_as="RFCI",
    ),
    "fci+": Method(
        "anypag.search.by_tests.fci_plus",
        "FCI with hierarchies of separating sets in place of Possible-D-Sep",
        Promises(OnTheWay.MISSING_EDGES, AtTheEnd.COMPLETE),
        uses=_OF_SETS,
        phases=("iteration", "links"),
    ),
    "bayes": _by_scores(
        "anypag.search.by_scores.bayes",
        "a posterior over graphs from scores and tests; the PAG of least expected error, with probabilities",
        Promises(OnTheWay.NOTHING, AtTheEnd.COMPLETE_IN_THE_LIMIT),
        uses=frozenset({"effort", "max_sets", "sepset", "threads"}),
        phases=("orders", "tests", "cooling", "hidden causes", "sampling"),
    ),
    "boss": _by_scores(
        "anypag.search.by_scores.boss",
        "the PAG of the DAG that scores best; assumes that nothing is hidden",
        Promises(OnTheWay.NOTHING, AtTheEnd.NOTHING_HIDDEN),
        uses=frozenset({"effort", "threads"}),
        phases=("orders",),
    ),
    "gfci": _by_scores(
        "anypag.search.by_scores.gfci",
        "the DAG that scores best, then FCI's phases from there",
        Promises(OnTheWay.NOTHING, AtTheEnd.COMPLETE_IN_THE_LIMIT),
        uses=frozenset({"effort", "sepset", "threads", "possible_dsep", "dsep_max_r"}),
        phases=("orders", "iteration", "possible-d-sep"),
        from_scores=False,
    ),
}

TEST_METHODS = tuple(name for name, method in METHODS.items() if not method.needs_score)  # by tests, without a score


class OfData(NamedTuple):
    """A test of tables: its module and its class (a `DataTest`). `of_matrix`: it also takes a correlation matrix."""

    module: str
    declared_as: str
    of_matrix: bool = False


TESTS = {
    "fisherz": OfData("anypag.ci.gaussian", "FisherZ", of_matrix=True),
    "permutation": OfData("anypag.ci.discrete", "PermutationChiSquared"),
    "gsq": OfData("anypag.ci.discrete", "GSquared"),
    "chisq": OfData("anypag.ci.discrete", "ChiSquared"),
    "mixed": OfData("anypag.ci.mixed", "DegenerateGaussian"),
    "additive": OfData("anypag.ci.additive", "Additive"),
    "kci": OfData("anypag.ci.slow", "KCI"),
    "gcm": OfData("anypag.ci.slow", "GCM"),
}
