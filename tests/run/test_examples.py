"""The notebooks of `examples/` run from top to bottom, and their values have HTML."""

from __future__ import annotations

import importlib
import json
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

import goodqueue
from conftest import ROOT
from goodqueue.gym import CongestionControlEnv
from helpers.notebook import shown

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue._core import IntervalReport

EXAMPLES = ROOT / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def cells(notebook: Path, kind: str) -> list[str]:
    """Returns the texts of a notebook's cells of one kind."""
    document = json.loads(notebook.read_text("utf-8"))
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == kind]


PICTURES = {
    "1-first-steps": {3: 1, 4: 1},
    "2-sizing-a-link": {3: 1},
    "3-bufferbloat-at-home": {4: 1, 5: 1},
    "4-a-study-with-intervals": {4: 1},
    "5-a-queue-of-your-own": {5: 1},
    "6-from-a-capture-to-a-buffer": {5: 1},
    "7-reproduce-a-paper": {3: 1},
    "8-a-control-of-your-own": {4: 1},
    "9-a-learned-control": {1: 1, 4: 1},
}
"""Number of pictures by notebook and place of the cell among the cells of code."""


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_each_picture(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for beside in (*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.json")):
        shutil.copy(beside, tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = shown(cells(notebook, "code"), tmp_path)
    pictures = {place: cell.pictures for place, cell in enumerate(found) if cell.pictures}
    assert pictures == PICTURES.get(notebook.stem, {})
    assert all("<table" in html for cell in found for html in cell.html)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs_and_explains_itself(notebook: Path) -> None:
    document = json.loads(notebook.read_text("utf-8"))
    assert not any(cell.get("outputs") for cell in document["cells"])
    assert cells(notebook, "markdown")[0].startswith("# ")


LESSON = ("**Question.**", "**Guess first.**", "**Conclusion.**", "**Exercise.**", "**Answer.**")
"""Parts of a lesson, in their order."""


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_a_lesson(notebook: Path) -> None:
    text = "\n\n".join(cells(notebook, "markdown"))
    places = [text.find(part) for part in LESSON]
    assert -1 not in places
    assert places == sorted(places)
    assert notebook.stem in PICTURES
    document = json.loads(notebook.read_text("utf-8"))
    assert document["cells"][-1]["cell_type"] == "code", "the answer of the exercise runs"


def test_the_list_of_notebooks_is_complete() -> None:
    page = (EXAMPLES / "README.md").read_text("utf-8")
    assert NOTEBOOKS
    assert not [path.name for path in NOTEBOOKS if f"({path.name})" not in page]


def test_the_learned_control_paces_in_a_run_as_in_its_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    learned = importlib.import_module("learned_control")
    record = json.loads((EXAMPLES / "learned_control.json").read_text("utf-8"))
    weights = np.array(record["weights"])
    link = learned.LINK.replace('"120s"', '"10s"')
    env = CongestionControlEnv(learned.Scaled(), link)
    seen, info = env.reset(seed=1)
    rates, ended = [], False
    while not ended:
        action = learned.decide(weights, seen)
        seen, _, _, ended, info = env.step(np.array([action], np.float32))
        if not ended:
            rates.append(info["pacing_rate_bps"])
    made = []

    class Kept(learned.control(weights)):  # type: ignore[misc]
        def on_interval(self, report: IntervalReport) -> None:
            super().on_interval(report)
            made.append(self.pacing_rate_bps)

    goodqueue.run(link, controls={"learner": Kept})
    assert len(rates) > 200
    assert made[: len(rates)] == rates
    assert np.mean(rates[-100:]) == pytest.approx(20e6, rel=0.2)


def test_the_training_of_the_learned_control_improves_and_repeats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    train = importlib.import_module("learned_control").train
    short = {"generations": 4, "population": 12, "links": 2, "steps": 60}
    weights, rewards = train(seed=1, **short)
    again, _ = train(seed=1, **short)
    other, _ = train(seed=2, **short)
    assert rewards[-1] > rewards[0] + 0.3
    assert np.array_equal(weights, again)
    assert not np.array_equal(weights, other)
