"""Files of the output directory that several commands write."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from goodqueue.core.drawing import FORMATS
from goodqueue.core.files.owned import LIST
from goodqueue.output.terminal import say, stderr
from goodqueue.runs.api import MAX_BYTES, NamedText
from goodqueue.runs.plugins import search_here

if TYPE_CHECKING:
    from pathlib import Path


def source_of(file: str) -> str | NamedText:
    """Returns the path of a scenario as typed; for `-` the text of standard input."""
    if file != "-":
        return file
    return NamedText(sys.stdin.buffer.read(MAX_BYTES + 1), "<stdin>")


def may_import(allow_python: bool) -> bool:
    """Returns the option; if it is set, modules of the working directory become importable."""
    if allow_python:
        search_here()
    return allow_python


def write_scenario(directory: Path, toml: str) -> None:
    """Writes the scenario that was run, with every key written out."""
    (directory / "scenario.toml").write_text(toml, encoding="utf-8")


def print_written(out: Path) -> None:
    """Prints the names of the files in an output directory, pictures first."""
    names = sorted(path.name for path in out.iterdir() if path.name != LIST)
    endings = tuple(f".{ending}" for ending in FORMATS)
    pictures = [str(out / name) for name in names if name.endswith(endings)]
    others = [name for name in names if not name.endswith(endings)]
    say("", *([f"pictures: {', '.join(pictures)}"] if pictures else []))
    say(f"written to {out}: {', '.join(others)}")


def print_wrote(path: Path) -> None:
    """Prints that a file was written, on standard error."""
    stderr().print(f"wrote {path}", soft_wrap=True, markup=False)


def write_json(directory: Path, summary: dict[str, object]) -> None:
    """Writes the figures, as `--json` prints them."""
    text = json.dumps(summary, indent=2, allow_nan=False)
    (directory / "summary.json").write_text(text + "\n", encoding="utf-8")
