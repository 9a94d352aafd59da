"""The case of a comparison with ns-3, as both simulators get it."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from evidence.validation.ns3 import controls
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from evidence.validation.ns3 import queues


def same_link(
    case: controls.Case | queues.Case,
) -> tuple[dict[str, str], dict[str, Any], dict[str, Any]]:
    """Asserts that both simulators have the same link, number of flows and round-trip time.

    Returns:
        The arguments of ns-3's program, and the flow and the link of our scenario.
    """
    given = dict(argument.removeprefix("--").split("=") for argument in case.arguments)
    scenario = tomllib.loads(load(controls.SCENARIO, set=case.overrides).resolved_toml())
    (flow,), link = scenario["flow"], scenario["topology"]["bottleneck"]
    assert link["rate"] == f"{given['rate']}Mbps"
    assert link["queue"]["limit"] == f"{given['buffer']}p"
    assert scenario["duration"] == f"{given['duration']}s"
    assert (flow["count"], flow["rtt"]) == (int(given["flows"]), f"{given['rtt']}ms")
    return given, flow, link
