"""The study of the rules: its draws, plans and fits, and its page, which agrees with its data."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from evidence.rules_on_trial import check, draw, plan, run
from evidence.rules_on_trial.fitting import data, made, network, record
from evidence.rules_on_trial.fitting.table import Fitted
from evidence.rules_on_trial.report import page
from goodqueue.sizing.calibrated.groups import forms, groups
from goodqueue.sizing.calibrated.smallest import calibrated
from goodqueue.sizing.calibrated.surface import Surfaces
from goodqueue.sizing.link import Link

if TYPE_CHECKING:
    from pathlib import Path

LINK = Link(5e6, (0.02,), 5)


def test_a_draw_is_a_function_of_seed_and_number() -> None:
    digest = hashlib.sha256(b"rules-on-trial/17/3/0/rate").digest()
    expected = (int.from_bytes(digest[:8], "big") >> 11) / 2**53
    assert draw.Draw(17, 3, 0)("rate") == expected
    assert draw.link(17, 3) == draw.link(17, 3) != draw.link(18, 3)


def test_draws_fill_their_ranges() -> None:
    drawn = [draw.link(draw.STUDY_SEED, index) for index in range(600)]
    rates = np.log10([link.rate_bps for link in drawn])
    assert 5 <= rates.min() < 5.8
    assert 9.4 < rates.max() <= 10
    assert min(link.flows for link in drawn) == 1
    assert 5000 < max(link.flows for link in drawn) <= 10_000
    assert all(0.002 <= rtt < 0.6001 for link in drawn for rtt in link.rtts_s)
    assert 0.3 < np.mean([link.profile == "linux" for link in drawn]) < 0.9
    assert 0.1 < np.mean([link.paced for link in drawn]) < 0.3
    assert {link.congestion_control for link in drawn} == {"reno", "cubic"}


def test_operators_have_fast_links_with_many_flows() -> None:
    first = draw.FIRST_OF_OPERATORS
    drawn = [draw.link(draw.STUDY_SEED, first + index) for index in range(300)]
    assert all(5e8 <= link.rate_bps <= 2e10 for link in drawn)
    assert all(30 <= link.flows <= 5_000 for link in drawn)
    assert {link.profile for link in drawn} == {"linux"}
    assert 0.7 < np.mean([len(link.rtts_s) > 1 for link in drawn]) < 0.9
    bounds = [link.max_loss_rate for link in drawn if link.max_loss_rate is not None]
    assert 0.65 < len(bounds) / len(drawn) < 0.85
    assert all(0.002 <= bound <= 0.03 for bound in bounds)


def test_no_run_is_planned_that_sends_more_than_the_cap() -> None:
    for index in range(100):
        link = draw.link(draw.STUDY_SEED, index)
        for packets in (1.0, 30.0, 1000.0):
            reach = plan.length(link, packets, 50_000)
            assert reach is None or reach.packets <= 50_000 * (1 + 1e-9)
    assert plan.engine_for(Link(10e9, (0.1,), 1)) == "hybrid"
    assert plan.engine_for(LINK) == "packets"


def test_the_second_stage_runs_limits_near_the_smallest_sufficient_one() -> None:
    seen = {2: (0.80, 0.0), 9: (0.96, 0.0), 32: (0.995, 0.0), 128: (1.0, 0.0)}
    chosen = plan.second_stage(LINK, seen)
    assert len(chosen) == 3
    assert 9 < chosen[1] < 32
    assert not set(chosen) & set(seen)
    assert plan.second_stage(LINK, {8: (0.5, 0.0)})[1] == 16
    assert plan.second_stage(LINK, {8: (1.0, 0.0)})[1] == 4


def test_a_shard_continues_after_its_last_finished_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def one_link(_seed: int, index: int) -> dict[str, object]:
        asked.append(index)
        return {"index": index, "engine": "packets", "runs": []}

    monkeypatch.setattr(run, "one_link", one_link)
    out = tmp_path / "shard.jsonl"
    out.write_text('{"index": 0, "runs": []}\n{"index": 2, "ru', encoding="utf-8")
    run.shard(17, [0, 2, 4], out)
    assert asked == [2, 4]
    assert {one["index"] for one in run.read(out)} == {0, 2, 4}


def test_a_run_shows_the_figures_of_its_link() -> None:
    figures = run.one_run(LINK, 30, 1, 10_000)
    assert figures is not None
    assert figures["utilization"] > 0.95
    assert 0 < figures["p50_delay_s"] <= figures["p99_delay_s"] <= 31 * LINK.packet_time_s
    assert run.one_run(LINK, 30, 1, 10) is None


def test_a_network_learns_a_smooth_function() -> None:
    random = np.random.default_rng(1)
    inputs = random.uniform(-2, 2, (800, 2))
    outputs = np.stack((np.sin(inputs[:, 0]) * inputs[:, 1], inputs[:, 0] ** 2), axis=1)
    layers = network.fit(inputs, outputs, np.ones(800), network.Recipe(units=(16, 16)))
    seen = random.uniform(-1.8, 1.8, (200, 2))
    expected = np.stack((np.sin(seen[:, 0]) * seen[:, 1], seen[:, 0] ** 2), axis=1)
    assert np.abs(network.values(layers, seen) - expected).mean() < 0.1


def test_the_core_evaluates_a_fitted_table() -> None:
    random = np.random.default_rng(3)

    def layers() -> network.Layers:
        sizes = ((18, 4), (4, 3))
        return [(random.normal(0, 0.3, size), random.normal(0, 0.3, size[1])) for size in sizes]

    packets = np.array([1.0, 30.0, 1000.0])
    found = groups(LINK, packets)
    table = Fitted(
        members=(layers(), layers()),
        spread=layers(),
        centre=found.mean(axis=0),
        scale=random.uniform(1, 2, 18),
        offset=np.array([0.1, -0.1, -20.0]),
        stretch=np.array([0.5, 0.2, 0.1]),
        ranges=np.stack((found.min(axis=0) - 1, found.max(axis=0) + 1), axis=1),
        widths=np.full(3, 2.0),
        tails=np.array([[1.5, 2.5]] * 4),
        theory_errors=np.ones(3),
    )
    inputs = (found - table.centre) / table.scale
    outputs = np.stack([network.values(member, inputs) for member in table.members])
    means = forms(LINK, packets) + outputs.mean(axis=0) * table.stretch + table.offset
    spread = np.exp(network.values(table.spread, inputs))
    errors = 2 * np.hypot(spread, outputs.std(axis=0) * table.stretch)
    core = table.surfaces()
    assert np.array(core.at(LINK, packets.tolist()).means) == pytest.approx(means)
    assert np.array(core.at(LINK, packets.tolist()).errors) == pytest.approx(errors)
    assert core.tails == [(1.5, 2.5)] * 4
    stored = Surfaces(table.file()).at(LINK, packets.tolist())
    assert np.array(stored.means) == pytest.approx(means, rel=1e-5)
    alone = forms(LINK, packets) + outputs[1] * table.stretch + table.offset
    assert np.array(core.alone(1).at(LINK, packets.tolist()).means) == pytest.approx(alone)


def test_wilson_is_the_published_interval() -> None:
    """8 of 10 gives 0.4902 to 0.9433 (Newcombe, Statistics in Medicine 17, 1998, method 3)."""
    assert record.wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=2e-4)
    assert record.wilson(0, 0) == (0.0, 1.0)


def test_reliability_compares_predictions_with_results() -> None:
    points = record.reliability([(0.91, True), (0.95, True), (0.93, False), (0.1, False)])
    assert [(one.links, one.seen) for one in points] == [(1, 0.0), (3, pytest.approx(2 / 3))]


def test_an_interval_covers_searches_between_its_ends() -> None:
    said = calibrated(LINK)
    assert said is not None
    assert said.least is not None
    assert said.high is not None
    found = made.Search(19, 0, said.least, said.least, 100)
    assert made.covers(said, found)
    assert not made.covers(said, replace(found, least=said.high + 1))
    assert not made.covers(said, replace(found, least=None, reached=said.high + 1))
    assert made.covers(replace(said, high=None), replace(found, least=None))


def test_a_search_finds_a_limit_that_keeps_the_bounds() -> None:
    found = check.search(Link(2e6, (0.02,), 4, min_utilization=0.9), 1)
    assert found["finished"]
    assert found["low"] < found["least"] <= found["reached"]
    utilization = found["seen"][str(found["least"])][1]
    assert utilization >= 0.9


def test_the_record_of_the_package_counts_the_runs() -> None:
    """The package's counts equal those of the runs."""
    counted = record.records(page.all_trials())
    brought = json.loads((made.HOME / "record.json").read_text(encoding="utf-8"))
    assert {name: asdict(one) for name, one in counted.items()} == brought


def test_the_page_agrees_with_the_data() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.with_parts(text) == text
    readme = page.README.read_text(encoding="utf-8")
    assert page.with_summary(readme) == readme
    assert [picture.name for picture in page.all_pictures()] == list(page.PICTURES)


def test_the_data_are_compact() -> None:
    assert sum(path.stat().st_size for path in data.FOLDER.iterdir()) < 2.5e6
