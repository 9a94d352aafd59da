"""The openings of the Rust doc comments: each names its subject or says what a function does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

# Openings without a subject. A sentence that begins with one of them needs a second reading.
OPENING = re.compile(
    r"(?:Of|By|With|What|Whether|Which|When|From|At|Where|How)\b(?! (?:least|most)\b)"
)
DOC = re.compile(r"\s*//[/!](?!/) ?(?P<text>.*)")


def paragraphs(source: str) -> Iterator[tuple[int, str]]:
    """Yields the first line of each paragraph of a doc comment, with its number from 1."""
    fresh, code = True, False
    for number, line in enumerate(source.splitlines(), start=1):
        doc = DOC.fullmatch(line)
        text = doc["text"].strip() if doc else ""
        if text.startswith("```"):
            code = not code
        elif text and fresh and not code:
            yield number, text.removeprefix("- ")
        fresh = not text or text.startswith(("```", "#"))


def bad_openings(source: str) -> list[tuple[int, str]]:
    return [(number, text) for number, text in paragraphs(source) if OPENING.match(text)]


def test_rust_doc_comments_name_their_subject() -> None:
    files = sorted(file for folder in ("crates", "fuzz") for file in (ROOT / folder).rglob("*.rs"))
    assert files
    found = [
        f"{file.relative_to(ROOT)}:{number}: {text}"
        for file in files
        for number, text in bad_openings(file.read_text(encoding="utf-8"))
    ]
    assert not found, "name the subject first:\n" + "\n".join(found)


def test_a_bad_opening_is_found() -> None:
    source = """//! Queues.
//!
//! What a queue holds.

/// Returns the size.
/// Whether it fits is not checked.
///
/// ```
/// // How it is used.
/// ```
///
/// At most one packet waits.
fn size() {}
    // With a plain comment, there is no complaint.
    /// Where it ends.
    end: u64,
"""
    assert bad_openings(source) == [(3, "What a queue holds."), (15, "Where it ends.")]
