"""Observations, actions and rewards of published learned congestion controls."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from gymnasium.spaces import Box

from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from gymnasium import Space

    from goodqueue.gym.rows import FlowRow

Numbers = np.ndarray[Any, np.dtype[np.float32]]
"""Observations and actions."""

UNBOUNDED_WINDOW = 1e9
"""Window of a control that only paces, in bytes. The receive window still limits it."""

PACKET_BITS = 8 * 1500
"""Bits of a packet in rewards that count packets."""


def _box(low: Numbers, high: Numbers) -> Space[Any]:
    return Box(low, high, dtype=np.float32)


class Preset(Protocol):
    """Observations, actions and rewards of a learner, for one flow.

    Attributes:
        over: built-in control that runs between the actions; None if actions alone change the flow.
        interval_s: length of the intervals in seconds; None for multiples of the round-trip time.
        interval_rtts: length of the intervals in smoothed round-trip times, without `interval_s`.
    """

    over: str | None
    interval_s: float | None
    interval_rtts: float

    def observation_space(self) -> Space[Any]:
        """Returns the space of observations."""

    def action_space(self) -> Space[Any]:
        """Returns the space of actions."""

    def observe(self, row: FlowRow) -> list[float]:
        """Returns the observation after an interval, which is kept for later ones."""

    def act(self, action: float, row: FlowRow) -> tuple[float, float]:
        """Returns window in bytes and pacing rate in bits per second; 0 leaves one as it is.

        Args:
            action: the action.
            row: the last interval of the flow.
        """

    def reward(self, row: FlowRow) -> float:
        """Returns the reward for an interval."""


@dataclass
class Aurora:
    """Observations, actions and reward of Aurora (Jay et al., ICML 2019).

    An observation has, for each of the last `history` intervals, the gradient of the round-trip
    time, its ratio to the smallest mean so far, and the ratio of sent to delivered bytes. An action
    changes the pacing rate by a factor of up to 1 + `step`. The reward is 10 x throughput (packets
    of 1500 bytes per second) - 1000 x round-trip time (s) - 2000 x loss rate.

    Attributes:
        history: number of intervals in an observation.
        step: largest relative change of the rate; alpha in the paper.
    """

    history: int = 10
    step: float = 0.025
    over: str | None = None
    interval_s: float | None = None
    interval_rtts: float = 1.0
    _seen: deque[float] = field(init=False)
    _least_rtt_s: float = field(init=False, default=math.inf)

    def __post_init__(self) -> None:
        """Fills the history with the values of an idle link."""
        self._seen = deque([0.0, 1.0, 1.0] * self.history, maxlen=3 * self.history)

    def observation_space(self) -> Space[Any]:
        """Returns the space of observations, with the bounds of the authors' program."""
        low = np.tile(np.array([-1.0, 1.0, 0.0], np.float32), self.history)
        high = np.tile(np.array([10.0, 10_000.0, 1_000.0], np.float32), self.history)
        return _box(low, high)

    def action_space(self) -> Space[Any]:
        """Returns the space of actions: one number from -1 to 1."""
        return _box(np.full(1, -1.0, np.float32), np.full(1, 1.0, np.float32))

    def observe(self, row: FlowRow) -> list[float]:
        """Returns the last intervals, oldest first."""
        rtt = row.mean_rtt_s if row.mean_rtt_s > 0 else row.smoothed_rtt_s
        self._least_rtt_s = min(self._least_rtt_s, rtt)
        sent = row.sent / row.delivered if row.delivered > 0 else 1_000.0
        self._seen.extend(
            (
                min(max(row.rtt_gradient, -1.0), 10.0),
                min(max(rtt / self._least_rtt_s, 1.0), 10_000.0),
                min(sent, 1_000.0),
            )
        )
        return list(self._seen)

    def act(self, action: float, row: FlowRow) -> tuple[float, float]:
        """Changes the pacing rate. The first rate is the initial window per round-trip time."""
        rate = row.rate_bps or 8 * row.window / row.smoothed_rtt_s
        change = self.step * action
        rate = rate * (1 + change) if change >= 0 else rate / (1 - change)
        return UNBOUNDED_WINDOW, max(rate, 10_000.0)

    def reward(self, row: FlowRow) -> float:
        """Returns the reward of the paper."""
        if row.length_s <= 0:
            return 0.0
        throughput = 8 * row.delivered / row.length_s / PACKET_BITS
        rtt = row.mean_rtt_s if row.mean_rtt_s > 0 else row.smoothed_rtt_s
        return 10 * throughput - 1_000 * rtt - 2_000 * row.lost / max(row.sent, row.lost, 1.0)


