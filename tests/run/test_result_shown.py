"""Results, studies, links and flows: figures as attributes, and texts that show the answer."""

from __future__ import annotations

import copy
import pickle
import re
from typing import TYPE_CHECKING

import pytest

import goodqueue
from conftest import SMALL
from goodqueue import RequestError, Result, Results, Study
from goodqueue.core.metrics import DOZEN, MAIN, OF_STUDIES

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = "topology.bottleneck.queue.limit"


@pytest.fixture(scope="module")
def result() -> Result:
    return goodqueue.run(SMALL)


@pytest.fixture(scope="module")
def study() -> Study:
    sweep = {LIMIT: ["5p", "20p"], "flow.upload.start": ["0s", "1s"]}
    return Study(SMALL.replace('"20s"', '"3s"'), sweep=sweep, seeds=2)


@pytest.fixture(scope="module")
def results(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Results:
    return study.run(tmp_path_factory.mktemp("runs"))


def test_a_name_gives_the_figures_of_a_link_or_a_flow(result: Result) -> None:
    links, flows = result.summary["links"], result.summary["flows"]
    assert result["bottleneck"].utilization == links["bottleneck"]["utilization"]
    assert result["upload"].goodput_bps == flows["upload"]["goodput_bps"]
    assert result["probe"]["p99_rtt_s"] == flows["probe"]["p99_rtt_s"]
    assert result["bottleneck"].limit.packets == links["bottleneck"]["limit"]["packets"]
    assert dict(result["upload"]) == flows["upload"]


def test_the_main_figures_exist(result: Result) -> None:
    figures = set(result["bottleneck"]) | set(result["upload"])
    assert set(MAIN) <= figures
    assert set(OF_STUDIES) <= figures
    assert len([name for name in MAIN if name in result["bottleneck"]]) >= DOZEN
    assert len([name for name in MAIN if name in result["upload"]]) >= DOZEN


def test_all_names_are_listed(result: Result) -> None:
    assert list(result) == [*result.summary["links"], *result.summary["flows"]]
    assert "upload" in result
    assert "nothing" not in result
    assert result._ipython_key_completions_() == list(result)
    assert {"utilization", "loss_rate"} <= set(dir(result["bottleneck"]))


def test_a_large_group_has_its_distributions() -> None:
    one = goodqueue.run(SMALL, set={"flow.probe.count": 1001, "duration": "1s"})
    assert one["probe"].flows == 1001
    assert one["probe"].packets_sent.p50 > 1
    assert "  group probe: 1,001 flows" in repr(one)


def test_unknown_names_have_the_nearest(result: Result) -> None:
    with pytest.raises(RequestError, match="no link or flow 'botleneck'; did you mean 'bottle"):
        result["botleneck"]
    with pytest.raises(AttributeError, match="'utilisation'; did you mean 'utilization'"):
        _ = result["bottleneck"].utilisation
    with pytest.raises(KeyError):
        result["bottleneck"]["utilisation"]


def test_a_name_of_a_link_and_a_flow_is_refused() -> None:
    both = goodqueue.run(SMALL.replace('"probe"', '"bottleneck"'), set={"duration": "3s"})
    with pytest.raises(RequestError, match=r"both a link and a flow.*summary\['links'\]"):
        both["bottleneck"]


def test_figures_can_be_copied_and_stored(result: Result) -> None:
    figures = result["upload"]
    assert copy.deepcopy(figures) == figures
    assert pickle.loads(pickle.dumps(figures)).goodput_bps == figures.goodput_bps  # noqa: S301


def test_the_repr_of_a_result_has_its_main_figures(result: Result) -> None:
    first, *lines = repr(result).splitlines()
    assert first == "One flow, one ping: seed 1, 20 s measured by the packet engine"
    assert lines[0].startswith("  link bottleneck: rate 1 Mb/s, utilisation 9")
    assert re.search(r", loss [\d.]+ %, p99 queueing delay [\d.]+ ms$", lines[0])
    assert any(line.startswith("  flow upload: goodput ") for line in lines)
    assert any(line.startswith("  flow probe: ") and "p99 RTT" in line for line in lines)
    assert max(map(len, lines)) <= 120


def test_the_repr_of_many_flows_is_short() -> None:
    many = goodqueue.run(SMALL, set={"flow.probe.count": 500, "duration": "1s"})
    assert len(repr(many).splitlines()) < 20
    assert "more flows" in repr(many)


def test_the_repr_of_figures_names_attributes(result: Result) -> None:
    first, *lines = repr(result["bottleneck"]).splitlines()
    assert first == "link bottleneck"
    named = [line.split()[0] for line in lines]
    assert named[:3] == ["rate_bps", "utilization", "throughput_bps"]
    assert set(named[:12]) <= set(result["bottleneck"])
    assert len(lines) == 13
    assert "more" in lines[-1]
    assert "<table" in result["bottleneck"]._repr_html_()


def test_the_repr_of_a_study_has_its_axes_and_runs(study: Study) -> None:
    assert repr(study).splitlines() == [
        "Study: One flow, one ping",
        f"  {LIMIT}_packets: 5, 20",
        "  flow.upload.start_s: 0, 1",
        "  4 variants x 2 seeds = 8 runs",
    ]
    assert "<table" in study._repr_html_()


def test_the_repr_of_results_has_axes_and_runs(results: Results) -> None:
    first, *lines = repr(results).splitlines()
    assert first == f"Results: 8 runs of 4 variants, {len(results.metrics)} metrics"
    assert f"  {LIMIT}_packets: 5, 20" in lines
    assert lines[-1] == f"  in {results.folder}"


def test_a_long_axis_is_shortened() -> None:
    many = Study(SMALL, sweep={LIMIT: {"from": "1p", "to": "40p", "step": "1p"}})
    assert repr(many).splitlines()[1] == f"  {LIMIT}_packets: 1, 2, 3, 4, ... 40 (40 values)"


def test_failed_runs_are_counted(tmp_path: Path) -> None:
    broken = Study(SMALL, sweep={LIMIT: ["5p"]}, queues={"bottleneck": Broken}).run(tmp_path)
    assert repr(broken).splitlines()[0].startswith("Results: 1 run of 1 variant (1 failed)")


class Broken:
    """A queue that fails at its first packet."""

    def enqueue(self, _context: object, _packet: object) -> None:
        """Fails."""
        raise ValueError("broken")

    def dequeue(self, _context: object) -> None:
        """Returns nothing."""

    def backlog(self) -> tuple[int, int]:
        """Returns an empty backlog."""
        return 0, 0


def test_titles_cannot_change_the_lines() -> None:
    title = SMALL.replace("One flow, one ping", "a\\nb\\u001b[31m")
    first = repr(goodqueue.run(title, set={"duration": "1s"})).splitlines()[0]
    assert first.startswith("a b")
    assert "\x1b" not in first


def test_the_repr_of_a_tuned_value_begins_with_the_answer(tmp_path: Path) -> None:
    answer = goodqueue.tune(
        SMALL,
        f"{LIMIT}=2p..20p",
        keep=["bottleneck.utilization>=50%"],
        least=LIMIT,
        set={"duration": "4s"},
        replicates=8,
        store=tmp_path,
    )
    assert repr(answer).startswith(("Recommended: ", "Estimate: "))
    assert f"{LIMIT} = " in repr(answer)
    assert "<p>" in answer._repr_html_()
