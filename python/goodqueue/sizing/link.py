"""Description of the link to be sized, in the terms of the sizing rules.

Every rule takes a `Link` and nothing else. Rates are bits per second, times seconds, sizes bytes; a
packet is an IP packet of `packet_bytes`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from goodqueue import _core
from goodqueue._core import RTT_STEPS
from goodqueue.errors import RequestError
from goodqueue.sizing.controls import Shares, problem

PROFILES = ("linux", "rfc")
"""TCP profiles of the hosts of a described link."""

OFFLOAD_BYTES = 65_536
"""Largest burst of segmentation offload (GSO and TSO of Linux)."""

DCTCP_PART = 7
"""Divisor of C T in the usual threshold of DCTCP (Alizadeh et al., SIGCOMM 2010, equation (13))."""

USUAL_UTILIZATION = 0.98
"""Bound on the utilisation if none is asked."""

USUAL_SYNCHRONIZATION = 0.55
"""Value of alpha of Dhamdhere et al. (17) that is assumed if it was not measured."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link, its traffic, and its bounds.

    Attributes:
        rate_bps: capacity C in bits per second.
        rtts_s: base round-trip times in seconds, each for the same number of flows; may be empty if
            there are no flows.
        flows: number of long flows that this link limits (locally bottlenecked). If it is 0, no
            rule has an answer, and simulation alone decides.
        packet_bytes: size of a full packet M.
        local_share: share of the capacity that the long flows have; other links, windows or sizes
            limit the rest of the traffic.
        congestion_control: `cubic`, `reno`, `abe`, `scalable`, `bbr`, `bbr3`, `prague`,
            `dctcp`; the one with the largest share if there are several.
        configured_packets: buffer of the device today, if known; it is judged beside the rules.
        controls: the congestion controls with their shares of the long flows, if there are several.
        profile: TCP profile of the hosts, `linux` or `rfc`; None if a scenario file sets it.
        min_utilization: smallest share of the time in which the link must be busy.
        max_loss_rate: largest share of packets lost, if bounded.
        max_delay_s: largest queueing delay in seconds, if bounded.
        max_window_packets: receiver's window, if it is known to limit flows.
        input_rate_bps: sum of the capacities that feed the link, if known.
        access_rate_bps: rate of one flow's access link, if known.
        paced: True if senders space their packets over the round trip.
        synchronization: loss-burst length over number of flows, alpha of Dhamdhere et al. (17).
        byte_counting: True if windows grow by the bytes acknowledged (RFC 3465, Linux), False if
            they grow by one step per ACK; receivers with delayed ACKs send one ACK per two packets.
            The cubic curve of CUBIC depends on time, so the choice affects CUBIC only in slow start
            and in the Reno-friendly region.
        framing_bytes: link-layer bytes around each packet, which use the link's time and the
            buffer's space too.
        effective_rtt_s: the effective round-trip time T_e, if it was measured; else the harmonic
            mean of `rtts_s`.
        ack_every: segments per ACK of a receiver: 2 with delayed ACKs.
        for_bursts: True if no buffer fills the link (`search.filled`). Then no rule applies, the
            bound on loss counts drops of the full queue alone, and the utilisation is bounded only
            if there are long flows.
        mark_packets: threshold K of the marking queue of DCTCP in packets; None for C T / 7
            and, with the `linux` profile, a burst of segmentation offload; at least two packets.

    Examples:
        >>> from goodqueue.sizing import Link, rtt_range
        >>> link = Link(10e6, rtt_range(0.020, 0.100), flows=8, max_loss_rate=0.02)
        >>> round(link.mean_rtt_s, 6)
        0.06
    """

    rate_bps: float
    rtts_s: tuple[float, ...]
    flows: int
    packet_bytes: int = 1500
    local_share: float = 1.0
    congestion_control: str = "cubic"
    profile: str | None = "linux"
    min_utilization: float = USUAL_UTILIZATION
    max_loss_rate: float | None = None
    max_delay_s: float | None = None
    max_window_packets: float | None = None
    input_rate_bps: float | None = None
    access_rate_bps: float | None = None
    paced: bool = False
    synchronization: float = USUAL_SYNCHRONIZATION
    byte_counting: bool = True
    framing_bytes: int = 0
    effective_rtt_s: float | None = None
    ack_every: int = 2
    controls: Shares = ()
    configured_packets: int | None = None
    for_bursts: bool = False
    mark_packets: int | None = None

    def __post_init__(self) -> None:
        for mistake in _problems(self):
            raise RequestError(mistake)

    @property
    def frame_bytes(self) -> int:
        """Bytes of a full packet on the link: the packet and its framing."""
        return _core.Derived(self).frame_bytes

    @property
    def packet_time_s(self) -> float:
        """Transmission time of a full packet in seconds."""
        return _core.Derived(self).packet_time_s

    @property
    def mean_rtt_s(self) -> float:
        """Mean base round-trip time, the T of a bandwidth-delay product; 0 if there is none."""
        return _core.Derived(self).mean_rtt_s

    @property
    def harmonic_rtt_s(self) -> float:
        """Effective round-trip time T_e of Dhamdhere et al. (12), the harmonic mean.

        Flows with a short round trip have the larger share of the capacity, in proportion to 1/T.
        """
        return _core.Derived(self).harmonic_rtt_s

    @property
    def grows_fast(self) -> bool:
        """True if a Reno window grows by one packet per round trip, False if by half a packet.

        It grows by one packet if the bytes acknowledged count (RFC 3465), or if each segment is
        acknowledged.
        """
        return _core.Derived(self).grows_fast

    @property
    def bdp_packets(self) -> float:
        """Product of rate and mean base round-trip time, in packets."""
        return _core.Derived(self).bdp_packets

    @property
    def local_rate_bps(self) -> float:
        """Effective capacity C_e: the rate of the locally bottlenecked flows."""
        return _core.Derived(self).local_rate_bps

    @property
    def local_bdp_packets(self) -> float:
        """C_e x T_e, in packets."""
        return _core.Derived(self).local_bdp_packets

    @property
    def window_packets(self) -> float:
        """Packets in flight per flow when the link is full and its queue empty."""
        return _core.Derived(self).window_packets

    @property
    def decrease(self) -> float | None:
        """Share of its window that a sender keeps after a loss; None without a fixed share.

        BBR and Prague have none. It is the smallest share of a mix.
        """
        return _core.Derived(self).decrease

    @property
    def shares(self) -> Shares:
        """All congestion controls with their shares of the long flows, one or several."""
        return self.controls or ((self.congestion_control, 1.0),)

    def has(self, control: str) -> bool:
        """Returns True if some long flows have this congestion control."""
        return any(name == control for name, _ in self.shares)

    @property
    def control_words(self) -> str:
        """The congestion controls in the form in which they can be typed."""
        return _core.control_words(self.shares)

    @property
    def paces(self) -> bool:
        """True if all long flows space their packets over the round trip."""
        return _core.Derived(self).paces

    @property
    def needs_marks(self) -> bool:
        """True if some long flows need a queue that marks packets."""
        return _core.Derived(self).needs_marks

    @property
    def bounds_utilization(self) -> bool:
        """True if the utilisation is bounded: bursts alone use a share of the link that varies."""
        return self.flows > 0 or not self.for_bursts

    @property
    def marks_at(self) -> int:
        """Threshold K of the marking queue of DCTCP, in packets.

        C T / 7 suffices for packets that arrive evenly. A sender with segmentation offload sends 64
        kB at once, which would be marked although no queue stands.
        """
        burst = math.ceil(OFFLOAD_BYTES / self.packet_bytes) if self.profile == "linux" else 0
        return self.mark_packets or max(math.ceil(self.bdp_packets / DCTCP_PART) + burst, 2)

    def parts(self) -> tuple[Link, ...]:
        """Returns the same link with each congestion control of the mix alone."""
        return tuple(replace(self, congestion_control=name, controls=()) for name, _ in self.shares)

    def seconds(self, packets: float) -> float:
        """Returns the transmission time of this number of packets."""
        return _core.Derived(self).seconds(packets)


def as_in_theory(link: Link) -> Link:
    """Returns the same link with the TCP that the sizing rules assume.

    It is Reno of the RFCs, whose window grows by one step per ACK, with an ACK for every second
    packet.

    Examples:
        >>> from goodqueue.sizing import Link, as_in_theory
        >>> as_in_theory(Link(10e6, (0.060,), flows=1)).congestion_control
        'reno'
    """
    return replace(link, congestion_control="reno", controls=(), profile="rfc", byte_counting=False)


def as_hosts_are(link: Link) -> Link:
    """Returns the same link with the TCP that most hosts run: CUBIC of Linux."""
    return replace(
        link, congestion_control="cubic", controls=(), profile="linux", byte_counting=True
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """The bounds of a scenario's link, and facts that the file does not contain.

    Attributes:
        min_utilization: smallest share of the time in which the link must be busy.
        max_loss_rate: largest share of packets lost, if bounded.
        max_delay_s: largest 99th percentile of the queueing delay in seconds, if bounded.
        local_share: share of the capacity that the long flows have; only the rules use it.

    Examples:
        >>> from goodqueue.sizing import Asked
        >>> Asked(max_delay_s=0.050).max_delay_s
        0.05
    """

    min_utilization: float = USUAL_UTILIZATION
    max_loss_rate: float | None = None
    max_delay_s: float | None = None
    local_share: float = 1.0


def rtt_range(first_s: float, last_s: float, steps: int = RTT_STEPS) -> tuple[float, ...]:
    """Returns evenly spaced round-trip times with both ends; one if both ends are the same.

    Examples:
        >>> from goodqueue.sizing import rtt_range
        >>> rtts = rtt_range(0.020, 0.100)
        >>> rtts[0], rtts[-1]
        (0.02, 0.1)
    """
    if first_s > last_s:
        raise RequestError("a range of round-trip times begins with the shorter one")
    return tuple(_core.rtt_range(first_s, last_s, steps))


def _problems(link: Link) -> list[str]:
    """Returns the mistakes in a link's description, one sentence each, the most important first."""
    problems = []
    if not 1 <= link.rate_bps <= 1e13:
        problems.append(f"a rate of {link.rate_bps:g} bit/s: it must lie between 1bps and 10Tbps")
    if (link.flows and not link.rtts_s) or not all(0 < rtt <= 1000 for rtt in link.rtts_s):
        problems.append("a round-trip time must be more than 0s and at most 1000s")
    if link.flows < 0:
        problems.append("a number of flows cannot be negative")
    if not 40 <= link.packet_bytes <= 65_535:
        problems.append(f"a packet of {link.packet_bytes} B: it must have from 40B to 65535B")
    if not 0 < link.local_share <= 1:
        problems.append("the share of the local flows must be above 0% and at most 100%")
    mix = problem(link.controls, link.congestion_control, link.flows)
    if mix is not None:
        problems.append(mix)
    if link.profile not in {*PROFILES, None}:
        problems.append(
            f'unknown profile "{link.profile}"; known profiles are {" and ".join(PROFILES)}'
        )
    if not 0 < link.min_utilization <= 1:
        problems.append("the requested utilisation must be above 0% and at most 100%")
    if problems:
        return problems
    return _impossible(link)


