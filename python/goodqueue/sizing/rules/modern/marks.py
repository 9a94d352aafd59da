"""Marking thresholds of flows that reduce their windows in proportion to marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.sizing.rules.rule import Advice, Rule, broken

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

STEP_S = 0.001
"""Queueing delay above which DualPI2 marks every packet: its default in Linux and RFC 9332."""

LEAST_PACKETS = 2
"""Smallest threshold in packets: one that waits alone is no queue."""

DCTCP_PART = 7
"""Divisor of C T in the threshold of DCTCP."""


def advise_step(link: Link) -> Advice:
    """B = 1 ms of the rate, at least two packets."""
    if not link.needs_marks:
        return Advice(None, broken(*_checks(link)))
    packets = STEP_S / link.packet_time_s
    notes: tuple[str, ...] = ()
    if packets < LEAST_PACKETS:
        notes = (f"1 ms is the time of {packets:.2g} packets here, so the step is two packets",)
    return Advice(max(packets, LEAST_PACKETS), broken(*_checks(link)), notes)


def advise_dctcp(link: Link) -> Advice:
    """K = C T / 7."""
    packets = link.bdp_packets / DCTCP_PART if link.needs_marks else None
    return Advice(packets, broken(*_checks(link)))


def _checks(link: Link) -> tuple[tuple[bool, str], ...]:
    return (
        (
            not link.needs_marks,
            f"{link.control_words} does not react to every mark, and needs no such threshold",
        ),
        (
            link.needs_marks and bool(link.controls),
            "flows that react to losses share the link, and their queue is not this threshold",
        ),
    )


RULE_STEP = Rule(
    name="l4s_step",
    title="step of L4S",
    equation="B = max(C x 1 ms / 8M, 2)",
    source="RFC 9332, Dual-Queue Coupled AQMs, and dualpi2 of Linux: step_thresh = 1ms",
    assumptions=(
        "all flows are scalable (Prague) and cross a queue that marks",
        "the limit must at least hold the packets below the step",
    ),
    advise=advise_step,
    kind="claim",
    trial="modern",
)

RULE_DCTCP = Rule(
    name="dctcp_threshold",
    title="marking threshold of DCTCP",
    equation="B = C T / 7 / 8M",
    source="Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, equation (13)",
    assumptions=(
        "flows reduce their windows in proportion to marks, and are in step",
        "the queue marks above this threshold; a smaller one leaves the link idle",
    ),
    advise=advise_dctcp,
    trial="modern",
)
