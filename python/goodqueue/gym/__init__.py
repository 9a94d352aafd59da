"""Environments of Gymnasium in which a learner controls congestion or a queue (docs/gym.md).

    import gymnasium, goodqueue.gym
    env = gymnasium.make("goodqueue/CongestionControl-v0", preset="aurora")

They need the extra `gym`.
"""

from __future__ import annotations

from goodqueue.core.extras import require

require("gymnasium")

import gymnasium  # noqa: E402 - a missing library has a message of its own

from goodqueue.gym.flows import CongestionControlEnv, CongestionControlVectorEnv  # noqa: E402
from goodqueue.gym.presets import Aurora, Orca  # noqa: E402
from goodqueue.gym.queues import ActiveQueueEnv, ActiveQueueVectorEnv  # noqa: E402

__all__ = [
    "ActiveQueueEnv",
    "ActiveQueueVectorEnv",
    "Aurora",
    "CongestionControlEnv",
    "CongestionControlVectorEnv",
    "Orca",
]

gymnasium.register(
    id="goodqueue/CongestionControl-v0",
    entry_point="goodqueue.gym.flows:CongestionControlEnv",
    vector_entry_point="goodqueue.gym.flows:CongestionControlVectorEnv",
)
gymnasium.register(
    id="goodqueue/ActiveQueue-v0",
    entry_point="goodqueue.gym.queues:ActiveQueueEnv",
    vector_entry_point="goodqueue.gym.queues:ActiveQueueVectorEnv",
)
