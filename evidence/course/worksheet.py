"""The worksheet of the lab's lessons: their questions, with room for a guess and what was seen."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from evidence.core.pages import with_part

PAGE = Path("docs/course/lessons.md")
PART = "lessons"
STORIES = Path("python/goodqueue/lab/page/stories")


def read(name: str) -> list[dict[str, Any]]:
    """Returns the stories of the lab, or its shelves."""
    data = resources.files("goodqueue.lab") / "page" / "stories" / f"{name}.json"
    found: list[dict[str, Any]] = json.loads(data.read_text(encoding="utf-8"))
    return found


def text() -> str:
    """Returns the part of the page: a table for each lesson."""
    stories = {story["id"]: story for story in read("stories")}
    lines = []
    for shelf in read("shelves"):
        steps = [stories[step] for step in shelf["steps"] if "guess" in stories[step]]
        if steps:
            lines += ["", f"## {shelf['title']}", "", "| step | your guess | what the runs show |"]
            lines += ["| --- | --- | --- |", *(row(step) for step in steps)]
    return "\n".join([*lines, "", ""])


def row(step: dict[str, Any]) -> str:
    """Returns the row of a step: its question with boxes for the choices, and two empty cells."""
    guess = step["guess"]
    boxes = "".join(f"<br>☐ {choice}" for choice in guess["choices"])
    return f"| **{step['title']}.** {guess['question']} | {boxes.removeprefix('<br>')} | |"


def make() -> None:
    """Writes the part of the page."""
    PAGE.write_text(with_part(PAGE.read_text(encoding="utf-8"), PART, text()), encoding="utf-8")
