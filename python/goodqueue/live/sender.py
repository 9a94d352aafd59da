"""Bulk TCP data between two hosts, as `python -m goodqueue.live.sender`.

    serve PORT                          discards what arrives, for as long as the process lives
    send HOST PORT FLOWS [CONTROL]      sends zeros over FLOWS connections at once

It needs Python's standard library only, so that measurements need no other program. A process with
the right to administer its network can choose every congestion control that the kernel has loaded.
"""

from __future__ import annotations

import selectors
import socket
import sys
import time

AT_ONCE = 1 << 17
"""Bytes of one read or write."""

PATIENCE_S = 10.0
"""Seconds for which a receiver may take to start, on a busy machine."""

EXIT_REFUSED = 3
"""Exit code if the kernel refuses the congestion control."""


def serve(port: str) -> int:
    """Accepts connections on a port of all addresses, and discards their data."""
    selector = selectors.DefaultSelector()
    listener = socket.create_server(("", int(port)), backlog=1024)
    selector.register(listener, selectors.EVENT_READ)
    bucket = bytearray(AT_ONCE)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                connection, _ = listener.accept()
                selector.register(connection, selectors.EVENT_READ)
            elif not key.fileobj.recv_into(bucket):  # type: ignore[union-attr]
                selector.unregister(key.fileobj)


def send(host: str, port: str, flows: str, control: str = "") -> int:
    """Sends over this number of connections until the process ends or a connection is lost.

    Args:
        host: name or address of the other host.
        port: its port.
        flows: number of connections.
        control: congestion control as the kernel names it; empty for its default.
    """
    selector = selectors.DefaultSelector()
    for _ in range(int(flows)):
        try:
            connection = _connected(host, int(port), control, patience_s=PATIENCE_S)
        except _RefusedControlError as error:
            print(f"the kernel refuses the congestion control {control}: {error}", file=sys.stderr)
            return EXIT_REFUSED
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_WRITE)
    data = bytes(AT_ONCE)
    while True:
        for key, _ in selector.select():
            key.fileobj.send(data)  # type: ignore[union-attr]


class _RefusedControlError(Exception):
    """The kernel does not let the process choose this congestion control."""


def _connected(host: str, port: int, control: str, *, patience_s: float) -> socket.socket:
    """Returns a connection. The receiver may start later than this process."""
    deadline = time.monotonic() + patience_s
    while True:
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            if control:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        except OSError as error:
            raise _RefusedControlError(error) from error
        try:
            connection.connect((host, port))
        except ConnectionRefusedError:
            connection.close()
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.05)
        else:
            return connection


if __name__ == "__main__":
    sys.exit(serve(*sys.argv[2:]) if sys.argv[1] == "serve" else send(*sys.argv[2:]))
