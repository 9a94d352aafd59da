"""Reports of studies: the best variant, its intervals, and links of all variants into the lab."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import pytest

from conftest import ROOT, SMALL
from goodqueue import _core
from goodqueue.cli import run_command
from goodqueue.output import play
from goodqueue.output.terminal import quantity
from goodqueue.study.results import Results

if TYPE_CHECKING:
    from pathlib import Path

STUDY = """\
schema_version = 1
title = "Buffers <small> & large"
scenario = "small.toml"
seeds = 3

[sweep]
topology.bottleneck.queue.limit = ["2p", "20p", "40p"]

[[plot]]
name = "busy"
x = "limit"
y = "bottleneck.utilization"
"""
BUSY = "bottleneck.utilization"
DELAY = "bottleneck.p99_queueing_delay_s"
LIMIT = "topology.bottleneck.queue.limit_packets"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Returns the folder of a study, and the page that the sweep wrote."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "small.toml").write_text(SMALL)
    (folder / "study.toml").write_text(STUDY)
    runs, report = folder / "runs", folder / "study.html"
    command = ["sweep", str(folder / "study.toml"), "--out", str(runs), "--report", str(report)]
    assert run_command(command) == 0
    return runs, report.read_text("utf-8")


def plain(html: str) -> str:
    """Returns the text of HTML."""
    return unescape(re.sub("<[^>]*>", "", html))


def traded(runs: Path) -> tuple[dict[str, Any], int]:
    """Returns the means of the best trade-off, by their metrics, and the number of ties.

    The ties are the variants whose utilisation is within 1 % of the highest. The trade-off is the
    one of them with the shortest delay.
    """
    by_limit: dict[int, dict[str, Any]] = {}
    for row in Results(runs).means(BUSY, DELAY).iter_rows(named=True):
        by_limit.setdefault(row[LIMIT], {})[row["metric"]] = row
    most = max(one[BUSY]["mean"] for one in by_limit.values())
    ties = [one for one in by_limit.values() if one[BUSY]["mean"] >= 0.99 * most]
    return min(ties, key=lambda one: one[DELAY]["mean"]), len(ties)


def test_the_large_number_is_the_best_trade_off(swept: tuple[Path, str]) -> None:
    """Its utilisation is as high as any, its delay the shortest; the sentence names the variant."""
    runs, page = swept
    best, _ = traded(runs)
    [number] = re.findall('<p class="number"><b>(.*?)</b>', page)
    [sentence] = re.findall('<p class="buys">(.*?)</p>', page)
    assert number == quantity(BUSY, best[BUSY]["mean"])
    assert f"with limit {best[BUSY][LIMIT]:g} packets." in sentence


def test_variants_that_tie_are_told_apart_by_their_delay(tmp_path: Path) -> None:
    """All of these buffers keep the link busy, so the headline is not the largest of them."""
    (tmp_path / "small.toml").write_text(SMALL.replace('"100kB"', '"1MB"'))
    limits = '["20p", "25p", "30p", "40p"]\nflow.upload.start_jitter = "2s"'
    text = STUDY.replace('["2p", "20p", "40p"]', limits).replace("<small> & ", "")
    (tmp_path / "study.toml").write_text(text)
    report = tmp_path / "page.html"
    command = ["sweep", str(tmp_path / "study.toml"), "--out", str(tmp_path / "runs")]
    assert run_command([*command, "--report", str(report)]) == 0
    best, ties = traded(tmp_path / "runs")
    assert ties == 4
    assert best[BUSY][LIMIT] == 20
    means = Results(tmp_path / "runs").means(BUSY)
    assert means["mean"].arg_max() != 0
    [line] = re.findall('<p class="number">(.*?)</p>', report.read_text("utf-8"))
    [sentence] = re.findall('<p class="buys">(.*?)</p>', report.read_text("utf-8"))
    assert quantity(DELAY, best[DELAY]["mean"]) in plain(line)
    assert "with limit 20 packets, start jitter" in sentence
    assert "3 other variants are within 1 %" in sentence
    assert "with limit 40 packets" in sentence


def test_the_price_of_a_clear_winner_is_named(tmp_path: Path) -> None:
    """A longer queue fills the link more, and the sentence has the delay of both ends."""
    (tmp_path / "small.toml").write_text(SMALL)
    text = STUDY.replace('["2p", "20p", "40p"]', '["1p", "20p"]').replace("<small> & ", "")
    (tmp_path / "study.toml").write_text(text)
    report = tmp_path / "page.html"
    command = ["sweep", str(tmp_path / "study.toml"), "--out", str(tmp_path / "runs")]
    assert run_command([*command, "--report", str(report)]) == 0
    [sentence] = re.findall('<p class="buys">(.*?)</p>', report.read_text("utf-8"))
    best, ties = traded(tmp_path / "runs")
    assert ties == 1
    assert best[BUSY][LIMIT] == 20
    assert re.search(r"lowest p99 queueing delay is [\d.]+ ms with limit 1 packets", sentence)


def test_a_variant_whose_interval_overlaps_the_best_is_counted(swept: tuple[Path, str]) -> None:
    """The sentence counts the means that may be as good."""
    runs, page = swept
    best, *others = sorted(
        Results(runs).means(BUSY).iter_rows(named=True), key=lambda row: -row["mean"]
    )
    near = sum(row["high"] >= best["low"] for row in others)
    [sentence] = re.findall('<p class="buys">(.*?)</p>', page)
    said = re.search(r"intervals of (\d+) other", sentence)
    assert (int(said[1]) if said else 0) == near


def test_tiles_have_the_interval_of_each_figure(swept: tuple[Path, str]) -> None:
    """Three tiles: utilisation, loss and delay, each with both ends of its interval."""
    runs, page = swept
    tiles = re.findall('<div class="tile">(.*?)</div>', page)
    means = Results(runs).means(BUSY)
    best = max(means.iter_rows(named=True), key=lambda row: row["mean"])
    ends = " to ".join(quantity(BUSY, best[end]) for end in ("low", "high"))
    assert len(tiles) == 3
    assert f"95 % interval {ends}" in plain(tiles[0])


def test_each_row_opens_its_own_scenario_in_the_lab(swept: tuple[Path, str]) -> None:
    """The settings of a row are a scenario with the buffer of that row."""
    _, page = swept
    table = page[page.index("All variants") :]
    links = re.findall(r'<td>([^<]*)</td>(?:(?!</tr>).)*class="play"[^>]*href="#([^"]*)"', table)
    assert [row for row, _ in links] == ["2 packets", "20 packets", "40 packets"]
    for row, settings in links:
        [text] = parse_qs(unescape(settings))["file"]
        scenario = _core.Scenario.parse(text.encode(), "row", [])
        limit = f'limit = "{row.removesuffix(" packets")}p"'
        assert limit in scenario.resolved_toml()


def test_a_title_is_text(swept: tuple[Path, str]) -> None:
    """Characters of markup in a title are escaped."""
    assert "<h1>Buffers &lt;small&gt; &amp; large</h1>" in swept[1]


def test_results_write_the_page_of_selected_runs(swept: tuple[Path, str], tmp_path: Path) -> None:
    """`--where` selects the variants of the page, and `--metric` its figures."""
    report = tmp_path / "some.html"
    loss = "bottleneck.loss_rate"
    command = ["results", str(swept[0]), "--report", str(report), "--where", "limit=20p"]
    assert run_command([*command, "--metric", loss]) == 0
    page = report.read_text("utf-8")
    assert "20 packets" in page
    assert "40 packets" not in page[page.index("All variants") :]
    assert len(re.findall('<div class="tile">', page)) == 1


def test_a_page_in_the_folder_of_runs_is_refused(
    swept: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder holds only what the study wrote."""
    inside = swept[0] / "page.html"
    assert run_command(["results", str(swept[0]), "--report", str(inside)]) == 2
    assert "name a file elsewhere" in capsys.readouterr().err
    assert not inside.exists()


