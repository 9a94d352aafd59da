"""The smallest buffer by calibrated theory, with its 90 % predictive interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from goodqueue.sizing.calibrated.groups import IDLE_FLOOR, LOSS_FLOOR
from goodqueue.sizing.calibrated.surface import (
    DELAY,
    IDLE,
    LOSS,
    Predicted,
    Surfaces,
    surfaces,
)
from goodqueue.sizing.rules.loss.bscl import bscl
from goodqueue.sizing.search.trials import grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goodqueue.sizing.link import Link

    Floats = NDArray[np.float64]

NINETY = 1.645
"""Standard errors on both sides that contain 90 % of a normal distribution."""

SHIFTS = tuple(np.linspace(-2.5, 2.5, 21))
"""Deviations in standard errors at which the surfaces are inverted, to weight possible answers."""

KEPT_OVER = 1.4
"""A buffer suffices if all limits up to this factor above it keep the bounds too."""

MOST_BDPS, MOST_BSCL, MOST_DELAYS = 8, 2, 1.5
"""Largest buffers that are considered, as a search does: bandwidth-delay products, multiples of the
answer of BSCL, and with a bound on delay multiples of the buffer that it allows."""

LIKELY = 0.5


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
        most: the largest buffer that is expected to keep the delay; None if it is not bounded.
        figures: expected utilisation, loss and 99th percentile of the queueing delay at `packets`
            (or `least`), each with its 90 % predictive interval; empty without one.
        outside: differences of the link from those of the study; empty inside the fitted range.
    """

    packets: int | None
    low: int
    high: int | None
    chance: float
    least: int | None
    most: int | None
    figures: dict[str, tuple[float, float, float]]
    outside: tuple[str, ...]


def knows(link: Link) -> bool:
    """Returns True if the surfaces apply to such flows: those whose windows are saw-teeth."""
    return link.flows > 0 and link.decrease is not None


def limits(link: Link) -> Floats:
    """Returns the limits of a search, up to the largest possible answer."""
    last = max(MOST_BDPS * link.bdp_packets, MOST_BSCL * bscl(link).packets, 8)
    if link.max_delay_s is not None:
        last = max(last, MOST_DELAYS * link.max_delay_s / link.packet_time_s)
    return np.array(grid(math.ceil(last)), dtype=float)


def calibrated(link: Link, table: Surfaces | None = None) -> Calibrated | None:
    """Returns the answer for a link; None if the surfaces do not apply to its flows."""
    if not knows(link):
        return None
    table = surfaces() if table is None else table
    found = table.at(link, limits(link))
    least = _least(link, found, 0.0)
    ends = [_least(link, found, shift) for shift in (-table.tails[0], table.tails[1])]
    chance = _chance(link, found)
    feasible = chance >= LIKELY and least is not None
    at = least if least is not None else len(found.packets) - 1
    most = None if link.max_delay_s is None else _most(link, found)
    return Calibrated(
        packets=int(found.packets[at]) if feasible else None,
        low=int(found.packets[ends[0]]) if ends[0] is not None else int(found.packets[-1]),
        high=None if ends[1] is None else int(found.packets[ends[1]]),
        chance=chance,
        least=None if least is None else int(found.packets[least]),
        most=most,
        figures=_figures(found, at),
        outside=table.outside(link, float(found.packets[at])),
    )


def least_if(link: Link, table: Surfaces, shift: float) -> int | None:
    """Returns the smallest buffer for utilisation and loss, both `shift` standard errors worse."""
    found = table.at(link, limits(link))
    place = _least(link, found, shift)
    return None if place is None else int(found.packets[place])


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
    if not knows(link):
        return {}
    return _chances(link, (surfaces() if table is None else table).at(link, packets))


def without(link: Link) -> dict[str, int]:
    """Returns the smallest buffer without one of the bounds, by the bound's name."""
    given_up = {
        "utilization": replace(link, min_utilization=1e-9),
        "loss_rate": replace(link, max_loss_rate=None),
        "p99_delay_s": replace(link, max_delay_s=None),
    }
    found = {name: calibrated(other) for name, other in given_up.items() if other != link}
    return {
        name: one.packets
        for name, one in found.items()
        if one is not None and one.packets is not None
    }


