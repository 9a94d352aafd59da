"""The questions of docs/questions.md, their expected ranges and their recorded answers."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

import pytest

from evidence.core.pages import part
from evidence.questions import ask
from evidence.questions.ask import FAULTS, MENDED, OUTCOMES, Answer, Question, questions, recorded
from evidence.questions.make import PAGE, PART, USERS, row, shown
from goodqueue.sizing.search.budget import BUDGET_PACKETS, PACKETS_PER_S

if TYPE_CHECKING:
    from pathlib import Path

QUESTIONS = questions()
ANSWERS = recorded()


def test_each_kind_of_user_asks_twenty_questions() -> None:
    assert Counter(one.user for one in QUESTIONS) == dict.fromkeys(USERS, 20)


def test_no_question_is_asked_twice() -> None:
    for attribute in ("words", "flags"):
        assert max(Counter(getattr(one, attribute) for one in QUESTIONS).values()) == 1


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.words)
def test_each_question_has_reasoning_and_an_expected_range(question: Question) -> None:
    assert question.reason.endswith(".")
    if isinstance(question.expected, str):
        assert question.expected in OUTCOMES
    else:
        low, high = question.expected
        assert 1 <= low <= high


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.words)
def test_exactly_the_disagreements_are_explained(question: Question) -> None:
    explained = question.fault in FAULTS and question.found is not None
    assert explained != ANSWERS[question.flags].agrees(question)
    assert (question.fault is None) == (question.found is None)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.words)
def test_an_answer_that_agrees_only_since_a_change_says_so(question: Question) -> None:
    assert (question.mended is None) == (question.before is None)
    if question.mended is not None:
        assert question.mended in MENDED
        assert ANSWERS[question.flags].agrees(question)
        assert f"*{MENDED[question.mended]}:*" in row(question, ANSWERS[question.flags])


def test_the_count_names_the_agreements_before_any_change() -> None:
    text = shown(QUESTIONS, ANSWERS)
    agree = sum(ANSWERS[one.flags].agrees(one) for one in QUESTIONS)
    mended = sum(one.mended is not None for one in QUESTIONS)
    assert f"would be {agree - mended}: " in " ".join(text.split())


def test_every_answer_of_theory_is_an_estimate() -> None:
    for flags, answer in ANSWERS.items():
        assert answer.exit_code == 6 or "--quick" not in flags


def test_exit_codes_agree_with_the_outcomes() -> None:
    codes = {"refused": {2}, "impossible": {3, 6}, "packets": {0, 6}, "bursts": {0, 3, 6}}
    for answer in ANSWERS.values():
        assert answer.exit_code in codes[answer.outcome]


def test_the_page_shows_the_recorded_answers() -> None:
    assert {one.flags for one in QUESTIONS} == set(ANSWERS)
    assert part(PAGE.read_text(encoding="utf-8"), PART) == shown(QUESTIONS, ANSWERS)


def test_all_answers_need_less_than_half_an_hour_of_one_processor() -> None:
    """The work is counted in packets, so that stored runs and other programs do not change it."""
    work = [answer.work for answer in ANSWERS.values()]
    assert max(work) <= BUDGET_PACKETS
    assert median(work) < BUDGET_PACKETS / 4
    assert sum(work) < 1800 * PACKETS_PER_S


def test_every_simulated_answer_has_its_work() -> None:
    for question in QUESTIONS:
        answer = ANSWERS[question.flags]
        by_theory = "--quick" in question.flags or "--flows-from" in question.flags
        assert answer.work > 0 or by_theory or answer.outcome == "refused"


def test_another_search_asks_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A kept answer is that of the code which gave it; runs are kept for any code."""
    stores = []

    def asked(_flags: str, store: str) -> Answer:
        stores.append(store)
        packets = len(stores)
        return Answer(0, "packets", packets, [packets, packets], [None, None], 1)

    monkeypatch.setattr(ask, "scratch", lambda: tmp_path)
    monkeypatch.setattr(ask, "asked", asked)
    monkeypatch.setattr(ask, "code", lambda: "one")
    assert ask.answer(NUMBER).packets == ask.answer(NUMBER).packets == 1
    monkeypatch.setattr(ask, "code", lambda: "another")
    assert ask.answer(NUMBER).packets == 2
    assert stores[0] == stores[1]


def test_at_most_eight_questions_avoid_packets() -> None:
    others = [one for one in QUESTIONS if "--quick" in one.flags or "hybrid" in one.flags]
    assert len(others) <= 8


NUMBER = Question("home", "How much?", "--rate 1Mbps", [5, 9], "A BDP is seven packets.")


@pytest.mark.parametrize(
    ("packets", "outcome", "agrees"),
    [(5, "packets", True), (9, "packets", True), (4, "packets", False), (7, "bursts", False)],
)
def test_a_number_agrees_inside_its_range_only(packets: int, outcome: str, agrees: bool) -> None:
    answer = Answer(0, outcome, packets, [packets, packets], [3, None], 1)
    assert answer.agrees(NUMBER) is agrees
    assert ("**not** 5 to 9" in row(NUMBER, answer)) is not agrees


def test_an_outcome_agrees_whatever_its_number() -> None:
    question = Question("home", "How much?", "--rate 1Mbps", "impossible", "Nothing fits.")
    answer = Answer(3, "impossible", 7, [None, None], [None, None], 1)
    assert answer.agrees(question)
    assert "| 7 (nearest) | no buffer |" in row(question, answer)
