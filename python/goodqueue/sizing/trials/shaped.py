"""The bottleneck of a scenario's link: its shaper, and the time from which long flows fill it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.errors import ScenarioError
from goodqueue.runs.settings import changed, settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodqueue._core import Scenario

SHAPERS = {"tbf": "rate", "cake": "bandwidth"}
"""Queues that send at a rate of their own, with the key of this rate."""

REVERSE = ".reverse"


def shaped_rate_bps(scenario: Scenario, link: str) -> int | None:
    """Returns the rate at which the queue of a link sends; None if it sends at the link's rate.

    A shaper that is faster than its link shapes nothing.
    """
    queue = _queue(scenario, link)
    key = SHAPERS.get(queue.get("kind", ""))
    text = queue.get(key) if key else None
    if not isinstance(text, str):
        return None
    try:
        rate_bps = _core.parse_rate("the shaper", text)
    except ScenarioError:  # cake's "unlimited"
        return None
    return rate_bps if rate_bps < scenario.buffer(link, 1)["rate_bps"] else None


def from_the_first_flow(scenario: Scenario, link: str) -> tuple[Scenario, str | None]:
    """Returns a scenario that is measured from the start of its first long flow on, and a note.

    A link that waits for its flows is not full, whatever its buffer. The warm-up is prolonged by
    the time before the first long flow, and the run by the same time. The scenario is returned
    unchanged if a long flow starts before the warm-up ends.
    """
    groups = {flow["group"] for flow in scenario.long_flows(link)}
    flows = settings_of(scenario)["flow"]
    starts = [_core.parse_span("start", flows[group].get("start", "0s")) for group in groups]
    first_s = min(starts, default=0.0)
    if first_s <= scenario.warmup_s:
        return scenario, None
    warmup_us = round(1e6 * (first_s + scenario.warmup_s))
    end_us = round(1e6 * (first_s + scenario.duration_s))
    try:
        later = changed(scenario, {"warmup": f"{warmup_us}us", "duration": f"{end_us}us"})
    except ScenarioError:  # The file has something that ends with its own duration.
        return scenario, None
    return later, (
        f"the first long flow of {link} starts after {first_s:g} s, so the measurement begins "
        "after it and the warm-up"
    )


def link_settings(topology: Mapping[str, Any], link: str) -> dict[str, Any]:
    """Returns the settings of a link of a topology; empty if it has no such link."""
    name = link.removesuffix(REVERSE)
    links = {one.get("name"): one for one in topology.get("link", [])}
    settings: dict[str, Any] = links.get(name, topology.get(name, {}))
    return settings.get("reverse", {}) if link.endswith(REVERSE) else settings


def _queue(scenario: Scenario, link: str) -> dict[str, Any]:
    found = link_settings(settings_of(scenario)["topology"], link)
    queue: dict[str, Any] = found.get("queue", {})
    return queue
