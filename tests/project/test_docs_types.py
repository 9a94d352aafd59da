"""Every Python block of the documentation passes `mypy --strict`.

The blocks of a page are one module, in their order. A block below a paragraph that begins with the
name of a file, as in `controls.py`, is that file.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from conftest import ROOT, tracked

BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`(\w+)\.py`")

MODULES = {"docs/queues/own.md": "queues"}
"""Modules of pages that other pages import, by the name that their text has for it."""

INDENTED = re.compile(r"^    (?:import goodqueue|from goodqueue|\w+ = goodqueue\.)", re.MULTILINE)

WRONG = """\
import goodqueue

answer = goodqueue.size(rate="20Mbps", rtt="30ms", flow=4)
result = goodqueue.rum(goodqueue.EXAMPLE)
print(answer.bufer)


class Untyped:
    def on_ack(self, ack):
        return ack.acked_bytes
"""


def modules_of(page: str, text: str) -> dict[str, str]:
    """Returns the code of a page by the names of its modules."""
    usual = MODULES.get(page) or re.sub(r"\W", "_", page.removesuffix(".md").partition("/")[2])
    found: dict[str, str] = {}
    for block in BLOCK.finditer(text):
        paragraph = text[: block.start()].rstrip().rpartition("\n\n")[2]
        file = FILE.match(paragraph)
        name = usual if file is None else file[1]
        found[name] = f"{found.get(name, '')}{block['code']}\n"
    return found


def pages() -> dict[str, str]:
    """Returns the texts of the pages that have Python blocks."""
    texts = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in tracked("*.md")}
    return {page: text for page, text in texts.items() if "```python" in text}


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Returns the errors of one run over all pages and over a page with mistakes."""
    folder = tmp_path_factory.mktemp("typed")
    for page, text in pages().items():
        for name, code in modules_of(page, text).items():
            (folder / f"{name}.py").write_text(code, "utf-8")
    (folder / "wrong.py").write_text(WRONG, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    return [line for line in done.stdout.splitlines() if ": error: " in line]


def test_examples_pass_the_strict_check(errors: list[str]) -> None:
    assert [line for line in errors if "/wrong.py:" not in line] == []


def test_wrong_names_and_missing_types_are_found(errors: list[str]) -> None:
    found = {int(line.split(":")[1]) for line in errors if "/wrong.py:" in line}
    assert {3, 4, 5, 9} <= found


def test_every_block_is_checked() -> None:
    assert len(pages()) >= 8
    for page, text in pages().items():
        assert len(BLOCK.findall(text)) == text.count("```python"), page


def test_no_page_hides_python_in_an_indented_block() -> None:
    hidden = [
        str(path.relative_to(ROOT))
        for path in tracked("*.md")
        if INDENTED.search(path.read_text("utf-8"))
    ]
    assert hidden == []


def test_a_file_that_the_text_names_is_a_module() -> None:
    text = "# P\n\nA class:\n\n```python\na = 1\n```\n\n`b.py` is:\n\n```python\nb = 2\n```\n"
    assert modules_of("docs/p.md", text) == {"p": "a = 1\n\n", "b": "b = 2\n\n"}
