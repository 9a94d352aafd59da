"""A `Link` as something to simulate: the scenario, and how long a replicate must be.

The traffic is that of Dhamdhere, Jiang and Dovrolis (INFOCOM 2005): long flows that this link
holds back, and beside them, where the local share is below 1, flows that a slower link before this
one holds back (40 % of the rest), flows that their windows hold back (40 %), and short transfers of
14 packets on average (20 %). Receivers delay ACKs and a Reno window grows by a step per ACK, as the
rules assume: half a packet per round trip. Where ACKed bytes are counted (RFC 3465, Linux) it grows
twice as fast, and twice as many packets are lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.sizing.export import exports
from goodqueue.sizing.meter import Meter
from goodqueue.sizing.throughput import cubic_epoch_s, reno_epoch_s

if TYPE_CHECKING:
    from goodqueue.sizing.export import Export
    from goodqueue.sizing.link import Link

LINK = "bottleneck"
"""The name of the link that is sized."""

LONG = "long"
"""The group of flows that the link holds back."""

EPOCHS = 20
"""Loss epochs that a replicate must hold at least after its start-up."""

START_UP_EPOCHS = 5
"""Loss epochs in which flows find their shares; not measured."""

LEAST_MEASURED_S = 10.0

LONGEST_S = 1e6
"""A scenario is no longer. One Reno flow behind eight bandwidth-delay products of 10 Gb/s and
100 ms loses once in a week."""

LEAST_EPOCHS = 10
"""However little time there is, a replicate is to hold so many loss epochs after its start-up. The
start-up is never cut: losses of slow start that are measured make a buffer look too small."""

REMOTE_SHARE, WINDOW_SHARE, SHORT_SHARE = 0.4, 0.4, 0.2
"""What the traffic that is not local consists of."""

MOST_REMOTE, MOST_WINDOW_LIMITED = 20, 10
SHORT_PACKETS = 14
ACCESS_FACTOR = 10
"""Hosts' links are so much faster than this one, unless their rate is given."""

MANY_ROUNDS = 100
"""Rounds of round-trip times after which flows left over shift the mean by less than 0.5 %: the
list is then as short as the link's, and not as long as the flows are many."""

TCP_HEADER = 40

LARGEST_WINDOW = 1 << 30
"""Bytes, RFC 7323 section 2.3."""
BBR_EPOCH_S = 10.0
"""BBR looks for the round trip anew every 10 s: the longest cycle that it has."""


@dataclass(frozen=True, slots=True)
class Length:
    """How long a replicate is.

    Attributes:
        start_up_s: seconds before measurements begin.
        duration_s: seconds in all.
        packets: full packets that the link sends in that time.
    """

    start_up_s: float
    duration_s: float
    packets: float


@dataclass(frozen=True, slots=True)
class Extent:
    """What makes a replicate longer or shorter than its link is expected to ask for.

    Attributes:
        stretch: how much longer loss epochs were found to be than they are expected to be.
        share: the share of what is measured in full that the time budget allows.
    """

    stretch: float = 1.0
    share: float = 1.0


WHOLE = Extent()


def epoch_s(link: Link, packets: float) -> float:
    """Seconds between losses of one flow, with a buffer of so many packets."""
    window = max((link.local_bdp_packets + packets) / link.flows, 2.0)
    rtt = link.mean_rtt_s + link.seconds(packets)
    reno = reno_epoch_s(window, rtt, 1 if link.byte_counting else 2)
    if link.congestion_control == "bbr":
        return max(BBR_EPOCH_S, rtt)
    if link.congestion_control == "cubic":
        return max(min(reno, cubic_epoch_s(window)), rtt)
    return max(reno, rtt)


def length(link: Link, packets: float, extent: Extent = WHOLE) -> Length:
    """Long enough for 20 loss epochs of every flow after five of start-up, if time allows.

    Args:
        link: the link.
        packets: its buffer.
        extent: how much longer or shorter than that is expected to take.
    """
    epoch, share = extent.stretch * epoch_s(link, packets), extent.share
    start_up = max(START_UP_EPOCHS * epoch, 10 * max(link.rtts_s))
    least_s = min(max(LEAST_MEASURED_S * share, 10 * max(link.rtts_s)), LEAST_MEASURED_S)
    measured = max(max(EPOCHS * share, LEAST_EPOCHS) * epoch, least_s)
    start_up = min(start_up, LONGEST_S / 4)
    duration = min(start_up + measured, LONGEST_S)
    return Length(start_up, duration, duration / link.packet_time_s)


