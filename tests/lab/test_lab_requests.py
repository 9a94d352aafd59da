"""Damaged requests: each gets an answer of its own, and the server prints no traceback.

Every part of a request's head and every value of every question is replaced in turn.
"""

from __future__ import annotations

import json
import random
import socket
import sys
from typing import TYPE_CHECKING, Any

import pytest

from conftest import SMALL
from goodqueue.lab.server import LabServer
from helpers.lab_page import serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REFUSED = range(400, 500)

LONG = "9" * 5_000
"""More digits than Python turns into a number."""

HEADS = {
    "Host": ["", "[", "http://[", "127.0.0.1:99999999", "\x80\xff", "127.0.0.1 ", LONG],
    "Origin": [
        "",
        *(
            "null",
            "http://[",
            "http://]",
            "http://[::1",
            "http://[x]",
            "//[",
            "[",
            "http://\x80\xff",
        ),
        *("http://127.0.0.1:99999", "http://\u00bd".encode().decode("latin-1"), LONG),
    ],
    "X-Goodqueue-Token": ["", "\x80\xff", "guess", LONG],
    "Content-Length": [
        *("", LONG, "9" * 400, "-1", "+2", "0x10", "1_0", "1.0", "\xb2", "2, 2", "two", "1e3"),
        "18446744073709551616",
    ],
    "Transfer-Encoding": ["chunked", "gzip, chunked", "identity", "\xff"],
}
"""Values that each header is given."""

TARGETS = [
    *(
        "//[",
        "http://[/",
        "http://[",
        "[",
        "*",
        "/%ff",
        "/\xff",
        "/a b",
        f"/{LONG}",
        "?[",
        "//[::1",
    ),
    *("http://127.0.0.1/picture", "/picture/x", "/../picture", "/Picture"),
]
"""Targets of the first line, none of which is a question or a file."""

NUMBERS = [
    *(10**399, -(10**399), 10**30, 2**64, 2**64 - 1, 2**63, 2**53, 2**32, -1, 0, 0.5, 1e308, -0.0),
    *("1e400", "-1e400", "NaN", "Infinity", "-Infinity", LONG),
]
"""Values in place of each number; texts are written as they are."""

OTHERS: list[object] = [None, True, "", "x" * 400, "\ud800", [], {}, [[]], [None], {"a": {}}]
"""Values in place of each value."""

TURN = {"tab": "t", "number": 1}

QUESTIONS: dict[str, dict[str, Any]] = {
    "start": {},
    "open": {"text": SMALL, "files": {"a": "b"}},
    "picture": {
        "text": SMALL.replace("20s", "1s"),
        "files": {},
        "overrides": {"seed": "2"},
        "limit": {"link": "bottleneck", "limit": "9p"},
        "seed": 3,
        "columns": 9,
        "flows": 2,
        "first_packets": 50,
        "turn": TURN,
    },
    "packets": {
        "text": SMALL.replace("20s", "1s"),
        "from_ms": 1,
        "to_ms": 100,
        "overrides": {},
        "turn": {"tab": "p", "number": 1},
    },
    "tc": {"text": SMALL, "link": "bottleneck"},
    "theory": {"rate": "10Mbps", "rtt": "20ms", "flows": 4, "control": "cubic"},
    "intervals": {"figures": [{"a": 1.0, "b": 2}, {"a": 2.0, "b": 2}]},
    "differences": {"figures": [{"a": 1.0}], "others": [{"a": 2.0}]},
    "parquet": {"columns": [["a", [1, 2.5, None]], ["b", [3, 4, 5]]]},
    "progress": {"turn": TURN},
    "formats": {},
    "opened": {},
}
"""A good body of each question."""


class Watched(LabServer):
    """A server that keeps the exceptions that it would print."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[BaseException | None] = []

    def handle_error(self, request: object, client_address: object) -> None:
        _ = request, client_address
        self.faults.append(sys.exception())


@pytest.fixture(scope="module")
def running() -> Iterator[Watched]:
    with serving(Watched()) as server:
        yield server


@pytest.fixture
def server(running: Watched) -> Watched:
    running.faults.clear()
    return running


def sent(server: LabServer, head: bytes, body: bytes = b"") -> tuple[int, bytes]:
    """Sends a request as it is, and ends the sending; returns status and body of the answer."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(head + b"\r\n\r\n" + body)
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert answer.startswith(b"HTTP/1.1 "), (head[:200], body[:200], answer[:200])
    first, _, rest = answer.partition(b"\r\n\r\n")
    return int(first.split()[1]), rest


def head(server: LabServer, line: str, replaced: Mapping[str, str], length: int = 2) -> bytes:
    """Returns a head with some headers replaced."""
    usual = {
        "Host": f"127.0.0.1:{server.port}",
        "Origin": f"http://127.0.0.1:{server.port}",
        "X-Goodqueue-Token": server.token,
        "Content-Length": str(length),
    }
    lines = [line, *(f"{name}: {text}" for name, text in {**usual, **replaced}.items())]
    return "\r\n".join(lines).encode("latin-1")


