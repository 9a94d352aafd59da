"""Links of a report's cells into the lab, which opens the report with `goodqueue lab REPORT`."""

from __future__ import annotations

import json
import shlex
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from goodqueue import _core
from goodqueue.runs.results.traces import files_read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LONGEST_FILE = 20_000
"""Largest scenario that an address of the lab carries, in characters."""

HEAD = '<span class="play">lab</span>'
"""Heading, as HTML, of a column of links."""

_LINK = '<a class="play"'

_EMPTY_DESCRIPTION = 'description = ""\n'


def settings(scenario: _core.Scenario) -> str | None:
    """Returns a scenario as settings of the lab.

    Returns None if the lab cannot open the scenario: it names a file, is longer than an address of
    the lab can be, has a control in Python, or its run would exceed a bound of the lab.
    """
    text = scenario.resolved_toml().replace(_EMPTY_DESCRIPTION, "")
    if len(text) > LONGEST_FILE or files_read(scenario):
        return None
    status, answer = _core.LabJob("open", json.dumps({"text": text})).answer()
    if status != 200 or json.loads(answer)["too_large"] is not None:
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
    return f'{_LINK} aria-label="{label}" href="#{escape(found, quote=True)}">lab</a>'


def has_links(body: Sequence[str]) -> bool:
    """Returns True if a part of a page, as HTML, has a link into the lab."""
    return any(_LINK in part for part in body)


def hint(path: Path) -> str:
    """Returns the sentence, as HTML, that says how the links of the page in a file are followed."""
    file = shlex.quote(path.name)
    return (
        f'<p class="outside">The command <code>goodqueue lab {escape(file)}</code> opens this page '
        "in the lab. There a link beside each cell that the lab can run opens its settings with "
        "sliders.</p>"
    )
