"""The tables of Gijsbers and Akkoorath, and the paper's main claim with a real sink."""

from __future__ import annotations

import tomllib
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from goodqueue.papers.cells import UNKNOWN, Cell, Finding, Verdict
from goodqueue.papers.experiment import PAPERS, experiment
from goodqueue.papers.table import TableExperiment
from goodqueue.study.record.store import Store
from goodqueue.study.runner import Runner
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    with closing(Store.open(tmp_path_factory.mktemp("papers") / "store")) as store:
        yield Runner(store, Threads())


def cells(runner: Runner, table: str, quantity: str = "") -> list[Cell]:
    """Returns the cells that the table prints, without conclusions."""
    found = experiment("gijsbers2011", table).reproduce(runner).cells
    return [
        cell
        for cell in found
        if cell.published and cell.finding is None and quantity in cell.quantity
    ]


def test_every_cell_of_table_1_matches(runner: Runner) -> None:
    found = cells(runner, "table1")
    assert len(found) == 12
    assert all(cell.verdict is Verdict.MATCHES for cell in found)


def test_table_2_matches_except_for_two_misprints(runner: Runner) -> None:
    others = {
        (cell.row["buffer_frames"], cell.quantity): cell
        for cell in cells(runner, "table2")
        if cell.verdict is not Verdict.MATCHES
    }
    assert set(others) == {
        ("10", "mean RTT of the TCP"),
        ("100", "packets dropped"),
    }
    assert "read as 0.324 it matches" in others["10", "mean RTT of the TCP"].note
    assert "read as 2506 it matches" in others["100", "packets dropped"].note


@pytest.mark.parametrize("table", ["table1", "table2"])
@pytest.mark.parametrize("variant", ["sink", "sink, modern TCP"])
def test_goodput_does_not_fall_with_the_buffer_into_a_sink(
    runner: Runner, table: str, variant: str
) -> None:
    goodput = cells(runner, table, "goodput")
    echoed = [cell.ours.mean for cell in goodput]
    assert min(echoed) < 0.975 * echoed[0], "the paper's headline"
    into_sink = [cell.variants[variant].mean for cell in goodput]
    # Data behind a hole at the end of the run are not delivered: at most those of one round trip,
    # which are 0.5 % of 1000 s behind the largest buffer.
    assert min(into_sink) > 0.99 * into_sink[0]
    if variant == "sink":
        assert max(into_sink) - min(into_sink) < 0.006 * max(into_sink)
        assert into_sink[-1] >= into_sink[0]


def with_two_phases(name: str, **changed: object) -> TableExperiment:
    """Returns a table whose open condition has two values, and which has no variants."""
    data = tomllib.loads(PAPERS.joinpath("gijsbers2011", f"{name}.toml").read_text("utf-8"))
    data |= {"open": data["open"] | {"count": 2}, "variant": []} | changed
    return TableExperiment("gijsbers2011", name, data)


@pytest.mark.parametrize(
    ("name", "claims"),
    [("figure2", 2), ("figure3", 2), ("cure1", 4), ("cure2", 3), ("cure3", 5), ("infinite", 3)],
)
def test_claims_about_shapes_hold_at_any_phase_and_count_once(
    runner: Runner, name: str, claims: int
) -> None:
    found = with_two_phases(name).reproduce(runner).cells
    assert all(cell.verdict is None for cell in found if cell.finding is None)
    shapes = [cell for cell in found if cell.finding is not None and cell.ours is UNKNOWN]
    assert [cell.finding for cell in shapes] == claims * [Finding.HOLDS]


def test_the_collapse_of_table_3_has_its_shape_at_any_phase(runner: Runner) -> None:
    found = with_two_phases("table3").reproduce(runner).cells
    assert all(cell.shape for cell in found if cell.finding is None)


