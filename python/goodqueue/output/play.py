"""Links of a report's cells into the lab, which opens the report with `goodqueue lab REPORT`."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from goodqueue.runs.results.traces import files_read

if TYPE_CHECKING:
    from goodqueue import _core

LONGEST_FILE = 20_000
"""Largest scenario that an address of the lab carries, in characters."""

_EMPTY_DESCRIPTION = 'description = ""\n'


def settings(scenario: _core.Scenario) -> str | None:
    """Returns a scenario as settings of the lab.

    Returns None if the scenario names a file, or is longer than an address of the lab can be.
    """
    text = scenario.resolved_toml().replace(_EMPTY_DESCRIPTION, "")
    if len(text) > LONGEST_FILE or files_read(scenario):
        return None
    return urlencode({"file": text})


def link(found: str | None, what: str) -> str:
    """Returns a link into the lab as HTML, which only the lab shows; empty without settings.

    Args:
        found: settings of the lab, as in its address after `#`.
        what: description of the cell for readers who hear the link.
    """
    if found is None:
        return ""
    label = escape(f"Open in the lab: {what}", quote=True)
    return f'<a class="play" aria-label="{label}" href="#{escape(found, quote=True)}">lab</a>'


def hint(file: str) -> str:
    """Returns the sentence, as HTML, that says how the links of a page are followed."""
    return (
        f'<p class="outside">The command <code>goodqueue lab {escape(file)}</code> opens this page '
        "in the lab. There a link beside each cell opens its settings with sliders.</p>"
    )
