"""Dimensionless groups of a link with a buffer, and the published forms that are corrected.

The fit of the table uses them; the core evaluates them. Each function takes buffers of B packets as
an array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goodqueue import _core
from goodqueue._core import IDLE_FLOOR, LOSS_FLOOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goodqueue.sizing.link import Link

    Floats = NDArray[np.float64]

__all__ = ["IDLE_FLOOR", "LOSS_FLOOR", "forms", "full_delay_s", "groups"]


def groups(link: Link, packets: Floats) -> Floats:
    """Returns the groups of one link at each buffer, shape (buffers, groups)."""
    return np.array(_core.theory_groups(link, packets.tolist()))


def forms(link: Link, packets: Floats) -> Floats:
    """Returns the logarithms of the forms: idle share, loss, delay over a full buffer's time."""
    return np.array(_core.theory_forms(link, packets.tolist()))


def full_delay_s(link: Link, packets: Floats) -> Floats:
    """Returns the seconds to send a full buffer and the packet in transmission."""
    return np.array(_core.full_delay_s(link, packets.tolist()))
