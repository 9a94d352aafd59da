"""Studies written in Python: a scenario, the values of some of its keys, and seeds."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from conftest import ROOT, SMALL
from goodqueue import RequestError, ScenarioError, Study
from goodqueue.study.plan import stored_plan

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue._core import Ack, Connection

QUICK = SMALL.replace('"20s"', '"2s"')
LIMIT, JITTER = "topology.bottleneck.queue.limit", "flow.upload.start_jitter"
RATE = "topology.bottleneck.rate"
SWEEP = {LIMIT: ["5p", "10p"], JITTER: "500ms", RATE: ["1Mbps", "2Mbps"]}

pytestmark = pytest.mark.usefixtures("own_cache")


class Timid:
    """A congestion control with a window of two segments."""

    def __init__(self, connection: Connection) -> None:
        self.window_bytes = 2.0 * connection.mss_bytes

    def on_ack(self, ack: Ack) -> None:
        """Leaves the window as it is."""


def points(study: Study) -> list[dict[str, Any]]:
    return [dict(variant.parameters) for variant in study.plan.variants]


def test_a_scenario_is_a_path_a_text_or_a_mapping(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(QUICK)
    studies = [
        Study(source, sweep=SWEEP, seeds=3)
        for source in (file, str(file), QUICK, tomllib.loads(QUICK))
    ]
    first, *others = ([one.digest for one in study.plan.variants] for study in studies)
    assert len(set(first)) == 4
    assert all(other == first for other in others)
    assert all(list(study.plan.seeds) == [1, 2, 3] for study in studies)
    assert all(study.plan.title == "One flow, one ping" for study in studies)


def test_it_is_the_study_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(QUICK)
    (tmp_path / "study.toml").write_text(
        'schema_version = 1\ntitle = "S"\nscenario = "small.toml"\nseeds = [3, 7]\n[sweep]\n'
        f'{LIMIT} = ["5p", "10p"]\n{JITTER} = "500ms"\n{RATE} = ["1Mbps", "2Mbps"]\n'
    )
    written = Study(tmp_path / "study.toml").plan
    ours = Study(QUICK, sweep=SWEEP, seeds=[3, 7]).plan
    assert [one.digest for one in ours.variants] == [one.digest for one in written.variants]
    assert [one.parameters for one in ours.variants] == [one.parameters for one in written.variants]
    assert (ours.axes, list(ours.seeds)) == (written.axes, list(written.seeds))


def test_the_first_axis_varies_slowest_whatever_its_table() -> None:
    study = Study(QUICK, sweep=SWEEP)
    assert study.plan.axes == (f"{LIMIT}_packets", f"{JITTER}_s", f"{RATE}_bps")
    assert [point[f"{LIMIT}_packets"] for point in points(study)] == [5, 5, 10, 10]


@pytest.mark.parametrize(
    "counts",
    [
        range(1, 4),
        (1, 2, 3),
        np.arange(1, 4),
        pl.Series([1, 2, 3]),
        (count for count in (1, 2, 3)),
        {"from": 1, "to": 3, "step": 1},
    ],
    ids=lambda values: type(values).__name__,
)
def test_values_are_any_sequence_or_a_range(counts: object) -> None:
    study = Study(QUICK, sweep={"flow.upload.count": counts})
    assert [point["flow.upload.count"] for point in points(study)] == [1, 2, 3]


def test_keys_change_together_and_points_are_left_out() -> None:
    zipped = {"zip": [{LIMIT: ["5p", "10p"], RATE: ["1Mbps", "2Mbps"]}]}
    found = points(Study(QUICK, sweep=zipped))
    assert [(one[f"{LIMIT}_packets"], one[f"{RATE}_bps"]) for one in found] == [
        (5, 1_000_000),
        (10, 2_000_000),
    ]
    left = Study(QUICK, sweep={**SWEEP, "exclude": [{LIMIT: "5p", RATE: {"above": "1Mbps"}}]})
    assert len(points(left)) == 3


def test_a_class_is_a_value_of_an_axis() -> None:
    control = "flow.upload.tcp.congestion_control"
    study = Study(QUICK, sweep={control: ["cubic", Timid]}, seeds=2)
    assert [point[control] for point in points(study)] == ["cubic", "Timid"]
    means = study.run().means("upload.goodput_bps")
    plain, timid = means["mean"].to_list()
    assert timid < plain


def test_seeds_alone_are_a_study(tmp_path: Path) -> None:
    results = Study(QUICK, seeds=4, set={JITTER: "500ms"}).run(tmp_path / "runs")
    assert results.means("bottleneck.utilization")["count"].to_list() == [4]


def test_runs_are_kept_in_the_cache_without_a_folder() -> None:
    first = Study(QUICK, sweep={LIMIT: ["5p"]}, seeds=2).run()
    again = Study(QUICK, sweep={LIMIT: ["5p"]}, seeds=2).run()
    assert again.folder == first.folder
    assert again.wide()["wall_s"].to_list() == first.wide()["wall_s"].to_list()
    other = Study(QUICK, sweep={LIMIT: ["6p"]}, seeds=2).run()
    assert other.folder != first.folder


def test_a_file_beside_the_scenario_is_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scenario names a file of sizes with a path that begins at its own folder."""
    monkeypatch.chdir(ROOT)
    study = Study("scenarios/web-search.toml", sweep={"duration": ["3s", "4s"], "warmup": "1s"})
    monkeypatch.chdir(tmp_path)
    assert len(stored(study, tmp_path).variants) == 2


