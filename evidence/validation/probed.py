"""Probes of drawn, emulated links, in real time.

Each link is emulated by `goodqueue emulate`, with `goodqueue probe server` behind it and
`goodqueue probe` before it. The command prints every link, and writes sentences and the table of
errors into docs/probe.md. The links follow from the seed; emulated time is real time, so results
vary.

A probe takes 65 to 80 s. Each result is written to `target/probed` at once, and the same command
goes on after an interrupt. Results of another build of the engine do not count.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shlex
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evidence.core.pages import with_part
from goodqueue import _core
from goodqueue.core.files.outdir import write_whole
from goodqueue.errors import RequestError
from goodqueue.live.emulation import Program, emulate, link_settings

SEED = 1618
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "probe.md"
LEDGERS = ROOT / "target" / "probed"
ENOUGH = 60
"""Links of a set that is written into the page."""

FASTEST_LINE_BPS = 100_000_000
"""Largest rate of the line behind a policer."""

PART = "emulated links"
GOODQUEUE = (str(Path(sys.executable).with_name("goodqueue")),)
DIRECTIONS = ("up", "down")
PACKET_BYTES = 1400
HEADS = (
    *("queue", "links", "both directions right", "directions wrong", "directions not told"),
    *("rate within 2 %", "base RTT within 0.5 ms", "buffer within 10 % or 2 packets"),
)
KINDS = ("fifo", "fifo in bytes", "codel", "fq_codel", "pie", "policer")


@dataclass(frozen=True)
class Link:
    """A drawn link.

    Attributes:
        number: its number.
        kind: its queue, one of `KINDS`.
        rate_bps: rate in both directions.
        rtt_s: base RTT in seconds.
        packets: limit in packets of 1400 bytes; of a policer its burst in packets of 1500 bytes.
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
    def line_bps(self) -> int:
        """Rate at which packets are transmitted. A policer's line is faster than the policer."""
        is_policer = self.kind == "policer"
        return min(10 * self.rate_bps, FASTEST_LINE_BPS) if is_policer else self.rate_bps

    @property
    def queue(self) -> str:
        """The queue as in scenario files."""
        if self.kind == "policer":
            burst = f'burst = "{1500 * self.packets}B"'
            return f'{{ kind = "policer", rate = "{self.rate_bps}bps", {burst} }}'
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
    discipline acts. The burst of a policer is 5 to 400 packets.
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
    if kind == "policer":
        held = round(log_uniform(5, 400))
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
        log = Path(folder, "log")
        token.touch(mode=0o600)
        token.write_text("a token of a validation\n")
        server = (*GOODQUEUE, "probe", "server", "--token", str(token), "--listen", "0.0.0.0")  # noqa: S104 - its own namespace
        client = (*GOODQUEUE, "probe", "server:4823", "--token", str(token), "--load", "--json")
        quiet = f"exec {shlex.join(server)} 2>/dev/null"
        wanted = f"exec {shlex.join(client)} >{shlex.quote(str(out))} 2>{shlex.quote(str(log))}"
        settings = link_settings(f"{link.line_bps}bps", link.rtt_s, link.queue, "300s")
        programs = [
            Program(("sh", "-c", quiet), server=True),
            Program(("sh", "-c", wanted)),
        ]
        run = emulate(settings, programs)
        try:
            figures = json.loads(out.read_text())
        except ValueError:
            print(f"{link}: {log.read_text().strip()}", file=sys.stderr)
            figures = None
        return Probed(link, figures, run.fidelity)


def attempted(link: Link) -> Probed | None:
    """Probes a link. Returns None if the operating system refused the emulation."""
    try:
        return probed(link)
    except (RequestError, OSError) as error:
        print(f"{link}: {error}", file=sys.stderr)
        return None


