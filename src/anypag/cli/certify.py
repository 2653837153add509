"""`anypag certify`: every algorithm on every equivalence class of a few nodes, against the truth by definition."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from anypag.catalogue import TEST_METHODS
from anypag.cli.exits import ExitCode, command
from anypag.cli.options import Json
from anypag.cli.terminal import Terminal

if TYPE_CHECKING:
    from anypag.certify.algorithms import Tally

HEAD = "method       nodes classes wrong skeletons wrong marks wrong on the way  tests a graph = per size 0, 1, 2, ..."

KNOWLEDGE_HEAD = f"{'knowledge':<42} nodes    cases  unsound  missed by rules  wrong closures"


@command
def certify(
    nodes: Annotated[int, typer.Option(min=2, max=5, help="The size of the graphs; 5 takes minutes.")] = 4,
    method: Annotated[list[str] | None, typer.Option(help="May be given again; all of them if left out.")] = None,
    knowledge: Annotated[
        bool,
        typer.Option(
            "--knowledge", help="Check what follows from knowledge instead (on 5 nodes: on 5,000 of the classes)."
        ),
    ] = False,
    as_json: Json = False,
) -> ExitCode:
    """Check the algorithms with a perfect oracle on every graph of a few nodes. Exit code 1 if one is ever wrong."""
    from anypag.certify.algorithms import COSTLY
    from anypag.certify.algorithms import certify as tallies

    terminal = Terminal(as_json=as_json)
    if knowledge:
        return _certify_knowledge(terminal, nodes)
    chosen = tuple(dict.fromkeys(method or (*TEST_METHODS, f"icd{COSTLY}")))
    rows = []
    terminal.line(HEAD)
    for tally in tallies(nodes, chosen):
        terminal.line(_line(tally), None if tally.is_right else "bold red")
        rows.append(tally)
    if as_json:
        terminal.json({"nodes": nodes, "methods": [_described(tally) for tally in rows]})
    return ExitCode.COMPLETE if all(tally.is_right for tally in rows) else ExitCode.ERROR


def _certify_knowledge(terminal: Terminal, nodes: int) -> ExitCode:
    from anypag.certify.knowledge import certify_knowledge

    tallies = certify_knowledge(nodes, 5000 if nodes == 5 else None, workers=os.cpu_count() or 1)
    terminal.line(KNOWLEDGE_HEAD)
    for tally in tallies:
        numbers = f"{tally.cases:>8,} {tally.unsound:>8} {tally.missed_by_rules:>16,} {tally.wrong_closures:>15}"
        terminal.line(f"{tally.kind:<42} {tally.n:>5} {numbers}", None if tally.is_right else "bold red")
    if terminal.as_json:
        terminal.json({"nodes": nodes, "kinds": [{**asdict(tally), "right": tally.is_right} for tally in tallies]})
    return ExitCode.COMPLETE if all(tally.is_right for tally in tallies) else ExitCode.ERROR


def _line(tally: Tally) -> str:
    per_size = "  ".join(f"{count / max(1, tally.graphs):6.2f}" for _, count in sorted(tally.tests.items()))
    return (
        f"{tally.method:<12} {tally.n:>5} {tally.graphs:>7,} {tally.wrong_skeletons:>15} {tally.wrong_marks:>11} "
        f"{tally.wrong_on_the_way:>16}  {tally.mean_tests:6.2f} = {per_size}"
    )


def _described(tally: Tally) -> dict[str, object]:
    return {
        **asdict(tally),
        "tests": {str(size): count for size, count in tally.tests.items()},
        "right": tally.is_right,
    }
