"""The end of an uplink outside the emulated network: a thread, and a socket to the inside."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from contextlib import suppress
from threading import Thread
from typing import Any, Self


class OutsideEnd(ABC):
    """The outside end of an uplink. A thread does its work while the object is entered.

    Attributes:
        inside: socket that a process in the emulated network inherits, and over which it passes on
            an open file.
    """

    def __init__(self) -> None:
        self._outside, self.inside = socket.socketpair()
        self._thread = Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._outside.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._outside.close()
        self.inside.close()

    def _received(self) -> int | None:
        """Waits for the open file that the inside passes on.

        Returns:
            Its descriptor, or None if the run ended before. The caller closes it.
        """
        _, files, _, _ = socket.recv_fds(self._outside, 1, 1)
        return files[0] if files else None

    @abstractmethod
    def report(self) -> dict[str, Any]:
        """Returns what results say about the uplink."""

    @abstractmethod
    def _work(self) -> None:
        """Waits for the inside's file, and serves until `_outside` is shut down."""
