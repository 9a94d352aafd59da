"""`goodqueue lab`: the page in the browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goodqueue.cli.files import source_of
from goodqueue.errors import RequestError
from goodqueue.lab.opened import read_file
from goodqueue.lab.serve import Shown, serve_lab

if TYPE_CHECKING:
    from goodqueue.cli.commands.lab import Lab

SITE = re.compile(r"https?://[^\s?#]+")
"""Address of a page, to which settings can be added."""


def open_lab(asked: Lab) -> int:
    """Serves the page until Ctrl-C."""
    if asked.file is not None and asked.settings:
        raise RequestError("--settings describes a link: leave it out, or leave out the file")
    opened = None if asked.file is None else read_file(source_of(asked.file))
    if asked.site and not SITE.fullmatch(asked.site):
        raise RequestError(
            f"--site {asked.site}: an address to share begins with https:// or http:// and ends "
            "before any ? or #, such as https://example.org/lab/"
        )
    shown = Shown(asked.settings, opened, asked.site)
    serve_lab(asked.port, shown, browser=asked.browser, json=asked.json)
    return 0
