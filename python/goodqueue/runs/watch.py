"""Watches a run: its progress, its memory, and the space for its traces on the disk."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.runs.memory import resident_bytes, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

ESTIMATE_S = 1.0
"""Time that a run must have taken before the size of its traces is estimated, in s."""

KEPT_FREE_BYTES = 64 * 1024 * 1024
KEPT_FREE_SHARE = 0.05
"""Space that traces leave free on their disk: the smaller of this many bytes and this share of the
disk."""

CALLS_AHEAD = 4
"""Number of further calls of the watch for whose traces there must also be space."""


class Watch:
    """A callable that the core calls some times a second during a run; it ends the run by raising.

    Attributes:
        traces_bytes: size of all traces at the last call, in bytes.
    """

    def __init__(
        self,
        *,
        memory: int,
        recording: bool = False,
        folders: Iterable[Path] = (),
        tell: Callable[[str], None] | None = None,
        progress: Callable[[float, float], None] | None = None,
    ) -> None:
        """Sets the bounds.

        Args:
            memory: bytes of memory that the process may have.
            recording: True if the run records data that are copied into tables afterwards.
            folders: folders to which traces are written.
            tell: function called once with a sentence that estimates the size of the traces.
            progress: function called with the share that is done and the seconds that it took.
        """
        self.traces_bytes = 0
        self._begun = time.monotonic()
        before = resident_bytes() or 0
        self._limit = memory
        # Recorded data are copied at the end, so the growth since the start of the run will exist
        # twice.
        self._most = (memory + before) // 2 if recording else memory
        self._folders = list(folders)
        self._tell = tell
        self._progress = progress

    def __call__(self, share: float, written: int) -> None:
        """Checks a run that has done this share and written this many bytes of traces.

        Raises:
            RequestError: if the run must end because memory or disk space would run out.
        """
        seconds = time.monotonic() - self._begun
        grown, self.traces_bytes = written - self.traces_bytes, written
        self._check_memory(share)
        for folder in self._folders:
            self._check_disk(folder, share, written, grown)
        if self._tell is not None and seconds >= ESTIMATE_S and share > 0 and written:
            free = min(shutil.disk_usage(folder).free for folder in self._folders)
            self._tell(
                f"traces: about {size(written / share)} in all, {size(written)} so far; "
                f"{size(free)} are free on the disk"
            )
            self._tell = None
        if self._progress is not None:
            self._progress(share, seconds)

    def _check_memory(self, share: float) -> None:
        resident = resident_bytes()
        if resident is None or resident <= self._most:
            return
        twice = (
            ", because recorded data are copied when tables are made"
            if self._most < self._limit
            else ""
        )
        raise RequestError(
            f"the run was stopped at {share:.0%}: it has {size(resident)} in memory and may have "
            f"{size(self._most)}{twice}\n  help: shorten the duration, record less (--no-series), "
            "lower queue limits or receive windows, or raise the limit with --memory"
        )

    def _check_disk(self, folder: Path, share: float, written: int, grown: int) -> None:
        disk = shutil.disk_usage(folder)
        kept = min(KEPT_FREE_BYTES, KEPT_FREE_SHARE * disk.total)
        kept = max(kept, CALLS_AHEAD * grown)
        if disk.free > kept or not written:
            return
        whole = f" of about {size(written / share)}" if share > 0 else ""
        raise RequestError(
            f"the run was stopped at {share:.0%}, before the disk of {folder} is full: "
            f"{size(written)}{whole} of traces were written and {size(disk.free)} are free. "
            "No trace is kept\n  help: make room, shorten the duration, capture fewer points, "
            "or cut frames with --snap"
        )
