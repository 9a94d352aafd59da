"""Environments of Gymnasium and PettingZoo in which learners control congestion or a queue.

docs/gym.md describes them.

    import gymnasium, goodqueue.gym
    env = gymnasium.make("goodqueue/CongestionControl-v0", preset="aurora")

They need the extra `gym`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from goodqueue.core.extras import require

require("gymnasium")

import gymnasium  # noqa: E402 - a missing library has a message of its own

from goodqueue.gym.flows import CongestionControlEnv, CongestionControlVectorEnv  # noqa: E402
from goodqueue.gym.presets import Aurora, Orca  # noqa: E402
from goodqueue.gym.queues import ActiveQueueEnv, ActiveQueueVectorEnv  # noqa: E402
from goodqueue.gym.rows import FlowRow, QueueRow  # noqa: E402

if TYPE_CHECKING:
    from goodqueue.gym.shared import SharedLinkEnv, parallel_env

__all__ = [
    "ActiveQueueEnv",
    "ActiveQueueVectorEnv",
    "Aurora",
    "CongestionControlEnv",
    "CongestionControlVectorEnv",
    "FlowRow",
    "Orca",
    "QueueRow",
    "SharedLinkEnv",
    "parallel_env",
]


def __getattr__(name: str) -> object:
    """Imports the environment of several learners, because it alone needs PettingZoo."""
    if name not in {"SharedLinkEnv", "parallel_env"}:
        raise AttributeError(f"module 'goodqueue.gym' has no attribute {name!r}")
    return getattr(import_module("goodqueue.gym.shared"), name)


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
