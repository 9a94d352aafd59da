"""A study that was changed after it had run: old runs stay, and are not mixed with new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from goodqueue import Results, Study
from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from pathlib import Path

STUDY = """\
schema_version = 1
scenario = "{file}"
seeds = 2

[sweep]
duration = "20s"
topology.bottleneck.queue.limit = ["10p", "20p"]
"""


def study(folder: Path, receive_window: str) -> Study:
    """Returns the study of a scenario in its folder, with this window."""
    scenario = (ROOT / "scenarios" / "bufferbloat.toml").read_text(encoding="utf-8")
    assert 'receive_window = "100kB"' in scenario
    file = folder / "base.toml"
    file.write_text(scenario.replace('"100kB"', f'"{receive_window}"'), encoding="utf-8")
    return Study(STUDY.format(file=file))


def test_means_leave_out_runs_of_an_earlier_scenario(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = study(tmp_path, "100kB").run(out).means("upload.goodput_bps")
    second = study(tmp_path, "2kB").run(out).means("upload.goodput_bps")
    assert first["count"].to_list() == second["count"].to_list() == [2, 2]
    assert first["mean"].min() > 2 * second["mean"].max()  # type: ignore[operator]
    # Both are in the folder, and nothing selects one of them.
    assert Results(out).wide().height == 8
    with pytest.raises(RequestError, match="two scenarios"):
        Results(out).means("upload.goodput_bps")
    again = study(tmp_path, "100kB").run(out).means("upload.goodput_bps")
    assert again.equals(first)


@pytest.mark.parametrize("axis", ["seed = [1, 2]", 'title = ["a", "b"]'])
def test_a_key_that_identifies_no_variant_is_not_an_axis(tmp_path: Path, axis: str) -> None:
    text = STUDY.format(file=ROOT / "scenarios" / "bufferbloat.toml")
    with pytest.raises(RequestError, match="cannot be an axis"):
        Study(text.replace('duration = "20s"', axis)).run(tmp_path / "out")


def test_a_metric_may_exist_in_one_variant_only(tmp_path: Path) -> None:
    text = STUDY.format(file=ROOT / "scenarios" / "bufferbloat.toml")
    text = text.replace(
        'topology.bottleneck.queue.limit = ["10p", "20p"]',
        """flow.ping.workload = [
    { label = "cbr", value = { kind = "cbr", rate = "10kbps" } },
    { label = "ping", value = { kind = "ping", interval = "100ms" } },
]
[stop]
width.ping.round_trips_per_minute = 1000.0
max_replicates = 5
""",
    ).replace("seeds = 2\n", "")
    rows = Study(text).run(tmp_path / "out").means("ping.round_trips_per_minute")
    assert rows.height == 1
