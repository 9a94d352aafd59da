"""Where a writer puts what is not whole yet, and how the next one clears what a killed one left.

An unfinished file or directory stands beside its target, under a name that only goodqueue gives.
Its writer holds a lock on it, which the system takes away when the process ends, however it ends.
Whatever is not locked belongs to nobody and can go. Where there are no such locks (Windows, some
network file systems) leftovers stay.
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
"""Ending of the directory that holds what a new directory is about to take the place of."""

OLD = "old"
SCRATCH = "goodqueue-scratch"


@contextmanager
def unfinished_file(target: Path) -> Iterator[Path]:
    """Gives a path to write to, and puts it in place of `target` once it is on the disk."""

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
    """Gives a directory beside `target`. Whatever is left of it at the end goes."""

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
    """Gives a directory among the system's temporary ones, for this call only."""
    target = Path(tempfile.gettempdir()) / SCRATCH
    clear_leftovers(target.parent, SCRATCH)
    with unfinished_directory(target) as path:
        yield path


def clear_leftovers(folder: Path, name: str = "") -> None:
    """Clears what killed writers left in a folder; what others are writing stays.

    Args:
        folder: the folder.
        name: only what was to become this file or directory; empty for all.
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
    """Restores what was moved away for a new directory that then never came."""
    if not path.name.endswith(REPLACED):
        return
    target = path.with_name(path.name.removesuffix(REPLACED)[1:-9])
    if (path / OLD).is_dir() and not target.exists():
        (path / OLD).rename(target)


@contextmanager
def _held(make: Callable[[], Path]) -> Iterator[Path]:
    """Makes something and holds the lock on it."""
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
    """Opens and locks; None where that is not possible."""
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
