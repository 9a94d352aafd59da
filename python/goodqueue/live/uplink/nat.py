"""Translation of addresses that joins an emulated network to the outside (`--uplink nat`).

The far host's network and that of this machine are joined by a pair of virtual devices
(crates/live/src/linux/uplink.rs), which needs root. Connections of programs then end at their
destinations, unlike those over the relay. This machine must already forward packets of its own
network: that permission would outlast a killed run, so it is never given here.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from goodqueue import _core
from goodqueue.errors import RequestError
from goodqueue.live.uplink.end import OutsideEnd

RIGHTS = {12: "CAP_NET_ADMIN", 21: "CAP_SYS_ADMIN"}
"""Capabilities that are needed, by their numbers."""

DONE = b"\0"
"""Answer to the emulation when its network is joined. Any other one is the reason of a refusal."""

MAX_TEXT = 4096
"""Largest length of an answer in bytes."""

RESOLVERS = ("etc/resolv.conf", "run/systemd/resolve/resolv.conf")
"""Files with the machine's name servers. The second one has those that a local one asks."""

NO_RESOLVER = "nameserver 127.0.0.1\n"
"""Text of a `resolv.conf` by which every question for a name fails at once."""


class Nat(OutsideEnd):
    """An uplink by translation. The emulation passes on the far host's network to it.

    Attributes:
        servers: name servers that programs can reach.

    Raises:
        RequestError: if this machine does not allow it; the message has the remedy.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        check(root)
        self.servers = name_servers(root)
        super().__init__()

    @property
    def resolver(self) -> str:
        """Text of the programs' `resolv.conf`."""
        return "".join(f"nameserver {server}\n" for server in self.servers) or NO_RESOLVER

    def report(self) -> dict[str, Any]:
        """Returns what results say about the uplink."""
        return {"kind": "nat", "split_tcp": False, "name_servers": self.servers}

    def _work(self) -> None:
        """Joins the network of which the emulation passes on a file, until the socket is closed."""
        network = self._received()
        if network is None:
            return
        try:
            uplink = _core.Uplink(network)
        except OSError as error:
            self._outside.send(f"the uplink: {error}".encode()[:MAX_TEXT])
            return
        finally:
            os.close(network)
        with closing(uplink), suppress(OSError):
            self._outside.send(DONE)
            self._outside.recv(1)


def hand_over(inside: int, network: int) -> None:
    """Passes on the file of a network through the socket `inside`, and waits until it is joined.

    Raises:
        OSError: if it is not; the text has the reason.
    """
    with socket.socket(fileno=inside) as outside:
        socket.send_fds(outside, [b"\0"], [network])
        answer = outside.recv(MAX_TEXT)
    if answer != DONE:
        raise OSError(answer.decode(errors="replace") or "the uplink ended")


def check(root: Path = Path("/")) -> None:
    """Checks that this process may join networks, and that this machine forwards packets.

    Args:
        root: directory below which the system's settings are read.

    Raises:
        RequestError: if not; the message has the remedy.
    """
    rights = _rights(_text(root / "proc/self/status"))
    if missing := [name for bit, name in RIGHTS.items() if not rights >> bit & 1]:
        raise RequestError(
            f"`--uplink nat` needs root ({' and '.join(missing)}), because it adds a device to "
            "this machine's network; `--uplink socks` works without"
        )
    device = default_device(_text(root / "proc/net/route"))
    if device is None:
        raise RequestError(
            "`--uplink nat` needs a default route of IPv4 on this machine, and there is none; "
            "`ip route` shows the routes"
        )
    setting = f"net/ipv4/conf/{device}/forwarding"
    if _text(root / "proc/sys" / setting).strip() != "1":
        # A device's name may have dots, which `sysctl` takes for slashes in the place of dots.
        name = setting.replace("/", ".") if "." not in device else setting
        raise RequestError(
            f"`--uplink nat` needs a machine that forwards packets, and {device} does not: as "
            f"root, `sysctl {name}=1`. `emulate` does not set it, because it would stay after a "
            "run that was killed; `--uplink socks` works without"
        )


def default_device(routes: str) -> str | None:
    """Returns the device of the default route with the smallest metric, None without one.

    Args:
        routes: the kernel's table of IPv4 routes, `/proc/net/route`.
    """
    found = []
    for line in routes.splitlines()[1:]:
        device, destination, _, flags, _, _, metric, mask, *_ = line.split()
        is_up, is_refused = int(flags, 16) & 1, int(flags, 16) & 0x200
        if destination == mask == "00000000" and is_up and not is_refused:
            found.append((int(metric), device))
    return min(found)[1] if found else None


def name_servers(root: Path = Path("/")) -> list[str]:
    """Returns the machine's name servers of IPv4 that are not on the machine's loopback device.

    Args:
        root: directory below which the system's settings are read.
    """
    for file in RESOLVERS:
        servers = []
        for line in _text(root / file).splitlines():
            words = line.split()
            if len(words) > 1 and words[0] == "nameserver" and _is_outside(words[1]):
                servers.append(words[1])
        if servers:
            return servers
    return []


def _is_outside(address: str) -> bool:
    """Returns True for an IPv4 address that programs reach through the uplink."""
    try:
        return not ipaddress.IPv4Address(address).is_loopback
    except ValueError:
        return False


def _rights(status: str) -> int:
    """Returns the bits of the effective capabilities in a process's `status`."""
    for line in status.splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        return ""
