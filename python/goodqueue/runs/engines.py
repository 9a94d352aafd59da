"""The engines that run a scenario.

The packet engine simulates every packet of any scenario. The hybrid engine lets windows and the
queue change continuously between losses, so that the cost of a run depends on its loss events and
not on its packets. It runs long TCP flows before one queue. Its answers are used only for links on
which they were shown to agree with those of the packet engine (docs/hybrid.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from goodqueue.errors import RequestError
from goodqueue.runs.cost import TRIAL_S, cost_of

if TYPE_CHECKING:
    from goodqueue._core import Scenario

Engine = Literal["packets", "hybrid"]
"""An engine that runs a scenario."""

Choice = Literal["auto", "packets", "hybrid"]
"""A choice of engine: the name of an engine, or `auto`, which selects one by the cost of the run.
"""

CHOICES: dict[str, Choice] = {"auto": "auto", "packets": "packets", "hybrid": "hybrid"}

PATIENCE_S = 60.0
"""Seconds of computing beyond which `auto` considers a single run too long for the packet engine.
"""


def choice_of(text: str) -> Choice:
    """Returns the choice that `--engine` names.

    Raises:
        RequestError: if the name is neither an engine nor `auto`.
    """
    if text not in CHOICES:
        raise RequestError(f"--engine {text}: choose from {', '.join(CHOICES)}")
    return CHOICES[text]


def unable(scenario: Scenario) -> str | None:
    """Returns the reason why the hybrid engine cannot run a scenario; None if it can."""
    limits = scenario.hybrid_limits()
    return limits[1] if limits is not None and limits[0] == "unable" else None


def unproved(scenario: Scenario) -> str | None:
    """Returns the reason why the hybrid engine's answer is unreliable; None if it is reliable."""
    limits = scenario.hybrid_limits()
    return None if limits is None else limits[1]


def engine_of_run(choice: Choice, scenario: Scenario, *, needs_packets: bool = False) -> Engine:
    """Returns the engine for a single run.

    `auto` selects the packet engine, unless the run would take longer than `PATIENCE_S`.

    Args:
        choice: the choice of the caller.
        scenario: the scenario to run.
        needs_packets: True if the caller wants figures that only packets have.

    Raises:
        RequestError: if the hybrid engine is requested and cannot run the scenario.
    """
    if choice == "hybrid":
        why = unable(scenario)
        if needs_packets:
            why = "the hybrid engine has no packets, and so no series, traces or other queues"
        if why is not None:
            raise RequestError(f"--engine hybrid: {why}\n  help: omit --engine")
        return "hybrid"
    if choice == "packets" or needs_packets or unproved(scenario) is not None:
        return "packets"
    return "hybrid" if cost_of(*scenario.calibrate(TRIAL_S)) > PATIENCE_S else "packets"