def test_figure_3_can_fail(runner: Runner) -> None:
    # A window of 5000 B, nine segments, fills no buffer of 50 frames or more.
    small = ["flow.bulk.tcp.receive_window=5000B"]
    found = with_two_phases("figure3", set=small).reproduce(runner).cells
    filled = next(cell for cell in found if "every buffer is filled" in cell.quantity)
    assert filled.finding is Finding.UNREPRODUCED


def test_a_ping_at_0_s_gives_66_of_68_figures_and_every_drop_count_to_the_digit(
    runner: Runner,
) -> None:
    found = [cell for table in ("table4", "table5") for cell in cells(runner, table)]
    assert all(cell.ours.low == cell.ours.high for cell in found), "nothing is open"
    others = [
        (*cell.row.values(), cell.quantity) for cell in found if cell.verdict is not Verdict.MATCHES
    ]
    assert len(found) == 68
    assert others == [
        ("5000", "mean RTT of the ping"),
        ("100000", "queue length over events"),
    ]
    dropped = [cell for cell in found if cell.quantity == "packets dropped"]
    assert len(dropped) == 17
    assert [round(cell.ours.mean) for cell in dropped] == [
        int(cell.published or "") for cell in dropped
    ]
    # Another start gives other counts, which are printed beside.
    beside = dropped[9].beside[-1]
    assert beside.label == "40 other values"
    assert beside.spread.low < beside.spread.high


def test_congestion_needs_no_window_scaling(runner: Runner) -> None:
    found = {
        cell.row["buffer_frames"]: cell
        for cell in experiment("gijsbers2011", "window").reproduce(runner).cells
        if cell.finding is not None
    }
    # 65,535 B are 122 segments. Buffers of 10, 50 and 100 frames and the path hold fewer.
    for frames in ("10", "50", "100"):
        assert found[frames].finding is Finding.UNREPRODUCED, frames
        assert found[frames].ours.mean == pytest.approx(1, abs=0.001)
    # 122 segments and as many acknowledgements fit in 500 frames.
    assert (found["500"].finding, found["500"].ours.mean) == (Finding.HOLDS, 0)


def test_the_difference_in_goodput_shows_in_short_runs(runner: Runner) -> None:
    found = [
        cell
        for cell in experiment("gijsbers2011", "short-runs").reproduce(runner).cells
        if cell.finding is not None
    ]
    assert len(found) == 9
    seen = [cell for cell in found if cell.finding is Finding.UNREPRODUCED]
    assert {cell.row["duration_s"] for cell in seen} == {"20", "50", "100"}
    small = [cell for cell in found if "50 over 10" in cell.quantity]
    assert all(cell.ours.mean < 0.975 for cell in small)


def test_the_ratio_of_a_conclusion_uses_the_correct_reading_of_a_misprint(runner: Runner) -> None:
    # Table 2 prints .0324 s for .324 s. 8.078 over .0324 would be 249.
    (found,) = (
        cell
        for cell in experiment("gijsbers2011", "table2").reproduce(runner).cells
        if "latency rises sharply" in cell.quantity and cell.published is not None
    )
    assert float(found.published or "") == pytest.approx(8.078 / 0.324, abs=1e-3)


def test_nagles_infinite_buffer_delivers_everything_late_and_a_finite_one_nothing(
    runner: Runner,
) -> None:
    late, lost = (cells(runner, "infinite", quantity) for quantity in ("too late", "dropped"))
    for one, other in zip(late, lost, strict=True):
        load = float(one.row["load_percent"]) / 100
        assert one.ours.mean == (100 if load > 1 else 0)
        # A buffer of 100 frames drops the traffic that the link cannot carry.
        expected = 100 * max(1 - 1 / load, 0)
        assert other.variants["100 frames"].mean == pytest.approx(expected, abs=0.1)
        assert one.variants["100 frames"].mean == 0


@pytest.mark.parametrize("table", ["table1", "table2"])
def test_small_buffers_drop_mostly_acknowledgements(runner: Runner, table: str) -> None:
    for cell in cells(runner, table, "dropped")[:3]:
        retransmissions = cell.variants["retransmissions"].mean
        assert retransmissions < 0.15 * cell.ours.mean
