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
from dataclasses import asdict, dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.core.extras import lacking
from goodqueue.lab.tables import can_write, parquet

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.resources.abc import Traversable

    from goodqueue.lab.opened import Opened

MAX_BYTES = 8 << 20
"""Largest body of a request."""

MAX_TURN = 2**53 - 1
"""Largest number of a turn: the largest whole number that JavaScript counts to."""

MAX_TABS = 32
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

WORKER = "/compute/worker.js"
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


@dataclass(frozen=True, slots=True)
class Turn:
    """Runs that belong together.

    Attributes:
        tab: tab of a browser, and the purpose of the runs.
        number: place among the turns of the tab; a higher number replaces lower ones.
    """

    tab: str
    number: int


REPLACED = HTTPStatus.CONFLICT, json.dumps({"message": "a newer run has replaced this one"})
"""Answer to a request that arrives after a newer one."""


class Runs:
    """The runs in progress. The first of a turn stops all runs of earlier turns of its tab.

    Requests of one tab may arrive in another order than that in which they were sent. One of an
    earlier turn is then not computed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at_once = threading.Semaphore(RUNS_AT_ONCE)
        self._newest: OrderedDict[str, tuple[int, list[_core.LabJob]]] = OrderedDict()

    def answer(self, turn: Turn, run: _core.LabJob) -> tuple[int, str]:
        """Returns status and answer of a run."""
        with self._lock:
            number, runs = self._newest.get(turn.tab, (turn.number, []))
            if turn.number < number:
                return REPLACED
            stopped = runs if turn.number > number else []
            runs = [run] if turn.number > number else [*runs, run]
            self._newest[turn.tab] = (turn.number, runs)
            self._newest.move_to_end(turn.tab)
            if len(self._newest) > MAX_TABS:
                _, (_, forgotten) = self._newest.popitem(last=False)
                stopped = [*stopped, *forgotten]
        for one in stopped:
            one.stop()
        with self._at_once:
            found = run.answer()
        with self._lock:
            number, runs = self._newest.get(turn.tab, (0, []))
            self._newest[turn.tab] = (number, [one for one in runs if one is not run])
        return found

    def share_done(self, tab: str) -> float | None:
        """Returns the share of a tab's runs that is done; None if there are none."""
        with self._lock:
            _, runs = self._newest.get(tab, (0, []))
        return min((run.done for run in runs), default=None)

    def stop(self) -> None:
        """Stops all runs."""
        with self._lock:
            for _, runs in self._newest.values():
                for run in runs:
                    run.stop()


