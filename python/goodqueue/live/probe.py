"""Probes of real paths: what a probe found, and the link that `size` gets of it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PORT = 4823
"""Port of a probe server, for TCP and UDP."""

SCHEMA_VERSION = 2
"""Version of the keys of the results as JSON."""

TCP_MS = 8000
"""Duration of the TCP flow in each direction, in ms."""

PACKET_BYTES = 1400
"""IP size of the packets in which buffers are counted, in bytes."""

DIRECTIONS = ("up", "down")


@dataclass(frozen=True)
class Probe:
    """Results of a probe.

    Attributes:
        host: the host as the user named it.
        figures: figures as the core names them (docs/probe.md).
        idle_rtts: RTTs on the idle path, in seconds.
        loaded_rtts: time since the start of the flow and RTT of each ping, for each TCP flow, in
            seconds.
        flow_rtts: the same of the sender's smoothed RTTs within each TCP flow.
    """

    host: str
    figures: dict[str, Any]
    idle_rtts: list[float]
    loaded_rtts: list[list[tuple[float, float]]]
    flow_rtts: list[list[tuple[float, float]]]

    def as_dict(self) -> dict[str, Any]:
        """Returns the results as plain data."""
        return {"schema_version": SCHEMA_VERSION, "host": self.host, **self.figures}

    def base_rtt_s(self) -> float | None:
        """Returns the base RTT in seconds; None if no ping came back."""
        found = self.figures["base_rtt_s"]
        return None if found is None else float(found["value"])

    def is_disturbed(self, direction: str) -> bool:
        """Returns True if packets were not read in time, which look like lost ones."""
        return bool(self.figures["missed"][DIRECTIONS.index(direction)])


def address_of(host: str) -> str:
    """Returns the address of a server, with its port."""
    if host.startswith("["):  # an IPv6 address, which has colons of its own
        return host if "]:" in host else f"{host}:{PORT}"
    if host.count(":") > 1:
        return f"[{host}]:{PORT}"
    return host if ":" in host else f"{host}:{PORT}"


def need_linux() -> None:
    """Refuses other systems.

    Raises:
        RequestError: if this is not Linux.
    """
    if sys.platform != "linux":
        raise RequestError("`probe` needs Linux, whose sockets give the kernel's times of packets")


def serve(  # noqa: PLR0913 - all are limits, by name
    listen: str,
    token: Path,
    *,
    most_bps: int,
    longest_s: float,
    sessions: int,
    log: Callable[[str], object],
) -> None:
    """Serves probes until Ctrl-C.

    Raises:
        RequestError: if the token file is refused, or the address cannot be used.
    """
    need_linux()
    try:
        _core.probe_serve(address_of(listen), token, most_bps, longest_s, sessions, log)
    except (RuntimeError, OSError) as error:
        raise RequestError(
            f"{listen}: {error}" if isinstance(error, OSError) else str(error)
        ) from error


def probe(  # noqa: PLR0913 - all are options, by name
    host: str,
    token: Path,
    *,
    most_bps: int,
    tcp_ms: int = TCP_MS,
    begins: Callable[[str], object] = lambda _what: None,
    agrees: Callable[[float, float], bool] = lambda _seconds, _bytes: False,
) -> Probe:
    """Probes the path to a server.

    Args:
        host: name or address of the server, perhaps with its port.
        token: file with the token of the server.
        most_bps: largest rate of UDP packets, in bits of IP per second.
        tcp_ms: duration of the TCP flow in each direction, in ms; 0 for none.
        begins: called with the name of each part of the probe.
        agrees: called with expected seconds and bytes before the parts that fill the buffer.

    Raises:
        RequestError: if the server cannot be reached, or refuses.
    """
    need_linux()
    try:
        text, idle, loaded = _core.probe_path(
            address_of(host), token, most_bps, tcp_ms, begins, agrees
        )
    except (RuntimeError, OSError) as error:
        raise RequestError(f"{host}: {error}") from error
    beside, within = ([load[place] for load in loaded] for place in (0, 1))
    return Probe(host, json.loads(text), idle, beside, within)
