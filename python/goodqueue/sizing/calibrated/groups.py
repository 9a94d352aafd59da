"""Dimensionless groups of a link with a buffer, and the published forms that are corrected.

Each function takes buffers of B packets as an array and returns an array of the same length.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from goodqueue.sizing.throughput import cubic_overflow_loss_rate, reno_friendly_loss_rate
from goodqueue.sizing.trials.described import (
    MOST_REMOTE,
    MOST_WINDOW_LIMITED,
    REMOTE_SHARE,
    WINDOW_SHARE,
    flows_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goodqueue.sizing.link import Link

    Floats = NDArray[np.float64]

GROUPS = (
    "packets per flow on the path",
    "flows",
    "buffer over bandwidth-delay product",
    "packets per flow with the queue full",
    "buffer in packets",
    "buffer per flow",
    "round trip with the queue full over CUBIC's K",
    "base round trip over 200 ms",
    "round trip with the queue full over 200 ms",
    "longest over shortest round trip",
    "packets per loss epoch",
    "flows beside the long ones, and one",
    "share of the long flows",
    "share of short transfers",
    "paced",
    "Linux profile",
    "CUBIC",
    "windows grow by bytes",
)
"""Columns of `groups`: logarithms first, then shares; the last four are 0 or 1."""

LOGARITHMS = 12

LEAST_TIMEOUT_S = 0.2
"""Linux's smallest retransmission timeout in seconds, which matters if windows are too small for
fast retransmit."""

IDLE_FLOOR = 5e-4
LOSS_FLOOR = 3e-5
"""Value added to a share before its logarithm is taken, so that shares far below it are not
distinguished.
"""

CUBIC_TO_LOSS = 0.75
"""K = cbrt(0.75 W) s, RFC 9438 equation 2 with 0.7 and 0.4."""

UNPACED_BURST, PACED_BURST = 2.0, 0.5
"""Packets that arrive at once: pairs with delayed ACKs, less than one with pacing."""


def groups(link: Link, packets: Floats) -> Floats:
    """Returns the groups of one link at each buffer, shape (buffers, groups)."""
    flows = float(link.flows)
    path = link.local_bdp_packets / flows
    window = path + packets / flows
    rtt = link.mean_rtt_s + packets * link.packet_time_s
    cubic = link.congestion_control == "cubic"
    to_loss = np.cbrt(CUBIC_TO_LOSS * window)
    fixed = np.ones_like(packets)
    beside, short = other_traffic(link)
    columns = (
        np.log(path) * fixed,
        math.log(flows) * fixed,
        np.log(packets / link.local_bdp_packets),
        np.log(window),
        np.log(packets),
        np.log(packets / flows),
        np.log(rtt / to_loss) if cubic else 0 * fixed,
        math.log(link.mean_rtt_s / LEAST_TIMEOUT_S) * fixed,
        np.log(rtt / LEAST_TIMEOUT_S),
        math.log(max(link.rtts_s) / min(link.rtts_s)) * fixed,
        np.log(epoch_packets(link, packets)),
        math.log1p(beside) * fixed,
        link.local_share * fixed,
        short * fixed,
        float(link.paced) * fixed,
        float(link.profile == "linux") * fixed,
        float(cubic) * fixed,
        float(link.byte_counting) * fixed,
    )
    return np.stack(columns, axis=1)


def epoch_packets(link: Link, packets: Floats) -> Floats:
    """Returns the packets that the link sends between two losses of one flow: the cost of a run."""
    window = np.maximum((link.local_bdp_packets + packets) / link.flows, 2.0)
    rtt = link.mean_rtt_s + packets * link.packet_time_s
    epoch = window / 2 * (1 if link.byte_counting else 2) * rtt
    if link.congestion_control == "cubic":
        epoch = np.minimum(epoch, np.cbrt(CUBIC_TO_LOSS * window))
    found: Floats = np.maximum(epoch, rtt) / link.packet_time_s
    return found


def other_traffic(link: Link) -> tuple[int, float]:
    """Returns the number of flows limited elsewhere, and the share of short transfers."""
    rest = 1 - link.local_share
    remote = flows_of(REMOTE_SHARE * rest * link.rate_bps, link, MOST_REMOTE)
    limited = flows_of(WINDOW_SHARE * rest * link.rate_bps, link, MOST_WINDOW_LIMITED)
    long_lived = (REMOTE_SHARE if remote else 0) + (WINDOW_SHARE if limited else 0)
    return remote + limited, rest * (1 - long_lived)


def idle_form(link: Link, packets: Floats) -> Floats:
    """Returns the idle share of the link, from saw-teeth of N windows out of step and from bursts.

    The first part is Appenzeller, Keslassy and McKeown's bound on the utilisation, erf((3 sqrt 3 /
    2 sqrt 2) B sqrt(N) / (C T + B)), a quarter of its complement: one flow without a buffer leaves
    a quarter idle. The second part is a queue that bursts of b packets move up and down and that
    the loss p pushes up: p / (exp(2 p B / b) - 1), a Brownian motion between two barriers (Harrison
    1985). Without loss it is b/2B.
    """
    reach = 3 * math.sqrt(3) / (2 * math.sqrt(2)) * math.sqrt(link.flows)
    arguments = reach * packets / (link.bdp_packets + packets)
    swing = 0.25 * np.array([math.erfc(argument) for argument in arguments])
    drift = loss_form(link, packets)
    steps = 2 * (packets + 1) / (PACED_BURST if link.paced else UNPACED_BURST)
    burst = drift / np.expm1(np.minimum(drift * steps, 50))
    return np.minimum(swing + burst, 1.0) + IDLE_FLOOR


def loss_form(link: Link, packets: Floats) -> Floats:
    """Returns the loss rate: the square-root law, or CUBIC's estimates; bounded for small windows.

    (18) of Dhamdhere, Jiang and Dovrolis, p = 0.75 / W^2, twice that if windows grow by bytes; for
    CUBIC the larger of the two estimates of `throughput`.
    """
    window = (link.local_bdp_packets + packets) / link.flows
    if link.congestion_control == "cubic":
        rtt = link.mean_rtt_s + packets * link.packet_time_s
        lost = np.array(
            [
                max(reno_friendly_loss_rate(w), cubic_overflow_loss_rate(w, r))
                for w, r in zip(window, rtt, strict=True)
            ]
        )
    else:
        lost = (1.5 if link.byte_counting else 0.75) / window**2
    found: Floats = lost / (1 + 2 * lost) + LOSS_FLOOR
    return found


def forms(link: Link, packets: Floats) -> Floats:
    """Returns the logarithms of the forms: idle share, loss, delay over a full buffer's time."""
    return np.stack(
        (
            np.log(idle_form(link, packets)),
            np.log(loss_form(link, packets)),
            np.zeros_like(packets),
        ),
        axis=1,
    )


def full_delay_s(link: Link, packets: Floats) -> Floats:
    """Returns the seconds to send a full buffer and the packet in transmission."""
    return (packets + 1) * link.packet_time_s
