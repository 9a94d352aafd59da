"""Scripts of other simulators as scenarios."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.core.files.reading import read_bytes
from goodqueue.runs.api import NamedText, load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

MAX_BYTES = 1 << 20
"""Largest script that is read, in bytes."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A script as a scenario.

    Attributes:
        toml: the scenario file.
        notes: differences between the script and the scenario, one sentence each.
    """

    toml: str
    notes: tuple[str, ...]


def import_ns2(file: str | PathLike[str], arguments: Sequence[str] = ()) -> Imported:
    """Returns a script of ns-2 as a scenario.

    The script is interpreted and never run by a Tcl of its own. It can read other scripts of its
    folder and below by `source`, and no other files.

    Args:
        file: the script; `-` for standard input.
        arguments: words that the script gets as its arguments (`argv`).

    Raises:
        RequestError: if the file cannot be read.
        ScenarioError: for the first command that has no equivalent.
    """
    name = str(file)
    folder: str | None = str(Path(file).parent)
    if name == "-":
        folder = None
        name, content = "<stdin>", sys.stdin.buffer.read(MAX_BYTES + 1)
    else:
        content = read_bytes(file, MAX_BYTES)
    toml, notes = _core.import_ns2(content, name, folder, list(arguments))
    # Bounds of values are those of the scenario format.
    load(NamedText(toml.encode(), f"the scenario made of {name}"))
    return Imported(toml, tuple(notes))
