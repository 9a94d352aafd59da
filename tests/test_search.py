"""The search for the smallest buffer, against curves whose answer is known."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import first
from goodqueue.errors import RequestError
from goodqueue.intervals import Interval
from goodqueue.sizing.curve import Curve, Point
from goodqueue.sizing.requirements import Requirements
from goodqueue.sizing.search import search, sweep_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class FakeLink:
    """A link whose utilisation, loss and delay are functions of its limit."""

    def __init__(
        self,
        utilization: Callable[[int], float],
        loss: Callable[[int], float] = lambda _limit: 0.01,
        full_up_to: int = 10**9,
    ) -> None:
        self.utilization = utilization
        self.loss = loss
        self.full_up_to = full_up_to
        self.evaluated: list[int] = []

    def __call__(self, limits: Sequence[int]) -> Iterator[Point]:
        for limit in limits:
            self.evaluated.append(limit)
            yield Point(
                limit,
                utilization=Interval(self.utilization(limit), 0.001),
                loss_rate=Interval(self.loss(limit), 0.0005),
                p99_delay_s=Interval(limit * 1e-3, 1e-4),
                ever_full=limit <= self.full_up_to,
            )


def saw_tooth(limit: int, bdp: int = 100) -> float:
    """Utilisation of one long Reno flow with this buffer (the fluid saw-tooth)."""
    b = min(limit / bdp, 1)
    low = (1 + b) / 2
    full = ((1 + b) ** 2 - 1) / 2
    return ((1 - low**2) / 2 + full) / ((1 - low) + full) if b < 1 else 1.0


@given(target=st.floats(0.7, 0.99), bdp=st.integers(2, 5000))
def test_finds_the_brute_force_answer_on_a_monotone_curve(target: float, bdp: int) -> None:
    link = FakeLink(lambda limit: saw_tooth(limit, bdp))
    answer = search(Curve(link), Requirements(target), first_reach=2 * bdp)
    wanted = first(lambda limit: saw_tooth(limit, bdp) - 0.001 >= target)
    assert answer.recommended is not None
    assert answer.recommended.limit_packets == wanted
    assert answer.binding == (() if wanted == 1 else ("utilization",))
    assert answer.monotone
    assert len(link.evaluated) == len(set(link.evaluated)) < 60


def test_the_lower_end_of_the_interval_decides() -> None:
    # The mean reaches 0.98 at 98 packets, the lower end of its interval one packet later.
    answer = search(Curve(FakeLink(lambda limit: limit / 100)), Requirements(0.98), 99)
    assert answer.recommended is not None
    assert answer.recommended.limit_packets == 99


def test_loss_can_bind_instead() -> None:
    link = FakeLink(saw_tooth, loss=lambda limit: 1 / limit)
    answer = search(Curve(link), Requirements(0.9, max_loss_rate=0.01), 200)
    assert answer.recommended is not None
    assert answer.recommended.limit_packets == first(lambda limit: 1 / limit + 0.0005 <= 0.01)
    assert answer.binding == ("loss",)


def test_delay_that_conflicts_names_both_sides() -> None:
    answer = search(Curve(FakeLink(saw_tooth)), Requirements(0.98, max_delay_s=0.02), 200)
    assert not answer.feasible
    assert answer.binding == ("utilization", "delay")
    assert answer.least is not None
    assert answer.most is not None
    assert answer.most.limit_packets == 19  # 19 ms and its 0.1 ms
    assert answer.least.limit_packets == first(lambda limit: saw_tooth(limit) - 0.001 >= 0.98)


def test_delay_that_nothing_keeps() -> None:
    answer = search(Curve(FakeLink(saw_tooth)), Requirements(0.98, max_delay_s=0.0005), 200)
    assert (answer.feasible, answer.most) == (False, None)


def test_a_link_that_traffic_cannot_fill_is_infeasible_and_stops_early() -> None:
    link = FakeLink(lambda _limit: 0.4, full_up_to=300)
    answer = search(Curve(link), Requirements(0.98), first_reach=100)
    assert (answer.feasible, answer.saturated, answer.binding) == (False, True, ("utilization",))
    assert max(link.evaluated) < 1000


def test_the_sweep_reaches_beyond_its_first_reach() -> None:
    answer = search(Curve(FakeLink(lambda limit: saw_tooth(limit, 4000))), Requirements(0.99), 10)
    assert answer.recommended is not None
    assert answer.recommended.limit_packets == first(
        lambda limit: saw_tooth(limit, 4000) - 0.001 >= 0.99
    )


def test_a_dip_above_the_first_success_is_reported_and_stepped_over() -> None:
    # 10 packets suffice, but 12 do not: a recommendation must not stand beside a hole.
    def dip(limit: int) -> float:
        return 0.9 if limit < 10 or limit == 12 else 1.0

    answer = search(Curve(FakeLink(dip)), Requirements(0.98), 40)
    assert answer.recommended is not None
    assert answer.recommended.limit_packets == 13
    assert answer.smaller_passing == (10, 11)
    assert not answer.monotone


def test_what_is_finished_survives_an_interrupt() -> None:
    def interrupted(limit: int) -> float:
        if limit > 20:
            raise KeyboardInterrupt
        return 0.5

    curve = Curve(FakeLink(interrupted))
    with pytest.raises(KeyboardInterrupt):
        search(curve, Requirements(0.98), 100)
    assert [point.limit_packets for point in curve.points] == [1, 2, 3, 4, 6, 9, 14]


@pytest.mark.parametrize(
    "request_",
    [
        {"target_utilization": 1.2},
        {"target_utilization": 0.0},
        {"target_utilization": -0.5},
        {"target_utilization": float("nan")},
        {"max_loss_rate": 1.2},
        {"max_loss_rate": -0.1},
        {"max_loss_rate": float("nan")},
        {"max_delay_s": 0.0},
        {"max_delay_s": -1.0},
        {"max_delay_s": float("nan")},
    ],
)
def test_impossible_requests_are_refused(request_: dict[str, float]) -> None:
    with pytest.raises(RequestError):
        Requirements(**request_)


@given(first_limit=st.integers(1, 50), reach=st.integers(0, 10**6))
def test_the_sweep_rises_from_its_first_to_its_last(first_limit: int, reach: int) -> None:
    limits = sweep_limits(first_limit, first_limit + reach)
    assert (limits[0], limits[-1]) == (first_limit, first_limit + reach)
    assert all(a < b <= max(a + 1, 1.5 * a + 1) for a, b in pairwise(limits))
