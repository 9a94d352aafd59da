"""The traffic of a capture as a simulation has it: who sends, from when on, and held back by what.

A `Model` holds what the capture shows and the `Choices` that it leaves open. `passive.scenario`
writes it as a scenario, `passive.fit` chooses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goodqueue.errors import RequestError
from goodqueue.passive.traffic import CONTROLS, EVERY_SEGMENT, LOCAL, MSS, SHORT, forward

if TYPE_CHECKING:
    from goodqueue.passive.analysis import Analysis

MOST_SENDERS = 1000
"""Flows that are simulated one by one, the largest; the rest become short transfers."""

ENDS_EARLY = 0.9
"""A flow that ends before this share of the time until the last one ends was over; one that lasts
is unlimited."""

HEADERS, TIMESTAMPS = 40, 12
"""Bytes of IPv4 and TCP headers, and of the timestamps option."""

LINUX_QUICK_ACKS = 16
"""Segments that Linux acknowledges one by one at the start in any case (`TCP_MAX_QUICKACKS`)."""

LIMITED_SHARE = 0.1
"""A receiver's window that was full for this share of a flow's time is simulated."""

RESTS = 0.002
"""Traffic that is not TCP is simulated from this share of the link's rate on."""


@dataclass(frozen=True, slots=True)
class Sender:
    """A flow of the capture as it is simulated.

    Attributes:
        name: its addresses and ports.
        kind: what limited it: a class of the analysis (docs/traces.md).
        local: whether the link holds it back.
        start_s: when its data began, in seconds since the capture began.
        end_s: when its last data or acknowledgement was seen, likewise.
        lasts: whether it went on to the end of the capture.
        present: whether it was there before the capture began.
        payload_bytes: payload, each byte once.
        rtt_s: base round-trip time in seconds.
        control: congestion control; None where it cannot be told.
        mss: largest payload of a segment, bytes.
        timestamps: whether its segments carry the timestamps option.
        window_bytes: what may be in flight, if something other than the link limits it.
        opening_acks: segments at the start that were acknowledged one by one.
        ack_every: segments per acknowledgement after that: 1 or 2.
        slow_start_bytes: in flight when slow start ended; None if a loss ended it or nothing did.
        lost: packets that the link dropped.
    """

    name: str
    kind: str
    local: bool
    start_s: float
    end_s: float
    lasts: bool
    present: bool
    payload_bytes: int
    rtt_s: float
    control: str | None
    mss: int
    timestamps: bool
    window_bytes: int | None
    opening_acks: int
    ack_every: int
    slow_start_bytes: int | None
    lost: int

    @property
    def payload_bps(self) -> float:
        """Payload bits per second while the flow was there."""
        return 8 * self.payload_bytes / max(self.end_s - self.start_s, 1e-3)

    @property
    def slow_start_packets(self) -> int | None:
        """Segments in flight when slow start ended; None if a loss ended it or nothing did."""
        if self.slow_start_bytes is None:
            return None
        return max(round(self.slow_start_bytes / self.mss), 2)


@dataclass(frozen=True, slots=True)
class Short:
    """All short flows together.

    Attributes:
        flows: how many.
        payload_bytes: payload of all.
        rtt_s: their median base round-trip time.
    """

    flows: int
    payload_bytes: int
    rtt_s: float


@dataclass(frozen=True, slots=True)
class Choices:
    """What a capture leaves open.

    Attributes:
        profile: the profile of TCP (docs/tcp-profiles.md).
        starts: `seen` where slow start ends as it did in the capture; `profile` where the simulated
            congestion control decides.
        unknown: congestion control of flows that do not tell theirs.
        byte_counting: whether windows grow by the bytes that are acknowledged (RFC 3465); if not,
            by a step for each acknowledgement.
    """

    profile: str = "linux"
    starts: str = "seen"
    unknown: str = "cubic"
    byte_counting: bool = True


@dataclass(frozen=True, slots=True)
class Model:
    """A link and its traffic.

    Attributes:
        rate_bps: the link's rate by frames as captured.
        framing_bytes: what a frame has beyond the IP packet.
        frame_bytes: a full frame.
        limit_packets: full frames that the queue holds; None where the capture does not show it.
        limit_low_s: a tenth of the drops came at a shorter wait; None likewise.
        limit_high_s: a tenth of the drops came at a longer wait; None likewise.
        aqm: whether the queue drops before it is full.
        senders: flows that are simulated one by one, largest first.
        short: the others; None if there are none.
        other_bps: traffic over the link that is not TCP, in IP bits per second.
        span_s: length of the capture in seconds.
        window_s: how much of it is compared, from its beginning: until the first of the flows that
            last ends.
        choices: what the capture leaves open.
    """

    rate_bps: float
    framing_bytes: int
    frame_bytes: int
    limit_packets: int | None
    limit_low_s: float | None
    limit_high_s: float | None
    aqm: bool
    senders: tuple[Sender, ...]
    short: Short | None
    other_bps: float
    span_s: float
    window_s: float
    choices: Choices

    @property
    def local(self) -> tuple[Sender, ...]:
        """The senders that the link holds back."""
        return tuple(sender for sender in self.senders if sender.local)

    @property
    def packet_time_s(self) -> float:
        """Seconds that a full frame takes."""
        return 8 * self.frame_bytes / self.rate_bps


