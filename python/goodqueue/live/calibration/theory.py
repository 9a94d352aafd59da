"""Predictions of published theory for the cells of a calibration.

A FIFO with Reno or CUBIC: the saw-tooth of windows in step. All flows lose one packet when the
buffer is full, keep a share of their window (0.5; 0.7 for CUBIC, RFC 9438), and grow until it is
full again. The fluid model integrates one such cycle.

Queues that control delay: their target (RFC 8289 and RFC 8290: 5 ms; RFC 8033: 15 ms; CAKE: a
twentieth of 100 ms, but at least one and a half packets' times). Theory has no utilisation for
them.

BBR behind a FIFO: several flows keep the two bandwidth-delay products in flight that the control
allows (Ware et al., Modeling BBR's interactions with loss-based congestion control, IMC 2019), so
their queue is one bandwidth-delay product, or the buffer if that is smaller. A single flow
(draft-cardwell-iccrg-bbr-congestion-control) allows three send quanta beyond the product, which
stay in the queue, and adds a quarter of a product in one round trip of eight. Each ten seconds it
keeps four packets in flight for 200 ms and a round trip. Theory has no delay for buffers that this
overflows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goodqueue.live.calibration.cells import Cell, Path

TARGETS_S = {"codel": 0.005, "fq_codel": 0.005, "pie": 0.015, "cake": 0.005}
"""Default target of the queueing delay in seconds."""

STEPS = 400
"""Steps of the integration in a round trip."""

CUBIC_C, CUBIC_BETA = 0.4, 0.7
"""Constants of RFC 9438: packets per cubic second, and the share of the window that is kept."""

BBR_PROBE, BBR_CYCLE = 0.25, 8
"""Share of a bandwidth-delay product that BBR adds to probe, and the number of round trips of its
gain cycle.
"""

BBR_QUANTA = 3
"""Send quanta that BBR has in flight beyond its target."""

BBR_SLOW_BPS, BBR_QUANTUM_S = 1.2e6, 1e-3
"""Rate below which a send quantum is one packet, and its duration above; at least two packets."""

BBR_PROBE_RTT_S, BBR_PROBE_RTT_EVERY_S, BBR_LEAST_PACKETS = 0.2, 10.0, 4
"""Length and distance of the phases in which BBR measures the base RTT, and its window in them."""


@dataclass(frozen=True, slots=True)
class Theory:
    """Predictions; None for what theory does not say.

    Attributes:
        utilization: share of the link's capacity, from 0 to 1.
        delay_s: mean queueing delay in seconds.
        drops: packets lost in the measured time.
    """

    utilization: float | None = None
    delay_s: float | None = None
    drops: float | None = None


def theory(cell: Cell, path: Path) -> Theory:
    """Returns the predictions for a cell."""
    if cell.queue in TARGETS_S:
        target = TARGETS_S[cell.queue]
        if cell.control == "bbr":  # it does not react to single losses
            return Theory()
        if cell.queue == "cake":
            target = max(target, 1.5 * path.packet_s)
        return Theory(delay_s=min(target, cell.packets * path.packet_s))
    if cell.control == "bbr":
        return _bbr(cell, path)
    return _saw_tooth(cell, path)


def _bbr(cell: Cell, path: Path) -> Theory:
    if cell.flows > 1:
        return Theory(1.0, min(cell.packets * path.packet_s, path.rtt_s))
    quantum = 1.0
    if path.rate_bps >= BBR_SLOW_BPS:
        quantum = max(2.0, BBR_QUANTUM_S / path.packet_s)
    standing, probed = BBR_QUANTA * quantum, BBR_PROBE * path.bdp_packets
    least_s = BBR_PROBE_RTT_S + path.rtt_s
    idle = 1 - min(BBR_LEAST_PACKETS / path.bdp_packets, 1.0)
    utilization = 1 - least_s / (BBR_PROBE_RTT_EVERY_S + least_s) * idle
    if standing + probed > cell.packets:
        return Theory(utilization)
    # In probing the queue grows for a round trip, and shrinks in the next one.
    return Theory(utilization, (standing + probed / BBR_CYCLE) * path.packet_s)


def _saw_tooth(cell: Cell, path: Path) -> Theory:
    """Integrates the windows of flows in step from one loss to the next."""
    pipe, flows = path.bdp_packets, cell.flows
    peak = (pipe + cell.packets + 1) / flows
    kept = CUBIC_BETA if cell.control == "cubic" else 0.5
    window = friendly = kept * peak
    growth = 1.0 if kept == 0.5 else 3 * (1 - kept) / (1 + kept)
    k_s = math.cbrt(peak * (1 - kept) / CUBIC_C)
    time_s = sent = waited = 0.0
    while window < peak:
        queue = max(flows * window - pipe, 0.0)
        rtt_s = path.rtt_s + queue * path.packet_s
        step_s = rtt_s / STEPS
        sent += flows * window / rtt_s * step_s
        waited += queue * step_s
        time_s += step_s
        friendly += growth * step_s / rtt_s
        window = friendly
        if cell.control == "cubic":
            window = max(window, CUBIC_C * (time_s - k_s) ** 3 + peak)
    utilization = min(sent * path.packet_s / time_s, 1.0)
    drops = flows * path.measured_s / time_s
    return Theory(utilization, waited / time_s * path.packet_s, drops)