class LabServer(ThreadingHTTPServer):
    """The server; `url` is the address to open."""

    daemon_threads = True

    def __init__(self, port: int = 0, opened: Opened | None = None, site: str = "") -> None:
        """Binds to a port of the loopback interface; 0 chooses a free one.

        Args:
            port: the port.
            opened: a scenario that the page shows first.
            site: address of the page as static files, which shared addresses have.

        Raises:
            OSError: the port is taken.
        """
        self.token = secrets.token_urlsafe(18)
        self.files = page_files()
        self.runs = Runs()
        self.opened = None if opened is None else asdict(opened)
        self.site = site
        super().__init__(("127.0.0.1", port), LabHandler)
        self.port = self.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/?token={self.token}"
        self.hosts = {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}
        self.origins = {f"http://{host}" for host in self.hosts}

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
    # An answer is one write, which the system sends at once.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answers with a file of the page."""
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            # The body is not read.
            self.close_connection = True
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
            status, kind, body = self._refusal(refused)
        except ConnectionError:
            raise
        except Exception:  # noqa: BLE001 - a fault of ours, which is printed; the page gets an answer
            self.server.handle_error(self.request, self.client_address)
            fault = Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "goodqueue made a mistake here")
            status, kind, body = self._refusal(fault)
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

    def _refusal(self, refused: Refused) -> tuple[int, str, bytes]:
        """Returns the answer to a request, whose rest is not read."""
        self.close_connection = True
        return refused.status, "application/json", json.dumps(refused.details).encode()

    def _header(self, name: str) -> str | None:
        """Returns the text of a header that a request may have once."""
        first, *more = self.headers.get_all(name, [None])
        if more:
            raise Refused(HTTPStatus.BAD_REQUEST, f"the request has several headers {name}")
        return None if first is None else first.strip()

    def _check_origin(self) -> None:
        if self._header("Host") not in self.server.hosts:
            raise Refused(HTTPStatus.FORBIDDEN, "this server answers only at its own address")
        if self._header("Origin") not in {None, *self.server.origins}:
            raise Refused(HTTPStatus.FORBIDDEN, "another site may not use this server")

    def _path(self) -> str:
        """Returns the path of the request, without its query."""
        return self.path.partition("?")[0]

    def _file(self) -> tuple[int, str, bytes]:
        path = self._path()
        name = "/index.html" if path == "/" else path
        body = self.server.files.get(name)
        if body is None:
            raise Refused(HTTPStatus.NOT_FOUND, f"there is no {path[:80]}")
        return HTTPStatus.OK, TYPES[name.rpartition(".")[2]], body

    def _compute(self) -> tuple[int, str, bytes]:
        token = self._header("X-Goodqueue-Token") or ""
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise Refused(HTTPStatus.FORBIDDEN, "open the address that `goodqueue lab` printed")
        body = self._body()
        action = self._path().removeprefix("/")
        if action == "parquet":
            return _table(body)
        status, answer = self._ask(action, body)
        return status, "application/json", answer.encode()

    def _ask(self, action: str, body: str) -> tuple[int, str]:
        """Returns status and answer of a question."""
        runs = self.server.runs
        turn = _turn(body)
        if action == "opened":
            return HTTPStatus.OK, json.dumps(self.server.opened)
        if action == "site":
            return HTTPStatus.OK, json.dumps(self.server.site)
        if action == "formats":
            return HTTPStatus.OK, json.dumps(["parquet"] if can_write() else [])
        if action == "progress":
            share = None if turn is None else runs.share_done(turn.tab)
            return HTTPStatus.OK, json.dumps({"share": share})
        job = _core.LabJob(action, body)
        return job.answer() if turn is None else runs.answer(turn, job)

    def _body(self) -> str:
        length = self._header("Content-Length") or ""
        if not (length.isascii() and length.isdecimal()) or "Transfer-Encoding" in self.headers:
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "the request states no length")
        # Python turns only some thousands of digits into a number.
        length = length.lstrip("0") or "0"
        if len(length) > len(str(MAX_BYTES)) or int(length) > MAX_BYTES:
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request has at most {MAX_BYTES} bytes"
            )
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise Refused(HTTPStatus.BAD_REQUEST, "the request ends before its stated length")
        try:
            return body.decode()
        except UnicodeDecodeError as error:
            raise Refused(HTTPStatus.BAD_REQUEST, "the request is no text") from error


def _table(body: str) -> tuple[int, str, bytes]:
    """Returns the answer to a question for a table."""
    if not can_write():
        raise Refused(HTTPStatus.NOT_IMPLEMENTED, str(lacking("polars")))
    try:
        return HTTPStatus.OK, "application/vnd.apache.parquet", parquet(body)
    except (ValueError, OverflowError, RecursionError) as error:
        raise Refused(HTTPStatus.BAD_REQUEST, str(error)) from error


def _turn(body: str) -> Turn | None:
    """Returns the turn of a question that is a run; None for other questions."""
    try:
        found = json.loads(body)["turn"]
        tab, number = found["tab"], found["number"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not isinstance(tab, str) or type(number) is not int or not 0 <= number <= MAX_TURN:
        raise Refused(HTTPStatus.BAD_REQUEST, "a turn has the name of a tab and a whole number")
    return Turn(tab[:64], number)
