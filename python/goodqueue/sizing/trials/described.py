"""Scenarios of a described `Link`.

The traffic is that of Dhamdhere, Jiang and Dovrolis (INFOCOM 2005). There are long flows that this
link limits. If the local share is below 1, there are also flows that a slower link before this one
limits (40 % of the rest), flows that their windows limit (40 %), and short transfers of 14 packets
on average (20 %). Their TCP is the link's: CUBIC of Linux by default.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.runs.settings import scenario_of
from goodqueue.sizing.controls import PACE, counts
from goodqueue.sizing.export import ecn_threshold, exports, linux_queue
from goodqueue.sizing.link import as_hosts_are, as_in_theory
from goodqueue.sizing.trials.hosts import hosts
from goodqueue.sizing.trials.length import (
    PEAK_SPREAD,
    WHOLE,
    length,
    peak_windows,
    rtts_of_flows,
)
from goodqueue.sizing.trials.meter import Meter

if TYPE_CHECKING:
    from goodqueue._core import Scenario
    from goodqueue.runs.settings import Settings
    from goodqueue.sizing.export import Export
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.trials.length import Extent, Length

LINK = "bottleneck"
"""Name of the link that is sized."""

LONG = "long"
"""Name of the group of flows that the link limits."""

SHORT_PACKETS = 14
ACCESS_FACTOR = 10
"""Ratio of the rate of hosts' links to this link's, unless their rate is given."""

SEND_JITTER_S = 15e-6
"""Mean jitter of departures of hosts whose links are as fast as the link that is sized. Paced
super-segments of a kernel have it: eight of ten depart within 25 to 41 us (`docs/hosts.md`), and so
they do by an exponential law of 11 to 19 us. Single segments have less. Without jitter packets of
such hosts stay in step."""

JITTER_OF_RTT = 0.1
"""Largest jitter as a share of the shortest round-trip time, which is short in data centres: an
assumption."""

HEADERS = {"linux": 52, "rfc": 40}
"""Bytes of IP and TCP headers, by profile: Linux has timestamps."""

LARGEST_WINDOW = 1 << 30
"""Largest window in bytes (RFC 7323 section 2.3)."""

CONTROLS: dict[str, Settings] = {
    "abe": {"congestion_control": "reno", "ecn": "rfc3168", "beta_ecn": 0.8},
    "dctcp": {"congestion_control": "dctcp", "ecn": "dctcp"},
    "prague": {"congestion_control": "prague", "ecn": "accecn", "l4s": True},
}
"""Settings of the congestion controls that need more than their name. ABE is Reno that keeps 80 %
of its window after a mark; after a loss it halves its window (RFC 8511, section 3).
Prague has accurate ECN and ECT(1); DCTCP echoes each mark (RFC 8257)."""

TCP_CHANGES = {
    "as in theory (Reno, rfc)": as_in_theory,
    "as hosts are (CUBIC, linux)": as_hosts_are,
}
"""TCP of the hosts for a changed link, which shows the sensitivity to the assumed TCP."""


class LinkTrial:
    """Trial of a described link with the traffic above, as long as its losses require."""

    name = LINK
    elastic = True
    pool = None

    def scenario(
        self, link: Link, packets: int, queue: str | None = None, extent: Extent = WHOLE
    ) -> Scenario:
        """Returns a replicate with this limit, or with another queue with its defaults."""
        if queue is None:
            waits, table = float(packets), own_queue(link, packets)
        else:  # The length of the run assumes that half a BDP waits.
            waits, table = link.bdp_packets / 2, {"kind": queue}
        return scenario_of(settings(link, waits, table, length(link, waits, extent)), "the link")

    def meter(self, link: Link) -> Meter:
        """Returns the meter of a run."""
        return Meter(LINK, groups_of(link))

    def others(self, link: Link) -> dict[str, Link]:
        """Returns links with other TCP, fewer flows, and longer round trips."""
        others = {
            **{what: change(link) for what, change in TCP_CHANGES.items()},
            "flows / 4": replace(link, flows=max(link.flows // 4, 1)),
            "RTT x 2": replace(link, rtts_s=tuple(2 * rtt for rtt in link.rtts_s)),
        }
        return {what: other for what, other in others.items() if other != link}

    def hosts(self, link: Link) -> dict[str, Link]:
        """Returns the link with other hosts, which a description does not exclude.

        The marking threshold of DCTCP belongs to the device, so it stays that of the link.
        """
        if link.has("dctcp"):
            link = replace(link, mark_packets=link.marks_at)
        return hosts(link)

    def exports(self, link: Link, packets: int) -> tuple[Export, ...]:
        """Returns the buffer as lines to paste into devices, or the marking queue of Linux."""
        if link.has("dctcp"):
            return (ecn_threshold(packets, link.marks_at, link.packet_bytes),)
        if link.needs_marks:
            commands = self.scenario(link, packets).qdisc(LINK, fifo_in_bytes=True)
            return (linux_queue(commands),)
        return exports(packets, link.packet_bytes, link.rate_bps)


def notes_of(link: Link) -> tuple[str, ...]:
    """Returns sentences about the queue and the flows that the link's controls need."""
    if not link.needs_marks:
        return ()
    if link.has("dctcp"):
        given = "as given" if link.mark_packets else "by C x T / 7 and a burst (--mark-at)"
        return (
            (
                "dctcp needs a queue that marks packets: the buffer is the limit of a queue that "
                f"marks above {link.marks_at} packets, {given}; behind a FIFO it would be Reno"
            ),
        )
    return (
        (
            "prague needs a queue that marks packets: the buffer is the limit of a dualpi2 queue "
            "with Linux's defaults and min_qlen_step = 2p, whose step marks packets that waited "
            "longer than 1 ms; behind a FIFO Prague would be Reno"
        ),
    )


