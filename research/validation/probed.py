"""Probes of drawn, emulated links: `python -m research.validation.probed [LINKS] [AT_ONCE]`.

Each link is emulated by `goodqueue emulate`, with `goodqueue probe server` behind it and
`goodqueue probe` before it. The command prints every link, and writes the table of errors into
docs/probe.md. The links follow from the seed; emulated time is real time, so results vary.
"""

from __future__ import annotations

import json
import os
import random
import shlex
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodqueue.core.outdir import write_whole
from goodqueue.live.emulation import Program, emulate, link_settings

SEED = 2026
PAGE = Path(__file__).parents[2] / "docs" / "probe.md"
BEGIN, END = "<!-- begin of the emulated links -->", "<!-- end of the emulated links -->"
GOODQUEUE = (str(Path(sys.executable).with_name("goodqueue")),)
DIRECTIONS = ("up", "down")
PACKET_BYTES = 1400
HEADS = (
    *("queue", "links", "both directions right", "directions wrong", "directions not told"),
    *("rate within 2 %", "base RTT within 0.5 ms", "buffer within 10 % or 2 packets"),
)
KINDS = ("fifo", "fifo in bytes", "codel", "fq_codel", "pie")


@dataclass(frozen=True)
class Link:
    """A drawn link.

    Attributes:
        number: its number.
        kind: its queue, one of `KINDS`.
        rate_bps: rate in both directions.
        rtt_s: base RTT in seconds.
        packets: limit in packets of 1400 bytes.
    """

    number: int
    kind: str
    rate_bps: int
    rtt_s: float
    packets: int

    @property
    def discipline(self) -> str:
        """The true queue, which the probe should find."""
        return self.kind.split()[0]

    @property
    def queue(self) -> str:
        """The queue as in scenario files."""
        unit = (
            f"{self.packets * PACKET_BYTES}B"
            if self.kind == "fifo in bytes"
            else f"{self.packets}p"
        )
        kind = "drop_tail" if self.discipline == "fifo" else self.kind
        return f'{{ kind = "{kind}", limit = "{unit}" }}'


def draw(number: int) -> Link:
    """Returns a link of 1 to 50 Mb/s: the logarithms of all quantities are uniform.

    Buffers hold at most a second. FIFOs hold two packets or more. Buffers of active queues hold 24
    packets and 15 ms (`pie`: 50 ms) or more, because smaller ones overflow before the queue
    discipline acts.
    """
    source = random.Random(f"{SEED} {number}")  # noqa: S311 - no secret

    def log_uniform(low: float, high: float) -> float:
        return float(low * (high / low) ** source.random())

    kind = KINDS[number % len(KINDS)]
    rate_bps = round(log_uniform(1e6, 50e6), -3)
    rtt_s = round(log_uniform(0.004, 0.15), 5)
    packet_s = PACKET_BYTES * 8 / rate_bps
    fifo = kind.startswith("fifo")
    shortest = 2 * packet_s if fifo else 0.05 if kind == "pie" else 0.015
    fewest = 2 if fifo else 24
    held = max(fewest, round(log_uniform(shortest, max(1.0, 2 * shortest)) / packet_s))
    return Link(number, kind, int(rate_bps), rtt_s, held)


@dataclass(frozen=True)
class Probed:
    """A link, and the results of its probe.

    Attributes:
        link: the link.
        figures: the figures of `goodqueue probe --json`; None if it failed.
        fidelity: the fidelity report of the emulation.
    """

    link: Link
    figures: dict[str, Any] | None
    fidelity: dict[str, Any]

    def found(self, direction: str) -> dict[str, Any] | None:
        """Returns the report on a direction."""
        return None if self.figures is None else self.figures[direction]

    def discipline(self, direction: str) -> str:
        """Returns the queue that the probe names."""
        found = self.found(direction)
        return "cannot_tell" if found is None else str(found["discipline"])

    def is_right(self, direction: str) -> bool:
        """Returns True if the probe names the queue."""
        return self.discipline(direction) == self.link.discipline

    def is_wrong(self, direction: str) -> bool:
        """Returns True if the probe names another queue."""
        return self.discipline(direction) not in {self.link.discipline, "cannot_tell"}

    def rate_error(self, direction: str) -> float | None:
        """Returns the relative error of the rate."""
        found = self.found(direction)
        return None if found is None else found["rate_bps"]["value"] / self.link.rate_bps - 1

    def rtt_error_s(self) -> float | None:
        """Returns the error of the base RTT in seconds."""
        found = None if self.figures is None else self.figures["base_rtt_s"]
        return None if found is None else found["value"] - self.link.rtt_s

    def packets_error(self, direction: str) -> float | None:
        """Returns the error of a FIFO's buffer in packets; None for other queues."""
        found = self.found(direction)
        if found is None or self.link.discipline != "fifo" or found["buffer"] is None:
            return None
        return float(found["buffer"]["packets"]["value"]) - self.link.packets

    def has_buffer(self, direction: str) -> bool:
        """Returns True unless a FIFO's buffer is wrong by more than 10 % and 2 packets."""
        if self.link.discipline != "fifo":
            return True
        error = self.packets_error(direction)
        return error is not None and abs(error) <= max(2, 0.1 * self.link.packets)


