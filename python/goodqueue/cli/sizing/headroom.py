"""`goodqueue headroom`: the PFC headroom of a port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.errors import as_typed
from goodqueue.output.sizing.headroom import print_headroom
from goodqueue.output.terminal import print_json
from goodqueue.sizing.lossless.headroom import headroom

if TYPE_CHECKING:
    from goodqueue.cli.commands.sizing.headroom import Headroom


def show_headroom(asked: Headroom) -> int:
    """Prints the headroom; returns the exit code."""
    found = as_typed(headroom)(
        asked.speed,
        asked.cable,
        mtu=asked.mtu,
        cell=asked.cell,
        worst_frames=asked.worst_frames,
        interface_delay=asked.interface_delay,
        reaction=asked.reaction,
        ports=asked.ports,
        priorities=asked.priorities,
        oversubscription=asked.oversubscription,
    )
    if asked.json:
        print_json(found.as_dict())
    else:
        print_headroom(found)
    return 0
