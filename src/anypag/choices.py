"""The choices of a user. Each is declared once: its name, type, default, check, and a sentence of help.

`learn`, `iterate` and the estimators list the choices as arguments, and pass them on as one `Choices` object. The
command line's options and their reference, the fingerprint of a checkpoint, saved results and the report are made from
the declarations; `tests/test_choices.py` compares them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

from anypag.catalogue import METHODS, TESTS
from anypag.errors import Option, ParameterError

if TYPE_CHECKING:
    from anypag.ci.base import CITest
    from anypag.data.columns import Transform
    from anypag.data.findings import Singular
    from anypag.data.table import Missing
    from anypag.graphs.pag import PAG
    from anypag.knowledge.knowledge import Knowledge
    from anypag.search.algorithm import Algorithm
    from anypag.search.progress import Tick
    from anypag.search.state import State, StepInfo

MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
"""The default of `gaps` (`read_table`): words that mean a missing value in a text file."""
_SPELLINGS = (str.lower, str.upper, str.capitalize)
AMONG_NUMBERS = ("#N/A", *(spell(word) for word in ("na", "n/a", "nan", "null", "none") for spell in _SPELLINGS))
"""Words that mean a missing value in columns of numbers only. In a column of text, "Na" may be a level (sodium)."""

Sepset = Literal["first", "largest-p"]
Device = Literal["cpu", "cuda", "auto"]
DSep = Literal["all", "on-paths"]
Stop = Callable[["State", "StepInfo"], bool]  # called after every step; True stops the run

Part = Literal["data", "search", "run"]
"""The subject of a choice: data (how they are read and tested), search, or run (threads, budgets, files). The choices
about data and search determine the result, so a checkpoint's fingerprint is made from them.
"""


class OwnTest(NamedTuple):
    """The name of a user's own test. Files keep only this name."""

    name: str

    @classmethod
    def named(cls, test: Any) -> Self:
        if isinstance(test, cls):
            return test
        return cls(getattr(test, "__qualname__", None) or type(test).__qualname__)

    def __call__(self, *question: object) -> float:
        wrong = f"The file holds only the name of the test {self.name!r}, not the test itself."
        raise ParameterError(f"{wrong} Search again with this test or another one.")


class Requirement(NamedTuple):
    """The condition on a value, in words (for error messages) and as a function."""

    wanted: str
    holds: Callable[[Any], bool]
    names: tuple[str, ...] = ()  # the names to choose from, if there are any


@dataclass(frozen=True)
class Choice:
    """The declaration of a choice, besides its name, type and default."""

    part: Part
    help: str  # as the command line shows it; with `typed` "off" it describes `--no-NAME`
    check: Requirement
    typed: str | None = None
    """How it is typed on the command line: "number", "count", "name", "duration", "kinds", "off", "flag", "file",
    "knowledge"."""
    metavar: str | None = None
    by_method: bool = False  # only some algorithms use it (`Method.uses` in the catalogue)
    recorded: bool = False  # saved with results and shown in reports


def _choice(
    default: Any,
    part: Part,
    check: Requirement,
    help: str,
    typed: str | None = None,
    metavar: str | None = None,
    **more: Any,
) -> Any:
    return field(default=default, metadata={"choice": Choice(part, help, check, typed, metavar, **more)})


_recorded = partial(_choice, recorded=True)
_of_method = partial(_choice, by_method=True, recorded=True)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object, least: int = 0) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _is_test(value: object) -> bool:
    return value in ("auto", *TESTS) if isinstance(value, str) else callable(value) or hasattr(value, "pvalues")


def _optional(wanted: str, holds: Callable[[Any], bool]) -> Requirement:
    return Requirement(f"None or {wanted}", lambda value: value is None or holds(value))


def _one_of(*names: str) -> Requirement:
    wanted = f"{', '.join(map(repr, names[:-1]))} or {names[-1]!r}"
    return Requirement(wanted, lambda value: isinstance(value, str) and value in names, names)


