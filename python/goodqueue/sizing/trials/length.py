"""The length of a replicate of a described link, and the windows at which its flows start.

Long flows start near their stationary windows, each at some time between two losses. Their windows
at these losses together nearly fill link and buffer (`peak_windows`). Flows therefore need no
start-up of many loss epochs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from goodqueue._core import cubic_epoch_s, linear_epoch_s
from goodqueue.sizing.controls import DECREASE, NEED_MARKS

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

EPOCHS = 20
"""Smallest number of loss epochs of a replicate after its start-up, if flows are few."""

MAX_FLOWS_OF_ALL_EPOCHS = 30
"""Number of flows up to which a replicate has `EPOCHS`. The mean of more flows fluctuates less, so
that their replicates contain fewer epochs, in proportion to the root of their number."""

EPOCHS_OF_MANY = 6
"""Smallest number of loss epochs of a replicate with many flows."""

COLD_EPOCHS = 5
"""Loss epochs in which flows that start with a small window reach their shares; not measured."""

WARM_EPOCHS = 1
"""Loss epochs of the start-up of flows that start near their stationary windows, in epochs of the
flow with the longest round trip. During the first losses flows reach their usual degree of
synchronisation."""

WARM_ROUNDS = 30
"""Smallest start-up in units of the longest round trip with a full queue. Epochs of small windows
are short, and flows need several round trips to form their usual bursts."""

OPENING_ROUNDS = 3
"""Duration in which all flows start, complete the handshake and send a first window, in units of
the longest round trip with a full queue."""

MEAN_WINDOW = {"reno": 0.75, "cubic": 0.925, "abe": 0.75, "scalable": 0.936}
"""Mean of a saw-tooth over one loss epoch, as a share of its peak; k is the share kept on a loss.
Reno and ABE grow linearly: (1 + k)/2. CUBIC is 1 - 0.3 (1 - u)^3: 1 - 0.3/4. Scalable TCP grows
exponentially: (1 - k)/log(1/k)."""

PEAK_SPREAD = {"reno": 0.6, "cubic": 0.5, "abe": 0.6, "scalable": 0.3}
"""Largest relative deviation of the window at a flow's last loss, if many flows share the link. If
a window loses the share b of itself at random losses, its variance is about b/4 of its mean squared
(a line through the mean; 1/6 exactly for b = 1/2). The saw-tooth itself contributes b^2/12 of its
peak squared. A uniform distribution of the peaks within this deviation contributes the rest."""

CUBIC_RTT_EXPONENT = 0.375
"""Exponent of the round-trip time in a CUBIC window that shares a link and is not in the
Reno-friendly region. It is 3/4 for random losses (RFC 9438, section 5.2), and 0 if all flows lose
at once, because they then grow for the same time. Half of 3/4 is used. If loss alone determines a
window (Reno, Scalable TCP) the exponent is 0."""

MIN_MEASURED_S = 10.0
"""Smallest measured part of a replicate in seconds, unless `MIN_ROUNDS` are shorter."""

MIN_ROUNDS = 1000
"""Round trips with a full queue that suffice where they are shorter than `MIN_MEASURED_S`."""

SHORTEST_S = 0.5
"""Smallest measured part of a replicate in seconds: more than two retransmission timeouts of
200 ms, during which a flow may be silent. DCTCP needs none behind a buffer that suffices."""

LONGEST_S = 1e6
"""Longest scenario in seconds. One Reno flow behind eight bandwidth-delay products of 10 Gb/s and
100 ms loses once in a week."""

MIN_EPOCHS = 5
"""Smallest number of loss epochs after the start-up, even if the budget is too small."""

VERY_FEW_FLOWS, EPOCHS_OF_FEW = 4, 10
"""Number of flows up to which a replicate has at least this many loss epochs. In shorter ones the
buffer of three CUBIC flows was a third too large, because they still remembered their starts."""

MANY_ROUNDS = 100
"""Flows per round-trip time of the link from which on all flows take the list's times in turn. The
flows beyond whole turns then shift the mean by less than 0.5 %."""

SCALABLE_ROUNDS = 13.4
"""Round trips in which Scalable TCP regains any window: log(0.875)/log(1.01)."""

RATE_EPOCHS_S = {"bbr": 10.0, "bbr3": 5.0}
"""Seconds between BBR's measurements of the base RTT, its longest cycle."""

