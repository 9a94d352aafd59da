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
    """Returns the RTTs of pings on the idle path, then beside and within a TCP flow each way."""
    idle = [1000 * rtt for rtt in probe.idle_rtts]
    step = IDLE_S / max(len(idle), 1)
    lines = [Line("idle", [step * place for place in range(len(idle))], idle)]
    begun = IDLE_S
    found = zip(probe.figures["tcp"], probe.loaded_rtts, probe.flow_rtts, strict=True)
    for load, beside, within in found:
        for name, rtts in (("beside", beside), ("within", within)):
            times = [begun + time for time, _ in rtts]
            label = f"{name} TCP {load['path']}"
            lines.append(Line(label, times, [1000 * rtt for _, rtt in rtts]))
        begun += max((time for time, _ in beside), default=0)
    caption = (
        "Round-trip times of pings on the idle path and beside one TCP flow from this machine (up) "
        "and to it (down), and the sender's smoothed round-trip times within these flows."
    )
    return picture("latency", "Latency under load", "RTT, ms", caption, lines)