class LinkTrial:
    """A link that is only described, with the traffic above; its losses say how long it is run."""

    name = LINK
    elastic = True

    def scenario(
        self, link: Link, packets: int, queue: str | None = None, extent: Extent = WHOLE
    ) -> _core.Scenario:
        """One replicate behind so many packets; or behind another queue, with its defaults."""
        if queue is None:
            reach, table = length(link, packets, extent), f'{{ limit = "{packets}p" }}'
        else:  # as long as losses take where half a BDP waits
            reach = length(link, link.bdp_packets / 2, extent)
            table = f'{{ kind = "{queue}" }}'
        text = scenario_toml(link, reach, table)
        return _core.Scenario.parse(text.encode(), "the link", [])

    def meter(self, link: Link) -> Meter:
        """What is read of a run."""
        return Meter(LINK, {LONG: link.flows})

    def others(self, link: Link) -> dict[str, Link]:
        """Fewer flows, longer round trips, another control."""
        others = {"RTT x 2": replace(link, rtts_s=tuple(2 * rtt for rtt in link.rtts_s))}
        if link.flows > 1:
            others = {"flows / 4": replace(link, flows=max(link.flows // 4, 1)), **others}
        if link.congestion_control == "reno":
            others["CUBIC instead of Reno"] = replace(link, congestion_control="cubic")
            others["Reno that counts bytes (Linux)"] = replace(link, byte_counting=True)
        return others

    def exports(self, link: Link, packets: int) -> tuple[Export, ...]:
        """The buffer as lines to paste into devices."""
        return exports(packets, link.packet_bytes, link.rate_bps)


def scenario_toml(link: Link, reach: Length, queue: str = '{ limit = "1bdp" }') -> str:
    """The scenario, as text: its limit is what a search sets.

    Args:
        link: the link and its traffic.
        reach: how long to run.
        queue: the TOML table of the queue before the link.
    """
    rest = (1 - link.local_share) * link.rate_bps
    remote_rate = REMOTE_SHARE * rest
    remote = _flows_of(remote_rate, link, MOST_REMOTE)
    limited_rate = WINDOW_SHARE * rest
    limited = _flows_of(limited_rate, link, MOST_WINDOW_LIMITED)
    # What has not even the window of one flow goes to the short transfers.
    short_rate = rest - (remote_rate if remote else 0) - (limited_rate if limited else 0)
    # Remote flows cross one link more, which then comes first.
    here, mean = int(remote > 0), _places((link.mean_rtt_s,), reach)
    parts = [
        _head(link, reach, queue, remote_rate if remote else None),
        _flow(LONG, link.flows, here, _places(rtts_of_flows(link), reach), "{ }"),
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
    """The base round-trip times that long flows take in turn, with (nearly) the link's mean.

    Flows that whole rounds leave over, all of them where there are fewer than round-trip times,
    stand for equal parts of the list: each has the mean of its part. After many rounds those left
    over matter to no mean, and take the first times of the list.
    """
    steps = len(link.rtts_s)
    rounds, left = divmod(link.flows, steps)
    if rounds >= MANY_ROUNDS:
        return link.rtts_s
    bounds = [part * steps // left for part in range(left + 1)] if left else []
    parts = tuple(fmean(link.rtts_s[first:last]) for first, last in pairwise(bounds))
    return link.rtts_s * rounds + parts if parts else link.rtts_s


def _flows_of(rate_bps: float, link: Link, most: int) -> int:
    """How many flows share a rate so that each has a window of at least four packets."""
    window = rate_bps * link.mean_rtt_s / (8 * link.frame_bytes)
    return min(most, int(window / 4))


def _head(link: Link, reach: Length, queue: str, remote_rate: float | None) -> str:
    rate = f"{math.floor(link.rate_bps)}bps"
    access = math.floor(link.access_rate_bps or ACCESS_FACTOR * link.rate_bps)
    remote = ""
    if remote_rate is not None:
        # The link that holds the remote flows back, with the classic buffer of one BDP.
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
    # A window that does not bind, unless one is given; 10,000 packets in the paper.
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
congestion_control = {named}
byte_counting = {str(link.byte_counting).lower()}
mss = "{link.packet_bytes - TCP_HEADER}B"
receive_window = "{window_bytes}B"
{recovery}"""


def _places(rtts_s: tuple[float, ...], reach: Length) -> str:
    rtts = ", ".join(f'"{_time(rtt)}"' for rtt in rtts_s)
    return f'rtt = [{rtts}]\nstart_jitter = "{_time(reach.start_up_s / 2)}"'


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
    payload = link.packet_bytes - TCP_HEADER
    # The load counts application bits; the link sends headers, too.
    load = math.floor(rate_bps * payload / link.frame_bytes)
    size = f'{{ law = "exponential", mean = "{SHORT_PACKETS * payload}B" }}'
    return f"""[[flow]]
name = "short"
from = {first_node}
rtt = "{_time(link.mean_rtt_s)}"
workload = {{ kind = "transfers", size = {size}, load = "{max(load, 1)}bps" }}
"""


def _time(seconds: float) -> str:
    """Whole microseconds."""
    return f"{max(round(seconds * 1e6), 0)}us"