def stored(study: Study, folder: Path) -> Any:  # noqa: ANN401 - a plan
    file = folder / "study.toml"
    file.write_text(study.plan.text)
    return stored_plan(file)


def test_the_stored_study_gives_the_same_runs(tmp_path: Path) -> None:
    study = Study(QUICK, sweep={**SWEEP, "flow.upload.count": [1, 2]}, seeds=[3, 9])
    again = stored(study, tmp_path)
    assert [one.digest for one in again.variants] == [one.digest for one in study.plan.variants]
    assert list(again.seeds) == [3, 9]


def test_a_mistake_in_a_value_names_its_key() -> None:
    with pytest.raises(ScenarioError, match=r"queue.limit: \"x\" is not a unit") as refused:
        Study(QUICK, sweep={LIMIT: ["5p", "10x"]})
    assert refused.value.key == LIMIT


def test_a_key_that_does_not_exist_has_its_nearest() -> None:
    with pytest.raises(ScenarioError, match=r"did you mean.*limit"):
        Study(QUICK, sweep={"topology.bottleneck.queue.limits": ["5p"]})


@pytest.mark.parametrize(
    ("sweep", "seeds", "message"),
    [
        ({LIMIT: {"5p", "10p"}}, 2, "a set has no order"),
        ([LIMIT], 2, "sweep is a mapping"),
    ],
)
def test_what_is_no_sweep_is_refused(sweep: Any, seeds: int | None, message: str) -> None:  # noqa: ANN401
    with pytest.raises((RequestError, TypeError), match=message):
        Study(QUICK, sweep=sweep, seeds=seeds)


def test_a_study_has_its_own_sweep() -> None:
    text = f'schema_version = 1\ntitle = "S"\nseeds = 2\n[sweep]\n{LIMIT} = ["5p"]\n[scenario]\n'
    study = text + re.sub(r"(?m)^\[", "[scenario.", QUICK.replace("[[flow]]", "[[scenario.flow]]"))
    study = study.replace("[scenario.[scenario.flow]]", "[[scenario.flow]]")
    assert len(Study(study).plan.variants) == 1
    with pytest.raises(RequestError, match="is a study, which has its own sweep and seeds"):
        Study(study, seeds=3)