def model_of(analysis: Analysis, choices: Choices = Choices()) -> Model:
    """The model of a capture.

    Raises:
        RequestError: if the capture does not show the link's rate, or has no flow over it.
    """
    flows = forward(analysis)
    if flows.is_empty():
        raise RequestError("the capture shows no TCP data over the link, so there is no scenario")
    link, span_s = analysis.summary["link"], analysis.summary["duration_s"]
    if link["rate_bps"] is None:
        raise RequestError("the capture does not tell the link's rate; say it with --link")
    if not span_s:
        raise RequestError("the capture holds one moment, which is too little for a scenario")
    long = flows.filter(~SHORT)
    rest = pl.concat([flows.filter(SHORT), long[MOST_SENDERS:]])
    last_s = max((flow["start_s"] + flow["duration_s"] for flow in long.to_dicts()), default=span_s)
    senders = _senders(long.head(MOST_SENDERS), last_s)
    framing = round(link["framing_bytes"] or 0)
    frame = framing + _packet(senders)
    buffer = link["buffer"]
    low_s, high_s = (None, None) if buffer is None else buffer["interval_s"]
    ends = [sender.end_s for sender in senders if sender.lasts]
    return Model(
        rate_bps=link["rate_bps"],
        framing_bytes=framing,
        frame_bytes=frame,
        limit_packets=None if buffer is None else _limit(buffer["s"], link["rate_bps"], frame),
        limit_low_s=low_s,
        limit_high_s=high_s,
        aqm=link["queue_kind"] == "aqm",
        senders=senders,
        short=_short(rest),
        other_bps=_other_bps(link, flows, span_s),
        span_s=span_s,
        window_s=min([span_s, *ends]),
        choices=choices,
    )


def _packet(senders: tuple[Sender, ...]) -> int:
    """Bytes of the IP packet of a full segment, by the largest flow."""
    if not senders:
        return MSS + HEADERS + TIMESTAMPS
    return senders[0].mss + HEADERS + (TIMESTAMPS if senders[0].timestamps else 0)


def _limit(full_s: float, rate_bps: float, frame_bytes: int) -> int:
    """Full frames that may wait beside the one being sent.

    The last frame that found room waited for all but itself, and for what was left of the
    transmission under way: half of one in the median.
    """
    return max(round(full_s * rate_bps / (8 * frame_bytes) + 0.5), 1)


def _senders(flows: pl.DataFrame, last_s: float) -> tuple[Sender, ...]:
    local = flows.select(LOCAL.alias("local"))["local"].to_list()
    rows = zip(flows.iter_rows(named=True), local, strict=True)
    return tuple(_sender(flow, last_s, local=is_local) for flow, is_local in rows)


def _sender(flow: dict[str, Any], last_s: float, *, local: bool) -> Sender:
    end_s, mss = flow["start_s"] + flow["duration_s"], flow["mss_bytes"] or MSS
    per_ack, control = flow["segments_per_ack"], flow["congestion_control"]
    return Sender(
        name=flow["name"],
        kind=flow["class"],
        local=local,
        start_s=flow["start_s"],
        end_s=end_s,
        lasts=end_s > ENDS_EARLY * last_s,
        present=flow["rtt_handshake_s"] is None,
        payload_bytes=flow["bytes"],
        rtt_s=flow["rtt_s"] or flow["rtt_min_s"] or 0.05,
        control=control if control in CONTROLS else None,
        mss=mss,
        timestamps=flow["rtt_timestamps_s"] is not None,
        window_bytes=_window(flow, mss, local=local),
        opening_acks=flow["opening_acks"],
        ack_every=1 if per_ack is not None and per_ack < EVERY_SEGMENT else 2,
        slow_start_bytes=flow["slow_start_bytes"],
        lost=flow["lost_target"] or 0,
    )


def _window(flow: dict[str, Any], mss: int, *, local: bool) -> int | None:
    """The window that lets a flow have what it had, in bytes; None if it is not known."""
    largest: int | None = flow["max_window_bytes"]
    if flow["receiver_limited"] >= LIMITED_SHARE and largest:
        return max(largest, mss)
    if local or flow["class"] == "application":
        return None
    flight = flow["mean_flight_bytes"]
    return None if flight is None else max(round(flight), mss)


def _short(flows: pl.DataFrame) -> Short | None:
    if flows.is_empty():
        return None
    rtts = flows["rtt_s"].drop_nulls().sort().to_list() or [0.05]
    return Short(flows.height, sum(flows["bytes"].to_list()), rtts[len(rtts) // 2])


def _other_bps(link: dict[str, Any], flows: pl.DataFrame, span_s: float) -> float:
    """Bits per second that passed the link and are no data of TCP; 0 where they are few."""
    framing = link["framing_bytes"] or 0
    headers = framing + HEADERS + TIMESTAMPS
    packets, payload = sum(flows["packets"].to_list()), sum(flows["bytes"].to_list())
    ours = 8 * (payload + headers * packets) / span_s
    rest = link["throughput_bps"] - ours
    return rest if rest > RESTS * link["rate_bps"] else 0.0
