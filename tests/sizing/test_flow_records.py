"""Flow records as a source of flow counts and sizes."""

from __future__ import annotations

import json
import lzma
import math
import tomllib
from typing import TYPE_CHECKING

import pytest
from scipy import stats

from conftest import ROOT, goodqueue
from goodqueue.errors import RequestError, ScenarioError
from goodqueue.runs.api import load
from goodqueue.sizing import Link
from goodqueue.sizing.bursts import bursts_of, poisson_quantile
from goodqueue.sizing.flow_records import read_flow_records

if TYPE_CHECKING:
    from pathlib import Path

DATA = ROOT / "tests/data/flows"
"""Records of nfdump for a simulated link: its scenario has the true flows."""


@pytest.fixture(params=["csv", "json"])
def records(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Records in each format."""
    file = tmp_path / f"mixed.{request.param}"
    file.write_bytes(lzma.decompress((DATA / f"{file.name}.xz").read_bytes()))
    return file


def test_flows_and_shares_are_those_of_the_simulated_link(records: Path) -> None:
    found = read_flow_records(records)
    scenario = tomllib.loads((DATA / "mixed.toml").read_text())
    long, short, calls = scenario["flow"]
    # Long flows of 60, 59 and 58 s; dates of this CSV are whole seconds.
    assert (found.long.flows, found.flows) == (long["count"], 3)
    assert found.long.mean == pytest.approx((60 + 59 + 58) / 60, rel=0.02)
    assert (found.fewer.flows >= 3, found.more.flows) == (True, 3)
    # Starts with a mean interval of 500 ms, of which the run drew 103. One has 32 bytes in four
    # packets, which cannot be told from acknowledgements.
    assert found.short_flows == 103 - 1
    assert found.short_per_s == pytest.approx(102 / 60, rel=0.02)
    assert short["workload"]["interval"] == "500ms"
    # 200 kb/s in packets of 500 bytes; the packet of the end is not in the capture.
    assert found.udp_bytes == 60 * 200_000 / 8
    assert calls["workload"]["packet"] == "500B"


def test_sizes_are_a_law_of_a_scenario(records: Path, tmp_path: Path) -> None:
    found = read_flow_records(records)
    (tmp_path / "sizes.csv").write_text(found.sizes_csv())
    text = (DATA / "mixed.toml").read_text()
    law = 'size = { law = "empirical", file = "sizes.csv" }'
    text = text.replace('size = { law = "exponential", mean = "20kB" }', law)
    (tmp_path / "sized.toml").write_text(text)
    assert load(tmp_path / "sized.toml").duration_s == 60
    # Transfers have 20 kB on average, and an exponential distribution its median at ln 2 of that.
    median = next(size for size, share in found.sizes if share >= 0.5)
    assert median == pytest.approx(20_000 * 0.693, rel=0.25)
    assert [share for _, share in found.sizes][-1] == 1


def test_sampling_raises_the_threshold_of_long_flows(records: Path) -> None:
    found = read_flow_records(records, sampling=50)
    assert found.long.least_packets == 500
    assert any("lower bound" in note for note in found.notes())
    with pytest.raises(RequestError, match="from 1 to 1000000"):
        read_flow_records(records, sampling=0)


def test_size_takes_the_flows_of_the_records(records: Path) -> None:
    link = ["--rate", "4Mbps", "--rtt", "40ms", "--quick", "--json"]
    answer = json.loads(goodqueue("size", "--flows-from", records, *link).stdout)
    assert answer["link"]["flows"] == 3
    share = read_flow_records(records).long_share
    assert answer["link"]["local_share"] == pytest.approx(share)
    assert any("long flows at a time" in note for note in answer["notes"])
    given = json.loads(goodqueue("size", "--flows-from", records, *link, "--mix", "80%").stdout)
    assert given["link"]["local_share"] == 0.8


def test_a_link_that_is_not_full_is_sized_for_bursts(records: Path) -> None:
    """The records offer most of 4 Mb/s, and a trifle of 10 Gb/s."""
    found = read_flow_records(records)
    load_bps = 8 * found.total_bytes / found.span_s
    link = ["--rate", "10Gbps", "--rtt", "40ms"]
    done = goodqueue("size", "--flows-from", records, *link)
    assert done.returncode == 6
    assert "its buffer serves bursts" in done.stdout
    answer = json.loads(goodqueue("size", "--flows-from", records, *link, "--json").stdout)
    assert answer["bursts"]["used"] == pytest.approx(load_bps / 10e9)
    # Ten segments of one flow and the 44 of 64 KiB come ten times as fast as they leave.
    assert answer["decision"]["packets"] == math.ceil(0.9 * (10 + 44))
    assert answer["decision"]["shown"] is False


def test_a_full_link_is_sized_for_its_long_flows(records: Path) -> None:
    found = read_flow_records(records)
    load_bps = 8 * found.total_bytes / found.span_s
    assert bursts_of(found, Link(load_bps / 0.75, (0.04,), 3)) is None
    few = bursts_of(found, Link(load_bps / 0.65, (0.04,), 3))
    assert few is not None
    assert few.used == pytest.approx(0.65)


def test_the_poisson_quantile_is_exact() -> None:
    for mean in (1e-6, 0.3, 5, 80, 650):
        assert poisson_quantile(mean, 0.999) == stats.poisson.ppf(0.999, mean)
    assert poisson_quantile(2000, 0.999) == pytest.approx(stats.poisson.ppf(0.999, 2000), abs=2)


def test_size_asks_for_the_round_trip_time(records: Path) -> None:
    refused = goodqueue("size", "--flows-from", records, "--rate", "4Mbps")
    assert refused.returncode == 2
    assert "neither the rate of the link nor round-trip times" in " ".join(refused.stderr.split())
    both = goodqueue("size", "--flows-from", records, "--flows", "3", "--rtt", "9ms")
    assert both.returncode == 2


def test_the_command_prints_figures_and_writes_sizes(records: Path, tmp_path: Path) -> None:
    file = tmp_path / "sizes.csv"
    printed = goodqueue("flows", records, "--sizes", file)
    assert printed.returncode == 0
    assert "long flows at a time" in printed.stdout
    assert file.read_text().startswith("size_B,share\n")
    figures = json.loads(goodqueue("flows", records, "--json").stdout)
    assert figures["long"]["flows"] == 3


def test_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_text("time,bytes\n1,2\n")
    with pytest.raises(ScenarioError, match="has no column"):
        read_flow_records(file)
    with pytest.raises(RequestError, match="cannot be read"):
        read_flow_records(tmp_path / "none.csv")