ROUNDS_OF_MARKS = 100
"""Round trips that count as an epoch of controls that follow marks. The start-up of five epochs
then contains the 500 round trips after which Prague reduces its dependence on the round trip."""


@dataclass(frozen=True, slots=True)
class Length:
    """Length of a replicate.

    Attributes:
        start_up_s: seconds before measurements begin.
        duration_s: seconds in all.
        packets: full packets that the link sends in that time.
        warm: True if long flows start near their stationary windows.
    """

    start_up_s: float
    duration_s: float
    packets: float
    warm: bool


@dataclass(frozen=True, slots=True)
class Extent:
    """Factors on the expected length of a replicate.

    Attributes:
        stretch: measured length of loss epochs over their expected length.
        share: share of the full measured part that the time budget allows; above 1 for longer
            ones.
    """

    stretch: float = 1.0
    share: float = 1.0


WHOLE = Extent()


def epoch_s(link: Link, packets: float) -> float:
    """Returns the seconds between losses of one flow with this buffer."""
    if link.controls:  # the longest epoch of its controls
        return max(epoch_s(part, packets) for part in link.parts())
    rtt = link.mean_rtt_s + link.seconds(packets)
    if link.congestion_control in RATE_EPOCHS_S:
        return max(RATE_EPOCHS_S[link.congestion_control], rtt)
    if link.congestion_control in NEED_MARKS:
        return ROUNDS_OF_MARKS * link.mean_rtt_s  # its queue stays short
    linear = _linear_epoch_s(link, packets)
    if link.congestion_control == "cubic":
        return max(min(linear, cubic_epoch_s(_window(link, packets))), rtt)
    if link.congestion_control == "scalable":
        return max(min(linear, SCALABLE_ROUNDS * rtt), rtt)
    return max(linear, rtt)


def _window(link: Link, packets: float) -> float:
    """Returns the packets of one flow that link and buffer hold."""
    return max((link.local_bdp_packets + packets) / link.flows, 2.0)


def _linear_epoch_s(link: Link, packets: float) -> float:
    """Returns the loss epoch of a window that grows by one or half a packet per round trip.

    In the Reno-friendly region CUBIC takes as long as Reno (RFC 9438, section 4.3).
    """
    control = "reno" if link.congestion_control == "cubic" else link.congestion_control
    rtt = link.mean_rtt_s + link.seconds(packets)
    every = 1 if link.grows_fast else 2
    return linear_epoch_s(_window(link, packets), rtt, 1 - DECREASE[control], every)


def length(link: Link, packets: float, extent: Extent = WHOLE, *, cold: bool = False) -> Length:
    """Returns the length for enough loss epochs of every flow after its start-up, if time allows.

    Args:
        link: the link.
        packets: its buffer.
        extent: factors on the expected length.
        cold: True if flows start with a small window. They always do if no law of their windows is
            known (BBR, Prague), or if there are several controls.
    """
    warm = not cold and not link.controls and link.congestion_control in MEAN_WINDOW
    epoch, share = extent.stretch * epoch_s(link, packets), extent.share
    start_up = max(COLD_EPOCHS * epoch, 10 * max(link.rtts_s))
    if warm:
        start_up = _warm_start_s(link, packets, epoch)
    shortest_s = 0.0 if link.congestion_control == "dctcp" else SHORTEST_S
    usual_s = min(MIN_MEASURED_S, max(MIN_ROUNDS * _longest_s(link, packets), shortest_s))
    least_s = min(max(usual_s * share, 10 * max(link.rtts_s)), MIN_MEASURED_S * max(share, 1.0))
    fewest = EPOCHS_OF_FEW if link.flows <= VERY_FEW_FLOWS else MIN_EPOCHS
    measured = max(max(epochs_of(link) * share, fewest) * epoch, least_s)
    if warm:
        measured = max(measured, start_up)  # otherwise most of a replicate would be start-up
    start_up = min(start_up, LONGEST_S / 4)
    duration = min(start_up + measured, LONGEST_S)
    return Length(start_up, duration, duration / link.packet_time_s, warm)


