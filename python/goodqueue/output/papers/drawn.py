"""Pictures of experiments, cached beside their runs because drawing takes longer than the rest.

A picture is drawn again if a cell of its experiment has changed, or any source that draws it.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.core.files.outdir import write_whole
from goodqueue.output.page import figure
from goodqueue.study.record.cache import warn_unused

if TYPE_CHECKING:
    from goodqueue.papers.cells import Reproduction
    from goodqueue.papers.experiment import Experiment

FOLDER = "pictures"

SOURCES = ("output", "papers", "plots", "sizing")
"""Folders with the code that draws, and with the data that it draws from."""


def drawn(one: Experiment, done: Reproduction, store: Path) -> str:
    """Returns the pictures of an experiment as HTML, drawn or from the cache."""
    page = store / FOLDER / f"{one.paper}-{one.name}.html"
    key = f"<!-- {_key(done)} -->\n"
    with suppress(OSError, ValueError):  # a damaged page is drawn again
        kept = page.read_text("utf-8")
        if kept.startswith(key):
            return kept.removeprefix(key)
    text = "\n".join(map(figure, done.pictures()))
    try:
        page.parent.mkdir(exist_ok=True)
        write_whole(page, key + text)
    except OSError as error:
        warn_unused(page.parent, error)
    return text


def _key(done: Reproduction) -> str:
    """Returns a hash that changes whenever the pictures would change."""
    cells = json.dumps([cell.as_dict() for cell in done.cells])
    return hashlib.sha256(f"{_sources()} {cells}".encode()).hexdigest()


@cache
def _sources() -> str:
    found = hashlib.sha256(f"{_core.version()} {_core.results_version()}".encode())
    package = Path(str(files("goodqueue")))
    drawing = [path for name in SOURCES for path in package.joinpath(name).rglob("*.*")]
    for path in sorted(drawing):
        if path.suffix in {".py", ".toml", ".csv"}:
            found.update(path.read_bytes())
    return found.hexdigest()
