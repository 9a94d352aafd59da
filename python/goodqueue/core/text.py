"""Texts of users and their files, made harmless for terminals, pages and spreadsheets."""

from __future__ import annotations

import sys
from unicodedata import category


def printable(text: str, instead: str = " ", kept: str = "") -> str:
    """Returns a text without control characters and marks of direction.

    Such characters would move the cursor of a terminal, end a line, or show letters in another
    order than they are written.

    Args:
        text: the text.
        instead: character in place of each of them.
        kept: characters that stay, such as line ends.
    """
    if text.isprintable():
        return text
    return "".join(one if one in kept or _is_shown(one) else instead for one in text)


def for_terminal(text: str) -> str:
    """Returns a text of some lines for a terminal, with a question mark for hidden characters."""
    return printable(text, "?", "\n\t")


def shortened(text: str) -> str:
    """Returns the part of a text that a message has room for."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def print_message(message: str) -> None:
    """Prints a message on standard error, without importing the library that prints tables."""
    print(for_terminal(message), file=sys.stderr)


def _is_shown(letter: str) -> bool:
    return letter.isprintable() or category(letter) == "Zs"


LONGEST = 60
"""Characters of the longest text in a message, as in the core's messages."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of cells that spreadsheets take for formulas."""


def cell(text: str) -> str:
    """Returns a text as a cell of a CSV file, which no spreadsheet computes."""
    return f"'{text}" if text.startswith(FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
