"""`goodqueue compare`: settings side by side, under common seeds."""

from __future__ import annotations

import json
import math
import re
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conftest import SMALL, goodqueue, refused
from goodqueue.core.intervals import Interval
from goodqueue.plots.compare import time_means
from goodqueue.study.compare import Figure, difference, finding, split_settings

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = "topology.bottleneck.queue.limit"
JITTER = ("--set", "flow.upload.start_jitter=1s", "--set", "flow.probe.start_jitter=1s")
STUDENT_OF_FOUR = 3.182  # two-sided 95 % quantile, 3 degrees of freedom, from printed tables
ROUNDING = 1 / 64  # rounding of quantiles: docs/results.md
FRAME_S = 583 * 8 / 1e6  # 536 bytes, 40 of headers and 7 of framing at 1 Mb/s


@pytest.fixture
def store(tmp_path: Path) -> list[str]:
    return ["--store", str(tmp_path / "store")]


def compared(*arguments: object) -> dict[str, Any]:
    done = goodqueue("compare", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_setting_may_hold_commas() -> None:
    assert split_settings('a.b=1,queue={ kind = "red", limit = "50p" },c=[1,2],d="x,y"') == [
        ("a.b", "1"),
        ("queue", '{ kind = "red", limit = "50p" }'),
        ("c", "[1,2]"),
        ("d", '"x,y"'),
    ]
    assert split_settings("") == []


@pytest.mark.parametrize(
    ("interval", "word"),
    [
        (Interval(2.0, 1.0), "higher"),
        (Interval(-2.0, 1.0), "lower"),
        (Interval(2.0, 2.5), "no difference shown"),
        (Interval(0.0, 0.0), "no difference shown"),
        (Interval(5.0, math.inf), "no difference shown"),
    ],
)
def test_a_difference_is_found_if_its_interval_excludes_zero(interval: Interval, word: str) -> None:
    assert finding(interval) == word


def test_a_smaller_buffer_delays_less_and_the_intervals_are_students(
    small: Path, store: list[str]
) -> None:
    variants = ("--variant", f"{LIMIT}=20p", "--variant", f"{LIMIT}=5p")
    found = compared(small, *JITTER, *variants, "--replicates", 4, *store)
    assert found["seeds"] == [1, 2, 3, 4]
    first, second = found["sides"]
    assert (first["name"], second["name"]) == ("limit=20p", "limit=5p")
    key = "p99_queueing_delay_s"
    # No packet waits longer than the frames before it and the one in transmission take.
    assert all(value <= 6 * FRAME_S for value in second["figures"][key]["values"])
    assert all(value > 6 * FRAME_S for value in first["figures"][key]["values"])
    for side in (first, second):
        check_interval(side["figures"]["upload.goodput_bps"], 0.0)
        check_interval(side["figures"][key], ROUNDING * fmean(side["figures"][key]["values"]))
    (difference,) = found["differences"]
    assert (difference["name"], difference["against"]) == ("limit=5p", "limit=20p")
    one = difference["figures"][key]
    pairs = zip(second["figures"][key]["values"], first["figures"][key]["values"], strict=True)
    assert one["values"] == pytest.approx([own - other for own, other in pairs])
    both = sum(fmean(side["figures"][key]["values"]) for side in (first, second))
    check_interval(one, ROUNDING * both)
    assert one["finding"] == "lower"
    assert difference["figures"]["probe.p50_rtt_s"]["finding"] == "lower"
    assert "upload.goodput_bps" in difference["figures"]


def check_interval(figure: dict[str, Any], slack: float) -> None:
    values = figure["values"]
    half = STUDENT_OF_FOUR * stdev(values) / math.sqrt(len(values)) + slack
    assert figure["mean"] == pytest.approx(fmean(values))
    assert figure["low"] == pytest.approx(fmean(values) - half, rel=1e-3, abs=1e-9)
    assert figure["high"] == pytest.approx(fmean(values) + half, rel=1e-3, abs=1e-9)


def test_quantiles_of_neighbouring_bins_do_not_differ() -> None:
    """A bin is 1/32 of an octave wide, so nearly equal values may lie in two bins."""
    lower, upper = [0.0640] * 5, [0.0660] * 5
    quantile = Figure("p99_queueing_delay_s", "queueing delay, p99", "s")
    one = difference(quantile, upper, lower)
    assert one is not None
    assert finding(one.interval) == "no difference shown"
    mean = Figure("mean_queueing_delay_s", "mean queueing delay", "s")
    other = difference(mean, upper, lower)
    assert other is not None
    assert finding(other.interval) == "higher"


def test_a_seed_without_a_figure_is_left_out() -> None:
    figure = Figure("jain_index", "Jain's index", "")
    one = difference(figure, [0.5, math.nan, 0.75], [0.25, 0.5, 0.5])
    assert one is not None
    assert one.values == (0.25, 0.25)
    assert difference(figure, [math.nan], [1.0]) is None


def test_means_over_time_weight_each_value_by_its_duration() -> None:
    times, means = time_means(np.array([1.0, 2.0, 5.0]), np.array([4, 1, 0]), 6.0, 2)
    assert times == [3.0, 6.0]
    # From 0 to 3 s: 0 for 1 s, 4 for 1 s, 1 for 1 s. From 3 to 6 s: 1 for 2 s, 0 for 1 s.
    assert means == pytest.approx([5 / 3, 2 / 3])


def test_files_with_the_same_contents_show_no_difference(
    small: Path, tmp_path: Path, store: list[str]
) -> None:
    other = tmp_path / "other.toml"
    other.write_text(SMALL.replace("One flow", "Another title"))
    found = compared(small, other, *JITTER, "--replicates", 3, *store)
    assert [side["name"] for side in found["sides"]] == ["small", "other"]
    (difference,) = found["differences"]
    assert {one["finding"] for one in difference["figures"].values()} == {"no difference shown"}
    assert {one["mean"] for one in difference["figures"].values()} == {0.0}


def test_tables_name_every_side_and_the_differences(small: Path, store: list[str]) -> None:
    variants = ("--variant", "", "--variant", f"{LIMIT}=5p")
    done = goodqueue("compare", small, *JITTER, *variants, "--replicates", 3, *store)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^figure +as written +limit=5p", done.stdout, re.MULTILINE)
    assert re.search(r"^utilisation +[\d.]+ ± [\d.e-]+ % ", done.stdout, re.MULTILINE)
    assert re.search(
        r"^queueing delay, p99 +-[\d.]+ ± [\d.e-]+ ms +lower *$", done.stdout, re.MULTILINE
    )


def test_a_side_that_no_seed_changes_is_reported(small: Path, store: list[str]) -> None:
    variants = ("--variant", "", "--variant", f"{LIMIT}=5p")
    done = goodqueue("compare", small, *variants, "--replicates", 3, *store)
    assert done.returncode == 0, done.stderr
    assert "figures are the same with every seed" in done.stdout


def test_pictures_overlay_the_first_seed(small: Path, tmp_path: Path, store: list[str]) -> None:
    out = tmp_path / "out"
    arguments = ("--variant", "", "--variant", f"{LIMIT}=5p", "--replicates", 2, "--out", out)
    done = goodqueue("compare", small, *JITTER, *arguments, *store)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in out.iterdir()} == {
        *("backlog.png", "rtt.png", "throughput.png", "captions.txt"),
        *(".goodqueue", "summary.json", "scenario-1.toml", "scenario-2.toml"),
    }
    captions = (out / "captions.txt").read_text()
    assert captions.count("seed 1") == 3
    assert "probe" in captions
    again = goodqueue("compare", small, *JITTER, *arguments, *store)
    assert again.returncode == 0, again.stderr


