"""Training of a small learned congestion control, and its use in a run.

    python examples/learned_control.py --seed 1 --generations 10 --out examples/learned_control.json

The policy is linear: its action is tanh(w . x). The vector x has three numbers for each of the last
three intervals, and a 1. The numbers are the gradient of the round-trip time, its ratio to the
smallest one less 1, and the ratio of sent to delivered bytes less 1. The cross-entropy method
(Rubinstein 1999) searches the ten weights.
"""

import argparse
import json
import math
import shlex
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import gymnasium
import numpy as np

from goodqueue.gym import Aurora
from goodqueue.gym.rows import FlowRow

HISTORY = 3
WEIGHTS = 3 * HISTORY + 1
IDLE = np.tile(np.array([0.0, 1.0, 1.0]), HISTORY)
"""An observation on an idle link, which the policy subtracts."""

EMPTY = FlowRow(*[0.0] * len(FlowRow._fields))

LINK = """
schema_version = 2
title = "A link of the training"
duration = "120s"
[topology]
shape = "dumbbell"
[topology.bottleneck]
rate = "20Mbps"
delay = "15ms"
queue = { limit = "1bdp" }
loss = { kind = "independent", probability = 0.0 }
[[flow]]
name = "learner"
workload = { kind = "bulk" }
tcp = { profile = "rfc" }
"""


@dataclass
class Scaled(Aurora):
    """Aurora's observations and actions, with steps of up to 10 % and a reward without units.

    The reward is ln(throughput in Mb/s) - queueing delay in base round-trip times - 10 x loss rate.
    The logarithm makes a percent of throughput count the same on slow and on fast links.
    """

    history: int = HISTORY
    step: float = 0.1

    def act(self, action, row):
        if not row.rate_bps:
            row = row._replace(rate_bps=8 * row.window / row.base_rtt_s)
        return super().act(action, row)

    def reward(self, row):
        if row.length_s <= 0:
            return 0.0
        throughput = max(8 * row.delivered / row.length_s, 1e4)
        rtt = row.mean_rtt_s if row.mean_rtt_s > 0 else row.smoothed_rtt_s
        loss = row.lost / max(row.sent, row.lost, 1.0)
        return math.log(throughput / 1e6) - (rtt / row.base_rtt_s - 1) - 10 * loss


def training_link(random):
    """Draws a link: 5 to 50 Mb/s, 10 to 80 ms, 0.5 to 4 BDP; every other one loses up to 1 %."""
    rate = 5 * 10 ** random.uniform()
    delay = 5 * 8 ** random.uniform()
    limit = 0.5 * 8 ** random.uniform()
    loss = random.choice([0.0, 0.01 * random.uniform()])
    return {
        "topology.bottleneck.rate": f"{rate:.3f}Mbps",
        "topology.bottleneck.delay": f"{delay:.3f}ms",
        "topology.bottleneck.queue.limit": f"{limit:.2f}bdp",
        "topology.bottleneck.loss.probability": f"{loss:.5f}",
    }


def decide(weights, observations):
    """Returns the actions of policies, whose weights are the last axis, for their observations."""
    inputs = np.clip(observations - IDLE, -5, 5)
    actions = np.tanh((weights[..., :-1] * inputs).sum(axis=-1) + weights[..., -1])
    return actions.astype(np.float32)


def train(*, seed, generations, population=32, links=8, steps=120):
    """Searches weights with the cross-entropy method.

    Every policy of a generation controls one flow on each of the same `links` links, for `steps`
    intervals. The next generation is drawn around the best quarter.

    Returns:
        The mean weights of the last generation's best quarter, and each generation's mean reward.
    """
    random = np.random.default_rng(seed)
    count = population * links
    runs = gymnasium.make_vec(
        "goodqueue/CongestionControl-v0",
        num_envs=count,
        preset=Scaled(),
        scenario=LINK,
        vary=training_link,
        threads=1,
    )
    mean, spread = np.zeros(WEIGHTS), np.ones(WEIGHTS)
    means = []
    for generation in range(generations):
        policies = random.normal(mean, spread, (population, WEIGHTS))
        weights = np.repeat(policies, links, axis=0)
        drawn = random.integers(1 << 31, size=links).tolist()
        observations, _ = runs.reset(seed=drawn * population)
        scores = np.zeros(count)
        for _ in range(steps):
            actions = decide(weights, observations)
            observations, rewards, *_ = runs.step(actions[:, None])
            scores += rewards
        score = scores.reshape(population, links).mean(axis=1) / steps
        best = policies[np.argsort(score)[-population // 4 :]]
        # Extra spread, which falls to zero, keeps the search from stopping too early.
        extra = 0.2 * (1 - generation / generations)
        mean, spread = best.mean(axis=0), best.std(axis=0) + extra
        means.append(float(score.mean()))
    return mean, means


def control(weights):
    """Returns a class for `goodqueue.run(..., controls=...)` that decides by these weights."""
    weights = np.array(weights)

    class Learned:
        interval_rtts = 1

        def __init__(self, connection):
            self.window_bytes = connection.initial_window_bytes
            self.pacing_rate_bps = None
            self._preset = Scaled()

        def on_interval(self, report):
            base = report.base_rtt_s or 0.1
            row = EMPTY._replace(
                mean_rtt_s=report.mean_rtt_s or base,
                base_rtt_s=base,
                rtt_gradient=report.rtt_gradient or 0.0,
                sent=report.sent_bytes,
                delivered=report.delivered_bytes,
                window=self.window_bytes,
                rate_bps=self.pacing_rate_bps or 0.0,
            )
            action = decide(weights, np.array(self._preset.observe(row), np.float32))
            self.window_bytes, rate = self._preset.act(float(action), row)
            self.pacing_rate_bps = int(rate)  # whole bits per second, as in the environment

    return Learned


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generations", type=int, default=10)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    began = time.process_time()
    weights, means = train(seed=given.seed, generations=given.generations)
    record = {
        "command": shlex.join(["python", "examples/learned_control.py", *sys.argv[1:]]),
        "goodqueue": version("goodqueue"),
        "seed": given.seed,
        "generations": given.generations,
        "policies": 32,
        "links": 8,
        "intervals": 120,
        "decisions": given.generations * 32 * 8 * 120,
        "cpu_s": round(time.process_time() - began, 1),
        "mean_reward_first": round(means[0], 4),
        "mean_reward_last": round(means[-1], 4),
        "weights": [round(float(weight), 6) for weight in weights],
    }
    given.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
