"""Confidence intervals against printed tables."""

from __future__ import annotations

import math

import pytest

from goodqueue.intervals import t_interval


def test_half_width_follows_the_printed_t_table() -> None:
    # t(0.975) is 2.776 for 4 degrees of freedom; this sample has standard deviation sqrt(2.5).
    interval = t_interval([1, 2, 3, 4, 5])
    assert interval.mean == 3
    assert interval.half_width == pytest.approx(2.776 * math.sqrt(2.5 / 5), rel=2e-4)
    assert (interval.low, interval.high) == (3 - interval.half_width, 3 + interval.half_width)


def test_equal_values_have_no_width_and_one_value_no_end() -> None:
    assert t_interval([0.5] * 10).half_width == 0
    assert t_interval([0.5]).half_width == math.inf
