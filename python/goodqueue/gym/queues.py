"""`ActiveQueue-v0`: a learner sets the drop or mark probability of a queue."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from goodqueue._core import QueueEpisodes
from goodqueue.core.parallel import available_processors
from goodqueue.errors import RequestError
from goodqueue.gym.flows import Links, randoms
from goodqueue.gym.presets import Numbers
from goodqueue.gym.rows import QUEUE, QueueRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gymnasium import Space
    from numpy.typing import NDArray

    from goodqueue._core import Scenario
    from goodqueue.runs.api import Source
    from goodqueue.runs.settings import Overrides

LINK = """
schema_version = 2
title = "Ten flows before a learner's queue"
duration = "30s"
[topology]
shape = "dumbbell"
bottleneck = { rate = "20Mbps", delay = "15ms", queue = { limit = "200p" } }
[[flow]]
name = "bulk"
count = 10
workload = { kind = "bulk" }
tcp = { profile = "rfc", congestion_control = "cubic" }
"""
"""Scenario of an environment that gets none: ten CUBIC flows at 20 Mb/s and 30 ms."""


def _probability(action: float) -> float:
    return min(max(action, 0.0), 1.0)


def _space(count: int, high: float) -> Space[Numbers]:
    return cast("Space[Numbers]", Box(0.0, high, (count,), np.float32))


@dataclass(frozen=True, kw_only=True)
class QueueOptions:
    """The options of both environments.

    Attributes:
        link: name of the link.
        step_s: length of a step, in seconds.
        target_s: sojourn time in which delays are measured, in seconds.
        delay_weight: weight of a delay of the target in the reward.
        vary: draws values that replace those of the scenario in each episode.
    """

    link: str = "bottleneck"
    step_s: float = 0.03
    target_s: float = 0.005
    delay_weight: float = 0.25
    vary: Callable[[np.random.Generator], Overrides] | None = None


@dataclass(frozen=True)
class Scale:
    """The quantities in which observations, rewards and information of an episode are measured.

    Attributes:
        bits: bits that the link can send in a step.
        packets: packets of the largest frame that the link can send in a step.
        target_s: sojourn time in which delays are measured, in seconds.
        delay_weight: weight of a delay of the target in the reward.
    """

    bits: float
    packets: float
    target_s: float
    delay_weight: float

    @classmethod
    def from_link(cls, scenario: Scenario, options: QueueOptions) -> Scale:
        """Returns the quantities of a link.

        Raises:
            RequestError: if the link has no rate.
        """
        buffer = scenario.buffer(options.link)
        rate = buffer["rate_bps"]
        if rate is None:
            raise RequestError(f"the link {options.link} has no rate")
        bits = rate * options.step_s
        packets = bits / 8 / buffer["frame_bytes"]
        return cls(bits, packets, options.target_s, options.delay_weight)

    def seen(self, row: QueueRow, probability: float) -> list[float]:
        """Returns the observation after a step."""
        signals = (row.dropped + row.marked + row.overflowed) / max(row.arrived, 1.0)
        numbers = (
            row.mean_delay_s / self.target_s,
            row.longest_delay_s / self.target_s,
            row.arrived / self.packets,
            row.sent / self.packets,
            signals,
            probability,
        )
        return [min(number, 100.0) for number in numbers]

    def reward(self, row: QueueRow) -> float:
        """Returns the utilisation, less the weighted delay."""
        utilization = 8 * row.sent_bytes / self.bits
        return utilization - self.delay_weight * row.mean_delay_s / self.target_s

    def info(self, row: QueueRow) -> dict[str, Any]:
        """Returns figures of a step."""
        return {
            "now_s": row.now_s,
            "utilization": 8 * row.sent_bytes / self.bits,
            "mean_delay_s": row.mean_delay_s,
            "dropped": row.dropped,
            "marked": row.marked,
            "backlog_packets": row.backlog,
        }


class Queues:
    """Runs of a number of queues at a time, which both environments use.

    Attributes:
        scales: the quantities in which each run is measured.
    """

    def __init__(
        self, scenario: Source | None, count: int, threads: int, options: QueueOptions
    ) -> None:
        """Prepares the runs."""
        self._options = options
        self._links = Links(LINK if scenario is None else scenario, "", options.vary)
        self._runs = QueueEpisodes(options.link, count, step_s=options.step_s, threads=threads)
        self._all = list(range(count))
        self._row = Struct(f"<{count}d")
        self.scales = [Scale(1.0, 1.0, options.target_s, options.delay_weight)] * count

    def begin(self, place: int, random: np.random.Generator) -> None:
        """Begins a run.

        Raises:
            RequestError: if the link has no rate.
        """
        scenario = self._links.draw(random)
        self.scales[place] = Scale.from_link(scenario, self._options)
        self._runs.begin(place, scenario)

    def advance(self, chosen: Sequence[float]) -> Iterator[QueueRow]:
        """Sets the probabilities, and runs for a step."""
        rows = QUEUE.iter_unpack(self._runs.step(self._all, self._row.pack(*chosen)))
        return map(QueueRow._make, rows)


class ActiveQueueEnv(gymnasium.Env[Numbers, Numbers]):
    """A FIFO that drops arrivals with a probability, or marks those that are ECN-capable.

    An action is the probability, which holds for arrivals of the next step. An observation has the
    mean and the longest sojourn time over the target, arrivals and departures over the packets that
    the link can send in a step, the share of arrivals that were dropped or marked, and the
    probability. The reward is the utilisation, less `delay_weight` times the mean sojourn time over
    the target.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own declaration

    def __init__(
        self,
        scenario: Source | None = None,
        *,
        render_mode: str | None = None,
        **options: Any,  # noqa: ANN401 - the fields of `QueueOptions`
    ) -> None:
        """Prepares an environment.

        Args:
            scenario: a scenario file, its text, or a mapping of the same shape; None for ten CUBIC
                flows on a link of 20 Mb/s and 30 ms. The limit of its queue stays.
            render_mode: None; nothing is drawn.
            options: fields of `QueueOptions`, by name.
        """
        self.render_mode = render_mode
        self._queues = Queues(scenario, 1, 1, QueueOptions(**options))
        self.observation_space: Space[Numbers] = _space(6, 100.0)
        self.action_space: Space[Numbers] = _space(1, 1.0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begins a run, whose first step has no drops by chance.

        Raises:
            RequestError: if the link has no rate.
        """
        super().reset(seed=seed, options=options)
        self._queues.begin(0, self.np_random)
        observation, _, info = self._advance(0.0)
        return observation, info

    def _advance(self, probability: float) -> tuple[Numbers, QueueRow, dict[str, Any]]:
        """Sets the probability and runs for a step. Returns observation, counts and figures."""
        (row,) = self._queues.advance((probability,))
        scale = self._queues.scales[0]
        return np.array(scale.seen(row, probability), np.float32), row, scale.info(row)

    def step(self, action: Numbers) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Sets the probability, and runs for a step."""
        observation, row, info = self._advance(_probability(float(action[0])))
        reward = self._queues.scales[0].reward(row)
        return observation, reward, False, bool(row.ended), info


class ActiveQueueVectorEnv(gymnasium.vector.VectorEnv[Numbers, Numbers, Any]):
    """Many such queues in runs of their own, on threads of the core.

    A run that has ended begins again with the next step, whose action it ignores.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 - Gymnasium's declaration

    def __init__(
        self,
        num_envs: int = 1,
        scenario: Source | None = None,
        *,
        threads: int | None = None,
        **options: Any,  # noqa: ANN401 - the fields of `QueueOptions`
    ) -> None:
        """Prepares the environments.

        Args:
            num_envs: number of runs at a time.
            scenario: a scenario file, its text, or a mapping of the same shape; None for ten CUBIC
                flows on a link of 20 Mb/s and 30 ms. The limit of its queue stays.
            threads: number of threads; None for one per processor.
            options: fields of `QueueOptions`, by name.
        """
        self.num_envs = num_envs
        workers = threads or available_processors()
        self._queues = Queues(scenario, num_envs, workers, QueueOptions(**options))
        self.single_observation_space = _space(6, 100.0)
        self.single_action_space = _space(1, 1.0)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._ended = np.zeros(num_envs, np.bool_)
        self._randoms: list[np.random.Generator] = []

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begins all runs, whose first step has no drops by chance.

        Raises:
            RequestError: if the link has no rate.
        """
        del options
        self._randoms = randoms(seed, self.num_envs, self._randoms)
        for place, random in enumerate(self._randoms):
            self._queues.begin(place, random)
        observations, _ = self._advance([0.0] * self.num_envs)
        return observations, {}

    def _advance(self, chosen: list[float]) -> tuple[Numbers, NDArray[np.float64]]:
        """Sets the probabilities and runs for a step. Returns observations and rewards."""
        seen, rewards, ended = [], [], []
        rows = self._queues.advance(chosen)
        for row, scale, probability in zip(rows, self._queues.scales, chosen, strict=True):
            seen.append(scale.seen(row, probability))
            rewards.append(scale.reward(row))
            ended.append(row.ended)
        self._ended = np.array(ended, np.bool_)
        return np.array(seen, np.float32), np.array(rewards)

    def step(
        self, actions: Numbers
    ) -> tuple[Numbers, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Sets the probabilities in all runs, and runs each for a step."""
        chosen = np.clip(actions[:, 0].astype(np.float64), 0.0, 1.0)
        fresh = self._ended
        for place in np.flatnonzero(fresh).tolist():
            self._queues.begin(place, self._randoms[place])
        chosen[fresh] = 0.0
        observations, rewards = self._advance(chosen.tolist())
        rewards[fresh] = 0.0
        return observations, rewards, np.zeros(self.num_envs, np.bool_), self._ended, {}
