"""A SOCKS relay that joins an emulated network to the outside (`--uplink socks`, RFC 1928).

The relay listens in the network of the far host. A program of that host, `python -m
goodqueue.live.uplink.relay FILE`, opens the port and passes it on through a socket. The process
outside accepts the connections and opens those to their destinations, whose names it resolves. TCP
is therefore split: the emulated link carries the connections between programs and the relay.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import struct
import sys
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.live.uplink.end import OutsideEnd

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Iterator

PORT = 1080
"""Port of the relay, that of SOCKS."""

MAX_CONNECTIONS = 256
"""Largest number of connections at once. Further ones are closed."""

PATIENCE_S = 10.0
"""Time for a request, and for the connection to its destination."""

CHUNK = 1 << 16
"""Largest number of bytes that are read from a connection before they are written to the other."""

VERSION, NO_AUTHENTICATION, NO_METHOD, CONNECT = 5, 0, 0xFF, 1
IPV4, NAME, IPV6 = 1, 3, 4
DONE, FAILED, UNREACHABLE, REFUSED, NO_COMMAND, NO_ADDRESS = 0, 1, 4, 5, 7, 8


@dataclass(slots=True)
class Relayed:
    """Counts of a relay.

    Attributes:
        connections: connections that reached their destinations.
        refused: connections that did not.
        bytes_out: bytes of programs for the outside.
        bytes_in: bytes of the outside for programs.
    """

    connections: int = 0
    refused: int = 0
    bytes_out: int = 0
    bytes_in: int = 0


class RefusedError(Exception):
    """A request that the relay does not carry out; its argument is the code of the reply."""


class Relay(OutsideEnd):
    """A relay outside the emulated network. The program in the far host passes its port on to it.

    Attributes:
        counts: the counts up to now.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counts = Relayed()
        self._present: set[asyncio.Task[None]] = set()
        self._writers: set[StreamWriter] = set()

    @property
    def command(self) -> tuple[str, ...]:
        """The program that opens the port. Its process must inherit `inside`."""
        return (sys.executable, "-m", "goodqueue.live.uplink.relay", str(self.inside.fileno()))

    def report(self) -> dict[str, Any]:
        """Returns what results say about the relay."""
        place = {"kind": "socks", "address": f"server:{PORT}", "split_tcp": True}
        return {**place, **asdict(self.counts)}

    def _work(self) -> None:
        """Serves at the port that the program in the far host passes on."""
        file = self._received()
        if file is None:
            return
        with socket.socket(fileno=file) as port:
            asyncio.run(self._serve(port))

    async def _serve(self, port: socket.socket) -> None:
        """Serves connections until the other end of the socket is closed."""
        self._outside.setblocking(False)
        async with await asyncio.start_server(self._accepted, sock=port, limit=CHUNK):
            await asyncio.get_running_loop().sock_recv(self._outside, 1)
            writers = list(self._writers)
            for task in self._present:
                task.cancel()
            await asyncio.gather(*self._present, return_exceptions=True)
            for writer in writers:
                writer.transport.abort()

    async def _accepted(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Serves a connection of a program."""
        task: Any = asyncio.current_task()
        with self._held(writer):
            if len(self._present) >= MAX_CONNECTIONS:
                self.counts.refused += 1
                return
            self._present.add(task)
            try:
                await self._carry(reader, writer)
            except (OSError, EOFError, TimeoutError, asyncio.CancelledError):
                pass  # either end may vanish at any time, and so may the run
            finally:
                self._present.discard(task)

    async def _carry(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Carries out the request of a connection."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                host, port = await _request(reader, writer)
            far_reader, far_writer = await _connected(host, port)
        except RefusedError as refused:
            self.counts.refused += 1
            await _reply(writer, refused.args[0])
            return
        with self._held(far_writer):
            await _reply(writer, DONE)
            self.counts.connections += 1
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(reader, far_writer, "bytes_out"))
                both.create_task(self._pump(far_reader, writer, "bytes_in"))

    @contextmanager
    def _held(self, writer: StreamWriter) -> Iterator[None]:
        """Closes a connection at the end of the block. Data on its way still leave."""
        self._writers.add(writer)
        with closing(writer):
            yield
        self._writers.discard(writer)

    async def _pump(self, reader: StreamReader, writer: StreamWriter, count: str) -> None:
        """Passes on what one end sends, and its end. A broken connection breaks the other one."""
        try:
            while data := await reader.read(CHUNK):
                writer.write(data)
                await writer.drain()
                setattr(self.counts, count, getattr(self.counts, count) + len(data))
            writer.write_eof()
        except OSError:
            writer.transport.abort()


async def _request(reader: StreamReader, writer: StreamWriter) -> tuple[str, int]:
    """Reads the greeting and the request of a connection. Returns host and port.

    Raises:
        RefusedError: if it is not a request for a connection.
    """
    version, methods = await reader.readexactly(2)
    offered = await reader.readexactly(methods)
    if version != VERSION or NO_AUTHENTICATION not in offered:
        writer.write(bytes([VERSION, NO_METHOD]))
        raise OSError("no greeting that this relay understands")
    writer.write(bytes([VERSION, NO_AUTHENTICATION]))
    _, command, _, kind = await reader.readexactly(4)
    if kind == NAME:
        [length] = await reader.readexactly(1)
        host = (await reader.readexactly(length)).decode("ascii", errors="replace")
    elif kind in {IPV4, IPV6}:
        host = str(ipaddress.ip_address(await reader.readexactly(4 if kind == IPV4 else 16)))
    else:
        raise RefusedError(NO_ADDRESS)
    [port] = struct.unpack("!H", await reader.readexactly(2))
    if command != CONNECT:
        raise RefusedError(NO_COMMAND)
    return host, port


async def _connected(host: str, port: int) -> tuple[StreamReader, StreamWriter]:
    """Opens a connection to a host outside.

    Raises:
        RefusedError: if there is none.
    """
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await asyncio.open_connection(host, port, limit=CHUNK)
    except ConnectionRefusedError as error:
        raise RefusedError(REFUSED) from error
    except (socket.gaierror, TimeoutError, ValueError) as error:
        raise RefusedError(UNREACHABLE) from error
    except OSError as error:
        raise RefusedError(FAILED) from error


async def _reply(writer: StreamWriter, code: int) -> None:
    """Replies to a request. The address at which the relay is seen outside is not stated."""
    writer.write(struct.pack("!BBBB4sH", VERSION, code, 0, IPV4, bytes(4), 0))
    await writer.drain()


def main(inside: str) -> None:
    """Opens the port and passes it on through the open file `inside`, until the run ends."""
    with socket.socket(fileno=int(inside)) as outside:
        with socket.create_server(("", PORT), backlog=MAX_CONNECTIONS) as port:
            socket.send_fds(outside, [b"\0"], [port.fileno()])
        outside.recv(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
