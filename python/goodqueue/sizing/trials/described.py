"""Simulation of a described `Link`: its scenario, and the length of a replicate.

The traffic is that of Dhamdhere, Jiang and Dovrolis (INFOCOM 2005). There are long flows that this
link limits. If the local share is below 1, there are also flows that a slower link before this one
limits (40 % of the rest), flows that their windows limit (40 %), and short transfers of 14 packets
on average (20 %). Their TCP is the link's: CUBIC of Linux by default.

Long flows start near their stationary windows: each somewhere between two losses, at windows that
nearly fill link and buffer together (`peak_windows`). So they need no start-up of many loss epochs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.sizing.export import exports
from goodqueue.sizing.link import DECREASE, as_hosts_are, as_in_theory
from goodqueue.sizing.throughput import cubic_epoch_s, linear_epoch_s
from goodqueue.sizing.trials.meter import Meter

if TYPE_CHECKING:
    from goodqueue.sizing.export import Export
    from goodqueue.sizing.link import Link

LINK = "bottleneck"
"""Name of the link that is sized."""

LONG = "long"
"""Name of the group of flows that the link limits."""

EPOCHS = 20
"""Smallest number of loss epochs of a replicate after its start-up."""

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
"""Number of these round trips in which all flows start, complete the handshake and send a first
window."""

MEAN_WINDOW = {"reno": 0.75, "cubic": 0.925, "abe": 0.925, "scalable": 0.936}
"""Mean of a saw-tooth over one loss epoch, as a share of its peak; k is the share kept on a loss.
Reno and ABE grow linearly: (1 + k)/2. CUBIC is 1 - 0.3 (1 - u)^3: 1 - 0.3/4. Scalable TCP grows
exponentially: (1 - k)/log(1/k)."""

PEAK_SPREAD = {"reno": 0.6, "cubic": 0.5, "abe": 0.3, "scalable": 0.3}
"""Largest relative deviation of the window at a flow's last loss, if many flows share the link. If
a window loses the share b of itself at random losses, its variance is about b/4 of its mean squared
(a line through the mean; 1/6 exactly for b = 1/2). The saw-tooth itself contributes b^2/12 of its
peak squared, and a uniform distribution with these limits the rest."""

CUBIC_RTT_EXPONENT = 0.375
"""Exponent of the round-trip time in a CUBIC window that shares a link and is not in the
Reno-friendly region. It is 3/4 for random losses (RFC 9438, section 5.2), and 0 if all flows lose
at once, because they then grow for the same time. Half of 3/4 is used. If loss alone determines a
window (Reno, Scalable TCP) the exponent is 0."""

LEAST_MEASURED_S = 10.0

LONGEST_S = 1e6
"""Longest scenario in seconds. One Reno flow behind eight bandwidth-delay products of 10 Gb/s and
100 ms loses once in a week."""

LEAST_EPOCHS = 5
"""Smallest number of loss epochs after the start-up, however short the time is."""

REMOTE_SHARE, WINDOW_SHARE, SHORT_SHARE = 0.4, 0.4, 0.2
"""Shares of the kinds of traffic that is not local."""

MOST_REMOTE, MOST_WINDOW_LIMITED = 20, 10
SHORT_PACKETS = 14
ACCESS_FACTOR = 10
"""Ratio of the rate of hosts' links to this link's, unless their rate is given."""

HEADERS = {"linux": 52, "rfc": 40}
"""Bytes of IP and TCP headers, by profile: Linux has timestamps."""

MANY_ROUNDS = 100
"""Number of rounds of round-trip times after which the remaining flows shift the mean by less than
0.5 %. The list is then as long as the link's, and not as long as the number of flows."""

LARGEST_WINDOW = 1 << 30
"""Largest window in bytes (RFC 7323 section 2.3)."""
SCALABLE_ROUNDS = 13.4
"""Round trips in which Scalable TCP regains any window: log(0.875)/log(1.01)."""

BBR_EPOCH_S = 10.0
"""Seconds between BBR's measurements of the base RTT, its longest cycle."""


