"""A script for another tool: its text, and what its reader must know."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.core.text import printable

if TYPE_CHECKING:
    from goodqueue.exchange.dumbbell import Dumbbell


@dataclass(frozen=True, slots=True)
class Script:
    """A scenario as a script for another tool.

    Attributes:
        text: the script.
        notes: differences between the scenario and the script, one sentence each.
        commands: commands that run the script, in which `FILE` stands for its name.
    """

    text: str
    notes: tuple[str, ...]
    commands: tuple[str, ...]


def template(name: str) -> str:
    """Returns the part of a script that does not depend on the scenario."""
    folder = resources.files("goodqueue.exchange") / "templates"
    return (folder / f"{name}.in").read_text(encoding="utf-8")


def head(link: Dumbbell, comment: str, notes: list[str], commands: tuple[str, ...]) -> str:
    """Returns the comment at the head of a script."""
    lines = [
        printable(link.title),
        "",
        f"Written by goodqueue {_core.version()} from {printable(link.file)}, for {link.target}.",
        "Figures cover the time from the warm-up to the end of the run, and are one line of JSON.",
        "",
        *(f"    {command}" for command in commands),
    ]
    if notes:
        lines += ["", "Differences from the scenario:"]
    width = 98 - len(comment)
    for note in notes:
        lines += textwrap.wrap(f"- {note}", width, subsequent_indent="  ", break_long_words=False)
    return "\n".join(f"{comment} {line}".rstrip() for line in lines) + "\n"


def number(value: float) -> str:
    """Returns a number with as many digits as needed, and no exponent."""
    text = f"{value:.12f}".rstrip("0").rstrip(".")
    return text or "0"
