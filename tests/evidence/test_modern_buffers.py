"""The study of modern traffic: its links, its runs, and its page, which agrees with its data."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from evidence.modern_buffers import page, study, trial
from goodqueue._core import results_version
from goodqueue.core.intervals import t_interval
from goodqueue.runs.settings import scenario_of

if TYPE_CHECKING:
    from pathlib import Path


def test_links_are_a_function_of_their_number() -> None:
    drawn = [trial.link(index) for index in range(70)]
    assert drawn == [trial.link(index) for index in range(70)]
    words = {link.control_words for link in drawn if link is not None}
    assert words == {control.partition(" ")[0] for control in trial.CONTROLS}
    assert all(link.window_packets >= 0.9 * 8 or link.flows <= 2 for link in drawn if link)


def test_a_threshold_is_run_as_a_threshold_and_a_limit_as_a_limit() -> None:
    link = next(one for one in map(trial.link, range(4, 70, 7)) if one is not None)
    rules = {rule.name: rule for rule, _ in trial.rules_of(link)}
    assert {"l4s_step", "dctcp_threshold"} <= set(rules)
    assert trial.queue_of(link, rules["l4s_step"], 9)["threshold"] == "9p"
    assert trial.queue_of(link, rules["bdp"], 9)["limit"] == "9p"


@pytest.mark.parametrize("place", study.PLACES, ids=lambda place: place.name)
@pytest.mark.parametrize("mix", study.MIXES, ids=lambda mix: mix.name)
def test_every_link_has_all_its_long_flows(place: study.Place, mix: study.Mix) -> None:
    scenario = scenario_of(study.settings(place, mix, 100), "the link")
    flows = scenario.long_flows("bottleneck")
    assert len(flows) == place.flows
    paced = sum(flow["paced"] for flow in flows if flow["congestion_control"] == "cubic")
    share = dict(mix.shares).get("cubic", 0) * mix.paced
    assert abs(paced - share * place.flows) < 2


def test_a_study_continues_with_the_missing_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def one(_place: study.Place, _mix: study.Mix, packets: int, _seed: int) -> dict[str, float]:
        asked.append(packets)
        if len(asked) == 5:
            raise KeyboardInterrupt
        return {"utilization": 1.0}

    monkeypatch.setattr(study, "one", one)
    with pytest.raises(KeyboardInterrupt):
        study.run(1, tmp_path)
    study.run(1, tmp_path)
    total = len(study.PLACES) * len(study.MIXES) * len(study.FRACTIONS)
    assert len(study.documents(tmp_path)) == total
    assert len(asked) == total + 1


def test_runs_of_an_earlier_results_version_do_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = {"place": "old", "mix": "old", "fraction": 1.0, "seed": 1}
    (tmp_path / study.FILE).write_text(json.dumps(old) + "\n", encoding="utf-8")
    assert len(study.documents(tmp_path)) == 1, "until there are runs of a later version"
    monkeypatch.setattr(study, "one", lambda *_: {"utilization": 1.0})
    study.run(1, tmp_path)
    found = study.documents(tmp_path)
    assert all(one["results_version"] == results_version() for one in found)


def test_the_files_are_read_again_only_after_they_grow(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    times = []

    def documents() -> list[dict[str, object]]:
        times.append(1)
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

    place, mix = study.PLACES[0], study.MIXES[0]
    file = tmp_path / study.FILE
    monkeypatch.setattr(study, "DATA", tmp_path)
    monkeypatch.setattr(study, "documents", documents)
    for seeds in (1, 2):
        with file.open("a", encoding="utf-8") as lines:
            one = {"place": place.name, "mix": mix.name, "fraction": 0.5, "utilization": 1.0}
            lines.write(json.dumps(one) + "\n")
        assert [study.seeds_of(place, mix, fraction) for fraction in (0.25, 0.5)] == [0, seeds]
        assert len(times) == seeds


def test_the_needed_buffer_and_all_larger_ones_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = dict(zip(study.FRACTIONS, (0.5, 0.99, 0.97, 0.981, 0.99, 1, 1, 1, 1), strict=True))

    def interval(_place: object, _mix: object, fraction: float, _figure: str) -> object:
        return t_interval([busy[fraction] - 0.001, busy[fraction] + 0.001, busy[fraction]])

    monkeypatch.setattr(study, "interval", interval)
    place, mix = study.PLACES[0], study.MIXES[0]
    # The half width is 4.303 times 0.001 over the root of 3: 0.0025.
    assert page.needed(place, mix) == 0.06
    assert page.needed(place, mix, shown=True) == 0.12


def test_the_page_and_the_record_agree_with_the_data() -> None:
    text = (ROOT / page.PAGE).read_text(encoding="utf-8")
    judged = trial.judged()
    assert page.links_table() in text
    assert page.rules_table(judged) in text
    counts = {name: asdict(one) for name, one in trial.records(judged).items()}
    assert json.loads((ROOT / page.RECORD).read_text(encoding="utf-8")) == counts
