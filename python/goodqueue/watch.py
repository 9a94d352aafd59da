"""Watches a run: how far it is, whether memory lasts, and whether traces fit on the disk."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.memory import resident_bytes, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

ESTIMATE_S = 1.0
"""How long a run must have taken before its traces' size is estimated."""

KEPT_FREE_BYTES = 64 * 1024 * 1024
KEPT_FREE_SHARE = 0.05
"""Room that traces leave on their disk: the lesser of so many bytes and this share of the disk."""

CALLS_AHEAD = 4
"""There is also room for what is written until the watch has been called so often again."""


class Watch:
    """Is called some times a second while a run goes on; ends it by raising.

    Attributes:
        traces_bytes: what traces had taken when it was last called.
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
            memory: bytes that the process may have in memory.
            recording: whether the run records what will be held once more, as tables.
            folders: where traces are written.
            tell: is told once how large the traces will be.
            progress: is told the share that is done and the seconds that it took.
        """
        self.traces_bytes = 0
        self._begun = time.monotonic()
        before = resident_bytes() or 0
        self._limit = memory
        # What has grown since then will be there twice.
        self._most = (memory + before) // 2 if recording else memory
        self._folders = list(folders)
        self._tell = tell
        self._progress = progress

    def __call__(self, share: float, written: int) -> None:
        """Looks after a run that has done this share and written so many bytes of traces.

        Raises:
            RequestError: if the run must end because memory or disk do not last.
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
            ", for what it has recorded is held once more when tables are made of it"
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
