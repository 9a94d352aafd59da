"""`goodqueue lab`: the page in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.lab.serve import serve_lab

if TYPE_CHECKING:
    from goodqueue.cli.commands.lab import Lab


def open_lab(asked: Lab) -> int:
    """Serves the page until Ctrl-C."""
    serve_lab(asked.port, browser=asked.browser, json=asked.json)
    return 0
