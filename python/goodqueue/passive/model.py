"""Model of a capture's traffic for a simulation: senders, their start times, and their limits.

A `Model` holds the properties that the capture shows, and the `Choices` for those that it does not
show. `passive.scenario` writes it as a scenario, and `passive.fit` makes the choices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.core.polars import pl
from goodqueue.errors import RequestError
from goodqueue.passive.traffic import CONTROLS, EVERY_SEGMENT, LOCAL, MSS, SHORT, forward

if TYPE_CHECKING:
    from goodqueue.passive.analysis import Analysis

MAX_SENDERS = 1000
"""Largest number of flows that are simulated individually; the rest become short transfers."""

ENDS_EARLY = 0.9
"""A flow ended within the capture if it ends before this share of the time until the last flow
ends. Flows that end later are simulated without end."""

HEADERS, TIMESTAMPS = 40, 12
"""Bytes of IPv4 and TCP headers, and of the timestamps option."""

LINUX_QUICK_ACKS = 16
"""Number of first segments that Linux always acknowledges one by one (`TCP_MAX_QUICKACKS`)."""

LIMITED_SHARE = 0.1
"""Share of a flow's time from which on a full receiver's window is simulated."""

RESTS = 0.002
"""Share of the link's rate from which on traffic other than TCP is simulated."""


@dataclass(frozen=True, slots=True)
class Sender:
    """A flow of the capture as it is simulated.

    Attributes:
        name: its addresses and ports.
        kind: its limiting factor: a class of the analysis (docs/traces.md).
        local: True if the link limits it.
        start_s: time of its first data, in seconds since the capture began.
        end_s: time of its last data or acknowledgement, likewise.
        lasts: True if it continued to the end of the capture.
        present: True if it began before the capture.
        payload_bytes: payload without repetitions.
        rtt_s: base round-trip time in seconds.
        control: congestion control; None if unknown.
        mss: largest payload of a segment, bytes.
        timestamps: True if its segments carry the timestamps option.
        window_bytes: largest number of bytes in flight, if something other than the link limits it.
        opening_acks: number of first segments that were acknowledged one by one.
        ack_every: segments per acknowledgement after that: 1 or 2.
        slow_start_bytes: bytes in flight when slow start ended; None if a loss ended it, or if it
            did not end.
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
        """Payload bits per second during the flow."""
        return 8 * self.payload_bytes / max(self.end_s - self.start_s, 1e-3)

    @property
    def slow_start_packets(self) -> int | None:
        """Segments in flight when slow start ended; None if a loss or nothing ended it."""
        if self.slow_start_bytes is None:
            return None
        return max(round(self.slow_start_bytes / self.mss), 2)


@dataclass(frozen=True, slots=True)
class Short:
    """All short flows together.

    Attributes:
        flows: number of flows.
        payload_bytes: payload of all flows.
        rtt_s: their median base round-trip time.
    """

    flows: int
    payload_bytes: int
    rtt_s: float


@dataclass(frozen=True, slots=True)
class Choices:
    """Properties that a capture does not show.

    Attributes:
        profile: TCP profile (docs/tcp-profiles.md).
        starts: `seen` if slow start ends as in the capture; `profile` if the simulated congestion
            control ends it.
        unknown: congestion control of flows whose control is unknown.
        byte_counting: True if windows grow by the bytes acknowledged (RFC 3465), False if they grow
            by one step per ACK.
    """

    profile: str = "linux"
    starts: str = "seen"
    unknown: str = "cubic"
    byte_counting: bool = True


@dataclass(frozen=True, slots=True)
class Model:
    """A link and its traffic.

    Attributes:
        rate_bps: the link's rate, in bits per second of frames as captured.
        framing_bytes: bytes of a frame beyond the IP packet.
        frame_bytes: bytes of a full frame.
        limit_packets: queue limit in full frames; None if the capture does not show it.
        limit_low_s: wait below which a tenth of the drops occurred; None if unknown.
        limit_high_s: wait above which a tenth of the drops occurred; None if unknown.
        aqm: True if the queue drops before it is full.
        senders: flows that are simulated individually, largest first.
        short: the other flows; None if there are none.
        other_bps: traffic over the link other than TCP, in IP bits per second.
        span_s: length of the capture in seconds.
        window_s: seconds of the capture, from its beginning, that are compared with the model:
            until the first of the lasting flows ends.
        choices: assumed values of properties that the capture does not show.
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
        """Senders that the link limits."""
        return tuple(sender for sender in self.senders if sender.local)

    @property
    def packet_time_s(self) -> float:
        """Transmission time of a full frame, in seconds."""
        return 8 * self.frame_bytes / self.rate_bps


def model_of(analysis: Analysis, choices: Choices = Choices()) -> Model:
    """Returns the model of a capture.

    Raises:
        RequestError: if the capture does not show the link's rate, or has no flow over it.
    """
    flows = forward(analysis)
    if flows.is_empty():
        raise RequestError("the capture shows no TCP data over the link, so there is no scenario")
    link, span_s = analysis.summary["link"], analysis.summary["duration_s"]
    if link["rate_bps"] is None:
        raise RequestError("the capture does not show the link's rate; give it with --link")
    if not span_s:
        raise RequestError(
            "all packets of the capture have the same time, which is too short for a scenario"
        )
    long = flows.filter(~SHORT)
    rest = pl.concat([flows.filter(SHORT), long[MAX_SENDERS:]])
    last_s = max((flow["start_s"] + flow["duration_s"] for flow in long.to_dicts()), default=span_s)
    senders = _senders(long.head(MAX_SENDERS), last_s)
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
    """Returns the bytes of the IP packet of a full segment of the largest flow."""
    if not senders:
        return MSS + HEADERS + TIMESTAMPS
    return senders[0].mss + HEADERS + (TIMESTAMPS if senders[0].timestamps else 0)


def _limit(full_s: float, rate_bps: float, frame_bytes: int) -> int:
    """Returns the number of full frames that can wait beside the one in transmission.

    The last frame that was accepted waited for all other frames, and for the rest of the
    transmission in progress, which is half a frame in the median.
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
    """Returns the window in bytes that gives a flow its captured rate; None if it is unknown."""
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
    """Returns the bits per second on the link other than TCP data; 0 if they are few."""
    framing = link["framing_bytes"] or 0
    headers = framing + HEADERS + TIMESTAMPS
    packets, payload = sum(flows["packets"].to_list()), sum(flows["bytes"].to_list())
    ours = 8 * (payload + headers * packets) / span_s
    rest = link["throughput_bps"] - ours
    return rest if rest > RESTS * link["rate_bps"] else 0.0
