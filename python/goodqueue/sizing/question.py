"""Flags of `goodqueue size`: converts them to a `Link`, or to the bounds for a scenario's link.

The core parses units, as in scenario files. Every message names the flag.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.errors import RequestError, nearest
from goodqueue.sizing.controls import main_control, parse_controls
from goodqueue.sizing.link import PROFILES, Asked, Link, as_in_theory, rtt_range

if TYPE_CHECKING:
    from goodqueue.sizing.controls import Shares


@dataclass(frozen=True, slots=True)
class Bounds:
    """Flags for the bounds of a buffer, as typed; None if absent."""

    min_utilization: str = "98%"
    max_loss: str | None = None
    max_delay: str | None = None
    mix: str | None = None

    def asked(self) -> Asked:
        """Returns the bounds as numbers.

        Raises:
            ScenarioError: with the flag and what to write instead.
            RequestError: if a bound on loss excludes nothing.
        """
        loss, delay, mix = self.max_loss, self.max_delay, self.mix
        max_loss_rate = None if loss is None else _core.parse_fraction("--max-loss", loss)
        if max_loss_rate == 1:
            raise RequestError(
                f"--max-loss {loss}: a loss of 100% bounds nothing; write a bound below 100%, "
                "such as 1%"
            )
        return Asked(
            min_utilization=_core.parse_fraction("--min-utilization", self.min_utilization),
            max_loss_rate=max_loss_rate,
            max_delay_s=None if delay is None else _core.parse_span("--max-delay", delay),
            local_share=1.0 if mix is None else _core.parse_fraction("--mix", mix),
        )


@dataclass(frozen=True, slots=True)
class Question:
    """Flags that describe a link without a scenario file, as typed; None if absent.

    Hosts run CUBIC with the `linux` profile unless `control` and `profile` say otherwise, or
    `as_in_theory` selects the TCP that the rules assume.
    """

    rate: str
    rtt: str
    flows: int
    packet: str = "1500B"
    control: str | None = None
    profile: str | None = None
    as_in_theory: bool = False
    max_window: str | None = None
    input_rate: str | None = None
    access_rate: str | None = None
    mark_at: str | None = None
    paced: bool = False
    bounds: Bounds = Bounds()

    def link(self) -> Link:
        """Returns the link, checked.

        Raises:
            ScenarioError: with the flag and what to write instead.
            RequestError: if no rule applies to the link.
        """
        packet = _core.parse_size("--packet", self.packet)
        if not 40 <= packet <= 65_535:
            raise RequestError(f"a packet of {packet} B: --packet takes from 40B to 65535B")
        if self.flows < 1:
            raise RequestError(f"--flows {self.flows}: a buffer rule needs at least one flow")
        if self.profile not in {*PROFILES, None}:
            hint = nearest(self.profile or "", PROFILES)
            raise RequestError(f"--profile {self.profile}: there is no such profile; {hint}")
        window, rtts_s = self.max_window, parse_rtts("--rtt", self.rtt)
        if not all(0 < rtt <= 1000 for rtt in rtts_s):
            raise RequestError(
                f"--rtt {self.rtt}: a round-trip time must be more than 0s and at most 1000s"
            )
        shares = parse_controls("--control", "cubic" if self.control is None else self.control)
        link = Link(
            rate_bps=_core.parse_rate("--rate", self.rate),
            rtts_s=rtts_s,
            flows=self.flows,
            packet_bytes=packet,
            congestion_control=main_control(shares),
            controls=shares if len(shares) > 1 else (),
            profile=self.profile or "linux",
            max_window_packets=None
            if window is None
            else _core.parse_size("--max-window", window) / packet,
            input_rate_bps=_optional_rate("--input-rate", self.input_rate),
            access_rate_bps=_optional_rate("--access-rate", self.access_rate),
            mark_packets=threshold_of(self.mark_at, shares),
            paced=self.paced,
            **asdict(self.bounds.asked()),
        )
        return as_in_theory(link) if self._is_as_in_theory() else link

    def _is_as_in_theory(self) -> bool:
        said = {"--control": self.control, "--profile": self.profile}
        for flag, name in said.items():
            if self.as_in_theory and name is not None:
                raise RequestError(
                    f"{flag} {name} and --as-in-theory contradict each other: the rules assume "
                    "Reno of the RFCs with a step of growth per ACK; leave one of the two out"
                )
        return self.as_in_theory


def parse_rtts(what: str, text: str) -> tuple[float, ...]:
    """Returns base round-trip times in s: `40ms`, `20ms,80ms`, or `20ms..534ms` (18 even steps)."""
    spans = _core.parse_spans(what, text)
    return rtt_range(*spans) if isinstance(spans, tuple) else tuple(spans)


def _optional_rate(what: str, text: str | None) -> float | None:
    return None if text is None else float(_core.parse_rate(what, text))


def threshold_of(text: str | None, shares: Shares) -> int | None:
    """Returns the threshold of `65p` in packets, for flows that have one; None without a text.

    Raises:
        RequestError: if the flows have none, or the text is no number of packets.
    """
    if text is None:
        return None
    if not any(name == "dctcp" for name, _ in shares):
        raise RequestError(f"--mark-at {text}: only flows of --control dctcp have this threshold")
    count = text.removesuffix("p")
    if not (text.endswith("p") and count.isascii() and count.isdecimal() and int(count) > 0):
        raise RequestError(f"--mark-at {text}: write packets, as in --mark-at 65p")
    return int(count)
