"""The buffer at an end host that smooths a saw-tooth for a player: no router's buffer.

For GAIMD(a, b): a window grows by `a` packets per round trip and keeps 1 - b of itself on a loss.
The area of the saw-tooth above its mean is what must be played from a buffer:
B = b^2 (R T)^2 / (2 a (2 - b)^2) packets. It is proportional to 1/a, quadratic in rate and round
trip; with the friendly a = 3b/(2 - b) it is a (R T)^2 / 18, as the abstract of Li, Krasic, Walpole,
Shor and Pu (IDMS 2001) states the proportions.

Where losses come at random, what has been delivered wanders with them, and the law says nothing.
With losses of chance p the window W follows dW = a - b W per loss. About its mean, where
a = b p W^2, deviations decay at 2 b p W a round trip and are driven by a noise of variance
b^2 W^2 p W. So what is delivered in K round trips has a variance of K b^2 W^2 p W / (2 b p W)^2
= K W / (4 p): neither a nor b is left. M losses take K = M / (p W): a deviation of sqrt(M) / (2 p).
Played at its mean rate such a stream is a Brownian bridge, which falls below its start by
sqrt(pi/8) of the deviation on average.
"""

from __future__ import annotations

import math


def smoothing_packets(window: float, increase: float, decrease: float) -> float:
    """Packets of playout buffer.

    Args:
        window: R T, the mean window in packets.
        increase: a, packets per round trip.
        decrease: b, the share of the window given up on a loss.
    """
    return decrease**2 * window**2 / (2 * increase * (2 - decrease) ** 2)


def friendly_increase(decrease: float) -> float:
    """The increase a = 3b/(2 - b): as fast as Reno at the same loss, timeouts apart."""
    return 3 * decrease / (2 - decrease)


def wandering_packets(losses: int, apart: float) -> float:
    """Packets of playout buffer of a long stream whose losses come at random.

    Args:
        losses: how many there are in the stream.
        apart: packets from one loss to the next, on average.
    """
    return math.sqrt(math.pi / 8) * math.sqrt(losses) * apart / 2
