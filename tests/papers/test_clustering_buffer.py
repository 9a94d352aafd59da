"""Claims of the follow-up with a "clustering buffer", against closed forms and simpler models."""

from __future__ import annotations

import math
from contextlib import closing
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
import pytest

import goodqueue
from goodqueue.core.intervals import Interval
from goodqueue.papers.cells import Finding, Verdict
from goodqueue.papers.clustering_buffer.chance import BY_CHANCE, Chance
from goodqueue.papers.clustering_buffer.fit import fit
from goodqueue.papers.clustering_buffer.saw_tooth import SawTooth, claimed
from goodqueue.papers.experiment import experiment
from goodqueue.papers.table import folder
from goodqueue.sizing.smoothing.formula import smoothing_packets
from goodqueue.sizing.smoothing.stream import Stream, friendly_decrease, smoothed
from goodqueue.study.record.store import Store
from goodqueue.study.runner import Runner
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goodqueue.papers.clustering_buffer.fit import Array

NAME = "clustering-buffer"


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    with closing(Store.open(tmp_path / "store")) as store:
        yield Runner(store, Threads())


def summary(scenario: str, **settings: str) -> dict[str, dict[str, dict[str, float]]]:
    path = folder(NAME).joinpath(scenario)
    overrides = {key.replace("__", "."): value for key, value in settings.items()}
    found: dict[str, dict[str, dict[str, float]]] = goodqueue.run(str(path), set=overrides).summary
    return found


def test_the_shortest_round_trip_is_twice_the_printed_one(runner: Runner) -> None:
    cells = experiment(NAME, "shortest-rtt").reproduce(runner).cells
    assert [cell.ours.mean for cell in cells] == pytest.approx([0.048, 0.024], abs=1e-6)
    assert [cell.verdict for cell in cells] == [Verdict.NOT, Verdict.MATCHES]
    assert cells[0].note.endswith("it matches")
    # In each direction, 83 bytes cross one link of 0.5 Mb/s and two of 2 Mb/s.
    sent = 83 * 8 * (2 / 0.5e6 + 4 / 2e6)
    assert cells[0].variants["at 2 and 0.5 Mb/s"].mean == pytest.approx(0.048 + sent, abs=1e-6)


def test_half_a_megabit_a_second_cannot_carry_38500_frames() -> None:
    limit = 0.5e6 * 180 / (8 * 583)
    sent = summary("window.toml")["flows"]["bulk"]["packets_sent"]
    assert 0.99 * limit < sent < limit + 101
    assert 38500 / limit == pytest.approx(2, rel=0.003)


def test_goodput_falls_with_the_buffer_where_the_link_is_slow_and_the_server_answers(
    runner: Runner,
) -> None:
    cells = [
        cell
        for cell in experiment(NAME, "experiment1").reproduce(runner).cells
        if cell.quantity == "goodput"
    ]
    assert all(cell.verdict is None for cell in cells), "no goodput is printed"
    claims = {
        cell.row["bottleneck"]: cell
        for cell in experiment(NAME, "experiment1").reproduce(runner).cells
        if cell.finding is not None and "throughput is slightly reduced" in cell.quantity
    }
    for rate, finding in (("0.5 Mb/s", Finding.UNREPRODUCED), ("0.1 Mb/s", Finding.HOLDS)):
        row = [cell for cell in cells if cell.row["bottleneck"] == rate]
        assert claims[rate].finding is finding
        assert bool(claims[rate].note) == (finding is Finding.UNREPRODUCED)
        sinks = [cell.variants["a server that only receives"].mean for cell in row]
        assert max(sinks) < 1.01 * min(sinks)
        # With a sink goodput is higher, because no ACKs of the sender share the queue with its
        # data.
        assert min(sinks) > max(cell.ours.mean for cell in row)


def test_goodput_in_experiment_1_is_limited_by_the_acks_of_echoes() -> None:
    # The buffer never fills. 583 bytes of data and 47 of the ACK of its echo share the link.
    found = summary(
        "bulk.toml", topology__bottleneck__rate="100kbps", topology__queue__limit="500p"
    )
    goodput = found["flows"]["bulk"]["goodput_bps"] / 8
    assert found["links"]["bottleneck"]["drops"] == 0
    assert goodput == pytest.approx(12_500 * 536 / 630, rel=0.003)