_METHOD = Requirement(
    f"one of {', '.join(map(repr, METHODS))}, or an Algorithm",
    lambda value: isinstance(value, str) or (hasattr(value, "init") and hasattr(value, "step")),
    tuple(METHODS),
)
_TEST = Requirement(
    f"'auto', {', '.join(map(repr, TESTS))}, a function f(x, y, z) -> p or a test", _is_test, ("auto", *TESTS)
)
_SEPSET = _one_of(*get_args(Sepset))
_SEPSET = _SEPSET._replace(wanted=f"None, {_SEPSET.wanted}", holds=_optional("", _SEPSET.holds).holds)
_ALPHA = Requirement("a number between 0 and 1 (0.01, say)", lambda value: _is_number(value) and 0 < value < 1)
_COUNT = Requirement("a whole number from 0 on", is_whole)
_THREADS = Requirement("a whole number, 0 for one thread per core", is_whole)
_JOBS = _optional(
    "a whole number that is not 0 (-1: all cores)",
    lambda value: hasattr(value, "__index__") and not isinstance(value, bool) and int(value) != 0,
)
_LIMIT = _optional("a whole number from 0 on", is_whole)
_BUDGET = _optional("a number above 0", lambda value: _is_number(value) and float(value) > 0)
_EFFORT = Requirement("a number above 0, at most 100", lambda value: _is_number(value) and 0 < float(value) <= 100)
_FLAG = Requirement("True or False", lambda value: type(value).__name__ in {"bool", "bool_"})
_PROGRESS = Requirement("True, False or a function", lambda value: isinstance(value, bool) or callable(value))
_STOP = _optional("a function of the state and the step's info", callable)
_FILE = _optional("the path of a file", lambda value: isinstance(value, str | PathLike))
_PAG = _optional("a PAG", lambda value: hasattr(value, "marks") and hasattr(value, "names"))
_NAMES = _optional("a sequence of names", lambda value: hasattr(value, "__iter__") and not isinstance(value, str))
_KINDS = _optional('a mapping such as {"age": "continuous"}', lambda value: isinstance(value, Mapping))
_KNOWLEDGE = _optional(
    "a Knowledge such as ap.Knowledge(tiers=[['a', 'b'], ['c']])",
    lambda value: hasattr(value, "facts") and hasattr(value, "statements"),
)

