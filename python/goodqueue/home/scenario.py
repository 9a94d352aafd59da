"""The scenario of a home: a line, today's queue of its modem, and a shaper in the router before it.

The router and the modem are a chain. Forward is up. Both directions of the router's link to the
modem have CAKE, whose bandwidth is the shaper's rate. With an unlimited bandwidth CAKE sends all
packets at once, and the line has only the queue of its modem.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.home.household import DOWN, UP, filled, flows
from goodqueue.runs.settings import readable_toml, scenario_of, settings_of

if TYPE_CHECKING:
    from goodqueue.home.household import Direction
    from goodqueue.home.line import Line

PATHS: dict[Direction, str] = {
    UP: "topology.link.shaper.queue.bandwidth",
    DOWN: "topology.link.shaper.reverse.queue.bandwidth",
}
"""Paths of the shaper's rates in the scenario."""

NOW = "unlimited"
"""Bandwidth of a shaper that shapes nothing."""

UP_BUFFER, DOWN_BUFFER = "256kB", "100ms"
"""Queues of today's line without `--loaded-ping`; the first is that of scenarios/home-dsl.toml."""

MEASURED_PACKETS = 250_000
"""Full packets of the filled directions after which a run of a constant rate ends."""

SHORTEST_S, USUAL_S, CHANGING_S = 6, 25, 45
"""Measured seconds of a run: least and most of them, and those of a line whose rate changes."""

WARMUP_S = 5

FULL_BYTES = 1500
"""Bytes of a full IP packet."""


@dataclass(frozen=True, slots=True)
class Framing:
    """Bytes that a line adds to each IP packet.

    Attributes:
        overhead: bytes beyond the IP packet.
        minimum: bytes of the smallest frame.
        cells: `none`, `atm` or `ptm`.
    """

    overhead: int
    minimum: int
    cells: str

    @property
    def keyword(self) -> str:
        """Keyword of CAKE for the cells."""
        return "noatm" if self.cells == "none" else self.cells

    def on_line(self, packet: int) -> int:
        """Returns the bytes that an IP packet of this many bytes takes on the line."""
        frame = max(packet + self.overhead, self.minimum)
        if self.cells == "atm":
            return -(-frame // 48) * 53
        return frame + (-(-frame // 64) if self.cells == "ptm" else 0)


@dataclass(frozen=True)
class Home:
    """A line and a household.

    Attributes:
        line: the line.
        words: parts of the household.
        rtt_s: ping while nothing waits, in seconds.
        loaded_ping_s: ping while an upload fills the line of today, in seconds; None if unknown.
        seed: seed of the first run.
    """

    line: Line
    words: tuple[str, ...]
    rtt_s: float
    loaded_ping_s: float | None = None
    seed: int = 1

    @cached_property
    def framing(self) -> Framing:
        """Framing of the line in numbers, which the core knows by name."""
        modem = {"name": "modem", "rate": "1Mbps", "delay": "0s", "framing": self.line.framing}
        link = {**modem, "queue": {"limit": "1p"}}
        ping = {"name": "ping", "workload": {"kind": "ping"}}
        topology = {"shape": "chain", "link": [link]}
        small = {"schema_version": 2, "duration": "1s", "topology": topology, "flow": [ping]}
        found = settings_of(scenario_of(small, "<framing>"))["topology"]["link"][0]["framing"]
        table = {"overhead": found} if isinstance(found, str) else found
        overhead, minimum = (_bytes(table.get(key, "0B")) for key in ("overhead", "minimum"))
        own = self.line.overhead
        return Framing(overhead if own is None else own, minimum, table.get("cells", "none"))

    @property
    def directions(self) -> list[Direction]:
        """Directions of the line that the household fills, which are shaped."""
        return filled(self.words)

    def settings(self, up: str = NOW, down: str = NOW) -> dict[str, Any]:
        """Returns the scenario with these rates of the shaper, as scenario files write them."""
        port, framing = self._port(), self._framing_table()
        modem: dict[str, Any] = {"name": "modem", **self.line.service(self.line.up)}
        modem |= {"delay": "0s", "framing": framing, "queue": {"limit": self._up_buffer()}}
        modem["reverse"] = {**self.line.service(self.line.down), "queue": {"limit": DOWN_BUFFER}}
        shaper = {"name": "shaper", "rate": port, "delay": "0s", "queue": self._cake(up)}
        shaper["reverse"] = {"queue": self._cake(down)}
        return {
            "schema_version": 2,
            "title": f"A home: {self.line.of_kind.title}, {', '.join(self.words)}",
            "description": f"{self.line.up.text} up and {self.line.down.text} down. CAKE in the "
            "router shapes before the modem; a bandwidth of `unlimited` is the line of today.",
            "duration": f"{WARMUP_S + self._measured_s()}s",
            "warmup": f"{WARMUP_S}s",
            "seed": self.seed,
            "topology": {"shape": "chain", "access": {"rate": port}, "link": [shaper, modem]},
            "tcp": {"profile": "linux"},
            "flow": flows(self.words, _span(self.rtt_s)),
        }

    def toml(self, up: str = NOW, down: str = NOW) -> str:
        """Returns the scenario as a file for people."""
        comments = {
            "": "Before and after: goodqueue compare FILE --variant '' --variant "
            f"{PATHS[UP]}={NOW},{PATHS[DOWN]}={NOW}",
            "topology.link.0": "The router's port to the modem. CAKE counts packets as the line.",
            "topology.link.1": f"The line and the modem; {self.line.of_kind.rates}.",
        }
        return readable_toml(self.settings(up, down), comments)

    def _port(self) -> str:
        """Returns the rate of the ports before the line, which must not limit it."""
        fastest = max(self.line.up.high_bps, self.line.down.high_bps)
        return next(f"{port}Gbps" for port in (1, 10, 100) if fastest <= port * 0.5e9)

    def _framing_table(self) -> str | dict[str, str]:
        """Returns the framing of the line as scenario files have it."""
        if self.line.overhead is None:
            return self.line.framing
        found = self.framing
        size = {"overhead": f"{found.overhead}B", "minimum": f"{found.minimum}B"}
        return {**size, "cells": found.cells}

    def _cake(self, bandwidth: str) -> dict[str, str]:
        """Returns CAKE as the lines for devices make it."""
        found = self.framing
        return {
            "kind": "cake",
            "bandwidth": bandwidth,
            "diffserv": "besteffort",
            "overhead": f"{found.overhead}B",
            "mpu": f"{found.minimum}B",
            "atm": found.keyword,
        }

    def _up_buffer(self) -> str:
        """Returns the modem's queue of today."""
        if self.loaded_ping_s is None:
            return UP_BUFFER
        return _span(self.loaded_ping_s - self.rtt_s)

    def _measured_s(self) -> int:
        """Returns the measured time of a run in seconds."""
        if self.line.up.change or self.line.down.change:
            return CHANGING_S
        rates = {UP: self.line.up, DOWN: self.line.down}
        bps = sum(rates[direction].high_bps for direction in self.directions)
        packets_per_s = bps / (8 * FULL_BYTES)
        return round(min(max(MEASURED_PACKETS / packets_per_s, SHORTEST_S), USUAL_S))


def _span(seconds: float) -> str:
    """Returns a time as scenario files write it."""
    return f"{round(seconds * 1e6)}us"


def _bytes(text: str) -> int:
    """Returns the bytes of a size of a scenario file."""
    return _core.parse_size("size", text)
