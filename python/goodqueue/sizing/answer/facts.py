"""The facts behind an answer: its number, the sets of limits, its interval, the nearest miss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.sizing.search.bounds import targets
from goodqueue.sizing.search.sets import by_chance, nearest, sets
from goodqueue.sizing.search.smallest import bracket

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.smallest import Smallest
    from goodqueue.sizing.search.trials import Target, Trials

LIKELY_NOT = 0.05
"""Largest probability, by calibrated theory, that some buffer keeps the bounds, with which theory
says that none does."""

FAR_FROM_LIKELY = 1e-3
"""The same probability for links outside those on which the theory was calibrated."""

BY_THEORY = "calibrated theory expects none to suffice"

MUCH_LOSS = 0.02
"""Loss from which on an answer without a bound on the loss says so first."""

GOOD_LOSS = 0.01
"""Loss whose buffer such an answer gives, too."""

LONG_DELAY_S = 0.2
"""99th percentile of the queueing delay from which on an answer without a bound on it says so."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Facts that an answer must not hide, although no bound was asked about them.

    Attributes:
        loss_rate: mean loss behind the answer's buffer; None if it is small or bounded.
        packets_for_good_loss: the buffer that loses 1 %, by calibrated theory, or by a short search
            where that does not apply; None if none does.
        p99_delay_s: 99th percentile of the queueing delay; None if it is short or bounded.
    """

    loss_rate: float | None = None
    packets_for_good_loss: int | None = None
    p99_delay_s: float | None = None


@dataclass(frozen=True, slots=True)
class Miss:
    """The limit that misses the bounds least.

    Attributes:
        packets: the limit.
        figure: the figure that misses its bound most.
        mean: its mean there.
        bound: its bound.
    """

    packets: int
    figure: str
    mean: float
    bound: float


@dataclass(frozen=True, slots=True)
class Facts:
    """Statements of a search beside its limit.

    Attributes:
        packets: the answer's number: the smallest buffer that keeps all bounds, or the nearest
            miss.
        sets: lowest and highest limit of each set that keeps all bounds; the highest is None if the
            largest limit that was tried keeps them.
        deciding: figure whose bound the next smaller limit breaks, or which the nearest miss
            misses; None if no bound decides.
        chance: 95 % interval of the answer over the seeds; an end is None if it is not known.
        miss: the nearest miss; None if some limit keeps all bounds.
        best: limit for each bound alone, by its figure: the smallest that keeps it (the largest for
            a bound on the delay), or the one that misses it least.
    """

    packets: int
    sets: tuple[tuple[int, int | None], ...]
    deciding: str | None
    chance: tuple[int | None, int | None]
    miss: Miss | None
    best: dict[str, int]


def facts_of(link: Link, trials: Trials, found: Smallest) -> Facts:
    """Returns the facts that the replicates of a search show."""
    helped, hurt = targets(link)
    every = [*helped, *hurt]
    kept = sets(trials, every)
    packets = found.limit
    if packets is None:
        packets = kept[0][0] if kept else found.nearest
    miss = None
    if not kept and found.limit is None:
        target = _worst(trials, packets, every)
        miss = Miss(packets, target.figure, _mean(trials, packets, target), target.bound)
    below = [limit for limit in trials.limits if limit < packets]
    deciding = None if miss is None else miss.figure
    if miss is None and below:
        deciding = _worst(trials, below[-1], helped).figure
    chance = by_chance(trials, helped, packets, bracket(trials, helped)) if miss is None else None
    return Facts(
        packets,
        tuple(one for one in kept if one[1] is None or one[1] >= packets),
        deciding,
        chance or (None, None),
        miss,
        {target.figure: _best(trials, target, largest=target in hurt) for target in every},
    )


def _mean(trials: Trials, limit: int, target: Target) -> float:
    return trials.interval(limit, target.figure).mean


def _worst(trials: Trials, limit: int, of: Sequence[Target]) -> Target:
    """Returns the target that a limit misses most."""
    return max(of, key=lambda target: target.miss(_mean(trials, limit, target)))


def _best(trials: Trials, target: Target, *, largest: bool) -> int:
    """Returns the smallest or the largest limit that keeps a bound, or misses it least."""
    kept = [limit for limit in trials.limits if trials.passes(limit, [target])]
    if not kept:
        return nearest(trials, [target])
    return max(kept) if largest else min(kept)
