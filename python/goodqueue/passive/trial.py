"""The link of a capture as something to size: its own traffic, as it goes on, behind any limit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.passive.scenario import LINK, limit_table, steady_toml
from goodqueue.sizing.export import exports
from goodqueue.sizing.meter import Meter
from goodqueue.sizing.trial import WHOLE, Extent, Length, length

if TYPE_CHECKING:
    from goodqueue.passive.model import Model
    from goodqueue.sizing.export import Export
    from goodqueue.sizing.link import Link


class CaptureTrial:
    """A capture's traffic behind any limit.

    Flows that lasted are there all the time; flows that came and went come again at the same
    distance each length of the capture, which a replicate holds at least once.
    """

    name = LINK
    elastic = True

    def __init__(self, model: Model, link: Link) -> None:
        """Takes the model and the link as the rules see it."""
        self._models = {link: model}

    def scenario(
        self, link: Link, packets: int, queue: str | None = None, extent: Extent = WHOLE
    ) -> _core.Scenario:
        """One replicate behind so many packets; or behind another queue, with its defaults."""
        model = self._models[link]
        if queue is None:
            reach, table = length(link, packets, extent), limit_table(model, packets)
        else:
            reach, table = length(link, link.bdp_packets / 2, extent), f'{{ kind = "{queue}" }}'
        text = steady_toml(model, _with_visitors(model, reach), table)
        return _core.Scenario.parse(text.encode(), "the link", [])

    def meter(self, link: Link) -> Meter:
        """What is read of a run."""
        senders = self._models[link].senders
        long = [n for n, sender in enumerate(senders) if sender.local and sender.lasts]
        return Meter(LINK, {f"tcp{number}": 1 for number in long})

    def others(self, link: Link) -> dict[str, Link]:
        """Fewer flows, longer round trips, another control."""
        model = self._models[link]
        local = model.local
        wanted: dict[str, tuple[Link, Model]] = {}
        if len(local) >= 4:
            kept = set(local[::4])
            few = tuple(one for one in model.senders if not one.local or one in kept)
            fewer = replace(link, flows=max(link.flows // 4, 1))
            wanted["flows / 4"] = (fewer, replace(model, senders=few))
        longer = replace(link, rtts_s=tuple(2 * rtt for rtt in link.rtts_s))
        far = tuple(replace(one, rtt_s=2 * one.rtt_s) for one in model.senders)
        wanted["RTT x 2"] = (longer, replace(model, senders=far))
        if any(one.control == "reno" for one in local):
            cubic = tuple(replace(one, control="cubic") for one in model.senders)
            other = replace(link, congestion_control="cubic")
            wanted["CUBIC instead of Reno"] = (other, replace(model, senders=cubic))
        found = {}
        for what, (other, changed) in wanted.items():
            if other != link:
                self._models[other] = changed
                found[what] = other
        return found

    def exports(self, link: Link, packets: int) -> tuple[Export, ...]:
        """The buffer as lines to paste into devices."""
        return exports(packets, link.packet_bytes, link.rate_bps)


def _with_visitors(model: Model, reach: Length) -> Length:
    """A replicate that holds what came and went at least once after its start-up."""
    if all(sender.lasts for sender in model.senders):
        return reach
    more_s = max(model.span_s - (reach.duration_s - reach.start_up_s), 0.0)
    if not more_s:
        return reach
    duration_s = reach.duration_s + more_s
    return Length(reach.start_up_s, duration_s, reach.packets * duration_s / reach.duration_s)
