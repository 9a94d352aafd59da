"""Unfinished files and directories, and the removal of leftovers of killed processes.

An unfinished file or directory is next to its target, under a name that only goodqueue uses. Its
writer holds a lock on it, which the system releases when the process ends for any reason. An
unlocked file with such a name is a leftover of a killed process and may be removed. On systems
without such locks (Windows, some network file systems) leftovers remain.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

LOCKS = fcntl is not None

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENDING = ".goodqueue-unfinished"
REPLACED = ".goodqueue-replaced"
"""Ending of the directory that holds the previous contents while a new directory replaces them."""

OLD = "old"
SCRATCH = "goodqueue-scratch"


@contextmanager
def unfinished_file(target: Path) -> Iterator[Path]:
    """Yields a path to write to, and moves it to `target` once it is on the disk."""

    def make() -> Path:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}-", suffix=ENDING, dir=target.parent)
        os.close(handle)
        return Path(name)

    with _held(make) as path:
        try:
            yield path
            path.chmod(0o644)
            with path.open("rb") as file:
                os.fsync(file.fileno())
            path.replace(target)
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def unfinished_directory(target: Path, ending: str = ENDING) -> Iterator[Path]:
    """Yields a directory next to `target`; it is removed at the end, if it still exists."""

    def make() -> Path:
        return Path(tempfile.mkdtemp(prefix=f".{target.name}-", suffix=ending, dir=target.parent))

    with _held(make) as path:
        try:
            yield path
        finally:
            with suppress(OSError):
                _put_back(path)
                shutil.rmtree(path, ignore_errors=True)


@contextmanager
def scratch() -> Iterator[Path]:
    """Yields a temporary directory that exists for this call only."""
    target = Path(tempfile.gettempdir()) / SCRATCH
    clear_leftovers(target.parent, SCRATCH)
    with unfinished_directory(target) as path:
        yield path


def clear_leftovers(folder: Path, name: str = "") -> None:
    """Removes what killed writers left in a folder; files that are being written are kept.

    Args:
        folder: the folder.
        name: name of the target whose leftovers are removed; empty for all targets.
    """
    made = re.compile(rf"\.{re.escape(name) or '.*'}-\w{{8}}({ENDING}|{REPLACED})")
    with suppress(OSError):
        for path in sorted(folder.iterdir()):
            if made.fullmatch(path.name):
                _clear(path)


def _clear(path: Path) -> None:
    with suppress(OSError):
        lock = _lock(path, wait=False)
        if lock is None:
            return
        try:
            if not _is_same(path, lock):
                return
            _put_back(path)
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        finally:
            os.close(lock)


def _put_back(path: Path) -> None:
    """Restores a directory that was moved away for a replacement that never came."""
    if not path.name.endswith(REPLACED):
        return
    target = path.with_name(path.name.removesuffix(REPLACED)[1:-9])
    if (path / OLD).is_dir() and not target.exists():
        (path / OLD).rename(target)


@contextmanager
def _held(make: Callable[[], Path]) -> Iterator[Path]:
    """Makes a file or directory and holds the lock on it."""
    while True:
        path = make()
        try:
            lock = _lock(path, wait=True)
        except FileNotFoundError:  # cleared by another process before it was locked
            continue
        if lock is None or _is_same(path, lock):
            break
        os.close(lock)
    try:
        yield path
    finally:
        if lock is not None:
            os.close(lock)


def _lock(path: Path, *, wait: bool) -> int | None:
    """Opens and locks a path; returns None if that is not possible."""
    if not LOCKS:
        return None
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _is_same(path: Path, handle: int) -> bool:
    try:
        there = path.stat(follow_symlinks=False)
    except OSError:
        return False
    held = os.fstat(handle)
    return (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)
