"""The local server of the lab's page.

It listens on the loopback interface only. Every request must name that address in `Host`, a request
from another site is refused by its `Origin`, and requests that compute need the token that is a
part of the printed address. The compiled core answers them, as it does in WebAssembly. A run is
bounded in packets, flows and memory.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
import threading
from collections import OrderedDict
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from goodqueue import _core

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.resources.abc import Traversable

    from goodqueue.lab.opened import Opened

MOST_BYTES = 8 << 20
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
    "wasm": "application/wasm",
}

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

WORKER = "/worker.js"
"""The only script that may compile WebAssembly."""

WORKER_POLICY = POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def page_files() -> dict[str, bytes]:
    """Returns the files of the page by their path in addresses, such as `/app.js`."""
    found: dict[str, bytes] = {}

    def add(folder: Traversable, prefix: str) -> None:
        for file in folder.iterdir():
            if file.is_dir():
                add(file, f"{prefix}{file.name}/")
            elif file.name.rpartition(".")[2] in TYPES:
                found[prefix + file.name] = file.read_bytes()

    add(resources.files("goodqueue.lab") / "page", "/")
    return found


class Runs:
    """The runs in progress, one for each tab and purpose; a new one stops the one before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(RUNS_AT_ONCE)
        self._runs: OrderedDict[str, _core.LabJob] = OrderedDict()

    def answer(self, tab: str, run: _core.LabJob) -> tuple[int, str]:
        """Returns status and answer of a run; a newer one of the same tab stops it."""
        with self._lock:
            older = self._runs.pop(tab, None)
            self._runs[tab] = run
            forgotten = [self._runs.popitem(last=False)[1]] if len(self._runs) > MOST_TABS else []
        for one in (older, *forgotten):
            if one is not None:
                one.stop()
        with self._turns:
            return run.answer()

    def share_done(self, tab: str) -> float | None:
        """Returns the share of a tab's last run that is done; None if there is none."""
        with self._lock:
            run = self._runs.get(tab)
        return None if run is None else run.done

    def stop_tab(self, tab: str) -> None:
        """Stops the run of a tab."""
        with self._lock:
            run = self._runs.get(tab)
        if run is not None:
            run.stop()

    def stop(self) -> None:
        """Stops all runs."""
        with self._lock:
            for run in self._runs.values():
                run.stop()


class LabServer(ThreadingHTTPServer):
    """The server; `url` is the address to open."""

    daemon_threads = True

    def __init__(self, port: int = 0, opened: Opened | None = None) -> None:
        """Binds to a port of the loopback interface; 0 chooses a free one.

        Args:
            port: the port.
            opened: a scenario that the page shows first.

        Raises:
            OSError: the port is taken.
        """
        self.token = secrets.token_urlsafe(18)
        self.files = page_files()
        self.runs = Runs()
        self.opened = None if opened is None else asdict(opened)
        super().__init__(("127.0.0.1", port), LabHandler)
        self.port = self.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/?token={self.token}"
        self.hosts = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Prints an exception of goodqueue; browsers may close their connections at any time."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        """Stops all runs and closes the socket."""
        self.runs.stop()
        super().server_close()


class Refused(Exception):  # noqa: N818 - the word for what happens to the request
    """A request that is answered with an error."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.details = {"message": message}


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

    def _answer(self, make: Callable[[], tuple[int, str, bytes]]) -> None:
        try:
            self._check_origin()
            status, kind, body = make()
        except Refused as refused:
            status, kind, body = (
                refused.status,
                "application/json",
                json.dumps(refused.details).encode(),
            )
            # The rest of the request was not read.
            self.close_connection = True
        try:
            self.send_response(status)
            policy = WORKER_POLICY if self.path == WORKER else POLICY
            for name, value in (HEADERS | {"Content-Security-Policy": policy}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            # The page has sent a newer question and closed this request.
            self.close_connection = True

    def _check_origin(self) -> None:
        if self.headers.get("Host") not in self.server.hosts:
            raise Refused(HTTPStatus.FORBIDDEN, "this server answers only at its own address")
        origin = self.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc not in self.server.hosts:
            raise Refused(HTTPStatus.FORBIDDEN, "another site may not use this server")

    def _file(self) -> tuple[int, str, bytes]:
        path = urlsplit(self.path).path
        name = "/index.html" if path == "/" else path
        body = self.server.files.get(name)
        if body is None:
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no {path[:80]}")
        return HTTPStatus.OK, TYPES[name.rpartition(".")[2]], body

    def _compute(self) -> tuple[int, str, bytes]:
        token = self.headers.get("X-Goodqueue-Token", "")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise Refused(HTTPStatus.FORBIDDEN, "open the address that `goodqueue lab` printed")
        body = self._body()
        status, answer = self._ask(urlsplit(self.path).path.removeprefix("/"), body)
        return status, "application/json", answer.encode()

    def _ask(self, action: str, body: str) -> tuple[int, str]:
        """Returns status and answer of a question."""
        runs = self.server.runs
        tab = _tab(body)
        if action == "opened":
            return HTTPStatus.OK, json.dumps(self.server.opened)
        if action == "progress":
            return HTTPStatus.OK, json.dumps({"share": runs.share_done(tab or "")})
        if action == "stop":
            runs.stop_tab(tab or "")
            return HTTPStatus.OK, "{}"
        job = _core.LabJob(action, body)
        return job.answer() if tab is None else runs.answer(tab, job)

    def _body(self) -> str:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "the request states no length")
        if int(length) > MOST_BYTES:
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request has at most {MOST_BYTES} bytes"
            )
        try:
            return self.rfile.read(int(length)).decode()
        except UnicodeDecodeError as error:
            raise Refused(HTTPStatus.BAD_REQUEST, "the request is no text") from error


def _tab(body: str) -> str | None:
    """Returns the tab and purpose of a question that is a run; None for other questions."""
    try:
        tab = json.loads(body).get("tab")
    except (ValueError, AttributeError, RecursionError):
        return None
    return tab[:64] if isinstance(tab, str) else None
