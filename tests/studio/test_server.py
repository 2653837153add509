"""The server, attacked: other pages, other hosts, wrong tokens, paths, large and strange uploads, hostile names."""

from __future__ import annotations

import http.client
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_session import _home  # noqa: F401

from anypag.studio.server import MOST_STREAMS, StudioServer
from studio_examples import asked, served, small_table, until

SMALL = 20_000
"""Bytes of the largest upload in these tests."""
PATHS = ("", "events", "earlier", "pair?i=0&j=1", "effect?i=0&j=1", "node?i=0", "take/result.json", "nothing")


@pytest.fixture
def server() -> Iterator[StudioServer]:
    with served(largest=SMALL) as running:
        yield running


def uploaded(server: StudioServer, name: str, content: bytes, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    from urllib.parse import quote

    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request("POST", f"/{server.token}/upload?name={quote(name)}", content, headers or {})
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def raw(server: StudioServer, request: str) -> str:
    """The first line of the answer to bytes that no library would send."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as line:
        line.sendall(request.replace("TOKEN", server.token).replace("HOST", server.hosts[0]).encode())
        return line.recv(200).decode().splitlines()[0]


def test_it_listens_on_this_machine_only(server: StudioServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "[::1]:{port}"]
)
def test_a_name_that_was_rebound_to_this_machine_is_refused(server: StudioServer, host: str) -> None:
    headers = {"Host": host.format(port=server.server_port)}
    assert {asked(server, path, headers=headers)[0] for path in PATHS} == {421}
    assert asked(server, "go", {}, headers)[0] == 421


@pytest.mark.parametrize("token", ["", "x", "..", "%2e%2e", "TOKEN", "%C3%BC"])
def test_nothing_is_told_without_the_token(server: StudioServer, token: str) -> None:
    for path in PATHS:
        status, said = asked(server, path, token=token)
        assert status == 403 and server.token not in str(said)
    assert asked(server, "go", {}, token=token)[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"])
def test_other_pages_are_refused(server: StudioServer, origin: str) -> None:
    headers = {"Origin": origin.format(port=server.server_port)}
    assert asked(server, "", headers=headers)[0] == 403
    assert asked(server, "go", {}, headers)[0] == 403
    assert asked(server, "", headers={"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert asked(server, "", headers={"Origin": f"http://{server.hosts[1]}"})[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "../../../../etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        "take/../../etc/passwd",
        "take//etc/passwd",
        "take/report.html/../../x",
        "take/",
        "/etc/passwd",
        "upload",
        "take/result.json%00",
        "..\\..\\secret",
    ],
)
def test_no_path_leads_out(server: StudioServer, path: str) -> None:
    status, said = asked(server, path)
    assert status == 404 and said == {"error": "There is nothing here."}


def test_names_of_uploads_and_keys_of_tables_lead_nowhere(server: StudioServer, tmp_path: Path) -> None:
    home = tmp_path / "home"
    status, _ = uploaded(server, "../../../escaped/../my.csv", small_table(tmp_path / "t.csv", 20).read_bytes())
    assert status == 200
    made = {path.relative_to(home).as_posix() for path in home.rglob("*")}
    assert not list(tmp_path.rglob("*escaped*"))
    assert {Path(path).name for path in made if "." in path} <= {"table.csv", "name.json", "settings.json"}
    for key in ("..", "../..", "", "/etc", ".", "x" * 24):
        assert asked(server, "open", key)[0] == 422 and asked(server, "forget", key)[0] == 422
    assert home.is_dir()


def test_a_large_upload_is_refused_before_it_is_read(server: StudioServer, tmp_path: Path) -> None:
    head = "POST /TOKEN/upload?name=a.csv HTTP/1.1\r\nHost: HOST\r\n"
    assert "413" in raw(server, f"{head}Content-Length: 1000000000\r\n\r\na,b\n")
    assert "413" in raw(server, f"{head}Content-Length: {'9' * 30}\r\n\r\na,b\n")
    assert "411" in raw(server, f"{head}Transfer-Encoding: chunked\r\n\r\nffffffff\r\n{'a,b' * 1000}")
    assert "411" in raw(server, f"{head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\na,b\n\r\n0\r\n\r\n")
    assert "411" in raw(server, f"{head}Content-Length: -1\r\n\r\na,b\n")
    assert "411" in raw(server, f"{head}\r\n")
    assert uploaded(server, "a.csv", b"1" * (SMALL + 1))[0] == 413
    assert not list((tmp_path / "home").rglob("*.part"))


def test_an_upload_that_breaks_off_leaves_nothing(server: StudioServer, tmp_path: Path) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as line:
        head = f"POST /{server.token}/upload?name=a.csv HTTP/1.1\r\nHost: {server.hosts[0]}\r\n"
        line.sendall(f"{head}Content-Length: 9000\r\n\r\na,b\n1,2\n".encode())
        until(lambda: list((tmp_path / "home").glob("*.part")))
    until(lambda: not list((tmp_path / "home").glob("*.part")))
    assert uploaded(server, "a.csv", small_table(tmp_path / "t.csv", 30).read_bytes())[0] == 200


@pytest.mark.parametrize("name", ["a.exe", "", "/", "..", "csv", "a.csv/b.html", "a.pkl"])
def test_only_tables_are_taken(server: StudioServer, name: str) -> None:
    status, said = uploaded(server, name, b"a,b\n1,2\n")
    assert status == 422 and b"A table is a file that ends in" in said


SENSELESS: list[Any] = [
    *(None, 1, "x", [], [1], ["off"], ["off", 3, True], ["kind", "a", "x"], ["choice", "checkpoint", "/tmp/x"]),
    *(["choice", "test", ["x"]], ["choice", "alpha", "auto"], ["reading", "path", "/etc/passwd"], ["__init__"]),
    *(["tiers", [["a", "a"]]], ["tiers", "abc"], ["say", "causes", "a", "a"], ["stated", "a <- b"], ["unsay", -1]),
]


@pytest.mark.parametrize("body", SENSELESS)
def test_changes_that_make_no_sense_are_refused(server: StudioServer, body: Any, tmp_path: Path) -> None:
    uploaded(server, "a.csv", small_table(tmp_path / "t.csv", 30).read_bytes())
    status, said = asked(server, "change", body if body is not None else "null")
    assert status in {400, 422} and said["error"]


def test_the_open_table_can_be_opened_again_and_is_not_forgotten(server: StudioServer, tmp_path: Path) -> None:
    content = small_table(tmp_path / "t.csv", 30).read_bytes()
    assert [uploaded(server, "a.csv", content)[0] for _ in range(2)] == [200, 200]
    (earlier,) = asked(server, "earlier")[1]
    assert asked(server, "open", earlier["key"])[0] == 200
    status, said = asked(server, "forget", earlier["key"])
    assert status == 409 and said["error"].startswith("a.csv is open in a studio")
    assert asked(server, "change", ["off", "a", True]) == (200, {})
    assert uploaded(server, "b.csv", small_table(tmp_path / "u.csv", 40).read_bytes())[0] == 200
    assert asked(server, "forget", earlier["key"])[0] == 200
    assert [one["name"] for one in asked(server, "earlier")[1]] == ["b.csv"]


def test_what_goes_wrong_is_answered(server: StudioServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uploaded(server, "a.csv", small_table(tmp_path / "t.csv", 30).read_bytes())
    monkeypatch.setattr("anypag.studio.folder.write_whole", full)
    status, said = asked(server, "change", ["off", "a", True])
    assert status == 500 and "No space left" in said["error"]


def full(path: Path, content: bytes) -> None:
    raise OSError(28, "No space left on device", str(path))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_what_is_kept_is_readable_by_the_user_alone(server: StudioServer, tmp_path: Path) -> None:
    server.open(small_table(tmp_path / "own.csv", 30))
    uploaded(server, "a.csv", small_table(tmp_path / "t.csv", 30).read_bytes())
    home = tmp_path / "home"
    assert {path.stat().st_mode & 0o077 for path in [home, *home.iterdir()]} == {0}


def test_bodies_are_json_and_small(server: StudioServer) -> None:
    assert asked(server, "change", [], {"Content-Type": "text/plain"})[0] == 415
    head = "POST /TOKEN/change HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n"
    assert "413" in raw(server, f"{head}Content-Length: 3000000\r\n\r\n[")
    deep = "[" * 100_000
    assert "400" in raw(server, f"{head}Content-Length: {len(deep)}\r\n\r\n{deep}")


def test_answers_forbid_what_a_page_must_not_do(server: StudioServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    connection.request("GET", f"/{server.token}/")
    answer = connection.getresponse()
    page = answer.read().decode()
    assert "frame-ancestors 'none'" in str(answer.headers["Content-Security-Policy"])
    assert answer.headers["Referrer-Policy"] == "no-referrer" and answer.headers["Cache-Control"] == "no-store"
    assert "default-src 'none'" in page and "script-src 'sha256-" in page and "connect-src 'self'" in page
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert page.count("<script") == 2 and "http://" not in page.replace("http://www.w3.org/2000/svg", "")


def test_twenty_pages_at_once_leave_room_for_answers(server: StudioServer, tmp_path: Path) -> None:
    uploaded(server, "a.csv", small_table(tmp_path / "t.csv", 30).read_bytes())
    streams = []
    for _ in range(20):
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
        connection.request("GET", f"/{server.token}/events")
        streams.append((connection, connection.getresponse()))
    until(lambda: len(server.streams) == MOST_STREAMS, 30)
    assert all(b"event: elsewhere" in answer.read() for _, answer in streams[:-MOST_STREAMS])
    assert asked(server, "earlier")[0] == 200
    assert b"event: start" in streams[-1][1].readline()
    for connection, _ in streams:
        connection.close()


def test_a_studio_that_ends_tells_its_pages(tmp_path: Path) -> None:
    with served() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
        connection.request("GET", f"/{server.token}/events")
        answer = connection.getresponse()
        assert answer.readline() == b"event: start\n"
    assert b"event: ended" in answer.read()
