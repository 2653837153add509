"""The session behind the page: one table, its settings, and a thread that reads, checks and searches.

Threads of the server change the settings, start and stop the search and ask about the latest result. They never wait
for the search. A change ends the running search. The next search reuses the table as it was read, the steps of an
earlier run with the same settings and, if only knowledge changed, the test with its cached results.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anypag.choices import Choices
from anypag.data.files.read_table import read_table
from anypag.data.sources.door import as_source
from anypag.data.sources.file import FileTable
from anypag.data.sources.protocol import Source
from anypag.errors import AnypagError, CheckpointError, ParameterError
from anypag.results.result import Result
from anypag.results.schema import recorded
from anypag.run.clock import Signals, Stopped
from anypag.run.engine import Search, learned
from anypag.run.watcher import Estimated, Listeners
from anypag.search.problem import Problem
from anypag.search.progress import Progress
from anypag.studio import page_parts
from anypag.studio.board import Board, Painter
from anypag.studio.columns_shown import spelled
from anypag.studio.folder import Opened
from anypag.studio.settings import Settings
from anypag.studio.take_away import file_taken

SECONDS_BETWEEN_TICKS = 0.25


@dataclass(frozen=True)
class Ready:
    """A search that is ready: its choices as the user made them, its data, and where its checkpoint is."""

    choices: Choices
    search: Search
    data: Any
    checkpoint: Path


class Session(Signals):
    """The table, settings, search and result behind the page. Every method may be called from any thread."""

    def __init__(self) -> None:
        self.board = Board()
        self._changed = self.board.changed
        self._opened: Opened | None = None
        self._settings = Settings()
        self._source: tuple[Opened, dict[str, Any], Source] | None = None  # the file, how it was read, and its table
        self._bound: Ready | None = None
        self._before: Ready | None = None  # the last search that was ready; parts of it may serve the next one
        self._result: Result | None = None
        self._is_dirty = self._goes = False
        self._shown_at = 0.0
        self._stopping = threading.Event()
        self._painter = Painter(self.board, self._failed)
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()

    # --- what the server calls ---

    def open(self, opened: Opened) -> None:
        """Show another table, with the settings that it had before."""
        with self._changed:
            if self._opened is not None:
                self._opened.close()
            self._opened, self._settings, self._goes = opened, opened.settings(), False
            self._source = self._bound = self._before = self._result = None
            self._renew()

    def has_open(self, key: str) -> bool:
        """Is the open table in the folder with this name?"""
        with self._changed:
            return self._opened is not None and self._opened.folder.name == key

    def change(self, what: str, *values: Any) -> None:
        """Change the settings; a search that runs starts again. ParameterError if there is no table."""
        with self._changed:
            settings = self._settings.changed(what, *values)
            if self._opened is None:
                raise ParameterError("Open a table first.")
            if settings != self._settings:
                self._settings = settings
                self._opened.keep(settings)
                self._renew()

    def go(self) -> None:
        """Start the search, or go on with it."""
        with self._changed:
            self._goes = True
            self._changed.notify_all()

    def stop(self) -> None:
        """End the search after the current batch of tests; the graph of the last step stays."""
        with self._changed:
            self._goes = False
            self._stopping.set()

    def close(self, seconds: float = 10.0) -> None:
        """End the threads. The finished steps are in the checkpoint."""
        self._stopping.set()
        self.board.close()
        self._worker.join(seconds)
        if self._opened is not None:
            self._opened.close()

    def pair(self, i: int, j: int) -> list[page_parts.Block]:
        result, _ = self._latest()
        return page_parts.pair_told(result, *_names(result, i, j))

    def node(self, i: int) -> dict[str, Any]:
        result, _ = self._latest()
        (name,) = _names(result, i)
        return page_parts.around(result.pag, self._painter.picture_of(result.pag), name)

    def effect(self, i: int, j: int) -> list[page_parts.Block]:
        result, data = self._latest()
        cause, outcome = _names(result, i, j)
        return page_parts.effect_told(result, cause, outcome, data)

    def take(self, name: str) -> bytes:
        result, data = self._latest()
        texts = self.board.part("take") or {"shell": ""}  # None if the settings have just changed
        return file_taken(result, name, texts["shell"], data)

    def _latest(self) -> tuple[Result, Any]:
        with self._changed:
            result, bound = self._result, self._bound
        if result is None or bound is None or not result.history:
            raise ParameterError("There is no graph yet: press Learn.")
        return result, bound.data

    # --- the thread that reads, checks and searches ---

    def _renew(self) -> None:
        """Make the worker prepare the search again; the caller must hold the lock."""
        self._is_dirty = True
        self._stopping.set()
        self._changed.notify_all()

    @property
    def _may_run(self) -> bool:
        return self._goes and self._bound is not None and not _is_done(self._result)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self.board.is_closed or self._is_dirty or self._may_run)
                is_dirty, self._is_dirty, settings = self._is_dirty, False, self._settings
                if self.board.is_closed:
                    return
                self._stopping.clear()
            try:
                if is_dirty:
                    self._prepare(settings)
                else:
                    self._search()
            except Exception as error:  # no error may end the thread
                self._failed(error)

    def _failed(self, error: Exception) -> None:
        self._goes = False
        self._show_run("failed", said_of(error))

    def _prepare(self, settings: Settings) -> None:
        """Read and check the table, make the search ready, and show the steps in its checkpoint."""
        with self._changed:
            self._result = self._bound = None
            opened = self._opened
        assert opened is not None
        self._show_run("reading", "Reading and checking the table…")
        self.board.start()
        source, hindered, bound, failed = None, "The file cannot be read yet: see Table.", None, None
        audit: Any = self._before.search.problem.audit if self._before else None
        try:
            source = self._read(settings, opened)
            self.board.publish("known", page_parts.known_shown(settings, source.names))
            hindered = "What you know contradicts itself."
            if not settings.contradiction(source.names):
                hindered = "The table cannot be used as it is: see the findings."
                bound = self._bind(settings, source, opened)
                audit = bound.search.problem.audit
        except AnypagError as error:
            failed, audit = error, getattr(error, "audit", None)
        self.board.publish("table", page_parts.table_shown(opened.name, settings, source, audit, failed))
        if bound is None:
            self._show_run("unready", hindered)
        else:
            self._take_up(bound)

    def _read(self, settings: Settings, opened: Opened) -> Source:
        reading, kept = dict(settings.reading), self._source
        if kept is None or kept[0] is not opened or kept[1] != reading:
            kept = (opened, reading, read_table(opened.path, **reading) if reading else as_source(opened.path))
            self._source = kept
        return kept[2]

    def _bind(self, settings: Settings, source: Source, opened: Opened) -> Ready:
        """The search, ready to run. If only knowledge changed, it reuses the data and the test of the search before."""
        choices, before = settings.of_search(source.names), self._before
        data: Any = opened.path if isinstance(source, FileTable) else source
        if before is not None and before.data is data and _can_keep(before, choices):
            search = before.search.knowing(choices)
        else:
            search = Search(data, choices, opened.name)
        self._before = Ready(choices, search, data, opened.checkpoint(settings))
        return self._before

    def _take_up(self, bound: Ready) -> None:
        """Show the result of an earlier run with these settings, if there is one."""
        result = None
        if bound.checkpoint.exists():
            try:
                with bound.search.checkpoint(bound.checkpoint, resume=True) as kept:
                    result = bound.search.result(kept.state, kept.history) if kept.history else None
            except CheckpointError:  # the checkpoint is damaged, or of another version
                bound.checkpoint.unlink(missing_ok=True)
        with self._changed:
            self._bound, self._result = bound, result
        if result is not None:
            self._painter.add_all(result)
        self._show_run("ready" if result is None else "done" if _is_done(result) else "stopped")

    def _search(self) -> None:
        """Run the search until it is done or stopped. Steps are shown, and kept in the checkpoint."""
        bound, opened = self._bound, self._opened
        assert bound is not None and opened is not None
        opened.clear_old_runs()
        choices = replace(bound.choices, checkpoint=bound.checkpoint, resume=True)
        self._show_run("running", "Starting; the first search of its kind compiles for up to a minute…")
        result = learned(bound.search, choices, Listeners(Estimated(self._ticked), self._stepped, signals=self))
        with self._changed:
            if self._is_dirty:
                return
            self._result, self._goes = result, False
        if result.history:
            self._painter.add(result, ended=True)
        self._show_run("done" if _is_done(result) else "stopped")

    def _stepped(self, result: Result) -> None:
        self._result = result
        self._painter.add(result)
        self._show_run("running", result.history[-1].info.phase)

    def _ticked(self, progress: Progress) -> None:
        """Show progress a few times a second."""
        if time.monotonic() - self._shown_at >= SECONDS_BETWEEN_TICKS:
            self._shown_at = time.monotonic()
            self._show_run("running", progress.said, progress.done / progress.total if progress.total else None)

    def _show_run(self, status: str, said: str = "", share: float | None = None) -> None:
        result, source, opened = self._result, self._source, self._opened
        about = "" if self._bound is None else _about(self._bound.search.problem)
        self.board.publish("run", {**page_parts.run_shown(status, said, self._settings, result, share), "about": about})
        if result is not None and result.history and source is not None and opened is not None:
            self.board.publish("take", page_parts.texts_shown(self._settings, source[2].names, opened.typed, result))
        elif result is None:
            self.board.publish("take", None)

    def check(self) -> None:
        """End the run between two batches of tests, if the page asked for it."""
        if self._stopping.is_set():
            raise Stopped("interrupt")


def _is_done(result: Result | None) -> bool:
    return result is not None and (result.complete or result.stopped == "max_r")


def said_of(error: Exception) -> str:
    """What went wrong, in the words of the page."""
    if isinstance(error, AnypagError):
        return error.sentence.spelled(spelled)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'The disk'}: {error.strerror}."
    return f"An error in anypag itself ({type(error).__name__}: {error})."


def _about(problem: Problem) -> str:
    """A sentence: the numbers of variables and rows, the test, and which method "auto" chose and why."""
    why = "" if problem.chosen is None else f"; {problem.chosen.sentence.spelled(spelled)}"
    rows = "" if problem.n_rows is None else f", {problem.n_rows:,} rows"
    return f"{problem.n} variables{rows}, test {problem.test_name}{why}."


def _names(result: Result, *places: int) -> list[str]:
    if not all(0 <= i < len(result.pag) for i in places) or len(set(places)) < len(places):
        raise ParameterError("There is no such variable.")
    return [result.pag.names[i] for i in places]


def _can_keep(before: Ready, choices: Choices) -> bool:
    """True if only knowledge differs and the audit leaves out the same columns (never one named in knowledge)."""
    then, now = recorded(before.choices), recorded(choices)
    if before.choices.method != choices.method or {**then, "knowledge": None} != {**now, "knowledge": None}:
        return False
    audit = before.search.problem.audit
    spoken, speaks = _spoken_of(before.choices), _spoken_of(choices)
    return spoken == speaks or (spoken <= speaks and audit is not None and not audit.left_out)


def _spoken_of(choices: Choices) -> frozenset[str]:
    return frozenset(choices.knowledge.spoken_of if choices.knowledge else ())