TCP_CHANGES = {
    "as in theory (Reno, rfc)": as_in_theory,
    "as hosts are (CUBIC, linux)": as_hosts_are,
}
"""TCP of the hosts for a changed link, which shows the sensitivity to the assumed TCP."""


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
        stretch: length of loss epochs as found over their expected length.
        share: share of the full measured part that the time budget allows.
    """

    stretch: float = 1.0
    share: float = 1.0


WHOLE = Extent()


def epoch_s(link: Link, packets: float) -> float:
    """Returns the seconds between losses of one flow with this buffer."""
    rtt = link.mean_rtt_s + link.seconds(packets)
    if link.congestion_control == "bbr":
        return max(BBR_EPOCH_S, rtt)
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
    """Returns the length for 20 loss epochs of every flow after its start-up, if time allows.

    Args:
        link: the link.
        packets: its buffer.
        extent: factors on the expected length.
        cold: True if flows start with a small window. They always do if no law of their windows is
            known (BBR).
    """
    warm = not cold and link.congestion_control in MEAN_WINDOW
    epoch, share = extent.stretch * epoch_s(link, packets), extent.share
    start_up = max(COLD_EPOCHS * epoch, 10 * max(link.rtts_s))
    if warm:
        start_up = _warm_start_s(link, packets, epoch)
    least_s = min(max(LEAST_MEASURED_S * share, 10 * max(link.rtts_s)), LEAST_MEASURED_S)
    measured = max(max(EPOCHS * share, LEAST_EPOCHS) * epoch, least_s)
    if warm:
        measured = max(measured, start_up)  # or most of a replicate would be start-up
    start_up = min(start_up, LONGEST_S / 4)
    duration = min(start_up + measured, LONGEST_S)
    return Length(start_up, duration, duration / link.packet_time_s, warm)


def _warm_start_s(link: Link, packets: float, epoch: float) -> float:
    """Returns the seconds until flows that start near their stationary windows have them."""
    full = max(link.rtts_s) + link.seconds(packets)
    slowest = epoch * full / (link.mean_rtt_s + link.seconds(packets))
    return OPENING_ROUNDS * full + max(WARM_EPOCHS * slowest, WARM_ROUNDS * full)


def peak_windows(link: Link, packets: float) -> tuple[float, ...]:
    """Returns the long flows' windows at their last losses, in the order of `rtts_of_flows`.

    One flow fills link and buffer at its peak. The sum of many windows out of step with one another
    stays near its mean. It falls short of link and buffer by the mean shortfall of one saw-tooth,
    over the root of their number.
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


