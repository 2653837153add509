"""Makes a problem from data (or a test) and choices. Everything is checked, and nothing is tested yet."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from anypag.choices import DEFAULTS, Choices, is_default, require
from anypag.ci.base import CITest, innermost, is_test, rows_behind, score_for
from anypag.ci.data_test import DataTest
from anypag.ci.wrappers import Cached, Counted, Dispatched, workers_of
from anypag.data.sources.pooled import Pooled
from anypag.errors import DataError, KnowledgeError, Option, ParameterError, Sentence
from anypag.graphs.marks import Mark
from anypag.graphs.pag import PAG
from anypag.knowledge.knowledge import Knowledge
from anypag.knowledge.statements import Contexts
from anypag.markup import duration
from anypag.search.algorithm import Algorithm, algorithm
from anypag.search.problem import Chosen, Problem, pose

if TYPE_CHECKING:
    from anypag.scores.base import Score

MOST_SECONDS = 60.0  # if the posterior would take longer, "auto" uses tests alone (from 317 columns of numbers on)
SECONDS_A_PAIR, SECONDS_A_CELL, SECONDS_A_ROW, SECONDS_A_BLOCK = 6e-4, 1.2e-6, 1.5e-7, 6e-7
"""The posterior of n variables takes about the larger of two times. The first is SECONDS_A_PAIR · n². The second is
n² · (SECONDS_A_CELL · distinct rows + SECONDS_A_ROW · rows) if the score counts rows; else
SECONDS_A_BLOCK · n · Σ (kᵢ⁵ - 1), where the score has kᵢ columns for variable i. Measured: 3 to 4 s for 100 columns of
numbers, 17 s for 180; 27 s for 35 columns of levels with 20,000 rows; 5 s for 10 columns of levels with 600,000 rows
(2,627 of them distinct). 12 columns of numbers and one of 15 levels take 7 s, or 163 s if it has 30 levels."""
_A_MARK = {Mark.ARROW: "an arrowhead", Mark.TAIL: "a tail"}
POSTERIOR = "tests, then a posterior over graphs"  # shown as the reason if "auto" continues with scores


def bind(data_or_test: Any, method: Algorithm, choices: Choices, bound: CITest | None = None) -> Problem:
    """The problem for an algorithm; `bound` is a test that was bound to these data with the same choices."""
    from anypag.ci.resolve import is_causal_learn_test, name_of, resolve_test

    method.refuse_unused(choices)
    choices = with_design(data_or_test, choices)
    if choices.knowledge and choices.knowledge.contexts:  # Joint Causal Inference assumes no selection
        choices = replace(choices, selection_bias=False)
    told = choices if choices.threads else replace(choices, threads=_cores())
    test = bound or resolve_test(data_or_test, told)
    if is_test(data_or_test) or is_causal_learn_test(data_or_test):
        choices = replace(choices, test=name_of(innermost(test)))
    audit = getattr(innermost(test), "audit", None)
    if choices.knowledge and isinstance(innermost(test), DataTest) and audit and (audit.copies or audit.left_out):
        known = choices.knowledge.renamed(audit.copies).without(audit.left_out)
        choices = replace(choices, knowledge=known)
    test = _counted(test, choices.n_jobs if "n_jobs" in method.facts.uses else 1)
    _check_together(choices, test)
    method, score, chosen = _settled(method, choices, test)
    other = chosen is not None and chosen.method != algorithm(choices.method).name
    effort = choices.effort if "effort" in method.facts.uses else DEFAULTS["effort"]  # "auto" may use tests alone
    threads, name = told.threads if test.batch > 1 else 1, method.name if other else choices.method
    choices = replace(choices, threads=threads, method=name, effort=effort)
    problem = pose(test, method.filled_in(choices, test), score, chosen)
    largest = f"at most {problem.last_r}, the size of the largest condition sets"
    require(choices.r0 <= problem.last_r, "r0", largest, choices.r0)
    _check_initial_agrees(problem)
    return problem


def with_design(data: Any, choices: Choices) -> Choices:
    """The choices, with the knowledge that the design of pooled data gives; no knowledge if the method takes none."""
    if not algorithm(choices.method).facts.takes_knowledge:
        return replace(choices, knowledge=None)
    if not isinstance(data, Pooled):
        return choices
    said = [one for one in choices.knowledge.statements if one.place != "pooled"] if choices.knowledge else []
    _check_same_design(data, [one for one in said if isinstance(one, Contexts)])
    names = choices.names
    names = None if names is None else [*names, *(name for name in data.contexts if name not in names)]
    acts_on = [(by, [name for name in on if name in (names or data.names)]) for by, on in data.targets]
    acts_on = [(by, on) for by, on in acts_on if on]
    known = Knowledge(contexts=data.contexts, assumptions=data.assumptions, joined=acts_on, causes=acts_on)
    design = [replace(one, place="pooled") for one in known.statements]
    known = Knowledge.of([*design, *(one for one in said if not isinstance(one, Contexts))])
    return replace(choices, names=names, knowledge=known)


def _check_same_design(data: Pooled, said: list[Contexts]) -> None:
    """Raise an error if contexts in knowledge, or their assumptions, differ from those of the table."""
    wanted = {(name, data.assumptions) for name in data.contexts}
    if said and {(name, one.assumptions) for one in said for name in one.names} != wanted:
        raise KnowledgeError(
            "Contexts in knowledge must be those that the table was pooled with, "
            f"`{Contexts(data.contexts, data.assumptions)}`; got `{'; '.join(map(str, said))}`. Leave contexts out of "
            "the knowledge, or pool the data sets with these contexts and assumptions."
        )


def _settled(method: Algorithm, choices: Choices, test: CITest) -> tuple[Algorithm, Score | None, Chosen | None]:
    """The algorithm ("icd" if "auto" samples no posterior); its score or None; what "auto" chose and why, or None."""
    if not method.facts.tests_by:
        return method, score_for(test) if method.facts.needs_score else None, None
    score, why = _score_or_reason(method.facts.of_tests, choices, test)
    if score is not None:
        return method, score, Chosen(method.name, why)
    by_tests = algorithm(method.facts.tests_by)
    return by_tests, None, Chosen(by_tests.name, why)


def _score_or_reason(of_tests: Sequence[str], choices: Choices, test: CITest) -> tuple[Score | None, str | Sentence]:
    """The score for the posterior of "auto" (None if "auto" uses tests alone), and the reason in words."""
    given = [f"{Option(name)}" for name in of_tests if not is_default(name, getattr(choices, name))]
    if given and not is_default("effort", choices.effort):
        why = "the first is only for searches by tests, the other only for searches by scores."
        raise ParameterError(f"Leave out {given[0]} or {Option('effort')}: {why}")
    if given:
        were = f"{' and '.join(given)} {'were' if len(given) > 1 else 'was'}"
        return None, Sentence(f"by tests alone, as {were} chosen, which only a search by tests has")
    if choices.singular == "keep":
        return None, "by tests alone, as a score cannot separate columns that are functions of others"
    n, rows = len(test.names), rows_behind(test) or 0
    if n**2 * SECONDS_A_PAIR > MOST_SECONDS:
        return None, _too_long(n, rows, n**2 * SECONDS_A_PAIR)
    try:
        score = score_for(test)
    except DataError as error:
        return None, f"by tests alone: {str(error).split('. ')[0]}"
    seconds, most = _posterior_takes(score, test)
    return (score, POSTERIOR) if seconds <= MOST_SECONDS else (None, _too_long(n, rows, seconds, most))


def _posterior_takes(score: Score, test: CITest) -> tuple[float, str]:
    """About how many seconds the posterior takes for rows or levels, and a clause about the column that costs most."""
    n, widths, rows = len(score.names), score.widths, rows_behind(test) or 0
    if not score.hidden:
        return n**2 * (getattr(innermost(test), "n_distinct", rows) * SECONDS_A_CELL + rows * SECONDS_A_ROW), ""
    widest = int(np.argmax(widths))
    levels = f", most of it for the {widths[widest] + 1:,} levels of {score.names[widest]!r}"
    return n * SECONDS_A_BLOCK * float((widths**5.0 - 1).sum()), levels


def wait_told(problem: Problem, method: Algorithm) -> Sentence | None:
    """The message before a search that samples graphs for more than a minute; None before other searches."""
    if problem.score is None or "sampling" not in method.facts.phases:
        return None
    n, rows = problem.n, problem.n_rows or 0
    seconds, most = max((n**2 * SECONDS_A_PAIR, ""), _posterior_takes(problem.score, problem.test))
    if seconds <= MOST_SECONDS:
        return None
    took = _duration_told(n, rows, seconds, "takes")
    return Sentence(f"The {took}{most}. With {Option('time_budget')} it ends earlier, with the best graph so far.")


def _too_long(n: int, rows: int, seconds: float, most: str = "") -> Sentence:
    took = _duration_told(n, rows, seconds, "would take")
    return Sentence(f"by tests alone, as the {took}{most} ({Option('method', 'bayes')})")


def _duration_told(n: int, rows: int, seconds: float, takes: str) -> str:
    about = f"about {duration(seconds)}" if seconds < 3600 else "hours"
    return f"posterior of {n:,} variables and {rows:,} rows {takes} {about}"


def bind_again(test: CITest, method: Algorithm, choices: Choices) -> Problem:
    """The problem with a test of other rows of the same table, without repeating the checks."""
    counted = _counted(test, choices.n_jobs)
    return pose(counted, choices, score_for(test) if method.facts.needs_score else None)


def _counted(test: CITest, n_jobs: int | None) -> Counted:
    """The test, wrapped to count questions. For slow tests answers are also cached; `n_jobs` workers compute them."""
    if isinstance(test, Counted):
        return test
    if test.batch > 1 or isinstance(test, Cached):
        return Counted(test)
    return Counted(Cached(Dispatched(test, n_jobs) if workers_of(n_jobs) > 1 else test))


def _check_together(choices: Choices, test: CITest) -> None:
    if len(test.names) < 2:
        raise ParameterError(f"A search needs two variables or more; got {len(test.names)}: {list(test.names)}.")
    fits = choices.threads <= 1 or test.batch > 1
    require(fits, "threads", "left out: the test takes one question at a time", choices.threads)
    fits = choices.n_jobs in {None, 1} or test.batch == 1
    require(fits, "n_jobs", "left out: the test takes many questions at a time; choose 'threads'", choices.n_jobs)
    initial, names = choices.initial, test.names
    if initial is None:
        return
    require(isinstance(initial, PAG), "initial", "a PAG", initial)
    missing = [name for name in names if name not in initial.names]
    extra = [name for name in initial.names if name not in names]
    if missing or extra:
        told = f"it lacks {missing or 'none'} and has {extra or 'none'} too many."
        raise ParameterError(f"The 'initial' PAG must be over the same variables as the data; {told}")


def _check_initial_agrees(problem: Problem) -> None:
    if problem.choices.initial is None or problem.facts is None:
        return
    given, names = problem.given, problem.nodes.names
    seeds = problem.facts.seeds(given)
    wrong = np.argwhere((given > Mark.CIRCLE) & (seeds > Mark.CIRCLE) & (given != seeds))
    if len(wrong):
        i, j = wrong[0]
        raise KnowledgeError(
            f"The 'initial' PAG has {_A_MARK[given[i, j]]} at {names[j]!r} on its edge to {names[i]!r}; the "
            f"knowledge requires {_A_MARK[seeds[i, j]]} there."
        )
    missing = np.argwhere(problem.facts.joined & (given == Mark.NONE))
    if len(missing):
        i, j = missing[0]
        raise KnowledgeError(f"The 'initial' PAG has no edge {names[i]!r}–{names[j]!r}; they are known to be joined.")


def _cores() -> int:
    is_bound = hasattr(os, "sched_getaffinity")  # not on Windows
    return len(os.sched_getaffinity(0)) if is_bound else os.cpu_count() or 1