def test_the_report_begins_with_what_differs_and_has_every_figure(
    small: Path, tmp_path: Path, store: list[str]
) -> None:
    page = tmp_path / "page.html"
    variants = ("--variant", "", "--variant", f"{LIMIT}=5p", "--variant", f"{LIMIT}=20p")
    arguments = (*JITTER, *variants, "--replicates", 3, "--report", page, *store)
    done = goodqueue("compare", small, *arguments)
    assert done.returncode == 0, done.stderr
    assert str(page) in done.stdout + done.stderr
    text = page.read_text(encoding="utf-8")
    found = compared(small, *JITTER, *variants, "--replicates", 3, *store)
    differ = {
        key
        for side in found["differences"]
        for key, one in side["figures"].items()
        if one["finding"] != "no difference shown"
    }
    assert f"<b>{len(differ)} of " in text
    for name in ("limit=5p", "limit=20p"):
        assert f"With {name}, " in text
        assert f"<h2>{name} minus as written, seed by seed</h2>" in text
    assert text.index("<b>") < text.index("<img") < text.index("<table>")
    assert text.count("<img") == 3
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", text)


def test_a_report_never_replaces_a_file_of_someone_else(
    small: Path, tmp_path: Path, store: list[str]
) -> None:
    mine = tmp_path / "notes.html"
    mine.write_text("my notes")
    variants = ("--variant", "", "--variant", f"{LIMIT}=5p")
    done = goodqueue("compare", small, *variants, "--report", mine, *store)
    assert "is not a page of goodqueue" in refused(done)
    assert mine.read_text() == "my notes"


def test_scenarios_that_cannot_be_compared_are_refused(
    small: Path, tmp_path: Path, store: list[str]
) -> None:
    assert "--variant" in refused(goodqueue("compare", small, *store))
    one = refused(goodqueue("compare", small, "--variant", f"{LIMIT}=5p", *store))
    assert "--variant ''" in one
    twice = ("--variant", f"{LIMIT}=5p", "--variant", f"{LIMIT}=5p")
    assert "twice" in refused(goodqueue("compare", small, *twice, *store))
    assert "one file" in refused(goodqueue("compare", small, small, *twice, *store))
    missing = goodqueue("compare", small, tmp_path / "none.toml", *store)
    assert "none.toml" in refused(missing)
    wrong = ("--variant", "", "--variant", "topology.bottleneck.queue.limt=5p")
    assert "limt" in refused(goodqueue("compare", small, *wrong, *store))
    malformed = ("--variant", "", "--variant", "limit")
    assert "key=value" in refused(goodqueue("compare", small, *malformed, *store))
    assert not (tmp_path / "store").exists()
