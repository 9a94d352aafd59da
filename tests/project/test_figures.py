"""Prose quotes no figure of a run: such figures stand in parts of pages that commands make.

A block is a paragraph, an item of a list or a table, outside parts that commands make and outside
code. A block that reads like a measurement needs a mark before it, or before the heading of its
section:

    <!-- figures: published -->    copied from a publication, to which the section links
    <!-- figures: definition -->   a constant, a bound, or arithmetic on figures of the text
    <!-- figures: timed -->        a time or a size on a named machine, with the command
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    name
    for name in ("README.md", *(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md")))
    if "node_modules" not in name
]

MADE = re.compile(r"<!-- ([\w/ -]+): begin -->.*?<!-- \1: end -->", re.DOTALL)
"""A part that a command makes (`evidence.core.pages`)."""

MARK = re.compile(r"^<!-- figures: ([a-z]+) -->$")
MEASURED = re.compile(
    r"±|\b\d[\d,]* of (?:the |these |its )?\d|\d\.\d+ ?%|\bCPU (?:s|min)|of CPU\b"
    r"|\d (?:times|instructions)\b|\d \u00d7 "
    r"|\b(?:measured|took|takes|found|reached|agrees?|agreed|loses?|lost|gained|gains)\b[^.]*?\d"
)
"""Words and signs with which a measurement is told."""

NEEDED = {
    "published": re.compile(r"\]\((?:https?:|\.\./|[\w/-]+\.md)|\b(?:19|20)\d\d\b|\bRFC \d"),
    "definition": re.compile(""),
    "timed": re.compile(r"\b(?:make|python|cargo|goodqueue|git) |processor|machine"),
}
"""The kinds of marks, each with what the text under the mark must contain."""


class Block(NamedTuple):
    """A block of prose.

    Attributes:
        line: number of its first line.
        text: its text as it stands in the page.
        marks: lines of the marks that cover it, with their kinds.
    """

    line: int
    text: str
    marks: dict[int, str]


def without_made(page: str) -> str:
    """Returns the page with parts that commands make and code as empty lines."""

    def blank(found: re.Match[str]) -> str:
        return "\n" * found.group().count("\n")

    page = MADE.sub(blank, page)
    return re.sub(r"^( *)(```|~~~).*?^\1\2", blank, page, flags=re.DOTALL | re.MULTILINE)


def prose(text: str) -> str:
    """Returns the text of a block without code, addresses and captions of pictures."""
    text = re.sub(r"!\[.*?\]\(.*?\)", "", text, flags=re.DOTALL)
    text = re.sub(r"`[^`]*`", "", text)
    return re.sub(r"\]\([^)]*\)", "]", text)


def blocks(page: str) -> list[Block]:
    """Returns the blocks of prose of a page."""
    found: list[Block] = []
    sections: list[tuple[int, int, str]] = []
    mark: tuple[int, str] | None = None
    lines = without_made(page).split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        if marked := MARK.match(line):
            mark = (at + 1, marked.group(1))
        elif heading := re.match(r"(#+) ", line):
            depth = len(heading.group(1))
            sections = [section for section in sections if section[0] < depth]
            if mark is not None:
                sections.append((depth, *mark))
                mark = None
        elif line.strip():
            first = at
            while at + 1 < len(lines) and not _ends(lines[at + 1], line):
                at += 1
            covering = {number: kind for _, number, kind in sections}
            if mark is not None:
                covering[mark[0]] = mark[1]
                mark = None
            found.append(Block(first + 1, "\n".join(lines[first : at + 1]), covering))
        at += 1
    return found


def _ends(following: str, first: str) -> bool:
    """Returns True if a line does not belong to the block that begins with another line."""
    if not following.strip() or following.startswith(("#", "<!--")):
        return True
    is_item = re.match(r" *(?:[-*]|\d+\.) ", following) is not None
    return is_item or (following.startswith("|") and not first.startswith("|"))


def faults(page: str) -> list[str]:
    """Returns the faults of a page, each with the number of its line."""
    found: list[str] = []
    used: set[int] = set()
    texts: dict[int, tuple[str, str]] = {}
    for block in blocks(page):
        for line, kind in block.marks.items():
            texts[line] = (kind, texts.get(line, ("", ""))[1] + "\n" + block.text)
        if MEASURED.search(prose(block.text)):
            used.update(block.marks)
            if not block.marks:
                found.append(f"{block.line}: no command makes {block.text.split(chr(10))[0]!r}")
    for line, (kind, text) in texts.items():
        if kind not in NEEDED:
            found.append(f"{line}: no kind {kind!r}")
        elif line not in used:
            found.append(f"{line}: the mark covers no figure")
        elif not NEEDED[kind].search(text):
            found.append(f"{line}: the text under {kind!r} names no source")
    return found


@pytest.mark.parametrize("name", PAGES)
def test_prose_quotes_no_figure_of_a_run(name: str) -> None:
    """Every measurement in prose is made by a command, or says where it is from."""
    found = faults((ROOT / name).read_text(encoding="utf-8"))
    assert not found, "\n".join(f"{name}:{fault}" for fault in found)


def test_a_typed_measurement_is_found() -> None:
    """A typed measurement is a fault, and a mark with its source is not."""
    page = "# A page\n\nLoss agreed within 3 %, on 12 of 15 links.\n"
    assert faults(page) == ["3: no command makes 'Loss agreed within 3 %, on 12 of 15 links.'"]
    marked = page.replace("Loss", "<!-- figures: published -->\nLoss")
    assert faults(marked) == ["3: the text under 'published' names no source"]
    assert not faults(marked.replace("links", "links (RFC 9000)"))


def test_made_parts_and_code_are_left_alone() -> None:
    """Parts that commands make and code need no mark; an idle mark is a fault."""
    made = "<!-- links: begin -->\n3 of 5 links.\n<!-- links: end -->\n\n```console\n0.3 %\n```\n"
    assert not faults(made)
    assert faults("<!-- figures: definition -->\nThe queue is empty.\n") == [
        "1: the mark covers no figure"
    ]
