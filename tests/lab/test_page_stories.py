"""Stories of the lab's page: each opens, fills its numbers, and its claims hold."""

from __future__ import annotations

import json
import re
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


SHELVES = json.loads(
    (resources.files("goodqueue.lab") / "page" / "stories" / "shelves.json").read_text("utf-8")
)


def guess(page: Page, story: dict[str, Any], *, right: bool = True) -> None:
    """Answers the question of a step, if it has none yet, with the right choice or another one."""
    if "guess" in story:
        page.wait(f"document.querySelector('[data-story={json.dumps(story['id'])}]')")
        place = story["guess"]["right"] if right else 1 - min(story["guess"]["right"], 1)
        page.run(f"document.querySelectorAll('.story [role=group] button')[{place}]?.click()")


@pytest.mark.parametrize("story", STORIES, ids=[story["id"] for story in STORIES])
def test_a_storys_claim_holds_in_its_runs(page: Page, story: dict[str, Any]) -> None:
    """The story opens, runs, and fills each of its numbers from these runs."""
    page.type_into("Stories", story["id"])
    guess(page, story)
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
    page.wait(DONE, 60)
    assert page.run("document.querySelector('.problem')") is None


TIMES, APOSTROPHE = "\N{MULTIPLICATION SIGN}", "\N{RIGHT SINGLE QUOTATION MARK}"

FIGURES = """
(async () => {
  const [{ run }, { scenarioText }, { alone, figuresOf }, { USUAL }, { holds, slots }] =
    await Promise.all(["compute/engine.js", "question/scenario.js", "compute/figures.js",
      "question/state.js", "stories/story.js"].map((name) => import(`./${name}`)));
  const { story, claim } = %s;
  const of = async (question) => ({ means: alone(figuresOf(await run(scenarioText(question),
    { columns: 1, flows: 0, seed: 1 }))) });
  const a = { ...USUAL, ...story.a, ...claim.fails.a };
  const b = { ...USUAL, ...story.a, ...story.b, ...claim.fails.b };
  return holds(claim, slots({ a: await of(a), b: await of(b) }));
})()"""
"""Returns true if a claim holds with the settings with which it should not."""


def test_each_claim_fails_without_its_cause(page: Page) -> None:
    """A claim is a number that other settings miss: those without the cause that it names."""
    kept = [
        (story["id"], claim["left"])
        for story in STORIES
        for claim in story["claims"]
        if page.run(FIGURES % json.dumps({"story": story, "claim": claim}))
    ]
    assert kept == []


@pytest.mark.parametrize("story", STORIES, ids=[story["id"] for story in STORIES])
def test_claims_are_numbers_and_cover_the_sentences(story: dict[str, Any]) -> None:
    """A figure is compared with a number or a true multiple; each figure of the text is checked."""
    for claim in story["claims"]:
        assert claim["fails"]
        assert isinstance(claim["right"], float | int) or abs(claim["times"] - 1) >= 0.05
    named = {name for claim in story["claims"] for name in (claim["left"], claim["right"])}
    told = set(re.findall(r"\{([ab]\.\w+)\}", story["watch"]))
    assert {name for name in told if "buffer" not in name} <= named


def test_a_story_shows_the_claims_that_it_checks(page: Page) -> None:
    """Each claim has its figure and its bound; one that does not hold makes the story fail."""
    found = page.run(
        "import('./stories/story.js').then(({ claimInWords, holds }) => {"
        " const claims = [{ left: 'a.utilization', is: '>', right: 0.98 },"
        "  { left: 'b.ping_s', is: '<', times: 0.4, right: 'a.ping_s' }];"
        " const figures = { 'a.utilization': 0.993, 'b.ping_s': 0.05, 'a.ping_s': 0.1 };"
        " return claims.map((claim) => [claimInWords(claim, figures), holds(claim, figures)]); })"
    )
    assert found == [
        ["Utilisation of A, 99.3\xa0%: above 98\xa0%", True],
        [
            f"Ping, p99 of B, 50\xa0ms: below 0.4 {TIMES} A{APOSTROPHE}s 100\xa0ms",
            False,
        ],
    ]


def test_a_story_says_when_its_settings_were_changed(page: Page) -> None:
    """A sentence that was checked for other settings is not claimed for these."""
    page.type_into("Stories", "bufferbloat")
    guess(page, next(one for one in STORIES if one["id"] == "bufferbloat"))
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


def test_there_are_six_lessons_and_every_story_has_one_place() -> None:
    lessons = [one for one in SHELVES if one["title"].startswith("Lesson")]
    assert len(lessons) == 6
    assert all(3 <= len(one["steps"]) <= 5 for one in lessons)
    places = [step for one in SHELVES for step in one["steps"]]
    assert places == [story["id"] for story in STORIES]
    asking = [story["id"] for story in STORIES if "guess" in story]
    assert asking == [step for one in lessons for step in one["steps"]]


def test_the_right_choice_has_no_usual_place() -> None:
    guesses = [story["guess"] for story in STORIES if "guess" in story]
    assert {one["right"] for one in guesses} == {0, 1, 2}
    assert all(2 <= len(set(one["choices"])) <= 4 for one in guesses)
    assert all(one["right"] < len(one["choices"]) for one in guesses)


@pytest.mark.parametrize("right", [True, False], ids=["right", "wrong"])
def test_a_step_asks_before_it_shows_its_runs(page: Page, *, right: bool) -> None:
    """A question and its choices, then the runs, what was guessed, and why."""
    story = STORIES[1]
    address = page.run("location.href").split("#")[0]
    page.open("about:blank")  # a new document has no guesses
    page.open(f"{address}#story={story['id']}")
    page.wait("document.querySelector('.story')")
    page.wait(f"document.querySelector('.story').textContent.includes({story['title']!r})")
    assert page.run("document.querySelector('.story').dataset.verdict") == "asking"
    assert page.run("document.querySelectorAll('.packets, .results, .tile, canvas').length") == 0
    guess(page, story, right=right)
    page.wait("document.querySelector('.story').dataset.verdict === 'holds'")
    reason = page.run("document.querySelector('.story .reason').textContent")
    assert story["guess"]["why"] in reason
    assert reason.startswith("Your guess is right") is right
    assert page.run("document.querySelector('.packets canvas') !== null")


def test_each_step_has_an_address_in_the_history(page: Page) -> None:
    page.type_into("Stories", STORIES[0]["id"])
    page.wait(f"location.hash.includes('story={STORIES[0]['id']}')")
    page.click(f"Next: {STORIES[1]['title']}")
    page.wait(f"location.hash.includes('story={STORIES[1]['id']}')")
    page.run("history.back()")
    page.wait(f"document.querySelector('.story').dataset.story === {STORIES[0]['id']!r}")


def test_a_story_comes_before_the_controls_on_a_phone(page: Page) -> None:
    """A reader of a phone sees the story's sentences without scrolling."""
    page.size(390, 800)
    page.open(page.run("location.href").split("#")[0] + f"#story={STORIES[0]['id']}")
    page.wait("document.querySelector('.story') !== null")
    guess(page, STORIES[0])
    page.wait(DONE)
    bottom = page.run("document.querySelector('.story').getBoundingClientRect().bottom")
    page.size(1280, 800)
    assert 0 < bottom <= 800
