"""The range over hosts beside a kernel: the page says what was recorded."""

from __future__ import annotations

import json

from conftest import ROOT
from evidence.core.pages import part
from evidence.hosts_on_kernel import make, page


def test_questions_are_drawn_by_their_seed() -> None:
    assert make.questions() == make.questions()
    assert len(make.questions()) == make.LINKS
    assert max(one.rate_kbps for one in make.questions()) <= 50_000


def test_a_range_without_an_end_is_tried_at_four_times_the_answer() -> None:
    assert page.buffers({"world": [3, 20], "packets": 5}) == {"low": 3, "answer": 5, "high": 20}
    assert page.buffers({"world": [3, None], "packets": 5})["high"] == 20


def test_a_bound_holds_within_the_margin_of_an_answer() -> None:
    assert page.keeps([{"utilization": 0.979}, {"utilization": 0.9795}], 0.98)
    assert not page.keeps([{"utilization": 0.978}, {"utilization": 0.979}], 0.98)


def test_the_page_says_what_was_recorded() -> None:
    answers = json.loads(make.ANSWERS.read_text(encoding="utf-8"))
    kernel = json.loads(make.KERNEL.read_text(encoding="utf-8"))
    written = part((ROOT / make.PAGE).read_text(encoding="utf-8"), make.PART)
    assert written == page.text(answers, kernel)
    for runs in kernel["rows"]:
        runs["high"] = [{"utilization": 0.5, "verdict": "trusted"}]
    assert "the bound holds on 0 of" in page.text(answers, kernel)
