"""Queues of smooth traffic: M/M/1/K and M/D/1/K.

K counts the packet in transmission; a buffer holds K - 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodqueue.sizing.rules.rule import Advice, Rule, broken

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodqueue.sizing.link import Link

MOST_PLACES = 10_000
"""No queue of smooth traffic is asked to be longer."""


def mm1k_loss(load: float, places: int) -> float:
    """Loss of a queue with exponential sizes: (1 - r) r^K / (1 - r^(K+1)); 1/(K+1) for r = 1."""
    if load == 1:
        return 1 / (places + 1)
    return (1 - load) * load**places / (1 - load ** (places + 1))


def mm1k_mean(load: float, places: int) -> float:
    """Mean number of packets in the system, the one in transmission included."""
    if load == 1:
        return places / 2
    top = load ** (places + 1)
    return load / (1 - load) - (places + 1) * top / (1 - top)


def md1k_loss(load: float, places: int) -> float:
    """Loss of a queue with equal sizes, exactly: from the chain embedded at departures.

    With pi the distribution of what departures leave behind (0 to K - 1 packets), the loss is
    1 - 1/(pi_0 + r).
    """
    arrivals = [math.exp(-load)]
    for count in range(1, places):
        arrivals.append(arrivals[-1] * load / count)
    # Unnormalised: state j + 1 follows from the balance of states up to j.
    states = [1.0]
    for j in range(places - 1):
        inflow = states[j] - states[0] * arrivals[j]
        inflow -= sum(states[i] * arrivals[j - i + 1] for i in range(1, j + 1))
        states.append(inflow / arrivals[0])
    return 1 - 1 / (states[0] / math.fsum(states) + load)


def least_places(loss: Callable[[float, int], float], load: float, bound: float) -> int | None:
    """The smallest K that keeps the loss; None if none up to 10,000 does."""
    if loss(load, MOST_PLACES if loss is mm1k_loss else 200) > bound:
        return None
    low, high = 0, MOST_PLACES if loss is mm1k_loss else 200
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if loss(load, middle) <= bound else (middle, high)
    return high


def _advise(loss: Callable[[float, int], float], link: Link) -> Advice:
    load = link.min_utilization
    if link.max_loss_rate is None:
        return Advice(None, ("needs a bound on loss (--max-loss)",))
    places = least_places(loss, load, link.max_loss_rate)
    return Advice(
        None if places is None else float(max(places - 1, 1)),
        broken(
            (
                not link.paced,
                "arrivals are no Poisson stream: TCP senders burst, and adapt to loss",
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
    advise=lambda link: _advise(mm1k_loss, link),
)
RULE_MD1K = Rule(
    name="md1k",
    title="M/D/1/K",
    equation="p = 1 - 1/(pi_0 + r), B = K - 1",
    source="the chain embedded at departures; Gross and Harris, Fundamentals of Queueing Theory",
    assumptions=("Poisson arrivals that do not adapt", "packets of one size"),
    advise=lambda link: _advise(md1k_loss, link),
)
