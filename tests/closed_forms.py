"""What tests know in closed form: one Reno flow's saw-tooth, and a queue of Poisson arrivals."""

from __future__ import annotations

import math


def sawtooth(buffer: float) -> float:
    """How busy one Reno flow keeps a link whose buffer has so many BDP.

    The window, in BDP, rises from (1 + buffer) / 2 to 1 + buffer, a segment per round-trip time.
    Below 1 the link is busy for that share of a base round-trip time; above it all the time, and
    the round-trip time is stretched likewise. Without a buffer that is 3/4 (Appenzeller, Keslassy
    and McKeown, 2004, section 2).
    """
    least = min((1 + buffer) / 2, 1.0)
    full = ((1 + buffer) ** 2 - max(1.0, (1 + buffer) / 2) ** 2) / 2
    return ((1 - least**2) / 2 + full) / ((1 - least) + full)


def sawtooth_needs(utilization: float) -> float:
    """The buffer in BDP with which the saw-tooth keeps a link so busy, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if sawtooth(middle) < utilization else (low, middle)
    return high


def md1k_loss(load: float, room: int) -> float:
    """Loss of M/D/1 with so much room in the system, from the chain embedded at departures."""
    arrivals = [math.exp(-load)]
    for k in range(1, room + 1):
        arrivals.append(arrivals[-1] * load / k)
    # Unnormalised probabilities that a departure leaves so many behind.
    left = [1.0]
    for k in range(room - 1):
        inflow = left[0] * arrivals[k] + sum(left[i] * arrivals[k - i + 1] for i in range(1, k + 1))
        left.append((left[k] - inflow) / arrivals[0])
    empty = left[0] / sum(left)
    return 1 - 1 / (empty + load)
