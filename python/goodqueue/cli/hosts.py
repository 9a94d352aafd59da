"""Notes on the hosts of TCP flows that name no profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodqueue.output.terminal import counted, stderr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodqueue._core import Scenario

MAX_GROUPS_NAMED = 3

REASONS = {
    "linux": 'Linux 6.18 (the default, "linux")',
    "rfc": (
        'TCP of the RFCs ("rfc", the default with schema_version = 1; with schema_version = 2 it '
        'is "linux", as in `size` and the lab)'
    ),
}
"""Hosts of flows without a profile, by the default of the version of their file."""


def assumed_hosts(scenario: Scenario) -> dict[str, Any] | None:
    """Returns the profile of flows that name none, and their groups, as keys of JSON.

    Returns:
        The keys; None if all TCP flows name a profile, or every switch.
    """
    found = scenario.assumed_hosts
    return None if found is None else {"profile": found[0], "groups": found[1]}


def note_hosts(scenarios: Iterable[Scenario]) -> None:
    """Prints a note on the first scenario with TCP flows that name no profile."""
    found = next((one.assumed_hosts for one in scenarios if one.assumed_hosts), None)
    if found is None:
        return
    profile, groups = found
    named = ", ".join(groups[:MAX_GROUPS_NAMED])
    more = len(groups) - MAX_GROUPS_NAMED
    others = f" and {counted(more, 'other group')}" if more > 0 else ""
    note = f"hosts of {named}{others} without tcp.profile: {REASONS[profile]}"
    stderr().print(note, soft_wrap=True, markup=False)
