"""Headless Chromium, driven through its debugging pipe: one page at a time."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from helpers.processes import started

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
"""The installed browser; None if there is none."""

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
FLAGS += [
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--force-color-profile=srgb",
]

PATIENCE_S = 15.0
"""Longest wait for a condition."""


class BrowserError(AssertionError):
    """The page or the browser did not carry out a command."""


class Page:
    """A page of the browser. `problems` collects errors of its console."""

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive = send, receive
        self._last = 0
        self._unread = b""
        self._session = ""
        self.problems: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = session["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Returns the answer to a command of the DevTools protocol."""
        self._last += 1
        asked = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._send, json.dumps(asked).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") == self._last:
                if "error" in message:
                    raise BrowserError(f"{method}: {message['error']['message']}")
                return dict(message["result"])
            self._notice(message)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            part = os.read(self._receive, 1 << 16)
            if not part:
                raise BrowserError("the browser has ended")
            self._unread += part
        message, _, self._unread = self._unread.partition(b"\0")
        return dict(json.loads(message))

    def _notice(self, message: dict[str, Any]) -> None:
        details = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                thrown = details["exceptionDetails"]
                text = thrown.get("exception", {}).get("description", thrown["text"])
                self.problems.append(text)
            case "Log.entryAdded" if details["entry"]["level"] == "error":
                self.problems.append(f"{details['entry']['text']} {details['entry'].get('url')}")
            case "Runtime.consoleAPICalled" if details["type"] == "error":
                self.problems.append(str(details["args"]))

    def size(self, width: int, height: int, *, dark: bool = False, calm: bool = False) -> None:
        """Sets the size of the window, and the reader's preferences."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"},
        ]
        self.call("Emulation.setEmulatedMedia", features=features)

    def open(self, address: str) -> None:
        """Loads an address anew, even if only the part after `#` differs."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)

    def run(self, script: str) -> Any:  # noqa: ANN401
        """Returns the value of an expression in the page; a promise is awaited."""
        options = {"expression": script, "awaitPromise": True, "returnByValue": True}
        done = self.call("Runtime.evaluate", userGesture=True, **options)
        if "exceptionDetails" in done:
            raise BrowserError(str(done["exceptionDetails"]))
        return done["result"].get("value")

    def wait(self, condition: str, patience_s: float = PATIENCE_S) -> Any:  # noqa: ANN401
        """Returns the value of an expression as soon as it is true."""
        end = time.monotonic() + patience_s
        while time.monotonic() < end:
            found = self.run(condition)
            if found or found == {}:  # elements are not converted to a value
                return found
            time.sleep(0.05)
        raise BrowserError(f"not within {patience_s} s: {condition}; {self.problems}")

    def click(self, text: str, within: str = "button") -> None:
        """Clicks the first element of a kind whose text or label contains a text."""
        found = self.run(
            f"(() => {{ const one = [...document.querySelectorAll({within!r})].find((e) =>"
            f" (e.ariaLabel ?? '').includes({text!r}) || e.textContent.includes({text!r}));"
            " one?.click(); return Boolean(one); })()"
        )
        if not found:
            raise BrowserError(f"there is no {within} with {text!r}")

    def type_into(self, label: str, text: str) -> None:
        """Sets the value of a field or choice by its label, with the events of typing."""
        found = self.run(
            "(() => { const named = (e) =>"
            " e.ariaLabel ?? e.closest('label')?.textContent ?? '';"
            " const all = [...document.querySelectorAll('input,select,textarea')];"
            f" const one = all.find((e) => named(e).trim() === {label!r})"
            f" ?? all.find((e) => named(e).trim().startsWith({label!r}));"
            f" if (!one) return false; one.value = {text!r};"
            " for (const kind of ['input', 'change'])"
            " one.dispatchEvent(new Event(kind, { bubbles: true })); return true; })()"
        )
        if not found:
            raise BrowserError(f"there is no field {label!r}")

    def screenshot(self, file: Path, *, whole: bool = False) -> None:
        """Writes a picture of the window, or of the whole page."""
        done = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(done["data"]))


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """Starts the browser with an empty profile and ends it.

    Args:
        folder: directory of the profile.
    """
    assert CHROMIUM is not None
    to_browser, from_us = os.pipe()
    to_us, from_browser = os.pipe()

    def at_3_and_4() -> None:
        # The pipes are copied first, because one of them may already have the number 3 or 4.
        high = [os.dup(os.dup(one)) for one in (to_browser, from_browser)]
        for place, one in zip((3, 4), high, strict=True):
            os.dup2(one, place)

    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
    with started(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=False,
        preexec_fn=at_3_and_4,
    ) as process:
        os.close(to_browser)
        os.close(from_browser)
        try:
            page = Page(from_us, to_us)
            yield page
            page._session = ""  # noqa: SLF001
            os.write(from_us, json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
            process.wait(timeout=20)
        finally:
            os.close(from_us)
            os.close(to_us)
