"""Links of a page into the lab."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs

from goodqueue import _core


def opened(page: str) -> dict[str, dict[str, Any]]:
    """Returns what the lab's engine reads from each link of a page, by the link's description.

    Fails if the engine refuses a link, if its run would exceed a bound of the lab, or if links of
    different settings have the same description.
    """
    links = re.findall(r'class="play" aria-label="Open in the lab: ([^"]*)" href="#([^"]*)"', page)
    found = {}
    assert len(dict(links)) == len(set(links)), "one description for different settings"
    for name, settings in dict(links).items():
        [text] = parse_qs(unescape(settings))["file"]
        status, answer = _core.LabJob("open", json.dumps({"text": text})).answer()
        assert status == 200, f"{name}: {answer}"
        contents = json.loads(answer)
        assert contents["too_large"] is None, name
        found[unescape(name)] = contents
    return found
