"""Trial of a capture's link: its own traffic in steady state, behind any limit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue.passive.scenario import LINK, Reach, limit_table, steady
from goodqueue.runs.settings import scenario_of
from goodqueue.sizing.export import exports
from goodqueue.sizing.trials.length import EPOCHS, MIN_MEASURED_S, WHOLE, Extent, epoch_s
from goodqueue.sizing.trials.meter import Meter

if TYPE_CHECKING:
    from goodqueue import _core
    from goodqueue.passive.model import Model
    from goodqueue.sizing.export import Export
    from goodqueue.sizing.link import Link


START_UP_EPOCHS = 5
"""Loss epochs of the start-up, in which flows reach their shares; they are not measured."""

MIN_EPOCHS = 10
"""Smallest number of loss epochs after the start-up, however short the time is."""


class CaptureTrial:
    """A capture's traffic behind any limit.

    Flows that lasted are always present. Flows that began and ended in the capture repeat with its
    length as the period, which a replicate contains at least once.
    """

    name = LINK
    elastic = True
    pool = None

    def __init__(self, model: Model, link: Link) -> None:
        """Takes the model, and the link as the rules see it."""
        self._models = {link: model}

    def scenario(
        self, link: Link, packets: int, queue: str | None = None, extent: Extent = WHOLE
    ) -> _core.Scenario:
        """Returns a replicate with this limit, or with another queue with its defaults."""
        model = self._models[link]
        if queue is None:
            waits, table = float(packets), limit_table(model, packets)
        else:  # The length of the run assumes that half a BDP waits.
            waits, table = link.bdp_packets / 2, {"kind": queue}
        return scenario_of(steady(model, reach(model, link, waits, extent), table), "the link")

    def meter(self, link: Link) -> Meter:
        """Returns the meter of a run."""
        senders = self._models[link].senders
        long = [n for n, sender in enumerate(senders) if sender.local and sender.lasts]
        return Meter(LINK, {f"tcp{number}": 1 for number in long})

    def others(self, link: Link) -> dict[str, Link]:
        """Returns links with fewer flows, longer round trips, or another control."""
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

    def hosts(self, link: Link) -> dict[str, Link]:  # noqa: ARG002 - see `Trial`
        """Returns no other hosts, because the capture shows its own."""
        return {}

    def exports(self, link: Link, packets: int) -> tuple[Export, ...]:
        """Returns the buffer as lines to paste into devices."""
        return exports(packets, link.packet_bytes, link.rate_bps)


def reach(model: Model, link: Link, packets: float, extent: Extent) -> Reach:
    """Returns the length for 20 loss epochs of every flow after 5 of start-up, if time allows.

    After its start-up a replicate contains the flows that ended within the capture at least once.

    Args:
        model: the traffic.
        link: the link as the rules see it.
        packets: packets that wait when the queue is full.
        extent: factors on the length, from the loss epochs found and from the time budget.
    """
    epoch, share = extent.stretch * epoch_s(link, packets), extent.share
    longest_s = max([*link.rtts_s, *(sender.rtt_s for sender in model.senders)])
    start_up_s = max(START_UP_EPOCHS * epoch, 10 * longest_s)
    measured_s = max(EPOCHS * share, MIN_EPOCHS) * epoch
    least_s = max(MIN_MEASURED_S * share, 10 * longest_s)
    if not all(sender.lasts for sender in model.senders):
        least_s = max(least_s, model.span_s)
    return Reach(start_up_s, max(measured_s, least_s))
