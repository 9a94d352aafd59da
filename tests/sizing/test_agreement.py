"""The measured error of the hybrid engine: its file, and the intervals and words of answers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from goodqueue.cli import run_command
from goodqueue.cli.sizing.size import exit_code
from goodqueue.output.sizing.answer import plain_lines
from goodqueue.output.sizing.verdict import verdict
from goodqueue.sizing import Effort, Link, size_link
from goodqueue.sizing.search import agreement
from goodqueue.sizing.search.agreement import (
    Agreement,
    Measured,
    Widened,
    agreement_of,
    in_words,
    measured,
    parsed,
    that_decides,
    why_older,
    widened,
)
from goodqueue.sizing.search.laboratory import Laboratory
from goodqueue.sizing.search.smallest import Smallest
from goodqueue.sizing.trials.described import LinkTrial

if TYPE_CHECKING:
    from goodqueue.study.runner import Runner

pytestmark = pytest.mark.usefixtures("own_cache")

EXAMPLE = Measured(
    11,
    4,
    1.5,
    {
        ("utilization", "large"): Agreement(60, 45, 59, 0.75, 1.21),
        ("utilization", "small"): Agreement(40, 12, 31, 0.5, 1.31),
        ("loss", "large"): Agreement(58, 18, 37, None, None),
        ("loss", "small"): Agreement(42, 5, 9, None, 1.41),
    },
)
"""A measured error."""


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the example in the place of the package's error."""
    monkeypatch.setattr(agreement, "measured", lambda: EXAMPLE)


