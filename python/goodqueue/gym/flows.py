"""`CongestionControl-v0`: a learner controls one flow of a scenario.

A decision is due at the flow's first ACK after an interval. The run pauses there. The action holds
from the flow's next ACK, loss event or timeout.
"""

from __future__ import annotations

import copy
from struct import Struct
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import Space
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from goodqueue._core import FlowEpisodes
from goodqueue.core.parallel import available_processors
from goodqueue.gym.presets import Numbers, preset_of
from goodqueue.gym.rows import FLOW, FlowRow
from goodqueue.gym.steps import Flow
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from goodqueue._core import Scenario
    from goodqueue.gym.presets import Preset
    from goodqueue.runs.api import Source
    from goodqueue.runs.settings import Overrides

LINK = """
schema_version = 2
title = "One learner on a link"
duration = "30s"
[topology]
shape = "dumbbell"
bottleneck = { rate = "20Mbps", delay = "15ms", queue = { limit = "1bdp" } }
[[flow]]
name = "learner"
workload = { kind = "bulk" }
tcp = { profile = "rfc" }
"""
"""Scenario of an environment that gets none: 20 Mb/s, 30 ms and a buffer of one BDP.

The profile is stated, because other hosts would be another version of the environment.
"""

NO_ACTION = (0.0, 0.0)
LARGEST_SEED = (1 << 63) - 1


class Links:
    """The scenarios of an environment's episodes.

    Attributes:
        group: name of the learner's group of flows.
    """

    def __init__(
        self,
        scenario: Source | None,
        group: str,
        vary: Callable[[np.random.Generator], Overrides] | None,
    ) -> None:
        self.group = group
        self._source = LINK if scenario is None else scenario
        self._vary = vary
        self._base = load(self._source)

    def flows(self) -> list[str]:
        """Returns the names of the learners' flows."""
        names = [name for name, _, _ in self._base.flows()]
        return [name for name in names if name.rpartition(".")[0] == self.group] or [self.group]

    def draw(self, random: np.random.Generator) -> Scenario:
        """Returns the scenario of an episode, with a seed of its own."""
        base = self._base if self._vary is None else load(self._source, set=self._vary(random))
        return base.with_seed(int(random.integers(LARGEST_SEED)))


def randoms(
    seed: int | list[int | None] | None, count: int, present: list[np.random.Generator]
) -> list[np.random.Generator]:
    """Returns the random numbers of vectorised environments.

    Args:
        seed: a seed for each, or that of the first, which the others follow; None for no change.
        count: number of environments.
        present: their random numbers so far; empty before the first reset.
    """
    if isinstance(seed, list):
        return [np.random.default_rng(one) for one in seed]
    if seed is None and present:
        return present
    first = seed if seed is not None else int(np.random.default_rng().integers(1 << 31))
    return [np.random.default_rng(first + place) for place in range(count)]


def info_of(row: FlowRow) -> dict[str, float]:
    """Returns figures of an interval."""
    return {
        "now_s": row.now_s,
        "throughput_bps": 8 * row.delivered / row.length_s if row.length_s > 0 else 0.0,
        "mean_rtt_s": row.mean_rtt_s,
        "lost_bytes": row.lost,
        "window_bytes": row.window,
        "pacing_rate_bps": row.rate_bps,
    }


def episodes(links: Links, preset: Preset, count: int, threads: int) -> FlowEpisodes:
    """Prepares runs whose decisions are due as a preset says."""
    return FlowEpisodes(
        links.group,
        count,
        interval_s=preset.interval_s,
        interval_rtts=preset.interval_rtts,
        over=preset.over,
        threads=threads,
    )


class CongestionControlEnv(gymnasium.Env[Numbers, Numbers]):
    """One flow whose congestion control a learner decides.

    An episode is a run of the scenario. It is truncated at the run's end and never terminates.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own declaration

    def __init__(
        self,
        preset: str | Preset = "aurora",
        scenario: Source | None = None,
        *,
        group: str = "learner",
        vary: Callable[[np.random.Generator], Overrides] | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Prepares an environment.

        Args:
            preset: `aurora`, `orca`, or an object with observations, actions and rewards.
            scenario: a scenario file, its text, or a mapping of the same shape; None for one flow
                on a link of 20 Mb/s and 30 ms.
            group: name of the learner's flow in the scenario.
            vary: draws values that replace those of the scenario in each episode.
            render_mode: None; nothing is drawn.
        """
        self.render_mode = render_mode
        self._links = Links(scenario, group, vary)
        self._template = preset_of(preset)
        self._preset = copy.deepcopy(self._template)
        self._runs = episodes(self._links, self._preset, 1, 1)
        self.observation_space: Space[Numbers] = self._preset.observation_space()
        self.action_space: Space[Numbers] = self._preset.action_space()
        self._row = FlowRow(*[0.0] * len(FlowRow._fields))
        self._seen = np.zeros(self.observation_space.shape or (), np.float32)
        self._flow = Flow()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begins a run, up to the first decision."""
        super().reset(seed=seed, options=options)
        self._preset = copy.deepcopy(self._template)
        scenario = self._links.draw(self.np_random)
        self._flow = Flow(self._preset, scenario)
        self._runs.begin(0, scenario)
        self._advance(NO_ACTION)
        return self._seen, info_of(self._row)

    def _advance(self, action: tuple[float, float]) -> bool:
        """Acts and runs to the next decision. Returns True if the run has ended."""
        if self._flow.is_due:
            values = self._flow.bounded(action)
            row = FlowRow._make(FLOW.unpack(self._runs.step(FIRST, ACTION.pack(*values))))
            self._flow.note(row)
        step = self._flow.next()
        if step is None:
            return True
        self._row = step
        self._seen = np.array(self._preset.observe(step), np.float32)
        return False

    def step(self, action: Numbers) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Acts, and runs to the next decision."""
        if self._advance(self._preset.act(float(action[0]), self._row)):
            return self._seen, 0.0, False, True, info_of(self._row)
        return self._seen, self._preset.reward(self._row), False, False, info_of(self._row)


