"""Environments for reinforcement learning."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

import goodqueue.gym
from goodqueue.gym import (
    ActiveQueueEnv,
    ActiveQueueVectorEnv,
    Aurora,
    CongestionControlEnv,
    CongestionControlVectorEnv,
    SharedLinkEnv,
    parallel_env,
)

SHORT = goodqueue.gym.flows.LINK.replace('"30s"', '"3s"')


@pytest.mark.parametrize("preset", ["aurora", "orca"])
def test_gymnasiums_own_check_finds_nothing(preset: str) -> None:
    check_env(CongestionControlEnv(preset, SHORT), skip_render_check=True)


def test_the_queue_passes_gymnasiums_check() -> None:
    check_env(ActiveQueueEnv(), skip_render_check=True)


def _episode(env: CongestionControlEnv, seed: int, action: float) -> list[tuple[float, float]]:
    env.reset(seed=seed)
    seen, ended = [], False
    while not ended:
        _, reward, _, ended, info = env.step(np.array([action], np.float32))
        seen.append((info["now_s"], reward))
    return seen


def test_equal_seeds_give_equal_episodes() -> None:
    loss = 'loss = { kind = "independent", probability = 0.01 }'
    lossy = SHORT.replace("queue = {", f"{loss}, queue = {{")
    env = CongestionControlEnv("orca", lossy)
    assert _episode(env, 1, 0.1) == _episode(env, 1, 0.1)
    assert _episode(env, 1, 0.1) != _episode(env, 2, 0.1)


def test_vectorised_episodes_equal_single_ones() -> None:
    single = CongestionControlEnv("aurora", SHORT)
    observation, _ = single.reset(seed=7)
    vector = CongestionControlVectorEnv(3, "aurora", SHORT, threads=2)
    observations, _ = vector.reset(seed=[7, 8, 9])
    for step in range(60):
        assert np.array_equal(observations[0], observation), step
        action = np.array([0.5], np.float32)
        observation, reward, _, truncated, _ = single.step(action)
        observations, rewards, _, ends, _ = vector.step(np.full((3, 1), 0.5, np.float32))
        assert rewards[0] == reward
        assert ends[0] == truncated
        if truncated:
            break


def test_a_run_that_ended_begins_again() -> None:
    vector = CongestionControlVectorEnv(2, "orca", SHORT, threads=1)
    vector.reset(seed=1)
    ends = 0
    for _ in range(400):
        _, _, _, truncated, _ = vector.step(np.zeros((2, 1), np.float32))
        ends += int(truncated.sum())
    assert ends >= 2


def test_an_action_of_zero_leaves_cubic_alone() -> None:
    """Orca's action 0 sets the window that CUBIC has, so the run is CUBIC's own."""
    plain = goodqueue.run(goodqueue.gym.flows.LINK, set={"tcp.congestion_control": "cubic"})
    own = plain.summary["flows"]["learner"]["goodput_bps"] * 30.0
    env = CongestionControlEnv("orca")
    _, info = env.reset(seed=1)
    delivered, before, ended = 0.0, info["now_s"], False
    while not ended:
        _, _, _, ended, info = env.step(np.zeros(1, np.float32))
        delivered += info["throughput_bps"] * (info["now_s"] - before)
        before = info["now_s"]
    # The first and the last interval have no reward, and retransmissions are no goodput.
    assert delivered == pytest.approx(own, rel=0.02)


def test_a_larger_probability_shortens_the_queue() -> None:
    delays = {}
    for probability in (0.0, 0.02):
        env = ActiveQueueEnv()
        env.reset(seed=1)
        found, ended = [], False
        while not ended:
            _, _, _, ended, info = env.step(np.array([probability], np.float32))
            found.append(info["mean_delay_s"])
        delays[probability] = np.mean(found[len(found) // 2 :])
    assert delays[0.02] < 0.7 * delays[0.0]


def test_environments_are_made_by_name() -> None:
    env = gymnasium.make("goodqueue/CongestionControl-v0", preset="orca", scenario=SHORT)
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert gymnasium.make("goodqueue/ActiveQueue-v0").reset(seed=1)[0].shape == (6,)


SHORT_QUEUE = goodqueue.gym.queues.LINK.replace('"30s"', '"3s"')


def test_vectorised_queues_equal_single_ones_and_begin_again() -> None:
    single = ActiveQueueEnv(SHORT_QUEUE)
    observation, _ = single.reset(seed=7)
    vector = ActiveQueueVectorEnv(3, SHORT_QUEUE, threads=2)
    observations, _ = vector.reset(seed=[7, 8, 9])
    truncated, begun = False, 0
    for step in range(150):
        assert np.array_equal(observations[0], observation), step
        action = np.array([0.02], np.float32)
        observations, rewards, _, ends, _ = vector.step(np.full((3, 1), 0.02, np.float32))
        if truncated:
            observation, _ = single.reset()
            reward, truncated = 0.0, False
            begun += 1
        else:
            observation, reward, _, truncated, _ = single.step(action)
        assert rewards[0] == reward
        assert ends[0] == truncated
    assert begun == 1, "an episode of 3 s has a hundred steps"
    assert not np.array_equal(observations[0], observations[1]), "their seeds differ"


def test_vectorised_queues_do_not_depend_on_threads() -> None:
    def rewards(threads: int) -> list[list[float]]:
        vector = ActiveQueueVectorEnv(4, SHORT_QUEUE, threads=threads)
        vector.reset(seed=1)
        actions = np.array([[0.0], [0.01], [0.05], [0.3]], np.float32)
        return [vector.step(actions)[1].tolist() for _ in range(40)]

    assert rewards(1) == rewards(3)


def test_make_vec_vectorises_queues_on_threads_of_the_core() -> None:
    vector = gymnasium.make_vec("goodqueue/ActiveQueue-v0", num_envs=2)
    assert isinstance(vector.unwrapped, ActiveQueueVectorEnv)


def test_an_unknown_option_of_a_queue_is_refused() -> None:
    for make in (ActiveQueueEnv, ActiveQueueVectorEnv):
        with pytest.raises(TypeError, match="step_ms"):
            make(step_ms=30)


TWO = SHORT.replace('name = "learner"', 'name = "learner"\ncount = 2\nstart_interval = "1s"')


def test_several_learners_pass_pettingzoos_checks() -> None:
    parallel_api_test(parallel_env("orca", TWO), num_cycles=300)
    parallel_seed_test(lambda: parallel_env("orca", TWO), num_cycles=300)


def test_one_learner_of_a_shared_link_is_that_of_the_single_environment() -> None:
    single, shared = CongestionControlEnv("aurora", SHORT), SharedLinkEnv("aurora", SHORT)
    observation, _ = single.reset(seed=7)
    observations, infos = shared.reset(seed=7)
    action, steps = np.array([0.5], np.float32), 0
    while shared.agents == ["learner"]:
        assert infos["learner"]["due"]
        assert np.array_equal(observations["learner"], observation)
        observation, reward, _, truncated, _ = single.step(action)
        observations, rewards, _, ends, infos = shared.step({"learner": action})
        assert (rewards["learner"], ends["learner"]) == (reward, truncated)
        steps += 1
    assert steps > 20


def test_an_agent_acts_only_when_its_decision_is_due() -> None:
    def play(idle: float) -> list[tuple[str, float]]:
        """Returns the agents that acted and the times. Agents that are not due do `idle`."""
        env = parallel_env("aurora", TWO)
        _, infos = env.reset(seed=1)
        seen = []
        while env.agents:
            (due,) = (agent for agent, info in infos.items() if info["due"])
            seen.append((due, infos[due]["now_s"]))
            other = next(agent for agent in env.agents if agent != due)
            before = infos[other]
            actions = {due: np.array([1.0], np.float32), other: np.array([idle], np.float32)}
            observations, rewards, _, _, infos = env.step(actions)
            if env.agents and not infos[other]["due"]:
                assert rewards[other] == 0.0
                assert infos[other] == before | {"due": False}
            assert set(observations) == {"learner.0", "learner.1"}
        return seen

    seen = play(-1.0)
    assert {agent for agent, _ in seen} == {"learner.0", "learner.1"}
    assert seen == play(1.0), "the action of an agent that is not due has no effect"


TWO_FOR_30_S = TWO.replace('"3s"', '"30s"')


def test_learners_of_a_shared_link_fill_it_together() -> None:
    """Two flows of Orca without actions are two flows of CUBIC."""
    plain = goodqueue.run(TWO_FOR_30_S, set={"tcp.congestion_control": "cubic"}).summary["flows"]
    goodput = sum(flow["goodput_bps"] for flow in plain.values())
    env = parallel_env("orca", TWO_FOR_30_S)
    _, infos = env.reset(seed=1)
    delivered = dict.fromkeys(env.agents, 0.0)
    before = {agent: info["now_s"] for agent, info in infos.items()}
    while env.agents:
        _, _, _, _, infos = env.step({})
        for agent, info in infos.items():
            delivered[agent] += info["throughput_bps"] * (info["now_s"] - before[agent])
            before[agent] = info["now_s"]
    own = sum(delivered.values())
    assert own == pytest.approx(goodput * 30.0, rel=0.03)


def test_the_number_of_learners_stays() -> None:
    env = parallel_env(scenario=TWO, vary=lambda _: {"flow.learner.count": 3})
    with pytest.raises(goodqueue.RequestError, match="number of learners"):
        env.reset(seed=1)


def _whole(preset: Aurora, scenario: str, action: float) -> list[dict[str, float]]:
    """Returns the figures of every step of an episode with one action."""
    env = CongestionControlEnv(preset, scenario)
    _, info = env.reset(seed=1)
    seen, ended = [info], False
    while not ended:
        _, _, _, ended, info = env.step(np.array([action], np.float32))
        seen.append(info)
    return seen


def test_an_interface_bounds_the_pace() -> None:
    """The host's own link bounds the pace, or ten times the fastest link without one."""
    own = SHORT.replace('shape = "dumbbell"', 'shape = "dumbbell"\naccess = { rate = "50Mbps" }')
    for scenario, bound in ((SHORT, 200e6), (own, 50e6)):
        paces = [info["pacing_rate_bps"] for info in _whole(Aurora(step=1.0), scenario, 1.0)]
        assert max(paces) == bound


