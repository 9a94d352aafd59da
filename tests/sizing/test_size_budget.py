"""The time budget of `goodqueue size`: every question ends in time, and no answer is premature."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goodqueue._core import grid
from goodqueue.cli import run_command
from goodqueue.errors import RequestError
from goodqueue.sizing import Effort, Link, rtt_range, size_link
from goodqueue.sizing.answer import work_out
from goodqueue.sizing.search.budget import Budget
from goodqueue.sizing.search.smallest import smallest, so_far
from goodqueue.sizing.search.trials import COARSE_REPLICATES, Ended, Target, Trials
from goodqueue.sizing.trials.described import LinkTrial
from goodqueue.sizing.trials.length import Extent
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
    code, answer = asked(capsys, *LARGE, "--max-loss", "1%", "--budget", "3M")
    assert code == 6
    best, decision = answer["recommendation"], answer["decision"]
    assert best["by"] == "simulation"
    assert best["proved"] is False
    assert best["settled"] is not True
    assert best["feasible"] is (None if best["packets"] is None else True)
    assert decision["shown"] is False
    assert decision["impossible"] is None
    assert decision["packets"] > 0
    assert answer["budget"]["over"] is True
    assert answer["budget"]["more_packets"] > 0
    assert answer["interrupted"] is False


def test_an_answer_that_is_not_shown_is_printed_as_such(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command([*LARGE, "--max-loss", "1%", "--budget", "3M"]) == 6
    out = capsys.readouterr().out
    assert "not shown: the budget was over" in out
    assert re.search(r"about [\d.]+[MG] packets more would settle it", " ".join(out.split()))
    assert "recommended" not in out


def test_a_time_ends_a_search_of_any_budget(capsys: pytest.CaptureFixture[str]) -> None:
    begun = time.monotonic()
    code, answer = asked(capsys, *LARGE, "--max-loss", "1%", "--budget", "10G", "--time", "2s")
    assert time.monotonic() - begun < 2 + 5
    assert code == 6
    assert answer["decision"]["shown"] is False


def test_load_does_not_change_an_answer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The plan and the end of a search follow from packets, and no clock is read."""
    question = [*LARGE, "--only", "answer", "--hosts", "exact", "--budget", "5M"]
    with pytest.MonkeyPatch.context() as patched:
        idle = asked(capsys, *question, "--store", str(tmp_path / "idle"))
        patched.setattr(time, "monotonic", lambda: 1e9)
        stopped = asked(capsys, *question, "--store", str(tmp_path / "stopped"))
    again = asked(capsys, *question, "--store", str(tmp_path / "idle"))
    assert idle == stopped == again


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
    used = answer["budget"].pop("used_packets")
    assert 1e5 < used < 1e7
    assert answer["budget"] == {
        "over": False,
        "more_packets": None,
        "replicate_share": 1.0,
        "left_out": [],
    }


@pytest.mark.parametrize("budget", ["500k", "1500k"])
def test_theory_tells_of_the_hosts_where_the_budget_ends(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, budget: str
) -> None:
    """The answer keeps its second error, and says how it was found."""
    link = ["size", "--rate", "20Mbps", "--rtt", "30ms", "--flows", "4", "--only", "answer"]
    _, answer = asked(capsys, *link, "--budget", budget, "--store", str(tmp_path))
    assert answer["budget"]["replicate_share"] < 1
    decision = answer["decision"]
    assert decision["hosts"]["by"] == "theory"
    assert decision["world"][0] <= decision["packets"]
    exact = [*link, "--hosts", "exact", "--budget", budget, "--store", str(tmp_path)]
    assert asked(capsys, *exact)[1]["decision"]["hosts"] is None


