"""Files and directories that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.core.files.owned import LIST, foreign, is_signed, sign
from goodqueue.core.files.unfinished import (
    ENDING,
    OLD,
    REPLACED,
    clear_leftovers,
    unfinished_directory,
    unfinished_file,
)
from goodqueue.errors import RequestError, os_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

LITTLE = 64 * 1024
"""Free space, in bytes, below which a failed write is taken for a full disk."""

GENERATOR = '<meta name="generator" content="goodqueue">'
"""Line near the start of each page, by which a page is recognised."""

MAX_OF_HEAD = 1024
"""Bytes of a page in which this line is."""

FILES = "files"
"""Name of the directory that holds files until all of them are moved into place."""


def check_apart(inputs: Iterable[str | Path], outputs: Mapping[str, Path | None]) -> None:
    """Refuses an output that would replace an input, or another output.

    Files are compared by their resolved paths, and by device and inode, so that another name of the
    same file counts as the same file. A directory that is replaced as a whole includes the files in
    it.

    Args:
        inputs: files that the command reads.
        outputs: files and directories that it writes, by the option that names them; an option that
            ends in a slash names a directory that is replaced.

    Raises:
        RequestError: if there is such an output; the message names the option and the file.
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
                    f"{flag} {target}: this directory is replaced and contains {path}, "
                    "which the command reads; name another directory"
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
    """Returns True for a device or a pipe, which has no contents to lose."""
    return target.exists() and not target.is_file() and not target.is_dir()


def check_folder(folder: Path, ours: Sequence[str], log: str = "") -> None:
    """Refuses to add files to a directory that holds other files, or symbolic links.

    Writing through a symbolic link would change a file elsewhere.

    Args:
        folder: the directory, which need not exist.
        ours: patterns of the names of the command's files.
        log: name of a file that only the command writes. A directory with it is the command's.

    Raises:
        RequestError: if the directory holds such a file or link; the message names it.
    """
    if folder.exists() and not folder.is_dir():
        raise RequestError(f"{folder} is not a directory; name a new one")
    held = sorted(folder.iterdir()) if folder.is_dir() else []
    held = [path for path in held if path.name != LIST]
    check_links(folder)
    for path in held:
        if not any(path.match(pattern) for pattern in ours):
            raise RequestError(
                f"{folder} contains {path.name}, which is not a file of this command; name "
                "a new directory"
            )
    if held and not (log and (folder / log).is_file()):
        _check_owned(folder)


def _check_owned(folder: Path) -> None:
    """Refuses a directory with a file that goodqueue did not write, or that changed since."""
    name = foreign(folder)
    if name is not None:
        raise RequestError(
            f"{folder} contains {name}, which is not a result of goodqueue, or has changed since; "
            "name a new directory"
        )


def check_links(folder: Path) -> None:
    """Refuses a directory that holds a symbolic link.

    Raises:
        RequestError: if there is one; the message names the link.
    """
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        link = min((entry.path for entry in entries if entry.is_symlink()), default=None)
    if link is not None:
        raise RequestError(
            f"{link} is a symbolic link, through which files would be written elsewhere; "
            "remove it, or name a new directory"
        )


def check_output(target: Path) -> None:
    """Refuses a directory to which results cannot be written, before any time is spent on them."""
    if target.is_dir():
        _check_owned(target)
    if target.exists() and not target.is_dir():
        raise RequestError(f"{target} is not a directory; name a new one")
    parent = target.resolve().parent
    existing = next(folder for folder in (parent, *parent.parents) if folder.exists())
    if not existing.is_dir():
        raise RequestError(f"{existing} is not a directory; name another place for {target.name}")
    _check_writable(existing, target)


def check_page(target: Path) -> None:
    """Refuses a page that cannot be written, or a file in its place that is no page of ours."""
    check_file(target)
    if target.is_file() and target.stat().st_size:
        with target.open("rb") as file:
            start = file.read(MAX_OF_HEAD)
        if GENERATOR.encode() not in start:
            raise RequestError(
                f"{target} is not a page of goodqueue and would be replaced; name another file, or "
                "move it away"
            )


def check_file(target: Path) -> None:
    """Refuses a file that cannot be written, before any time is spent on its contents."""
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
    """Yields a path to write to, and moves it to `target` once it is on the disk.

    If writing fails, `target` keeps its contents. A device or a pipe is written to directly.

    Raises:
        OSError: if the system refuses; it names `target`.
    """
    with _naming(target):
        if not _is_replaced(target):
            yield target
            return
        beside = target.resolve()  # a symbolic link is kept as a link
        clear_leftovers(beside.parent, beside.name)
        with unfinished_file(beside) as path, _naming(target):
            yield path
        if is_signed(beside.parent):
            sign(beside.parent, [beside])


def write_whole(target: Path, text: str) -> None:
    """Writes a text, whole or not at all."""
    with whole_file(target) as path:
        path.write_text(text, encoding="utf-8")


def _is_replaced(target: Path) -> bool:
    return target.is_file() or not target.exists()


@contextmanager
def whole_directory(target: Path) -> Iterator[Path]:
    """Yields a directory to fill, and moves it to `target` once it is filled.

    `target` keeps its contents until the move, and also if filling the directory fails.
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
                sign(directory)
            _replace(beside, directory)


@contextmanager
def whole_files(folder: Path) -> Iterator[Path]:
    """Yields a directory to fill, and moves its files into `folder` one by one.

    Raises:
        OSError: if the system refuses; it names `folder`, and no file is moved.
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
    """Names the target in an error of the operating system, whichever library raised it."""
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
