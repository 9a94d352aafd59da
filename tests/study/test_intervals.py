"""Confidence intervals against printed tables."""

from __future__ import annotations

import math

import pytest
from scipy.special import stdtrit

from goodqueue.core.intervals import Interval, t_interval, t_quantile


def test_half_width_follows_the_printed_t_table() -> None:
    # t(0.975) is 2.776 for 4 degrees of freedom; the sample has a standard deviation of sqrt(2.5).
    interval = t_interval([1, 2, 3, 4, 5])
    assert interval.mean == 3
    assert interval.half_width == pytest.approx(2.776 * math.sqrt(2.5 / 5), rel=2e-4)
    assert (interval.low, interval.high) == (3 - interval.half_width, 3 + interval.half_width)


def test_ends_stay_within_the_range_of_the_quantity() -> None:
    # t(0.975) is 12.706 for 1 degree of freedom, so the interval of 97 % and 100 % exceeds the
    # range at its upper end.
    values = [0.97, 1.0]
    share = t_interval(values).within(0, 1)
    half = 12.706 * 0.03 / 2
    assert share.half_width == pytest.approx(half, rel=1e-4)
    assert share.ends == pytest.approx((0.985 - half, 1), rel=1e-4)
    assert share.clipped
    assert share.text(lambda end: f"{100 * end:.1f}") == "98.5 (79.4 to 100.0)"
    loss = t_interval([0.0, 0.001, 0.0]).within(0, 1)
    assert loss.low == 0
    assert loss.text(lambda end: f"{100 * end:.2f}") == "0.03 (0.00 to 0.18)"


def test_an_interval_prints_its_half_width_unless_it_is_infinite() -> None:
    inside = Interval(0.5, 0.1).within(0, 1)
    assert not inside.clipped
    assert inside.text(lambda end: f"{end:.1f}", lambda half: f"{half:.3f}") == "0.5 ± 0.100"
    alone = t_interval([0.5]).within(0, 1)
    assert alone.text(str) == "0.5"
    assert (alone.ends, alone.clipped) == ((None, None), False)


def test_equal_values_have_width_zero_and_one_value_an_infinite_width() -> None:
    assert t_interval([0.5] * 10).half_width == 0
    assert t_interval([0.5]).half_width == math.inf


@pytest.mark.parametrize("freedom", [1, 2, 3.7, 9, 29, 250, 9_999, 10_001, 1e6])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99, 0.999])
def test_quantiles_of_student_agree_with_scipy(freedom: float, confidence: float) -> None:
    expected = float(stdtrit(freedom, (1 + confidence) / 2))
    assert t_quantile(freedom, confidence) == pytest.approx(expected, rel=1e-9)
