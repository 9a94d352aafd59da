"""Names in a study's pictures: their line breaks, and their size."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.plots.style import WIDTH_INCHES

if TYPE_CHECKING:
    from collections.abc import Sequence

LETTERS_PER_INCH = 10.0
"""Letters per inch in ticks and in the titles of panels."""
LINE_INCHES = 0.18
SIDE_INCHES = 0.9
"""Width in inches beside the panels, for the ticks and the label of the y axis."""
LONGEST_ASLANT = 28
LONGEST_BESIDE = 28
"""Letters in a line of a name below the x axis that is aslant, and of one beside the y axis."""
MIN_IN_A_LINE = 7
MIN_SIDE_BY_SIDE = 12
"""Smallest number of letters in a line of a name; names that would need shorter lines are aslant.
"""


def wrapped(text: str, letters: float) -> str:
    """Returns a text in lines of at most this many letters; a longer word is broken."""
    return "\n".join(textwrap.wrap(text, max(MIN_IN_A_LINE, int(letters)))) or text


def lines_of(texts: Sequence[str]) -> int:
    """Returns the largest number of lines of the texts."""
    return max((text.count("\n") + 1 for text in texts), default=0)


def panel_letters(columns: int) -> float:
    """Returns the letters in the width of a panel with this many panels side by side."""
    return (WIDTH_INCHES - SIDE_INCHES) / columns * LETTERS_PER_INCH


@dataclass(frozen=True, slots=True)
class NamesBelow:
    """Names below an x axis that has texts.

    Attributes:
        names: the names with line breaks.
        aslant: True if they are rotated, because they do not fit side by side.
    """

    names: list[str]
    aslant: bool

    @property
    def inches(self) -> float:
        """Height of the names beyond that of a single line, in inches."""
        if not self.aslant:
            return LINE_INCHES * (lines_of(self.names) - 1)
        longest = max(len(line) for name in self.names for line in name.split("\n"))
        return longest / LETTERS_PER_INCH / 2 + LINE_INCHES * (lines_of(self.names) - 1)


def names_below(names: Sequence[str], columns: int, taken: float = 0) -> NamesBelow:
    """Returns names below the x axis of one of several panels side by side.

    `taken` is the number of letters of the width that other texts need.
    """
    room = (panel_letters(columns) - taken / columns) / len(names) - 1
    if room >= MIN_SIDE_BY_SIDE or all(len(name) <= room for name in names):
        return NamesBelow([wrapped(name, room) for name in names], aslant=False)
    return NamesBelow([wrapped(name, LONGEST_ASLANT) for name in names], aslant=True)
