"""Measured coverage of the 90 % intervals of calibrated theory, by kind of link.

Links that were used neither for the fit nor for the widths were searched by simulation. Each kind
of link has its own count, because a coverage over all links can hide a kind that is covered badly.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from goodqueue.sizing.calibrated.record import FILE

if TYPE_CHECKING:
    from goodqueue.sizing.calibrated.smallest import Calibrated
    from goodqueue.sizing.link import Link

MIN_LINKS = 20
"""Smallest number of held-out links of a kind whose coverage is quoted."""

RATES = ((10e6, "below 10 Mb/s"), (100e6, "10 to 100 Mb/s"), (1e9, "100 Mb/s to 1 Gb/s"))
"""Upper ends of the classes of rates in bit/s, with their names."""

FLOWS = ((10, "1 to 9 flows"), (100, "10 to 99 flows"))
"""Upper ends of the classes of flows, with their names."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Number of held-out links of a kind, and of those whose interval held the searched buffer."""

    links: int
    held: int


def kinds_of(link: Link, found: Calibrated) -> tuple[str, ...]:
    """Returns the kinds to which a link belongs, the most special one last.

    Args:
        link: the link.
        found: the answer of calibrated theory.
    """
    hosts = f"{link.profile or 'described'} hosts"
    rate = next((name for end, name in RATES if link.rate_bps < end), "1 Gb/s and more")
    flows = next((name for end, name in FLOWS if link.flows < end), "100 flows and more")
    bound = "loss decides" if found.loss_decides else "utilisation decides"
    return ("all links", rate, flows, bound, hosts, f"{hosts}, {bound}")


@cache
def measured() -> dict[str, Coverage]:
    """Returns the coverage by kind; empty if the package has no record of it."""
    path = files(__package__).joinpath(FILE)
    if not path.is_file():
        return {}
    kinds = json.loads(path.read_text(encoding="utf-8"))["kinds"]
    return {kind: Coverage(**counts) for kind, counts in kinds.items()}


def of_kind(link: Link, found: Calibrated) -> tuple[str, Coverage] | None:
    """Returns the most special kind of the link with enough held-out links, and its coverage."""
    known = measured()
    for kind in reversed(kinds_of(link, found)):
        if kind in known and known[kind].links >= MIN_LINKS:
            return kind, known[kind]
    return None
