"""The engines that run a scenario.

The packet engine simulates every packet of any scenario. The hybrid engine lets windows and the
queue change continuously between losses, so that a run costs by its loss events and not by its
packets. It runs long TCP flows before one queue, and its answers are relied on only where they were
shown to agree with those of the packet engine (docs/hybrid.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from goodqueue.errors import RequestError
from goodqueue.study.estimate import TRIAL_S, cost_of

if TYPE_CHECKING:
    from goodqueue._core import Scenario

Engine = Literal["packets", "hybrid"]
"""What runs a scenario."""

Choice = Literal["auto", "packets", "hybrid"]
"""What is asked for: one of the engines, or whichever suits."""

CHOICES: dict[str, Choice] = {"auto": "auto", "packets": "packets", "hybrid": "hybrid"}

AGREEMENT = (
    "an estimate: on links where both engines run, its smallest buffer lies within 30 % or 2 "
    "packets of that of packets in 85 % of 122 cases for utilisation, in 55 % of 119 for loss "
    "(docs/hybrid.md)"
)
"""What is said beside every answer of the hybrid engine."""

PATIENCE_S = 60.0
"""Seconds of computing beyond which `auto` takes a single run to be too long for packets."""


def choice_of(text: str) -> Choice:
    """The choice that `--engine` names.

    Raises:
        RequestError: of a name that is none of them.
    """
    if text not in CHOICES:
        raise RequestError(f"--engine {text}: write {', '.join(CHOICES)}")
    return CHOICES[text]


def unable(scenario: Scenario) -> str | None:
    """Why the hybrid engine cannot run a scenario; None if it can."""
    limits = scenario.hybrid_limits()
    return limits[1] if limits is not None and limits[0] == "unable" else None


def unproved(scenario: Scenario) -> str | None:
    """Why the hybrid engine's answer is not to be relied on; None if it is."""
    limits = scenario.hybrid_limits()
    return None if limits is None else limits[1]


def engine_of_run(choice: Choice, scenario: Scenario, *, needs_packets: bool = False) -> Engine:
    """The engine for a single run: by `auto` the packet engine, unless that would take too long.

    Args:
        choice: what is asked for.
        scenario: what is run.
        needs_packets: whether something is asked of the run that only packets can tell.

    Raises:
        RequestError: if the hybrid engine is asked for and cannot do that.
    """
    if choice == "hybrid":
        why = unable(scenario)
        if needs_packets:
            why = "the hybrid engine has no packets, and so no series, traces or other queues"
        if why is not None:
            raise RequestError(f"--engine hybrid: {why}\n  help: leave --engine out")
        return "hybrid"
    if choice == "packets" or needs_packets or unproved(scenario) is not None:
        return "packets"
    return "hybrid" if cost_of(*scenario.calibrate(TRIAL_S)) > PATIENCE_S else "packets"
