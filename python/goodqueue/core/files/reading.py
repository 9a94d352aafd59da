"""Files that a user names: read up to a limit, because a device or a pipe may never end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from os import PathLike
    from typing import BinaryIO

MAX_BYTES = 1 << 24
"""Largest size of a text that is read whole, unless its reader has another limit."""


def read_bytes(path: str | PathLike[str], most: int = MAX_BYTES, name: str = "") -> bytes:
    """Returns the bytes of a file, at most this number.

    Args:
        path: the file.
        most: largest number of bytes.
        name: name of the file in messages; its path if empty.

    Raises:
        RequestError: if the file cannot be read or has more bytes.
    """
    name = name or str(path)
    try:
        with Path(path).open("rb") as file:
            return _limited(file, most, name)
    except (OSError, ValueError) as error:
        if isinstance(error, RequestError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise RequestError(f"{name}: cannot be read: {reason}") from error


def read_text(path: str | PathLike[str], most: int = MAX_BYTES, name: str = "") -> str:
    """Returns the text of a file without a byte order mark; see `read_bytes`.

    Raises:
        RequestError: also if the file is no text in UTF-8.
    """
    return _text(read_bytes(path, most, name), name or str(path))


def read_standard_input(most: int = MAX_BYTES) -> str:
    """Returns the text of standard input without a byte order mark.

    Raises:
        RequestError: if it has more bytes, or is no text in UTF-8.
    """
    return _text(_limited(sys.stdin.buffer, most, "<stdin>"), "<stdin>")


def _limited(file: BinaryIO, most: int, name: str) -> bytes:
    data = file.read(most + 1)
    if len(data) > most:
        raise RequestError(f"{name}: this has more than {most:,} bytes; name another file")
    return data


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RequestError(f"{name}: this is no text in UTF-8; save it as such a text") from None


def has_bytes(path: Path, content: bytes) -> bool:
    """Returns True if a file exists and has exactly these bytes."""
    if not path.is_file() or path.stat().st_size != len(content):
        return False
    return read_bytes(path, len(content)) == content
