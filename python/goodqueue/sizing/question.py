"""What `goodqueue size` is asked, as typed: from flags to a `Link`.

Units are parsed where scenario files' are, in the core; the flag's name stands in every message.
"""

from __future__ import annotations

from dataclasses import dataclass

from goodqueue import _core
from goodqueue.errors import RequestError
from goodqueue.sizing.link import Link, rtt_range

RANGE = ".."


@dataclass(frozen=True, slots=True)
class Question:
    """The flags that describe a link without a scenario file, as typed; None where absent."""

    rate: str
    rtt: str
    flows: int
    mix: str | None = None
    packet: str = "1500B"
    control: str = "reno"
    min_utilization: str = "98%"
    max_loss: str | None = None
    max_delay: str | None = None
    max_window: str | None = None
    input_rate: str | None = None
    access_rate: str | None = None
    paced: bool = False

    def link(self) -> Link:
        """The link, checked.

        Raises:
            ScenarioError: with the flag and what to write instead.
            RequestError: of a link that no rule can speak of.
        """
        packet = _core.parse_size("--packet", self.packet)
        if not 40 <= packet <= 65_535:
            raise RequestError(f"a packet of {packet} B: --packet takes from 40B to 65535B")
        return Link(
            rate_bps=_core.parse_rate("--rate", self.rate),
            rtts_s=parse_rtts("--rtt", self.rtt),
            flows=self.flows,
            packet_bytes=packet,
            local_share=1.0 if self.mix is None else _core.parse_fraction("--mix", self.mix),
            congestion_control=self.control,
            min_utilization=_core.parse_fraction("--min-utilization", self.min_utilization),
            max_loss_rate=_optional_fraction("--max-loss", self.max_loss),
            max_delay_s=None
            if self.max_delay is None
            else _core.parse_span("--max-delay", self.max_delay),
            max_window_packets=None
            if self.max_window is None
            else _core.parse_size("--max-window", self.max_window) / packet,
            input_rate_bps=_optional_rate("--input-rate", self.input_rate),
            access_rate_bps=_optional_rate("--access-rate", self.access_rate),
            paced=self.paced,
        )


def parse_rtts(what: str, text: str) -> tuple[float, ...]:
    """Base round-trip times in seconds: `40ms`, `20ms,80ms`, or `20ms..534ms` (18 even steps)."""
    if RANGE in text:
        first, last = text.split(RANGE, 1)
        return rtt_range(_core.parse_span(what, first), _core.parse_span(what, last))
    return tuple(_core.parse_span(what, one) for one in text.split(","))


def _optional_fraction(what: str, text: str | None) -> float | None:
    return None if text is None else _core.parse_fraction(what, text)


def _optional_rate(what: str, text: str | None) -> float | None:
    return None if text is None else float(_core.parse_rate(what, text))
