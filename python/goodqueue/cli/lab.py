"""`goodqueue lab`: the page in the browser."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from goodqueue.cli.files import source_of
from goodqueue.core.files.outdir import whole_directory
from goodqueue.errors import RequestError
from goodqueue.lab.opened import read_file
from goodqueue.lab.serve import Shown, serve_lab
from goodqueue.lab.static import write_static
from goodqueue.output.terminal import print_json, say

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.cli.commands.lab import Lab

SITE = re.compile(r"https?://[^\s?#]+")
"""Address of a page, to which settings can be added."""


def open_lab(asked: Lab) -> int:
    """Serves the page until Ctrl-C, or writes it as static files."""
    if asked.save is not None:
        return _save(asked, asked.save)
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


def _save(asked: Lab, folder: Path) -> int:
    """Writes the page with its engine for browsers into a directory."""
    if asked.file is not None or asked.settings or asked.site:
        raise RequestError("--save writes the page alone: leave out FILE, --settings and --site")
    with whole_directory(folder) as directory:
        write_static(directory)
        files = [path for path in directory.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
    if asked.json:
        print_json({"directory": str(folder), "files": len(files), "bytes": size})
        return 0
    say(f"{folder} holds the lab: {len(files)} files, {size / 1e6:.1f} MB")
    say(f"to try it: python3 -m http.server --directory {shlex.quote(str(folder))}")
    return 0
