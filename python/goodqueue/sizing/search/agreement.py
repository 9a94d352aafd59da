"""Measured error of the hybrid engine's buffers, and the interval of an answer with this error.

Both engines found the smallest buffer of the same links (docs/hybrid.md). The ratios of their
buffers, by class of links, are the error of a further link of that class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.smallest import Smallest

AGREED_WINDOW = 20
"""Mean window of a flow, in packets, from which on the hybrid engine's buffers for a utilisation
were within 30 % of the packet engine's on 58 of 59 links (docs/hybrid.md)."""

LOSS_ERROR = 1.5
"""Largest usual ratio of the packet engine's loss to the hybrid engine's behind the same buffer:
exp(0.08 + 2 * 0.16), by the mean and the root mean square of its logarithm (docs/hybrid.md)."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Ratios of buffers, hybrid engine over packet engine, on links of one class.

    Attributes:
        links: number of links.
        low: smallest ratio of the middle nine tenths of the links; None if more than a twentieth of
            the links have no ratio, because the hybrid engine kept the bound with every buffer.
        high: largest ratio of the middle nine tenths; None if more than a twentieth of the links
            have no ratio, because the hybrid engine kept the bound with no buffer.
    """

    links: int
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Widened:
    """Range of buffers that the engine's measured error leaves.

    Attributes:
        low: smallest buffer in packets.
        high: largest one; None if no limit was shown to suffice or the error has no known bound.
        agreement: the measured error.
    """

    low: int
    high: int | None
    agreement: Agreement

    def as_dict(self) -> dict[str, int | None]:
        """Returns plain values."""
        return {"low_packets": self.low, "high_packets": self.high}


MEASURED = {
    ("utilization", "large"): Agreement(59, 0.75, 1.21),
    ("utilization", "small"): Agreement(29, 0.50, 1.31),
    ("loss", "large"): Agreement(57, None, None),
    ("loss", "small"): Agreement(29, None, 1.41),
}
"""Measured agreement by the bound and by windows: `small` below `AGREED_WINDOW` packets."""


def that_decides(link: Link, loss_rate: float) -> Link:
    """Returns the link with the bounds that decide an answer of the hybrid engine.

    Args:
        link: the link with its bounds.
        loss_rate: largest likely loss behind the answer's buffer. Far below the bound on the loss,
            the error of the engine's loss does not matter, and the utilisation alone decides.
    """
    if link.max_loss_rate is None or loss_rate * LOSS_ERROR > link.max_loss_rate:
        return link
    return replace(link, max_loss_rate=None)


def agreement_of(link: Link) -> Agreement:
    """Returns the measured agreement on links like this; the less exact one of two bounds."""
    bound = "utilization" if link.max_loss_rate is None else "loss"
    return MEASURED[bound, "small" if link.window_packets < AGREED_WINDOW else "large"]


def widened(link: Link, found: Smallest) -> Widened:
    """Returns the interval of an answer, widened by the engine's measured error."""
    error = agreement_of(link)
    low = 1 if error.high is None else max(math.floor((found.low + 1) / error.high), 1)
    high = None
    if found.high is not None and error.low is not None:
        high = math.ceil(found.high / error.low)
    return Widened(low, high, error)
