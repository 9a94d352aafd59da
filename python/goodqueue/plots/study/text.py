"""Names in a study's pictures: how they are broken into lines, and the room that they take."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.plots.style import WIDTH_INCHES

if TYPE_CHECKING:
    from collections.abc import Sequence

LETTERS_PER_INCH = 10.0
"""Letters of ticks and of the titles of panels."""
LINE_INCHES = 0.18
SIDE_INCHES = 0.9
"""Beside the panels: the ticks and the label of the y axis."""
LONGEST_ASLANT = 28
LONGEST_BESIDE = 28
"""Letters in a line of a name below the x axis that is aslant, and of one beside the y axis."""
FEWEST_IN_A_LINE = 7
FEWEST_SIDE_BY_SIDE = 12
"""Letters in a line of a text, and of names that are rather set aslant than broken more often."""


def wrapped(text: str, letters: float) -> str:
    """A text in lines of at most so many letters; a longer word is broken."""
    return "\n".join(textwrap.wrap(text, max(FEWEST_IN_A_LINE, int(letters)))) or text


def lines_of(texts: Sequence[str]) -> int:
    """The most lines of any of the texts."""
    return max((text.count("\n") + 1 for text in texts), default=0)


def panel_letters(columns: int) -> float:
    """Letters in the width of a panel if so many stand side by side."""
    return (WIDTH_INCHES - SIDE_INCHES) / columns * LETTERS_PER_INCH


@dataclass(frozen=True, slots=True)
class NamesBelow:
    """Names below an x axis that has texts.

    Attributes:
        names: in lines.
        aslant: whether they are turned, because they have no room side by side.
    """

    names: list[str]
    aslant: bool

    @property
    def inches(self) -> float:
        """The height that they take beyond that of a single line."""
        if not self.aslant:
            return LINE_INCHES * (lines_of(self.names) - 1)
        longest = max(len(line) for name in self.names for line in name.split("\n"))
        return longest / LETTERS_PER_INCH / 2 + LINE_INCHES * (lines_of(self.names) - 1)


def names_below(names: Sequence[str], columns: int, taken: float = 0) -> NamesBelow:
    """Names below the x axis of one of so many panels side by side.

    `taken` is how many letters of the width other texts need.
    """
    room = (panel_letters(columns) - taken / columns) / len(names) - 1
    if room >= FEWEST_SIDE_BY_SIDE or all(len(name) <= room for name in names):
        return NamesBelow([wrapped(name, room) for name in names], aslant=False)
    return NamesBelow([wrapped(name, LONGEST_ASLANT) for name in names], aslant=True)
