"""The instant answer of calibrated theory, for the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from goodqueue import _core
from goodqueue.sizing.answer.parts import calibrated_dict
from goodqueue.sizing.calibrated.smallest import calibrated, limits
from goodqueue.sizing.calibrated.surface import surfaces
from goodqueue.sizing.export import linux
from goodqueue.sizing.link import DECREASE, Link
from goodqueue.sizing.question import parse_rtts

MOST_POINTS = 120
"""Most points of the expected curve: a page shows no more."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A link as its page describes it, in texts with units.

    Attributes:
        rate: the rate, as in `10Mbps`.
        rtt: base round-trip times, as in `40ms` or `20ms..80ms`.
        flows: number of long flows.
        control: their congestion control.
    """

    rate: str
    rtt: str
    flows: int
    control: str

    def link(self) -> Link:
        """Returns the link of the rules.

        Raises:
            ScenarioError: a value cannot be read.
            RequestError: no such link is possible.
        """
        rate = float(_core.parse_rate("rate", self.rate))
        rtts = parse_rtts("rtt", self.rtt)
        return Link(rate, rtts, self.flows, congestion_control=self.control)


def instant_answer(asked: Asked) -> dict[str, Any]:
    """Returns the recommended buffer and the expected curve as plain values.

    `answer` is None for controls that the fitted surfaces do not cover. `curve` has columns of
    equal length: packets, utilization, loss_rate and p99_delay_s.
    """
    if asked.control not in DECREASE:
        return {"answer": None, "curve": None, "commands": []}
    link = asked.link()
    found = calibrated(link)
    if found is None:
        return {"answer": None, "curve": None, "commands": []}
    every = limits(link)
    expected = surfaces().at(link, every[:: max(1, len(every) // MOST_POINTS)])
    curve = {
        "packets": expected.packets.tolist(),
        "utilization": expected.utilization().tolist(),
        "loss_rate": expected.loss_rate().tolist(),
        "p99_delay_s": expected.p99_delay_s().tolist(),
    }
    export = None if found.packets is None else linux(found.packets, link.packet_bytes)
    commands = [] if export is None else list(export.lines)
    return {"answer": calibrated_dict(link, found), "curve": curve, "commands": commands}
