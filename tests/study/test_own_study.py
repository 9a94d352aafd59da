"""The files of docs/own-study.md train a control, and compare it and another one with CUBIC."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from conftest import goodqueue as command
from goodqueue.study.results import Results

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "own-study.md").read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with the files of the page; the runs of its study are shorter."""
    blocks = re.findall(r"^```(?:python|toml)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    names = ("controls.py", "learned.py", "train.py", "study.toml")
    for name, text in zip(names, blocks, strict=True):
        (tmp_path / name).write_text(text, "utf-8")
    study = tmp_path / "study.toml"
    text = study.read_text("utf-8").replace('"40s"', '"3s"').replace('"10s"', '"1s"')
    study.write_text(text.replace("seeds = 5", "seeds = 2"), "utf-8")
    return tmp_path


def python(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_training_ends_with_the_weights_of_the_page(folder: Path) -> None:
    pytest.importorskip("gymnasium", reason="run `make setup`: requirements.lock has it")
    words = re.search(r"`python (train\.py \d+)`", PAGE)
    weights = re.search(r"^    (WEIGHTS = .*)$", PAGE, re.MULTILINE)
    assert words is not None
    assert weights is not None
    printed = python(folder, *words[1].split())
    assert printed.splitlines()[-1] == weights[1]
    assert f"\n{weights[1]}\n" in (folder / "learned.py").read_text("utf-8")


def test_the_study_names_each_control_by_its_class_and_draws_both_pictures(folder: Path) -> None:
    check = re.search(r'`python -c "(.*)"`', PAGE)
    assert check is not None
    assert python(folder, "-c", check[1]).startswith("ControlReport(")
    words = re.search(r"^    goodqueue (sweep .*)$", PAGE, re.MULTILINE)
    assert words is not None
    done = command(*words[1].split(), cwd=folder)
    assert done.returncode == 0, done.stderr
    runs = Results(folder / "runs").wide()
    controls = runs["flow.mine.tcp.congestion_control"].unique(maintain_order=True).to_list()
    assert controls == ["cubic", "Aimd", "Learned"]
    queues = runs["topology.bottleneck.queue"].unique(maintain_order=True).to_list()
    assert queues == ["drop_tail of 1 BDP", "codel", "pie", "fq_codel", "fq_pie"]
    assert {"share.svg", "delay.svg"} <= {path.name for path in (folder / "runs").iterdir()}