def test_a_scenario_that_names_a_file_has_no_settings() -> None:
    """The lab would not find a file beside a page."""
    path = ROOT / "scenarios/web-search.toml"
    small = _core.Scenario.parse(SMALL.encode(), "small", [])
    named = _core.Scenario.parse(path.read_bytes(), str(path), [])
    assert play.settings(small) is not None
    assert play.settings(named) is None
    assert not play.link(None, "cell")


def test_a_scenario_that_the_lab_cannot_run_has_no_settings() -> None:
    """The lab runs at most five million packets; windows of 100 kB send more in 1200 s."""
    rates = [("topology.bottleneck.rate", "1Gbps"), ("topology.access.rate", "1Gbps")]
    changes = [*rates, ("duration", "1200s")]
    large = _core.Scenario.parse(SMALL.encode(), "small", changes)
    assert play.settings(large) is None


def test_a_picture_that_cannot_be_drawn_is_named_beside_the_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Standard output stays one JSON document; the message is on standard error."""
    (tmp_path / "small.toml").write_text(SMALL)
    each = "".join(
        f'\n[[plot]]\nname = "{limit}"\nx = "limit"\ny = "{BUSY}"\n'
        f'where = {{ limit = "{limit}" }}\n'
        for limit in ("2p", "20p", "40p")
    )
    (tmp_path / "study.toml").write_text(STUDY + each)
    runs, report = tmp_path / "runs", tmp_path / "study.html"
    sweep = ["sweep", str(tmp_path / "study.toml"), "--out", str(runs), "--json"]
    assert run_command(sweep) == 0
    capsys.readouterr()
    only = ["results", str(runs), "--where", "limit=2p", "--report", str(report), "--json"]
    assert run_command(only) == 0
    printed = capsys.readouterr()
    json.loads(printed.out)
    assert "left out of the report: " in printed.err
    assert "no run has finished" in printed.err


def test_a_folder_without_runs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of four parts of three runs has none."""
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "study.toml").write_text(STUDY.replace("seeds = 3", "seeds = 1"))
    for part in range(1, 5):
        runs = tmp_path / f"part-{part}"
        run_command(["sweep", str(tmp_path / "study.toml"), f"--shard={part}/4", f"--out={runs}"])
        if not len(Results(runs)):
            break
    capsys.readouterr()
    assert run_command(["results", str(runs)]) == 0
    assert "0 runs" in capsys.readouterr().out
    for option in ("--report=page.html", "--draw=page.svg"):
        assert run_command(["results", str(runs), option]) == 2
        assert "no run" in capsys.readouterr().err
