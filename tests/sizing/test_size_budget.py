"""The time budget of `goodqueue size`: every question ends in time, and no answer is premature."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goodqueue.cli import run_command
from goodqueue.errors import RequestError
from goodqueue.sizing import Effort, Link, rtt_range, size_link
from goodqueue.sizing.search.budget import Budget
from goodqueue.sizing.search.smallest import (
    COARSE_REPLICATES,
    Ended,
    Target,
    Trials,
    grid,
    smallest,
    so_far,
)
from goodqueue.sizing.trials.described import LinkTrial
from goodqueue.study.model import Stop
from helpers.commands import on_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SMALL = ["size", "--rate", "2Mbps", "--rtt", "40ms", "--flows", "1"]
LARGE = ["size", "--rate", "1Gbps", "--rtt", "10ms..120ms", "--flows", "300", "--engine", "packets"]
"""Question whose answer takes the packet engine longer than a budget of seconds."""

UTILIZATION = Target("utilization", 0.98, at_least=True)


pytestmark = pytest.mark.usefixtures("own_cache")


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run_command([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_budget_too_small_ends_with_6_and_claims_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    begun = time.monotonic()
    code, answer = asked(capsys, *LARGE, "--max-loss", "1%", "--budget", "2s")
    assert time.monotonic() - begun < 2 + 5
    assert code == 6
    best = answer["recommendation"]
    assert best["by"] == "simulation"
    assert best["proved"] is False
    assert best["settled"] is not True
    assert best["feasible"] is (None if best["packets"] is None else True)
    assert answer["budget"]["over"] is True
    assert answer["budget"]["more_s"] > 0
    assert answer["interrupted"] is False


def test_an_answer_that_is_not_proved_is_printed_as_such(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command([*LARGE, "--max-loss", "1%", "--budget", "1s"]) == 6
    out = capsys.readouterr().out
    assert "not proved: the budget was over" in out
    assert re.search(r"about .* more would settle it", out)
    assert "recommended" not in out


def test_the_answer_does_not_depend_on_the_number_of_threads(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    answers = [
        asked(
            capsys,
            *SMALL,
            "--only",
            "answer",
            "--jobs",
            str(jobs),
            "--store",
            str(tmp_path / str(jobs)),
        )
        for jobs in (1, 2, 3)
    ]
    assert answers[0] == answers[1] == answers[2]
    code, answer = answers[0]
    assert code == 0
    assert answer["recommendation"]["proved"] is True
    assert answer["budget"] == {
        "over": False,
        "more_s": None,
        "replicate_share": 1.0,
        "left_out": [],
    }


def test_only_answer_omits_rules_queues_and_changes(capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = asked(capsys, *SMALL, "--only", "answer")
    assert code == 0
    assert (answer["changes"], answer["alternatives"]) == ([], [])
    assert all(one["simulated"] is None for one in answer["rules"])
    assert all(one["why_not_simulated"] is None for one in answer["rules"])


def test_the_recommendation_comes_before_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([*SMALL, "--replicates", "3", "--aqm", "pie"]) == 0
    out = capsys.readouterr().out
    assert out.index("recommended:") < out.index("Answers of the rules")


def test_progress_shows_the_remaining_time_and_the_bracket() -> None:
    shown = on_terminal(*SMALL, "--only", "answer")
    assert re.search(r"sizing bottleneck: .*at most [\d.]+ s left", shown), shown[:500]
    assert re.search(r"between \d+ and \d+ packets", shown)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--budget", "0s"], "the budget of 0 s is too short"),
        (["--budget", "60"], "--budget"),
        (["--only", "rules"], "write --only answer"),
        (["--only", "answer", "--aqm", "pie"], "--only answer omits them"),
        (["--quick", "--budget", "5s"], "--budget applies to runs"),
    ],
)
def test_wrong_options_of_the_search_are_refused(
    flags: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command([*SMALL, *flags]) == 2
    assert words in capsys.readouterr().err.replace("\n", " ")


def test_a_search_from_python_ends_with_its_budget() -> None:
    link = Link(1e9, rtt_range(0.01, 0.12), 300, max_loss_rate=0.01)
    effort = Effort(budget_s=1, changes=False, queues=(), rules=False, engine="packets")
    answer = size_link(link, effort)
    assert answer.budget_over
    assert not answer.proved
    small = size_link(Link(2e6, (0.04,), 1), replace(effort, budget_s=60))
    assert small.proved
    with pytest.raises(RequestError, match="budget of -1 s"):
        size_link(link, replace(effort, budget_s=-1))


def test_replicates_are_as_long_as_the_budget_allows() -> None:
    link = Link(1e9, rtt_range(0.01, 0.12), 300)

    def planned(budget_s: float) -> tuple[float, bool]:
        def scenario(share: float) -> Any:  # noqa: ANN401
            from goodqueue.sizing.trials.length import Extent

            return LinkTrial().scenario(link, 500, None, Extent(share=share))

        plan = Budget(budget_s).plan(scenario, 500, 2)
        return plan.share, plan.lean

    assert planned(10_000) == (1.0, False)
    share, lean = planned(5)
    assert share < 1
    assert lean


def test_the_clock_stops_runs() -> None:
    budget, stop = Budget(0.05), Stop()
    with budget.enforced(stop):
        time.sleep(0.3)
    assert budget.spent
    assert stop.aborted
    assert budget.left_s == 0


class Steps:
    """Sampler with noise that reaches 98 % utilisation at one limit; it stops after some calls."""

    def __init__(self, needed: int, most_runs: int = 1 << 30) -> None:
        self.needed, self.left = needed, most_runs

    def __call__(self, wanted: Mapping[int, range]) -> Mapping[int, Sequence[Mapping[str, float]]]:
        found: dict[int, list[Mapping[str, float]]] = {limit: [] for limit in wanted}
        for limit, indices in wanted.items():
            for index in indices:
                if not self.left:
                    raise Ended(found, KeyboardInterrupt())
                self.left -= 1
                busy = 0.98 + 0.01 * (limit - self.needed + 0.5) / self.needed
                noise = 0.001 * (-1) ** index
                found[limit].append({"utilization": busy + noise, "drops": 1.0})
        return found


@pytest.mark.parametrize("needed", [1, 7, 40, 333, 2500])
def test_a_lean_search_proves_the_answer_within_a_step(needed: int) -> None:
    trials = Trials(Steps(needed))
    found = smallest(
        trials, [UTILIZATION], [], reach=(100, 1 << 20), most_replicates=10_000, lean=True
    )
    points = grid(1 << 20)
    truth = next(index for index, point in enumerate(points) if point >= needed)
    assert found.limit is not None
    assert found.proved
    assert 0 <= points.index(found.limit) - truth <= 1
    assert found.low < needed <= found.limit
    # Limits away from the answer get only the replicates that show where to search.
    away = [limit for limit in trials.limits if abs(points.index(limit) - truth) > 2]
    assert all(len(trials.replicates[limit]) <= COARSE_REPLICATES for limit in away)


@pytest.mark.parametrize("runs", [0, 2, 5, 30, 60, 100])
def test_the_bracket_of_a_stopped_search_contains_the_answer(runs: int) -> None:
    trials = Trials(Steps(40, runs))
    with pytest.raises(KeyboardInterrupt):
        smallest(trials, [UTILIZATION], [], reach=(100, 1 << 20), most_replicates=10_000)
    assert trials.spent == runs
    found = so_far(trials, [UTILIZATION], [])
    if runs == 0:
        assert found is None
        return
    assert found is not None
    assert found.low < 40
    assert found.high is None or found.high >= 40
    assert found.limit == found.high