def groups_of(link: Link) -> dict[str, int]:
    """Returns the number of long flows of each group: one group for each congestion control."""
    if not link.controls:
        return {LONG: link.flows}
    return {f"{LONG}-{name}": count for name, count in counts(link.controls, link.flows).items()}


def own_queue(link: Link, packets: int) -> Settings:
    """Returns the settings of the link's queue: a FIFO, or one that marks if flows need marks.

    DCTCP has a step at a fixed backlog, below which a limit leaves a FIFO that never marks. Prague
    has DualPI2. With `min_qlen_step` the step of DualPI2
    marks no packet that waits alone, so that links on which two packets take more than a
    millisecond can be filled.
    """
    if link.has("dctcp"):
        if packets <= link.marks_at:
            return tail_drop(packets)
        return {"kind": "step", "limit": f"{packets}p", "threshold": f"{link.marks_at}p"}
    if link.needs_marks:
        return {"kind": "dualpi2", "limit": f"{packets}p", "min_qlen_step": "2p"}
    return tail_drop(packets)


def tail_drop(packets: int) -> Settings:
    """Returns the settings of a FIFO that holds this number of packets."""
    return {"limit": f"{packets}p"}


def settings(link: Link, packets: float, queue: Settings, reach: Length) -> Settings:
    """Returns the settings of a scenario.

    Args:
        link: the link and its traffic.
        packets: packets that are expected to wait when the queue is full.
        queue: settings of the queue before the link.
        reach: length of the run.
    """
    other = _core.other_traffic(link)
    remote, limited = other["remote_flows"], other["limited_flows"]
    # Remote flows cross one additional link, which is then the first.
    here = int(remote > 0)
    mean = _places((link.mean_rtt_s,), reach.start_up_s / 2)
    ties = {"interface": _jitter(link)} if _has_ties(link) else {}
    flows = [
        _bulk(name, part.flows, here) | _long_flows(part, packets, reach) | ties | own
        for name, part, own in _groups(link)
    ]
    if remote:
        flows.append(_bulk("remote", remote, 0) | mean)
    if limited:
        window = max(
            math.ceil(other["limited_rate_bps"] * link.mean_rtt_s / 8 / limited), link.packet_bytes
        )
        tcp = {"tcp": {"receive_window": f"{window}B"}}
        flows.append(_bulk("window-limited", limited, here) | mean | tcp)
    if other["short_rate_bps"] > 0:
        flows.append(_short(link, other["short_rate_bps"], here))
    return {
        "schema_version": 1,
        "title": "A link to be sized",
        "duration": _time(reach.duration_s),
        "warmup": _time(reach.start_up_s),
        "topology": _topology(link, queue, other["remote_rate_bps"] if remote else None),
        "tcp": _tcp(link),
        "flow": flows,
    }


def _has_ties(link: Link) -> bool:
    """Returns True if hosts send at the rate of the link, so that their packets stay in step."""
    return link.access_rate_bps is not None and math.isclose(
        link.access_rate_bps, link.rate_bps, rel_tol=1e-3
    )


