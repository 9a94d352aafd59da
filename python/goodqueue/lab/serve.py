"""Serving of the page until Ctrl-C."""

from __future__ import annotations

import sys
import webbrowser
from contextlib import suppress
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.lab.server import LabServer
from goodqueue.output.terminal import print_json, say

if TYPE_CHECKING:
    from goodqueue.lab.opened import Opened


def serve_lab(
    port: int, opened: Opened | None = None, settings: str = "", *, browser: bool, json: bool
) -> None:
    """Prints the address of the page and serves it until Ctrl-C.

    Args:
        port: the port of the loopback interface; 0 chooses a free one.
        opened: a scenario that the page shows first.
        settings: settings that it shows first, as in the address of the page after `#`.
        browser: True if the usual browser opens the page.
        json: True if the address is printed as JSON.

    Raises:
        RequestError: the port is taken.
    """
    try:
        server = LabServer(port, opened)
    except OSError as error:
        reason = error.strerror or str(error)
        raise RequestError(
            f"--port {port}: {reason}; choose another port, or 0 for any that is free"
        ) from error
    url = server.url + (f"#{settings.removeprefix('#')}" if settings else "")
    with server:
        if json:
            print_json({"url": url, "port": server.port})
        else:
            say(f"The lab is at {url}", "Ctrl-C stops it.")
        sys.stdout.flush()
        if browser:
            webbrowser.open(url)
        with suppress(KeyboardInterrupt):
            server.serve_forever(poll_interval=0.1)
