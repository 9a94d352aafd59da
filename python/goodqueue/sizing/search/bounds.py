"""The bounds of a link as targets of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.sizing.search.trials import Target

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link


def targets(link: Link) -> tuple[list[Target], list[Target]]:
    """Returns the link's bounds: those that a larger buffer helps, and those that it hurts."""
    helped = []
    if link.bounds_utilization:
        helped.append(Target("utilization", link.min_utilization, at_least=True))
    if link.max_loss_rate is not None:
        helped.append(Target("loss_rate", link.max_loss_rate, at_least=False))
    hurt = []
    if link.max_delay_s is not None:
        hurt.append(Target("p99_delay_s", link.max_delay_s, at_least=False))
    return helped, hurt