def _jitter(link: Link) -> Settings:
    mean_s = min(SEND_JITTER_S, JITTER_OF_RTT * min(link.rtts_s))
    return {"send_jitter": {"law": "exponential", "mean": _time(mean_s)}}


def _topology(link: Link, queue: Settings, remote_rate: float | None) -> Settings:
    access = link.access_rate_bps or ACCESS_FACTOR * link.rate_bps
    links = [{"name": LINK, "rate": _rate(link.rate_bps), "delay": "0s", "queue": queue}]
    if remote_rate is not None:
        # This link limits the remote flows and has the classic buffer of one BDP.
        own = {"rate": _rate(remote_rate), "delay": "0s", "queue": {"limit": "1bdp"}}
        links.insert(0, {"name": "remote", **own})
    framing = {"framing": f"{link.framing_bytes}B"} if link.framing_bytes else {}
    return {"shape": "chain", "access": {"rate": _rate(access)}, **framing, "link": links}


def _tcp(link: Link) -> Settings:
    # The window does not limit flows unless one is given; it has 10,000 packets in the paper.
    window = link.max_window_packets or max(10_000, 4 * link.bdp_packets)
    tcp: Settings = {
        "profile": link.profile,
        **_control(link),
        "byte_counting": link.byte_counting,
        "mss": f"{_payload(link)}B",
        "receive_window": f"{min(math.floor(window * link.packet_bytes), LARGEST_WINDOW)}B",
    }
    if link.ack_every != 2:  # the profiles set 2
        tcp |= {"ack_rule": "every_nth", "ack_every": link.ack_every}
    return tcp


def _groups(link: Link) -> list[tuple[str, Link, Settings]]:
    """Returns each group of long flows, the link with these flows alone, and the group's TCP."""
    if not link.controls:
        return [(LONG, link, {})]
    return [
        (
            f"{LONG}-{part.congestion_control}",
            replace(part, flows=count),
            {"tcp": _control(part)},
        )
        for part, count in zip(
            link.parts(), counts(link.controls, link.flows).values(), strict=True
        )
    ]


def _control(link: Link) -> Settings:
    """Returns the settings of the link's congestion control, and pacing if it needs them."""
    control = link.congestion_control
    tcp = dict(CONTROLS.get(control, {"congestion_control": control}))
    if link.paced or control in PACE:
        tcp |= {"loss_detection": "rack", "pacing": True}
    return tcp


def _bulk(name: str, count: int, first_node: int) -> Settings:
    return {"name": name, "count": count, "from": first_node, "workload": {"kind": "bulk"}}


def _places(rtts_s: tuple[float, ...], jitter_s: float) -> Settings:
    return {"rtt": [_time(rtt) for rtt in rtts_s], "start_jitter": _time(jitter_s)}


def _long_flows(link: Link, packets: float, reach: Length) -> Settings:
    """Returns round trips and starts of the long flows, near stationary windows if possible."""
    rtts = rtts_of_flows(link)
    if not reach.warm:
        return _places(rtts, reach.start_up_s / 2)
    windows = [f"{max(round(peak), 2)}p" for peak in peak_windows(link, packets)]
    spread = PEAK_SPREAD[link.congestion_control] * (1 - 1 / math.sqrt(link.flows))
    return {
        **_places(rtts, max(link.rtts_s) + link.seconds(packets)),
        "peak_window": windows[0] if len(set(windows)) == 1 else windows,
        "peak_spread": round(spread, 2),
        # Receivers of flows that have sent for long have grown their buffers.
        "tcp": {"receive_window_moderation": "off"},
    }


def _short(link: Link, rate_bps: float, first_node: int) -> Settings:
    payload = _payload(link)
    # The load counts application bits, but the link sends headers too.
    load = math.floor(rate_bps * payload / link.frame_bytes)
    size = {"law": "exponential", "mean": f"{SHORT_PACKETS * payload}B"}
    return {
        "name": "short",
        "from": first_node,
        "rtt": _time(link.mean_rtt_s),
        "workload": {"kind": "transfers", "size": size, "load": f"{max(load, 1)}bps"},
    }


def _payload(link: Link) -> int:
    """Returns the payload bytes of a full packet."""
    return max(link.packet_bytes - HEADERS[link.profile or "rfc"], 1)


def _rate(bits_per_second: float) -> str:
    """Returns a rate in whole bits per second."""
    return f"{math.floor(bits_per_second)}bps"


def _time(seconds: float) -> str:
    """Returns a duration in whole microseconds."""
    return f"{max(round(seconds * 1e6), 0)}us"