def _impossible(link: Link) -> list[str]:
    """Returns the bounds that nothing could keep on this link."""
    problems = []
    if link.max_loss_rate is not None and link.max_loss_rate >= 1:
        problems.append("a loss of 100% or more bounds nothing; write a bound below 100%")
    if link.max_loss_rate is not None and link.max_loss_rate <= 0 and link.flows:
        problems.append(
            "TCP finds its rate by losing packets: a loss of 0% cannot be kept; write a bound "
            "above 0% and below 100%, or mark instead of dropping"
        )
    if link.max_delay_s is not None and link.max_delay_s < link.packet_time_s:
        problems.append(
            f"one packet of {link.packet_bytes} B takes {link.packet_time_s * 1e3:.4g} ms here: "
            f"a queueing delay of at most {link.max_delay_s * 1e3:.4g} ms allows no packet to wait"
        )
    if not link.flows:
        return problems
    if link.local_rate_bps / link.flows * (link.mean_rtt_s + 1) < 8 * link.packet_bytes * 0.01:
        share = link.local_rate_bps / link.flows
        problems.append(
            f"{link.flows} flows on {link.local_rate_bps:g} bit/s have {share:.3g} bit/s "
            "each, less than one packet in a hundred seconds; timeouts determine their "
            "rate, and no rule for buffers applies"
        )
    return problems
