"""Files and directories that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.drawing import FORMATS
from goodqueue.errors import RequestError, os_error
from goodqueue.unfinished import (
    ENDING,
    OLD,
    REPLACED,
    clear_leftovers,
    unfinished_directory,
    unfinished_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MARKER = "summary.json"
"""The file that says a directory holds results of ours, which newer ones may replace."""

LITTLE = 64 * 1024
"""A write that fails with no more bytes left on the disk fails for lack of room."""

FILES = "files"
"""What a directory of whole files is called until they are in place."""

_PICTURES = (
    *("backlog", "cwnd", "delay-cdf", "rtt", "throughput", "curve", "pareto"),
    *("classes", "rtts", "loss-bursts", "link"),
)

_OURS = {
    *(MARKER, "scenario.toml", "captions.txt"),
    *(f"{name}.{ending}" for name in _PICTURES for ending in FORMATS),
    "throughput.parquet",
    *(f"scenario-{number}.toml" for number in range(1, 13)),
    *("rules.csv", "rules.parquet", "curve.csv", "curve.parquet"),
    *("backlog.parquet", "windows.parquet", "rtt.parquet", "limits.parquet"),
    *("queueing-delays.parquet", "packets.parquet"),
    *("flows.parquet", "rtts.parquet", "losses.parquet", "bursts.parquet", "series.parquet"),
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

    Raises:
        OSError: naming `target`, of what the system refuses.
    """
    with _naming(target):
        if not _is_replaced(target):
            yield target
            return
        beside = target.resolve()  # a link stays one
        clear_leftovers(beside.parent, beside.name)
        with unfinished_file(beside) as path, _naming(target):
            yield path


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
    with _naming(target):
        beside = target.resolve()
        beside.parent.mkdir(parents=True, exist_ok=True)
        clear_leftovers(beside.parent, beside.name)
        with unfinished_directory(beside) as directory:
            directory.chmod(0o755)
            with _naming(target):
                yield directory
            _replace(beside, directory)


@contextmanager
def whole_files(folder: Path) -> Iterator[Path]:
    """Gives a directory to fill, and puts what it then holds into `folder`, file by file.

    Raises:
        OSError: naming `folder`, of what the system refuses; nothing is put there then.
    """
    with _naming(folder):
        clear_leftovers(folder)
        with unfinished_directory(folder / FILES) as directory:
            with _naming(folder):
                yield directory
            for path in sorted(directory.iterdir()):
                path.replace(folder / path.name)


@contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Names the target in what the system refuses, whichever library met with it."""
    try:
        yield
    except Exception as error:
        found = os_error(error)
        if found is None or (found.filename and ENDING not in str(found.filename)):
            raise
        number = errno.ENOSPC if found.errno == errno.EIO and _is_full(target) else found.errno
        words = os.strerror(number) if number else found.strerror or str(found)
        raise OSError(number, words, str(target)) from error


def _is_full(target: Path) -> bool:
    with suppress(OSError):
        return shutil.disk_usage(target.resolve().parent).free < LITTLE
    return False


def _replace(target: Path, filled: Path) -> None:
    if not target.exists():
        filled.rename(target)
        return
    with unfinished_directory(target, REPLACED) as outgoing:
        target.rename(outgoing / OLD)
        filled.rename(target)
