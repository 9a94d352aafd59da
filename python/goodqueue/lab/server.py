"""The local server of the lab's page.

It listens on the loopback interface only. Every request must name that address in `Host`, a request
from another site is refused by its `Origin`, and requests that compute need the token that is a
part of the printed address. A run is bounded in packets, flows and memory by the compiled core.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
import threading
from collections import OrderedDict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from goodqueue import _core
from goodqueue.errors import RequestError, ScenarioError
from goodqueue.lab.theory import Asked, instant_answer
from goodqueue.lab.words import words

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 1 << 20
"""Largest body of a request."""

MOST_TABS = 32
"""Most tabs whose runs are remembered; older ones are forgotten."""

RUNS_AT_ONCE = 2
"""Most runs at the same time; others wait."""

TIMEOUT_S = 30.0
"""Seconds that a client may take to send its request."""

TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def page_files() -> dict[str, bytes]:
    """Returns the files of the page by their path in addresses, such as `/app.js`."""
    root = resources.files("goodqueue.lab") / "page"
    found = {}
    folders = [("/", root)]
    for prefix, folder in folders:
        for file in folder.iterdir():
            if file.is_dir():
                folders.append((f"{prefix}{file.name}/", file))
            elif file.name.rpartition(".")[2] in TYPES:
                found[prefix + file.name] = file.read_bytes()
    return found


class Runs:
    """The runs in progress, one for each tab and purpose; a new one stops the one before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(RUNS_AT_ONCE)
        self._runs: OrderedDict[str, _core.LabRun] = OrderedDict()

    def result(self, tab: str, run: _core.LabRun, compute: Callable[[], str | None]) -> str | None:
        """Returns what a run computes, or None if a newer one of the same tab stopped it."""
        with self._lock:
            older = self._runs.pop(tab, None)
            self._runs[tab] = run
            forgotten = [self._runs.popitem(last=False)[1]] if len(self._runs) > MOST_TABS else []
        for one in (older, *forgotten):
            if one is not None:
                one.stop()
        with self._turns:
            return compute()

    def stop(self) -> None:
        """Stops all runs."""
        with self._lock:
            for run in self._runs.values():
                run.stop()


class LabServer(ThreadingHTTPServer):
    """The server; `url` is the address to open."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        """Binds to a port of the loopback interface; 0 chooses a free one.

        Raises:
            OSError: the port is taken.
        """
        self.token = secrets.token_urlsafe(18)
        self.files = page_files()
        self.runs = Runs()
        super().__init__(("127.0.0.1", port), LabHandler)
        self.port = self.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/?token={self.token}"
        self.hosts = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Prints what a fault of ours raised; a browser may close its connections at any time."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        """Stops all runs and closes the socket."""
        self.runs.stop()
        super().server_close()


class Refused(Exception):  # noqa: N818 - the word for what happens to the request
    """A request that is answered with an error."""

    def __init__(self, status: HTTPStatus, message: str, **details: object) -> None:
        super().__init__(message)
        self.status = status
        self.details = {"message": message, **details}


class LabHandler(BaseHTTPRequestHandler):
    """One connection of a browser."""

    server: LabServer
    server_version = "goodqueue"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT_S

    def do_GET(self) -> None:
        """Answers with a file of the page."""
        self._answer(self._file)

    def do_POST(self) -> None:
        """Computes something for the page."""
        self._answer(self._compute)

    def log_message(self, *_: object) -> None:
        """Logs nothing: the terminal belongs to the user."""

    def _answer(self, make: Callable[[], tuple[str, bytes]]) -> None:
        status = HTTPStatus.OK
        try:
            self._check_origin()
            kind, body = make()
        except Refused as refused:
            status = refused.status
            kind, body = "application/json", json.dumps(refused.details).encode()
            # The rest of the request was not read.
            self.close_connection = True
        try:
            self.send_response(status)
            for name, value in HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            # The page has asked for something newer and closed this request.
            self.close_connection = True

    def _check_origin(self) -> None:
        if self.headers.get("Host") not in self.server.hosts:
            raise Refused(HTTPStatus.FORBIDDEN, "this server answers only at its own address")
        origin = self.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc not in self.server.hosts:
            raise Refused(HTTPStatus.FORBIDDEN, "another site may not use this server")

    def _file(self) -> tuple[str, bytes]:
        path = urlsplit(self.path).path
        name = "/index.html" if path == "/" else path
        body = self.server.files.get(name)
        if body is None:
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no {path[:80]}")
        return TYPES[name.rpartition(".")[2]], body

    def _compute(self) -> tuple[str, bytes]:
        token = self.headers.get("X-Goodqueue-Token", "")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise Refused(HTTPStatus.FORBIDDEN, "open the address that `goodqueue lab` printed")
        actions = {
            "/picture": self._picture,
            "/packets": self._packets,
            "/theory": self._theory,
            "/start": self._start,
        }
        action = actions.get(self.path)
        if action is None:
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no {self.path[:80]}")
        try:
            return "application/json", action(self._body())
        except ScenarioError as error:
            details = {"line": error.line, "key": error.key, "help": error.help}
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, error.message, **details) from error
        except RequestError as error:
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from error
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise Refused(HTTPStatus.BAD_REQUEST, "this request is incomplete") from error

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "the request states no length")
        if int(length) > MOST_BYTES:
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request has at most {MOST_BYTES} bytes"
            )
        asked = json.loads(self.rfile.read(int(length)))
        if not isinstance(asked, dict):
            raise TypeError
        return asked

    def _picture(self, asked: dict[str, Any]) -> bytes:
        first = asked.get("first_packets")
        run = _core.LabRun(
            str(asked["text"]),
            columns=int(asked["columns"]),
            flows=int(asked["flows"]),
            first_packets=None if first is None else int(first),
        )
        return self._result(asked, run, run.picture)

    def _packets(self, asked: dict[str, Any]) -> bytes:
        run = _core.LabRun(str(asked["text"]), columns=1, flows=0)
        start, end = int(asked["from_ms"]), int(asked["to_ms"])
        return self._result(asked, run, lambda: run.packets(start, end))

    def _result(
        self, asked: dict[str, Any], run: _core.LabRun, compute: Callable[[], str | None]
    ) -> bytes:
        found = self.server.runs.result(str(asked["tab"])[:64], run, compute)
        if found is None:
            raise Refused(HTTPStatus.CONFLICT, "a newer run has replaced this one")
        return found.encode()

    def _theory(self, asked: dict[str, Any]) -> bytes:
        link = Asked(
            rate=str(asked["rate"]),
            rtt=str(asked["rtt"]),
            flows=int(asked["flows"]),
            control=str(asked["control"]),
        )
        return json.dumps(instant_answer(link)).encode()

    def _start(self, _: dict[str, Any]) -> bytes:
        """Returns the names that the page offers, from the declarations of the core."""
        return json.dumps(words()).encode()
