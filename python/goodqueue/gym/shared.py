"""`SharedLink-v0`: several learners, each of which controls one flow of a link."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from goodqueue.core.extras import require
from goodqueue.errors import RequestError
from goodqueue.gym.flows import ACTION, FIRST, LINK, NO_ACTION, Links, episodes, info_of
from goodqueue.gym.presets import Numbers, preset_of
from goodqueue.gym.rows import FLOW, FlowRow
from goodqueue.gym.steps import Steps, interface_bps

require("pettingzoo")

from pettingzoo import ParallelEnv  # noqa: E402 - a missing library has a message of its own

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymnasium import Space

    from goodqueue.gym.presets import Preset
    from goodqueue.runs.api import Source
    from goodqueue.runs.settings import Overrides

SHARED_LINK = LINK.replace('name = "learner"', 'name = "learner"\ncount = 2')
"""Scenario of an environment that gets none: two learners at 20 Mb/s and 30 ms."""


class SharedLinkEnv(ParallelEnv[str, Numbers, Numbers]):  # type: ignore[misc] # PettingZoo has no types
    """Flows of one link, each of which is controlled by a learner of its own.

    The agents are the flows of a group, by their names in results. Their decisions are due at
    different times. A step lasts until the next decision of any agent is due. `infos[agent]["due"]`
    is True for that agent alone: its next action is used, and its reward and observation are new.
    All other agents keep their action, whatever action they are given, and have their last
    observation and the reward 0. All agents are truncated at the end of the run.
    """

    metadata = {"render_modes": [], "name": "goodqueue/SharedLink-v0"}  # noqa: RUF012

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
            preset: `aurora`, `orca`, or an object with observations, actions and rewards, of which
                each agent has a copy.
            scenario: a scenario file, its text, or a mapping of the same shape; None for two flows
                on a link of 20 Mb/s and 30 ms.
            group: name of the learners' group of flows in the scenario.
            vary: draws values that replace those of the scenario in each episode; not the number of
                flows.
            render_mode: None; nothing is drawn.
        """
        self.render_mode = render_mode
        self._links = Links(SHARED_LINK if scenario is None else scenario, group, vary)
        self._template = preset_of(preset)
        self._runs = episodes(self._links, self._template, 1, 1)
        self.possible_agents = self._links.flows()
        self.agents: list[str] = []
        spaces = self._template.observation_space(), self._template.action_space()
        self.observation_spaces = {
            agent: copy.deepcopy(spaces[0]) for agent in self.possible_agents
        }
        self.action_spaces = {agent: copy.deepcopy(spaces[1]) for agent in self.possible_agents}
        self._random = np.random.default_rng()
        self._due: str | None = None
        self._presets: dict[str, Preset] = {}
        self._rows: dict[str, FlowRow] = {}
        self._seen: dict[str, Numbers] = {}
        self._steps: dict[str, Steps] = {}
        self._waiting: list[tuple[str, FlowRow]] = []
        self._most_bps = math.inf
        self._over = False

    def observation_space(self, agent: str) -> Space[Numbers]:
        """Returns the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Numbers]:
        """Returns the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Numbers], dict[str, dict[str, Any]]]:
        """Begins a run, up to the first decision.

        Raises:
            RequestError: if the number of flows has changed.
        """
        del options
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        scenario = self._links.draw(self._random)
        self._most_bps, self._waiting, self._over = interface_bps(scenario), [], False
        row = FlowRow(*[0.0] * len(FlowRow._fields))
        for agent in self.agents:
            space: Any = self.observation_spaces[agent]
            self._presets[agent] = copy.deepcopy(self._template)
            self._steps[agent] = Steps(self._presets[agent], scenario.duration_s)
            self._rows[agent] = row
            self._seen[agent] = np.clip(np.zeros(space.shape, np.float32), space.low, space.high)
        if self._runs.begin(0, scenario) != len(self.agents):
            raise RequestError("the number of learners is that of the scenario without changes")
        self._advance(NO_ACTION)
        return dict(self._seen), self._infos()

    def _advance(self, action: tuple[float, float]) -> None:
        """Acts for the agent whose decision is due, and runs to the next decision."""
        if not self._waiting and not self._over:
            self._run(action)
        if not self._waiting:
            self._due = None
            return
        agent, row = self._waiting.pop(0)
        self._due = agent
        self._rows[agent] = row
        self._seen[agent] = np.array(self._presets[agent].observe(row), np.float32)

    def _run(self, action: tuple[float, float]) -> None:
        """Lets the run go on to the next decision, and notes the steps up to it."""
        values = action[0], min(action[1], self._most_bps)
        row = FlowRow._make(FLOW.unpack(self._runs.step(FIRST, ACTION.pack(*values))))
        if row.ended:
            self._over = True
            rests = [(agent, one) for agent in self.agents for one in self._steps[agent].rest()]
            self._waiting = sorted(rests, key=lambda step: step[1].now_s)
        else:
            agent = self.possible_agents[int(row.flow)]
            self._waiting = [(agent, one) for one in self._steps[agent].of(row)]

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {
            agent: {"due": agent == self._due, **info_of(self._rows[agent])}
            for agent in self.agents
        }

    def step(
        self, actions: dict[str, Numbers]
    ) -> tuple[
        dict[str, Numbers],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Acts for the agent whose decision is due, and runs to the next decision of any agent."""
        agents, acts = self.agents, self._due
        action = NO_ACTION
        if acts is not None and acts in actions:
            action = self._presets[acts].act(float(actions[acts][0]), self._rows[acts])
        self._advance(action)
        rewards = dict.fromkeys(agents, 0.0)
        if self._due is not None:
            rewards[self._due] = self._presets[self._due].reward(self._rows[self._due])
        infos = self._infos()
        ended = self._due is None
        if ended:
            self.agents = []
        seen = {agent: self._seen[agent] for agent in agents}
        return seen, rewards, dict.fromkeys(agents, False), dict.fromkeys(agents, ended), infos


parallel_env = SharedLinkEnv
"""The environment, by the name that PettingZoo's modules have for it."""