def asked(server: LabServer, action: str, body: bytes) -> tuple[int, bytes]:
    return sent(server, head(server, f"POST /{action} HTTP/1.1", {}, len(body)), body)


def is_refused(server: Watched, found: tuple[int, bytes]) -> bool:
    """Returns True if the answer is a refusal with a message, and nothing was raised."""
    status, body = found
    assert server.faults == []
    return status in REFUSED and bool(json.loads(body)["message"])


@pytest.mark.parametrize("action", QUESTIONS)
def test_good_questions_are_answered(server: Watched, action: str) -> None:
    status, body = asked(server, action, json.dumps(QUESTIONS[action]).encode())
    assert status == 200, body
    assert server.faults == []


@pytest.mark.parametrize("name", HEADS)
def test_each_header_may_be_damaged(server: Watched, name: str) -> None:
    for text in HEADS[name]:
        for line in ("POST /formats HTTP/1.1", "POST /formats HTTP/1.0", "GET / HTTP/1.1"):
            if line.startswith("GET") and name in {
                "X-Goodqueue-Token",
                "Content-Length",
                "Transfer-Encoding",
            }:
                continue
            found = sent(server, head(server, line, {name: text}), b"{}")
            assert is_refused(server, found), (name, text[:40], line, found)


def test_each_target_may_be_damaged(server: Watched) -> None:
    for target in TARGETS:
        for method in ("GET", "POST"):
            found = sent(server, head(server, f"{method} {target} HTTP/1.1", {}), b"{}")
            assert found[0] in REFUSED, (method, target[:40], found)
            assert server.faults == []


def test_a_length_that_differs_from_the_body_is_refused(server: Watched) -> None:
    usual = head(server, "POST /formats HTTP/1.1", {})
    assert is_refused(server, sent(server, usual.replace(b"Length: 2", b"Length: 9"), b"{}"))
    assert is_refused(server, sent(server, usual + b"\r\nContent-Length: 3", b"{} "))
    zeros = usual.replace(b"Length: 2", b"Length: " + b"0" * 5_000 + b"2")
    assert sent(server, zeros, b"{}")[0] == 200


def places(
    value: object, path: tuple[object, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], object]]:
    """Yields the path of every value of a body, and the value."""
    yield path, value
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in pairs:
            yield from places(part, (*path, key))


def changed(body: object, path: tuple[Any, ...], value: object) -> bytes:
    """Returns a body with another value at a path."""
    whole = {"": json.loads(json.dumps(body))}
    part: Any = whole
    for key in ("", *path)[:-1]:
        part = part[key]
    part[("", *path)[-1]] = "HERE" if isinstance(value, str) else value
    text = json.dumps(whole[""])
    if isinstance(value, str):
        bare = value in NUMBERS
        text = text.replace('"HERE"', value if bare else json.dumps(value))
    return text.encode()


@pytest.mark.parametrize("action", QUESTIONS)
def test_each_value_of_a_question_may_be_damaged(server: Watched, action: str) -> None:
    """A number that has a meaning may be answered; nothing else than an answer or a refusal."""
    for path, _ in places({**QUESTIONS[action], "turn": TURN}):
        for value in (*NUMBERS, *OTHERS):
            body = changed({**QUESTIONS[action], "turn": TURN}, path, value)
            found = asked(server, action, body)
            assert found[0] == 200 or is_refused(server, found), (path, body[:300], found)
            assert server.faults == [], (path, body[:300])


def test_a_turn_without_a_usual_number_is_refused_and_stops_nothing(server: Watched) -> None:
    """A number beyond those of a page would refuse all later turns of its tab."""
    for number in (*(one for one in NUMBERS if one != 0), True):
        turn = {"tab": "u", "number": number}
        body = changed({**QUESTIONS["picture"], "turn": turn}, ("turn", "number"), number)
        status, answer = asked(server, "picture", body)
        assert status == 200 or is_refused(server, (status, answer))
    body = json.dumps({**QUESTIONS["picture"], "turn": {"tab": "u", "number": 2**53 - 1}}).encode()
    assert asked(server, "picture", body)[0] == 200


@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_are_refused(server: Watched, seed: int) -> None:
    """Bytes of good requests are replaced, removed and repeated."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    for _ in range(60):
        action = chance.choice([one for one in QUESTIONS if one not in {"picture", "packets"}])
        body = json.dumps(QUESTIONS[action]).encode()
        whole = bytearray(
            head(server, f"POST /{action} HTTP/1.1", {}, len(body)) + b"\r\n\r\n" + body
        )
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(whole))
            match chance.randrange(3):
                case 0:
                    whole[place] = chance.randrange(256)
                case 1:
                    del whole[place : place + chance.randrange(1, 5)]
                case _:
                    whole[place:place] = whole[place : place + chance.randrange(1, 50)]
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(bytes(whole))
            connection.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
        assert server.faults == [], bytes(whole)
        assert not answer.startswith((b"HTTP/1.1 500", b"HTTP/1.0 500")), bytes(whole)
