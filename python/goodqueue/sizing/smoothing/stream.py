"""Simulated streams of GAIMD flows with given losses, and the buffer that smooths them.

The mean window is R T. R is the requested rate, or follows from the duration of the stream.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.study.plan import run_of, variant_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.study.model import Run
    from goodqueue.study.runner import Runner

LADDER_BPS = 8e6
"""Bit rate of the segment in `stream.toml`: its length in seconds sets its number of bytes."""

METRICS = ("stream.smoothing_buffer_bytes", "stream.mean_segment_time_s")
OPENING = 2
"""Round trips from the start until the first byte arrives: the handshake, and the request."""


def friendly_decrease(increase: float) -> float:
    """Returns the decrease b of the friendly pair a = 3b/(2 - b)."""
    return 2 * increase / (3 + increase)


@dataclass(frozen=True, slots=True)
class Stream:
    """A GAIMD flow at a loss rate that gives it a mean window.

    Attributes:
        increase: a, packets per round trip.
        decrease: b, the share of the window given up on a loss.
        window: R T in packets.
        rtt_s: T in seconds.
        losses: number of parts of equal length of the stream; a loss lies between two of them.
        at_random: True if each packet is lost with the probability that gives this number of
            losses.
        offset: share of a tooth that lies before the stream begins; only for losses at even
            distances.
        packet_bytes: payload of a packet.
    """

    increase: float
    decrease: float
    window: float
    rtt_s: float
    losses: int
    at_random: bool = False
    offset: float = 0.0
    packet_bytes: int = 1000

    @property
    def peak(self) -> float:
        """Window at which a loss occurs."""
        return self.window / (1 - self.decrease / 2)

    @property
    def apart(self) -> int:
        """Packets from one loss to the next, which are those of one tooth."""
        return round(self.decrease * self.peak * self.window / self.increase)

    @property
    def packets(self) -> int:
        """Packets of the whole stream, including retransmissions (sent between teeth)."""
        return self.losses * self.apart - (0 if self.at_random else len(self.places))

    @property
    def places(self) -> list[int]:
        """Numbers of packets before each loss, for losses at even distances."""
        last = self.losses + 1 if self.offset else self.losses
        return [round((part - self.offset) * self.apart) for part in range(1, last)]

    @property
    def start(self) -> int:
        """First window, from the position on a tooth, or the mean of random teeth.

        From the foot to a window w the flow sends (w^2 - foot^2) / (2 a) packets.
        """
        if self.at_random:
            return max(round(self.window), 1)
        foot = (1 - self.decrease) * self.peak
        return max(round(math.sqrt(foot**2 + 2 * self.increase * self.offset * self.apart)), 1)

    def run(self, seed: int = 1) -> Run:
        """Returns the scenario under a seed."""
        overrides = [
            ("topology.bottleneck.delay", f"{round(self.rtt_s / 2 * 1e6)}us"),
            self._lost(),
            ("flow.stream.tcp.congestion_control.alpha", repr(self.increase)),
            ("flow.stream.tcp.congestion_control.beta", f"{self.decrease:.9f}"),
            ("flow.stream.tcp.initial_window", f"{self.start}p"),
            ("flow.stream.tcp.initial_ssthresh", f"{self.start}p"),
            ("flow.stream.tcp.mss", f"{self.packet_bytes}B"),
            ("flow.stream.workload.segment", f"{self._segment_us}us"),
            ("duration", f"{round(20 * self.packets * self.rtt_s / self.window) + 100}s"),
        ]
        text = files(__package__).joinpath("stream.toml").read_bytes()
        scenario = _core.Scenario.parse(text, "stream.toml", overrides)
        parameters = {"increase": self.increase, "window": self.window, "rtt_s": self.rtt_s}
        return run_of(variant_of(scenario, parameters), seed)

    @property
    def _segment_us(self) -> int:
        return round(self.packets * self.packet_bytes * 8 / LADDER_BPS * 1e6)

    def _lost(self) -> tuple[str, str]:
        if self.at_random:
            chance = f'{{ probability = {1 / self.apart:.9f}, of = "data" }}'
            return ("topology.bottleneck.loss", chance)
        return ("topology.bottleneck.drop_list", str(self.places))


@dataclass(frozen=True, slots=True)
class Smoothed:
    """Result of a simulated stream.

    Attributes:
        buffer: packets that its player must store.
        window: R T in packets, from the duration of the stream.
    """

    buffer: float
    window: float


def smoothed(runner: Runner, wanted: Sequence[tuple[Stream, int]]) -> list[Smoothed]:
    """Runs streams, each under a seed."""
    figures = runner.figures([stream.run(seed) for stream, seed in wanted], METRICS)
    return [
        Smoothed(size / stream.packet_bytes, stream.packets / (time / stream.rtt_s - OPENING))
        for (stream, _), (size, time) in zip(wanted, figures, strict=True)
    ]
