"""What the command line says about a run: how far it got, and what could still change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anypag.catalogue import method_named
from anypag.cli.outcome import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anypag.results.result import Iteration, Result

_STOPPED = {
    "time": "the time budget is spent",
    "tests": "the test budget is spent",
    "interrupt": "interrupted",
    "error": "an error ended the run",
}


def counted(n: int, what: str) -> str:
    """A number of things: `1 edge`, `2 edges`, `12,000 tests`."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def iteration_line(item: Iteration) -> str:
    """One finished iteration: edges left, removed, marks oriented, tests, time."""
    info = item.info
    phase = "" if info.phase == "iteration" else f" ({info.phase})"
    conflicts = f"  {counted(info.n_conflicts, 'conflict')}" if info.n_conflicts else ""
    return (
        f"r = {info.r}{phase}  {info.n_edges:>5,} edges left  {info.removed:>5,} removed  "
        f"{oriented(item):>5,} marks oriented  {info.n_tests:>9,} tests  {shown(item.seconds):>8}{conflicts}"
    )


def reached(item: Iteration) -> str:
    """How far a run was after a step: `r = 2`, or the phase of a search by score."""
    return f"r = {item.r}" if item.info.has_r else f"a step of {item.info.phase!r}"


def phase_line(steps: Sequence[Iteration]) -> str:
    """The finished steps of a phase that has no r: edges and marks after the last one, tests and time of them all."""
    last, n_tests = steps[-1], sum(item.info.n_tests for item in steps)
    tests = counted(n_tests, "test") if n_tests else ""
    seconds = shown(sum(item.seconds for item in steps))
    edges = f"{last.info.n_edges:>5,} edges  {oriented(last):>5,} marks oriented"
    return f"{last.info.phase:13}  {edges}  {tests:>15}  {seconds:>8}"


def oriented(item: Iteration) -> int:
    """The arrowheads and tails of the graph after an iteration."""
    from anypag.graphs.marks import Mark

    return int((item.pag.marks > Mark.CIRCLE).sum())


def how_far(result: Result) -> str:
    """Whether the run is complete, else what ended it and up to where the graph can be relied on."""
    spent = f"{counted(result.n_tests, 'test')}, {shown(sum(item.seconds for item in result.history))}"
    if method_named(result.method).from_scores and result.history:
        return f"{_how_far_by_score(result)} ({spent})."
    if is_at_limit(result):
        return f"Done up to r = {result.r}, as --max-r says ({spent})."
    if result.complete:
        return f"Complete: no further iteration can change the graph (r = {result.r}, {spent})."
    if not result.history:
        step = "step" if method_named(result.method).needs_score else "iteration"
        return f"{_stopped_early(result)} before the first {step} was finished; nothing is known yet."
    return f"{_stopped_early(result)}. The graph is complete up to r = {result.r} ({spent})."


def _how_far_by_score(result: Result) -> str:
    said = result.probabilities
    if said is not None:
        begin = "Complete: of" if result.complete else f"{_stopped_early(result)}. Of"
        return (
            f"{begin} the graphs met in {counted(said.n_samples, 'sample')} this one has the fewest expected errors, "
            f"{said.expected_errors:.1f} edges and marks{said.condition}"
        )
    assumed = ", assuming that nothing is hidden" if method_named(result.method).hides_nothing else ""
    if result.complete:
        return f"Complete: the graph that scores best{assumed}"
    return f"{_stopped_early(result)}. The graph is the one that scores best so far{assumed}"


def _stopped_early(result: Result) -> str:
    return f"Stopped early: {_STOPPED.get(result.stopped or '', 'stopped')}"


def what_next(result: Result) -> str | None:
    """What a next iteration could still change; None if nothing."""
    if method_named(result.method).from_scores or (result.complete and not is_at_limit(result)):
        return None
    if not result.history:
        return "Every pair counts as joined until it is tested."
    info = result.history[-1].info
    all_or_some = "all" if info.n_open in {0, info.n_edges} else f"{info.n_open:,} of the"
    given = counted(result.r + 1, "other variable")
    return (
        f"A next iteration would test {all_or_some} {counted(info.n_edges, 'edge')} given {given}: some may fall, and "
        f"circles may become arrowheads or tails. Pairs without an edge stay so.{_but_on_data(result)}"
    )


def _but_on_data(result: Result) -> str:
    """With perfect tests what is said so far stands; on data it need not."""
    return " What is said so far stands." if result.is_exact else " Marks may be withdrawn, as tests err."


def what_is_known(result: Result) -> str | None:
    """What else to say of an order in time, where that would help; None where nothing is to be said."""
    from anypag.explain.known import what_to_say

    if not result.history:
        return None
    if not result.choices.knowledge:
        return what_to_say(result, "--tiers, --knowledge")
    facts = result.choices.knowledge.facts(result.pag.names, selection=result.choices.selection_bias)
    if not (facts.not_causes & ~facts.not_selecting[:, None]).any():
        return None
    return (
        "What is no cause of an earlier variable may still be one of being in the sample, and has a tail then. If "
        "nothing in the table decided who got into it, say --no-selection-bias."
    )


def is_at_limit(result: Result) -> bool:
    """Did the run end because --max-r was reached?"""
    limit = result.choices.max_r
    at_limit = limit is not None and result.r >= limit and limit < len(result.pag) - 2
    return at_limit and (result.complete or result.stopped == "max_r")
