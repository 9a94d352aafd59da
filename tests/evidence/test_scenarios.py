"""The ready scenarios run, cost little, and are all listed on their page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from matplotlib.image import imread

import goodqueue
from conftest import ROOT
from evidence.gallery.make import DRAWN, PAGE, PICTURES, with_caption
from goodqueue.plots.style import Picture

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted((ROOT / "scenarios").glob("*.toml"))

MAX_EVENTS = 4_000_000
"""Largest number of events in one run, which takes a second or two on one core."""

MORE_EVENTS = {"many-flows": 8_000_000}
"""Larger limits for scenarios whose purpose is their number of flows."""

LARGEST_PICTURE_BYTES = 150_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_ready_scenario_runs_and_costs_little(path: Path) -> None:
    scenario = goodqueue.load(path)
    assert scenario.title
    summary = goodqueue.run(path).summary
    assert summary["totals"]["delivered"] > 0
    assert summary["totals"]["events"] < MORE_EVENTS.get(path.stem, MAX_EVENTS)


def test_the_page_has_every_scenario_with_its_picture_or_among_the_others() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    gallery, others = page.split("## For comparisons")
    shown = re.findall(r"^### (.+)$", gallery, re.MULTILINE)
    listed = re.findall(r"\(\.\./scenarios/([\w-]+)\.toml\)", others)
    assert sorted(shown) == sorted(DRAWN)
    assert not set(shown) & set(listed)
    assert sorted(shown + listed) == sorted(path.stem for path in FILES)
    drawn = re.findall(r"^!\[(.+)\]\(img/scenarios/([\w-]+)\.png\)$", gallery, re.MULTILINE)
    assert [name for _, name in drawn] == shown, "one picture with a caption below each"


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_small_and_agrees_with_its_page(name: str) -> None:
    path = ROOT / PICTURES / f"{name}.png"
    content = path.read_bytes()
    assert len(content) < LARGEST_PICTURE_BYTES
    assert imread(path)[..., :3].min() < 0.2, "something is drawn"
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    (caption,) = re.findall(rf"^!\[(.+)\]\(img/scenarios/{name}\.png\)$", page, re.MULTILINE)
    # The caption is stored in the picture: as Latin-1 if all its letters are in Latin-1, else as
    # UTF-8.
    assert caption.encode() in content or caption.encode("latin-1") in content


def test_a_caption_is_written_under_its_own_picture() -> None:
    page = "![](img/scenarios/a.png)\n![old](img/scenarios/b.png)\n"
    assert with_caption(page, "b", "new") == page.replace("old", "new")
    assert with_caption(page, "a", "x") == page.replace("![]", "![x]", 1)


@pytest.mark.parametrize("name", ["bufferbloat", "cable-modem", "satellite"])
def test_pictures_are_drawn_from_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    picture = DRAWN[name]()
    assert isinstance(picture, Picture)
    path = picture.save(tmp_path)
    assert path.name == f"{name}.png"
    assert imread(path)[..., :3].min() < 0.2
    assert re.search(r"\d", picture.caption)