def test_silence_does_not_shorten_an_episode() -> None:
    """A pace of 10 kb/s has an ACK in more than a second, but a step in each round trip."""
    steps = _whole(Aurora(step=20.0), SHORT, -1.0)
    times = [info["now_s"] for info in steps]
    assert steps[-1]["pacing_rate_bps"] == 10_000
    assert max(np.diff(times)) < 0.1
    assert len(steps) > 50
    assert times == sorted(times)
    assert 2.9 < times[-1] <= 3.0


def test_vectorised_silences_equal_single_ones() -> None:
    single = _whole(Aurora(step=20.0), SHORT, -1.0)
    vector = CongestionControlVectorEnv(2, Aurora(step=20.0), SHORT, threads=1)
    vector.reset(seed=[1, 2])
    count = 1
    while True:
        _, _, _, truncated, _ = vector.step(np.full((2, 1), -1.0, np.float32))
        count += 1
        if truncated[0]:
            break
    assert count == len(single)


def test_a_silent_agent_of_a_shared_link_has_as_many_steps() -> None:
    """One of two agents sends nearly nothing, and has a step in each round trip all the same."""
    scenario = goodqueue.gym.shared.SHARED_LINK.replace('"30s"', '"3s"')
    env = parallel_env(Aurora(step=20.0), scenario)
    _, infos = env.reset(seed=1)
    silent, other = env.agents
    counts = dict.fromkeys(env.agents, 0)
    while env.agents:
        actions = {silent: np.array([-1.0], np.float32), other: np.array([0.0], np.float32)}
        _, _, _, _, infos = env.step(actions)
        for agent in counts:
            counts[agent] += infos[agent]["due"]
    assert infos[silent]["pacing_rate_bps"] == 10_000
    assert counts[silent] > 0.8 * counts[other]
