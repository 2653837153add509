"""The parts of the page besides the graph, as JSON holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anypag.data.findings import Audit
from anypag.data.sources.protocol import Source
from anypag.errors import AnypagError
from anypag.explain.summary import end_told
from anypag.results.result import Result
from anypag.studio.columns_shown import advised, columns_shown, findings_shown, spelled
from anypag.studio.scene import steps_shown
from anypag.studio.settings import WORDS, Settings, in_words, offered
from anypag.studio.take_away import in_python, on_command_line

Shape = dict[str, Any]


def table_shown(
    name: str, settings: Settings, source: Source | None, audit: Audit | None, error: AnypagError | None = None
) -> Shape:
    """The table and what was found in it; `error` is what hinders a search, `source` None if the file is unreadable."""
    is_told = error is None or audit is not None
    return {
        "file": name,
        "rows": source.n if source else 0,
        "looked_at": source.sample().n if source else 0,
        "reading": dict(settings.reading),
        "columns": columns_shown(source, settings, audit) if source else [],
        "findings": findings_shown(audit, source) if audit and source else [],
        "notes": list(audit.all_notes) if audit else [],
        "error": None if is_told or error is None else error.sentence.spelled(spelled),
        "buttons": [] if is_told or error is None else list(advised(error.sentence)),
    }


def known_shown(settings: Settings, names: Sequence[str]) -> Shape:
    """Tiers and statements about the columns that are switched on, and what in them contradicts itself."""
    on = settings.columns(names)
    tiers = [[name for name in tier if name in on] for tier in settings.tiers]
    placed = {name for tier in tiers for name in tier}
    return {
        "names": on,
        "free": [name for name in on if name not in placed],
        "tiers": tiers,
        "statements": [[in_words(text), text] for text in settings.statements],
        "words": [[kind, words] for kind, words in WORDS.items()],
        "problem": settings.contradiction(names),
    }


def run_shown(status: str, said: str, settings: Settings, result: Result | None, share: float | None) -> Shape:
    """Where the search stands; `share` of the current phase is done."""
    history = result.history if result else ()
    is_over = result is not None and bool(history) and status in {"done", "stopped"}
    return {
        "status": status,
        "said": said,
        "share": share,
        "steps": steps_shown(history),
        "tests": sum(item.info.n_tests for item in history),
        "seconds": round(sum(item.seconds for item in history), 2),
        "end": end_told(result, spelled) if is_over and result else "",
        "offered": offered(settings),
    }


def texts_shown(settings: Settings, names: Sequence[str], file: str, result: Result) -> Shape:
    """The texts that learn the same graph again, and a note if the search was stopped where they do not stop."""
    note, max_r = "", None
    if not result.complete and not result.from_scores and not result.tests_done and result.history:
        max_r, note = result.r, f"The search was stopped after r = {result.r}, and so are these."
    elif not result.complete:
        note = "The search was stopped at a moment of its own; these run to the end."
    python = in_python(settings, names, file, max_r)
    return {"python": python, "shell": on_command_line(settings, names, file, max_r), "note": note}
