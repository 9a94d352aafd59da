"""Flows that lose chosen packets, against what ns-2 did with them; runs without ns-2."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from goodqueue.validation.variants import (
    CASES,
    Case,
    Comparison,
    Transmission,
    retransmissions,
    run_goodqueue,
    verdict,
)

# From ns-2.35 (Debian 2.35+dfsg-5), `ns tools/ns2/drops.tcl tcp=AGENT drops=N,N,... ...`: how many
# transmissions in five seconds, the sum of their times since the start, and each retransmission as
# microseconds:packet.
RECORDED = Path(__file__).with_name("data") / "ns2-drops.csv"


def recorded() -> dict[Case, dict[str, str]]:
    with RECORDED.open(encoding="utf-8", newline="") as rows:
        return {_case(row): row for row in csv.DictReader(rows)}


def _case(row: dict[str, str]) -> Case:
    drops = tuple(map(int, row["lost"].split()))
    return Case(row["agent"], drops, row["limited_transmit"] == "1", row["settings"])


def test_every_case_is_recorded() -> None:
    assert set(recorded()) == set(CASES)
    assert len(CASES) == 64


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_transmissions_are_those_of_ns2(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[1])
    ns2, ours = recorded()[case], run_goodqueue(case)
    assert len(ours) == int(ns2["transmissions"])
    assert sum(transmission.time_us for transmission in ours) == int(ns2["sum_us"])
    again = " ".join(f"{time}:{packet}" for time, packet in retransmissions(ours))
    assert again == ns2["retransmissions_us"]


SENT = [Transmission(0, 0), Transmission(200_880, 1), Transmission(200_880, 2)]


@pytest.mark.parametrize(
    ("ours", "first", "agrees"),
    [
        (SENT, None, True),
        ([*SENT[:2], Transmission(211_280, 2)], None, True),
        ([*SENT[:2], Transmission(211_281, 2)], None, False),
        ([*SENT[:2], Transmission(200_880, 3)], 2, False),
        (SENT[:2], 2, False),
    ],
)
def test_criteria(ours: list[Transmission], first: int | None, agrees: bool) -> None:
    comparison = Comparison(CASES[0], SENT, ours)
    assert comparison.first_difference == first
    assert comparison.agrees is agrees
    assert (not verdict([comparison])) is agrees


def test_both_simulators_are_told_the_same() -> None:
    case = replace(CASES[0], agent="Sack1", drops=(14, 28), limited_transmit=True)
    assert case.ns2_arguments[1:4] == ["tcp=Sack1", "drops=14,28", "limited_transmit=1"]
    assert case.overrides["topology.link.slow.drop_list"] == (14, 28)
    assert case.overrides["tcp.recovery"] == "sack"
