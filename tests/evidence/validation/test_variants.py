"""Flows that lose chosen packets, compared with recorded runs of ns-2."""

import csv
from dataclasses import dataclass, replace

import polars as pl
import pytest

from conftest import ROOT
from evidence.validation.ns2.variants import (
    CASES,
    SCENARIO,
    Case,
    Comparison,
    Transmission,
    retransmissions,
    run_goodqueue,
    verdict,
)
from goodqueue.runs.api import run

# The file has records of ns-2.35 (Debian 2.35+dfsg-5), `ns tools/ns2/drops.tcl tcp=AGENT
# drops=N,N,... ...`: the number of transmissions in five seconds, the sum of their times since the
# start, and each retransmission as microseconds:packet.
RECORDED = ROOT / "tests/data" / "ns2-drops.csv"


def recorded() -> dict[Case, dict[str, str]]:
    with RECORDED.open(encoding="utf-8", newline="") as rows:
        return {_case(row): row for row in csv.DictReader(rows)}


def _case(row: dict[str, str]) -> Case:
    drops = tuple(map(int, row["lost"].split()))
    return Case(row["agent"], drops, row["limited_transmit"] == "1", row["settings"])


def test_every_case_has_a_recorded_run_of_ns2() -> None:
    assert set(recorded()) == set(CASES)
    assert len(CASES) == 64


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_transmissions_equal_those_of_ns2(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
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
def test_a_case_agrees_if_packets_are_equal_and_times_are_near(
    ours: list[Transmission], first: int | None, agrees: bool
) -> None:
    comparison = Comparison(CASES[0], SENT, ours)
    assert comparison.first_difference == first
    assert comparison.agrees is agrees
    assert (not verdict([comparison])) is agrees


def test_both_simulators_get_the_same_losses_and_recovery() -> None:
    case = replace(CASES[0], agent="Sack1", drops=(14, 28), limited_transmit=True)
    assert case.ns2_arguments[1:4] == ["tcp=Sack1", "drops=14,28", "limited_transmit=1"]
    assert case.overrides["topology.link.slow.drop_list"] == (14, 28)
    assert case.overrides["tcp.recovery"] == "sack"


# The file has records of ns-2.35, `ns tools/ns2/drops.tcl tcp=AGENT drops=N,N,... buffer=N`: the
# number of transmissions in five seconds, the sum of their times since the start, and, with
# `trace=slow`, each loss at the slow link as microseconds:packet. Patterns of losses are random. A
# queue with a `queue-limit` of 5 overflows, and one with 20 does not.
OVERFLOWS = ROOT / "tests/data" / "ns2-overflows.csv"
WITH_ROOM, TOO_SHORT = 20, 5


@dataclass(frozen=True)
class Overflow:
    """One run of ns-2 with a queue of `buffer` packets, which include the packet in service."""

    case: Case
    buffer: int
    transmissions: int
    sum_us: int
    dropped: tuple[Transmission, ...]


def overflows(buffer: int) -> list[Overflow]:
    with OVERFLOWS.open(encoding="utf-8", newline="") as rows:
        return [_overflow(row) for row in csv.DictReader(rows) if int(row["buffer"]) == buffer]


def _overflow(row: dict[str, str]) -> Overflow:
    drops = tuple(map(int, row["lost"].split()))
    pairs = [pair.split(":") for pair in row["dropped_us"].split()]
    return Overflow(
        Case(row["agent"], drops, limited_transmit=True, settings="default"),
        int(row["buffer"]),
        int(row["transmissions"]),
        int(row["sum_us"]),
        tuple(Transmission(int(time), int(packet)) for time, packet in pairs),
    )


@dataclass(frozen=True)
class Ours:
    """Our run of the same case: the sender's transmissions, and events of data at the slow link."""

    sent_us: list[int]
    events: pl.DataFrame

    @property
    def dropped(self) -> tuple[Transmission, ...]:
        lost = self.events.filter(pl.col("event") == "dropped").select("time_us", "packet")
        return tuple(Transmission(*row) for row in lost.iter_rows())


def simulated(recorded: Overflow) -> Ours:
    limit = {"topology.link.slow.queue.limit": f"{recorded.buffer - 1}p"}
    packets = run(SCENARIO, set=recorded.case.overrides | limit, packets=True).packets
    assert packets is not None
    forward = packets.filter(pl.col("direction") == "forward")
    sent = forward.filter(pl.col("event") == "sent")["time_s"]
    columns = forward.filter(pl.col("link") == "slow").select(
        "event",
        packet=-(-pl.col("sequence") // 1000),
        time_us=((pl.col("time_s") - sent[0]) * 1e6).round().cast(pl.Int64),
    )
    return Ours([round((time - sent[0]) * 1e6) for time in sent], columns)


def test_transmissions_equal_those_of_ns2_if_no_queue_overflows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    recorded = overflows(WITH_ROOM)
    assert len(recorded) == 24
    for ns2 in recorded:
        assert len(ns2.dropped) == len(ns2.case.drops), "only chosen packets are lost"
        ours = simulated(ns2)
        assert ours.dropped == ns2.dropped, ns2.case.name
        assert (len(ours.sent_us), sum(ours.sent_us)) == (ns2.transmissions, ns2.sum_us)


def test_a_different_loss_in_an_overflow_is_due_to_a_tie(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If an arrival and the end of a transmission coincide, rounding errors decide in ns-2."""
    monkeypatch.chdir(ROOT)
    alike = 0
    for ns2 in overflows(TOO_SHORT):
        ours = simulated(ns2)
        if ours.dropped == ns2.dropped:
            assert (len(ours.sent_us), sum(ours.sent_us)) == (ns2.transmissions, ns2.sum_us)
            alike += 1
            continue
        only_there = min(set(ns2.dropped) - set(ours.dropped))
        assert only_there < min(set(ours.dropped) - set(ns2.dropped)), "ns-2 loses another first"
        at = ours.events.filter(pl.col("time_us") == only_there.time_us)
        assert {"arrived", "service_started"} <= set(at["event"]), ns2.case.name
        began = at.filter(pl.col("event") == "service_started")["packet"]
        assert only_there.packet not in began, "another packet's transmission ended at that instant"
    assert alike == 13