def test_a_static_policy_equals_separate_buffers() -> None:
    text = folder(NAME).joinpath("memory.toml").read_text("utf-8")
    own = text.replace('pool = "memory"', 'queue = { limit = "5830B" }')
    begin, end = own.index("[[topology.pool]]"), own.index("[[topology.link]]")
    settings = {"duration": "60s", "warmup": "10s"}
    shared = goodqueue.run(text, set=settings).summary
    separate = goodqueue.run(own[:begin] + own[end:], set=settings).summary
    assert shared["flows"] == separate["flows"]


def test_a_link_that_is_busy_alone_holds_half_of_the_memory() -> None:
    found = summary(
        "memory.toml",
        topology__pool__memory__policy="dynamic",
        flow__bulk__count="1",
        duration="120s",
    )
    # Choudhury and Hahne: the link holds a share of alpha / (1 + alpha) of the memory. A frame of
    # 583 bytes is admitted if the link then holds no more than was free before.
    held = found["links"]["slow1"]["max_backlog_bytes"]
    assert (23_320 - 583) / 2 - 583 < held <= (23_320 + 583) / 2


@pytest.mark.parametrize("increase", [1.0, 0.25])
def test_a_tcp_friendly_pair_loses_packets_as_the_square_root_law_says(increase: float) -> None:
    stream = Stream(increase, friendly_decrease(increase), 60, 0.1, 5)
    assert 3 * stream.decrease / (2 - stream.decrease) == pytest.approx(increase)
    # The square-root law (Mathis): R T = sqrt(1.5/p).
    assert stream.apart == pytest.approx(60**2 / 1.5, abs=0.5)


def test_a_saw_tooth_needs_the_laws_buffer_and_up_to_two_round_trips(runner: Runner) -> None:
    streams = [Stream(one, friendly_decrease(one), 320, 0.1, 5) for one in (1.0, 0.5)]
    found = smoothed(runner, [(stream, 1) for stream in streams])
    for stream, one in zip(streams, found, strict=True):
        assert one.window == pytest.approx(320, rel=0.02)
        beyond = one.buffer - smoothing_packets(one.window, stream.increase, stream.decrease)
        # In-order delivery delays the data of one to two round trips during a repair.
        assert 0 < beyond < 2 * one.window


def test_the_fitted_exponents_are_the_claimed_ones(runner: Runner) -> None:
    small = SawTooth(increases=(1.0, 0.25), rates=(400, 1600), rtts_s=(0.1, 0.2))
    cells = {(cell.quantity, cell.row["of"]): cell for cell in small.reproduce(runner).cells}
    for says, of, value in (
        ("proportional", "increase a", 1),
        ("quadratic", "rate R", 2),
        ("quadratic", "round-trip time T", 2),
    ):
        found = cells[f'"{says}: exponent"', of]
        assert found.ours.mean == pytest.approx(value, abs=0.1)
    law = cells['"ours: the coefficient is 1/18"', "a (R T)²"]
    assert law.ours.mean == pytest.approx(1 / 18, rel=0.1)
    repair = cells["coefficient", "R T"].ours
    for increase in (1, 0.125):
        cell = cells["B / (a (R T)²), less the repair", f"a = {increase:g}, friendly with timeouts"]
        slack = (repair.high - repair.mean) / (increase * 320)
        assert cell.ours.mean == pytest.approx(cell.variants["by the formula"].mean, abs=slack)


@pytest.mark.parametrize(
    ("mean", "half", "finding"),
    [
        (2.0, 0.05, Finding.HOLDS),
        # A wide interval contains the claimed value, and says nothing of it.
        (2.0, 1.0, Finding.UNDECIDED),
        (2.2, 0.05, Finding.UNREPRODUCED),
    ],
)
def test_a_wide_interval_of_a_fit_decides_nothing(
    mean: float, half: float, finding: Finding
) -> None:
    cell = claimed({}, "quadratic", Interval(mean, half), 2)
    assert (cell.finding, cell.asked) == (finding, "1.900 to 2.100")


