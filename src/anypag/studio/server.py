"""The server of the page: HTTP for one user's browser, on this machine only.

The standard library's server is enough: few requests, a stream of events for each visible page, one upload at a time.
Only a browser on this machine (127.0.0.1) is answered. A request must have the token in its address. Its Host must be
this server, and so must its Origin, if the request has one. No request contains a path of a file on this machine.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import threading
import urllib.parse
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from anypag.data.files.scan import ENDINGS
from anypag.errors import AnypagError
from anypag.report.page import as_json, page_of
from anypag.studio import folder
from anypag.studio.board import Shown
from anypag.studio.session import Session, said_of
from anypag.studio.take_away import FORMATS

LARGEST_UPLOAD = 500_000_000  # bytes of a table
LARGEST_CHANGE = 2_000_000  # bytes of a change to the settings
LEAST_FREE = 200_000_000  # bytes that must stay free on the disk after an upload
MOST_STREAMS = 4
"""The most streams of events at a time: a browser opens at most six connections, and other requests need some too."""
MOST_REQUESTS = 64  # the most requests that are answered at a time, besides streams
SECONDS_TO_WAIT = 30.0  # the timeout of a connection
SECONDS_BETWEEN_SIGNS = 10.0  # how often an idle stream sends a sign, so that closed pages are noticed
_CHUNK = 1 << 16  # the bytes of an upload that are read at a time

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
POLICY = "default-src 'none'; frame-ancestors 'none'"
PAGES_POLICY = "frame-ancestors 'none'"  # the page adds a policy of its own, with the hash of its script
MAY = "; connect-src 'self'; base-uri 'none'"  # what the page may do besides running its script: talk to this server


class Refused(Exception):  # noqa: N818
    """Raised to answer a request with a status and a sentence."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class StudioServer(ThreadingHTTPServer):
    """The server of one session. Port 0 stands for any free port; `largest`: the most bytes of an upload."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, session: Session, port: int = 0, largest: int = LARGEST_UPLOAD) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.session, self.largest = session, largest
        self.token = secrets.token_urlsafe(24)
        self.uploading, self.requests = threading.Lock(), threading.Semaphore(MOST_REQUESTS)
        self.streams: list[object] = []
        facts = {"largest": largest, "endings": [*ENDINGS, ".csv.gz"]}
        self.page = page_of("anypag.studio", "studio", "studio", MAY, as_json(facts)).encode()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    @property
    def hosts(self) -> tuple[str, str]:
        """The values of Host that requests may have."""
        return f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"

    def open(self, path: Path) -> None:
        self.session.open(folder.open_file(path, self.address))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints nothing: a browser that went away is no error."""


