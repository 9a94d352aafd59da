"""Docstrings and comments name their subject first (CONTRIBUTING.md, "Prose")."""

from __future__ import annotations

import ast
import re
import tokenize
from functools import cache
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDERS = ("python", "evidence", "tests", "tools")
"""Folders whose docstrings and comments are checked."""

WORDS = (
    *("As", "At", "Because", "Behind", "By", "For", "From", "How", "In", "Not", "Of", "So", "That"),
    *("Those", "Under", "What", "Whatever", "When", "Where", "Whether", "Which", "Who"),
    *("Whose", "With"),
)
OPENING = re.compile(rf"({'|'.join(WORDS)})\b(?! (?:least|most)\b)")
ENTRY = re.compile(rf"\s+\w+: {OPENING.pattern}", re.IGNORECASE)
SECTIONS = {"Args:", "Attributes:"}

METAPHORS = re.compile(
    r"\b(asked for|meanwhile|nobody|so many (bytes|flows|packets|runs|seconds|times)|tells? of"
    r"|told of|whoever)\b",
    re.IGNORECASE,
)
"""Words of private style, in place of which a technical term or a number exists."""

# A comment may be a sentence that begins with a preposition, or a phrase about its line.
OF_COMMENTS = re.compile(r"(of|so|was|were|what|whatever|whether|which|who|whose)\b", re.IGNORECASE)


def checked() -> list[Path]:
    """Returns the Python files and stubs of the folders."""
    return sorted(
        path
        for folder in FOLDERS
        for ending in ("py", "pyi")
        for path in (ROOT / folder).rglob(f"*.{ending}")
    )


@cache
def parsed(path: Path) -> ast.Module:
    """Returns the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yields line and text of every docstring, those below assignments included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                match statement:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        yield statement.lineno, text


def comments(path: Path) -> Iterator[tuple[int, str]]:
    """Yields line and text of the first line of every comment."""
    last = -1
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                line, is_alone = token.start[0], token.line.lstrip().startswith("#")
                if not is_alone or last != line - 1:
                    yield line, token.string.lstrip("#: ")
                last = line if is_alone else last


def faults(text: str) -> Iterator[str]:
    """Yields the openings of a docstring and of its entries that do not name their subject."""
    if OPENING.match(text):
        yield text.partition("\n")[0]
    in_section = False
    for line in text.splitlines():
        if line.endswith(":"):
            in_section = line.strip() in SECTIONS
        elif in_section and ENTRY.match(line):
            yield line.strip()


def undocumented(tree: ast.Module) -> Iterator[str]:
    """Yields the names of public functions and methods without a docstring."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    public = [one.body for one in classes if not one.name.startswith("_")]
    for body in [tree.body, *public]:
        for node in body:
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    # Signatures of an overload belong to the function that follows them.
                    if name.startswith("_") or "overload" in map(ast.unparse, node.decorator_list):
                        continue
                    if ast.get_docstring(node) is None:
                        yield name


def test_the_folders_contain_the_files() -> None:
    names = {str(path.relative_to(ROOT)) for path in checked()}
    assert {"python/goodqueue/runs/api.py", "python/goodqueue/papers/table.py"} <= names
    assert "tests/project/test_prose_python.py" in names


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Of a range nobody knows the mean.", 1),
        ("Whether they are not.", 1),
        ("Offers a packet.", 0),
        ("At most this many packets wait.", 0),
        ("Returns True if the two means differ.", 0),
        ("Sends.\n\n    Args:\n        rate: what is sent.\n        size: bytes.\n    ", 1),
        ("A link.\n\n    Attributes:\n        rate: of data.\n        delay: a time.\n    ", 1),
        ("Reads a file.\n\n    Of its lines the first: what it is.\n    ", 0),
    ],
)
def test_the_check_finds_openings_without_a_subject(text: str, count: int) -> None:
    assert len(list(faults(text))) == count


def test_docstrings_name_their_subject_first() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {fault}"
        for path in checked()
        for line, text in docstrings(parsed(path))
        for fault in faults(text)
    ]
    assert not found, "\n".join(["name the subject first (CONTRIBUTING.md):", *found])


def test_a_comment_of_several_lines_is_checked_at_its_first(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text("# Runs of\n# what waits\nx = 1  # which is one\n# Whether x is\ny = 2\n")
    texts = dict(comments(path))
    assert texts == {1: "Runs of", 3: "which is one", 4: "Whether x is"}
    assert [line for line, text in texts.items() if OF_COMMENTS.match(text)] == [3, 4]


def test_comments_name_their_subject_first() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in checked()
        for line, text in comments(path)
        if OF_COMMENTS.match(text)
    ]
    assert not found, "\n".join(["name the subject first (CONTRIBUTING.md):", *found])


def test_docstrings_and_comments_use_technical_terms() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {fault[0]}"
        for path in checked()
        for line, text in [*docstrings(parsed(path)), *comments(path)]
        if (fault := METAPHORS.search(re.sub(r"`[^`]*`", "", " ".join(text.split()))))
    ]
    assert not found, "\n".join(["use a technical term (CONTRIBUTING.md):", *found])


def test_a_private_metaphor_is_found() -> None:
    assert METAPHORS.search("Nobody serves so many packets.")
    assert not METAPHORS.search("Returns the requested number of packets.")


def test_public_functions_have_docstrings() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in checked()
        if not path.is_relative_to(ROOT / "tests")
        for name in undocumented(parsed(path))
    ]
    assert not found, "\n".join(found)
