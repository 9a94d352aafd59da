"""Prints the buffer of a link that is not full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.output.sizing.theory import in_units
from goodqueue.output.terminal import counted, number, percent, plain, rate
from goodqueue.sizing.bursts import FASTER, INITIAL_WINDOW
from goodqueue.sizing.export import linux

if TYPE_CHECKING:
    from goodqueue.sizing.bursts import Bursts


def burst_lines(found: Bursts, notes: tuple[str, ...]) -> list[str]:
    """Returns the answer in sentences, with the line for Linux."""
    link = found.link
    together = max(found.together, 1)
    flows = f"{counted(together, 'flow')} that {'begins' if together == 1 else 'begin at once'}"
    used = f"{percent(found.used)} used ({rate(found.load_bps)})"
    why = (
        f"for {flows} with {INITIAL_WINDOW} segments each, and one burst of "
        f"offload of 64 KiB, from hosts {FASTER:g} times as fast; {number(found.flows_per_s, 3)} "
        "flows begin in a second"
    )
    return [
        f"[bold]{rate(link.rate_bps)}[/], packets of {link.packet_bytes} B",
        *map(plain, notes),
        "",
        f"this link is {used}: its buffer serves bursts",
        f"[bold]estimate[/]: [bold]{in_units(link, found.packets)}[/]",
        why,
        *(f"    {line}" for line in linux(found.packets, link.packet_bytes).lines),
        "no rule for long flows applies, because this link limits none; nothing was simulated",
    ]
