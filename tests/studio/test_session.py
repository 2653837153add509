"""A session: it learns what `learn` learns, stops and goes on, keeps what can be kept, and loses nothing."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import anypag as ap
from anypag.data.sources.door import as_source
from anypag.errors import ParameterError
from anypag.knowledge.knowledge import Knowledge
from anypag.results.result import Result
from anypag.studio.board import Shown
from anypag.studio.folder import OpenElsewhereError, open_file
from anypag.studio.session import Session
from studio_examples import graph_of, learned_by_itself, session_on, small_table, status_of, told, until


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYPAG_STUDIO", str(tmp_path / "home"))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return small_table(tmp_path / "table.csv")


class OneStep(Session):
    """Stops by itself after every step."""

    def _stepped(self, result: Result) -> None:
        super()._stepped(result)
        self.stop()


def _after(session: Session, n: int) -> Any:
    """The part "run" after n steps, once it has ended."""
    part = session.board.part("run")
    return part if len(part["steps"]) >= n and part["status"] in {"stopped", "done"} else None


def events(session: Session) -> list[tuple[str, Any]]:
    return session.board.news(Shown(), 0.0, lambda: False)


def test_it_learns_what_learn_learns_and_shows_every_step(table: Path) -> None:
    with session_on(table) as session:
        told(session, "choice", "method", "icd")
        session.go()
        run = status_of(session, "done")
        assert graph_of(session) == learned_by_itself(table, method="icd")
        scenes = until(
            lambda: [one for name, one in events(session) if name == "scene" and one["k"] == len(run["steps"])]
        )
        assert [step["name"] for step in run["steps"]][:2] == ["r = 0", "r = 1"]
        assert scenes[-1]["names"] == ["a", "b", "c", "d", "e"]
        assert run["tests"] == sum(step["tests"] for step in run["steps"])
        shown = [one["k"] for name, one in events(session) if name == "scene"]
        assert shown == [k + 1 for k in range(len(run["steps"]))]


def test_the_end_says_how_far_tests_alone_differ(table: Path) -> None:
    with session_on(table) as session:
        told(session, "choice", "effort", 0.1)
        session.go()
        run = status_of(session, "done")
        compared = ap.learn(table, effort=0.1).compared
        assert compared is not None and run["end"].endswith(compared)


def test_a_search_that_is_stopped_goes_on_to_the_same_graph(table: Path) -> None:
    with session_on(table, OneStep) as session:
        told(session, "choice", "method", "icd")
        session.go()
        run = status_of(session, "stopped")
        assert len(run["steps"]) == 1
        for n in range(2, 9):
            session.go()
            run = until(partial(_after, session, n))
            if run["status"] == "done":
                break
        assert graph_of(session) == learned_by_itself(table, method="icd")


def test_ending_the_studio_loses_nothing(table: Path) -> None:
    with session_on(table, OneStep) as session:
        told(session, "choice", "method", "icd")
        told(session, "tiers", [["a", "b"], ["c"]])
        session.go()
        status_of(session, "stopped")
        before = graph_of(session)
    with session_on(table) as again:
        run = status_of(again, "stopped")
        assert len(run["steps"]) == 1 and graph_of(again) == before
        assert again.board.part("known")["tiers"] == [["a", "b"], ["c"]]
        again.go()
        status_of(again, "done")


def test_changed_knowledge_keeps_what_was_read_and_going_back_finds_the_earlier_run(table: Path) -> None:
    with session_on(table) as session:
        told(session, "choice", "method", "icd")
        session.go()
        status_of(session, "done")
        first = graph_of(session)
        bound = session._before
        run = told(session, "say", "not_causes", "e", "c")
        assert session._before is not None and bound is not None
        assert session._before.search.problem.test is bound.search.problem.test
        assert run["status"] == "ready"
        session.go()
        status_of(session, "done")
        assert graph_of(session) == learned_by_itself(table, method="icd", knowledge=Knowledge.from_text("e !~> c"))
        assert told(session, "unsay", 0)["status"] == "done"
        assert graph_of(session) == first


def test_a_change_while_it_runs_starts_again_by_itself(table: Path) -> None:
    with session_on(table) as session:
        session.go()
        status_of(session, "running")
        session.change("choice", "method", "icd")
        run = until(lambda: r if (r := session.board.part("run"))["status"] == "done" else None)
        assert run["steps"][-1]["name"].startswith("r = ")


def test_contradictions_are_shown_as_they_are_made(table: Path) -> None:
    with session_on(table) as session:
        told(session, "say", "causes", "a", "b")
        run = told(session, "say", "causes", "b", "a")
        assert run["status"] == "unready"
        assert "nothing is a cause of itself" in session.board.part("known")["problem"]
        assert told(session, "unsay", 1)["status"] == "ready"
        assert session.board.part("known")["problem"] is None


def test_a_second_studio_on_the_same_file_says_so(table: Path) -> None:
    with session_on(table), pytest.raises(OpenElsewhereError, match="open in another studio: http://there/"):
        open_file(table, "http://here/")
    open_file(table, "http://here/").close()


def test_an_unreadable_file_is_told_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes("größe,b\n1.5,2\n2.5,1\n".encode("latin-1") * 1)
    with session_on(path) as session:
        shown = session.board.part("table")
        assert "encoding" in shown["error"]
        (button,) = [one for one in shown["buttons"] if one["change"][-1] == "latin-1"]
        told(session, *button["change"])
        assert [one["name"] for one in session.board.part("table")["columns"]] == ["größe", "b"]


def test_asking_before_there_is_a_graph_says_what_to_do(table: Path) -> None:
    with session_on(table) as session, pytest.raises(ParameterError, match="press Learn"):
        session.pair(0, 1)


def test_a_pair_and_its_effect_are_told(table: Path) -> None:
    with session_on(table) as session:
        told(session, "choice", "effort", 0.1)
        session.go()
        status_of(session, "done")
        blocks = session.pair(2, 4)
        assert blocks[0][1] == "pair" and "c" in blocks[0][2] and any(style == "sure" for _, style, _ in blocks)
        effect = session.effect(2, 4)
        assert effect[0][1] == "effect" and [tag for tag, _, _ in effect].count("svg") == 1
        assert "95 %" in effect[0][2]
        assert session.node(2)["told"][0][2] == "c"
        with pytest.raises(ParameterError, match="no such variable"):
            session.pair(2, 5)


def test_a_table_that_is_opened_while_another_is_read_is_the_one_shown(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.csv").write_text("x,y\n" + "".join(f"{k % 7},{k % 5}.5\n" for k in range(60)), encoding="utf-8")
    reads, may_go_on = threading.Event(), threading.Event()

    def slowly(path: Path) -> Any:
        reads.set()
        may_go_on.wait(60)
        return as_source(path)

    monkeypatch.setattr("anypag.studio.session.as_source", slowly)
    session = Session()
    try:
        session.open(open_file(table, "http://there/"))
        assert reads.wait(60)
        session.open(open_file(tmp_path / "other.csv", "http://there/"))
        may_go_on.set()
        part = partial(session.board.part, "table")
        shown = until(lambda: (found := part()) and found["file"] == "other.csv" and found)
        assert [one["name"] for one in shown["columns"]] == ["x", "y"]
    finally:
        session.close()


def test_a_search_up_to_a_limit_is_done_there(table: Path) -> None:
    with session_on(table) as session:
        told(session, "choice", "method", "icd")
        told(session, "choice", "max_r", 1)
        session.go()
        assert status_of(session, "done", "stopped")["status"] == "done"
        assert "as max r says" in session.board.part("run")["end"]
    with session_on(table) as session:
        assert status_of(session, "ready", "done", "stopped")["status"] == "done"
