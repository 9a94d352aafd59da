"""Replicates that still remember their start: longer ones move the interval, or the search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goodqueue.sizing import Effort, Link, size_link
from goodqueue.sizing.answer import work_out
from goodqueue.sizing.answer.longer import ALLOWED, LONGER, Bias, bias_of_full
from goodqueue.sizing.search.budget import Plan
from goodqueue.sizing.search.laboratory import Laboratory
from goodqueue.sizing.search.trials import Trials

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LINK = Link(2e6, (0.04,), 2)


class Start:
    """A laboratory whose replicates have less utilisation, the shorter they are."""

    def __init__(self, bias: float, noise: float = 0.001) -> None:
        self.bias, self.noise = bias, noise
        self.plan = Plan()
        self.engine = "packets"

    def at_full_length(self, _link: Link) -> bool:
        return True

    def sampler(self, _link: Link, share: float = 1.0) -> Any:  # noqa: ANN401 - a sampler
        def sample(wanted: Mapping[int, range]) -> dict[int, list[dict[str, float]]]:
            return {
                limit: [self._run(limit, share, one) for one in wanted[limit]] for limit in wanted
            }

        return sample

    def _run(self, limit: int, share: float, index: int) -> dict[str, float]:
        idle = 0.02 * 10 / limit + self.bias / share
        return {"utilization": 1 - idle + self.noise * (-1) ** index}


def found(bias: float, noise: float = 0.001) -> Bias | None:
    laboratory: Any = Start(bias, noise)
    trials = Trials(laboratory.sampler(LINK))
    trials.ensure([8, 10, 12], 8)
    return bias_of_full(LINK, trials, laboratory, 10)


def test_equal_replicates_show_no_bias() -> None:
    assert found(0.0) is None


def test_a_bias_within_the_noise_is_none() -> None:
    assert found(0.004, noise=0.02) is None


def test_longer_replicates_show_the_whole_bias_of_the_start() -> None:
    """Four times as long ones still have a quarter of it, which is extrapolated."""
    bias = found(0.004)
    assert bias is not None
    # Without the start 2 % of idle time need 10 packets; with it, they need 12.5.
    assert bias.shift == pytest.approx(10 / 12.5, abs=0.05)


@pytest.fixture
def asked(tmp_path: Path) -> Effort:
    return Effort(8, (), changes=False, rules=False, hosts=False, store=tmp_path)


def test_the_search_is_made_again_with_longer_replicates(
    asked: Effort, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = size_link(LINK, asked)
    told = [Bias(0.8, suffices=True)]
    monkeypatch.setattr(work_out, "bias_of_full", lambda *_: told.pop() if told else None)
    again = size_link(LINK, asked)
    assert own.scenario is not None
    assert again.scenario is not None
    assert again.scenario.duration_s > 0.7 * LONGER * own.scenario.duration_s
    assert own.found is not None
    assert again.found is not None
    assert again.found.limit == own.found.limit


def test_without_the_budget_for_that_the_interval_is_moved(
    asked: Effort, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = size_link(LINK, asked)
    bias = Bias(0.5, suffices=True)
    monkeypatch.setattr(work_out, "bias_of_full", lambda *_: bias)
    monkeypatch.setattr(Laboratory, "may_search_again", lambda *_: False)
    moved = size_link(LINK, asked)
    assert own.facts is not None
    assert moved.facts is not None
    assert own.facts.chance[0] is not None
    assert moved.facts.chance[0] == max(own.facts.chance[0] // 2, 1)
    assert moved.facts.chance[1] == own.facts.chance[1]
    assert moved.found is not None
    assert not moved.found.proved
    assert 1 / bias.shift > ALLOWED
