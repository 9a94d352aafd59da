"""The choice between two engines, the scenarios that each refuses, and their names in answers."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import goodqueue
from conftest import SMALL as SCENARIO
from goodqueue import _core
from goodqueue._core import grid
from goodqueue.cli import run_command
from goodqueue.errors import RequestError, ScenarioError
from goodqueue.runs.engines import engine_of_run
from goodqueue.sizing import Effort, Link, size_link
from goodqueue.sizing.calibrated.smallest import calibrated
from goodqueue.sizing.search.laboratory import Laboratory
from goodqueue.sizing.search.reach import expected_packets
from goodqueue.sizing.trials.described import LinkTrial
from goodqueue.study.engine import execute_run
from goodqueue.study.model import Keep
from goodqueue.study.plan import run_of, variant_of
from goodqueue.study.record.store import Store
from goodqueue.study.runner import Runner
from goodqueue.study.threads import Threads
from helpers.commands import interrupted

if TYPE_CHECKING:
    from pathlib import Path


LINK = """\
schema_version = 1
duration = "50s"
warmup = "10s"
[topology]
shape = "dumbbell"
access = { rate = "1Gbps", delay = "1ms" }
bottleneck = { rate = "100Mbps", delay = "10ms", queue = { limit = "100p" } }
[tcp]
profile = "linux"
[[flow]]
name = "long"
count = 20
rtt = ["30ms", "60ms", "90ms"]
start_jitter = "1s"
workload = { kind = "bulk" }
tcp = { congestion_control = "cubic" }
"""

FAST = ["size", "--rate", "10Gbps", "--rtt", "100ms", "--flows", "100", "--control", "cubic"]
"""A link of which one replicate has a hundred million packets."""


pytestmark = pytest.mark.usefixtures("own_cache")


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run_command([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_the_hybrid_engine_agrees_with_packets_on_a_small_link() -> None:
    """Means of four seeds: utilisation within a point, delay within 15 %, loss within 30 %."""
    figures = ("utilization", "loss_rate", "p99_queueing_delay_s")
    means: dict[str, dict[str, float]] = {}
    for engine in ("packets", "hybrid"):
        runs = [goodqueue.run(LINK, seed=seed, engine=engine) for seed in range(1, 5)]
        assert {run.summary["engine"] for run in runs} == {engine}
        links = [run.summary["links"]["bottleneck"] for run in runs]
        means[engine] = {name: fmean(link[name] for link in links) for name in figures}
    packets, hybrid = means["packets"], means["hybrid"]
    assert hybrid["utilization"] == pytest.approx(packets["utilization"], abs=0.01)
    assert hybrid["p99_queueing_delay_s"] == pytest.approx(
        packets["p99_queueing_delay_s"], rel=0.15
    )
    assert hybrid["loss_rate"] == pytest.approx(packets["loss_rate"], rel=0.3)


def test_equal_seeds_give_equal_figures_and_others_do_not() -> None:
    scenario = _core.Scenario.parse(LINK.encode(), "link", [])
    first, again, other = (
        scenario.with_seed(seed).run(engine="hybrid").metrics() for seed in (1, 1, 2)
    )
    assert first == again
    assert first[1] != other[1]


def test_runs_of_two_engines_are_never_taken_for_each_other(tmp_path: Path) -> None:
    scenario = _core.Scenario.parse(LINK.encode(), "link", [("duration", "12s")])
    runs = [run_of(variant_of(scenario, {}, engine=engine), 1) for engine in ("packets", "hybrid")]
    assert runs[0].identity != runs[1].identity
    assert runs[0].variant.digest != runs[1].variant.digest
    # A run without the name of an engine belongs to the packet engine, as in all stores of earlier
    # versions.
    assert run_of(variant_of(scenario, {}), 1).identity == runs[0].identity
    found = [execute_run(run, Keep()) for run in runs]
    with closing(Store.open(tmp_path / "store")) as store:
        kept = Runner(store, Threads(1)).figures(runs, ["long.loss_events"])
    assert all(result is not None and result.error is None for result in found)
    assert kept[0][0] != kept[0][0], "the packet engine does not count them"
    assert kept[1][0] > 0


def test_run_names_its_engine(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    code, summary = asked(capsys, "run", str(file), "--engine", "hybrid")
    assert (code, summary["engine"]) == (0, "hybrid")
    assert list(summary["links"]) == ["bottleneck"]
    assert len(summary["flows"]) == 20
    assert summary["links"]["bottleneck"]["marks"] == 0
    assert summary["flows"]["long.0"]["timeouts"] is None
    out = tmp_path / "out"
    assert run_command(["run", str(file), "--engine", "hybrid", "--out", str(out)]) == 0
    assert "by the hybrid engine" in capsys.readouterr().out
    assert json.loads((out / "summary.json").read_text())["engine"] == "hybrid"
    assert pl.read_parquet(out / "queueing-delays.parquet")["packets"].sum() > 0


def test_auto_runs_packets_unless_that_takes_too_long() -> None:
    small = _core.Scenario.parse(LINK.encode(), "link", [("duration", "12s")])
    assert engine_of_run("auto", small) == "packets"
    changes = [("topology.bottleneck.rate", "10Gbps"), ("topology.access.rate", "100Gbps")]
    changes += [("duration", "1000s"), ("topology.bottleneck.queue.limit", "5000p")]
    changes += [("tcp.receive_window", "1GB")]
    large = _core.Scenario.parse(LINK.encode(), "link", changes)
    assert engine_of_run("auto", large) == "hybrid"
    assert engine_of_run("auto", large, needs_packets=True) == "packets"
    assert engine_of_run("packets", large) == "packets"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--engine", "fluid"], "--engine fluid: choose from auto, packets, hybrid"),
        (["--engine", "hybrid"], "the hybrid engine has no traffic but TCP: flow"),
        (["--engine", "hybrid", "--pcap", "before=x.pcapng"], "has no packets"),
    ],
)
def test_runs_that_the_engine_cannot_make_are_refused_with_the_reason(
    flags: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SCENARIO)
    assert run_command(["run", str(file), *flags]) == 2
    assert words in capsys.readouterr().err.replace("\n", " ")


def test_the_core_refuses_scenarios_that_the_engine_cannot_run() -> None:
    scenario = _core.Scenario.parse(SCENARIO.encode(), "small", [])
    with pytest.raises(ScenarioError, match="no traffic but TCP"):
        scenario.run(engine="hybrid")
    limits = scenario.hybrid_limits()
    assert limits is not None
    assert limits[0] == "unable"


def test_a_question_too_large_for_packets_is_answered_by_the_hybrid_engine(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, answer = asked(capsys, *FAST, "--only", "answer")
    assert code == 6
    assert answer["engine"] == "hybrid"
    assert answer["packet_search_s"] > 60
    assert answer["recommendation"]["by"] == "simulation"
    assert answer["recommendation"]["proved"] is False
    decision = answer["decision"]
    assert (decision["engine"], decision["shown"]) == ("hybrid", False)
    low, high = decision["chance"]
    assert low < decision["packets"] < high
    bdp = answer["link"]["bdp_packets"]
    assert 0.01 * bdp < answer["recommendation"]["packets"] < bdp
    packets = run_command([*FAST, "--only", "answer", "--engine", "packets", "--budget", "2M"])
    assert packets == 6


def test_the_printed_answer_names_the_engine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([*FAST, "--only", "answer"]) == 6
    out = " ".join(capsys.readouterr().out.split())
    assert "simulated by the hybrid engine: packets would take about" in out
    assert "docs/hybrid.md" in out
    small = ["size", "--rate", "2Mbps", "--rtt", "40ms", "--flows", "1", "--only", "answer"]
    assert run_command(small) == 0
    assert "runs of the packet engine" in capsys.readouterr().out


def test_every_part_of_an_answer_names_its_engine_or_why_it_was_not_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    flags = ["--replicates", "3", "--aqm", "codel", "--aqm", "fq_codel", "--out", str(out)]
    flags += ["--budget", "40M"]
    _, answer = asked(capsys, *FAST, *flags)
    assert answer["engine"] == "hybrid"
    parts = [*answer["rules"], *answer["alternatives"], *answer["changes"]]
    for part in parts:
        if part.get("simulated") is not None:
            assert part["engine"] == "hybrid"
        assert part["engine"] == "hybrid" or part["why_not_simulated"] or part["packets"] is None
    fq_codel = answer["alternatives"][1]
    assert fq_codel["simulated"] is None
    assert "no queue of kind fq_codel" in fq_codel["why_not_simulated"]
    assert set(pl.read_parquet(out / "curve.parquet")["engine"]) == {"hybrid"}
    assert "engine" in pl.read_parquet(out / "rules.parquet").columns


def test_a_search_among_very_many_flows_begins_near_the_answer() -> None:
    link = Link(100e9, (0.1,), 80_000, congestion_control="cubic")
    theory = calibrated(link)
    assert theory is not None
    assert theory.outside
    # The hybrid engine finds less than 0.6 % of a bandwidth-delay product, BSCL asks for 20 %.
    assert 0.001 < expected_packets(link) / link.bdp_packets < 0.01
    fitted = replace(link, rate_bps=50e6, flows=20)
    inside = calibrated(fitted)
    assert inside is not None
    assert not inside.outside
    assert expected_packets(fitted) == inside.least


def test_size_link_uses_the_requested_engine() -> None:
    link = Link(50e6, (0.03, 0.06, 0.09), 10, congestion_control="cubic")
    efforts = {
        engine: Effort(changes=False, queues=(), rules=False, hosts=False, engine=engine)
        for engine in ("auto", "hybrid")
    }
    packets, hybrid = (size_link(link, effort) for effort in efforts.values())
    assert (packets.engine, hybrid.engine) == ("packets", "hybrid")
    assert packets.buffer is not None
    assert hybrid.buffer is not None
    assert hybrid.buffer == pytest.approx(packets.buffer, rel=0.3, abs=2)


def test_size_refuses_a_link_that_the_requested_engine_cannot_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bbr = ["size", "--rate", "10Mbps", "--rtt", "40ms", "--flows", "2", "--control", "bbr"]
    assert run_command([*bbr, "--engine", "hybrid"]) == 2
    assert "no congestion control bbr" in capsys.readouterr().err
    assert run_command([*bbr, "--quick", "--engine", "hybrid"]) == 2
    assert "--engine applies to runs" in capsys.readouterr().err.replace("\n", " ")


def test_the_packet_engine_answers_if_the_hybrid_engine_cannot(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ["size", "--rate", "1Gbps", "--rtt", "100ms", "--flows", "100", "--control", "bbr"]
    code, answer = asked(capsys, *flags, "--only", "answer", "--budget", "2M")
    assert code == 6
    assert answer["engine"] == "packets"
    assert "bbr" in answer["why_not_hybrid"]


def test_the_least_limit_is_where_the_engine_begins_to_answer(tmp_path: Path) -> None:
    link = Link(10e9, (0.1,), 100, congestion_control="cubic")
    trial = LinkTrial()
    with closing(Store.open(tmp_path / "store")) as store:
        laboratory = Laboratory(Runner(store, Threads(1)), trial, choice="auto")
        assert laboratory.least(link, 1000) == 1
        laboratory.engine = "hybrid"
        least = laboratory.least(link, 1000)
        smaller = [point for point in grid(1000) if point < least]
        assert laboratory.why_not(link, least) is None
        assert smaller
        assert laboratory.why_not(link, smaller[-1]) is not None
    assert trial.scenario(link, least).hybrid_limits() is None


def test_ctrl_c_ends_a_hybrid_run_within_a_second(tmp_path: Path) -> None:
    scenario = tmp_path / "long.toml"
    scenario.write_text(LINK.replace('"50s"', '"900000s"'))
    took, words = interrupted(["run", scenario, "--engine", "hybrid"], 4, tmp_path)
    assert took < 3, words


def test_a_hybrid_result_refuses_figures_that_need_packets() -> None:
    with pytest.raises(RequestError, match="has no packets"):
        goodqueue.run(LINK, engine="hybrid", series=True)