@pytest.fixture
def _older(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the engines have other results than those with which the error was measured."""
    monkeypatch.setattr(agreement, "is_older", lambda what: what == "hybrid")


def written(**changes: Any) -> str:  # noqa: ANN401 - any value of the file
    return json.dumps(EXAMPLE.as_dict() | changes)


def with_class(**changes: Any) -> str:  # noqa: ANN401 - any value of a class
    document = EXAMPLE.as_dict()
    document["classes"]["loss"]["small"] |= changes
    return json.dumps(document)


def test_the_file_of_the_package_is_read_once_and_has_every_class() -> None:
    assert measured() is measured()
    assert measured().classes.keys() == EXAMPLE.classes.keys()
    assert measured().loss_error > 1


def test_a_written_file_is_read_back() -> None:
    assert parsed(written()) == EXAMPLE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (written(more=1), "not a table of results_version"),
        ("[]", "not a table"),
        (written(results_version="11"), "results_version: '11' is no count"),
        (written(hybrid_version=True), "hybrid_version: True is no count"),
        (written(loss_error=0.9), "loss_error: 0.9 is below 1"),
        (written(loss_error=True), "loss_error: True is no positive number"),
        (written(loss_error=None), "loss_error: None is no positive number"),
        (written(classes={"utilization": {}}), "classes: not a table of utilization, loss"),
        (with_class(links=None), "loss, small, links: None is no count"),
        (with_class(links=8), "5, 9 and 8 links do not rise"),
        (with_class(within_10=10), "10, 9 and 42 links do not rise"),
        (with_class(low=0), "loss, small, low: 0 is no positive number"),
        (with_class(high=float("inf")), "loss, small, high: inf is no positive number"),
        (with_class(low=1.5), "low is above high"),
        (with_class(median=1), "not a table of links"),
    ],
)
def test_a_file_with_another_content_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parsed(text)


@pytest.mark.usefixtures("example")
def test_the_agreement_in_words_adds_up_the_classes() -> None:
    words = in_words()
    assert "on 90 % of 100 links and within 10 % or 2 packets on 57 %" in words
    assert "on 46 % of 100 links and on 23 %" in words


@pytest.mark.usefixtures("example", "_older")
def test_an_older_error_leaves_the_interval_open_and_the_answer_says_so() -> None:
    link = Link(1e9, (0.05,), 50, congestion_control="cubic", max_loss_rate=0.003)
    found = found_of(limit=200, low=190, high=200)
    assert widened(link, found) is None
    # With an unknown error of the loss both bounds decide.
    assert that_decides(link, loss_rate=1e-9) is link
    laboratory = Laboratory(cast("Runner", None), LinkTrial(), choice="hybrid")
    doubt, error = laboratory.doubt(link, found, loss_rate=0.0015)
    assert error is None
    assert doubt is not None
    assert "older than the engines" in doubt
    assert "results version 11 and version 4 of the hybrid engine" in doubt


@pytest.mark.usefixtures("_older")
def test_size_prints_that_the_error_is_older(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["size", "--rate", "20Mbps", "--rtt", "40ms", "--flows", "2", "--only", "answer"]
    assert run_command([*flags, "--engine", "hybrid"]) == 6
    text = " ".join(capsys.readouterr().out.split())
    assert "error is older than the engines" in text
    assert "no interval follows" in text
    assert run_command([*flags, "--engine", "hybrid", "--json"]) == 6
    answer = json.loads(capsys.readouterr().out)
    assert "older than the engines" in answer["doubt"]
    assert answer["recommendation"]["carried"] is None
    assert answer["decision"]["chance"] == [None, None]


@pytest.mark.usefixtures("example")
def test_an_error_of_these_engines_is_not_older() -> None:
    assert why_older() is None
    link = Link(1e9, (0.05,), 50, congestion_control="cubic", max_loss_rate=0.003)
    assert that_decides(link, loss_rate=0.0019).max_loss_rate is None
    assert that_decides(link, loss_rate=0.0021) is link


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize(
    ("rate", "loss", "words"),
    [
        (1e9, None, "simulates no packets"),
        (1e9, 0.001, "bound on the loss"),
        # The bound is far above the loss that follows, so the utilisation decides.
        (1e9, 0.003, "simulates no packets"),
        (1e8, None, "packets in flight"),
        (1e8, 0.003, "packets in flight"),
    ],
)
def test_an_answer_beyond_the_compared_links_is_doubted(
    rate: float, loss: float | None, words: str
) -> None:
    link = Link(rate, (0.05,), 50, congestion_control="cubic", max_loss_rate=loss)
    laboratory = Laboratory(cast("Runner", None), LinkTrial(), choice="hybrid")
    found = found_of(limit=200, low=190, high=200)
    doubt, error = laboratory.doubt(link, found, loss_rate=0.0015)
    assert doubt is not None
    assert words in doubt
    decisive = link if loss == 0.001 else replace(link, max_loss_rate=None)
    assert error == widened(decisive, replace(found, low=199))


def found_of(limit: int, low: int, high: int | None) -> Smallest:
    return Smallest(limit, low, high, limit, limit, limit, proved=True)


@pytest.mark.usefixtures("example")
def test_an_answer_is_widened_by_the_error_of_its_class() -> None:
    link = Link(1e8, (0.05,), 50, congestion_control="cubic")
    error = agreement_of(link)
    assert error is EXAMPLE.classes["utilization", "small"]
    assert error.low is not None
    assert error.high is not None
    found = widened(link, found_of(limit=200, low=190, high=200))
    assert found is not None
    assert found.high is not None
    # The buffers of both engines for a link of this class differ at most by this ratio.
    assert found.low <= 191 / error.high < found.low + 1
    assert found.high - 1 < 200 / error.low <= found.high
    nothing_shown = widened(link, found_of(limit=200, low=0, high=None))
    assert nothing_shown is not None
    assert nothing_shown.as_dict() == {"low_packets": 1, "high_packets": None}
    # An answer for a bound on loss has another error.
    assert agreement_of(replace(link, max_loss_rate=0.01)) is EXAMPLE.classes["loss", "small"]
    assert agreement_of(replace(link, rate_bps=1e9)) is EXAMPLE.classes["utilization", "large"]


@pytest.mark.usefixtures("example")
def test_an_answer_outside_the_agreed_range_is_not_called_proved() -> None:
    link = Link(2e6, (0.04,), 1, congestion_control="cubic")
    proved = size_link(link, Effort(changes=False, queues=(), rules=False, hosts=False))
    assert (proved.shown, proved.proved, exit_code(proved)) == (True, True, 0)
    assert proved.found is not None
    error = widened(link, proved.found)
    assert error is not None
    doubted = replace(proved, engine="hybrid", doubt="windows are small", widened=error)
    assert (doubted.shown, doubted.proved, exit_code(doubted)) == (True, False, 6)
    made = doubted.as_dict()["recommendation"]
    assert (made["packets"], made["proved"]) == (proved.buffer, False)
    assert made["carried"]["low_packets"] <= made["at_least_packets"]
    assert made["carried"]["high_packets"] > made["at_most_packets"]
    text = "\n".join(plain_lines(verdict(doubted)))
    assert "estimate: " in text
    assert "recommended: " not in text
    assert "an estimate: windows are small" in text
    assert f"from {error.low} packet" in text
    assert f"to {error.high} packets; on nine tenths of 40 such links" in text
    for_loss = widened(replace(link, max_loss_rate=0.01, flows=4), proved.found)
    assert for_loss is not None
    upwards = " ".join(verdict(replace(doubted, widened=for_loss)))
    assert f"from {for_loss.low} packet" in upwards
    assert " upwards; on nine tenths of 42 such links" in upwards
    unbounded = Widened(1, None, EXAMPLE.classes["loss", "large"])
    assert "no interval follows" in " ".join(verdict(replace(doubted, widened=unbounded)))
    unknown = replace(doubted, widened=None)
    assert "these engines on such links is not known" in " ".join(verdict(unknown))
    # Ctrl-C during the simulations that follow the answer keeps the answer.
    later = replace(doubted, interrupted=True)
    assert "before the search ended" not in " ".join(verdict(later))
