"""Rows of numbers that the core returns for each step, and the names of their fields."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple


class FlowRow(NamedTuple):
    """Sums over an interval of a flow. Byte counts are of payload.

    Attributes:
        ended: 1 if the run has ended, and the other numbers are 0.
        flow: number of the flow within its group.
        now_s: time of the ACK that ended the interval, in seconds.
        length_s: length of the interval, in seconds.
        delivered: bytes that ACKs showed to be delivered.
        lost: bytes that the sender considered lost.
        sent: bytes that were sent, new ones and retransmissions.
        in_flight: bytes in flight at the end.
        mean_rtt_s: mean of the round-trip times, in seconds; NaN without one.
        min_rtt_s: smallest of them, in seconds; NaN without one.
        base_rtt_s: smallest one of the connection so far, in seconds; NaN without one.
        smoothed_rtt_s: smoothed round-trip time, in seconds; NaN without one.
        rtt_gradient: change of the round-trip time over time, without unit.
        loss_events: number of loss events.
        timeouts: number of retransmission timeouts.
        acks: number of ACKs.
        window: congestion window, in bytes.
        rate_bps: pacing rate, in bits per second; 0 without pacing.
    """

    ended: float
    flow: float
    now_s: float
    length_s: float
    delivered: float
    lost: float
    sent: float
    in_flight: float
    mean_rtt_s: float
    min_rtt_s: float
    base_rtt_s: float
    smoothed_rtt_s: float
    rtt_gradient: float
    loss_events: float
    timeouts: float
    acks: float
    window: float
    rate_bps: float


class QueueRow(NamedTuple):
    """Counts of a queue over a step.

    Attributes:
        ended: 1 if the run has ended.
        now_s: end of the step, in seconds.
        arrived: packets that arrived.
        sent: packets that left for the link.
        sent_bytes: bytes of these packets with framing.
        dropped: packets that the probability dropped.
        overflowed: packets that found the queue full.
        marked: packets that the probability marked.
        mean_delay_s: mean sojourn time of the packets that left, in seconds.
        longest_delay_s: longest of these sojourn times, in seconds.
        backlog: packets that wait at the end.
        backlog_bytes: bytes that wait at the end.
    """

    ended: float
    now_s: float
    arrived: float
    sent: float
    sent_bytes: float
    dropped: float
    overflowed: float
    marked: float
    mean_delay_s: float
    longest_delay_s: float
    backlog: float
    backlog_bytes: float


FLOW = Struct(f"<{len(FlowRow._fields)}d")
QUEUE = Struct(f"<{len(QueueRow._fields)}d")
