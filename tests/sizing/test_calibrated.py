"""Calibrated theory, which answers `goodqueue size --quick`, and its stated errors."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.validation.linux import deep as linux_deep
from evidence.validation.linux import recording as linux_recording
from goodqueue.cli import run_command
from goodqueue.output.sizing import theory
from goodqueue.sizing.answer.work_out import judge
from goodqueue.sizing.calibrated import record, surface
from goodqueue.sizing.calibrated.record import Record, records
from goodqueue.sizing.calibrated.smallest import bracket, calibrated, chances_kept
from goodqueue.sizing.calibrated.surface import Surfaces, surfaces
from goodqueue.sizing.link import Link, as_in_theory, rtt_range
from goodqueue.sizing.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

HOME = Link(5e6, (0.02,), 5)
FAST = Link(1e9, rtt_range(0.01, 0.12), 300, max_loss_rate=0.01, max_delay_s=0.02)


def test_a_saw_tooth_of_one_flow_lies_in_the_interval() -> None:
    """The integral of the saw-tooth gives 21.6 packets. Whole packets may need 27.9."""
    link = as_in_theory(Link(6e6, (0.1,), 1, min_utilization=0.95))
    found = calibrated(link)
    assert found is not None
    assert found.high is not None
    assert found.low <= 27.9
    assert found.high >= 20.6


def test_a_table_older_than_the_engine_says_so_and_has_wider_intervals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["size", "--rate", "5Mbps", "--rtt", "20ms", "--flows", "5", "--quick"]
    assert run_command(flags) == 6
    assert "older than the engine" not in capsys.readouterr().out
    own = calibrated(FAST)
    monkeypatch.setattr(surface, "is_older", lambda: True)
    monkeypatch.setattr(theory, "is_older", lambda: True)
    surfaces.cache_clear()
    try:
        older = calibrated(FAST)
        assert run_command(flags) == 6
    finally:
        surfaces.cache_clear()
    assert own is not None
    assert older is not None
    assert older.packets == own.packets
    assert older.low <= own.low
    assert (older.high or 10**9) > (own.high or 0)
    assert "older than the engine" in capsys.readouterr().out


RECORDED = [one for one in linux_deep.recordings() if one.control in {"reno", "cubic"}]


@pytest.mark.parametrize("recording", RECORDED, ids=lambda one: one.name)
def test_calibrated_theory_predicts_the_losses_of_a_kernel(
    recording: linux_recording.Recording,
) -> None:
    """Linux 6.18 behind deep buffers, within a quarter; no run of Linux was part of the fit."""
    rtts = (recording.rtt_ms / 1e3,)
    link = Link(recording.rate_bps, rtts, recording.flows, congestion_control=recording.control)
    expected = surfaces().at(link, [float(recording.limit)]).loss_rate()[0]
    assert expected == pytest.approx(recording.figures["loss"], rel=0.25)


def test_a_loss_that_no_buffer_keeps_is_not_promised() -> None:
    """The same link loses 2 to 3 % behind 291, 800 and 1745 packets."""
    link = Link(17e6, (0.1,), 40, max_loss_rate=0.01)
    assert max(chances_kept(link, np.array([291.0, 800.0, 1745.0]))["loss_rate"]) < 0.1


links = st.builds(
    Link,
    st.floats(1e6, 1e9),
    st.floats(0.005, 0.3).map(lambda rtt: (rtt,)),
    st.integers(1, 200),
    max_loss_rate=st.floats(0.002, 0.05),
)


@settings(deadline=None, max_examples=40)
@given(links, st.floats(1.0, 3.0))
def test_a_looser_bound_never_needs_a_larger_buffer(link: Link, factor: float) -> None:
    assert link.max_loss_rate is not None
    tight = calibrated(link)
    loose = calibrated(replace(link, max_loss_rate=factor * link.max_loss_rate))
    assert tight is not None
    assert loose is not None
    if tight.least is not None:
        assert loose.least is not None
        assert loose.least <= tight.least


@settings(deadline=None, max_examples=40)
@given(links)
def test_the_answer_lies_in_its_interval(link: Link) -> None:
    found = calibrated(link)
    assert found is not None
    assert 0 <= found.chance <= 1
    if found.least is not None:
        assert 1 <= found.low <= found.least
        assert found.high is None or found.high >= found.least
        assert bracket(link) == (found.low, found.high or 4 * found.least)
    for low, middle, high in (
        (figure[1], figure[0], figure[2]) for figure in found.figures.values()
    ):
        assert low <= middle <= high


def test_the_interval_widens_outside_the_fitted_links() -> None:
    inside, outside = Link(50e6, (0.05,), 20), Link(50e6, (0.05,), 20, congestion_control="abe")
    table = surfaces()
    assert table.outside(inside, 100) == []
    assert table.outside(outside, 100) == ["congestion control abe"]
    assert (np.array(table.at(outside, [100.0]).errors) >= table.theory_errors).all()
    assert (np.array(table.at(inside, [100.0]).errors) < table.theory_errors).all()
    far = Link(1e11, (0.1,), 100_000)
    assert any("flows" in words for words in table.outside(far, 1000))


def test_calibrated_theory_does_not_apply_to_flows_that_ignore_loss() -> None:
    bbr = Link(50e6, (0.05,), 20, congestion_control="bbr")
    assert calibrated(bbr) is None
    assert bracket(bbr) is None
    assert chances_kept(bbr, np.array([10.0])) == {}


def test_a_rule_whose_promise_is_doubted_does_not_hold() -> None:
    for link in (HOME, FAST, as_in_theory(FAST), as_in_theory(HOME)):
        for one in judge(link):
            promised = [one.chances.get(name, 1.0) for name in ("utilization", "loss_rate")]
            assert not one.holds or min(promised) >= 0.9


def test_a_file_that_is_no_table_is_refused() -> None:
    with pytest.raises(ValueError, match="it needs member0"):
        Surfaces(b"PK")


def test_an_answer_takes_less_than_50_ms() -> None:
    def answer(link: Link) -> Iterator[object]:
        yield calibrated(link)
        yield judge(link)

    for link in (HOME, FAST, Link(10e9, (0.1,), 1000, max_loss_rate=0.01)):
        list(answer(link))  # the table is read once
        taken = []
        for _ in range(5):
            begun = time.perf_counter()
            list(answer(link))
            taken.append(time.perf_counter() - begun)
        assert min(taken) < 0.05


def test_the_quick_answer_needs_no_scipy() -> None:
    flags = "--rate 50Mbps --rtt 40ms --flows 20 --max-loss 1% --quick --json"
    code = (
        "import sys; from goodqueue.cli import run_command; "
        f"run_command(['size', *{flags!r}.split()]); assert 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_the_json_contains_the_printed_figures(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["size", "--rate", "5Mbps", "--rtt", "20ms", "--flows", "5", "--quick"]
    assert run_command([*command, "--json"]) == 6
    answer = json.loads(capsys.readouterr().out)
    said = answer["calibrated_theory"]
    assert answer["recommendation"]["packets"] == said["packets"]
    assert said["at_least_packets"] <= said["packets"] <= said["at_most_packets"]
    assert run_command([*command, "--explain"]) == 6
    out = capsys.readouterr().out
    assert f"finds {said['at_least_packets']:,} to {said['at_most_packets']:,} packets" in out
    bdp = answer["rules"][0]
    assert Record(**bdp["record"]).words() in out
    assert set(bdp["chance_kept"]) == {"utilization"}


def test_every_rule_that_has_a_number_has_a_record() -> None:
    assert set(records()) <= {rule.name for rule in RULES}
    for one in records().values():
        assert 0 <= one.held_kept <= one.held <= one.run
        assert one.held_kept <= one.run_kept <= one.run


def test_a_record_of_an_older_engine_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not record.record_is_older("bdp")
    monkeypatch.setattr(record, "is_older", lambda what: what == "calibrated")
    assert record.record_is_older("bdp")
    assert not record.record_is_older("bbr_inflight")
    assert records()["bdp"].words(older=True).endswith("(runs of an older engine)")