def test_one_claim_about_many_buffers_is_one_cell_for_each_link(runner: Runner) -> None:
    found = experiment(NAME, "section4-2").reproduce(runner).cells
    claims = [cell for cell in found if cell.finding is not None]
    assert len(claims) == 6, "three claims at two rates"
    # "A slight cost" is a tenth. One frame costs a fifth.
    cost = [cell for cell in claims if "slight cost" in cell.quantity]
    assert [cell.row for cell in cost] == [{"bottleneck": "0.5 Mb/s"}, {"bottleneck": "1 Mb/s"}]
    assert all(cell.finding is Finding.UNREPRODUCED for cell in cost)


def fluid(increase: float, losses: int, random: np.random.Generator) -> float:
    """Returns the smoothing buffer of a fluid AIMD stream with a mean window of 20 packets.

    The fluid model has no packets, no loss recovery and no timeouts.
    """
    decrease, chance = friendly_decrease(increase), 1.5 / 20**2
    window, sent = 20.0, [0.0]
    times = round(losses / chance / 20)
    for _ in range(times):
        hits = random.poisson(chance * window)
        sent.append(sent[-1] + window)
        window = (window + increase) * (1 - decrease) ** hits
    curve = np.array(sent)
    return float(np.max(curve[-1] * np.linspace(0, 1, times + 1) - curve)) / 20**2


@pytest.mark.parametrize("increase", [1.0, 0.25])
def test_random_losses_need_a_buffer_that_does_not_depend_on_the_increase(increase: float) -> None:
    random = np.random.default_rng(1)
    values = [fluid(increase, 300, random) for _ in range(150)]
    # The largest fall of a Brownian bridge has a Rayleigh distribution, whose standard deviation is
    # 0.52 of its mean. The tolerance is four standard errors, and a tenth because the stream has
    # only 300 losses.
    assert fmean(values) == pytest.approx(
        BY_CHANCE * math.sqrt(300), rel=4 * 0.52 / math.sqrt(150) + 0.1
    )


def test_simulated_streams_with_random_losses_need_the_predicted_buffer(runner: Runner) -> None:
    for stream, values in Chance(losses=(300,), replicates=12).sizes(runner).items():
        chance = BY_CHANCE * math.sqrt(stream.losses)
        assert fmean(values) == pytest.approx(chance, rel=4 * 0.52 / math.sqrt(12) + 0.1)
        assert fmean(values) > 20 * stream.increase / 18


@pytest.mark.parametrize("router", [20, 160])
def test_behind_a_busy_router_the_buffer_holds_one_loaded_round_trip(router: int) -> None:
    found = summary(
        "router.toml",
        flow__stream__tcp__congestion_control__alpha="0.25",
        flow__stream__tcp__congestion_control__beta="0.153846",
        flow__stream__tcp__initial_ssthresh=f"{round(0.846 * (80 + router))}p",
        topology__bottleneck__queue__limit=f"{router}p",
    )
    # A repair takes a round trip with a full queue, and three packets more for the duplicate ACKs.
    stored = found["flows"]["stream"]["smoothing_buffer_bytes"] / 1000
    assert stored == pytest.approx(80 + router + 4, abs=1)


def test_a_fit_finds_the_true_parameters_and_95_of_100_intervals_hold_them() -> None:
    random = np.random.default_rng(1)
    points = np.linspace(1, 9, 20)[None, :]

    def power(at: Array, size: float, exponent: float) -> Array:
        values: Array = size * at[0] ** exponent
        return values

    exact = fit(power, points, list(power(points, 3, 1.5)), (1, 1))
    assert [one.mean for one in exact] == pytest.approx([3, 1.5])
    held = 0
    for _ in range(400):
        noisy = power(points, 3, 1.5) * np.exp(random.normal(0, 0.1, 20))
        exponent = fit(power, points, list(noisy), (1, 1))[1]
        held += exponent.low <= 1.5 <= exponent.high
    # The tolerance is four standard deviations of the number of 400 intervals that hold, at 95 %.
    assert abs(held - 380) < 4 * math.sqrt(400 * 0.95 * 0.05)
