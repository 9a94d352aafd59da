"""Switches of TCP in which a target's own TCP differs from a scenario's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodqueue.runs.api import load
from goodqueue.runs.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodqueue.exchange.dumbbell import Dumbbell, Group, Table

LINK = {
    "shape": "dumbbell",
    "access": {"rate": "1Gbps"},
    "bottleneck": {"rate": "1Mbps", "delay": "1ms", "queue": {"limit": "9p"}},
}
"""Any link: the switches of TCP do not depend on it."""


def resolved(tcp: Mapping[str, Any]) -> Table:
    """Returns all switches of TCP that a table of a scenario means."""
    flow = {"name": "one", "workload": {"kind": "bulk"}, "tcp": dict(tcp)}
    scenario = {"schema_version": 1, "title": "One flow", "duration": "1s", "topology": LINK}
    table: Table = settings_of(load({**scenario, "flow": [flow]}))["flow"][0]["tcp"]
    return table


def notes(link: Dumbbell, group: Group, theirs: Mapping[str, Any], written: set[str]) -> list[str]:
    """Describes the switches in which a target's TCP differs from that of a group.

    Args:
        link: the scenario, whose target is named.
        group: the flows.
        theirs: the switches of the target's TCP, as a scenario would write them.
        written: switches that the script sets as the scenario does.
    """
    ours, other = _flat(group.tcp), _flat(resolved(theirs))
    differing = [
        f"{key} = {_word(ours[key])} ({_word(other[key])} in {link.target})"
        for key in ours
        if key in other and key not in written and ours[key] != other[key]
    ]
    if not differing:
        return []
    return [f"the TCP of {link.target} differs for flow {group.name!r}: {', '.join(differing)}"]


def _flat(tcp: Mapping[str, Any]) -> Table:
    flat: Table = {}
    for key, value in tcp.items():
        if key == "congestion_control":
            continue
        if isinstance(value, dict):
            flat |= {f"{key}.{part}": inner for part, inner in value.items()}
        else:
            flat[key] = value
    return flat


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