class LinkTrial:
    """Trial of a described link with the traffic above, as long as its losses require."""

    name = LINK
    elastic = True

    def scenario(
        self, link: Link, packets: int, queue: str | None = None, extent: Extent = WHOLE
    ) -> _core.Scenario:
        """Returns a replicate with this limit, or with another queue with its defaults."""
        if queue is None:
            waits, table = float(packets), f'{{ limit = "{packets}p" }}'
        else:  # as if half a BDP waited
            waits, table = link.bdp_packets / 2, f'{{ kind = "{queue}" }}'
        text = scenario_toml(link, waits, table, length(link, waits, extent))
        return _core.Scenario.parse(text.encode(), "the link", [])

    def meter(self, link: Link) -> Meter:
        """Returns the meter of a run."""
        return Meter(LINK, {LONG: link.flows})

    def others(self, link: Link) -> dict[str, Link]:
        """Returns links with other TCP, fewer flows, and longer round trips."""
        others = {
            **{what: change(link) for what, change in TCP_CHANGES.items()},
            "flows / 4": replace(link, flows=max(link.flows // 4, 1)),
            "RTT x 2": replace(link, rtts_s=tuple(2 * rtt for rtt in link.rtts_s)),
        }
        return {what: other for what, other in others.items() if other != link}

    def exports(self, link: Link, packets: int) -> tuple[Export, ...]:
        """Returns the buffer as lines to paste into devices."""
        return exports(packets, link.packet_bytes, link.rate_bps)


def scenario_toml(link: Link, packets: float, queue: str, reach: Length) -> str:
    """Returns the scenario as text.

    Args:
        link: the link and its traffic.
        packets: packets that are expected to wait when the queue is full.
        queue: the TOML table of the queue before the link.
        reach: length of the run.
    """
    rest = (1 - link.local_share) * link.rate_bps
    remote_rate = REMOTE_SHARE * rest
    remote = flows_of(remote_rate, link, MOST_REMOTE)
    limited_rate = WINDOW_SHARE * rest
    limited = flows_of(limited_rate, link, MOST_WINDOW_LIMITED)
    # Rates below the window of one flow are added to the short transfers.
    short_rate = rest - (remote_rate if remote else 0) - (limited_rate if limited else 0)
    # Remote flows cross one additional link, which is then the first.
    here = int(remote > 0)
    jitter = reach.start_up_s / 2
    mean = _places((link.mean_rtt_s,), jitter)
    parts = [
        _head(link, reach, queue, remote_rate if remote else None),
        _flow(LONG, link.flows, here, _long_places(link, packets, reach), _long_tcp(reach)),
    ]
    if remote:
        parts.append(_flow("remote", remote, 0, mean, "{ }"))
    if limited:
        window = limited_rate * link.mean_rtt_s / 8 / limited
        tcp = f'{{ receive_window = "{max(math.ceil(window), link.packet_bytes)}B" }}'
        parts.append(_flow("window-limited", limited, here, mean, tcp))
    if short_rate > 0:
        parts.append(_short(link, short_rate, here))
    return "\n".join(parts)


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


def flows_of(rate_bps: float, link: Link, most: int) -> int:
    """Returns the number of flows that share a rate with windows of at least four packets."""
    window = rate_bps * link.mean_rtt_s / (8 * link.frame_bytes)
    return min(most, int(window / 4))


def _head(link: Link, reach: Length, queue: str, remote_rate: float | None) -> str:
    rate = f"{math.floor(link.rate_bps)}bps"
    access = math.floor(link.access_rate_bps or ACCESS_FACTOR * link.rate_bps)
    remote = ""
    if remote_rate is not None:
        # This link limits the remote flows and has the classic buffer of one BDP.
        remote = f"""
[[topology.link]]
name = "remote"
rate = "{math.floor(remote_rate)}bps"
delay = "0s"
queue = {{ limit = "1bdp" }}
"""
    control = link.congestion_control
    named = '{ kind = "gaimd", alpha = 1, beta = 0.15 }' if control == "abe" else f'"{control}"'
    recovery = 'loss_detection = "rack"\npacing = true\n' if link.paced or control == "bbr" else ""
    # The window does not limit flows unless one is given; it has 10,000 packets in the paper.
    window = link.max_window_packets or max(10_000, 4 * link.bdp_packets)
    window_bytes = min(math.floor(window * link.packet_bytes), LARGEST_WINDOW)
    framing = f'framing = "{link.framing_bytes}B"\n' if link.framing_bytes else ""
    return f"""schema_version = 1
title = "A link to be sized"
duration = "{_time(reach.duration_s)}"
warmup = "{_time(reach.start_up_s)}"

[topology]
shape = "chain"
access = {{ rate = "{access}bps" }}
{framing}{remote}
[[topology.link]]
name = "{LINK}"
rate = "{rate}"
delay = "0s"
queue = {queue}

[tcp]
profile = "{link.profile}"
congestion_control = {named}
byte_counting = {str(link.byte_counting).lower()}
{_acks(link)}mss = "{_payload(link)}B"
receive_window = "{window_bytes}B"
{recovery}"""


def _acks(link: Link) -> str:
    """Returns the keys for the receivers' ACKs, if the profile does not set them."""
    return f'ack_rule = "every_nth"\nack_every = {link.ack_every}\n' if link.ack_every != 2 else ""


def _places(rtts_s: tuple[float, ...], jitter_s: float) -> str:
    rtts = ", ".join(f'"{_time(rtt)}"' for rtt in rtts_s)
    return f'rtt = [{rtts}]\nstart_jitter = "{_time(jitter_s)}"'


def _long_places(link: Link, packets: float, reach: Length) -> str:
    """Returns round trips and starts of the long flows, near stationary windows if possible."""
    rtts = rtts_of_flows(link)
    if not reach.warm:
        return _places(rtts, reach.start_up_s / 2)
    jitter = max(link.rtts_s) + link.seconds(packets)
    windows = [f'"{max(round(peak), 2)}p"' for peak in peak_windows(link, packets)]
    peaks = windows[0] if len(set(windows)) == 1 else f"[{', '.join(windows)}]"
    spread = PEAK_SPREAD[link.congestion_control] * (1 - 1 / math.sqrt(link.flows))
    return f"{_places(rtts, jitter)}\npeak_window = {peaks}\npeak_spread = {spread:.2f}"


def _long_tcp(reach: Length) -> str:
    """Returns the TCP keys of long flows: receivers of old flows have grown their buffers."""
    return '{ receive_window_moderation = "off" }' if reach.warm else "{ }"


def _flow(name: str, count: int, first_node: int, places: str, tcp: str) -> str:
    return f"""[[flow]]
name = "{name}"
count = {count}
from = {first_node}
{places}
workload = {{ kind = "bulk" }}
tcp = {tcp}
"""


def _short(link: Link, rate_bps: float, first_node: int) -> str:
    payload = _payload(link)
    # The load counts application bits, but the link sends headers too.
    load = math.floor(rate_bps * payload / link.frame_bytes)
    size = f'{{ law = "exponential", mean = "{SHORT_PACKETS * payload}B" }}'
    return f"""[[flow]]
name = "short"
from = {first_node}
rtt = "{_time(link.mean_rtt_s)}"
workload = {{ kind = "transfers", size = {size}, load = "{max(load, 1)}bps" }}
"""


def _payload(link: Link) -> int:
    """Returns the payload bytes of a full packet."""
    return max(link.packet_bytes - HEADERS[link.profile or "rfc"], 1)


def _time(seconds: float) -> str:
    """Returns a duration in whole microseconds, as TOML."""
    return f"{max(round(seconds * 1e6), 0)}us"
