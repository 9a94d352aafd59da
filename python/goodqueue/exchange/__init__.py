"""Scenarios as scripts for other simulators and for Linux, and scripts as scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.errors import RequestError, nearest
from goodqueue.exchange import linux, ns2, ns3
from goodqueue.exchange.dumbbell import dumbbell
from goodqueue.exchange.imported import Imported, import_ns2

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodqueue._core import Scenario
    from goodqueue.exchange.dumbbell import Dumbbell
    from goodqueue.exchange.script import Script

__all__ = ["TARGETS", "Imported", "export", "import_ns2"]

TARGETS: dict[str, tuple[str, Callable[[Dumbbell], Script]]] = {
    "ns2": ("ns-2", ns2.script),
    "ns3": ("ns-3", ns3.script),
    "mininet": ("Mininet", linux.mininet),
    "nest": ("NeST", linux.nest),
}
"""Targets by the word of `--to`: name, and the function that writes the script."""


def export(scenario: Scenario, target: str, file: str = "the scenario") -> Script:
    """Returns a scenario as a script for another tool.

    Args:
        scenario: the scenario.
        target: the tool: `ns2`, `ns3`, `mininet` or `nest`.
        file: name of the scenario's file, for messages.

    Raises:
        RequestError: if the target is unknown.
        ScenarioError: for the first key that the target cannot express.
    """
    if target not in TARGETS:
        raise RequestError(f"--to {target}: {nearest(target, TARGETS)}")
    name, script = TARGETS[target]
    return script(dumbbell(scenario, file, name))