@dataclass
class Orca:
    """Observations, actions and reward of Orca (Abbasloo et al., SIGCOMM 2020).

    CUBIC runs between the actions. Every 20 ms an action a from -1 to 1 multiplies its window by
    4^a (the paper: 2^a with a from -2 to 2). An observation has seven numbers: throughput and loss
    rate over the largest throughput so far, base over mean round-trip time, ACKs over the window in
    segments, the interval and the smoothed round-trip time in base round-trip times, and the window
    over the largest throughput times the base round-trip time. The reward is Orca's normalised
    power: (throughput - `loss_weight` x loss rate) / delay, over the largest throughput and the
    base round-trip time, where a mean round-trip time up to `tolerance` times the base one counts
    as the base one.

    Attributes:
        loss_weight: weight of losses; zeta in the paper.
        tolerance: relative delay that is not punished; beta in the paper.
    """

    loss_weight: float = 5.0
    tolerance: float = 1.25
    over: str | None = "cubic"
    interval_s: float | None = 0.02
    interval_rtts: float = 1.0
    _most_bps: float = field(init=False, default=1.0)

    def observation_space(self) -> Space[Any]:
        """Returns the space of observations: seven numbers, each at most 10."""
        return _box(np.zeros(7, np.float32), np.full(7, 10.0, np.float32))

    def action_space(self) -> Space[Any]:
        """Returns the space of actions: the logarithm of the window's factor to the base 4."""
        return _box(np.full(1, -1.0, np.float32), np.full(1, 1.0, np.float32))

    def observe(self, row: FlowRow) -> list[float]:
        """Returns the seven numbers."""
        throughput, lost = _rates(row)
        self._most_bps = max(self._most_bps, throughput)
        rtt = row.mean_rtt_s if row.mean_rtt_s > 0 else row.smoothed_rtt_s
        base = row.base_rtt_s
        numbers = (
            throughput / self._most_bps,
            lost / self._most_bps,
            base / rtt,
            row.acks * 1_500 / max(row.window, 1.0),
            row.length_s / base,
            row.smoothed_rtt_s / base,
            8 * row.window / (self._most_bps * base),
        )
        return [min(max(number, 0.0), 10.0) for number in numbers]

    def act(self, action: float, row: FlowRow) -> tuple[float, float]:
        """Multiplies CUBIC's window."""
        return row.window * 4.0**action, 0.0

    def reward(self, row: FlowRow) -> float:
        """Returns the normalised power, at most 1."""
        throughput, lost = _rates(row)
        self._most_bps = max(self._most_bps, throughput)
        rtt = row.mean_rtt_s if row.mean_rtt_s > 0 else row.smoothed_rtt_s
        counted = row.base_rtt_s if rtt <= self.tolerance * row.base_rtt_s else rtt
        power = (throughput - self.loss_weight * lost) / counted
        return power / (self._most_bps / row.base_rtt_s)


def _rates(row: FlowRow) -> tuple[float, float]:
    """Returns delivered and lost bits per second."""
    if row.length_s <= 0:
        return 0.0, 0.0
    return 8 * row.delivered / row.length_s, 8 * row.lost / row.length_s


PRESETS: dict[str, type[Aurora | Orca]] = {"aurora": Aurora, "orca": Orca}
"""Presets by name."""


def preset_of(preset: str | Preset) -> Preset:
    """Returns a preset of this name, or the given one.

    Raises:
        RequestError: if there is no preset of this name.
    """
    if not isinstance(preset, str):
        return preset
    if preset not in PRESETS:
        raise RequestError(f"there is no preset {preset!r}: write {' or '.join(PRESETS)}")
    return PRESETS[preset]()
