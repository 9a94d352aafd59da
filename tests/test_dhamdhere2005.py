"""The figures of Dhamdhere, Jiang and Dovrolis, against what the paper's text states."""

from __future__ import annotations

import json
import math
import tomllib
from statistics import fmean
from typing import TYPE_CHECKING, cast

import pytest

from conftest import ROOT
from goodqueue.intervals import Interval, t_interval
from goodqueue.papers.cells import Verdict
from goodqueue.papers.dhamdhere2005 import figures
from goodqueue.papers.dhamdhere2005.figures import FIGURES, Figure
from goodqueue.papers.dhamdhere2005.mix import SOURCES_MS, Case, Mix, Traffic
from goodqueue.papers.dhamdhere2005.statements import cells, stated
from goodqueue.papers.dhamdhere2005.table1 import Table1
from goodqueue.study.runner import Runner
from goodqueue.study.store import Store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from goodqueue.papers.dhamdhere2005.mix import Figures

PAPER = ROOT / "python" / "goodqueue" / "papers" / "dhamdhere2005"


@pytest.fixture(scope="module")
def mix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mix]:
    folder: Path = tmp_path_factory.mktemp("runs") / "store"
    store = Store.open(folder)
    yield Mix(Runner(store, Threads()), seeds=2)
    store.close()


def test_loss_of_the_three_rules_is_as_stated(mix: Mix) -> None:
    curves = figures.losses(mix, "fig6", 0.9, (100, 300)).curves
    # "About 4 %" and "about 10 %" at 300 flows, "near 1 %" for BSCL.
    assert curves["C T"][300].mean == pytest.approx(4, abs=1)
    assert curves["C T / sqrt(N)"][300].mean == pytest.approx(10, abs=2)
    assert curves["C T / sqrt(N)"][100].mean > 2
    assert curves["BSCL"][100].mean == pytest.approx(1, abs=0.3)
    assert curves["BSCL"][300].mean == pytest.approx(1, abs=0.5)


def test_loss_bursts_are_shorter_than_there_are_flows(mix: Mix) -> None:
    curves = figures.fig1(mix, (100,), rates=(45e6,)).curves
    for label in ("45 Mb/s, mean", "45 Mb/s, median"):
        assert 0.4 < figures.slope(curves[label]) < 0.7


def test_the_traffic_is_that_of_the_scenario() -> None:
    text = (ROOT / "scenarios" / "bscl-mix.toml").read_text("utf-8")
    scenario = tomllib.loads(text)
    ours = dict(Traffic(36).overrides())
    flows = {flow["name"]: flow for flow in scenario["flow"]}
    assert ours["topology.link.remote.rate"] == "2000000bps"
    assert (
        ours["flow.windowed.tcp.receive_window"]
        == flows["windowed"]["tcp"]["receive_window"]
        == "10220B"
    )
    load = float(flows["short"]["workload"]["load"].removesuffix("kbps"))
    short = float(ours["flow.short.workload.load"].removesuffix("bps"))
    assert short == pytest.approx(1000 * load, rel=2e-3)
    # The other shares, as the scenario's own comment has them.
    for share, remote, window in ((0.95, 1_000_000, 5840), (0.8, 4_000_000, 20_440)):
        other = dict(Traffic(36, share).overrides())
        assert other["topology.link.remote.rate"] == f"{remote}bps"
        assert other["flow.windowed.tcp.receive_window"] == f"{window}B"


@pytest.mark.parametrize("flows", [2, 5, 18, 50, 400])
def test_local_flows_are_spread_over_the_sources(flows: int) -> None:
    sources = Traffic(flows).sources
    assert len(sources) == flows
    counts = [sources.count(source) for source in range(len(SOURCES_MS))]
    assert max(counts) - min(counts) <= 1
    assert 1000 * Traffic(flows).link.mean_rtt_s == pytest.approx(fmean(SOURCES_MS), rel=0.06)
    leaves = dict(Traffic(flows).overrides())["flow.local.from"]
    assert json.loads(leaves)[0] == f"leaf{sources[0]}"


def test_bscls_buffer_follows_from_what_it_is_told() -> None:
    traffic = Traffic(300)
    told = figures.sized(traffic, 165)
    # (22): 8.7 packets a flow, less C_e T_e.
    assert told.packets == int(8.7 * 300 - traffic.link.local_bdp_packets)
    fewer = figures.sized(traffic, 165, (0.8, 1, 1))
    assert fewer.traffic == traffic
    assert fewer.packets == int(8.7 * 240 - traffic.link.local_bdp_packets)
    nearer = figures.sized(traffic, 165, (1, 1, 0.8))
    assert nearer.packets == int(8.7 * 300 - 0.8 * traffic.link.local_bdp_packets)


