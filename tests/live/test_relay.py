"""The SOCKS relay of `goodqueue emulate --uplink socks`, on loopback and behind a link."""

from __future__ import annotations

import http.server
import ipaddress
import json
import shlex
import socket
import struct
import sys
import time
from contextlib import closing, contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from goodqueue.live.uplink import relay as module
from goodqueue.live.uplink.relay import Relay
from helpers.emulation import ENDED, LINK, goodqueue, need_emulation, within

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = b"<p id=a></p>" + bytes(50_000)
GREETING = b"\5\1\0"


@contextmanager
def relayed() -> Iterator[tuple[Relay, int]]:
    """Starts a relay whose port is on loopback. Yields the relay and the port."""
    with Relay() as relay, socket.create_server(("127.0.0.1", 0)) as port:
        socket.send_fds(relay.inside, [b"\0"], [port.fileno()])
        yield relay, port.getsockname()[1]


@pytest.fixture(name="outside")
def serve_outside() -> Iterator[int]:
    """Serves a page on loopback. Yields the port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(PAGE)))
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def request(address: bytes, port: int, command: int = 1) -> bytes:
    """Returns a request, for an address with its type."""
    return bytes([5, command, 0]) + address + struct.pack("!H", port)


def named(name: str) -> bytes:
    """Returns a name as the address of a request."""
    return bytes([3, len(name)]) + name.encode()


def v4(text: str) -> bytes:
    """Returns an address of IPv4 as that of a request."""
    return b"\1" + ipaddress.ip_address(text).packed


def read(connection: socket.socket, length: int) -> bytes:
    """Reads this many bytes, or fewer at the end."""
    data = b""
    while len(data) < length and (part := connection.recv(length - len(data))):
        data += part
    return data


def ask(port: int, text: bytes) -> tuple[socket.socket, int]:
    """Sends a greeting and a request. Returns the connection and the code of the reply."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(GREETING + text)
    assert read(connection, 2) == b"\5\0"
    reply = read(connection, 10)
    assert len(reply) == 10
    return connection, reply[1]


@pytest.mark.parametrize("address", [v4("127.0.0.1"), named("localhost"), named("127.0.0.1")])
def test_a_page_is_fetched_from_outside(address: bytes, outside: int) -> None:
    with relayed() as (relay, port):
        connection, code = ask(port, request(address, outside))
        with closing(connection):
            assert code == 0
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            connection.shutdown(socket.SHUT_WR)
            assert read(connection, 1 << 20).endswith(PAGE)
        counts = relay.report()
    assert counts["connections"] == 1
    assert counts["refused"] == 0
    assert counts["bytes_out"] == len(b"GET / HTTP/1.0\r\n\r\n")
    assert counts["bytes_in"] > len(PAGE)


def closed_port() -> int:
    """Returns a port of loopback on which no program listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_a_refusal_has_the_code_of_rfc_1928() -> None:
    cases = {
        request(v4("127.0.0.1"), closed_port()): 5,
        request(named("nothing.invalid"), 80): 4,
        request(named("\x00" * 9), 80): 4,
        request(v4("127.0.0.1"), 80, command=2): 7,
        request(b"\x09", 0): 8,
    }
    with relayed() as (relay, port):
        for text, wanted in cases.items():
            connection, code = ask(port, text)
            with closing(connection):
                assert code == wanted
                assert not connection.recv(1)
        assert relay.counts.refused == len(cases)
        assert relay.counts.connections == 0


@pytest.mark.parametrize("text", [b"GET / HTTP/1.0\r\n\r\n", b"\4\1\0\x50\x7f\0\0\1\0", b"\5\1\2"])
def test_another_protocol_is_not_relayed(text: bytes) -> None:
    with relayed() as (relay, port):
        with closing(socket.create_connection(("127.0.0.1", port), timeout=20)) as connection:
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            assert read(connection, 10) in {b"", b"\5\xff"}
        assert relay.counts.connections == 0


def serves(port: int, text: bytes) -> bool:
    """Returns true if the relay carries out a request."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=10)) as connection:
        connection.sendall(GREETING + text)
        with suppress(ConnectionResetError):
            return len(read(connection, 12)) == 12
    return False


def test_connections_are_bounded(monkeypatch: pytest.MonkeyPatch, outside: int) -> None:
    monkeypatch.setattr(module, "MAX_CONNECTIONS", 3)
    with relayed() as (_, port):
        text = request(v4("127.0.0.1"), outside)
        held = [ask(port, text) for _ in range(3)]
        assert [code for _, code in held] == [0, 0, 0]
        with closing(socket.create_connection(("127.0.0.1", port), timeout=10)) as more:
            assert not more.recv(1)
        held[0][0].close()
        assert within(10, lambda: serves(port, text))
        for connection, _ in held:
            connection.close()


def test_a_silent_program_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.2)
    with (
        relayed() as (_, port),
        closing(socket.create_connection(("127.0.0.1", port), timeout=10)) as connection,
    ):
        assert not connection.recv(1)


def test_the_end_of_a_relay_ends_its_connections() -> None:
    with socket.create_server(("127.0.0.1", 0)) as sink:
        with relayed() as (_, port):
            connection, code = ask(port, request(v4("127.0.0.1"), sink.getsockname()[1]))
            assert code == 0
            began = time.monotonic()
        assert time.monotonic() - began < 5
    with closing(connection):
        assert not connection.recv(1)


def test_a_relay_without_a_port_ends() -> None:
    with Relay():
        pass


FETCH = """
import socket, sys, time
port = int(sys.argv[1])
began = time.monotonic()
link = socket.create_connection(("server", 1080))
link.sendall(b"\\5\\1\\0")
assert link.recv(2) == b"\\5\\0"
link.sendall(bytes([5, 1, 0, 3, 9]) + b"localhost" + port.to_bytes(2, "big"))
assert link.recv(10)[1] == 0
link.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
data = b""
while part := link.recv(1 << 16):
    data += part
print(len(data), time.monotonic() - began)
"""


def test_a_program_reaches_the_outside_over_the_emulated_link(outside: int, tmp_path: Path) -> None:
    need_emulation()
    script = tmp_path / "fetch.py"
    script.write_text(FETCH)
    command = (sys.executable, str(script), str(outside))
    done = goodqueue("emulate", *LINK, "--uplink=socks", "--json", "--", *command)
    assert done.returncode in ENDED, done.stderr
    length, took = done.stderr.splitlines()[0].split()
    assert int(length) > len(PAGE)
    # Four round trips, and 50 kB at 10 Mb/s.
    assert float(took) > 4 * 0.040 + 8 * len(PAGE) / 10e6
    figures = json.loads(done.stdout)
    uplink = figures["uplink"]
    assert uplink["kind"] == "socks"
    assert uplink["split_tcp"] is True
    assert uplink["connections"] == 1
    back = figures["links"]["bottleneck.reverse"]
    assert back["throughput_bps"] * figures["measured_s"] > 8 * uplink["bytes_in"]


def test_a_result_says_that_tcp_was_split(outside: int) -> None:
    need_emulation()
    url = f"http://localhost:{outside}/"
    fetch = ("curl", "-sS", "--proxy", "socks5h://server:1080", "-o", "/dev/null", url)
    done = goodqueue("emulate", *LINK, "--uplink=socks", "--", "sh", "-c", shlex.join(fetch))
    assert "TCP was split" in " ".join(done.stdout.split())
