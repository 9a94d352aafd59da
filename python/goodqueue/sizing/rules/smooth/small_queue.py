"""Queues of smooth traffic: M/M/1/K and M/D/1/K.

K counts the packet in transmission; a buffer holds K - 1.
"""

from __future__ import annotations

import math
from itertools import count, islice
from typing import TYPE_CHECKING

import numpy as np

from goodqueue.sizing.rules.rule import Advice, Rule, broken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from goodqueue.sizing.link import Link

    Floats = NDArray[np.float64]

MOST_PLACES = 10_000
"""Largest number of places that is tried."""

MOST_ARRIVALS = 512
"""Number of terms of the arrival distribution. For a load of up to 1, the probability of half as
many arrivals during one packet is already 0 in floating point."""


def mm1k_losses(load: float) -> Iterator[float]:
    """Yields the loss of queues with exponential sizes and 1, 2 ... places, by `mm1k_loss`."""
    return (mm1k_loss(load, places) for places in count(1))


def mm1k_loss(load: float, places: int) -> float:
    """Returns the loss with exponential sizes: (1 - r) r^K / (1 - r^(K+1)); 1/(K+1) for r = 1."""
    if load == 1:
        return 1 / (places + 1)
    return (1 - load) * load**places / (1 - load ** (places + 1))


def md1k_losses(load: float) -> Iterator[float]:
    """Yields the exact loss of queues with equal sizes and 1, 2 ... places, at departures.

    Nothing is subtracted, so that small losses keep all digits. Let pi_i be the unnormalised
    probability that a departure leaves i packets, and A the number of arrivals while a packet is
    sent. The chain moves down to a state j as often as it rises above it:

        pi_(j+1) P(A = 0) = pi_0 P(A > j) + sum over i = 1 .. j of pi_i P(A > j + 1 - i)

    which does not depend on the number of places. With K places, the queue accepts K - i arrivals
    during a packet, or K - 1 after an empty queue, and loses the rest.
    """
    above = _poisson_tail(load)
    excess = np.append(np.cumsum(above[::-1])[::-1], 0.0)  # E[(A - n)^+], the sum of P(A > n ...)
    left = np.array([1.0])
    while True:
        places = len(left)
        lost = _after(left, excess, places) / left.sum()
        yield float(lost / (1 + lost))
        left = np.append(left, _after(left, above, places) / math.exp(-load))
        left /= left.max()  # above a load of 1 they grow without end


def _poisson_tail(mean: float) -> Floats:
    """Returns P(A > n) for n = 0, 1 ... as far as floating point distinguishes it from zero."""
    counts = np.arange(1, 2 * MOST_ARRIVALS)
    chances = np.exp(counts * math.log(mean) - mean - np.cumsum(np.log(counts)))
    above: Floats = np.cumsum(chances[::-1])[::-1]  # the smallest are added first
    return above[:MOST_ARRIVALS]


def _after(left: Floats, tail: Floats, places: int) -> float:
    """Returns the sum of a tail at the free places of each state; an arrival ends state 0."""
    states = np.arange(max(places - len(tail) + 1, 0), places)
    return float(left[states] @ tail[places - np.maximum(states, 1)])


def least_places(losses: Iterator[float], bound: float) -> int | None:
    """Returns the smallest K that keeps the loss; None if none that is tried does."""
    tried = enumerate(islice(losses, MOST_PLACES), 1)
    return next((places for places, loss in tried if loss <= bound), None)


def _advise(losses: Callable[[float], Iterator[float]], link: Link) -> Advice:
    load = link.min_utilization
    if link.max_loss_rate is None:
        return Advice(None, ("needs a bound on loss (--max-loss)",))
    places = least_places(losses(load), link.max_loss_rate)
    return Advice(
        None if places is None else float(max(places - 1, 1)),
        broken(
            (
                not link.paced,
                (
                    "arrivals are not a Poisson process, because TCP senders send bursts and "
                    "adapt to loss"
                ),
            ),
            (places is None, "at this load no such queue keeps the loss"),
        ),
        (f"offered load {load:.0%}",),
    )


RULE_MM1K = Rule(
    name="mm1k",
    title="M/M/1/K",
    equation="p = (1 - r) r^K / (1 - r^(K+1)), B = K - 1",
    source="Kleinrock, Queueing Systems I, 1975, section 3.6",
    assumptions=("Poisson arrivals that do not adapt", "exponential packet sizes"),
    advise=lambda link: _advise(mm1k_losses, link),
)
RULE_MD1K = Rule(
    name="md1k",
    title="M/D/1/K",
    equation="p = 1 - 1/(pi_0 + r), B = K - 1",
    source="the chain embedded at departures; Gross and Harris, Fundamentals of Queueing Theory",
    assumptions=("Poisson arrivals that do not adapt", "packets of one size"),
    advise=lambda link: _advise(md1k_losses, link),
)
