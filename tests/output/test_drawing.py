"""The formats of pictures, and captions in the image or beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from matplotlib.image import imread

import goodqueue as package
from conftest import SMALL, goodqueue, refused
from goodqueue.core.drawing import drawing_of
from goodqueue.errors import RequestError
from goodqueue.output.page import figure
from goodqueue.plots.runs import pictures

if TYPE_CHECKING:
    from pathlib import Path

STUDY = """\
schema_version = 1
scenario = "small.toml"
seeds = 2

[sweep]
topology.bottleneck.queue.limit = ["5p", "20p"]

[[plot]]
name = "loss"
x = "topology.bottleneck.queue.limit_packets"
y = "bottleneck.loss_rate"
"""


def test_a_run_is_drawn_in_the_requested_formats(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = goodqueue("run", small, "--out", out, "--format", "svg,pdf")
    assert done.returncode == 0, done.stderr
    made = {path.name for path in out.iterdir() if path.suffix in {".png", ".svg", ".pdf"}}
    names = ("rtt", "throughput", "backlog", "cwnd", "delay-cdf")
    assert made == {f"{name}.{ending}" for name in names for ending in ("svg", "pdf")}
    assert (out / "rtt.pdf").read_bytes().startswith(b"%PDF")
    assert "<svg" in (out / "rtt.svg").read_text()
    assert f"{out}/rtt.svg" in done.stdout.split("pictures: ")[1].splitlines()[0]
    # A directory with such pictures is a result, which a later run may replace.
    assert goodqueue("run", small, "--out", out).returncode == 0
    assert not (out / "rtt.svg").exists()


def test_a_caption_left_out_of_the_image_is_in_captions_txt(small: Path, tmp_path: Path) -> None:
    heights = {}
    for flag in ("--caption", "--no-caption"):
        out = tmp_path / flag
        assert goodqueue("run", small, "--out", out, flag).returncode == 0
        heights[flag] = imread(out / "backlog.png").shape[0]
        assert "backlog.png: Packets waiting at bottleneck" in (out / "captions.txt").read_text()
    assert heights["--no-caption"] < heights["--caption"] - 30


def test_a_study_is_drawn_in_the_requested_formats(small: Path, tmp_path: Path) -> None:
    study = small.with_name("study.toml")
    study.write_text(STUDY)
    out = tmp_path / "runs"
    done = goodqueue("sweep", study, "--out", out, "--format", "svg", "--no-caption")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in out.glob("loss.*")} == {"loss.svg"}
    assert "loss" in (out / "captions.txt").read_text()
    assert goodqueue("sweep", study, "--out", out).returncode == 0
    assert {path.suffix for path in out.glob("loss.*")} == {".png", ".svg", ".pdf"}


def test_size_and_compare_are_drawn_in_the_requested_formats(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "size"
    link = ("--rate", "10Mbps", "--rtt", "40ms", "--flows", "1", "--replicates", 3)
    flags = ("--format", "svg", "--no-caption", "--store", tmp_path / "store")
    done = goodqueue("size", *link, "--out", out, *flags, timeout=120)
    assert done.returncode in {0, 3, 6}, done.stderr
    assert {path.name for path in out.glob("*.svg")} == {"curve.svg", "pareto.svg"}
    out = tmp_path / "compare"
    sides = ("--variant", "", "--variant", "topology.bottleneck.queue.limit=5p")
    done = goodqueue("compare", small, *sides, "--replicates", 2, "--out", out, *flags)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in out.glob("*.svg")} == {"rtt.svg", "throughput.svg", "backlog.svg"}


def test_a_page_has_its_captions_once() -> None:
    (delay,) = pictures(package.run(SMALL), "bottleneck")
    assert figure(delay).count("<figcaption>") == 1
    assert delay.figure(50, caption=False).texts[0].get_text() == ""
    assert delay.figure(50).texts[0].get_text().startswith("Distribution function")


def test_formats_that_cannot_be_drawn_are_refused(small: Path, tmp_path: Path) -> None:
    assert "png, svg, pdf" in refused(
        goodqueue("run", small, "--out", tmp_path / "out", "--format", "svg,gif")
    )
    assert not (tmp_path / "out").exists()
    for flag in (("--format", "svg"), ("--no-caption",)):
        assert re.search(r"--out DIR", refused(goodqueue("run", small, *flag)))
    with pytest.raises(RequestError, match="unknown format ''"):
        drawing_of("png,", caption=True, usual=("png",))
