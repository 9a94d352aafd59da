"""Tests of the parts of documentation pages that programs write."""

from __future__ import annotations

import pytest

from evidence.core.pages import part, with_part

PAGE = "# A\n\n<!-- a: begin -->\nold\n<!-- a: end -->\n\n<!-- b: begin -->\nb\n<!-- b: end -->\n"


def test_only_the_named_part_changes() -> None:
    assert part(PAGE, "a") == "old\n"
    changed = with_part(PAGE, "a", "| x |\n")
    assert changed == PAGE.replace("old", "| x |")
    assert part(changed, "b") == "b\n"


@pytest.mark.parametrize(
    "page",
    [
        PAGE.replace("<!-- a: begin -->\n", ""),
        PAGE.replace("<!-- a: end -->", ""),
        PAGE + PAGE,
        "<!-- a: end -->\n<!-- a: begin -->\n",
    ],
)
def test_a_page_without_the_lines_of_a_part_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="must contain once '<!-- a: begin -->'"):
        with_part(page, "a", "new\n")