def test_only_answer_omits_rules_queues_and_changes(capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = asked(capsys, *SMALL, "--only", "answer")
    assert code == 0
    assert (answer["changes"], answer["alternatives"]) == ([], [])
    assert all(one["simulated"] is None for one in answer["rules"])
    assert all(one["why_not_simulated"] is None for one in answer["rules"])


def test_the_recommendation_comes_before_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([*SMALL, "--replicates", "8", "--aqm", "pie", "--explain"]) == 0
    out = capsys.readouterr().out
    assert out.index("recommended:") < out.index("Answers of the rules")


def test_progress_shows_the_remaining_time_and_the_bracket() -> None:
    shown = on_terminal(*SMALL, "--only", "answer")
    assert re.search(r"sizing bottleneck: .*about [\d.]+ s left", shown), shown[:500]
    assert re.search(r"between \d+ and \d+ packets", shown)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--budget", "0"], "the budget of 0 packets is too small"),
        (["--budget", "60s"], "--time 60s ends the search"),
        (["--budget", "many"], "such as 100M"),
        (["--time", "0s"], "the time of 0 s is too short"),
        (["--time", "60"], "--time"),
        (["--hosts", "all"], "write --hosts exact"),
        (["--syntax", "vms"], "write linux, ios, junos, sonic"),
        (["--only", "rules"], "write --only answer"),
        (["--only", "answer", "--aqm", "pie"], "--only answer omits them"),
        (["--quick", "--budget", "5M"], "--budget applies to runs"),
        (["--quick", "--only", "answer"], "--only applies to runs"),
        (["--quick", "--store", "folder"], "--store applies to runs"),
    ],
)
def test_wrong_options_of_the_search_are_refused(
    flags: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command([*SMALL, *flags]) == 2
    assert words in capsys.readouterr().err.replace("\n", " ")


def test_a_search_from_python_ends_with_its_budget() -> None:
    link = Link(1e9, rtt_range(0.01, 0.12), 300, max_loss_rate=0.01)
    effort = Effort(budget=3e6, changes=False, queues=(), rules=False, engine="packets")
    answer = size_link(link, effort)
    assert answer.budget_over
    assert not answer.proved
    small = size_link(Link(2e6, (0.04,), 1), replace(effort, budget=100e6, hosts=False))
    assert small.proved
    with pytest.raises(RequestError, match="budget of -1 packets"):
        size_link(link, replace(effort, budget=-1))


def test_replicates_are_as_long_as_the_budget_allows() -> None:
    link = Link(1e9, rtt_range(0.01, 0.12), 300)

    def planned(packets: float) -> tuple[float, bool]:
        def work(share: float) -> float:
            made = LinkTrial().scenario(link, 500, None, Extent(share=share))
            return made.duration_s / link.packet_time_s

        plan = Budget(packets).plan(work, 500)
        return plan.share, plan.lean

    assert planned(1e12) == (1.0, False)
    share, lean = planned(50e6)
    assert share < 1
    assert lean


def test_the_clock_of_an_explicit_time_stops_runs() -> None:
    budget, stop = Budget(1e9, 0.05), Stop()
    with budget.enforced(stop):
        time.sleep(0.3)
    assert budget.over_time
    assert stop.aborted


def test_ctrl_c_during_the_check_of_short_replicates_keeps_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(work_out, "checked", interrupted)
    effort = Effort(changes=False, queues=(), rules=False, hosts=False)
    answer = size_link(Link(2e6, (0.04,), 1), effort)
    assert answer.interrupted
    assert answer.buffer is not None
    assert not answer.proved


def test_a_budget_without_a_time_has_no_clock() -> None:
    budget, stop = Budget(100), Stop()
    with budget.enforced(stop):
        budget.charge(60)
    assert (budget.left, stop.aborted) == (40, False)
    budget.charge(60)
    assert (budget.left, budget.over_time) == (0, False)


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
def test_a_lean_search_shows_the_answer_within_two_steps(needed: int) -> None:
    trials = Trials(Steps(needed))
    found = smallest(
        trials, [UTILIZATION], [], reach=(100, 1 << 20), most_replicates=10_000, lean=True
    )
    points = grid(1 << 20)
    truth = next(index for index, point in enumerate(points) if point >= needed)
    assert found.limit is not None
    assert found.proved
    assert 0 <= points.index(found.limit) - truth <= 2
    assert found.low < needed <= found.limit
    # Limits away from the answer get only the replicates that show where to search.
    away = [limit for limit in trials.limits if abs(points.index(limit) - truth) > 6]
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