_ABOUT_METHODS = (
    "auto: icd, then a posterior over graphs if a score fits the table. By tests: icd, icd-paper (exactly as "
    "published), fci, anytime-fci, rfci or fci+; by scores: bayes, boss or gfci."
)
_ABOUT_EFFORT = "How long to search by score (auto, bayes, boss, gfci): 1 is fast, 5 is thorough; time grows with it."
_ABOUT_TESTS = (
    "fisherz (continuous columns, straight lines), mixed (any columns, straight lines), additive (any columns, curves "
    "too), permutation, gsq or chisq (discrete), kci or gcm (any columns, slow), or auto: one that fits the columns."
)
_ABOUT_MAX_SETS = (
    "If an edge has more than N condition sets (1,000 by default), icd tests only sets of variables that, by the "
    "marks, may cause one of its ends or selection. For sets of up to two variables the limit is 100 N, unless the "
    "test takes one question at a time."
)
_ABOUT_SEPSETS = "The separating set kept for a pair: the first one found, or the one of largest p-value (largest-p)."
_ABOUT_DSEP = (
    "The nodes of Possible-D-Sep that fci and gfci put into condition sets: all, or only those on paths between the "
    "two variables (on-paths; fewer tests)."
)
_ABOUT_DSEP_MAX = "The size of the largest Possible-D-Sep condition sets (fci, gfci). Any limit may leave extra edges."
_ABOUT_KNOWLEDGE = "Knowledge, one statement per line, such as tiers: a b | c, a ~> b, a !~> b or a !~> selection."
_ABOUT_KINDS = (
    "Which columns are continuous, discrete or ordinal; anypag guesses the others. 'q*' is a pattern for the names of "
    "columns. 'low < high' declares an ordinal column with these texts in this order."
)
_ABOUT_THREADS = "Threads that test edges and improve graphs; 0: one per core. Same result for any number."
_ABOUT_MISSING = (
    "Missing values: auto (leave out columns with a value in fewer than half of the rows, then rows with gaps), error "
    "(stop), drop (rows) or pairwise (each test leaves out only the rows with gaps in its own columns)."
)
_ABOUT_SINGULAR = (
    "Columns that are exact functions of others: auto (leave them out, with constants and identifiers), error (stop) "
    "or keep."
)
_ABOUT_TRANSFORM = (
    "Continuous columns as they are (none), or the normal scores of their ranks (normal-scores), so that tests see any "
    "monotone relation."
)
_ABOUT_DEVICE = (
    "Where fisherz computes: cpu, cuda (a graphics card, extra 'gpu') or auto (a card if there is one, else the CPU)."
)
_ABOUT_JOBS = "Joblib workers for resamples and for tests that take one question at a time. Same result for any number."
_ABOUT_STOP = "A function of the state and the step's info, called after every iteration; True ends the run."
_ABOUT_PROGRESS = "True for a progress bar, or a function that is called before every batch of tests."
_NO_AUTO = (
    " is not offered: on 151 tables whose truth is known, neither the stability of half-samples (StARS) nor prediction "
    "out of sample (OCT) chose an alpha that did better than a fixed 0.01 (docs/stability.md). Give a number; "
    "resampling shows which edges depend on it."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Choices:
    """The choices of a run, each checked on its own; most combinations are checked when data and method are known."""

    method: str | Algorithm = _choice("auto", "search", _METHOD, _ABOUT_METHODS, "name", "METHOD")
    alpha: float = _recorded(
        0.01, "search", _ALPHA, "Two variables count as independent if the p-value is above this.", "number"
    )
    test: str | Callable[..., Any] | CITest = _recorded("auto", "data", _TEST, _ABOUT_TESTS, "name", "TEST")
    max_r: int | None = _recorded(None, "search", _LIMIT, "The size of the largest condition sets.", "count", "R")
    time_budget: float | None = _recorded(
        None, "run", _BUDGET, "Stop after 30s, 5m, 2h, ..., and return the last finished graph.", "duration", "TIME"
    )
    max_tests: int | None = _recorded(
        None, "run", _BUDGET, "Stop after N tests, and return the last finished graph.", "count", "N"
    )
    stop: Stop | None = _choice(None, "run", _STOP, _ABOUT_STOP)
    checkpoint: str | PathLike[str] | None = _choice(
        None, "run", _FILE, "Keep the state of the run in this file, so that it can be resumed.", "file", "FILE"
    )
    resume: bool = _choice(False, "run", _FLAG, "Continue from the checkpoint file if there is one.", "flag")
    progress: bool | Tick = _choice(False, "run", _PROGRESS, _ABOUT_PROGRESS)
    initial: PAG | None = _of_method(
        None, "search", _PAG, "A PAG to start from; its marks and missing edges are taken as known."
    )
    r0: int = _of_method(0, "search", _COUNT, "The size of the first condition sets.")
    max_sets: int | None = _of_method(None, "search", _LIMIT, _ABOUT_MAX_SETS, "count", "N")
    sepset: Sepset | None = _of_method(None, "search", _SEPSET, _ABOUT_SEPSETS, "name", "WHICH")
    possible_dsep: DSep = _of_method("all", "search", _one_of(*get_args(DSep)), _ABOUT_DSEP, "name", "WHICH")
    dsep_max_r: int | None = _of_method(None, "search", _LIMIT, _ABOUT_DSEP_MAX, "count", "R")
    effort: float = _of_method(1.0, "search", _EFFORT, _ABOUT_EFFORT, "number", "E")
    selection_bias: bool = _recorded(
        True, "search", _FLAG, "Without selection bias: no variable affects who is in the sample.", "off"
    )
    knowledge: Knowledge | None = _recorded(None, "search", _KNOWLEDGE, _ABOUT_KNOWLEDGE, "knowledge", "FILE")
    names: Sequence[str] | None = _recorded(None, "data", _NAMES, "The names of the variables, if the table has none.")
    kinds: Mapping[str, str] | None = _recorded(None, "data", _KINDS, _ABOUT_KINDS, "kinds", "NAME=KIND")
    missing: Missing = _recorded(
        "auto", "data", _one_of("auto", "error", "drop", "pairwise"), _ABOUT_MISSING, "name", "WAY"
    )
    transform: Transform = _recorded("none", "data", _one_of("none", "normal-scores"), _ABOUT_TRANSFORM, "name", "WAY")
    singular: Singular = _recorded("auto", "data", _one_of("auto", "error", "keep"), _ABOUT_SINGULAR, "name", "WAY")
    device: Device = _choice("cpu", "data", _one_of(*get_args(Device)), _ABOUT_DEVICE, "name", "WHERE")
    threads: int = _choice(1, "run", _THREADS, _ABOUT_THREADS, "count", "N", by_method=True)
    n_jobs: int | None = _choice(None, "run", _JOBS, _ABOUT_JOBS, "count", "N", by_method=True)

    def __post_init__(self) -> None:
        if isinstance(self.alpha, str) and self.alpha == "auto":
            raise ParameterError(Option("alpha", "auto"), _NO_AUTO)
        for name, choice in DECLARED.items():
            if (value := getattr(self, name)) is not DEFAULTS[name]:
                require(choice.check.holds(value), name, choice.check.wanted, value)
        if self.resume:
            wanted = "left out: there is no 'checkpoint' to continue from"
            require(self.checkpoint is not None, "resume", wanted, self.resume)

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """The choices that are among the arguments of a function."""
        return cls(**{name: value for name, value in arguments.items() if name in DECLARED})

    @property
    def needs_score(self) -> bool:
        facts = METHODS.get(self.method) if isinstance(self.method, str) else self.method.facts
        return facts is not None and facts.needs_score

    def strict(self) -> Self:
        """The choices with missing="drop" and singular="error" instead of "auto", so that no column is left out."""
        missing: Missing = "drop" if self.missing == "auto" else self.missing
        return replace(self, missing=missing, singular="error" if self.singular == "auto" else self.singular)


def is_default(name: str, value: Any) -> bool:
    default = DEFAULTS[name]
    return value is default or (isinstance(value, str | bool | int | float) and value == default)


def require(holds: bool, name: str, wanted: str, got: Any) -> None:
    """Raise ParameterError for the value `got` of the choice `name`, unless `holds`."""
    if not holds:
        raise ParameterError("The option ", Option(name), f" must be {wanted}; got {got!r}.")


DECLARED: dict[str, Choice] = {item.name: item.metadata["choice"] for item in fields(Choices)}  # the declarations
DEFAULTS: dict[str, Any] = {item.name: item.default for item in fields(Choices)}  # the default of every choice
