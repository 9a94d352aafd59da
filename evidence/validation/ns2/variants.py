"""Comparison with ns-2 of every transmission of one flow that loses chosen packets."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evidence.validation.ns2.cases import RECOVERY
from evidence.validation.reading import VARIANTS, VARIANTS_READING
from evidence.validation.simulators import Ns2Error
from goodqueue.runs.api import run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from goodqueue._core import Cancel
    from goodqueue.core.parallel import Workers

SCRIPT = "tools/ns2/drops.tcl"
SCENARIO = "scenarios/drop-pattern.toml"
START_S = 1.0
"""Start of ns-2's flow, in s."""
SERIALISATION_US = 10_400
"""Transmission time of a full packet of 1040 bytes on the slow link, in µs; times may differ by
this much."""

DROPS = ((14,), (14, 28), (14, 26, 28), (14, 24, 26, 28))
"""Lost packets, by the order of their arrival at the slow link, where the SYN is 0; as in ns-2's
tests."""

SETTINGS: dict[str, dict[str, object]] = {
    "default": {},
    "tests": {
        "tcp.rto.initial": "6s",
        "tcp.rto.minimum": "1s",
        "tcp.details.window_arithmetic": "real_whole_decrease",
        "tcp.details.partial_ack_timer": "every",
        "tcp.details.partial_ack_ends_inflation": True,
    },
}
"""Overrides of our scenario for each `settings` of the Tcl script."""


class Transmission(NamedTuple):
    """Time and number of a packet that the sender sends."""

    time_us: int
    """Time since the start of the flow, in µs."""
    packet: int
    """Number of the packet as ns-2 counts: 0 is the SYN."""


@dataclass(frozen=True)
class Case:
    """One run of either simulator."""

    agent: str
    drops: tuple[int, ...]
    limited_transmit: bool
    settings: str

    @property
    def name(self) -> str:
        """A description of the case for messages."""
        extra = ", limited transmit" if self.limited_transmit else ""
        return f"{self.agent} without {', '.join(map(str, self.drops))}{extra} ({self.settings})"

    @property
    def ns2_arguments(self) -> list[str]:
        """The arguments of ns-2."""
        drops = ",".join(map(str, self.drops))
        limited = f"limited_transmit={self.limited_transmit:d}"
        return [SCRIPT, f"tcp={self.agent}", f"drops={drops}", limited, f"settings={self.settings}"]

    @property
    def overrides(self) -> dict[str, object]:
        """The overrides of the scenario file."""
        return {
            "tcp.recovery": RECOVERY[self.agent],
            "tcp.limited_transmit": self.limited_transmit,
            "topology.link.slow.drop_list": self.drops,
            **SETTINGS[self.settings],
        }


CASES = tuple(
    Case(agent, drops, limited_transmit, settings)
    for settings in SETTINGS
    for agent in reversed(RECOVERY)
    for drops in DROPS
    for limited_transmit in (False, True)
)


@dataclass(frozen=True)
class Comparison:
    """The transmissions of both simulators."""

    case: Case
    ns2: Sequence[Transmission]
    ours: Sequence[Transmission]

    @property
    def first_difference(self) -> int | None:
        """Index of the first transmission that differs or is missing on one side; None if none."""
        packets = zip(self.ns2, self.ours, strict=False)
        for index, (theirs, ours) in enumerate(packets):
            if theirs.packet != ours.packet:
                return index
        same_length = len(self.ns2) == len(self.ours)
        return None if same_length else min(len(self.ns2), len(self.ours))

    @property
    def largest_difference_us(self) -> int:
        """Largest difference between the times of equal transmissions, in µs."""
        alike = slice(self.first_difference)
        times = zip(self.ns2[alike], self.ours[alike], strict=True)
        return max((abs(theirs.time_us - ours.time_us) for theirs, ours in times), default=0)

    @property
    def agrees(self) -> bool:
        """True if both sent the same packets in the same order, at nearly the same times."""
        return self.first_difference is None and self.largest_difference_us <= SERIALISATION_US


def run_ns2(case: Case, _cancel: Cancel) -> list[Transmission]:
    """Returns the transmissions of one run of ns-2."""
    command = [shutil.which("ns") or "ns", *case.ns2_arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own script
    if ran.returncode != 0:
        raise Ns2Error(f"{' '.join(command)}: {ran.stderr.strip() or ran.returncode}")
    # The fields are 1: event, 2: time, 11: packet.
    lines = [line.split() for line in ran.stdout.splitlines() if line.startswith("+ ")]
    return [Transmission(_microseconds(float(line[1]) - START_S), int(line[10])) for line in lines]


def run_goodqueue(case: Case, _cancel: Cancel | None = None) -> list[Transmission]:
    """Returns the transmissions of one run of goodqueue, which takes a few milliseconds."""
    packets = run(SCENARIO, set=case.overrides, packets=True).packets
    assert packets is not None  # The run was requested with packet events.
    sent = packets.filter((pl.col("event") == "sent") & (pl.col("direction") == "forward"))
    start = sent["time_s"][0]
    # Packet k of ns-2 corresponds to our bytes from 1 + 1000 (k - 1) on.
    rows = zip(sent["time_s"], sent["sequence"], strict=True)
    return [Transmission(_microseconds(time - start), -(-first // 1000)) for time, first in rows]


def _microseconds(seconds: float) -> int:
    return round(seconds * 1e6)


def retransmissions(sent: Sequence[Transmission]) -> list[Transmission]:
    """Returns the transmissions of packets that had been sent before."""
    seen: set[int] = set()
    again = []
    for transmission in sent:
        if transmission.packet in seen:
            again.append(transmission)
        seen.add(transmission.packet)
    return again


def submit(threads: Workers) -> list[tuple[Case, list[Future[list[Transmission]]]]]:
    """Starts both runs of every case."""
    return [
        (case, [threads.submit(partial(runs, case)) for runs in (run_ns2, run_goodqueue)])
        for case in CASES
    ]


def verdict(comparisons: Sequence[Comparison]) -> list[str]:
    """Describes each case that does not agree."""
    return [
        f"{comparison.case.name}: transmission {comparison.first_difference} differs, or times by "
        f"{comparison.largest_difference_us} us"
        for comparison in comparisons
        if not comparison.agrees
    ]


def section(comparisons: Sequence[Comparison]) -> str:
    """Returns this part of the report, as Markdown."""
    met = sum(comparison.agrees for comparison in comparisons)
    heading = (
        "| agent | lost | limited transmit | settings | transmissions | of these again "
        "| first difference | largest difference of times, us |"
    )
    rows = ["\n".join([heading, "| --- " * 8 + "|"]), *(_row(row) for row in comparisons)]
    return (
        f"{VARIANTS}\n**{met} of {len(comparisons)} cases agree.**\n\n"
        + "\n".join(rows)
        + f"\n\n{VARIANTS_READING}"
    )


def _row(comparison: Comparison) -> str:
    case, first = comparison.case, comparison.first_difference
    count = str(len(comparison.ns2))
    if len(comparison.ours) != len(comparison.ns2):
        count += f", ours {len(comparison.ours)}"
    cells = [
        case.agent,
        ", ".join(map(str, case.drops)),
        "yes" if case.limited_transmit else "no",
        case.settings,
        count,
        str(len(retransmissions(comparison.ns2))),
        "none" if first is None else f"**{first}**",
        str(comparison.largest_difference_us),
    ]
    return "| " + " | ".join(cells) + " |"
