"""Serving of the page until Ctrl-C."""

from __future__ import annotations

import sys
import webbrowser
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.lab.server import LabServer
from goodqueue.output.terminal import print_json, say

if TYPE_CHECKING:
    from goodqueue.lab.opened import Opened


@dataclass(frozen=True, slots=True)
class Shown:
    """First view of the page, and the address that its readers share.

    Attributes:
        settings: settings as in the address of the page after `#`.
        opened: a scenario or a report.
        site: address of the page as static files, which shared addresses have; empty without one.
    """

    settings: str = ""
    opened: Opened | None = None
    site: str = ""


def serve_lab(port: int, shown: Shown, *, browser: bool, json: bool) -> None:
    """Prints the address of the page and serves it until Ctrl-C.

    Args:
        port: the port of the loopback interface; 0 chooses a free one.
        shown: the first view of the page.
        browser: True if the usual browser opens the page.
        json: True if the address is printed as JSON.

    Raises:
        RequestError: the port is taken.
    """
    try:
        server = LabServer(port, shown.opened, shown.site)
    except OSError as error:
        reason = error.strerror or str(error)
        raise RequestError(
            f"--port {port}: {reason}; choose another port, or 0 for any that is free"
        ) from error
    settings = shown.settings.removeprefix("#")
    url = server.url + (f"#{settings}" if settings else "")
    with suppress(KeyboardInterrupt), server:
        if json:
            print_json({"url": url, "port": server.port})
        else:
            say(f"The lab is at {url}", "Ctrl-C stops it.")
        sys.stdout.flush()
        if browser:
            webbrowser.open(url)
        server.serve_forever(poll_interval=0.1)
