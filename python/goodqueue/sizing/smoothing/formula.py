"""Smoothing buffer at an end host, which hides the saw-tooth from a player; not a router's buffer.

GAIMD(a, b) has a window that grows by `a` packets per round trip and keeps 1 - b of itself on a
loss. The area of the saw-tooth above its mean must be played from a buffer: B = b^2 (R T)^2 / (2 a
(2 - b)^2) packets. B is proportional to 1/a and quadratic in rate and round trip. With the friendly
a = 3b/(2 - b) it is a (R T)^2 / 18. The abstract of Li, Krasic, Walpole, Shor and Pu (IDMS 2001)
states these proportions.

With random losses the delivered data fluctuate too, and the law does not apply. With losses of
probability p the window W follows dW = a - b W per loss. About its mean, where a = b p W^2,
deviations decay at 2 b p W per round trip and are driven by a noise of variance b^2 W^2 p W. So the
data delivered in K round trips have a variance of K b^2 W^2 p W / (2 b p W)^2 = K W / (4 p), which
depends neither on a nor on b. M losses take K = M / (p W), so the standard deviation is sqrt(M) /
(2 p). Played at its mean rate such a stream is a Brownian bridge, which falls below its start by
sqrt(pi/8) of the deviation on average.
"""

from __future__ import annotations

import math


def smoothing_packets(window: float, increase: float, decrease: float) -> float:
    """Returns the packets of the playout buffer.

    Args:
        window: R T, the mean window in packets.
        increase: a, packets per round trip.
        decrease: b, the share of the window given up on a loss.
    """
    return decrease**2 * window**2 / (2 * increase * (2 - decrease) ** 2)


def wandering_packets(losses: int, apart: float) -> float:
    """Returns the packets of the playout buffer of a long stream with random losses.

    Args:
        losses: number of losses of the stream.
        apart: packets from one loss to the next, on average.
    """
    return math.sqrt(math.pi / 8) * math.sqrt(losses) * apart / 2
