"""The smallest buffer by calibrated theory, with its 90 % predictive interval.

The core has the theory; these functions take the table of the package unless another is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goodqueue._core import LIKELY, NINETY
from goodqueue.sizing.calibrated.surface import surfaces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goodqueue._core import Surfaces
    from goodqueue.sizing.link import Link

    Floats = NDArray[np.float64]

__all__ = [
    "LIKELY",
    "NINETY",
    "Calibrated",
    "bracket",
    "calibrated",
    "chances_kept",
    "least_if",
    "least_loss",
    "most_busy",
    "without",
]


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Answer of calibrated theory for one link.

    Attributes:
        packets: the smallest buffer that keeps all bounds; None if none is expected to.
        low: the lower end of its 90 % predictive interval.
        high: the upper end; None if possibly no buffer suffices.
        chance: the probability that some buffer keeps all bounds.
        least: the smallest buffer that keeps utilisation and loss, whatever the delay; None if none
            is expected to.
        loss_decides: True if the bound on loss needs a larger buffer than that on utilisation.
        most: the largest buffer that is expected to keep the delay; None if it is not bounded.
        figures: expected utilisation, loss and 99th percentile of the queueing delay at `packets`
            (or `least`), each with its 90 % predictive interval.
        outside: differences of the link from those of the study; empty inside the fitted range.
    """

    packets: int | None
    low: int
    high: int | None
    chance: float
    least: int | None
    loss_decides: bool
    most: int | None
    figures: dict[str, tuple[float, float, float]]
    outside: tuple[str, ...]


def calibrated(link: Link, table: Surfaces | None = None) -> Calibrated | None:
    """Returns the answer for a link; None if the surfaces do not apply to its flows.

    They apply to flows whose windows are saw-teeth.
    """
    found = _or_own(table).calibrated(link)
    if found is None:
        return None
    return Calibrated(
        packets=found["packets"],
        low=found["low"],
        high=found["high"],
        chance=found["chance"],
        least=found["least"],
        loss_decides=found["loss_decides"],
        most=found["most"],
        figures=dict(found["figures"]),
        outside=tuple(found["outside"]),
    )


def least_if(link: Link, table: Surfaces, shift: float) -> int | None:
    """Returns the smallest buffer for utilisation and loss, both `shift` standard errors worse."""
    return table.least_if(link, shift)


def bracket(link: Link) -> tuple[int, int] | None:
    """Returns the limits in packets between which a search begins; None if nothing is known.

    The upper end is finite even if possibly no buffer suffices.
    """
    found = calibrated(link)
    if found is None or found.least is None:
        return None
    return found.low, found.high or 4 * found.least


def chances_kept(link: Link, packets: Floats, table: Surfaces | None = None) -> dict[str, Floats]:
    """Returns the probability that each buffer keeps each bound, by figure; empty if unknown.

    Args:
        link: the link with its bounds.
        packets: the buffers, shape (n,).
        table: the surfaces; those of the package if None.
    """
    found = _or_own(table).chances_kept(link, packets.tolist())
    return {name: np.array(chances) for name, chances in found}


def without(link: Link) -> dict[str, int]:
    """Returns the smallest buffer without one of the bounds, by the bound's name."""
    return surfaces().without(link)


def least_loss(link: Link) -> tuple[float, int]:
    """Returns the smallest loss that is expected with any buffer, and that buffer in packets."""
    return surfaces().least_loss(link)


def most_busy(link: Link) -> tuple[float, int]:
    """Returns the largest utilisation expected with any buffer, and that buffer in packets."""
    return surfaces().most_busy(link)


def _or_own(table: Surfaces | None) -> Surfaces:
    return surfaces() if table is None else table
