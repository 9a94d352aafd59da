"""Description of a capture's link for the sizing rules."""

from __future__ import annotations

from dataclasses import replace
from statistics import harmonic_mean
from typing import TYPE_CHECKING

from goodqueue._core import RTT_STEPS
from goodqueue.core.polars import pl
from goodqueue.errors import RequestError
from goodqueue.passive.traffic import CONTROLS, EVERY_SEGMENT, LOCAL, byte_counting, forward
from goodqueue.sizing.link import Link

if TYPE_CHECKING:
    from goodqueue.passive.analysis import Analysis


def link_of(analysis: Analysis) -> Link:
    """Returns the link and its traffic as estimated.

    Raises:
        RequestError: if the capture does not show what the rules need, with the reason.
    """
    rate = analysis.summary["link"]["rate_bps"]
    if rate is None:
        contradicted = [
            note for note in analysis.summary["notes"] if "below the throughput" in note
        ]
        remedy = "give it with --rate"
        raise _untold("the rate of the link", "; ".join([remedy, *contradicted]))
    local = forward(analysis).filter(LOCAL)
    found = analysis.parameters
    flows, effective, share = found["N_b"], found["T_e_s"], found["C_e_bps"]
    if flows is None or effective is None or share is None or local.is_empty():
        raise _untold("any flow that the link limits", "describe it with --rate, --rtt and --flows")
    packet, alpha = found["M_bytes"], found["alpha"]
    framing = analysis.summary["link"]["framing_bytes"]
    link = Link(
        rate_bps=rate,
        rtts_s=_rtts(local, effective.value),
        flows=max(round(flows.value), 1),
        packet_bytes=1500 if packet is None else round(packet.value),
        local_share=min(share.value / rate, 1.0),
        congestion_control=_control(local),
        byte_counting=byte_counting(local) is not False,  # an unknown stack counts bytes
        ack_every=_ack_every(local),
        framing_bytes=round(framing or 0),  # the rate counts whole frames as captured
    )
    return link if alpha is None else replace(link, synchronization=alpha.value)


def _untold(what: str, instead: str) -> RequestError:
    return RequestError(f"the capture does not show {what}; {instead}")


def _rtts(local: pl.DataFrame, effective_s: float) -> tuple[float, ...]:
    """Returns base round-trip times of the flows, each for the same number of flows.

    Their spread is that of the flows. Their harmonic mean is the estimate, which weights each flow
    by its duration.
    """
    known = local["rtt_s"].drop_nulls().sort().to_list()
    if len(known) > RTT_STEPS:
        middles = ((2 * step + 1) * len(known) // (2 * RTT_STEPS) for step in range(RTT_STEPS))
        known = [known[index] for index in middles]
    if not known:
        return (effective_s,)
    scale = effective_s / harmonic_mean(known)
    return tuple(scale * rtt for rtt in known)


def _ack_every(local: pl.DataFrame) -> int:
    """Returns the segments per ACK under which most bytes were sent; 2 if none are known."""
    seen = local.filter(pl.col("segments_per_ack").is_not_null())
    one = seen.filter(pl.col("segments_per_ack") < EVERY_SEGMENT)
    return 1 if 2 * sum(one["bytes"].to_list()) > sum(seen["bytes"].to_list()) else 2


def _control(local: pl.DataFrame) -> str:
    """Returns the congestion control under which most bytes were sent, as far as it is known."""
    known = local.filter(pl.col("congestion_control").cast(pl.String).is_in(CONTROLS))
    if known.is_empty():
        return "cubic"  # the default of most systems
    by_bytes = known.group_by("congestion_control").agg(pl.col("bytes").sum()).sort("bytes")
    return str(by_bytes["congestion_control"][-1])
