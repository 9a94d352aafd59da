"""Files that goodqueue wrote into a directory, recognised by a list of their checksums.

Only such files are replaced. A file with a usual name (`summary.json`) may be another program's,
and one that was edited is the user's.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from goodqueue.core.files.reading import read_text
from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LIST = ".goodqueue"
"""File with a line for each file that goodqueue wrote into a directory: checksum and name."""


def sign(folder: Path, paths: Iterable[Path] | None = None) -> None:
    """Adds files of a directory, or all of them, to its list."""
    names = _listed(folder)
    for path in folder.iterdir() if paths is None else paths:
        if path.is_file() and path.name != LIST:
            names[path.name] = _checksum(path)
    lines = [f"{checksum}  {name}\n" for name, checksum in sorted(names.items())]
    (folder / LIST).write_text("".join(lines), "utf-8", "surrogateescape")


def is_signed(folder: Path) -> bool:
    """Returns True if a directory has a list."""
    return (folder / LIST).is_file()


def foreign(folder: Path) -> str | None:
    """Returns the first name in a directory that goodqueue did not write; None if there is none."""
    names = _listed(folder)
    for path in sorted(folder.iterdir()):
        if path.name != LIST and (path.is_symlink() or not _is_own(path, names.get(path.name))):
            return path.name
    return None


def _is_own(path: Path, checksum: str | None) -> bool:
    return checksum is not None and path.is_file() and _checksum(path) == checksum


def _listed(folder: Path) -> dict[str, str]:
    """Returns the checksums of the list by name; none if the list is missing or damaged."""
    if not is_signed(folder):
        return {}
    try:
        lines = read_text(folder / LIST).splitlines()
    except RequestError:
        return {}
    pairs = (line.partition("  ") for line in lines)
    return {name: checksum for checksum, _, name in pairs}


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