class _Handler(BaseHTTPRequestHandler):
    server: StudioServer
    timeout = SECONDS_TO_WAIT
    server_version, sys_version = "anypag", ""

    def do_GET(self) -> None:
        self._guarded(self._get)

    def do_POST(self) -> None:
        self._guarded(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged: addresses hold the token."""

    def _guarded(self, answer: Callable[[str, dict[str, str]], None]) -> None:
        """Answer a request if it is allowed; errors become sentences."""
        if not self.server.requests.acquire(blocking=False):
            return self._say(HTTPStatus.SERVICE_UNAVAILABLE, "Too many requests at a time.")
        try:
            where, query = self._allowed()
            answer(where, query)
        except Refused as refused:
            self._say(refused.status, str(refused))
        except folder.OpenElsewhereError as error:
            self._say(HTTPStatus.CONFLICT, str(error))
        except AnypagError as error:
            self._say(HTTPStatus.UNPROCESSABLE_ENTITY, said_of(error))
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            self.close_connection = True
        except Exception as error:
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR, said_of(error))
        finally:
            self.server.requests.release()

    def _allowed(self) -> tuple[str, dict[str, str]]:
        """The path and the query of an allowed request; Refused for any other."""
        if self.headers.get("Host", "") not in self.server.hosts:
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, "The request is for another server (Host).")
        origin = self.headers.get("Origin")
        is_ours = origin is None or origin in [f"http://{host}" for host in self.server.hosts]
        if not is_ours or self.headers.get("Sec-Fetch-Site", "none") not in {"none", "same-origin"}:
            raise Refused(HTTPStatus.FORBIDDEN, "The request comes from another page.")
        parts = urllib.parse.urlsplit(self.path)
        _, token, where = [*parts.path.split("/", 2), "", ""][:3]
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            raise Refused(HTTPStatus.FORBIDDEN, "The address lacks its token: open the address the studio printed.")
        return where, dict(urllib.parse.parse_qsl(parts.query))

    def _get(self, where: str, query: dict[str, str]) -> None:
        session, name = self.server.session, where.removeprefix("take/")
        asked: dict[str, Callable[[], Any]] = {
            "earlier": folder.earlier,
            "pair": lambda: session.pair(_number(query, "i"), _number(query, "j")),
            "effect": lambda: session.effect(_number(query, "i"), _number(query, "j")),
            "node": lambda: session.node(_number(query, "i")),
        }
        if where == "":
            self._send(self.server.page, "text/html; charset=utf-8", policy=PAGES_POLICY)
        elif where == "events":
            self._stream()
        elif where in asked:
            self._json(asked[where]())
        elif where == f"take/{name}" and name in FORMATS:
            self._send(session.take(name), FORMATS[name], attached=name)
        else:
            raise Refused(HTTPStatus.NOT_FOUND, "There is nothing here.")

    def _post(self, where: str, query: dict[str, str]) -> None:
        session = self.server.session
        body = None if where == "upload" else self._body()
        done: dict[str, Callable[[], None]] = {
            "upload": lambda: self._upload(query.get("name", "")),
            "change": lambda: session.change(*_change(body)),
            "go": session.go,
            "stop": session.stop,
            "open": lambda: self._open(str(body)),
            "forget": lambda: folder.forget(str(body)),
        }
        if where not in done:
            raise Refused(HTTPStatus.NOT_FOUND, "There is nothing here.")
        done[where]()
        self._json({})

    def _open(self, key: str) -> None:
        if not self.server.session.has_open(key):
            self.server.session.open(folder.open_again(key, self.server.address))

    def _length(self, largest: int) -> int:
        """The length of the request's body in bytes; Refused if it is not given or above `largest`."""
        text = self.headers.get("Content-Length", "")
        if self.headers.get("Transfer-Encoding") is not None or not (text.isascii() and text.isdigit()):
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "A request must say how long it is (Content-Length).")
        if int(text) > largest:
            told = f"The page takes up to {largest / 1e6:,.0f} MB. `anypag studio FILE` opens a larger file in place."
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, told)
        return int(text)

    def _body(self) -> Any:
        if self.headers.get("Content-Type") != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Changes are sent as JSON.")
        try:
            return json.loads(self.rfile.read(self._length(LARGEST_CHANGE)))
        except (ValueError, RecursionError):
            raise Refused(HTTPStatus.BAD_REQUEST, "The request is not valid JSON.") from None

    def _upload(self, name: str) -> None:
        """Copy a dropped file to the studio's folder, piece by piece, and open it."""
        name, length = folder.checked_ending(name), self._length(self.server.largest)
        if shutil.disk_usage(folder.made()).free < length + LEAST_FREE:
            raise Refused(HTTPStatus.INSUFFICIENT_STORAGE, "The disk has too little room for this file.")
        if not self.server.uploading.acquire(blocking=False):
            raise Refused(HTTPStatus.CONFLICT, "Another file is being read; try again.")
        part = folder.home() / f"incoming-{secrets.token_hex(8)}.part"
        try:
            digest = self._received(part, length)
            if not self.server.session.has_open(digest):
                self.server.session.open(folder.open_upload(part, name, digest, self.server.address))
        finally:
            self.server.uploading.release()
            part.unlink(missing_ok=True)

    def _received(self, part: Path, length: int) -> str:
        """Write this many bytes of the request to a file. Returns their hash."""
        digest, left = hashlib.blake2b(digest_size=12), length
        part.touch(mode=0o600, exist_ok=False)
        with part.open("wb") as file:
            while left:
                piece = self.rfile.read(min(left, _CHUNK))
                if not piece:
                    raise Refused(HTTPStatus.BAD_REQUEST, "Only a part of the file arrived; try again.")
                file.write(piece)
                digest.update(piece)
                left -= len(piece)
        return digest.hexdigest()

    def _stream(self) -> None:
        """Sends events to a page until it closes, first the whole state. With too many streams, the oldest ones end."""
        me, streams, changed = object(), self.server.streams, self.server.session.board.changed
        with changed:
            streams.append(me)
            changed.notify_all()  # the oldest stream may have to end
        self.server.requests.release()  # a stream does not count as a request in progress
        try:
            self._head(HTTPStatus.OK, "text/event-stream")
            self.end_headers()
            self._events(lambda: me in streams[-MOST_STREAMS:])
        finally:
            streams.remove(me)
            self.server.requests.acquire()

    def _events(self, may_go_on: Callable[[], bool]) -> None:
        board, shown = self.server.session.board, Shown()
        while True:
            for name, content in board.news(shown, SECONDS_BETWEEN_SIGNS, may_go_on):
                self._event(name, content)
            self.wfile.write(b":\n\n")
            self.wfile.flush()
            if board.is_closed or not may_go_on():
                return self._event("ended" if board.is_closed else "elsewhere", None)

    def _event(self, name: str, content: Any) -> None:
        self.wfile.write(f"event: {name}\ndata: {json.dumps(content, allow_nan=False)}\n\n".encode())
        self.wfile.flush()

    def _head(self, status: HTTPStatus, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        self.close_connection = True

    def _send(
        self, content: bytes, kind: str, *, policy: str = POLICY, attached: str = "", status: HTTPStatus = HTTPStatus.OK
    ) -> None:
        self._head(status, kind)
        for name, value in {**HEADERS, "Content-Security-Policy": policy}.items():
            self.send_header(name, value)
        if attached:
            self.send_header("Content-Disposition", f'attachment; filename="{attached}"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _json(self, value: Any) -> None:
        self._send(json.dumps(value, allow_nan=False).encode(), "application/json")

    def _say(self, status: HTTPStatus, sentence: str) -> None:
        with suppress(OSError):
            self._send(json.dumps({"error": sentence}).encode(), "application/json", status=status)


def _number(query: dict[str, str], name: str) -> int:
    text = query.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise Refused(HTTPStatus.BAD_REQUEST, f"The request needs a number {name}.")
    return int(text)


def _change(body: Any) -> list[Any]:
    if not isinstance(body, list) or not body or not isinstance(body[0], str):
        raise Refused(HTTPStatus.BAD_REQUEST, "A change is a list: its name, and its values.")
    return body
