"""Records the order in which this kernel's `htb` sends the packets of drawn trees.

    unshare --user --map-root-user --net .venv/bin/python -m evidence.htb.record

A pair of virtual Ethernet devices has `htb` below `tbf`. The filter has tokens for one packet only,
so that all packets of a tree wait in `htb`, in a known order, until the filter's rate is raised.
The packets go to their classes by their priority. The receiving device notes the time of each.
"""

from __future__ import annotations

import socket
import struct
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.htb.drawn import TREES, Tree, tree

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORD = Path(__file__).parent / "6.18.txt"
"""Record of the kernel. A tree has its lines of `tc`, the leaf and the bytes of each packet that it
was offered, and its packets in the order of leaving, each with the nanoseconds since the first.
"""

FROM, TO = "gq-from", "gq-to"
ETHERTYPE = 0x88B5
"""Type of the frames: the first of IEEE 802 for experiments."""
CLOSED = "tbf rate 64bit burst 2000b limit 1000000b"
OPEN = "tbf rate 10gbit burst 4000000b limit 1000000b"
DIRECT = 0x10000
"""Priority of packets that wait in no class."""
PACKETS_OF_SOCKET = 40
"""Packets that may wait of one socket, whose memory is bounded."""
SETTLED_S = 1.5
"""Time in which every bucket is full again."""
LONGEST_S = 100.0
"""Time after which all packets of a tree have left."""
SOL_PACKET, PACKET_FANOUT, FANOUT_IN_TURN = 263, 18, 1 << 16
SO_TIMESTAMPNS = 35


def run(command: str) -> None:
    """Runs a command."""
    subprocess.run(command.split(), check=True)  # noqa: S603 - our own


def frame(number: int, size: int) -> bytes:
    """Returns a frame with the number of its packet."""
    return struct.pack("!6s6sHI", b"\xff" * 6, b"\x02" + b"\0" * 5, ETHERTYPE, number).ljust(
        size, b"\0"
    )


def recorded(drawn: Tree) -> list[tuple[int, int]]:
    """Returns the (number, nanoseconds since the first) of the packets in the order they left."""
    run(f"tc qdisc replace dev {FROM} root handle f: {CLOSED}")
    for command in drawn.commands("parent f:1"):
        kind, verb, rest = command.split(" ", 2)
        run(f"tc {kind} {verb} dev {FROM} {rest}")
    count = len(drawn.arrivals)
    with ExitStack() as stack:
        receivers, senders = (
            [
                stack.enter_context(socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
                for _ in range(1 + (count + 2) // PACKETS_OF_SOCKET)
            ]
            for _ in range(2)
        )
        for sender in senders:
            sender.bind((FROM, 0))
        for receiver in receivers:
            receiver.bind((TO, ETHERTYPE))
            receiver.setsockopt(SOL_PACKET, PACKET_FANOUT, FANOUT_IN_TURN)
            receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)

        def send(priority: int, number: int, size: int) -> None:
            sender = senders[number // PACKETS_OF_SOCKET]
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, priority)
            sender.send(frame(number, size))

        for number in (count, count + 1):
            send(DIRECT, number, 1_514)
        for number, (leaf, size) in enumerate(drawn.arrivals):
            send(DIRECT + drawn.leaves[leaf], number, size)
        time.sleep(SETTLED_S)
        run(f"tc qdisc change dev {FROM} root handle f: {OPEN}")
        send(DIRECT, count + 2, 100)
        found: list[tuple[int, int]] = []
        end = time.monotonic() + LONGEST_S
        while len(found) < count and time.monotonic() < end:
            time.sleep(0.2)
            arrived = (pair for one in receivers for pair in received(one))
            found += (pair for pair in arrived if pair[1] < count)
        found.sort()
    run(f"tc qdisc del dev {FROM} root")
    if len(found) < count:
        raise RuntimeError(f"{count - len(found)} packets are missing")
    return [(number, at - found[0][0]) for at, number in found]


def received(receiver: socket.socket) -> Iterator[tuple[int, int]]:
    """Yields the (time, number) of the packets that a socket holds."""
    receiver.setblocking(False)
    while True:
        try:
            data, extra, _, _ = receiver.recvmsg(64, 64)
        except BlockingIOError:
            return
        seconds, nanoseconds = struct.unpack("ll", extra[0][2])
        yield 10**9 * seconds + nanoseconds, struct.unpack("!I", data[14:18])[0]


def main() -> None:
    """Records all trees."""
    run(f"ip link add {FROM} type veth peer name {TO}")
    for device in (FROM, TO):
        run(f"ip link set {device} addrgenmode none up")
    time.sleep(0.5)
    lines = []
    for number in range(TREES):
        drawn = tree(number)
        left = recorded(drawn)
        lines += [
            f"tree {number}",
            *(f"tc {line}" for line in drawn.commands()),
            f"offered {' '.join(f'{leaf}:{size}' for leaf, size in drawn.arrivals)}",
            f"left {' '.join(f'{packet}:{at}' for packet, at in left)}",
        ]
        print(f"tree {number}: {len(drawn.leaves)} leaves, {left[-1][1] / 1e9:.3f} s")
    RECORD.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
