"""The figures of Dhamdhere, Jiang and Dovrolis, against what the paper's text states."""

from __future__ import annotations

import json
import tomllib
from statistics import fmean
from typing import TYPE_CHECKING, cast

import pytest

from conftest import ROOT
from goodqueue.papers.dhamdhere2005 import figures
from goodqueue.papers.dhamdhere2005.mix import SOURCES_MS, Case, Mix, Traffic
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
        lambda runs: runs[0]["utilization"] == 1,
    )[2]
    assert round(found.low) < least <= round(found.high) or least == 1
    assert found.high / found.low < figures.STEP + 1e-9
    assert len(made.tried) < 20
