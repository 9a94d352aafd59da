"""The decision of `size --json`: one number in every case, and what it covers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from goodqueue.cli import run_command
from goodqueue.cli.commands.sizing import size
from goodqueue.output.sizing import screen
from goodqueue.sizing.export import exports

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_cache")

ALONE = ("--only", "answer", "--hosts", "exact")


@pytest.fixture
def asked(capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401 - a function
    def ask(*flags: str, more: Sequence[str] = ALONE) -> tuple[int, dict[str, Any]]:
        code = run_command(["size", *flags, *more, "--json"])
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return code, answer

    return ask


def link(text: str) -> list[str]:
    return text.split()


def test_a_shown_answer_has_its_number_sets_bound_and_figures(asked: Any) -> None:  # noqa: ANN401
    code, answer = asked(*link("--rate 2Mbps --rtt 40ms --flows 1"))
    decision = answer["decision"]
    assert code == 0
    assert decision["shown"] is True
    assert decision["packets"] == answer["recommendation"]["packets"]
    assert decision["sets"] == [[decision["packets"], None]]
    assert decision["deciding_bound"] == "utilization"
    low, high = decision["chance"]
    assert low <= decision["packets"] <= high
    assert decision["world"] == [None, None]
    assert decision["expected"]["utilization"]["mean"] >= 0.98
    assert (decision["engine"], decision["nearest_miss"]) == ("packets", None)
    assert decision["guard"] is None


def test_the_range_grows_to_the_loss_that_many_flows_need(asked: Any) -> None:  # noqa: ANN401
    """Eleven Reno flows need windows of 17 to 27 packets for a loss of 0.5 %: 20 to 30 BDP."""
    flags = "--rate 4.5Mbps --flows 11 --rtt 13ms..34ms --max-loss 0.5% --control reno"
    code, answer = asked(*link(flags))
    assert code == 0
    decision = answer["decision"]
    assert 8 < decision["packets"] / answer["link"]["bdp_packets"] < 60
    assert decision["deciding_bound"] == "loss_rate"
    assert decision["expected"]["loss_rate"]["high"] <= 0.005


def test_a_lossy_answer_without_a_bound_says_so_first(
    capsys: pytest.CaptureFixture[str],
    asked: Any,  # noqa: ANN401
) -> None:
    """Less than two packets of each flow fit into the path, so flows wait for timeouts."""
    flags = link("--rate 20Mbps --rtt 40ms --flows 60 --max-delay 20ms")
    _, answer = asked(*flags)
    decision = answer["decision"]
    assert decision["guard"]["loss_rate"] > 0.02
    assert decision["guard"]["p99_delay_s"] is None
    run_command(["size", *flags, *ALONE])
    lines = capsys.readouterr().out.splitlines()
    first = lines.index("") + 1
    assert "of all packets are lost behind" in lines[first]
    assert "recommended" in lines[first + 1]


def test_bounds_that_contradict_each_other_have_a_nearest_miss(asked: Any) -> None:  # noqa: ANN401
    code, answer = asked(*link("--rate 2Mbps --rtt 40ms --flows 1 --max-delay 7ms"))
    decision = answer["decision"]
    assert code == 3
    assert decision["shown"] is False
    assert "contradict" in decision["impossible"]
    assert decision["sets"] == []
    miss = decision["nearest_miss"]
    assert miss["packets"] == decision["packets"]
    assert miss["figure"] in {"utilization", "p99_delay_s"}
    best = decision["best_for_each_bound"]
    assert best["p99_delay_s"] < best["utilization"]


def test_theory_alone_has_a_decision_too(asked: Any) -> None:  # noqa: ANN401
    code, answer = asked(*link("--rate 20Mbps --rtt 30ms --flows 4"), more=("--quick",))
    decision = answer["decision"]
    assert code == 6
    assert (decision["engine"], decision["shown"]) == ("theory", False)
    low, high = decision["chance"]
    assert low <= decision["packets"] <= high
    assert decision["world"][0] <= decision["packets"]
    assert decision["expected"]["utilization"]["mean"] > 0.9


def test_flows_of_a_data_centre_are_sized_in_seconds(asked: Any) -> None:  # noqa: ANN401
    """CUBIC with windows of 26 packets is in its Reno-friendly region: about BDP / sqrt(N)."""
    code, answer = asked(*link("--rate 1Gbps --rtt 500us --flows 4"))
    decision = answer["decision"]
    assert code == 0
    assert 10 < decision["packets"] < 42


def test_the_first_screen_has_at_most_24_lines(capsys: pytest.CaptureFixture[str]) -> None:
    run_command(["size", *link("--rate 5Mbps --rtt 40ms --flows 2 --max-loss 3%")])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert any(line.startswith("over hosts that were not described") for line in lines)
    assert any("tc qdisc" in line for line in lines)
    run_command(["size", *link("--rate 5Mbps --rtt 40ms --flows 2 --quick --syntax junos")])
    assert "set class-of-service" in capsys.readouterr().out


def test_the_command_line_knows_the_devices_that_can_be_printed() -> None:
    assert set(size.SYNTAXES) == set(screen.SYNTAXES)
    for begins in screen.SYNTAXES.values():
        names = [one.device for one in exports(10, 1500, 1e6)]
        assert any(name.startswith(begins) for name in names)


def test_a_page_calls_nothing_impossible_that_was_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    flags = link("--rate 2Mbps --rtt 40ms --flows 1 --max-delay 7ms")
    assert run_command(["size", *flags, *ALONE, "--report", str(page)]) == 3
    assert "No buffer" in page.read_text(encoding="utf-8")
    few = ("--replicates", "3", *ALONE)
    assert run_command(["size", *flags, *few, "--report", str(page)]) in {3, 6}
    told = json.loads(asked_again(capsys, *flags, *few))
    is_shown = told["decision"]["impossible"] is not None
    assert ("No buffer" in page.read_text(encoding="utf-8")) is is_shown


def asked_again(capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    """Returns the JSON of the same question."""
    capsys.readouterr()
    run_command(["size", *flags, "--json"])
    return capsys.readouterr().out
