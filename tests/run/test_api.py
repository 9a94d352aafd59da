"""Tests of `goodqueue.run` and its results."""

from __future__ import annotations

import threading
import time
import tomllib
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import goodqueue
from conftest import ROOT, SMALL
from goodqueue.cli import run_command

if TYPE_CHECKING:
    from pathlib import Path


def test_a_path_a_text_and_a_mapping_are_the_same_scenario(small: Path) -> None:
    summaries = [
        goodqueue.run(source).summary for source in (small, str(small), SMALL, tomllib.loads(SMALL))
    ]
    assert all(summary == summaries[0] for summary in summaries)


def test_frames_agree_with_the_summary() -> None:
    result = goodqueue.run(SMALL)
    assert result.links["link"].to_list() == ["bottleneck", "bottleneck.reverse"]
    assert result.flows["flow"].to_list() == ["upload", "probe"]
    goodput = result.flows.filter(pl.col("flow") == "upload")["goodput_bps"].item()
    assert goodput == result.summary["flows"]["upload"]["goodput_bps"]
    assert result.series is None


def test_delays_cover_the_packets_that_departed() -> None:
    result = goodqueue.run(SMALL)
    for name, link in result.summary["links"].items():
        own = result.delays.filter(pl.col("link") == name)
        # Delays are counted for packets whose transmission began in the run, departures for those
        # whose transmission ended. The two may differ by the packet in transmission.
        assert abs(int(own["packets"].sum()) - link["departures"]) <= 1
        total = float((own["queueing_delay_s"] * own["packets"]).sum())
        mean = total / float(own["packets"].sum())
        assert mean == pytest.approx(link["mean_queueing_delay_s"], rel=0.02, abs=1e-9)


def test_series_agree_with_the_summary() -> None:
    result = goodqueue.run(SMALL, series=True)
    assert result.series is not None
    link = result.summary["links"]["bottleneck"]
    backlog = result.series.backlog.filter(pl.col("link") == "bottleneck")
    assert backlog["time_s"].is_sorted()
    assert backlog["backlog_packets"].max() == link["max_backlog_packets"] == 20
    held = pl.concat([backlog["time_s"][1:], pl.Series([20.0])]) - backlog["time_s"]
    mean = (held * backlog["backlog_packets"]).sum() / 20
    assert mean == pytest.approx(link["mean_backlog_packets"], rel=1e-6)
    windows = result.series.windows
    assert windows["flow"].unique().to_list() == ["upload"]
    assert windows["ssthresh_bytes"].null_count() > 0, "none before the first loss"
    samples = result.series.rtt.filter(pl.col("flow") == "probe")["rtt_s"]
    assert samples.max() == pytest.approx(result.summary["flows"]["probe"]["max_rtt_s"], rel=1e-6)


def test_recording_changes_nothing() -> None:
    recorded = goodqueue.run(SMALL, series=True, packets=True)
    assert recorded.summary == goodqueue.run(SMALL).summary


def test_packet_events_add_up_to_the_summary() -> None:
    result = goodqueue.run(SMALL, set={"record.packets": True})
    assert result.packets is not None
    assert result.series is None
    link = result.summary["links"]["bottleneck"]
    own = result.packets.filter(pl.col("link") == "bottleneck")
    counts = dict(own["event"].value_counts().iter_rows())
    assert counts["arrived"] == link["arrivals"]
    assert counts["dropped"] == link["drops"]
    dropped = own.filter(pl.col("event") == "dropped")
    assert dropped["drop_reason"].unique().to_list() == ["overlimit"]
    started = own.filter(pl.col("event") == "service_started")
    assert started["waited_s"].null_count() == 0
    assert result.packets.filter(pl.col("event") == "sent")["link"].null_count() > 0
    probes = result.packets.filter(pl.col("flow") == "probe")
    assert probes["sequence"].null_count() == probes.height, "a ping has no sequence number"
    sent = result.packets.filter(
        (pl.col("flow") == "upload")
        & (pl.col("event") == "sent")
        & (pl.col("direction") == "forward")
    )
    assert sent["number"].to_list() == list(range(sent.height))
    assert sent["payload_bytes"].max() == 536


def test_overrides_as_a_mapping_take_python_values() -> None:
    overrides = {"flow.upload.tcp.limited_transmit": False, "flow.upload.tcp.ack_every": 2}
    result = goodqueue.run(SMALL, set=overrides)
    assert "limited_transmit = false" in result.scenario
    assert "ack_every = 2" in result.scenario


def test_a_scenario_error_has_place_and_remedy() -> None:
    with pytest.raises(goodqueue.ScenarioError) as raised:
        goodqueue.run(SMALL.replace('"1Mbps"', '"1mbps"'))
    error = raised.value
    assert (error.line, error.column, error.key) == (11, 8, "topology.bottleneck.rate")
    assert "ambiguous" in error.message
    assert "Mbps" in error.help
    assert str(error).startswith(f"error: {error.file}:11:8: ")
    assert isinstance(error, ValueError)


