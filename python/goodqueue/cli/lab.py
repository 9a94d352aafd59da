"""`goodqueue lab`: the page in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.cli.files import source_of
from goodqueue.errors import RequestError
from goodqueue.lab.opened import read_file
from goodqueue.lab.serve import serve_lab

if TYPE_CHECKING:
    from goodqueue.cli.commands.lab import Lab


def open_lab(asked: Lab) -> int:
    """Serves the page until Ctrl-C."""
    if asked.file is not None and asked.settings:
        raise RequestError("--settings describes a link: leave it out, or leave out the file")
    opened = None if asked.file is None else read_file(source_of(asked.file))
    serve_lab(asked.port, opened, asked.settings, browser=asked.browser, json=asked.json)
    return 0
