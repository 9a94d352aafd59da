"""The buffer for 99 % utilisation against the number of flows, on a small scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from evidence.validation.root_n.measured import (
    PACKET_NOISE,
    UTILIZATION,
    cases_that_fail,
    crossing,
    exponent,
    measured,
    out_of_step,
)
from evidence.validation.root_n.report import section, verdict
from goodqueue.sizing.rules import rule_named

if TYPE_CHECKING:
    from pathlib import Path

    from evidence.validation.root_n.measured import Case

RULE = rule_named("sqrt_n")


def test_the_buffer_falls_with_the_root_of_the_flows_and_bursts_are_noticed(tmp_path: Path) -> None:
    """The cases are 16 and 64 flows on a link of 100 Mb/s, and 64 flows that do not pace.

    The exponent is -1/2 once the buffer that packets need in any case is subtracted. Without the
    subtraction it is -0.34 (-0.38 to -0.31) over 16 seeds, because the rule ignores packets.
    """
    regular = out_of_step(100e6, (16, 64))
    bursts = [case for case in cases_that_fail() if case.name == "in bursts"]
    *well, ill = measured([*regular, *bursts], 3, tmp_path)
    fitted = exponent(well)
    assert fitted.high < 0
    windows = exponent(well, PACKET_NOISE)
    assert windows.low <= -0.5 <= windows.high
    assert all(RULE.advise(case.link).holds for case in regular)
    assert ill.at_the_rule.high < UTILIZATION
    assert any("do not pace" in sentence for sentence in RULE.advise(ill.case.link).broken)
    assert verdict(well, [ill]) == []
    text = section(well, [ill], 3)
    print(text)
    assert f"{fitted.mean:.2f} (" in text


def test_a_crossing_is_interpolated_in_logarithms() -> None:
    # The idle share is inversely proportional to the square of the buffer: 4 % at 100, 1 % at 200.
    curve = {limit: 1 - 0.04 * (100 / limit) ** 2 for limit in (100, 300, 900)}
    assert crossing(curve, 0.99) == pytest.approx(200)
    assert crossing(curve, 0.96) == pytest.approx(100)
    # Beyond the ends the last line is extended.
    assert crossing(curve, 0.9999) == pytest.approx(2000)
    assert crossing(curve, 0.84) == pytest.approx(50)


def test_the_last_crossing_counts() -> None:
    curve = {100: 0.995, 200: 0.98, 400: 0.995}
    found = crossing(curve, 0.99)
    assert 200 < found < 400
    assert found == pytest.approx(200 * math.exp(math.log(2) * math.log(2) / math.log(4)))


@pytest.mark.parametrize("case", cases_that_fail(), ids=lambda case: case.name)
def test_the_rule_does_not_hold_on_links_where_it_fails(case: Case) -> None:
    assert not RULE.advise(case.link).holds
