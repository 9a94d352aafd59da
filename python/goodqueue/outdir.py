"""An output directory that is there whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKER = "summary.json"
"""The file that says a directory holds results of ours, which newer ones may replace."""


def check_output(target: Path) -> None:
    """Refuses a place where results could not go, before any time is spent on them."""
    if target.is_dir() and any(target.iterdir()) and not (target / MARKER).is_file():
        raise RequestError(
            f"{target} holds files that are not results of goodqueue; name a new directory"
        )
    if target.exists() and not target.is_dir():
        raise RequestError(f"{target} is not a directory; name a new one")
    parent = target.resolve().parent
    existing = next(folder for folder in (parent, *parent.parents) if folder.exists())
    if not existing.is_dir():
        raise RequestError(f"{existing} is not a directory; name another place for {target.name}")


@contextmanager
def whole_directory(target: Path) -> Iterator[Path]:
    """Gives a directory to fill, and puts it in place of `target` once it is filled.

    Until then `target` keeps what it held; if filling fails, it keeps it for good.
    """
    check_output(target)
    target = target.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        unfinished.chmod(0o755)
        yield unfinished
        _replace(target, unfinished)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _replace(target: Path, filled: Path) -> None:
    if not target.exists():
        filled.rename(target)
        return
    outgoing = Path(tempfile.mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
    target.rename(outgoing / "old")
    try:
        filled.rename(target)
    except OSError:
        with suppress(OSError):
            (outgoing / "old").rename(target)
        raise
    shutil.rmtree(outgoing, ignore_errors=True)