def probed(link: Link) -> Probed:
    """Emulates a link and probes it."""
    with tempfile.TemporaryDirectory() as folder:
        token, out = Path(folder, "token"), Path(folder, "found.json")
        token.touch(mode=0o600)
        token.write_text("a token of a validation\n")
        server = (*GOODQUEUE, "probe", "server", "--token", str(token), "--listen", "0.0.0.0")  # noqa: S104 - its own namespace
        client = (*GOODQUEUE, "probe", "server:4823", "--token", str(token), "--load", "--json")
        quiet = f"exec {shlex.join(server)} 2>/dev/null"
        wanted = f"exec {shlex.join(client)} >{shlex.quote(str(out))} 2>{shlex.quote(str(out))}.log"
        settings = link_settings(f"{link.rate_bps}bps", link.rtt_s, link.queue, "300s")
        programs = [
            Program(("sh", "-c", quiet), server=True),
            Program(("sh", "-c", wanted)),
        ]
        run = emulate(settings, programs)
        log = Path(f"{out}.log")
        try:
            figures = json.loads(out.read_text())
        except ValueError:
            print(f"{link}: {log.read_text().strip()}", file=sys.stderr)
            figures = None
        return Probed(link, figures, run.fidelity)


def line(one: Probed) -> str:
    """Returns a link in words."""
    parts = [f"{one.link.number} {one.link.kind} {one.link.rate_bps / 1e6:.3f} Mb/s"]
    parts.append(f"{1e3 * one.link.rtt_s:.2f} ms {one.link.packets}p")
    rtt = one.rtt_error_s()
    parts.append("no RTT" if rtt is None else f"RTT {1e3 * rtt:+.3f} ms")
    for direction in DIRECTIONS:
        rate, buffer = one.rate_error(direction), one.packets_error(direction)
        verdict = "ok" if one.is_right(direction) else "WRONG" if one.is_wrong(direction) else "?"
        found = one.found(direction) or {"buffer": None, "features": None}
        parts.append(
            f"{direction}: {verdict} {one.discipline(direction)}"
            f"{'' if rate is None else f' rate {100 * rate:+.2f} %'}"
            f"{'' if buffer is None else f' buffer {buffer:+.1f}p'}"
        )
        if not one.is_right(direction) or not one.has_buffer(direction):
            parts.append(str(found["features"]))
    missed = None if one.figures is None else one.figures["missed"]
    late = one.fidelity["p99_lateness_s"]
    parts.append(f"{one.fidelity['verdict']}, p99 late {1e3 * late:.2f} ms, missed {missed}")
    return "; ".join(parts)


def table(found: list[Probed]) -> str:
    """Returns the table of errors, compared with their goals."""
    rows = [f"| {' | '.join(HEADS)} |", f"|{' --- |' * len(HEADS)}"]
    for kind in (*KINDS, "all"):
        of = [one for one in found if kind in {one.link.kind, "all"}]
        ways = [(one, direction) for one in of for direction in DIRECTIONS]
        wrong = sum(one.is_wrong(direction) for one, direction in ways)
        right = sum(one.is_right(direction) for one, direction in ways)
        rates = [one.rate_error(direction) for one, direction in ways]
        rtts = [one.rtt_error_s() for one in of]
        fifos = [(one, way) for one, way in ways if one.link.discipline == "fifo"]
        buffers = sum(one.has_buffer(way) for one, way in fifos)
        cells = [
            f"`{kind}`" if kind != "all" else kind,
            str(len(of)),
            str(sum(all(map(one.is_right, DIRECTIONS)) for one in of)),
            str(wrong),
            str(len(ways) - wrong - right),
            f"{sum(one is not None and abs(one) <= 0.02 for one in rates)} of {len(rates)}",
            f"{sum(one is not None and abs(one) <= 5e-4 for one in rtts)} of {len(rtts)}",
            f"{buffers} of {len(fifos)}" if fifos else "",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    verdicts = [one.fidelity["verdict"] for one in found]
    called = ", ".join(f"{verdicts.count(name)} {name}" for name in sorted(set(verdicts)))
    rows.append(f"\nThe emulations were called: {called}.")
    return "\n".join(rows)


def write(text: str) -> None:
    """Replaces the table in docs/probe.md."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    write_whole(PAGE, f"{before}{BEGIN}\n{text}\n{END}{after}")


def main() -> None:
    """Probes the links, prints each and writes the table."""
    links = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    at_once = int(sys.argv[2]) if len(sys.argv) > 2 else 6
    found = []
    with ThreadPoolExecutor(at_once) as pool:
        for one in pool.map(probed, map(draw, range(links))):
            print(line(one), flush=True)
            found.append(one)
    load = os.getloadavg()[1]
    text = f"{table(found)} {at_once} ran at once; the load of the machine was {load:.1f}."
    print(text)
    if links == 60:
        write(text)


if __name__ == "__main__":
    main()
