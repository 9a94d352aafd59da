"""`ActiveQueue-v0`: a learner sets the drop or mark probability of a queue."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from goodqueue._core import QueueEpisodes
from goodqueue.errors import RequestError
from goodqueue.gym.flows import FIRST, Links
from goodqueue.gym.presets import Numbers
from goodqueue.gym.rows import QUEUE, QueueRow

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodqueue.runs.api import Source
    from goodqueue.runs.settings import Overrides

LINK = """
schema_version = 1
title = "Ten flows before a learner's queue"
duration = "30s"
[topology]
shape = "dumbbell"
bottleneck = { rate = "20Mbps", delay = "15ms", queue = { limit = "200p" } }
[[flow]]
name = "bulk"
count = 10
workload = { kind = "bulk" }
tcp = { congestion_control = "cubic" }
"""
"""Scenario of an environment that gets none: ten CUBIC flows at 20 Mb/s and 30 ms."""

PROBABILITY = Struct("<d")


class ActiveQueueEnv(gymnasium.Env[Numbers, Numbers]):
    """A FIFO that drops arrivals with a probability, or marks those that are ECN-capable.

    An action is the probability, which holds for arrivals of the next step. An observation has the
    mean and the longest sojourn time over the target, arrivals and departures over the packets that
    the link can send in a step, the share of arrivals that were dropped or marked, and the
    probability. The reward is the utilisation, less `delay_weight` times the mean sojourn time over
    the target.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own declaration

    def __init__(  # noqa: PLR0913 - options, by name
        self,
        scenario: Source | None = None,
        *,
        link: str = "bottleneck",
        step_s: float = 0.03,
        target_s: float = 0.005,
        delay_weight: float = 0.25,
        vary: Callable[[np.random.Generator], Overrides] | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Prepares an environment.

        Args:
            scenario: a scenario file, its text, or a mapping of the same shape; None for ten CUBIC
                flows on a link of 20 Mb/s and 30 ms. The limit of its queue stays.
            link: name of the link.
            step_s: length of a step, in seconds.
            target_s: sojourn time in which delays are measured, in seconds.
            delay_weight: weight of a delay of the target in the reward.
            vary: draws values that replace those of the scenario in each episode.
            render_mode: None; nothing is drawn.

        Raises:
            RequestError: if the link has no rate.
        """
        self.render_mode = render_mode
        self._links = Links(LINK if scenario is None else scenario, "", vary)
        self._link, self._step_s = link, step_s
        self._target_s, self._delay_weight = target_s, delay_weight
        self._runs = QueueEpisodes(link, 1, step_s=step_s)
        self._packets = self._bits = 1.0
        self._probability = 0.0
        self.observation_space = Box(0.0, 100.0, (6,), np.float32)
        self.action_space = Box(0.0, 1.0, (1,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begins a run, whose first step has no drops by chance."""
        super().reset(seed=seed, options=options)
        scenario = self._links.draw(self.np_random)
        buffer = scenario.buffer(self._link)
        rate = buffer["rate_bps"]
        if rate is None:
            raise RequestError(f"the link {self._link} has no rate")
        self._bits = rate * self._step_s
        self._packets = self._bits / 8 / buffer["frame_bytes"]
        self._runs.begin(0, scenario)
        row = self._advance(0.0)
        return self._seen(row), self._info(row)

    def _advance(self, probability: float) -> QueueRow:
        self._probability = probability
        return QueueRow._make(QUEUE.unpack(self._runs.step(FIRST, PROBABILITY.pack(probability))))

    def _seen(self, row: QueueRow) -> Numbers:
        signals = (row.dropped + row.marked + row.overflowed) / max(row.arrived, 1.0)
        numbers = (
            row.mean_delay_s / self._target_s,
            row.longest_delay_s / self._target_s,
            row.arrived / self._packets,
            row.sent / self._packets,
            signals,
            self._probability,
        )
        return np.array([min(number, 100.0) for number in numbers], np.float32)

    def _info(self, row: QueueRow) -> dict[str, Any]:
        return {
            "now_s": row.now_s,
            "utilization": 8 * row.sent_bytes / self._bits,
            "mean_delay_s": row.mean_delay_s,
            "dropped": row.dropped,
            "marked": row.marked,
            "backlog_packets": row.backlog,
        }

    def step(self, action: Numbers) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Sets the probability, and runs for a step."""
        row = self._advance(min(max(float(action[0]), 0.0), 1.0))
        info = self._info(row)
        reward = info["utilization"] - self._delay_weight * row.mean_delay_s / self._target_s
        return self._seen(row), float(reward), False, bool(row.ended), info
