"""Stories of the lab's page: each opens, fills its numbers, and its claims hold."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest

from helpers.lab_page import DONE, NEEDS_BROWSER

if TYPE_CHECKING:
    from helpers.browser import Page

pytestmark = NEEDS_BROWSER

STORIES = json.loads(
    (resources.files("goodqueue.lab") / "page" / "stories" / "stories.json").read_text("utf-8")
)


@pytest.mark.parametrize("story", STORIES, ids=[story["id"] for story in STORIES])
def test_a_storys_claim_holds_in_its_runs(page: Page, story: dict[str, Any]) -> None:
    """The story opens, runs, and fills each of its numbers from these runs."""
    page.type_into("Stories", story["id"])
    verdict = f"document.querySelector('[data-story={json.dumps(story['id'])}]')?.dataset.verdict"
    assert page.wait(f"{verdict} !== 'simulating' && {verdict}") == "holds"
    text = page.run("document.querySelector('.story p').textContent")
    assert "{" not in text
    assert "\N{EN DASH}" not in text
    assert "…" not in text
    sentences = story["watch"].replace("Mb/s", "").count(". ") + story["watch"].endswith(".")
    assert sentences <= 2
    if story["packets"] is not None:
        page.wait("document.querySelectorAll('.moment').length === 2")
    page.wait(DONE)
    assert page.run("document.querySelector('.problem')") is None


def test_a_story_says_when_its_settings_were_changed(page: Page) -> None:
    """A sentence that was checked for other settings is not claimed for these."""
    page.type_into("Stories", "bufferbloat")
    page.wait("document.querySelector('.story')?.dataset.verdict === 'holds'")
    page.type_into("Buffer", "7p")
    page.wait("document.querySelector('.story').dataset.verdict === 'changed'")
    page.click("Two settings")
    page.wait(f"!location.hash.includes('versus') && {DONE}")
    assert "…" not in page.run("document.querySelector('.story').textContent")
    page.click("Back to its settings")
    page.wait("document.querySelector('.story')?.dataset.verdict === 'holds'")
    page.click("Leave the story")
    page.wait("document.querySelector('.story') === null")


def test_a_story_comes_before_the_controls_on_a_phone(page: Page) -> None:
    """A reader of a phone sees the story's sentences without scrolling."""
    page.size(390, 800)
    page.open(page.run("location.href").split("#")[0] + f"#story={STORIES[0]['id']}")
    page.wait(f"document.querySelector('.story') !== null && {DONE}")
    bottom = page.run("document.querySelector('.story').getBoundingClientRect().bottom")
    page.size(1280, 800)
    assert 0 < bottom <= 800
