"""The buffer at an end host that smooths a saw-tooth for a player: no router's buffer.

For GAIMD(a, b): a window grows by `a` packets per round trip and keeps 1 - b of itself on a loss.
The area of the saw-tooth above its mean is what must be played from a buffer:
B = b^2 (R T)^2 / (2 a (2 - b)^2) packets. It is proportional to 1/a, quadratic in rate and round
trip; with the friendly a = 3b/(2 - b) it is a (R T)^2 / 18, as the abstract of Li, Krasic, Walpole,
Shor and Pu (IDMS 2001) states the proportions.
"""

from __future__ import annotations


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