@pytest.mark.parametrize("seed", [-1, 1 << 63, 1 << 64])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(goodqueue.ScenarioError):
        goodqueue.run(SMALL, seed=seed)


def test_a_value_that_toml_cannot_hold_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="object"):
        goodqueue.run({"schema_version": object()})


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200)
@given(scenario=st.dictionaries(st.text(), json_like, max_size=4))
def test_random_mappings_are_refused_with_a_known_error(scenario: dict[str, object]) -> None:
    with pytest.raises((goodqueue.ScenarioError, TypeError)):
        goodqueue.run(scenario)


@settings(max_examples=100)
@given(path=st.text(), value=st.text())
def test_random_overrides_are_refused_with_a_scenario_error(path: str, value: str) -> None:
    with pytest.raises(goodqueue.ScenarioError):
        goodqueue.run(SMALL, set={f"topology.{path}": value})


@settings(max_examples=100)
@given(text=st.text().map(lambda text: f"{text}\n"))
def test_random_texts_are_refused_with_a_scenario_error(text: str) -> None:
    with pytest.raises(goodqueue.ScenarioError):
        goodqueue.run(text)


def test_other_threads_go_on_during_a_run() -> None:
    ticks = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.perf_counter()
    goodqueue.run(SMALL, set={"duration": "20000s"})
    took = time.perf_counter() - start
    done.set()
    ticker.join()
    assert took > 0.1, "too short a run to tell"
    assert len(ticks) > 0.2 * took / 0.005


def test_the_schema_describes_a_scenario() -> None:
    schema = goodqueue.schema()
    assert schema["properties"]["topology"]


TWO_LINKS = """
schema_version = 1
duration = "20s"
warmup = "5s"
[topology]
shape = "chain"
access = { rate = "1Gbps", delay = "1ms" }
[[topology.link]]
name = "slow"
rate = "1Mbps"
delay = "10ms"
queue = { kind = "drop_tail", limit = "10p" }
[[topology.link]]
name = "fast"
rate = "10Mbps"
delay = "10ms"
queue = { kind = "drop_tail", limit = "10p" }
[[flow]]
name = "both"
count = 2
workload = { kind = "bulk" }
[[flow]]
name = "cross"
from = "fast"
to = "fast"
workload = { kind = "cbr", rate = "3Mbps" }
"""


def test_a_flow_is_local_at_its_bottleneck_and_remote_at_other_links() -> None:
    # At 3 Mb/s of traffic the fast link has spare capacity and the slow link has none.
    result = goodqueue.run(TWO_LINKS)
    seen = {link: dict(result.classes(link).iter_rows()) for link in ("slow", "fast")}
    assert seen["slow"] == {"both.0": "local", "both.1": "local"}
    assert seen["fast"] == {"both.0": "remote", "both.1": "remote"}


def test_columns_of_names_and_counts_agree_with_the_summary() -> None:
    result = goodqueue.run(TWO_LINKS)
    for row in result.flows.iter_rows(named=True):
        figures = result.summary["flows"][row["flow"]]
        at = {place["link"]: place["packets"] for place in row["losses_at"]}
        assert at == figures["losses_at"]
        assert sum(at.values()) >= figures["packets_lost"]
        assert row["limited_by"] == figures["limited_by"]
    links = {row["link"]: row for row in result.links.iter_rows(named=True)}
    assert 0.5 <= links["slow"]["min_interval_jain_index"] < links["slow"]["jain_index"] <= 1
    # Bulk flows send no data in the reverse direction.
    assert links["slow.reverse"]["jain_index"] is None


def test_a_file_that_is_not_there_gets_the_nearest_name_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "bufferbloat.toml").write_text("")
    with pytest.raises(goodqueue.ScenarioError) as refused:
        goodqueue.load(tmp_path / "bufferblot.toml")
    assert refused.value.help == f"did you mean {tmp_path / 'bufferbloat.toml'}?"
    with pytest.raises(goodqueue.ScenarioError) as refused:
        goodqueue.load(tmp_path / "other" / "bufferbloat.toml")
    assert refused.value.help == "give the path of a scenario file"


def test_the_table_of_flows_counts_lost_downloads(capsys: pytest.CaptureFixture[str]) -> None:
    # The server of red-study's web flows loses data; the clients' requests cross a link without
    # losses.
    path = str(ROOT / "scenarios" / "red-study.toml")
    assert run_command(["run", path, "--set", "duration=20s"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("node0 "))
    found = goodqueue.run(path, set={"duration": "20s"}).summary["flows"]["node0"]
    assert found["packets_lost"] == 0
    lost = found["losses_at"]["bottleneck"]
    assert lost > 0
    assert f" {lost} " in line
