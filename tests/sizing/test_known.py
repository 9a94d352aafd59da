"""Measured values of a link's traffic, given as flags: BSCL's equations with these values.

Dhamdhere, Jiang and Dovrolis, INFOCOM 2005: equation numbers are theirs.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from goodqueue._core import bscl
from goodqueue.cli import run_command
from goodqueue.cli.exits import EXIT_BAD_INPUT
from goodqueue.errors import RequestError
from goodqueue.sizing.known import Known
from goodqueue.sizing.link import Link
from goodqueue.sizing.rules import rule_named
from goodqueue.sizing.trials.described import LinkTrial

if TYPE_CHECKING:
    from collections.abc import Sequence

LINK = Link(50e6, (0.04, 0.12), 60, congestion_control="reno", max_loss_rate=0.01)


def test_the_effective_round_trip_takes_the_place_of_the_harmonic_mean() -> None:
    """(22): B = 0.87 N / sqrt(p) - C T_e, in packets of 1500 B."""
    known = Known(effective_rtt="100ms").applied(LINK)
    assert bscl(known).for_loss == pytest.approx(0.87 * 60 / 0.1 - 50e6 * 0.1 / 12_000)
    assert bscl(LINK).for_loss == pytest.approx(0.87 * 60 / 0.1 - 50e6 * 0.06 / 12_000)


def test_the_length_of_loss_bursts_decides_how_many_flows_are_hit() -> None:
    """(13) and (16): q = 1 - (1 - 1/N)^L, B = (q C T - 2N (1 - q)) / (2 - q)."""
    for burst in (10.0, 33.0, 120.0):
        q = 1 - math.pow(1 - 1 / 60, burst)
        wanted = (q * 250 - 120 * (1 - q)) / (2 - q)
        by_length = Known(loss_burst=burst).applied(LINK)
        by_ratio = Known(synchronization=burst / 60).applied(LINK)
        assert bscl(by_length).for_utilization == pytest.approx(wanted)
        assert bscl(by_ratio).for_utilization == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("known", "fast"),
    [
        (Known(byte_counting=False), False),
        (Known(byte_counting=True), True),
        (Known(byte_counting=False, ack_every=1), True),
        (Known(byte_counting=False, ack_every=2), False),
    ],
)
def test_fast_growth_breaks_an_assumption(known: Known, *, fast: bool) -> None:
    """The constant 0.87 assumes that a window grows by half a packet per round trip."""
    link = known.applied(LINK)
    assert any("0.87" in reason for reason in rule_named("bscl").advise(link).broken) is fast


def test_receivers_acknowledge_as_configured() -> None:
    """The simulated receivers have the same settings."""
    text = LinkTrial().scenario(Known(ack_every=1).applied(LINK), 100).resolved_toml()
    assert 'ack_rule = "every_nth"' in text
    assert "ack_every = 1" in text


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--loss-burst", "0"), "--loss-burst 0: write a number above 0"),
        (("--synchronization", "-1"), "--synchronization -1: write a number above 0"),
        (("--loss-burst", "9", "--synchronization", "1"), "give only one of them"),
        (("--effective-rtt", "0s"), "--effective-rtt 0s: write a time above 0s"),
        (("--effective-rtt", "soon"), "--effective-rtt"),
    ],
)
def test_impossible_values_are_refused(
    flags: Sequence[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    described = ("--rate", "50Mbps", "--rtt", "40ms", "--flows", "60")
    assert run_command(["size", *described, "--quick", *flags]) == EXIT_BAD_INPUT
    assert message in capsys.readouterr().err


def test_a_burst_length_and_a_synchronisation_contradict_each_other() -> None:
    with pytest.raises(RequestError, match="times the number of flows"):
        Known(synchronization=1, loss_burst=10).applied(LINK)


def test_the_answer_repeats_the_question(capsys: pytest.CaptureFixture[str]) -> None:
    described = ("--rate", "50Mbps", "--rtt", "40ms,120ms", "--flows", "60", "--control", "reno")
    known = ("--loss-burst", "30", "--effective-rtt", "50ms", "--ack-every", "1", "--byte-counting")
    assert run_command(["size", *described, *known, "--quick", "--json"]) == 6
    link = json.loads(capsys.readouterr().out)["link"]
    assert link["synchronization"] == pytest.approx(0.5)
    assert link["harmonic_mean_rtt_s"] == pytest.approx(0.05)
    assert (link["ack_every"], link["byte_counting"]) == (1, True)


def test_options_of_the_traffic_are_refused_beside_a_scenario(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command(["size", "scenarios/s3.toml", "--quick", "--ack-every", "1"]) == 2
    assert "--ack-every" in capsys.readouterr().err
