"""Files and directories that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MARKER = "summary.json"
"""The file that says a directory holds results of ours, which newer ones may replace."""

_OURS = {
    *(MARKER, "scenario.toml", "captions.txt"),
    *("backlog.png", "cwnd.png", "delay-cdf.png", "curve.png", "pareto.png"),
    *("rules.csv", "rules.parquet", "curve.csv", "curve.parquet"),
    *("backlog.parquet", "windows.parquet", "rtt.parquet", "limits.parquet"),
    *("queueing-delays.parquet", "packets.parquet"),
    *("flows.parquet", "rtts.parquet", "losses.parquet", "bursts.parquet", "series.parquet"),
    *("classes.png", "rtts.png", "loss-bursts.png", "link.png"),
}
"""Every file that a command writes. A directory that holds any other is not ours to replace."""


def check_apart(inputs: Iterable[str | Path], outputs: Mapping[str, Path | None]) -> None:
    """Refuses an output that would take the place of an input, or of another output.

    Files are compared by their resolved paths, and by device and inode: another name of the same
    file is the same file. A directory that is replaced as a whole holds what lies in it.

    Args:
        inputs: files that the command reads.
        outputs: files and directories that it writes, by the option that names them; an option
            that ends in a slash names a directory that is replaced.

    Raises:
        RequestError: with the option and the file.
    """
    read = [Path(path) for path in inputs if Path(path).exists()]
    written: dict[str, Path] = {}
    for option, target in outputs.items():
        if target is None or _is_special(target):
            continue
        flag = option.removesuffix("/")
        for path in read:
            if _is_same(path, target):
                raise RequestError(
                    f"{flag} {target}: this is the file {path}, which the command reads; "
                    "name another file"
                )
            if option.endswith("/") and path.resolve().is_relative_to(target.resolve()):
                raise RequestError(
                    f"{flag} {target}: {path}, which the command reads, lies in this directory, "
                    "which is replaced; name another directory"
                )
        for other, path in written.items():
            if _is_same(path, target):
                raise RequestError(
                    f"{flag} {target}: {other} is written to the same file; name another"
                )
        written[flag] = target


def _is_same(one: Path, other: Path) -> bool:
    if one.resolve() == other.resolve():
        return True
    return one.exists() and other.exists() and one.samefile(other)


def _is_special(target: Path) -> bool:
    """Whether it is a device or a pipe, which keeps nothing that could be lost."""
    return target.exists() and not target.is_file() and not target.is_dir()


def check_folder(folder: Path, ours: Sequence[str]) -> None:
    """Refuses to add files to a directory that holds others than these, or symbolic links.

    A file that is written through a symbolic link lands elsewhere.

    Args:
        folder: the directory, which need not be there.
        ours: patterns of the names that the command gives its files.

    Raises:
        RequestError: with the file that is in the way.
    """
    if folder.exists() and not folder.is_dir():
        raise RequestError(f"{folder} is not a directory; name a new one")
    held = sorted(folder.iterdir()) if folder.is_dir() else []
    check_links(folder)
    for path in held:
        if not any(path.match(pattern) for pattern in ours):
            raise RequestError(
                f"{folder} holds {path.name}, which is no file of this command; "
                "name a new directory"
            )


def check_links(folder: Path) -> None:
    """Refuses a directory in which a symbolic link stands where a file would be written.

    Raises:
        RequestError: with the link.
    """
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        link = min((entry.path for entry in entries if entry.is_symlink()), default=None)
    if link is not None:
        raise RequestError(
            f"{link} is a symbolic link, and what is written through it would land elsewhere; "
            "remove it, or name a new directory"
        )


def check_output(target: Path) -> None:
    """Refuses a place where results could not go, before any time is spent on them."""
    held = {path.name for path in target.iterdir()} if target.is_dir() else set()
    if held and (MARKER not in held or not held <= _OURS):
        foreign = min(held - _OURS, default=min(held))
        raise RequestError(
            f"{target} holds {foreign}, which is not a result of goodqueue; name a new directory"
        )
    if target.exists() and not target.is_dir():
        raise RequestError(f"{target} is not a directory; name a new one")
    parent = target.resolve().parent
    existing = next(folder for folder in (parent, *parent.parents) if folder.exists())
    if not existing.is_dir():
        raise RequestError(f"{existing} is not a directory; name another place for {target.name}")
    _check_writable(existing, target)


def check_file(target: Path) -> None:
    """Refuses a place where a file could not go, before any time is spent on what it will hold."""
    if target.is_dir():
        raise RequestError(f"{target} is a directory; name a file")
    parent = target.resolve().parent
    if not parent.is_dir():
        raise RequestError(f"{target.parent} is not a directory, so {target} cannot be written")
    if _is_replaced(target):
        _check_writable(parent, target)


def _check_writable(folder: Path, target: Path) -> None:
    try:
        tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=folder).cleanup()
    except OSError as error:
        raise RequestError(
            f"nothing can be written to {folder} ({error.strerror}); name another place for "
            f"{target.name}"
        ) from None


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Gives a path to write to, and puts it in place of `target` once it is on the disk.

    If writing fails, `target` keeps what it held. A device or a pipe is written to as it is.
    """
    if not _is_replaced(target):
        yield target
        return
    target = target.resolve()  # a link stays one
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        unfinished.chmod(0o644)
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(target: Path, text: str) -> None:
    """Writes a text, whole or not at all."""
    with whole_file(target) as path:
        path.write_text(text, encoding="utf-8")


def _is_replaced(target: Path) -> bool:
    return target.is_file() or not target.exists()


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
