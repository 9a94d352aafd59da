"""Sizing the link of a scenario file: real simulations with an answer in closed form."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import pytest

import goodqueue
from conftest import ROOT, SMALL
from goodqueue.cli import run_command
from goodqueue.errors import RequestError
from goodqueue.sizing import Asked, Effort, size_scenario
from goodqueue.sizing.trials.file import FileTrial
from goodqueue.sizing.trials.length import Extent
from helpers.closed_forms import POISSON, md1k_loss, sawtooth_needs

if TYPE_CHECKING:
    from pathlib import Path


RENO = """\
schema_version = 1
duration = "600s"
warmup = "50%"
[topology]
shape = "dumbbell"
access = { rate = "1Gbps" }
[topology.bottleneck]
rate = "12Mbps"
delay = "50ms"
queue = { limit = "1bdp" }
[topology.queue]
limit = "unlimited"
[[flow]]
name = "long"
workload = { kind = "bulk" }
[tcp]
recovery = "sack"
mss = "1460B"
ack_every = 1
receive_window = "16MB"
initial_ssthresh = "75kB"
"""

ONLY_SEARCH = Effort(replicates=24, changes=False, queues=())


pytestmark = pytest.mark.usefixtures("own_cache")


def trial_of(text: str, asked: Asked = Asked(), **changes: str) -> FileTrial:  # noqa: B008
    """Returns a trial of the bottleneck; changes are values by path, with `__` for a dot."""
    set_ = {path.replace("__", "."): value for path, value in changes.items()}
    return FileTrial(goodqueue.load(text, set=set_), "bottleneck", asked)


def test_the_closed_form_is_the_published_one() -> None:
    assert md1k_loss(0.9, 10) == pytest.approx(0.01663, rel=1e-3)
    assert md1k_loss(0.9, 20) == pytest.approx(0.001853, rel=1e-3)


def test_poisson_arrivals_need_the_room_that_md1k_says() -> None:
    """No rule applies to them, so simulation alone decides."""
    wanted = next(room for room in range(1, 100) if md1k_loss(0.9, room) <= 0.01)
    answer = size_scenario(POISSON, Asked(0.5, max_loss_rate=0.01), ONLY_SEARCH)
    assert answer.by_rule == ()
    assert "no rule applies to this traffic" in answer.notes[0]
    assert answer.rules.is_empty()
    # This number of packets waits, and one more is in service.
    assert answer.buffer == wanted - 1
    assert answer.trials is not None
    assert answer.trials.limits[0] == 1
    for limit in answer.trials.limits:
        losses = [run["loss_rate"] for run in answer.trials.replicates[limit]]
        if len(losses) < 8 or max(losses) == 0:
            continue
        # One in 16,000 normal means deviates by more than 4 standard errors; a t of 7 degrees of
        # freedom has a tail twice as heavy as the remaining part of 6.4 (p = 0.0004).
        error = stdev(losses) / math.sqrt(len(losses))
        assert abs(fmean(losses) - md1k_loss(0.9, limit + 1)) < 6.4 * error, limit


def test_a_long_reno_flow_needs_the_buffer_of_the_saw_tooth() -> None:
    """Half a BDP gives 27/28 of the link; BDP 100 packets, an ACK for each, initial window 50."""
    answer = size_scenario(RENO, Asked(27 / 28), Effort(3, changes=False, queues=()))
    assert answer.buffer is not None
    assert sawtooth_needs(27 / 28) == pytest.approx(0.5)
    # The differences in packets: one is in transmission beside those that wait. A growing ACK
    # releases two at once, which needs room for one more. Half of the window is rounded down to a
    # whole segment (see test_size_link). The step of the grid is 5 %, which is 2.5 packets at this
    # limit.
    assert -1 <= answer.buffer - 50 <= 1 + 1 + 1.3 + 2.5
    assert answer.epochs is not None


def test_a_file_is_read_as_rules_see_it() -> None:
    link = trial_of(SMALL, Asked(0.9, max_loss_rate=0.1, local_share=0.5)).link
    # 576 B and 7 B of framing at 1 Mb/s; 2 x (10 + 1 + 1) ms for both directions.
    assert (link.rate_bps, link.packet_bytes, link.frame_bytes) == (1e6, 576, 583)
    assert link.rtts_s == pytest.approx((0.024,))
    assert link.bdp_packets == pytest.approx(1e6 * 0.024 / (583 * 8))
    assert (link.flows, link.congestion_control, link.local_share) == (1, "reno", 0.5)
    assert (link.min_utilization, link.max_loss_rate) == (0.9, 0.1)
    shared = FileTrial(goodqueue.load(ROOT / "scenarios" / "s1.toml"), "bottleneck", Asked())
    assert shared.link.flows == 100
    assert len(shared.link.rtts_s) in {18, 100}, "each as often as any other, or one for each"
    rates = (1 / rtt for rtt in shared.link.rtts_s)
    assert shared.link.harmonic_rtt_s == pytest.approx(len(shared.link.rtts_s) / sum(rates))


def test_traffic_without_a_rule_is_named_and_not_guessed() -> None:
    trial = trial_of(SMALL, flow__upload__tcp__congestion_control="vegas")
    assert trial.link.flows == 0
    assert trial.notes[0] == "the long flows have vegas, to which no rule applies"
    mixed = SMALL + SMALL[
        SMALL.index("[[flow]]") : SMALL.index('[[flow]]\nname = "probe"')
    ].replace("upload", "other").replace(
        "tcp = {", 'count = 2\ntcp = { congestion_control = "cubic",'
    )
    both = trial_of(mixed)
    assert both.link.congestion_control == "cubic"
    assert any("2 cubic, 1 reno" in note for note in both.notes)
    assert any("--mix" in note for note in both.notes)


def test_changes_are_made_in_the_file() -> None:
    text = SMALL.replace('name = "upload"', 'name = "upload"\ncount = 8')
    trial = trial_of(text, flow__upload__tcp__byte_counting="false")
    others = trial.others(trial.link)
    assert {what: other.flows for what, other in others.items()} == {
        "flows / 4": 2,
        "RTT x 2": 8,
        "CUBIC instead of Reno": 8,
        "Reno that grows by bytes acknowledged (Linux)": 8,
    }
    assert others["RTT x 2"].mean_rtt_s == pytest.approx(2 * trial.link.mean_rtt_s)
    assert others["CUBIC instead of Reno"].congestion_control == "cubic"
    assert others["Reno that grows by bytes acknowledged (Linux)"].byte_counting
    for other in others.values():
        flows = trial.scenario(other, 5).long_flows("bottleneck")
        assert len(flows) == other.flows
        assert flows[0]["base_rtt_s"] == pytest.approx(other.mean_rtt_s)
        assert flows[0]["congestion_control"] == other.congestion_control
        assert flows[0]["byte_counting"] == other.byte_counting


@pytest.mark.parametrize("shape", ["dumbbell", "chain"])
def test_another_queue_takes_the_place_of_the_links(shape: str) -> None:
    file = {"dumbbell": "bufferbloat.toml", "chain": "parking-lot.toml"}[shape]
    name = {"dumbbell": "bottleneck", "chain": "link2"}[shape]
    trial = FileTrial(goodqueue.load(ROOT / "scenarios" / file), name, Asked())
    queued = trial.scenario(trial.link, 1, "fq_codel")
    assert "fq_codel" in queued.qdisc(name)[-1]
    assert trial.scenario(trial.link, 7).buffer(name)["limit_packets"] == 7


def test_a_limit_in_bytes_is_searched_in_bytes() -> None:
    trial = trial_of(POISSON, topology__bottleneck__queue__limit="10kB")
    buffer = trial.scenario(trial.link, 7).buffer("bottleneck")
    assert buffer["counted_in_bytes"]
    assert (buffer["limit_bytes"], buffer["limit_packets"]) == (7000, 7)


@pytest.mark.parametrize(
    ("limit", "line"), [("250p", "pfifo limit 44"), ("66kB", f"bfifo limit {44 * 1514}")]
)
def test_a_fifo_is_exported_as_its_limit_counts(limit: str, line: str) -> None:
    """ACKs and requests take places behind a limit in packets, and few bytes of one in bytes."""
    file, path = ROOT / "scenarios" / "home-web.toml", "topology.bottleneck.queue.limit"
    trial = FileTrial(goodqueue.load(file, set={path: limit}), "bottleneck", Asked())
    assert trial.exports(trial.link, 44)[0].lines == (f"tc qdisc replace dev DEV root {line}",)
    assert any("counts packets of any size" in one for one in trial.notes) == ("p" in limit)


def test_a_queue_that_is_no_fifo_is_exported_as_it_is() -> None:
    trial = trial_of(SMALL, topology__bottleneck__queue='{ kind = "codel", limit = "50p" }')
    (only,) = trial.exports(trial.link, 30)
    assert "tc qdisc replace dev DEV root codel limit 30 target 5ms interval 100ms" in only.lines
    assert any("not a drop-tail FIFO" in note for note in trial.notes)
    unknown_to_linux = trial_of(
        SMALL, topology__bottleneck__queue='{ kind = "blue", limit = "50p" }'
    )
    assert unknown_to_linux.exports(unknown_to_linux.link, 30) == ()
    assert {one.device for one in trial_of(SMALL).exports(trial.link, 30)} >= {"Cisco IOS", "Junos"}


def test_starts_are_jittered_by_a_round_trip_unless_the_scenario_says_otherwise() -> None:
    trial = trial_of(RENO)
    assert trial.jitter_s == pytest.approx(0.1)
    assert 'start_jitter = "100ms"' in trial.scenario(trial.link, 5).resolved_toml()
    own = trial_of(RENO, flow__long__start_jitter="3s")
    assert 'start_jitter = "3s"' in own.scenario(own.link, 5).resolved_toml()


def test_a_file_that_runs_for_too_long_is_cut(tmp_path: Path) -> None:
    """A replicate has ten million packets, too many for a budget of seconds."""
    effort = replace(ONLY_SEARCH, budget=10_000_000, store=tmp_path / "runs")
    answer = size_scenario(RENO, Asked(0.9), effort, set={"duration": "10000s"})
    assert answer.share < 1
    assert answer.scenario is not None
    assert answer.scenario.duration_s < 10_000
    # The start-up contains five loss epochs. A Reno flow at 12 Mb/s and 100 ms behind B packets
    # fills 100 + B packets, and regains half of them in as many round trips of 100 + B ms.
    limit = answer.scenario.buffer("bottleneck")["limit_packets"]
    assert limit is not None
    packets = 100 + limit
    assert answer.scenario.warmup_s >= 5 * packets / 2 * packets / 1000


def test_a_scenario_that_cannot_be_shortened_is_run_in_full() -> None:
    """The flow of this scenario starts in the second half."""
    trial = trial_of(RENO, flow__long__start="500s")
    whole = trial.scenario(trial.link, 5)
    cut = trial.scenario(trial.link, 5, None, Extent(share=0.01))
    assert cut.duration_s == whole.duration_s
    assert (
        trial_of(RENO).scenario(trial_of(RENO).link, 5, None, Extent(share=0.5)).duration_s == 300
    )


def test_runs_that_are_kept_are_not_run_again(tmp_path: Path) -> None:
    def search() -> tuple[dict[str, Any], int]:
        ran: list[int] = []
        effort = Effort(3, changes=False, queues=(), store=tmp_path / "runs")
        answer = size_scenario(
            POISSON, Asked(0.8), effort, set={"duration": "50s"}, on_run=ran.append
        )
        return answer.as_dict(), len(ran)

    first, ran = search()
    again, ran_again = search()
    assert ran == sum(point["replicates"] for point in first["curve"])
    assert ran_again == 0
    assert again == first
    results = goodqueue.Results(tmp_path / "runs")
    assert results.axes == ["bottleneck.limit_packets"]
    assert len(results) == ran


@pytest.mark.parametrize(
    ("asked", "changes", "words"),
    [
        (Asked(max_loss_rate=0.0), {}, "loss of 0%"),
        (Asked(max_loss_rate=1.0), {}, "below 100%"),
        (Asked(max_delay_s=0.001), {}, "no packet to wait"),
        (Asked(min_utilization=0.0), {}, "above 0%"),
        (Asked(local_share=0.0), {}, "share of the local flows"),
        (
            Asked(),
            {
                "flow.upload.count": "50000",
                "topology.bottleneck.rate": "10kbps",
                "topology.queue.limit": "100p",
            },
            "timeouts",
        ),
    ],
)
def test_impossible_values_are_refused(asked: Asked, changes: dict[str, str], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        size_scenario(SMALL, asked, ONLY_SEARCH, set=changes)


def test_too_few_replicates_for_a_search_are_refused() -> None:
    with pytest.raises(RequestError, match="at least 3"):
        Effort(2)


def test_quick_answers_a_file_by_theory_alone(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(ROOT / "scenarios" / "bufferbloat.toml")
    assert run_command(["size", file, "--quick", "--json"]) == 6
    answer = json.loads(capsys.readouterr().out)
    assert answer["link"]["flows"] == 1
    assert answer["recommendation"]["by"] == "theory"
    assert answer["rules"][0]["packets"] == 5
    assert answer["rules"][0]["bytes"] == 5 * 583
    assert run_command(["size", str(ROOT / "scenarios" / "web-search.toml"), "--quick"]) == 6
    assert "no rule applies to this link" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("prt0", "did you mean 'port0'"),
        ("uplink", "port17, and the other direction of each is called as in port0.reverse"),
        (None, "port16, port17"),
    ],
)
def test_an_unknown_link_lists_the_links(
    link: str | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(ROOT / "scenarios" / "incast.toml")
    flags = [] if link is None else ["--link", link]
    assert run_command(["size", file, "--quick", *flags]) == 2
    assert words in capsys.readouterr().err


def test_a_long_list_of_links_is_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(ROOT / "scenarios" / "partition-aggregate.toml")
    assert run_command(["size", file, "--quick", "--link", "uplink"]) == 2
    said = capsys.readouterr().err
    assert "port39, … (129 in all)" in said
    assert len(said) < 600


def test_quick_says_what_theory_does_not_know_of_a_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The office needs 70 packets by simulation, and its backup alone 12 to 23 by theory."""
    run_command(["size", str(ROOT / "scenarios" / "office.toml"), "--quick"])
    said = " ".join(capsys.readouterr().out.split())
    assert "mind: theory knows the long flows alone" in said
    assert "leave out --quick to simulate the file" in said
