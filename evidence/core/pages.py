"""Parts of documentation pages that programs write, such as tables.

The part NAME of a page stands between the lines `<!-- NAME: begin -->` and `<!-- NAME: end -->`.
"""

from __future__ import annotations


def part(page: str, name: str) -> str:
    """Returns the text of a part of a page.

    Raises:
        ValueError: if the page does not contain the two lines of the part exactly once.
    """
    return _split(page, name)[1]


def with_part(page: str, name: str, text: str) -> str:
    """Returns a page in which a part has another text, whose last line ends with a line break.

    Raises:
        ValueError: if the page does not contain the two lines of the part exactly once.
    """
    before, _, after = _split(page, name)
    return before + text + after


def _split(page: str, name: str) -> tuple[str, str, str]:
    """Returns what is before the part, the part, and what is after it."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(end) < page.index(begin):
        raise ValueError(f"the page must contain once {begin.strip()!r} and after it {end!r}")
    before, rest = page.split(begin)
    text, after = rest.split(end)
    return before + begin, text, end + after
