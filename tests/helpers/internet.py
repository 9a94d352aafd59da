"""A machine and an Internet behind it, each a network namespace, for tests that root runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.emulation import missing, within
from helpers.processes import started

if TYPE_CHECKING:
    from collections.abc import Iterator

OUTSIDE, MACHINE = "203.0.113.1", "203.0.113.2"
"""Addresses of the Internet's server and of the machine (RFC 5737)."""

WEB_PORT = 8000

SERVE = f"""
import http.server, socketserver, threading
class Names(socketserver.BaseRequestHandler):
    def handle(self):
        # A question for an address is answered with that of this server, others with nothing.
        question, port = self.request
        end = question.index(b"\\0", 12) + 5
        wants_address = question[end - 4:end - 2] == b"\\0\\1"
        head = question[:2] + b"\\x85\\x80\\0\\1" + bytes([0, int(wants_address)]) + bytes(4)
        address = bytes(map(int, "{OUTSIDE}".split(".")))
        answer = b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\1\\0\\4" + address
        whole = head + question[12:end] + (answer if wants_address else b"")
        port.sendto(whole, self.client_address)
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        page = self.client_address[0].encode().ljust(60_000)
        self.send_response(200)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)
    def log_message(self, *_):
        pass
names = socketserver.UDPServer(("{OUTSIDE}", 53), Names)
threading.Thread(target=names.serve_forever, daemon=True).start()
http.server.ThreadingHTTPServer(("{OUTSIDE}", {WEB_PORT}), Page).serve_forever()
"""
"""Program that answers questions for names with its own address, and serves a page that begins with
the client's address.
"""

TABLES = """
import socket, struct
with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12) as port:
    port.send(struct.pack("=IHHIIBBH", 20, 10 << 8 | 1, 0x301, 1, 0, 0, 0, 0))
    print(port.recv(1 << 16))
"""
"""Program that prints the kernel's answer to the question for its tables of nftables."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine with an uplink to an Internet.

    Attributes:
        holder: number of the process that keeps its network.
        outside: the server of its Internet, which is a machine, too; None for that one.
    """

    holder: int
    outside: Machine | None = None

    def command(self, *words: str) -> list[str]:
        """Returns the command that runs a command on the machine."""
        return ["nsenter", "-t", str(self.holder), "-n", "-m", "--", *words]

    def run(self, *words: str) -> str:
        """Runs a command on the machine. Returns its output."""
        done = subprocess.run(
            self.command(*words), check=True, capture_output=True, text=True, timeout=60
        )
        return done.stdout

    def set_forwarding(self, allowed: bool) -> None:
        """Lets the machine forward what it receives from the Internet, or not."""
        setting = "/proc/sys/net/ipv4/conf/wan/forwarding"
        self.run("sh", "-c", f"echo {int(allowed)} > {setting}")

    def traces_of_uplinks(self) -> list[str]:
        """Returns the lines that show devices and tables of uplinks."""
        lines = self.run("ip", "-o", "link").splitlines()
        lines += self.run(sys.executable, "-c", TABLES).splitlines()
        return [line for line in lines if ": gq" in line or "goodqueue_" in line]


@contextmanager
def internet(folder: Path) -> Iterator[Machine]:
    """Makes a machine and an Internet behind it. Needs root, and skips the test without.

    Args:
        folder: directory for files of the machine.
    """
    if os.geteuid() != 0:
        pytest.skip("only root makes a machine and an Internet of network namespaces")
    for program in ("ip", "nsenter", "unshare"):
        if shutil.which(program) is None:
            missing(f"there is no {program}")
    with ExitStack() as stack:
        outside = Machine(stack.enter_context(_held("--net", "--mount")))
        machine = Machine(stack.enter_context(_held("--net", "--mount")), outside)
        machine.run(
            *("ip", "link", "add", "wan", "type", "veth"),
            *("peer", "name", "site", "netns", str(outside.holder)),
        )
        for side, device, address in ((machine, "wan", MACHINE), (outside, "site", OUTSIDE)):
            side.run("ip", "link", "set", "lo", "up")
            side.run("ip", "address", "add", f"{address}/24", "dev", device)
            side.run("ip", "link", "set", device, "up")
        machine.run("ip", "route", "add", "default", "via", OUTSIDE)
        machine.set_forwarding(True)
        (folder / "resolv.conf").write_text(f"nameserver {OUTSIDE}\n")
        machine.run("mount", "--bind", str(folder / "resolv.conf"), "/etc/resolv.conf")
        stack.enter_context(started(outside.command(sys.executable, "-c", SERVE)))
        question = f"import socket; socket.create_connection(('{OUTSIDE}', {WEB_PORT}))"
        asked = machine.command(sys.executable, "-c", question)
        assert within(
            30, lambda: subprocess.run(asked, check=False, capture_output=True).returncode == 0
        )
        yield machine


@contextmanager
def _held(*namespaces: str) -> Iterator[int]:
    """Keeps new namespaces. Yields the process in them."""
    own = {kind: Path(f"/proc/self/ns/{kind}").readlink() for kind in ("net", "mnt")}
    command = ["unshare", *namespaces, "sleep", "600"]
    with started(command) as holder:
        entered = Path(f"/proc/{holder.pid}/ns")
        assert within(
            10, lambda: all((entered / kind).readlink() != link for kind, link in own.items())
        )
        yield holder.pid
