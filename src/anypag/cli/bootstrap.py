"""`anypag learn --bootstrap N`: the resamples after the run, and what they say of its edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anypag.cli.signals import Interrupts
    from anypag.cli.terminal import Terminal
    from anypag.errors import AnypagError
    from anypag.results.result import Result
    from anypag.run.bootstrap import Resampling
    from anypag.run.watcher import Watcher
    from anypag.search.progress import Progress

Finished = tuple["Result", "AnypagError | None"]


def resampled(
    resampling: Resampling, whole: Callable[[], Finished], interrupts: Interrupts, terminal: Terminal
) -> Finished:
    """The result of the whole data with what came of resampling, and the error that ended the run if one did."""
    from anypag.errors import AnypagError
    from anypag.run.progress import showing

    def learned(watcher: Watcher) -> Result:
        result, error = whole()
        if error is not None:
            error.result = result
            raise error
        return result

    with showing(terminal.is_interactive) as show:

        def tick(progress: Progress) -> None:
            interrupts.check()
            show(progress)

        try:
            return resampling.run(learned, tick, interrupts.ending_a_run).result, None
        except AnypagError as error:
            if error.result is None:
                raise
            return error.result, error


def tell_stability(terminal: Terminal, result: Result) -> None:
    """How often resamples have each edge, and where their consensus differs from the graph."""
    stability = result.stability
    if stability is None:
        return
    from anypag.stability.again import again_lines

    terminal.line()
    first, *rest = again_lines(stability, result.pag)
    terminal.line(first, "bold")
    for line in rest:
        terminal.line(line)
    for line in _differences(result):
        terminal.line(line)
    for failure in stability.failures[:3]:
        terminal.line(f"Resample {failure.k} gave no graph: {failure.why}", "yellow")
    if len(stability.failures) > 3:
        terminal.line(f"{len(stability.failures) - 3} more gave none; --json and .json files name them all.", "yellow")


def _differences(result: Result) -> list[str]:
    """Where the consensus of the resamples has another edge, or none."""
    consensus = None if result.stability is None else result.stability.consensus
    if consensus is None:
        return []
    there = {(edge.a, edge.b): edge for edge in consensus.edges()}
    here = {(edge.a, edge.b): edge for edge in result.pag.edges()}
    differing = [pair for pair in {**here, **there} if here.get(pair) != there.get(pair)]
    if not differing:
        return ["The consensus of the resamples is the same graph."]
    lines = [
        f"  {str(there[pair].forward()) if pair in there else f'{pair[0]}   {pair[1]}   (no edge)'}"
        for pair in differing
    ]
    return [f"The consensus of the resamples differs in {len(lines)} of its pairs:", *lines]
