"""`goodqueue characterize`: its output, its files, and its refusals."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import goodqueue
from goodqueue.cli import run_command

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ("--section", "5.1.1,8.2.5", "--seeds", "2")


def test_json_has_every_figure_with_its_interval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["characterize", "pie", *QUICK, "--store", str(tmp_path), "--json"]
    assert run_command(command) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["subject"] == "pie"
    assert printed["document"] == "RFC 7928"
    assert printed["seeds"] == [1, 2]
    assert [one["case"] for one in printed["sections"]] == [
        *("", "mild", "mild to medium", "medium to heavy", "heavy to mild"),
    ]
    for section in printed["sections"]:
        assert section["not_run"] is None
        assert len(section["ellipse"]["points"]) == 2
        for figure in section["figures"]:
            assert figure["own"]["low"] <= figure["own"]["mean"] <= figure["own"]["high"]
            assert figure["finding"]
    assert any("pseudocode" in part["why"] for part in printed["not_run"])


def test_the_directory_has_a_page_a_picture_and_scenarios_that_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["characterize", "codel", *QUICK, "--store", str(tmp_path / "s"), "--out", str(out)]
    for _ in range(2):  # the second call replaces the directory
        assert run_command(command) == 0
    printed = capsys.readouterr().out
    assert "5.1.1 TCP-friendly sender" in printed
    assert "not run: 11" in printed
    names = {path.name for path in out.iterdir()}
    assert names == {
        ".goodqueue",
        *("captions.txt", "ellipses.png", "report.html", "summary.json"),
        *(f"scenario-{place}.toml" for place in range(1, 6)),
    }
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "RFC 7928 asks" in page
    assert "<h2>Not run</h2>" in page
    [better] = re.findall("<b>([0-9,]+) of [0-9,]+</b> figures are better with codel", page)
    assert f": {better} figures are better, " in printed
    result = goodqueue.run(out / "scenario-1.toml", seed=1)
    figures = json.loads((out / "summary.json").read_text(encoding="utf-8"))["sections"][0]
    first = figures["figures"][0]
    assert first["metric"] == "bottleneck.utilization"
    assert result.summary["links"]["bottleneck"]["utilization"] == first["own"]["values"][0]


@pytest.mark.parametrize(
    ("control", "code", "counts"),
    [
        ("cubic", 0, {"inside": 3, "outside": 0, "not shown": 0}),
        ("bbr", 3, {"inside": 1, "outside": 2, "not shown": 0}),
    ],
)
def test_the_exit_code_says_if_a_control_is_inside_its_bands(
    control: str,
    code: int,
    counts: dict[str, int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two flows of BBR take most of a link from CUBIC behind buffers up to one BDP."""
    store, out = str(tmp_path / "s"), str(tmp_path / "out")
    command = ["characterize", "--control", control, "--section", "5.2.1", "--seeds", "5"]
    command += ["--store", store, "--against", "none"]
    assert run_command([*command, "--json"]) == code
    printed = json.loads(capsys.readouterr().out)
    assert printed["bands"] == counts
    bands = [one["band"] for section in printed["sections"] for one in section["figures"]]
    [band, *_] = [one for one in bands if one is not None]
    assert (band["least"], band["most"]) == (0.5, 2.0)
    assert "RFC 5348" in band["source"]
    assert run_command([*command, "--out", out]) == code
    assert f"{counts['inside']} figures inside" in capsys.readouterr().out
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "RFC 5348" in page
    assert f"<b>{counts['inside']} of 3</b> figures of {control} are in their bands" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name one queue"),
        (["codel", "--control", "cubic"], "name one queue"),
        (["codel", "--stack", "quinn"], "--stack needs --control"),
        (["--control", "bbr", "--stack", "./no-program"], "./no-program is no program"),
        (["--control", "bbr", "--stack", "quinn", "--cluster", "tcp://localhost:1"], "omit"),
        (["codel", "--quick", "--seeds", "3"], "--quick has two seeds"),
        (["codel", "--section", "99"], "--section 99 is unknown"),
        (["codell"], "codell"),
        (["{ kind = 'codel', taget = '5ms' }"], 'did you mean "target"?'),
        (["codel", "--jobs", "2", "--cluster", "tcp://localhost:1"], "omit one of them"),
    ],
)
def test_a_wrong_request_gets_one_message(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["characterize", *arguments]) == 2
    assert message in capsys.readouterr().err
