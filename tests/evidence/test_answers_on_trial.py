"""Answers on drawn links: the truth is the smallest buffer, and the page says what was recorded."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import pytest

from conftest import ROOT
from evidence.answers_on_trial import make, page
from evidence.answers_on_trial.draw import MAX_PACKETS, Question, questions
from evidence.answers_on_trial.truth import COARSE, FINE, Dense, Point, truth
from evidence.core.answers import answer_of
from evidence.core.pages import part
from goodqueue.sizing.answer.parts import link_dict
from goodqueue.sizing.link import Link
from goodqueue.sizing.trials.length import length

LINK = Link(20e6, (0.03,), 4)


class Curve(Dense):
    """Runs whose worst ratio is a function of the buffer, without noise."""

    def __init__(self, keeps: set[int]) -> None:
        super().__init__(LINK)
        self.keeps = keeps
        self.tried: set[int] = set()

    def at(self, packets: int, seeds: int) -> Point:
        self.tried.add(packets)
        worst = 0.5 if packets in self.keeps else 2.0
        return Point(packets, seeds, 0.99, 0.0, 0.0, worst, 0.0, "idle")


def test_questions_depend_on_the_seed_alone_and_are_affordable() -> None:
    first = list(islice(questions(), 5))
    assert first == list(islice(questions(), 5))
    assert first != list(islice(questions(1), 5))
    for one in first:
        assert length(one.link, round(one.link.bdp_packets), cold=True).packets <= MAX_PACKETS


def test_flags_describe_the_link() -> None:
    one = Question(20_000, (10.0, 30.5), 4, "reno", "rfc", 0.98, 0.005, 50.0)
    assert " ".join(one.flags) == (
        "--rate 20000kbps --flows 4 --rtt 10ms..30.5ms --control reno --profile rfc --target 98% "
        "--max-loss 0.5% --max-delay 50ms"
    )
    assert one.link.max_delay_s == 0.05
    assert max(one.link.rtts_s) == 0.0305
    assert one.varied()["bounds"].busy == pytest.approx(0.9798)


@pytest.mark.parametrize("profile", ["linux", "rfc"])
def test_the_truth_is_of_the_link_that_the_command_sizes(profile: str) -> None:
    """The command describes its link in JSON, from its flags and its own defaults."""
    one = Question(20_000, (10.0, 30.5), 4, "reno", profile, 0.98, 0.005, 50.0)
    whole = json.loads(answer_of(["size", *one.flags, "--quick", "--json"]).stdout)
    assert whole["link"] == json.loads(json.dumps(link_dict(one.link)))


@pytest.mark.parametrize("least", [1, 2, 7, 40, 333])
def test_the_truth_is_the_first_buffer_that_keeps_the_bounds(least: int) -> None:
    dense = Curve(set(range(least, 10_000)))
    found = truth(dense)
    assert found.least is not None
    assert least <= found.least <= max(FINE * least, least + 1)
    assert found.above < least


def test_an_interval_of_buffers_wider_than_a_coarse_step_is_found() -> None:
    found = truth(Curve(set(range(100, round(100 * COARSE) + 1))))
    assert found.least is not None
    assert 100 <= found.least <= 105


def test_without_such_a_buffer_the_truth_is_none() -> None:
    found = truth(Curve(set()))
    assert found.least is None
    assert found.above > 16 * LINK.bdp_packets


def row(answer: dict[str, Any] | None = None, **changes: object) -> dict[str, Any]:
    own = {"packets": 100, "chance": [90, 110], "code": 0, "work": 1000, "world": [90, 110]}
    there = {"worst": 0.9, "error": 0.01, "bound": "idle"}
    points = [{"packets": 95, "worst": 1.2, "bound": "idle"}]
    truth = {"least": 100, "above": 95, "points": points}
    whole = {"flags": "", "busy": 0.98, "there": there, "varied": {}, **truth}
    return {**whole, "answer": {**own, **(answer or {})}, **changes}


def test_a_verdict_sees_what_is_wrong() -> None:
    right = page.Verdict(row())
    assert right.covered
    assert right.steps == 0
    assert not right.falsely_shown
    assert not right.falsely_impossible
    assert page.Verdict(row(answer={"code": 3, "chance": [None, None]})).falsely_impossible
    assert not page.Verdict(row(answer={"chance": [50, 95]})).covered
    assert page.Verdict(row(answer={"chance": [50, 96]})).covered
    near = [{"packets": 95, "worst": 1.04, "bound": "idle"}]
    assert page.Verdict(row(points=near, answer={"chance": [50, 95]})).covered, "by the margin"
    broken = {"worst": 1.2, "error": 0.01, "bound": "loss"}
    assert page.Verdict(row(there=broken)).falsely_shown
    assert not page.Verdict(row(there=broken, answer={"code": 6})).falsely_shown
    other = page.Verdict(row(varied={"rate": {"packets": 111}}, varied_truths={"rate": 112}))
    assert other.moved() == other.truth_moved() == ["rate"]
    assert not other.expected_by_hosts()
    wide = row(answer={"world": [80, None]}, varied={"rate": {"packets": 111}})
    assert page.Verdict(wide).expected_by_hosts()
    none = row(answer={"world": [None, None]}, varied={"rate": {"packets": 111}})
    assert not page.Verdict(none).expected_by_hosts()
    still = page.Verdict(row(varied={"rate": {"packets": 111}}, varied_truths={"rate": 105}))
    assert not still.truth_moved()
    assert not page.Verdict(row(varied={"rate": {"packets": 110}})).moved()


def test_the_page_says_what_was_recorded() -> None:
    text = (ROOT / make.PAGE).read_text(encoding="utf-8")
    rows = make.rows()
    assert part(text, make.PART) == page.text(rows)
    rows[0]["least"] += 1000
    assert part(text, make.PART) != page.text(rows)