@dataclass
class Ledger:
    """Results on the disk, one in each line, which belong to one build of the engine.

    Attributes:
        file: the file.
    """

    file: Path

    @classmethod
    def of_this_build(cls) -> Ledger:
        """Returns the ledger of the engine that is installed."""
        LEDGERS.mkdir(parents=True, exist_ok=True)
        build = hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:16]
        return cls(LEDGERS / f"{SEED}-{build}.jsonl")

    def read(self) -> dict[int, Probed]:
        """Returns the finished probes by the number of their link."""
        found = {}
        for text in (
            self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        ):
            try:
                number, figures, fidelity = json.loads(text)
            except ValueError:  # an interrupt cut the last line off
                continue
            found[number] = Probed(draw(number), figures, fidelity)
        return found

    def add(self, one: Probed) -> None:
        """Writes a finished probe."""
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps([one.link.number, one.figures, one.fidelity]) + "\n")


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
    return "\n".join(rows)


def sentences(found: list[Probed], at_once: int, load: float) -> str:
    """Returns what the table shows, compared with the goals, and every link that is not right."""
    ways = [(one, way) for one in found for way in DIRECTIONS]
    right = [one for one in found if all(map(one.is_right, DIRECTIONS))]
    wrong = [one for one in found if any(map(one.is_wrong, DIRECTIONS))]
    least = -(-95 * len(found) // 100)
    goal = "met" if len(right) >= least and len(wrong) <= max(1, len(found) // 60) else "missed"
    verdicts = [one.fidelity["verdict"] for one in found]
    called = ", ".join(f"{verdicts.count(name)} {name}" for name in sorted(set(verdicts)))
    directions = sum(one.is_right(way) for one, way in ways)
    drawn = f"{len(found)} links were drawn with seed {SEED}."
    counts = (
        f"Both directions are right on {len(right)} links, and a queue is wrong on {len(wrong)}"
    )
    met = f"The goal, {least} links right and at most one of 60 wrong, **is {goal}**"
    ran = f"{at_once} ran at once; the load of the machine was {load:.1f} at the end."
    lines = [
        f"{drawn} {counts}. {met}. {directions} of {len(ways)} directions are right.",
        f"The emulations were called: {called}. {ran}",
    ]
    for one in found:
        if one not in right:
            answers = ", ".join(f"{way} {one.discipline(way)}" for way in DIRECTIONS)
            drawn = (
                f"{one.link.kind} of {one.link.packets} packets at {one.link.rate_bps / 1e6:.2f}"
            )
            lines.append(
                f"Not right: {drawn} Mb/s and {1e3 * one.link.rtt_s:.1f} ms "
                f"({answers}; {one.fidelity['verdict']})."
            )
    return "\n\n".join(lines)


def write(text: str) -> None:
    """Replaces the sentences and the table in docs/probe.md."""
    write_whole(PAGE, with_part(PAGE.read_text(encoding="utf-8"), PART, f"{text}\n"))


def make(links: int = ENOUGH, at_once: int = 3) -> None:
    """Probes the links, prints each, and writes the sentences and the table."""
    begun = time.monotonic()
    ledger = Ledger.of_this_build()
    found = {number: one for number, one in ledger.read().items() if number < links}
    missing = [draw(number) for number in range(links) if number not in found]
    print(f"{len(found)} links are done, {len(missing)} are missing", flush=True)
    with ThreadPoolExecutor(at_once) as pool:
        try:
            for done in as_completed([pool.submit(attempted, link) for link in missing]):
                one = done.result()
                if one is not None:
                    ledger.add(one)
                    found[one.link.number] = one
                    print(line(one), flush=True)
        finally:  # an interrupt also ends the probes that have not begun
            pool.shutdown(wait=False, cancel_futures=True)
    whole = [found[number] for number in sorted(found)]
    text = f"{sentences(whole, at_once, os.getloadavg()[1])}\n\n{table(whole)}"
    print(text, f"\n{time.monotonic() - begun:.0f} s")
    if len(whole) >= ENOUGH:
        write(text)
