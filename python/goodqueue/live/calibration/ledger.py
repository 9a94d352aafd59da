"""The ledger of a calibration: a line of JSON for each finished run.

A run that was interrupted leaves no line, and a line that was cut is ignored, so that the same
command goes on where it ended.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from threading import Lock
from typing import TYPE_CHECKING

from goodqueue.core.files.reading import read_text

if TYPE_CHECKING:
    from pathlib import Path


MAX_LEDGER_BYTES = 1 << 28
"""Largest ledger that is read, in bytes: a run takes about 500."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Figures of one finished run.

    Attributes:
        identity: everything that the figures depend on, as text.
        utilization: share of the link's capacity, from 0 to 1.
        delay_s: mean queueing delay in seconds.
        drops: packets lost in the measured time.
        verdict: verdict on the emulation; empty for a simulation.
    """

    identity: str
    utilization: float
    delay_s: float
    drops: float
    verdict: str = ""


class Ledger:
    """Finished runs by their identity, in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = Lock()
        self._held: dict[str, Finished] = {}
        lines = read_text(file, MAX_LEDGER_BYTES).splitlines() if file.exists() else []
        for line in lines:
            try:
                finished = Finished(**json.loads(line))
            except (ValueError, TypeError):
                continue
            self._held[finished.identity] = finished

    def get(self, identity: str) -> Finished | None:
        """Returns the figures of a run; None if it has not finished."""
        return self._held.get(identity)

    def add(self, finished: Finished, *, at_once: bool = True) -> None:
        """Writes a finished run to the file.

        Args:
            finished: the run.
            at_once: wait until it is on the disk. Runs that are made again in milliseconds need not
                wait.
        """
        with self._lock, self._file.open("a", encoding="utf-8") as file:
            if file.tell() and not _ends_whole(self._file):
                file.write("\n")
            file.write(json.dumps(asdict(finished)) + "\n")
            file.flush()
            if at_once:
                os.fsync(file.fileno())
            self._held[finished.identity] = finished


def _ends_whole(path: Path) -> bool:
    """Returns True if the last line of a file is complete."""
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
