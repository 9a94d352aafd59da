"""Prints the pauses of links with flow control, and deadlocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodqueue.output.terminal import counted, percent, plain, table

if TYPE_CHECKING:
    from rich.console import RenderableType

MAX_LINKS_PRINTED = 20


def pauses(links: dict[str, Any], measured_s: float) -> list[RenderableType]:
    """Returns a table of the links that PAUSE frames stopped longest, and a line about a deadlock.

    Args:
        links: figures of all links, by name.
        measured_s: measured time in seconds.
    """
    controlled = {name: link for name, link in links.items() if "paused_s" in link}
    paused = [name for name, link in controlled.items() if link["paused_s"] > 0]
    if not controlled:
        return []
    if not paused:
        return [f"No pause of {counted(len(controlled), 'link')} with flow control"]
    longest = sorted(paused, key=lambda name: -controlled[name]["paused_s"])[:MAX_LINKS_PRINTED]
    rows = [
        [
            plain(name),
            f"{link['pauses']:,}",
            percent(link["paused_s"] / measured_s),
            f"{link['peak_waiting_bytes']:,}",
        ]
        for name, link in controlled.items()
        if name in longest
    ]
    columns = ["link", "pauses", "time paused", "most B waiting behind it"]
    shown: list[RenderableType] = [table("Flow control", columns, rows)]
    if len(longest) < len(paused):
        more = counted(len(paused) - len(longest), "link")
        shown.append(f"... and {more} that paused for less time; --json prints them all")
    cycle = [plain(name) for name, link in links.items() if link.get("pause_cycle")]
    if cycle:
        shown.append(
            "[yellow]deadlock[/]: at the end these links are paused and wait for one another in a "
            f"circle: {', '.join(cycle)}"
        )
    return shown
