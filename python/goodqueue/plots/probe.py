"""The picture of latency under load on a probed path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.plots.over_time import picture
from goodqueue.plots.panels import Line

if TYPE_CHECKING:
    from goodqueue.live.probe import Probe
    from goodqueue.plots.style import Picture

IDLE_S = 2.0
"""Time that the pings of the idle path took, in seconds."""


def latency(probe: Probe) -> Picture:
    """Returns the RTTs of pings on the idle path, then beside a TCP flow in each direction."""
    idle = [1000 * rtt for rtt in probe.idle_rtts]
    step = IDLE_S / max(len(idle), 1)
    lines = [Line("idle", [step * place for place in range(len(idle))], idle)]
    begun = IDLE_S
    for load, rtts in zip(probe.figures["tcp"], probe.loaded_rtts, strict=True):
        times = [begun + time for time, _ in rtts]
        lines.append(Line(f"TCP {load['path']}", times, [1000 * rtt for _, rtt in rtts]))
        begun = max(times, default=begun)
    caption = (
        "Round-trip times of pings on the idle path, and beside one TCP flow from this machine "
        "(up) and to it (down)."
    )
    return picture("latency", "Latency under load", "RTT, ms", caption, lines)
