"""Access lines of homes: their framing, their rates, and the modem's queue of today.

The framings are those of scenario files, which have the names and numbers of tc-cake(8). They
follow from RFC 2684 and RFC 2516 over AAL5 (ITU-T I.363.5, 48 bytes in cells of 53) for ADSL
(ITU-T G.992.3), from the 64/65 octets of PTM (G.992.3 annex N, IEEE 802.3 clause 61) for VDSL2
(ITU-T G.993.2), and from the Ethernet frame of 14 + 4 bytes that the rates of DOCSIS count (MULPI,
C.2.2.7.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from goodqueue import _core
from goodqueue.errors import RequestError, nearest

WIDE_ENOUGH = 1.05
"""Ratio of the ends of a range of rates from which on a line changes its rate."""

MAX_LINE_BPS = 10e9
"""Largest rate of a line: a router's port to the modem is assumed to have more."""

MIN_LINE_BPS = 64e3


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of access line.

    Attributes:
        title: name in sentences.
        framings: framing of scenario files, by the word of `--framing`; the word is empty if the
            kind has one framing.
        rates: source of the rates that the user gives.
        changes: `service` of scenario files, without its rates, if a range of rates is given.
        must_change: True if a single rate is refused.
        left_out: sentence on the parts that the engine does not model, without its full stop.
    """

    title: str
    framings: dict[str, str]
    rates: str
    changes: dict[str, Any]
    must_change: bool = False
    left_out: str | None = None


CONTRACT = "the rates are the contract's, not a speed test's"

KINDS = {
    "dsl": Kind(
        title="DSL",
        framings={"atm": "pppoe-llcsnap", "ptm": "pppoe-ptm"},
        rates="the rates are the sync rates of the modem's page, not a speed test's",
        changes={"kind": "uniform", "interval": "10s"},
    ),
    "cable": Kind(
        title="cable",
        framings={"": "docsis"},
        rates=CONTRACT,
        changes={"kind": "uniform", "interval": "10s"},
        left_out="a modem's waits for its turns to send are a constant part of the ping",
    ),
    "fibre": Kind(
        title="fibre",
        framings={"": "ethernet-vlan"},
        rates=CONTRACT,
        changes={"kind": "uniform", "interval": "10s"},
        left_out="waits for turns on a shared fibre are a constant part of the ping",
    ),
    "lte": Kind(
        title="LTE",
        framings={"": "0B"},
        rates="the rates are those of speed tests, with another one every second",
        changes={"kind": "uniform", "interval": "1s"},
        must_change=True,
        left_out="the delay is constant, without handovers",
    ),
    "starlink": Kind(
        title="Starlink",
        framings={"": "0B"},
        rates="the rates are those of speed tests, with another one every 15 s",
        changes={"kind": "uniform", "interval": "15s"},
        must_change=True,
        left_out="the delay is constant, without the steps and pauses every 15 s",
    ),
}
"""Kinds of lines by the word of `--line`.

Starlink assigns satellites anew every 15 s, when rate and delay jump (Garcia, Sundberg and
Brunstrom, LEO-NET 2025; cake-autorate, issue 393). The second of LTE is an assumption.
"""


@dataclass(frozen=True, slots=True)
class Rates:
    """The rate of one direction of a line, or the ends of the range in which it changes.

    Attributes:
        low_bps: lowest rate in bits per second.
        high_bps: highest rate, the same as the lowest if the rate is constant.
    """

    low_bps: int
    high_bps: int

    @property
    def change(self) -> bool:
        """True if the rate changes."""
        return self.high_bps > self.low_bps

    @property
    def text(self) -> str:
        """The rate in words, such as `10 Mb/s` or `5 to 20 Mb/s`."""
        high = f"{self.high_bps / 1e6:.4g} Mb/s"
        return f"{self.low_bps / 1e6:.4g} to {high}" if self.change else high


@dataclass(frozen=True, slots=True)
class Line:
    """An access line.

    Attributes:
        kind: word of `--line`.
        framing: bytes and cells beyond each IP packet, as scenario files name them.
        overhead: bytes in place of the framing's overhead; None for the framing's own.
        down: rate towards the home.
        up: rate from the home.
        margin: share by which a constant rate may be lower than it is said to be. The line that is
            run has the lower rate.
    """

    kind: str
    framing: str
    overhead: int | None
    down: Rates
    up: Rates
    margin: float = 0.0

    @property
    def of_kind(self) -> Kind:
        """The facts about lines of this kind."""
        return KINDS[self.kind]

    def service(self, rates: Rates) -> dict[str, Any]:
        """Returns the keys of a link that has these rates."""
        if not rates.change:
            return {"rate": rate_text((1 - self.margin) * rates.low_bps)}
        ends = {"from": rate_text(rates.low_bps), "to": rate_text(rates.high_bps)}
        return {"service": {**self.of_kind.changes, **ends}}


def rate_text(bps: float) -> str:
    """Returns a rate as scenario files write it."""
    return f"{round(bps)}bps" if bps % 1000 else f"{round(bps / 1000)}kbps"


def kind_of(word: str) -> Kind:
    """Returns a kind of lines.

    Raises:
        RequestError: if no kind has this name.
    """
    if word not in KINDS:
        raise RequestError(f"--line {word}: {nearest(word, list(KINDS))}")
    return KINDS[word]


def framing_of(word: str, framing: str | None) -> str:
    """Returns the framing of a line as scenario files name it.

    Args:
        word: word of `--line`.
        framing: word of `--framing`; None if it is absent.

    Raises:
        RequestError: if it is missing, unknown, or the kind of line has only one.
    """
    framings = kind_of(word).framings
    if "" in framings:
        if framing is not None:
            raise RequestError(
                f"--framing {framing}: only a DSL line has several framings; --overhead replaces "
                "the bytes that a packet takes more on the line"
            )
        return framings[""]
    if framing is None:
        raise RequestError(
            "--framing is missing: write --framing atm for ADSL, or --framing ptm for VDSL2"
        )
    if framing not in framings:
        raise RequestError(f"--framing {framing}: {nearest(framing, list(framings))}")
    return framings[framing]


def rates_of(option: str, text: str, word: str) -> Rates:
    """Returns the rate of a direction, or the range in which it changes.

    Args:
        option: the option that gives it, for messages.
        text: a rate such as `10Mbps`, or a range such as `5Mbps..20Mbps`.
        word: word of `--line`.

    Raises:
        ScenarioError: if a rate cannot be read.
        RequestError: if a range is required, empty, or reversed.
    """
    low, dots, high = (part.strip() for part in text.partition(".."))
    first = _core.parse_rate(option, low)
    last = _core.parse_rate(option, high) if dots else first
    if not dots and kind_of(word).must_change:
        raise RequestError(
            f"{option} {text}: the rate of a line of this kind changes; write the lowest and the "
            f"highest that speed tests show, as in {option} 5Mbps..20Mbps"
        )
    if last < first:
        raise RequestError(f"{option} {text}: write the lower rate first")
    if first < MIN_LINE_BPS or last > MAX_LINE_BPS:
        raise RequestError(f"{option} {text}: write rates from 64kbps to 10Gbps")
    return Rates(first, last) if last >= WIDE_ENOUGH * first else Rates(first, first)