def epochs_of(link: Link) -> float:
    """Returns the smallest number of loss epochs of a full replicate after its start-up."""
    many = EPOCHS * math.sqrt(MAX_FLOWS_OF_ALL_EPOCHS / max(link.flows, MAX_FLOWS_OF_ALL_EPOCHS))
    return max(many, EPOCHS_OF_MANY)


def _longest_s(link: Link, packets: float) -> float:
    """Returns the longest round trip with a full queue, in seconds."""
    return max(link.rtts_s) + link.seconds(packets)


def _warm_start_s(link: Link, packets: float, epoch: float) -> float:
    """Returns the start-up of flows that start near their stationary windows, in seconds."""
    full = _longest_s(link, packets)
    slowest = epoch * full / (link.mean_rtt_s + link.seconds(packets))
    return OPENING_ROUNDS * full + max(WARM_EPOCHS * slowest, WARM_ROUNDS * full)


def peak_windows(link: Link, packets: float) -> tuple[float, ...]:
    """Returns the long flows' windows at their last losses, in the order of `rtts_of_flows`.

    One flow fills link and buffer at its peak. The sum of many windows out of step with one another
    stays near its mean. Its distance from the capacity of link and buffer is the mean distance of
    one saw-tooth from its peak, divided by the square root of the number of flows.
    """
    rtts = rtts_of_flows(link)
    full = [rtt + link.seconds(packets) for rtt in rtts]
    exponent = _rtt_exponent(link, packets)
    shares = [rtt**exponent for rtt in full]
    rate = link.local_rate_bps / (8 * link.frame_bytes)
    rates = math.fsum(share / rtt for share, rtt in zip(shares, full, strict=True))
    mean = MEAN_WINDOW[link.congestion_control]
    of_flow = rate * len(rtts) / link.flows / rates / (mean + (1 - mean) / math.sqrt(link.flows))
    access = (link.access_rate_bps or math.inf) / (8 * link.frame_bytes)
    most = link.max_window_packets or math.inf
    return tuple(
        min(of_flow * share, access * rtt, most) for share, rtt in zip(shares, full, strict=True)
    )


def _rtt_exponent(link: Link, packets: float) -> float:
    if link.congestion_control != "cubic":
        return 0.0
    by_curve = cubic_epoch_s(_window(link, packets)) < _linear_epoch_s(link, packets)
    return CUBIC_RTT_EXPONENT if by_curve else 0.0


def rtts_of_flows(link: Link) -> tuple[float, ...]:
    """Returns the base round-trip times of long flows, in turn, with (nearly) the link's mean.

    Flows beyond whole rounds, or all if there are fewer flows than round-trip times, represent
    equal parts of the list: each has the mean of its part. After many rounds the remaining flows
    hardly affect the mean, and take the first times of the list.
    """
    steps = len(link.rtts_s)
    rounds, left = divmod(link.flows, steps)
    if rounds >= MANY_ROUNDS:
        return link.rtts_s
    bounds = [part * steps // left for part in range(left + 1)] if left else []
    parts = tuple(fmean(link.rtts_s[first:last]) for first, last in pairwise(bounds))
    return link.rtts_s * rounds + parts if parts else link.rtts_s
