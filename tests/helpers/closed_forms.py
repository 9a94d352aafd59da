"""Closed forms for tests: the saw-tooth of one Reno flow, and a queue of Poisson arrivals."""

from __future__ import annotations

import math

POISSON = """\
schema_version = 1
duration = "2000s"
[topology]
shape = "dumbbell"
[topology.bottleneck]
rate = "1Mbps"
delay = "1ms"
queue = { limit = "10p" }
[topology.queue]
limit = "unlimited"
[[flow]]
name = "packets"
workload = { kind = "poisson", rate = "900kbps", packet = "1000B" }
"""
"""A scenario of packets of 1000 bytes at random times before a queue of ten: M/D/1/10."""


def sawtooth(buffer: float) -> float:
    """Returns the utilisation of a link by one Reno flow, for a buffer in BDP.

    The window, in BDP, rises from (1 + buffer) / 2 to 1 + buffer, by a segment per round-trip time.
    While it is below 1, the link is busy for that share of a base round-trip time. Above 1 the link
    is always busy, and the round-trip time grows in proportion. Without a buffer the utilisation is
    3/4 (Appenzeller, Keslassy and McKeown, 2004, section 2).
    """
    least = min((1 + buffer) / 2, 1.0)
    full = ((1 + buffer) ** 2 - max(1.0, (1 + buffer) / 2) ** 2) / 2
    return ((1 - least**2) / 2 + full) / ((1 - least) + full)


def sawtooth_needs(utilization: float) -> float:
    """Returns the buffer in BDP with which the saw-tooth reaches a utilisation, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if sawtooth(middle) < utilization else (low, middle)
    return high


def md1k_loss(load: float, room: int) -> float:
    """Returns the loss of an M/D/1 queue with a limited system, from the chain at departures."""
    arrivals = [math.exp(-load)]
    for k in range(1, room + 1):
        arrivals.append(arrivals[-1] * load / k)
    # Unnormalised probabilities of the number of packets that a departure leaves in the system.
    left = [1.0]
    for k in range(room - 1):
        inflow = left[0] * arrivals[k] + sum(left[i] * arrivals[k - i + 1] for i in range(1, k + 1))
        left.append((left[k] - inflow) / arrivals[0])
    empty = left[0] / sum(left)
    return 1 - 1 / (empty + load)
