"""The digest over all queues: its claims, and the agreement of the page with the figures."""

from __future__ import annotations

import pytest

from conftest import ROOT
from evidence.characterize.make import QUEUES
from evidence.which_queue.answers import FAIR, Answer, answers, below
from evidence.which_queue.digest import PAGE, with_parts
from evidence.which_queue.figures import EXAMPLES, Figure, Figures

FOUND = Figures(ROOT)


@pytest.mark.parametrize("answer", answers(FOUND), ids=lambda one: one.link)
def test_every_claim_of_an_answer_holds(answer: Answer) -> None:
    assert answer.claims
    assert [claim for claim, holds in answer.claims.items() if not holds] == []


def test_the_page_has_the_committed_figures() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    assert with_parts(page, FOUND) == page, "`make evidence NAME=which_queue` writes them"


def test_the_digest_has_every_queue() -> None:
    assert list(QUEUES) == FOUND.queues
    assert {*FAIR, *EXAMPLES} <= {*QUEUES}
    uncounted = [name for name in QUEUES if FOUND.cost(name) is None]
    assert uncounted == ["tbf before fq_codel"], "the benchmark's shaper has another queue within"


def test_an_interval_is_below_others_only_if_it_overlaps_none() -> None:
    assert below(Figure(1, 0.5), [Figure(3, 1), Figure(2.1, 0.5)])
    assert not below(Figure(1, 0.5), [Figure(3, 1), Figure(2.0, 0.5)])
