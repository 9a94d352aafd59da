"""Sizing for BBRv3, Prague, mixes of controls and paced senders: flags, rules and scenarios."""

from __future__ import annotations

import json
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodqueue._core import control_words
from goodqueue.cli import run_command
from goodqueue.cli.exits import EXIT_UNPROVED
from goodqueue.errors import RequestError
from goodqueue.runs.settings import settings_of
from goodqueue.sizing import RULES, Effort, Link, judge_rules, size_link
from goodqueue.sizing.answer.parts import link_dict
from goodqueue.sizing.controls import CONTROLS, counts, parse_controls
from goodqueue.sizing.question import Question
from goodqueue.sizing.rules import rule_named
from goodqueue.sizing.trials.described import LinkTrial

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ["size", "--rate", "20Mbps", "--rtt", "20ms,60ms", "--flows", "20", "--quick"]


def link(shares: str, **changes: object) -> Link:
    """Returns a link of 100 Mb/s with a mean of 40 ms: one BDP is 333.3 packets."""
    parsed = parse_controls("--control", shares)
    main = max(parsed, key=lambda one: one[1])[0]
    controls = parsed if len(parsed) > 1 else ()
    usual = {"rate_bps": 100e6, "flows": 64, "congestion_control": main, "controls": controls}
    return Link(**{"rtts_s": (0.02, 0.06), **usual, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("bbr4", "did you mean 'bbr'"),
        ("CUBIC", "did you mean 'cubic'"),
        ("prage:100%", "did you mean 'prague'"),
        ("cubic,bbr3", "write cubic:50%,bbr3:50%"),
        ("cubic:70%,bbr3", "bbr3 has no share; write cubic:50%,bbr3:50%"),
        ("cubic:70%,bbr3:40%", "nearest mix is cubic:63.64%,bbr3:36.36%"),
        ("cubic:50%,bbr3:20%,prague:10%", "add up to 80%"),
        ("cubic:50%,cubic:50%", "cubic occurs twice"),
        ("cubic:100%,bbr3:0%", "above 0%"),
        ("cubic:70%,", "unknown congestion control"),
        ("", "unknown congestion control"),
    ],
)
def test_a_wrong_mix_names_the_nearest_choice(
    text: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command([*QUICK, "--control", text]) == 2
    assert hint in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize("wrong", ["cubic:10%,bbr3:1%", "reno:1%,cubic:1%,bbr:1%", "cubic:30%"])
def test_the_named_nearest_mix_is_valid(wrong: str) -> None:
    with pytest.raises(RequestError) as error:
        parse_controls("--control", wrong)
    parse_controls("--control", str(error.value).rsplit("nearest mix is ", maxsplit=1)[1])


@given(
    names=st.lists(st.sampled_from(CONTROLS), min_size=1, max_size=5, unique=True),
    weights=st.lists(st.integers(1, 50), min_size=5, max_size=5),
    flows=st.integers(1, 1000),
)
def test_a_mix_is_printed_as_it_can_be_typed(
    names: list[str], weights: list[int], flows: int
) -> None:
    parts = weights[: len(names)]
    percent = [100 * one // sum(parts) for one in parts]
    percent[0] += 100 - sum(percent)
    shares = tuple((name, part / 100) for name, part in zip(names, percent, strict=True) if part)
    assert parse_controls("--control", control_words(shares)) == shares
    of_flows = counts(shares, flows)
    assert sum(of_flows.values()) == flows
    assert all(abs(of_flows[name] - share * flows) < 1 for name, share in shares)


def test_the_answer_prints_the_mix(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([*QUICK, "--control", "cubic:70%,bbr3:30%", "--json"]) == EXIT_UNPROVED
    assert json.loads(capsys.readouterr().out)["link"]["congestion_control"] == "cubic:70%,bbr3:30%"


def test_a_mix_that_leaves_a_control_without_flows_is_refused() -> None:
    with pytest.raises(RequestError, match="2 flows cannot be divided so that bbr3 has one"):
        link("cubic:90%,bbr3:10%", flows=2)


def test_paced_senders_need_the_packets_of_single_arrivals_too() -> None:
    paced = link("cubic", paced=True, min_utilization=0.98)
    windows = 2 * NormalDist().inv_cdf(0.99) * 0.0919 / 8
    expected = paced.bdp_packets * windows / (1 - windows) + 25
    rule = rule_named("paced_flows")
    advice = rule.advise(paced)
    assert advice.packets == pytest.approx(expected)
    assert advice.broken == ()
    assert "do not pace" in rule.advise(link("cubic")).broken[0]


def test_bbr_keeps_two_bdp_in_flight() -> None:
    bbr = rule_named("bbr_inflight")
    assert bbr.advise(link("bbr3", flows=1)).packets == pytest.approx(333.33, abs=0.01)
    assert bbr.advise(link("bbr3", flows=1, max_loss_rate=0.01)).holds
    assert not bbr.advise(link("bbr3", max_loss_rate=0.01)).holds
    assert not bbr.advise(link("cubic:50%,bbr3:50%")).holds
    assert bbr.advise(link("cubic")).packets is None


def test_thresholds_of_marks_are_a_millisecond_and_a_seventh_of_the_bdp() -> None:
    step, dctcp = rule_named("l4s_step"), rule_named("dctcp_threshold")
    assert step.advise(link("prague")).packets == pytest.approx(8.333, abs=0.001)
    assert step.advise(link("prague", rate_bps=1e7)).packets == 2
    assert dctcp.advise(link("prague")).packets == pytest.approx(47.62, abs=0.01)
    assert step.advise(link("cubic")).packets is None
    assert dctcp.advise(link("cubic")).packets is None
    assert not step.advise(link("cubic")).holds
    assert not dctcp.advise(link("cubic:60%,prague:40%")).holds


def test_every_rule_answers_links_of_modern_controls() -> None:
    mixes = ("cubic:70%,bbr3:30%", "prague:50%,bbr:50%", "cubic:50%,dctcp:50%")
    for shares in ("bbr3", "prague", "dctcp", *mixes):
        answer = judge_rules(link(shares, max_loss_rate=0.01))
        assert len(answer.rules) == len(RULES)


def test_prague_crosses_a_queue_that_marks() -> None:
    its_link = link("prague")
    settings = settings_of(LinkTrial().scenario(its_link, 50))
    queue = settings["topology"]["link"][0]["queue"]
    assert (queue["kind"], queue["limit"]) == ("dualpi2", "50p")
    assert settings["flow"][0]["tcp"]["ecn"] == "accecn"
    answer = judge_rules(its_link)
    assert "prague needs a queue that marks" in answer.notes[0]
    lines = [line for one in LinkTrial().exports(its_link, 50) for line in one.lines]
    assert any(" dualpi2 limit 50 " in f"{line} " for line in lines)
    assert judge_rules(link("bbr3")).notes == ()


def test_dctcp_crosses_a_queue_with_a_threshold() -> None:
    its_link = Link(10e9, (0.0001,), 8, congestion_control="dctcp")
    queue = settings_of(LinkTrial().scenario(its_link, 90))["topology"]["link"][0]["queue"]
    # 10 Gb/s times 100 us are 83.3 packets, a seventh of which is 11.9; 64 KiB are 43.7 packets.
    assert (queue["kind"], queue["threshold"], queue["limit"]) == ("step", "56p", "90p")
    assert replace(its_link, profile="rfc").marks_at == 12
    few = settings_of(LinkTrial().scenario(its_link, 56))["topology"]["link"][0]["queue"]
    assert few["kind"] == "drop_tail", "a limit below the threshold leaves nothing to mark"
    answer = judge_rules(its_link)
    assert "marks above 56 packets" in answer.notes[0]
    lines = [line for one in LinkTrial().exports(its_link, 90) for line in one.lines]
    assert any(line.startswith(f"{56 * 1518} B for both ECN thresholds") for line in lines)
    assert rule_named("dctcp_threshold").advise(its_link).packets == pytest.approx(11.9, abs=0.01)
    assert rule_named("l4s_step").advise(its_link).packets is None
    assert not its_link.paces
    others = LinkTrial().hosts(its_link).values()
    assert {one.marks_at for one in others} == {56}, "the threshold is that of the device"


def test_a_stated_threshold_marks_and_the_buffer_behind_it_is_found(tmp_path: Path) -> None:
    question = Question("10Gbps", "100us", 4, control="dctcp", mark_at="65p")
    its_link = question.link()
    assert its_link.marks_at == 65
    effort = Effort(8, (), changes=False, rules=False, hosts=False, budget=2e7, store=tmp_path)
    answer = size_link(its_link, effort)
    assert answer.buffer is not None
    assert link_dict(its_link)["marks_at_packets"] == 65
    assert link_dict(link("cubic"))["marks_at_packets"] is None
    # The threshold of the paper for 10 Gb/s fills the link, and marks keep the queue near it.
    assert 44 <= answer.buffer <= 150
    assert answer.interval(answer.buffer, "utilization").mean >= 0.98


@pytest.mark.parametrize(
    ("control", "mark_at", "words"),
    [
        ("cubic", "20p", "only flows of --control dctcp"),
        ("dctcp", "20", "write packets, as in --mark-at 65p"),
        ("dctcp", "0p", "write packets"),
    ],
)
def test_a_mistaken_threshold_is_refused(control: str, mark_at: str, words: str) -> None:
    question = Question("10Gbps", "100us", 4, control=control, mark_at=mark_at)
    with pytest.raises(RequestError, match=words):
        question.link()


def test_each_control_of_a_mix_has_its_own_flows() -> None:
    its_link = link("cubic:70%,bbr3:30%", flows=10)
    scenario = LinkTrial().scenario(its_link, 50)
    found = [
        (flow["congestion_control"], flow["paced"]) for flow in scenario.long_flows("bottleneck")
    ]
    assert sorted(set(found)) == [("bbr3", True), ("cubic", False)]
    assert [control for control, _ in found].count("cubic") == 7
    assert LinkTrial().meter(its_link).groups == {"long-cubic": 7, "long-bbr3": 3}
