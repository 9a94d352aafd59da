"""What TCP is expected to send at a given loss: closed forms for checks and for planning runs."""

from __future__ import annotations

import math


def mathis_bps(segment_bytes: int, rtt_s: float, loss_rate: float, ack_every: int = 1) -> float:
    """Reno's goodput in bits per second: (MSS/T) sqrt(3/(2 b p)).

    Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997.
    """
    return 8 * segment_bytes / rtt_s * math.sqrt(3 / (2 * ack_every * loss_rate))


def pftk_packets_per_s(
    rtt_s: float, loss_rate: float, timeout_s: float, ack_every: int, most_window: float
) -> float:
    """Reno's rate with timeouts (Padhye et al., SIGCOMM 1998, equation 30): packets per second."""
    p, b = loss_rate, ack_every
    timeouts = timeout_s * min(1, 3 * math.sqrt(3 * b * p / 8)) * p * (1 + 32 * p * p)
    return min(most_window / rtt_s, 1 / (rtt_s * math.sqrt(2 * b * p / 3) + timeouts))


def reno_epoch_s(window_packets: float, rtt_s: float, ack_every: int = 2) -> float:
    """Seconds between two losses of a Reno flow whose window is so large before a loss.

    Half of it grows back by one packet in `ack_every` round trips.
    """
    return window_packets / 2 * ack_every * rtt_s


def cubic_epoch_s(window_packets: float) -> float:
    """Seconds that CUBIC takes back to the window of its last loss.

    K = cbrt(W (1 - 0.7) / 0.4) (RFC 9438, equation 2).
    """
    return math.cbrt(window_packets * 0.3 / 0.4)