def least_loss(link: Link) -> tuple[float, int]:
    """Returns the smallest loss that is expected with any buffer, and that buffer in packets."""
    found = surfaces().at(link, limits(link))
    place = int(np.argmin(found.loss_rate()))
    return float(found.loss_rate()[place]), int(found.packets[place])


def most_busy(link: Link) -> tuple[float, int]:
    """Returns the largest utilisation expected with any buffer, and that buffer in packets."""
    found = surfaces().at(link, limits(link))
    place = int(np.argmax(found.utilization()))
    return float(found.utilization()[place]), int(found.packets[place])


def _chances(link: Link, found: Predicted) -> dict[str, Floats]:
    """Returns the probability that each buffer keeps each bound."""
    idle, loss = _bounds(link)
    bounds = {"utilization": (IDLE, idle)}
    if loss is not None:
        bounds["loss_rate"] = (LOSS, loss)
    chances = {
        name: _below((bound - found.means[:, column]) / found.errors[:, column])
        for name, (column, bound) in bounds.items()
    }
    if link.max_delay_s is not None:
        chances["p99_delay_s"] = _keeps_delay(link, found)
    return chances


def _bounds(link: Link) -> tuple[float, float | None]:
    """Returns the largest logarithms of idle share and loss within the bounds, plus floors."""
    idle = math.log(1 - link.min_utilization + IDLE_FLOOR)
    if link.max_loss_rate is None:
        return idle, None
    return idle, math.log(link.max_loss_rate + LOSS_FLOOR)


def _keeps_delay(link: Link, found: Predicted) -> Floats:
    assert link.max_delay_s is not None
    share = np.log(link.max_delay_s / found.full_s)
    chance = _below((share - found.means[:, DELAY]) / found.errors[:, DELAY])
    return np.where(share >= 0, 1.0, chance)


def _below(deviations: Floats) -> Floats:
    """Returns the normal distribution function at these deviations, in standard deviations."""
    return np.array([0.5 * math.erfc(-one / math.sqrt(2)) for one in deviations])


def _least(link: Link, found: Predicted, shift: float) -> int | None:
    """Returns the index of the smallest sufficient limit with errors shifted by `shift`."""
    keeps = found.utilization(shift) >= link.min_utilization
    if link.max_loss_rate is not None:
        keeps &= found.loss_rate(shift) <= link.max_loss_rate
    packets = found.packets
    breaks = np.flatnonzero(~keeps)
    for place in np.flatnonzero(keeps):
        later = breaks[breaks > place]
        end = packets[later[0]] if len(later) else math.inf
        if end > KEPT_OVER * packets[place]:
            return int(place)
    return None


def _most(link: Link, found: Predicted) -> int:
    """Returns the largest limit that is expected to keep the delay; at least one packet."""
    kept = found.packets[found.p99_delay_s() <= (link.max_delay_s or math.inf)]
    return int(kept[-1]) if len(kept) else 1


def _chance(link: Link, found: Predicted) -> float:
    """Returns the probability that some buffer keeps all bounds, over the surfaces' error."""
    weights = np.exp(-0.5 * np.square(SHIFTS))
    delay = None if link.max_delay_s is None else _keeps_delay(link, found)
    kept = []
    for shift in SHIFTS:
        place = _least(link, found, float(shift))
        if place is None:
            kept.append(0.0)
        else:
            kept.append(1.0 if delay is None else float(delay[place]))
    return float(weights @ np.array(kept) / weights.sum())


def _figures(found: Predicted, at: int) -> dict[str, tuple[float, float, float]]:
    """Returns the expected figures at an index: the mean and the ends of its interval."""
    one = Predicted(
        found.packets[at : at + 1],
        found.means[at : at + 1],
        found.errors[at : at + 1],
        found.full_s[at : at + 1],
    )
    figures = {}
    for name in ("utilization", "loss_rate", "p99_delay_s"):
        of_shift = getattr(one, name)
        middle, *ends = (float(of_shift(shift)[0]) for shift in (0.0, -NINETY, NINETY))
        figures[name] = (middle, min(ends), max(ends))
    return figures