FIRST = (0,)
ACTION = Struct("<2d")


class CongestionControlVectorEnv(gymnasium.vector.VectorEnv[Numbers, Numbers, Any]):
    """Many such flows in runs of their own, on threads of the core.

    A run that has ended begins again with the next step, whose action it ignores.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 - Gymnasium's declaration

    def __init__(  # noqa: PLR0913 - options, by name
        self,
        num_envs: int = 1,
        preset: str | Preset = "aurora",
        scenario: Source | None = None,
        *,
        group: str = "learner",
        vary: Callable[[np.random.Generator], Overrides] | None = None,
        threads: int | None = None,
    ) -> None:
        """Prepares the environments.

        Args:
            num_envs: number of runs at a time.
            preset: `aurora`, `orca`, or an object with observations, actions and rewards.
            scenario: a scenario file, its text, or a mapping; None for one flow on a link of
                20 Mb/s and 30 ms.
            group: name of the learner's flow in the scenario.
            vary: draws values that replace those of the scenario in each episode.
            threads: number of threads; None for one per processor.
        """
        self.num_envs = num_envs
        self._links = Links(scenario, group, vary)
        self._template = preset_of(preset)
        self._presets = [copy.deepcopy(self._template) for _ in range(num_envs)]
        workers = threads or available_processors()
        self._runs = episodes(self._links, self._template, num_envs, workers)
        self.single_observation_space = self._template.observation_space()
        self.single_action_space = self._template.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        shape = (num_envs, *(self.single_observation_space.shape or ()))
        self._seen = np.zeros(shape, np.float32)
        self._rows = [FlowRow(*[0.0] * len(FlowRow._fields))] * num_envs
        self._flows = [Flow()] * num_envs
        self._ended = [False] * num_envs
        self._all = list(range(num_envs))
        self._randoms: list[np.random.Generator] = []

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begins all runs, each up to its first decision."""
        self._randoms = randoms(seed, self.num_envs, self._randoms)
        del options
        for place in self._all:
            self._begin(place)
        self._advance([NO_ACTION] * self.num_envs)
        return self._seen.copy(), {}

    def _begin(self, place: int) -> None:
        self._presets[place] = copy.deepcopy(self._template)
        scenario = self._links.draw(self._randoms[place])
        self._flows[place] = Flow(self._presets[place], scenario)
        self._runs.begin(place, scenario)
        self._ended[place] = False

    def _advance(self, actions: list[tuple[float, float]]) -> NDArray[np.bool_]:
        due = [place for place in self._all if self._flows[place].is_due]
        values = [self._flows[place].bounded(actions[place]) for place in due]
        packed = np.array(values, np.float64).tobytes()
        for place, fields in zip(due, FLOW.iter_unpack(self._runs.step(due, packed)), strict=True):
            self._flows[place].note(FlowRow._make(fields))
        ended = np.zeros(self.num_envs, np.bool_)
        for place, flow in enumerate(self._flows):
            step = flow.next()
            if step is None:
                ended[place] = True
            else:
                self._rows[place] = step
                self._seen[place] = self._presets[place].observe(step)
        self._ended = ended.tolist()
        return ended

    def step(
        self, actions: Numbers
    ) -> tuple[Numbers, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Acts in all runs, and runs each to its next decision."""
        chosen, fresh = [], []
        for place, action in enumerate(actions[:, 0].tolist()):
            if self._ended[place]:
                self._begin(place)
                chosen.append(NO_ACTION)
                fresh.append(place)
            else:
                chosen.append(self._presets[place].act(action, self._rows[place]))
        truncated = self._advance(chosen)
        rewards = np.array(
            [preset.reward(row) for preset, row in zip(self._presets, self._rows, strict=True)]
        )
        rewards[truncated] = 0.0
        rewards[fresh] = 0.0
        terminated = np.zeros(self.num_envs, np.bool_)
        return self._seen.copy(), rewards, terminated, truncated, {}
