"""The comparison of RED with ns-2's: the criterion, and the section of the report."""

from __future__ import annotations

from evidence.validation.ns2.red import CASES, COLUMNS, SCENARIO, Comparison, section, verdict
from goodqueue.runs.api import load


def comparison(spread: float, ours: float) -> Comparison:
    """Returns a comparison of two seeds of ns-2 that differ by `spread`, and one of ours."""
    ns2 = [dict.fromkeys(COLUMNS, 10.0 + sign * spread / 2) for sign in (-1, 1)]
    return Comparison(CASES[0], ns2, [dict.fromkeys(COLUMNS, ours)])


def test_our_mean_must_lie_in_the_95_percent_range_of_ns_2s_runs_plus_a_tenth() -> None:
    # Two values 2 apart have a standard deviation of 1.414; Student's quantile is 12.706.
    allowed = 1.1 * 12.706 * 2**0.5
    assert verdict([comparison(2.0, 10.0 + 0.999 * allowed)]) == []
    misses = verdict([comparison(2.0, 10.0 - 1.001 * allowed)])
    assert len(misses) == len(COLUMNS)
    assert misses[0].startswith("RED, S5: automatic values: utilisation, %")


def test_without_spread_only_equal_figures_agree() -> None:
    assert verdict([comparison(0.0, 10.0)]) == []
    assert verdict([comparison(0.0, 10.001)])


def test_the_section_marks_figures_that_disagree() -> None:
    text = section([comparison(0.0, 10.0), comparison(0.0, 11.0)], range(1, 3))
    assert "**1 of 2 sets of parameters agree.**" in text
    assert text.count("**no**") == len(COLUMNS)


def test_every_set_of_parameters_is_a_scenario() -> None:
    for case in CASES:
        load(SCENARIO, set=dict(case.changes), seed=1)