class Threshold:
    """Busy from so many packets on."""

    seeds = 1

    def __init__(self, packets: int) -> None:
        self.packets = packets
        self.tried: list[int] = []

    def replicates(self, cases: Iterable[Case], seeds: int) -> dict[Case, list[Figures]]:
        cases = list(cases)
        self.tried += [case.packets for case in cases]
        return {
            case: seeds * [{"utilization": float(case.packets >= self.packets)}] for case in cases
        }


@pytest.mark.parametrize("start", [1.0, 30.0, 3000.0])
@pytest.mark.parametrize("least", [1, 2, 37, 500])
def test_the_search_brackets_the_least_buffer(least: int, start: float) -> None:
    made = Threshold(least)
    found = figures.smallest(
        cast("Mix", made),
        {Traffic(2): start},
        [figures.BUSY],
    )[0][2]
    assert round(found.low) < least <= round(found.high) or least == 1
    assert found.high / found.low < figures.STEP + 1e-9
    assert len(made.tried) < 20


class Rising:
    """Busy for 98 % from a buffer of each seed's own, by a straight line in its logarithm."""

    seeds = 4
    needs = (90.0, 100.0, 104.0, 110.0)

    def replicates(self, cases: Iterable[Case], seeds: int) -> dict[Case, list[Figures]]:
        return {
            case: [
                {"utilization": 0.98 + 0.01 * math.log(case.packets / need)}
                for need in self.needs[:seeds]
            ]
            for case in cases
        }


def test_the_smallest_buffer_has_the_interval_of_what_seeds_need() -> None:
    found = figures.smallest(cast("Mix", Rising()), {Traffic(2): 100.0}, [figures.BUSY])[0][2]
    expected = t_interval(Rising.needs)
    # Interpolation is in the logarithm, as the line is.
    assert found.mean == pytest.approx(expected.mean)
    assert found.half_width == pytest.approx(expected.half_width)


def made(name: str, curves: dict[str, dict[int, float]], half: float = 0.01) -> Figure:
    points = {
        label: {flows: Interval(value, half) for flows, value in curve.items()}
        for label, curve in curves.items()
    }
    return Figure(name, "made up", "%", points, seeds=5)


def test_what_the_text_states_is_judged() -> None:
    figure = made(
        "fig6",
        {
            "C T": {100: 2.0, 300: 3.9},
            "C T / sqrt(N)": {100: 4.0, 300: 13.0},
            "BSCL": {100: 1.1, 300: 1.4},
        },
    )
    found = {
        (cell.row["curve"], cell.row["flows"]): cell for cell in cells(figure, stated()["fig6"])
    }
    assert len(found) == 6
    assert found["C T", "300"].verdict is Verdict.MATCHES
    assert found["C T", "100"].verdict is Verdict.SHAPE
    assert found["C T / sqrt(N)", "300"].verdict is Verdict.SHAPE
    assert found["BSCL", "100"].verdict is Verdict.SHAPE
    assert found["BSCL", "300"].verdict is Verdict.NOT
    assert "square-root law" in found["BSCL", "300"].note
    assert not found["BSCL", "100"].note
    # For one run: sqrt(1 + 1/n) instead of sqrt(1/n).
    assert found["C T", "300"].ours.high == pytest.approx(3.9 + 0.01 * math.sqrt(6))


def test_statements_may_speak_of_ratios_and_differences() -> None:
    flat = dict.fromkeys((10, 100, 300), 1.0)
    curves = {"none": flat, "N - 20 %": flat | {100: 1.4, 300: 1.6}, "L - 20 %": flat | {10: 1.3}}
    curves |= dict.fromkeys(("L + 20 %", "T - 20 %", "T + 20 %"), flat)
    found = {
        (cell.row["curve"], cell.row["flows"]): cell.verdict
        for cell in cells(made("fig9-loss", curves), stated()["fig9-loss"])
        if "less that of" in cell.quantity
    }
    assert found["N - 20 %", "100"] is Verdict.SHAPE
    # The text speaks of fewer than 200 flows.
    assert found["N - 20 %", "300"] is None
    assert found["L - 20 %", "10"] is Verdict.NOT
    assert found["L - 20 %", "100"] is Verdict.SHAPE
    labels = [f"{rate} Mb/s, {kind}" for rate in (45, 75) for kind in ("mean", "median")]
    bursts = made("fig1", {label: {100: 55.0} for label in labels})
    over = [cell for cell in cells(bursts, stated()["fig1"]) if cell.quantity.endswith("over N")]
    assert [cell.ours.mean for cell in over] == [0.55] * 4
    assert all(cell.verdict is Verdict.SHAPE for cell in over)


def test_every_statement_is_about_a_figure_that_is_simulated() -> None:
    assert set(stated()) == set(FIGURES)


def test_table_1() -> None:
    found = Table1().reproduce(cast("Runner", None)).cells
    stanford = [cell for cell in found if "sqrt" in cell.quantity]
    assert len(stanford) == 19
    assert all(cell.verdict is Verdict.MATCHES for cell in stanford)
    assert {cell.verdict for cell in found if "BSCL" in cell.quantity} == {Verdict.SHAPE}
